"""Points drawn by a tree-structured Parzen estimator, in turns with another search.

On a function with many optima a Gaussian process in many inputs may explain next to nothing of the
observed values; its improvement is then largest wherever it knows least, and the search is no
better than chance. What sets the best points apart, one input at a time, needs no model of the
values and few of them (doc/search_log.rst). Between the draws inputs move off their bounds.
"""

from dataclasses import dataclass, field
from typing import cast

import numpy as np
from numpy.random import Generator
from scipy.special import ndtr, ndtri

from skbo_silbo._typing import FloatArray, SpaceLike
from skbo_silbo.acquisition._acquisition_functions import is_log
from skbo_silbo.acquisition._part_of_space import can_be_listed
from skbo_silbo.acquisition._searches import Climb, every_point
from skbo_silbo.acquisition._surface import AcquisitionSurface, Found, Search
from skbo_silbo.space import SpaceUnion
from skbo_silbo.surrogate import SurrogateOptions

# Of the acquisition, in nats: for each input of the space, and in all. Measured with
# 100 inputs, of which five matter; with 10 and 20 that all matter, 0.2 in all cost much.
LOSS_EACH, MOST_LOSS = 0.002, 0.2
LEAST_INPUTS = 25
SMALLEST_STEP = 1e-6  # from a bound, of the cube


def moved_off_bounds(
    surface: AcquisitionSurface, x: FloatArray, ranked: FloatArray, space: SpaceLike
) -> FloatArray:
    """Return a point with inputs off their bounds, as long as its acquisition hardly falls.

    A climb takes inputs that do not matter to bounds, where the process knows least, and the points
    that improve keep them there: a corner that no value asked for (doc/search_log.rst).
    An input on a bound gets its value in the best point that has it elsewhere, if there is one.
    Those that cost least come first, while the acquisition falls by at most `LOSS_EACH` for every
    column, and by `MOST_LOSS`, in all. No input is moved if there are fewer than `LEAST_INPUTS`
    columns, if the acquisition function is not a logarithm, or in a union, where inputs may be
    absent.

    Parameters
    ----------
    surface : AcquisitionSurface
    x : ndarray of shape (d,)
        A rounded place of the space.
    ranked : ndarray of shape (n, d)
        The points evaluated, the lowest value first.
    space : Space, SpaceUnion or Box

    Returns
    -------
    x : ndarray of shape (d,)
    """
    in_nats = is_log(surface.acquisition)
    if x.size < LEAST_INPUTS or not in_nats or isinstance(space, SpaceUnion):
        return x
    lower, upper = space.round(np.array([[-1.0], [1.0]]) * np.ones(x.size))  # equal: of a category
    inside = (ranked > lower + SMALLEST_STEP) & (ranked < upper - SMALLEST_STEP)
    bounded = (x <= lower + SMALLEST_STEP) | (x >= upper - SMALLEST_STEP)
    columns = np.flatnonzero(bounded & inside.any(axis=0))
    if not columns.size:
        return x
    elsewhere = ranked[inside.argmax(axis=0), np.arange(x.size)]
    moved = columns[:, None] == np.arange(x.size)
    order = np.argsort(-surface.values(space.round(np.where(moved, elsewhere, x))), kind="stable")
    moved = np.logical_or.accumulate(moved[order])
    X = np.vstack([x[None], space.round(np.where(moved, elsewhere, x))])
    values = surface.values(X)
    as_good = np.flatnonzero(values >= values[0] - min(LOSS_EACH * x.size, MOST_LOSS))
    return X[as_good[-1]] if as_good.size else x


# Optuna's numbers (TPESampler: gamma and n_ei_candidates).
GOOD_SHARE, MOST_GOOD = 0.1, 25  # of the points evaluated: those that draws are made near
N_DRAWS = 24  # of an input, of which the one likeliest to be good is kept
N_DRAWN = 4  # points: on a small discrete space some are evaluated already
LARGEST_BLOCK = 10**6  # densities computed at once


