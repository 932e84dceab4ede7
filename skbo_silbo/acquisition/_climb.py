"""Searches for where the acquisition is largest: climbs by gradients, and Parzen draws.

Everything is a point x of the cube, and the acquisition is seen through ``z = x B``: so every
candidate can be reached, which is not so of a point drawn in the box round the image of the cube.

On a function with many optima a Gaussian process in many inputs may explain next to nothing of the
observed values; its improvement is then largest wherever it knows least, and the search is no
better than chance. What sets the best points apart, one input at a time, needs no model of the
values and few of them (doc/search_log.rst).
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, cast

import numpy as np
from numpy.random import Generator
from scipy.optimize import Bounds, minimize
from scipy.special import ndtr, ndtri

from skbo_silbo._typing import BoolArray, FloatArray, SpaceLike
from skbo_silbo.acquisition._functions import AcquisitionSurface
from skbo_silbo.space._keys import first_rows
from skbo_silbo.surrogate import GaussianProcessSurrogate

if TYPE_CHECKING:
    from skbo_silbo.acquisition._part import Part

# Not tuned: 20 climbs, and four times the candidates, were tried (doc/search_log.rst).
N_GLOBAL, N_LOCAL = 768, 384  # candidates over the whole cube, and round the best points
N_BEST = 5  # points that candidates are drawn round
LOG_STEPS = (-3.5, -0.3)  # decimal logarithms of the steps: from rounding to half the cube
N_STARTS = 5  # climbs, from candidates far from one another
MAX_ITERATIONS = 40  # of L-BFGS-B in a climb
# In a part of the space: the ends of the climbs, then four times candidates near the best. Without
# these, regret at a plane was nine times as large (10 seeds; doc/benchmarks/known_constraints.py).
N_ROUNDS = 5
# Points of a discrete space that are all looked at, and these times the square of the values. A
# proposal then takes 0.2 s with 50 values, 1.5 s with 300 (one run each).
MOST_LEFT, MOST_WORK = 10**5, 10**10
# Optuna's numbers (TPESampler: gamma and n_ei_candidates).
GOOD_SHARE, MOST_GOOD = 0.1, 25  # of the points evaluated: those that draws are made near
N_DRAWS = 24  # of an input, of which the one likeliest to be good is kept
N_DRAWN = 4  # points: on a small discrete space some are evaluated already
LARGEST_BLOCK = 10**6  # densities computed at once


@dataclass(frozen=True, eq=False)
class Found:
    """What a search found, best acquisition first.

    Attributes
    ----------
    Z : ndarray of shape (m, r)
        Coordinates in the embedding.
    X : ndarray of shape (m, d) or None
        The points of the space that they are of; None where only coordinates were searched.
    """

    Z: FloatArray
    X: FloatArray | None = None

    def portions(self, size: int) -> "Iterator[Found]":
        """Yield the rows whose coordinates no row before has: `size`, then twice as many, ..."""
        rows = first_rows(self.Z)
        while rows:
            some, rows = rows[:size], rows[size:]
            yield Found(self.Z[some], None if self.X is None else self.X[some])
            size *= 2


class Search(Protocol):
    """A way to find where the acquisition is largest."""

    def find(
        self, surface: AcquisitionSurface, ranked: FloatArray, space: SpaceLike, rng: Generator, /
    ) -> Found:
        """Return the best candidates as `Found`.

        Parameters
        ----------
        surface : AcquisitionSurface
        ranked : ndarray of shape (n, d)
            The points evaluated, the lowest value first.
        space : Space or Box
            Points are rounded to it.
        rng : numpy.random.Generator
            The only source of random numbers.
        """


@dataclass(frozen=True)
class Climb:
    """Random candidates over the cube and around the best points, the best climbed by gradients.

    Where a discrete space, or the part of it to propose in, has few points left, these are all
    looked at instead, so that the best is exact.
    """

    def find(
        self, surface: AcquisitionSurface, ranked: FloatArray, space: SpaceLike, rng: Generator
    ) -> Found:
        """Return candidates and where climbs from the best of them ended (see `Search`)."""
        whole = surface.part or space
        if can_be_listed(whole.n_points, len(ranked)):
            return every_point(surface, whole)
        X = draw_candidates(surface.embedding, ranked[:N_BEST], rng, surface.relevance)
        # The centre of the cube is no category: in columns of these alone it is rounded to an end.
        held = np.abs(space.round(np.zeros((1, space.n_features_)))[0]) == 1.0
        if surface.part is not None:
            return _find_in_part(surface, surface.part, X, held, rng)
        X = space.round(X)
        values = surface.values(X)
        X, _ = _best_first(surface, space.round(climb(surface, X, values, held)), X, values)
        return Found(surface.embedding.project(X), X)


def can_be_listed(n_points: float, n: int) -> bool:
    """Return whether so many points are few enough to look at all, n values being known."""
    return n_points - n <= MOST_LEFT and n_points * n**2 <= MOST_WORK


def every_point(surface: AcquisitionSurface, whole: "SpaceLike | Part") -> Found:
    """Return all points of a finite space, or part of one, best first."""
    X = whole.every_point()
    X, _ = _best_first(surface, X, X[:0], np.empty(0))
    return Found(surface.embedding.project(X), X)


def _find_in_part(surface, part, X, held, rng):
    """Return the same in a part: climbs end at constraints, so candidates follow near the best."""
    X = part.admitted(part.round(X))
    if len(X):
        values = surface.values(X)
        more = part.round(climb(surface, X, values, held | part.held_columns))
        for _ in range(N_ROUNDS):
            X, values = _best_first(surface, part.admitted(more), X, values)
            more = part.near(X[:N_BEST], rng)
    return Found(surface.embedding.project(X), X)


def _best_first(surface, more, X, values):
    """Return places and more of them, (n, d), and the acquisition there, the largest first."""
    if len(more):
        X, values = np.vstack([more, X]), np.append(surface.values(more), values)
    order = np.argsort(-values, kind="stable")
    return X[order], values[order]


def draw_candidates(embedding, best, rng, relevance):
    """Return random points of the cube whose images fill the image of the cube, of shape (n, d).

    Parameters
    ----------
    embedding : Embedding
    best : ndarray of shape (k, d)
        The best points known; local candidates are drawn round these: a third move in the
        embedding, a third have some coordinates drawn anew.
    rng : numpy.random.Generator
    relevance : ndarray of shape (d,)
        How much each coordinate matters: the more, the oftener it is drawn anew.
    """
    widths = embedding.half_widths
    wide = rng.uniform(-1.0, 1.0, (N_GLOBAL, widths.size)) * widths
    near = best[rng.integers(len(best), size=N_LOCAL)]
    steps = embedding.pull_back(steps_near(N_LOCAL, widths, rng))
    X = np.vstack([embedding.pull_back(wide), near + steps])
    anew = draw_moved(N_LOCAL, relevance, rng)
    near = np.where(anew, rng.uniform(-1.0, 1.0, near.shape), near)
    return np.vstack([np.clip(X, -1.0, 1.0), near])


def steps_near(n: int, widths: FloatArray, rng: Generator) -> FloatArray:
    """Return n normal steps, (n, r), each of its own size, in units of the half widths."""
    sizes = 10.0 ** rng.uniform(*LOG_STEPS, (n, 1)) * widths
    return sizes * rng.standard_normal((n, widths.size))


def points_near(centres: FloatArray, n: int, widths: FloatArray, rng: Generator) -> FloatArray:
    """Return n points of the box, (n, r), near rows of `centres`, (k, r)."""
    near = centres[rng.integers(len(centres), size=n)] + steps_near(n, widths, rng)
    return np.clip(near, -widths, widths)


def draw_moved(n: int, relevance: FloatArray, rng: Generator) -> BoolArray:
    """Return which coordinates n candidates shall differ in, bool of shape (n, d).

    From one to all of them, on average and before the probabilities are cut at 1; the more
    relevant ones more often.
    """
    expected = relevance.size ** rng.uniform(0.0, 1.0, (n, 1))
    share = relevance / relevance.mean() / relevance.size
    return rng.random((n, relevance.size)) < expected * share


def climb(surface, X, values, held):
    """Climb from several of the best candidates, far from one another.

    Parameters
    ----------
    surface : AcquisitionSurface
    X : ndarray of shape (n, d)
    values : ndarray of shape (n,)
        The acquisition there.
    held : ndarray of bool of shape (d,)
        Which columns stay as they are in the candidate.

    Returns
    -------
    ends : ndarray of shape (k, d)
    """
    Z = surface.embedding.project(X)
    chosen: list[int] = []
    radius = 0.1 * np.sqrt(Z.var(axis=0).sum())  # a tenth of the candidates' spread
    for i in np.argsort(-values, kind="stable"):
        if (np.linalg.norm(Z[i] - Z[chosen], axis=1) > radius).all():
            chosen.append(i)
        if len(chosen) == N_STARTS:
            break
    options = {"args": (-1.0,), "jac": True, "options": {"maxiter": MAX_ITERATIONS}}
    ends = []
    for x in X[chosen]:
        bounds = Bounds(np.where(held, x, -1.0), np.where(held, x, 1.0))
        loss = surface.value_and_gradient
        ends.append(minimize(loss, x, method="L-BFGS-B", bounds=bounds, **options).x)
    return np.clip(ends, -1.0, 1.0)


@dataclass(frozen=True)
class ParzenTurns:
    """Another search, replaced by Parzen draws the more often the worse the surrogate predicts.

    The probability of a draw is `most` times the surrogate's `unexplained_share`. Each input is
    drawn by itself: of several values drawn from a Parzen estimate of the good points' density, the
    one with the largest ratio to the density of all other points is taken. This is the
    tree-structured Parzen estimator without a tree (Bergstra, Bardenet, Bengio and Kegl 2011).
    Where there are constraints nothing is drawn: draws know nothing of where these hold. The points
    of a small discrete space follow the draws, which may all be known.

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
        share = self.most * cast(GaussianProcessSurrogate, surface.observed).unexplained_share()
        constrained = surface.feasibility is not None or surface.part is not None
        if rng.random() >= share or constrained:
            return self.search.find(surface, ranked, space, rng)
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
