"""Inputs that the surrogate believes idle are drawn anew in every proposal, where that is free.

A search that begins at the incumbent leaves such inputs where they are, and an input believed idle
by mistake is never tested. Drawn anew together they are all tested by an evaluation that is
made anyway, and if they are idle it loses nothing (doc/search_log.rst).
"""

from dataclasses import dataclass, field
from typing import cast

import numpy as np

from skbo_silbo._typing import FloatArray, SpaceLike
from skbo_silbo.acquisition._near_or_far import NearOrFar
from skbo_silbo.acquisition._search_protocol import Found, Search
from skbo_silbo.acquisition._surface import AcquisitionSurface

LARGEST_LOSS = 0.1  # as if the predicted mean were worse by so many standard deviations
N_SIZES = 101  # sizes of the set drawn anew that are tried, at most


@dataclass(frozen=True)
class IdleRedraw:
    """Another search, and then idle inputs of the point that it found drawn anew.

    Attributes
    ----------
    search : Search
        One that finds points, not coordinates alone.
    """

    search: Search = field(default_factory=NearOrFar)
    n_points = NearOrFar.n_points

    def find(
        self,
        surface: AcquisitionSurface,
        ranked: FloatArray,
        space: SpaceLike,
        rng: np.random.Generator,
    ) -> Found:
        """Return what the other search found, idle inputs of the best drawn anew (see `Search`).

        The first is that point; then follow those of the other search.
        """
        found = self.search.find(surface, ranked, space, rng)
        X = cast(FloatArray, found.X)
        x = redraw_idle(X[:1], surface, space, rng)
        return Found(np.vstack([surface.embedding.project(x), found.Z]), np.vstack([x, X]))


def redraw_idle(
    x: FloatArray, surface: AcquisitionSurface, space: SpaceLike, rng: np.random.Generator
) -> FloatArray:
    """Return x with as many inputs drawn anew as lose almost no acquisition, (1, d).

    They are taken in the order of their relevance, the least relevant first.

    Parameters
    ----------
    x : ndarray of shape (1, d)
    surface : AcquisitionSurface
    space : Space or Box
    rng : numpy.random.Generator
    """
    d = x.size
    anew = rng.uniform(-1.0, 1.0, d)
    rank = np.empty(d, int)
    rank[np.lexsort((rng.random(d), surface.relevance))] = np.arange(d)
    sizes = np.unique(np.linspace(0, d, min(N_SIZES, d + 1)).astype(int))
    X = space.round(np.where(rank < sizes[:, None], anew, x))
    values, worse = surface.values_if_worse(X, LARGEST_LOSS)
    largest = np.flatnonzero(values >= worse[0])[-1]
    return X[largest : largest + 1]
