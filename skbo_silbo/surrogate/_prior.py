"""Prior densities of the logarithms of the surrogate's hyperparameters.

Those of signal variance and noise are normal. For the length scales there are two beliefs: all
inputs matter, and a length scale grows with the square root of their number (Hvarfner, Hellsten and
Nardi 2024), because the distance of two random points does; or few inputs matter and all others
share one long length scale (Eriksson and Jankowiak 2021).
"""

from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from skbo_silbo._numerics._map_fit import quadratic_r2


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

    location: np.ndarray
    spread: np.ndarray
    bounds: np.ndarray

    broader = None  # a prior whose mode is a good start for the search of this one's

    def log_density(self, theta):
        """Return the log density at theta, up to a constant, and its gradient."""
        deviation = (theta - self.location) / self.spread
        return -0.5 * float(deviation @ deviation), -deviation / self.spread

    def starts(self, Z, targets):
        """Return where the search of the mode starts: the location."""
        return [self.location]

    def shared(self):
        """Return the prior for one length scale in place of all."""
        one = [0, 1, -1]
        return HyperparameterPrior(self.location[one], self.spread[one], self.bounds[one])


def dimension_scaled_prior(r):
    """Return the prior for targets of unit variance on r inputs of range [-1, 1].

    Hvarfner et al. take ``log length ~ Normal(sqrt 2 + log(r)/2, sqrt 3)`` on the unit cube, the
    mode sought in the length itself: in its logarithm that mode is 3 lower. The cube here
    is twice as wide.
    """
    length = np.sqrt(2.0) + 0.5 * np.log(r) - 3.0 + np.log(2.0)
    location = np.concatenate([[0.0], np.full(r, length), [np.log(1e-4)]])
    spread = np.concatenate([[1.0], np.full(r, np.sqrt(3.0)), [2.0]])
    low = np.concatenate([[np.log(1e-3)], np.full(r, np.log(1e-2)), [np.log(1e-7)]])
    high = np.concatenate([[np.log(1e2)], np.full(r, np.log(1e3)), [np.log(10.0)]])
    return HyperparameterPrior(location, spread, np.column_stack([low, high]))


UNIT_SCALE = 0.25  # of inverse squared lengths: the cube is twice as wide as the unit cube
LOG_GLOBAL_SCALE = np.log(0.1) + np.log(UNIT_SCALE)
LARGEST_R2 = 0.999  # of an input's own quadratic, where a search starts
BISECTIONS = 60  # of the shared scale: to rounding


@dataclass(frozen=True)
class SparsePrior(HyperparameterPrior):
    """The same, but the squared inverse length scales w are half-Cauchy with a shared scale tau.

    On the unit cube ``w_k ~ HalfCauchy(tau)`` and ``tau ~ HalfCauchy(0.1)``; densities are those
    of the logarithms, ``sech(log w_k - log tau) / pi`` each. The tau of highest density is
    inserted, so that the prior is one of the length scales alone. `location` of the length
    scales is where a search starts; their `spread` has no use.
    """

    @property
    def broader(self):
        """The dimension-scaled prior: with fewer modes it finds inputs that this one misses."""
        return HyperparameterPrior(self.location, self.spread, self.bounds)

    def log_density(self, theta):
        """Return the log density at theta, up to a constant, and its gradient."""
        ends = [0, -1]
        deviation = (theta[ends] - self.location[ends]) / self.spread[ends]
        log_weights = -2.0 * theta[1:-1]
        log_tau = _shared_scale(log_weights, LOG_GLOBAL_SCALE)
        value = _log_sech(log_weights - log_tau).sum() + _log_sech(log_tau - LOG_GLOBAL_SCALE)
        gradient = np.empty_like(theta)
        gradient[ends] = -deviation / self.spread[ends]
        gradient[1:-1] = 2.0 * np.tanh(log_weights - log_tau)  # tau is stationary: no term of it
        return float(value - 0.5 * deviation @ deviation), gradient

    def starts(self, Z, targets):
        """Return where the search of the mode starts: at equal length scales, and at screened ones.

        From equal ones a relevant input is easily lost among many; the screened weights grow with
        how much of the targets the input's own quadratic explains (its F statistic).
        """
        r2 = np.minimum(quadratic_r2(Z - Z.mean(axis=0), targets), LARGEST_R2)
        screened = self.location.copy()
        screened[1:-1] -= 0.5 * np.log(0.1 + 0.5 * len(Z) * r2 / (1.0 - r2))
        return [self.location, screened]


def sparse_prior(r):
    """Return the prior for targets of unit variance on r inputs of range [-1, 1], few of use."""
    dense = dimension_scaled_prior(r)
    return SparsePrior(dense.location, dense.spread, dense.bounds)


PRIORS = MappingProxyType({"dimension-scaled": dimension_scaled_prior, "sparse": sparse_prior})


def _shared_scale(log_weights, centre):
    """Return the log tau that maximises ``sum log sech(log w - log tau) + log sech(log tau - c)``.

    The sum is concave; its derivative changes sign between the least and the largest argument.
    """
    places = np.append(log_weights, centre)
    low, high = places.min(), places.max()
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        if np.tanh(places - middle).sum() > 0.0:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)


def _log_sech(u):
    return np.log(2.0) - np.logaddexp(u, -u)
