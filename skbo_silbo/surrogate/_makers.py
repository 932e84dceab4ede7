"""Makers of surrogates: how the loop starts, tunes and restores one (`SurrogateMaker`)."""

from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, cast

import numpy as np

from skbo_silbo._checks import missing_members
from skbo_silbo._typing import FloatArray, RegressorLike
from skbo_silbo.surrogate._process import GaussianProcessSurrogate
from skbo_silbo.surrogate._regressor import RegressorSurrogate, check_regressor
from skbo_silbo.surrogate._surrogate_protocol import SurrogateMaker

TUNE_GROWTH = 1.05  # labels, relative, between searches of the hyperparameters
LONG_GROWTH = 1.1  # the same where a search takes long
LONG_WORK = 2 * 10**7  # labels squared times inputs: about a second
N_FOLDS = 5


def is_due(n: int, tuned_at: int, r: int) -> bool:
    """Return whether n labels of r inputs are enough more to search the hyperparameters again."""
    growth = TUNE_GROWTH if n**2 * r <= LONG_WORK else LONG_GROWTH
    return n >= growth * tuned_at


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

    def fit(
        self,
        state: dict[str, Any] | None,
        Z: FloatArray,
        y: FloatArray,
        noise: FloatArray,
        *,
        moved: bool,
        rng: np.random.Generator | None,
    ) -> tuple[GaussianProcessSurrogate, dict[str, Any]]:
        """Return a surrogate and its state; the search starts at the former hyperparameters."""
        theta, tuned_at = former_hyperparameters(state, moved, Z.shape[1] + 2)
        tune = is_due(y.size, tuned_at, Z.shape[1])
        surrogate = GaussianProcessSurrogate(theta, prior=self.prior)
        surrogate.fit(Z, y, noise, tune=tune)
        return surrogate, {**surrogate.to_state(), "tuned_at": y.size if tune else tuned_at}

    def restore(
        self, state: dict[str, Any], Z: FloatArray, y: FloatArray, noise: FloatArray
    ) -> GaussianProcessSurrogate:
        """Return the surrogate of this state, conditioned on (Z, y)."""
        return GaussianProcessSurrogate(prior=self.prior).from_state(state, Z, y, noise)

    def left_out_log_density(
        self, Z: FloatArray, y: FloatArray, rng: np.random.Generator
    ) -> FloatArray:
        """Return the log density of every value given all others, (n,), in nats."""
        return GaussianProcessSurrogate(prior=self.prior).fit(Z, y).leave_one_out_log_density()


@dataclass(frozen=True)
class RegressorMaker:
    """Makes surrogates of a regressor, fitted from the start whenever there are new values.

    Attributes
    ----------
    regressor : estimator
        With ``predict(Z, return_std=True)``; cloned.
    """

    regressor: RegressorLike

    takes_noise = False

    def fit(
        self,
        state: dict[str, Any] | None,
        Z: FloatArray,
        y: FloatArray,
        noise: FloatArray,
        *,
        moved: bool,
        rng: np.random.Generator,
    ) -> tuple[RegressorSurrogate, dict[str, Any]]:
        """Return a surrogate conditioned on (Z, y), its random numbers seeded by `rng`."""
        state = {"seed": int(rng.integers(2**31))}
        return self.restore(state, Z, y, noise), state

    def restore(
        self, state: dict[str, Any], Z: FloatArray, y: FloatArray, noise: FloatArray
    ) -> RegressorSurrogate:
        """Return the surrogate of this state, conditioned on (Z, y)."""
        return RegressorSurrogate(self.regressor, state["seed"]).fit(Z, y)

    def left_out_log_density(
        self, Z: FloatArray, y: FloatArray, rng: np.random.Generator
    ) -> FloatArray:
        """Return the log density of every value given those of other folds, (n,), in nats."""
        return log_density_by_folds(self, Z, y, rng)


def former_hyperparameters(state, moved, size=None):
    """Return the hyperparameters to start at, None where there are none, and their label count."""
    if state is None:
        return None, 0
    theta = np.array(state["theta"])
    if moved:
        return (theta if theta.size == size else None), 0
    return theta, state["tuned_at"]


def log_density_by_folds(
    maker: SurrogateMaker, Z: FloatArray, y: FloatArray, rng: np.random.Generator
) -> FloatArray:
    """Return the log density of every value, (n,), under a surrogate fitted to the other folds."""
    folds = rng.permutation(y.size) % N_FOLDS
    density = np.empty(y.size)
    for fold in np.unique(folds):
        out = folds == fold
        noise = np.zeros((~out).sum())
        surrogate, _ = maker.fit(None, Z[~out], y[~out], noise, moved=True, rng=rng)
        density[out] = surrogate.log_predictive_density(Z[out], y[out])
    return density


SURROGATES = MappingProxyType({"auto": ProcessMaker, "gaussian-process": ProcessMaker})


def make_surrogates(
    surrogate: str | SurrogateMaker | RegressorLike, prior: str | None
) -> SurrogateMaker:
    """Return the maker of this name, or that of a regressor, or the maker given.

    Parameters
    ----------
    surrogate : str, regressor or SurrogateMaker
    prior : {"dimension-scaled", "sparse"} or None
        Of the process's length scales; None leaves it to the maker.

    Raises
    ------
    ValueError
        When there is no such name, or a prior is asked of what is no process of ours.
    TypeError
        When the regressor gives no standard deviation.
    """
    if isinstance(surrogate, str):
        if surrogate not in SURROGATES:
            raise ValueError(
                f"surrogate must be one of {sorted(SURROGATES)} or a regressor with "
                f"predict(Z, return_std=True): got {surrogate!r}."
            )
        return SURROGATES[surrogate]() if prior is None else SURROGATES[surrogate](prior)
    if prior is not None:
        raise ValueError(
            f"surrogate must be 'auto' or 'gaussian-process' with embedding='sparse', which is a "
            f"prior of that process: got {surrogate!r}. Use embedding='identity' with it."
        )
    if not missing_members(surrogate, SurrogateMaker):
        return cast(SurrogateMaker, surrogate)
    check_regressor(surrogate)
    return RegressorMaker(cast(RegressorLike, surrogate))
