"""Inputs that the surrogate believes idle are drawn anew in every proposal, where that is free.

A search that begins at the incumbent leaves such inputs where they are, and an input believed idle
by mistake is never tested. Drawn anew together they are all tested by an evaluation that is
made anyway, and if they are idle it loses nothing (doc/search_log.rst).
"""

from dataclasses import dataclass, field

import numpy as np

from skbo_silbo.acquisition._climb import Climb
from skbo_silbo.acquisition._near_or_far import NearOrFar

LARGEST_LOSS = 0.1  # as if the predicted mean were worse by so many standard deviations
N_SIZES = 101  # sizes of the set drawn anew that are tried, at most


@dataclass(frozen=True)
class IdleRedraw:
    """Another search, and then idle inputs of the point that it found drawn anew.

    The acquisition of an ensemble is climbed over the cube, and no input drawn anew: its members
    differ in which inputs they ignore, and tests of these come with that (doc/search_log.rst).

    Attributes
    ----------
    search : object
        With `find`; its points come back too.
    """

    search: object = field(default_factory=NearOrFar)
    n_points = NearOrFar.n_points

    def find(self, surface, ranked, space, rng):
        """Return coordinates, (m, r), and the points they come from, (m, d).

        The first is the best one of the other search with idle inputs drawn anew; then follow those
        of the other search, best acquisition first.

        Parameters
        ----------
        surface : AcquisitionSurface
        ranked : ndarray of shape (n, d)
            The points evaluated, the lowest value first.
        space : Space or Box
            The candidates are rounded to its points.
        rng : numpy.random.Generator
        """
        if surface.is_averaged:
            return Climb().find(surface, ranked, space, rng)
        Z, X = self.search.find(surface, ranked, space, rng)
        x = redraw_idle(X[:1], surface, space, rng)
        return np.vstack([surface.embedding.project(x), Z]), np.vstack([x, X])


def redraw_idle(x, surface, space, rng):
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
    mean, std = surface.surrogate.predict(surface.embedding.project(X))
    values = surface.acquisition(mean, std, surface.best)
    least = surface.acquisition(mean[:1] + LARGEST_LOSS * std[:1], std[:1], surface.best)
    largest = np.flatnonzero(values >= least)[-1]
    return X[largest : largest + 1]
