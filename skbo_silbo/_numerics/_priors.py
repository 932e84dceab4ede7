"""Priors of a Gaussian process' hyperparameters, written once for every process here.

There are two of the length scales. All inputs matter, and a length scale grows with the square root
of their number, because the distance of two random points does (Hvarfner, Hellsten and Nardi 2024).
Or few inputs matter, and all others share one long length scale (Eriksson and Jankowiak 2021).

Both are published for inputs on the unit cube. A weight is an inverse squared length scale, so that
inputs which are c times as wide have weights ``c^-2`` times as large. Densities are with respect to
logarithms, because that is the space in which the mode is sought.

=====================  ========  ===================================================================
symbol                 shape     meaning
=====================  ========  ===================================================================
theta                  (d + 2,)  log of the signal variance, of the d length scales, of the noise
w                      (d,)      weights, inverse squared length scales
tau                    scalar    weight that irrelevant inputs share
c                      scalar    width of the inputs, in unit cubes
=====================  ========  ===================================================================
"""

from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Self

import numpy as np
from scipy.optimize import brentq

from skbo_silbo._typing import FloatArray

CUBE_WIDTH = 2.0  # width of inputs with the range [-1, 1]
# Width of the unit cube once its inputs are divided by their standard deviations
UNIFORM_WIDTH = np.sqrt(12.0)
LOG_LENGTH_SPREAD = np.sqrt(3.0)  # standard deviation of a log length scale, published
SHARED_WEIGHT = 0.1  # scale of tau on the unit cube, published
LEAST_SPARSE_DIMENSION = 5  # with fewer inputs all are expected to matter


@dataclass(frozen=True)
class HyperparameterPrior:
    """Independent normal densities of the logarithms of signal variance, length scales and noise.

    Attributes
    ----------
    location, spread : ndarray of shape (d + 2,)
        Means and standard deviations, in nats.
    bounds : ndarray of shape (d + 2, 2)
        Lowest and highest value searched, in nats.
    """

    location: FloatArray
    spread: FloatArray
    bounds: FloatArray

    @property
    def broader(self) -> "HyperparameterPrior | None":
        """The normal densities alone, where a subclass has others: their mode is a good start."""
        is_plain = type(self) is HyperparameterPrior
        return None if is_plain else HyperparameterPrior(self.location, self.spread, self.bounds)

    def log_density(self, theta):
        """Return the log density at theta, up to a constant, and its gradient."""
        return _normal_log_density(theta, self.location, self.spread)

    def shared(self):
        """Return the prior for one length scale in place of all."""
        one = [0, 1, -1]
        return HyperparameterPrior(self.location[one], self.spread[one], self.bounds[one])

    def for_regression(self) -> Self:
        """Return the prior for data of any noise: flat in signal and noise, noise starting at 0.1.

        Lengths have the published density in their logarithm. With the mode of the length itself,
        a factor e^3 shorter, and no prior of the noise, pure noise would be interpolated.
        """
        location, spread = self.location.copy(), self.spread.copy()
        location[1:-1] += LOG_LENGTH_SPREAD**2
        location[-1], spread[[0, -1]] = np.log(0.1), np.inf
        return replace(self, location=location, spread=spread)


@dataclass(frozen=True)
class SparsePrior(HyperparameterPrior):
    """``w_k ~ HalfCauchy(tau)`` and ``tau ~ HalfCauchy(0.1)`` on the unit cube; the rest normal.

    The density of ``log w_k`` is ``sech(log(w_k / tau)) / pi``: a weight away from tau costs its
    distance on the log scale, so that irrelevant inputs share the level tau, which the data move at
    no cost, and relevant ones pay ``log(w_k / tau)`` each. The tau of highest density is inserted,
    so that the prior is one of the length scales alone. Their `location` and `spread` are those of
    `broader`, the dimension-scaled prior: with fewer modes it finds inputs that this one misses.

    Attributes
    ----------
    log_tau_scale : float
        Log of the scale of tau.
    """

    log_tau_scale: float

    def log_density(self, theta):
        """Return the log density at theta, up to a constant, and its gradient."""
        ends, log_weights = [0, -1], -2.0 * theta[1:-1]
        log_tau = self._best_log_tau(log_weights)
        local, shared = log_weights - log_tau, log_tau - self.log_tau_scale
        lengths = float(_log_sech(local).sum() + _log_sech(shared))
        others, by_ends = _normal_log_density(theta[ends], self.location[ends], self.spread[ends])
        gradient = np.empty_like(theta)
        gradient[ends] = by_ends
        gradient[1:-1] = 2.0 * np.tanh(local)  # tau is stationary: no term of it
        return lengths + others, gradient

    def _best_log_tau(self, log_weights):
        """Return the log tau of highest density for given log weights.

        The density's logarithm is concave in it; its derivative changes sign between the least and
        the largest of all log weights and the scale.
        """
        places = np.append(log_weights, self.log_tau_scale)
        low, high = places.min(), places.max()
        if low == high:
            return low
        return brentq(lambda place: np.tanh(places - place).sum(), low, high)


def dimension_scaled_prior(d: int, width: float = CUBE_WIDTH) -> HyperparameterPrior:
    """Return the prior for targets of unit variance on d inputs, so many unit cubes wide.

    On the unit cube ``log length ~ Normal(sqrt(2) + log(d) / 2, sqrt(3))`` (Hvarfner et al.). They
    seek the mode in the length itself: in its logarithm that mode is their variance lower.
    """
    length = np.sqrt(2.0) + 0.5 * np.log(d) + np.log(width) - LOG_LENGTH_SPREAD**2
    location = np.concatenate([[0.0], np.full(d, length), [np.log(1e-4)]])
    spread = np.concatenate([[1.0], np.full(d, LOG_LENGTH_SPREAD), [2.0]])
    low = np.concatenate([[np.log(1e-3)], np.full(d, np.log(1e-2)), [np.log(1e-7)]])
    high = np.concatenate([[np.log(1e2)], np.full(d, np.log(1e3)), [np.log(10.0)]])
    return HyperparameterPrior(location, spread, np.column_stack([low, high]))


def sparse_prior(d: int, width: float = CUBE_WIDTH) -> SparsePrior:
    """Return the prior for targets of unit variance on d inputs, few of use."""
    dense = dimension_scaled_prior(d, width)
    log_tau_scale = np.log(SHARED_WEIGHT) - 2.0 * np.log(width)
    return SparsePrior(dense.location, dense.spread, dense.bounds, log_tau_scale)


PRIORS = MappingProxyType({"dimension-scaled": dimension_scaled_prior, "sparse": sparse_prior})


def _normal_log_density(x, location, spread):
    """Return the log density of independent normals up to a constant, and its gradient by x."""
    deviation = (x - location) / spread
    return -0.5 * float(deviation @ deviation), -deviation / spread


def _log_sech(u):
    return np.log(2.0) - np.logaddexp(u, -u)
