"""Priors of the hyperparameters of Gaussian processes.

There are two priors of the length scales. In the first, all inputs matter, and length scales grow
with the square root of their number, as distances of random points do (Hvarfner, Hellsten and Nardi
2024). In the second, few inputs matter, and the others share one long length scale (Eriksson and
Jankowiak 2021).

Both were published for inputs on the unit cube. For inputs that are c times as wide, weights are
multiplied by ``c^-2``. Densities are with respect to logarithms, because modes are sought in log
space.

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

CUBE_WIDTH = 2.0  # width of inputs that range over [-1, 1]
# Width of the unit cube after division of the inputs by their standard deviations.
UNIFORM_WIDTH = np.sqrt(12.0)
LOG_LENGTH_SPREAD = np.sqrt(3.0)  # published standard deviation of log length scales
SHARED_WEIGHT = 0.1  # published scale of tau on the unit cube
LEAST_SPARSE_DIMENSION = 5  # with fewer inputs, all are expected to matter


@dataclass(frozen=True)
class HyperparameterPrior:
    """Independent normal priors of the log hyperparameters of a Gaussian process.

    Attributes
    ----------
    location, spread : ndarray of shape (d + 2,)
        Means and standard deviations of the natural logarithms of the hyperparameters.
    bounds : ndarray of shape (d + 2, 2)
        Lower and upper bounds of the logarithms of the hyperparameters, in the search for them.
    """

    location: FloatArray
    spread: FloatArray
    bounds: FloatArray

    @property
    def broader(self) -> "HyperparameterPrior | None":
        """Normal prior whose posterior mode is a good starting point, or None."""
        is_plain = type(self) is HyperparameterPrior
        return None if is_plain else HyperparameterPrior(self.location, self.spread, self.bounds)

    def log_density(self, theta: FloatArray) -> tuple[float, FloatArray]:
        """Return the log prior density at theta, up to a constant, and its gradient."""
        return _normal_log_density(theta, self.location, self.spread)

    def for_regression(self) -> Self:
        """Return the prior for regression on noisy data.

        It is flat in the signal and noise variance, and the search starts from a noise variance of
        0.1. The most probable length scales are longer by a factor of e^3. Otherwise, pure noise
        would be interpolated.
        """
        location, spread = self.location.copy(), self.spread.copy()
        location[1:-1] += LOG_LENGTH_SPREAD**2
        location[-1], spread[[0, -1]] = np.log(0.1), np.inf
        return replace(self, location=location, spread=spread)


@dataclass(frozen=True)
class SparsePrior(HyperparameterPrior):
    """Sparsity-inducing prior, ``w_k ~ HalfCauchy(tau)`` with ``tau ~ HalfCauchy(0.1)``.

    The priors of the signal and noise variance are normal in the logarithm.

    The density of ``log w_k`` is ``sech(log(w_k / tau)) / pi``. Irrelevant inputs share the level
    tau, and each relevant one costs ``log(w_k / tau)``. tau is set to its most probable value, so
    that the prior is a density of the length scales only. `location` and `spread` belong to
    `broader`, the dimension-scaled prior, which has fewer modes.

    Attributes
    ----------
    log_tau_scale : float
        Natural logarithm of the scale of the half-Cauchy prior of tau.
    """

    log_tau_scale: float

    def log_density(self, theta: FloatArray) -> tuple[float, FloatArray]:
        """Return the log prior density at theta, up to a constant, and its gradient."""
        ends, log_weights = [0, -1], -2.0 * theta[1:-1]
        log_tau = self._best_log_tau(log_weights)
        local, shared = log_weights - log_tau, log_tau - self.log_tau_scale
        lengths = float(_log_sech(local).sum() + _log_sech(shared))
        others, by_ends = _normal_log_density(theta[ends], self.location[ends], self.spread[ends])
        gradient = np.empty_like(theta)
        gradient[ends] = by_ends
        gradient[1:-1] = 2.0 * np.tanh(local)  # the derivative with respect to tau is 0
        return lengths + others, gradient

    def _best_log_tau(self, log_weights):
        """Return the most probable log tau given the log weights.

        The log density is concave in log tau, and its derivative changes sign between the smallest
        and the largest of the log weights and the scale.
        """
        places = np.append(log_weights, self.log_tau_scale)
        low, high = places.min(), places.max()
        if low == high:
            return low
        return brentq(lambda place: np.tanh(places - place).sum(), low, high)


def dimension_scaled_prior(d: int, width: float = CUBE_WIDTH) -> HyperparameterPrior:
    """Return the prior for targets of unit variance on d inputs that may all be relevant.

    On the unit cube, ``log length ~ Normal(sqrt(2) + log(d) / 2, sqrt(3))`` (Hvarfner et al.). The
    location is shifted by the variance in log space, to the mode of the length itself. `width` is
    the width of the inputs in units of the unit cube.
    """
    length = np.sqrt(2.0) + 0.5 * np.log(d) + np.log(width) - LOG_LENGTH_SPREAD**2
    location = np.concatenate([[0.0], np.full(d, length), [np.log(1e-4)]])
    spread = np.concatenate([[1.0], np.full(d, LOG_LENGTH_SPREAD), [2.0]])
    low = np.concatenate([[np.log(1e-3)], np.full(d, np.log(1e-2)), [np.log(1e-7)]])
    high = np.concatenate([[np.log(1e2)], np.full(d, np.log(1e3)), [np.log(10.0)]])
    return HyperparameterPrior(location, spread, np.column_stack([low, high]))


def sparse_prior(d: int, width: float = CUBE_WIDTH) -> SparsePrior:
    """Return the prior for targets of unit variance on d inputs, of which few are relevant."""
    dense = dimension_scaled_prior(d, width)
    log_tau_scale = np.log(SHARED_WEIGHT) - 2.0 * np.log(width)
    return SparsePrior(dense.location, dense.spread, dense.bounds, log_tau_scale)


PRIORS = MappingProxyType({"dimension-scaled": dimension_scaled_prior, "sparse": sparse_prior})


def _normal_log_density(x, location, spread):
    """Return the log density of independent normal variables, and its gradient."""
    deviation = (x - location) / spread
    return -0.5 * float(deviation @ deviation), -deviation / spread


def _log_sech(u):
    return np.log(2.0) - np.logaddexp(u, -u)
