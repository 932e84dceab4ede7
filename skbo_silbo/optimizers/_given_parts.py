"""Parts that a user wrote: what they return is checked where it arrives, and named there.

That they have the members asked for is checked when the optimiser is made. The parts of this
library are not wrapped.
"""

from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np

from skbo_silbo._members import check_members
from skbo_silbo.acquisition import Found, Search
from skbo_silbo.embedding import Learner
from skbo_silbo.embedding._learner_protocol import check_learnt
from skbo_silbo.surrogate import Surrogate, Warp


@dataclass(frozen=True)
class Given:
    """A part that a user wrote."""

    given: Any

    @property
    def name(self):
        """Its own, of a learner or a scale."""
        return self.given.name


class GivenLearner(Given):
    """A learner of the embedding that a user wrote."""

    def learn(self, X, y, X_unlabeled):
        """Return the embedding learnt, after refusing what is none of points of X."""
        learnt = self.given.learn(X, y, X_unlabeled)
        check_learnt(self.given, learnt, X.shape[1])
        return learnt


class GivenSearch(Given):
    """A search of the acquisition that a user wrote."""

    def find(self, surface, ranked, space, rng):
        """Return what it found, after refusing what is no `Found`."""
        found = self.given.find(surface, ranked, space, rng)
        if not isinstance(found, Found) or not len(found.Z):
            raise ValueError(
                f"what {type(self.given).__name__}.find returns must be a "
                f"skbo_silbo.acquisition.Found of one candidate or more: got {found!r}. Write "
                "return Found(Z, X), the best first."
            )
        X = found.X
        if X is not None and not (np.isfinite(X).all() and (np.abs(X) <= 1.0).all()):
            raise ValueError(
                f"what {type(self.given).__name__}.find returns must be places of the cube "
                f"[-1, 1]^d: got values from {np.min(X):g} to {np.max(X):g}. Clip them: "
                "np.clip(X, -1, 1)."
            )
        return found


class GivenAcquisition(Given):
    """An acquisition function that a user wrote."""

    def __call__(self, mean, std, best, *, return_gradient=False):
        """Return what it does, after refusing what no point can be chosen by."""
        returned = self.given(mean, std, best, return_gradient=return_gradient)
        try:
            parts = [np.asarray(p, float) for p in (returned if return_gradient else [returned])]
        except (TypeError, ValueError):
            parts = []
        shapes = [part.shape for part in parts]
        if shapes != [mean.shape] * (3 if return_gradient else 1):
            raise ValueError(
                f"acquisition must return an array of shape {mean.shape}, with "
                f"return_gradient={return_gradient} {'three' if return_gradient else 'one'}: "
                f"{self.given!r} returned {f'shapes {shapes}' if parts else repr(returned)}. Try "
                "skbo_silbo.testing.check_acquisition."
            )
        values = parts[0]
        is_lost = ~np.isfinite(parts).all(axis=0) & (values != -np.inf)
        if is_lost.any():
            i = int(np.argmax(is_lost))
            raise ValueError(
                "acquisition must return finite numbers, or -inf for what a point is worth: "
                f"{self.given!r} returned {[float(part[i]) for part in parts]} for mean "
                f"{mean[i]:g}, std {std[i]:g} and best {best:g}. Bound what it divides by."
            )
        return returned


def at_every_proposal(acquisition, ours):
    """Return what gives every proposal a function, after a trial of what that returns."""
    moments = np.array([0.5, -0.5]), np.array([1.0, 0.1])
    try:
        plain = acquisition(*moments, 0.0)
        parts = [plain, *acquisition(*moments, 0.0, return_gradient=True)]
    except Exception as error:
        raise ValueError(
            "acquisition must be a name or a function of (mean, std, best, return_gradient): a "
            f"trial of {acquisition!r} ended in {type(error).__name__}: {error}."
        ) from error
    if [np.shape(part) for part in parts] != [(2,)] * 4:
        raise ValueError(
            "acquisition must return values, (n,), and with return_gradient=True also their "
            f"derivatives by mean and std: got shapes {[np.shape(part) for part in parts]} for "
            "n = 2. Try skbo_silbo.testing.check_acquisition."
        )
    low, high = acquisition(np.array([-3.0, 3.0]), np.ones(2), 0.0)
    if np.isnan(parts).any() or not low >= high:
        raise ValueError(
            "acquisition must be larger where a point is better, and values are minimised: a trial "
            f"of {acquisition!r} gave {low:g} for a mean of -3 and {high:g} for one of 3, with std "
            "1 and best 0. Turn its sign, or try skbo_silbo.testing.check_acquisition."
        )
    return partial(_always, acquisition if ours else GivenAcquisition(acquisition))


def _always(acquisition, t):
    return acquisition


class GivenSchedule(Given):
    """A function that a user wrote, which gives the acquisition function of every proposal."""

    def __call__(self, t):
        """Return that of proposal t, looked at."""
        return GivenAcquisition(self.given(t))


class GivenWarp(Given):
    """A scale of the values that a user wrote."""

    def __call__(self, y):
        """Return the values on the scale, after refusing a scale that they are not on."""
        values = self.given(y)
        if np.shape(values) != y.shape or not np.isfinite(values).all():
            raise ValueError(
                f"warp {self.name!r} must return a finite number for every value: got shape "
                f"{np.shape(values)} for {y.size} values from {y.min():g} to {y.max():g}. Use one "
                "that is defined for all values, or warp=None."
            )
        return values

    def log_slope(self, y):
        """Return the logarithm of the derivative at every value, (n,)."""
        return self.given.log_slope(y)


class GivenDesign(Given):
    """A function for the first points that a user wrote."""

    def __call__(self, n, d, rng):
        """Return the points, (n, d), after refusing those outside the cube."""
        X = np.asarray(self.given(n, d, rng), dtype=float)
        if X.shape != (n, d):
            raise ValueError(
                f"design must return {n} points of {d} encoded inputs, ({n}, {d}): got shape "
                f"{X.shape}. Return an array of the shape asked for."
            )
        if not (np.abs(X) <= 1.0).all():
            raise ValueError(
                f"design must return points of the cube [-1, 1]^{d}: got values from {X.min():g} "
                f"to {X.max():g}. The cube stands for the bounds; scale to it."
            )
        return X


# part of a `Configuration` -> its option, what it must have, what looks at what it returns
GIVEN = MappingProxyType(
    {
        "learner": ("embedding", Learner, GivenLearner),
        "search": ("search", Search, GivenSearch),
        "surrogate": ("surrogate", Surrogate, None),
        "warp": ("warp", Warp, GivenWarp),
        "acquisition": ("acquisition", None, GivenSchedule),
        "design": ("design", None, GivenDesign),
    }
)


def looked_at(name, part):
    """Return a user's own part of a `Configuration`, checked, and with it what it returns."""
    option, protocol, given = GIVEN[name]
    if protocol is not None:
        check_members(option, part, protocol)
    return given(part) if given else part


def checked_means(surrogate, Z):
    """Return the means at coordinates, (n, r), after refusing what no search can use."""
    mean, std = surrogate.predict(Z)
    if not np.shape(mean) == np.shape(std) == (len(Z),) or not np.isfinite(mean).all():
        raise ValueError(
            f"predict of {type(surrogate).__name__} must return finite means and standard "
            f"deviations, ({len(Z)},) each: got shapes {np.shape(mean)} and {np.shape(std)}, and "
            f"{np.sum(~np.isfinite(mean))} means that are not finite. Try "
            "skbo_silbo.testing.check_surrogate."
        )
    return mean
