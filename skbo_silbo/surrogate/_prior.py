"""Prior densities of the logarithms of the surrogate's hyperparameters.

Those of signal variance and noise are normal; the length scales have one of the two beliefs of
`_numerics._priors`.
"""

from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from skbo_silbo._numerics._priors import (
    LOG_LENGTH_SPREAD,
    SharedScale,
    log_length_location,
    normal_log_density,
)
from skbo_silbo._typing import FloatArray

CUBE_WIDTH = 2.0  # inputs have the range [-1, 1]
LEAST_SPARSE_DIMENSION = 5  # with fewer inputs all are expected to matter


@dataclass(frozen=True)
class HyperparameterPrior:
    """Independent normal densities of the logarithms of signal variance, length scales and noise.

    Attributes
    ----------
    location, spread : ndarray of shape (r + 2,)
        Means and standard deviations, in nats.
    bounds : ndarray of shape (r + 2, 2)
        Lowest and highest value searched, in nats.
    """

    location: FloatArray
    spread: FloatArray
    bounds: FloatArray

    @property
    def broader(self) -> "HyperparameterPrior | None":
        """A prior whose mode is a good start for the search of this one's."""
        return None

    def log_density(self, theta):
        """Return the log density at theta, up to a constant, and its gradient."""
        return normal_log_density(theta, self.location, self.spread)

    def shared(self):
        """Return the prior for one length scale in place of all."""
        one = [0, 1, -1]
        return HyperparameterPrior(self.location[one], self.spread[one], self.bounds[one])


def dimension_scaled_prior(r: int) -> HyperparameterPrior:
    """Return the prior for targets of unit variance on r inputs of range [-1, 1].

    Length scales grow with the root of r. Hvarfner et al. seek the mode in the length itself: in
    its logarithm that mode is their variance lower.
    """
    length = log_length_location(r, CUBE_WIDTH) - LOG_LENGTH_SPREAD**2
    location = np.concatenate([[0.0], np.full(r, length), [np.log(1e-4)]])
    spread = np.concatenate([[1.0], np.full(r, LOG_LENGTH_SPREAD), [2.0]])
    low = np.concatenate([[np.log(1e-3)], np.full(r, np.log(1e-2)), [np.log(1e-7)]])
    high = np.concatenate([[np.log(1e2)], np.full(r, np.log(1e3)), [np.log(10.0)]])
    return HyperparameterPrior(location, spread, np.column_stack([low, high]))


@dataclass(frozen=True)
class SparsePrior(HyperparameterPrior):
    """The same, but the squared inverse length scales are half-Cauchy with a shared scale tau.

    The tau of highest density is inserted in `SharedScale`, so that the prior is one of the length
    scales alone. `location` and `spread` of the length scales are those of `broader`, whose
    search starts at the former.
    """

    belief = SharedScale(CUBE_WIDTH)

    @property
    def broader(self) -> HyperparameterPrior:
        """The dimension-scaled prior: with fewer modes it finds inputs that this one misses."""
        return HyperparameterPrior(self.location, self.spread, self.bounds)

    def log_density(self, theta):
        """Return the log density at theta, up to a constant, and its gradient."""
        ends, log_weights = [0, -1], -2.0 * theta[1:-1]
        log_tau = self.belief.best_log_tau(log_weights)
        lengths, by_weights, _ = self.belief.log_density(log_weights, log_tau)
        others, by_ends = normal_log_density(theta[ends], self.location[ends], self.spread[ends])
        gradient = np.empty_like(theta)
        gradient[ends] = by_ends
        gradient[1:-1] = -2.0 * by_weights  # tau is stationary: no term of it
        return lengths + others, gradient


def sparse_prior(r: int) -> SparsePrior:
    """Return the prior for targets of unit variance on r inputs of range [-1, 1], few of use."""
    dense = dimension_scaled_prior(r)
    return SparsePrior(dense.location, dense.spread, dense.bounds)


PRIORS = MappingProxyType({"dimension-scaled": dimension_scaled_prior, "sparse": sparse_prior})
