"""Draws from a Parzen estimator of the good points, as in the tree-structured Parzen estimator.

The estimator compares the distribution of each input in good and other points, which needs few
values (doc/search_log.rst).
"""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from scipy.special import ndtr, ndtri

from skbo_silbo._typing import FloatArray

# Values of Optuna's TPESampler (gamma and n_ei_candidates).
GOOD_SHARE, MOST_GOOD = 0.1, 25  # evaluated points that count as good: share and maximum
N_DRAWS = 24  # draws per input, of which the one with the largest density ratio is kept
LARGEST_BLOCK = 10**6  # densities computed at once


def draw_good(ranked: FloatArray, rng: Generator) -> FloatArray:
    """Draw an encoded point near good points, independently for each input.

    Parameters
    ----------
    ranked : ndarray of shape (n, d)
        The evaluated points, ordered from best to worst.
    rng : numpy.random.Generator
    """
    n, d = ranked.shape
    n_good = min(int(np.ceil(GOOD_SHARE * n)), MOST_GOOD)
    good, rest = ParzenEstimates.near(ranked[:n_good]), ParzenEstimates.near(ranked[n_good:])
    drawn = good.draw(N_DRAWS, rng)
    best = np.argmax(good.log_density(drawn) - rest.log_density(drawn), axis=0)
    return drawn[best, np.arange(d)]


@dataclass(frozen=True, eq=False)
class ParzenEstimates:
    """Parzen density estimates on [-1, 1], one for each input.

    Attributes
    ----------
    centers, widths : ndarray of shape (n, d)
        Means and standard deviations of the normal components, for each input separately.
    """

    centers: FloatArray
    widths: FloatArray

    @classmethod
    def near(cls, X: FloatArray) -> "ParzenEstimates":
        """Create density estimates with one mixture component near each given point.

        As in Optuna's sampler, the width of a component is the larger of the distances to its two
        neighbours, which may be bounds. It is clipped to at least 2 / (n + 2) and at most 2.
        """
        centers = np.vstack([X, np.zeros(X.shape[1])])
        n, d = centers.shape
        order = np.argsort(centers, axis=0, kind="stable")
        ends = np.ones((1, d))
        gaps = np.diff(np.vstack([-ends, np.take_along_axis(centers, order, 0), ends]), axis=0)
        widths = np.empty_like(centers)
        np.put_along_axis(widths, order, np.maximum(gaps[:-1], gaps[1:]), 0)
        widths = np.clip(widths, 2.0 / min(100, n + 1), 2.0)
        widths[-1] = 2.0
        return cls(centers, widths)

    def draw(self, m: int, rng: Generator) -> FloatArray:
        """Draw m values of each input from the density estimates, independently."""
        n, d = self.centers.shape
        kept = rng.integers(n, size=(m, d)), np.arange(d)
        low, high = self._masses_below_bounds()
        at = low[kept] + rng.random((m, d)) * (high - low)[kept]
        return np.clip(self.centers[kept] + self.widths[kept] * ndtri(at), -1.0, 1.0)

    def log_density(self, X: FloatArray) -> FloatArray:
        """Return the log density of each element of X, up to a constant.

        The constant is the same for all estimates.
        """
        low, high = self._masses_below_bounds()
        weights = 1.0 / (self.widths * (high - low) * len(self.centers))
        density = np.empty_like(X)
        step = max(LARGEST_BLOCK // (len(X) * len(self.centers)), 1)
        for j in range(0, X.shape[1], step):
            block = slice(j, j + step)
            away = (X[:, None, block] - self.centers[:, block]) / self.widths[:, block]
            density[:, block] = np.sum(weights[:, block] * np.exp(-0.5 * away**2), axis=1)
        return np.log(density)

    def _masses_below_bounds(self) -> tuple[FloatArray, ...]:
        """Return the probability of each normal component below -1 and below 1."""
        return tuple(ndtr((end - self.centers) / self.widths) for end in (-1.0, 1.0))
