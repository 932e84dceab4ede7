"""Prior densities of the logarithms of the surrogate's hyperparameters.

They are normal, so that the gradient is a line and every optimum is finite. The length scales'
location grows with the square root of the dimension (Hvarfner, Hellsten and Nardi 2024): the
distance of two random points does, and without this every point is far from every other.
"""

from dataclasses import dataclass

import numpy as np


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

    def log_density(self, theta):
        """Return the log density at theta, up to a constant, and its gradient."""
        deviation = (theta - self.location) / self.spread
        return -0.5 * float(deviation @ deviation), -deviation / self.spread

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
