"""Search that alternates between a model and a tree-structured Parzen estimator.

With many inputs and many local optima, a Gaussian process may explain little of the observed
values. Its expected improvement is then largest far from all points, and the search is no better
than random. A Parzen estimator compares the distribution of each input in good and other points,
which needs few values (doc/search_log.rst).
"""

from dataclasses import dataclass, field
from typing import cast

import numpy as np
from numpy.random import Generator
from scipy.special import ndtr, ndtri

from skbo_silbo._typing import FloatArray, SpaceLike
from skbo_silbo.acquisition._searches import (
    AcquisitionSurface,
    Climb,
    Found,
    Search,
    can_be_listed,
    every_point,
)
from skbo_silbo.space import SpaceUnion
from skbo_silbo.surrogate import SurrogateOptions

# Largest loss of log acquisition, in nats, per input and in total. Chosen with 100 inputs, five of
# them relevant; with 10 or 20 relevant inputs, a total loss of 0.2 is harmful.
LOSS_EACH, MOST_LOSS = 0.002, 0.2
LEAST_INPUTS = 25
SMALLEST_STEP = 1e-6  # distance in the cube from which a point counts as off a bound


def moved_off_bounds(
    surface: AcquisitionSurface, x: FloatArray, ranked: FloatArray, space: SpaceLike
) -> FloatArray:
    """Move inputs of a candidate off their bounds, if that costs little acquisition.

    Gradient ascent moves irrelevant inputs to their bounds, where the Gaussian process is most
    uncertain, and the following incumbents keep them there (doc/search_log.rst). Each such input
    takes its value in the best point that has it off the bounds. Inputs that cost least are moved
    first, as long as the log acquisition falls by at most `LOSS_EACH` per column and `MOST_LOSS` in
    total.

    No input is moved with fewer than `LEAST_INPUTS` columns, with an acquisition function that is
    not a logarithm, or in a union of spaces.

    Parameters
    ----------
    surface : AcquisitionSurface
    x : ndarray of shape (d,)
        A rounded point of the space.
    ranked : ndarray of shape (n, d)
        The evaluated points, best first.
    space : Space, SpaceUnion or Box

    Returns
    -------
    x : ndarray of shape (d,)
    """
    is_log = getattr(surface.acquisition, "is_log", False)
    if x.size < LEAST_INPUTS or not is_log or isinstance(space, SpaceUnion):
        return x
    # Both are equal in the columns of a category.
    lower, upper = space.round(np.array([[-1.0], [1.0]]) * np.ones(x.size))
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


# Values of Optuna's TPESampler (gamma and n_ei_candidates).
GOOD_SHARE, MOST_GOOD = 0.1, 25  # evaluated points that count as good: share and maximum
N_DRAWS = 24  # draws per input, of which the one with the largest density ratio is kept
N_DRAWN = 4  # points drawn, some of which may be evaluated already in a small discrete space
LARGEST_BLOCK = 10**6  # densities computed at once


@dataclass(frozen=True)
class ParzenTurns:
    """Alternate between another search and draws from a Parzen estimator.

    The probability of a draw is `most` times the surrogate's `unexplained_share`, and 0 with
    constraints, which the draws cannot take into account. Inputs are drawn independently: of
    several values drawn from a density estimate of the good points, the one with the largest ratio
    to the density of the other points is kept, as in the tree-structured Parzen estimator without a
    tree (Bergstra, Bardenet, Bengio and Kegl 2011).

    In a small discrete space, all points follow the drawn ones, in case those are evaluated
    already. The best candidate of the other search is preceded by a copy with inputs
    `moved_off_bounds`.

    Attributes
    ----------
    search : Search
    most : float
        Probability of a draw if the surrogate explains nothing.
    """

    search: Search = field(default_factory=Climb)
    most: float = 0.5

    def find(
        self, surface: AcquisitionSurface, ranked: FloatArray, space: SpaceLike, rng: Generator
    ) -> Found:
        """Return the candidates of the other search, or drawn ones (see `Search`).

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
    """Draw a point of the cube, (d,), with each input drawn independently near good points.

    Parameters
    ----------
    ranked : ndarray of shape (n, d)
        Evaluated points, best first.
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
    """Density estimates on [-1, 1], one per input: equal mixtures of truncated normals.

    Attributes
    ----------
    centers, widths : ndarray of shape (n, d)
        Means and standard deviations of the components.
    """

    centers: FloatArray
    widths: FloatArray

    @classmethod
    def near(cls, X: FloatArray) -> "ParzenEstimates":
        """Return the estimates from points X, (n, d), plus one component as wide as the cube.

        The width of a component is the larger distance to a neighbour or a bound, clipped to at
        least 2 / (n + 2) and at most 2, as in Optuna's sampler.
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
        """Return m independent draws for each input, of shape (m, d)."""
        n, d = self.centers.shape
        kept = rng.integers(n, size=(m, d)), np.arange(d)
        low, high = self._masses_below_bounds()
        at = low[kept] + rng.random((m, d)) * (high - low)[kept]
        return np.clip(self.centers[kept] + self.widths[kept] * ndtri(at), -1.0, 1.0)

    def log_density(self, X: FloatArray) -> FloatArray:
        """Return the log density of every element of X, (m, d), up to a constant.

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

    def _masses_below_bounds(self):
        """Return the mass of each normal component below -1 and below 1, of shape (n, d) each."""
        return tuple(ndtr((end - self.centers) / self.widths) for end in (-1.0, 1.0))
