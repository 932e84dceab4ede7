"""Makers of surrogates: how the loop starts, tunes and restores one.

The known variance of every value's noise, (n,), is for those with ``takes_noise``; the loop refuses
to be told of it where the others are in use, and gives them zeros.
"""

from dataclasses import dataclass
from types import MappingProxyType

from skbo_silbo.surrogate import (
    AdditiveProcess,
    CylindricalProcess,
    GaussianProcessSurrogate,
    RegressorSurrogate,
    ViewedProcess,
    check_regressor,
)


@dataclass(frozen=True)
class ProcessMaker:
    """Makes Gaussian processes on the coordinates z.

    Attributes
    ----------
    prior : {"dimension-scaled", "sparse"}
        Of the length scales.
    """

    prior: str = "dimension-scaled"

    takes_noise = True

    def for_learner(self, learner):
        """Return the maker with the prior that the learner goes with."""
        return ProcessMaker(getattr(learner, "prior", self.prior))

    def fits(self, state, r):
        """Return whether the hyperparameters of a former surrogate can start one of r inputs."""
        return len(state["theta"]) == r + 2

    def fit(self, state, Z, y, noise, *, tune, rng):
        """Return a surrogate conditioned on (Z, y), started at `state` unless that is None."""
        theta = None if state is None else state["theta"]
        return GaussianProcessSurrogate(theta, prior=self.prior).fit(Z, y, noise, tune=tune)

    def restore(self, state, Z, y, noise):
        """Return the surrogate of this state, conditioned on (Z, y)."""
        return GaussianProcessSurrogate(prior=self.prior).from_state(state, Z, y, noise)


@dataclass(frozen=True)
class RegressorMaker:
    """Makes surrogates of a regressor, fitted from the start whenever there are new values.

    Attributes
    ----------
    regressor : estimator
        With ``predict(Z, return_std=True)``; cloned.
    """

    regressor: object

    takes_noise = False

    def for_learner(self, learner):
        """Return this maker: it is the same for every learner."""
        return self

    def fits(self, state, r):
        """Return whether the seed of a former surrogate can start one: always."""
        return True

    def fit(self, state, Z, y, noise, *, tune, rng):
        """Return a surrogate conditioned on (Z, y), its random numbers seeded by `rng`."""
        return RegressorSurrogate(self.regressor, int(rng.integers(2**31))).fit(Z, y)

    def restore(self, state, Z, y, noise):
        """Return the surrogate of this state, conditioned on (Z, y)."""
        return RegressorSurrogate(self.regressor, state["seed"]).fit(Z, y)


@dataclass(frozen=True)
class ViewedMaker:
    """Makes Gaussian processes on a function of the coordinates, with one length scale.

    Attributes
    ----------
    view : callable
        From (n, r) to (n, k).
    """

    view: object

    takes_noise = True

    def for_learner(self, learner):
        """Return this maker: it is the same for every learner."""
        return self

    def fits(self, state, r):
        """Return whether the hyperparameters of a former surrogate can start one: always."""
        return True

    def fit(self, state, Z, y, noise, *, tune, rng):
        """Return a surrogate conditioned on (Z, y), started at `state` unless that is None."""
        theta = None if state is None else state["theta"]
        inner = GaussianProcessSurrogate(theta, isotropic=True)
        return ViewedProcess(inner.fit(self.view(Z), y, noise, tune=tune), self.view)

    def restore(self, state, Z, y, noise):
        """Return the surrogate of this state, conditioned on (Z, y)."""
        inner = GaussianProcessSurrogate(isotropic=True)
        return ViewedProcess(inner.from_state(state, self.view(Z), y, noise), self.view)


@dataclass(frozen=True)
class CylindricalMaker:
    """Makes Gaussian processes with the cylindrical kernel."""

    takes_noise = False

    def for_learner(self, learner):
        """Return this maker: it is the same for every learner."""
        return self

    def fits(self, state, r):
        """Return whether the hyperparameters of a former surrogate can start one: always."""
        return True

    def fit(self, state, Z, y, noise, *, tune, rng):
        """Return a surrogate conditioned on (Z, y), started at `state` unless that is None."""
        theta = None if state is None else state["theta"]
        return CylindricalProcess(theta).fit(Z, y, tune=tune)

    def restore(self, state, Z, y, noise):
        """Return the surrogate of this state, conditioned on (Z, y)."""
        return CylindricalProcess(state["theta"]).fit(Z, y, tune=False)


@dataclass(frozen=True)
class AdditiveMaker:
    """Makes sums of Gaussian processes on groups of inputs.

    Attributes
    ----------
    group_size : int
    """

    group_size: int

    takes_noise = False

    def for_learner(self, learner):
        """Return this maker: it is the same for every learner."""
        return self

    def fits(self, state, r):
        """Return whether the groups of a former surrogate are those of r inputs."""
        return sum(map(len, state["groups"])) == r

    def fit(self, state, Z, y, noise, *, tune, rng):
        """Return a surrogate conditioned on (Z, y); the groups of `state` compete with new ones."""
        return AdditiveProcess(self.group_size).fit(Z, y, rng, former=state, tune=tune)

    def restore(self, state, Z, y, noise):
        """Return the surrogate of this state, conditioned on (Z, y)."""
        return AdditiveProcess(self.group_size).from_state(state, Z, y)


SURROGATES = MappingProxyType({"auto": ProcessMaker, "gaussian-process": ProcessMaker})


def make_surrogates(surrogate):
    """Return the maker of this name, or the one of a regressor.

    Raises
    ------
    ValueError
        When there is no such name.
    TypeError
        When the regressor gives no standard deviation.
    """
    if isinstance(surrogate, str):
        if surrogate not in SURROGATES:
            raise ValueError(
                f"surrogate must be one of {sorted(SURROGATES)} or a regressor with "
                f"predict(Z, return_std=True): got {surrogate!r}."
            )
        return SURROGATES[surrogate]()
    check_regressor(surrogate)
    return RegressorMaker(surrogate)