@dataclass(frozen=True)
class ParzenTurns:
    """Another search, replaced by Parzen draws the more often the worse the surrogate predicts.

    The probability of a draw is `most` times the surrogate's `unexplained_share`. Each input is
    drawn by itself: of several values drawn from a Parzen estimate of the good points' density, the
    one with the largest ratio to the density of all other points is taken. This is the
    tree-structured Parzen estimator without a tree (Bergstra, Bardenet, Bengio and Kegl 2011).
    Where there are constraints nothing is drawn: draws know nothing of where these hold. The points
    of a small discrete space follow the draws, which may all be known. What the other search found
    comes with its first point `moved_off_bounds`, where there are no constraints.

    Attributes
    ----------
    search : Search
    most : float
        Probability of a draw where the surrogate explains nothing.
    """

    search: Search = field(default_factory=Climb)
    most: float = 0.5

    def find(
        self, surface: AcquisitionSurface, ranked: FloatArray, space: SpaceLike, rng: Generator
    ) -> Found:
        """Return what the other search found, or points drawn (see `Search`).

        The surrogate of the surface's observed values must have `unexplained_share`.
        """
        share = self.most * cast(SurrogateOptions, surface.observed).unexplained_share()
        constrained = surface.feasibility is not None or surface.part is not None
        if rng.random() >= share or constrained:
            found = self.search.find(surface, ranked, space, rng)
            if constrained or found.X is None or can_be_listed(space.n_points, len(ranked)):
                return found
            X = np.vstack([moved_off_bounds(surface, found.X[0], ranked, space), found.X])
            return Found(surface.embedding.project(X), X)
        X = space.round(np.array([draw_good(ranked, rng) for _ in range(N_DRAWN)]))
        if can_be_listed(space.n_points, len(ranked)):
            X = np.vstack([X, cast(FloatArray, every_point(surface, space).X)])
        return Found(surface.embedding.project(X), X)


def draw_good(ranked: FloatArray, rng: Generator) -> FloatArray:
    """Return a point of the cube, (d,), each input drawn by itself from where good points lie.

    Parameters
    ----------
    ranked : ndarray of shape (n, d)
        Points, the best first.
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
    """A density on [-1, 1] for every input: normal ones, cut off there, of equal weight.

    Attributes
    ----------
    centers, widths : ndarray of shape (n, d)
    """

    centers: FloatArray
    widths: FloatArray

    @classmethod
    def near(cls, X: FloatArray) -> "ParzenEstimates":
        """Return the estimate from points X, (n, d), and one normal density as wide as the cube.

        A width is the larger distance to a neighbour or the end, at least 2 / (n + 2) and at most
        2 (as Optuna's sampler has it by default).
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
        """Return m independent draws of every input, (m, d)."""
        n, d = self.centers.shape
        kept = rng.integers(n, size=(m, d)), np.arange(d)
        low, high = self._cut_off()
        at = low[kept] + rng.random((m, d)) * (high - low)[kept]
        return np.clip(self.centers[kept] + self.widths[kept] * ndtri(at), -1.0, 1.0)

    def log_density(self, X: FloatArray) -> FloatArray:
        """Return the log density of every element of X, (m, d), of its input, but for a constant.

        The constant is the same for all estimates.
        """
        low, high = self._cut_off()
        weights = 1.0 / (self.widths * (high - low) * len(self.centers))
        density = np.empty_like(X)
        step = max(LARGEST_BLOCK // (len(X) * len(self.centers)), 1)
        for j in range(0, X.shape[1], step):
            block = slice(j, j + step)
            away = (X[:, None, block] - self.centers[:, block]) / self.widths[:, block]
            density[:, block] = np.sum(weights[:, block] * np.exp(-0.5 * away**2), axis=1)
        return np.log(density)

    def _cut_off(self):
        """Return how much of every normal density lies below -1 and below 1, each (n, d)."""
        return tuple(ndtr((end - self.centers) / self.widths) for end in (-1.0, 1.0))
