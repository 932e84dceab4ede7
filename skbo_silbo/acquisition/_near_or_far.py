"""Search of the acquisition that takes turns: over the whole cube, and round the incumbent.

Over the whole cube a Gaussian process is least sure in the corners, and of those there are many:
alone, expected improvement visits them for long. A search kept to a box round the incumbent makes
the most of what is known; half of each did better than either (doc/search_log.rst).
"""

from dataclasses import dataclass

import numpy as np

from skbo_silbo._typing import BoolArray, FloatArray, SpaceLike
from skbo_silbo.acquisition._climb import (
    CUBE,
    N_INCUMBENTS,
    Climb,
    categorical_columns,
    climb_from,
    draw_candidates,
    draw_moved,
)
from skbo_silbo.acquisition._search_protocol import Found
from skbo_silbo.acquisition._surface import AcquisitionSurface

N_POINTS = 1024
LEAST_MOVED = 2  # coordinates of a candidate that differ from the incumbent's, on average


@dataclass(frozen=True)
class NearOrFar:
    """By chance either `Climb` or the same within a box round the incumbent.

    Attributes
    ----------
    near_share : float
        Probability of the box.
    half_width : float
        Of the box, where the cube has 1. Categories are free.
    """

    near_share: float = 0.5
    half_width: float = 0.4
    n_points = Climb.n_points

    def find(
        self,
        surface: AcquisitionSurface,
        ranked: FloatArray,
        space: SpaceLike,
        rng: np.random.Generator,
    ) -> Found:
        """Return candidates and where climbs from the best of them ended (see `Search`)."""
        best, relevance = ranked[0], surface.relevance
        if rng.random() >= self.near_share:
            X = draw_candidates(surface.embedding, ranked[:N_INCUMBENTS], rng, relevance)
            bounds = CUBE
        else:
            X = draw_near(best, self.half_width, categorical_columns(space), rng, relevance)
            low, high = best - self.half_width, best + self.half_width
            bounds = np.maximum(low, CUBE[0]), np.minimum(high, CUBE[1])
        return climb_from(X, surface, space, bounds)


def draw_near(
    x: FloatArray,
    half_width: float,
    categorical: BoolArray,
    rng: np.random.Generator,
    relevance: FloatArray,
) -> FloatArray:
    """Return points near x, from few to all coordinates moved, of shape (N_POINTS, d).

    Parameters
    ----------
    x : ndarray of shape (d,)
    half_width : float
        Of the box round x.
    categorical : ndarray of bool of shape (d,)
        Columns of categories: after rounding, some 15 % of them differ from x's.
    rng : numpy.random.Generator
    """
    shape = N_POINTS, x.size
    moved = draw_moved(N_POINTS, relevance, LEAST_MOVED, rng)
    X = np.clip(x + half_width * moved * rng.uniform(-1.0, 1.0, shape), -1.0, 1.0)
    # tanh keeps signs and order, which decide the category, and stays in the cube
    return np.where(categorical, np.tanh(x + rng.standard_normal(shape)), X)
