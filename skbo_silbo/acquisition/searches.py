"""The acquisition function on the search space, and the searches that maximise it.

`Climb` searches over points x of the cube and evaluates the acquisition function at ``z = x B``, so
every candidate has a preimage in the cube. `BoxSearch` draws z in the box around the image of the
cube, where some z have no preimage.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, cast

import numpy as np
from numpy.random import Generator
from scipy.optimize import Bounds, minimize

from skbo_silbo._typing import BoolArray, FloatArray
from skbo_silbo.acquisition._parzen_draws import draw_good
from skbo_silbo.acquisition.acquisition_functions import N_CANDIDATES, AcquisitionFunction
from skbo_silbo.embedding import Embedding
from skbo_silbo.space import SpaceUnion
from skbo_silbo.space.any_space import AnySpace
from skbo_silbo.space.keys import first_rows
from skbo_silbo.surrogate import Surrogate, SurrogateOptions
from skbo_silbo.surrogate.feasibility import Feasibility

if TYPE_CHECKING:
    from skbo_silbo.acquisition.restricted_space import RestrictedSpace

MOST_ROWS = 4096  # largest number of rows predicted at once, to limit memory


@dataclass(frozen=True, eq=False)
class AcquisitionSurface:
    """Acquisition function as a function of encoded points x.

    Attributes
    ----------
    acquisition : AcquisitionFunction
    surrogate : Surrogate
    embedding : Embedding
    best : float
        Predicted value to improve on. Lower values are better.
    feasibility : Feasibility or None
        Models of the learnt constraints, or None if there are none. The log probability that all
        constraints hold is added to the acquisition function, which must be a logarithm.
    observed : Surrogate or None
        The surrogate fitted to observed values only. In contrast, `surrogate` is also conditioned
        on predicted values at pending points.
    restricted : RestrictedSpace or None
        Search space restricted by fixed parameters and known constraints. None means that there are
        no restrictions.
    """

    acquisition: AcquisitionFunction
    surrogate: Surrogate
    embedding: Embedding
    best: float
    feasibility: Feasibility | None = None
    observed: Surrogate | None = None
    restricted: "RestrictedSpace | None" = None

    def values(self, X: FloatArray) -> FloatArray:
        """Return the acquisition value at each encoded point in X."""
        if len(X) > MOST_ROWS:
            starts = range(0, len(X), MOST_ROWS)
            return np.concatenate([self.values(X[i : i + MOST_ROWS]) for i in starts])
        mean, std = self.surrogate.predict(self.embedding.project(X))
        values = self.acquisition(mean, std, self.best)
        return values if self.feasibility is None else values + self.feasibility.log_probability(X)

    def values_at(self, Z: FloatArray) -> FloatArray:
        """Return the acquisition value at each row of embedding coordinates.

        Constraints are evaluated at the preimages of least norm.
        """
        values = self.acquisition(*self.surrogate.predict(Z), self.best)
        if self.feasibility is None:
            return values
        X = np.clip(self.embedding.expand(Z), -1.0, 1.0)
        return values + self.feasibility.log_probability(X)

    @property
    def relevance(self) -> FloatArray:
        """Non-negative relevance of each input according to the surrogate.

        With an embedding, it is the norm of the relevances of all coordinates, weighted by the
        coefficients of the input.
        """
        basis, relevance = self.embedding.basis, self.surrogate.relevance_
        return relevance if basis is None else np.sqrt(basis**2 @ relevance**2)

    def value_and_gradient(self, x: FloatArray, sign: float = 1.0) -> tuple[float, FloatArray]:
        """Return the acquisition value and its gradient at a single point.

        Both are multiplied by `sign`, which is -1 for scipy's minimisers.
        """
        Z = self.embedding.project(x[None])
        mean, std, mean_by_z, std_by_z = self.surrogate.predict_gradient(Z)
        value, by_mean, by_std = self.acquisition(mean, std, self.best, return_gradient=True)
        by_z = by_mean[:, None] * mean_by_z + by_std[:, None] * std_by_z
        gradient = self.embedding.pull_back(by_z)[0]
        if self.feasibility is None:
            return sign * value[0], sign * gradient
        weight, weight_by_x = self.feasibility.log_probability_gradient(x[None])
        return sign * (value[0] + weight), sign * (gradient + weight_by_x)


@dataclass(frozen=True, eq=False)
class Found:
    """Candidates found by a search, in decreasing order of their acquisition values.

    Attributes
    ----------
    Z : ndarray of shape (m, r)
        Coordinates of the candidates in the embedding, one candidate per row.
    X : ndarray of shape (m, d) or None
        Candidates as encoded points, or None if only coordinates were searched.
    """

    Z: FloatArray
    X: FloatArray | None = None

    def portions(self, size: int) -> "Iterator[Found]":
        """Yield increasingly large batches of candidates with distinct coordinates."""
        rows = first_rows(self.Z)
        while rows:
            some, rows = rows[:size], rows[size:]
            yield Found(self.Z[some], None if self.X is None else self.X[some])
            size *= 2


class Search(Protocol):
    """Protocol of searches that maximise the acquisition function."""

    def find(
        self, surface: AcquisitionSurface, ranked: FloatArray, space: AnySpace, rng: Generator, /
    ) -> Found:
        """Search for points with high acquisition values and return the best ones.

        Parameters
        ----------
        surface : AcquisitionSurface
        ranked : ndarray of shape (n, d)
            The evaluated points, ordered from best to worst.
        space : Space or Box
            Search space. Candidates are rounded to its points.
        rng : numpy.random.Generator
            Random number generator of the search.
        """


N_BEST = 5  # number of points around which candidates are drawn
LOG_STEPS = (-3.5, -0.3)  # range of the decimal logarithm of step sizes
# A discrete space is searched exhaustively up to this number of points, and up to this product of
# the number of points and the squared number of values. A proposal takes 0.2 s with 50 values and
# 1.5 s with 300.
MOST_LEFT, MOST_WORK = 10**5, 10**10


def can_be_listed(n_points: float, n: int) -> bool:
    """Return whether a space is small enough to evaluate the acquisition at all points."""
    return n_points - n <= MOST_LEFT and n_points * n**2 <= MOST_WORK


def steps_near(n: int, widths: FloatArray, rng: Generator) -> FloatArray:
    """Draw n normally distributed steps, each with its own random standard deviation."""
    sizes = 10.0 ** rng.uniform(*LOG_STEPS, (n, 1)) * widths
    return sizes * rng.standard_normal((n, widths.size))


def points_near(centres: FloatArray, n: int, widths: FloatArray, rng: Generator) -> FloatArray:
    """Draw n random points of the box near the rows of `centres`."""
    near = centres[rng.integers(len(centres), size=n)] + steps_near(n, widths, rng)
    return np.clip(near, -widths, widths)


def draw_moved(n: int, relevance: FloatArray, rng: Generator) -> BoolArray:
    """Draw a mask of the coordinates to change in each of n candidates.

    The expected number of coordinates is log-uniform between 1 and d, and the probability of each
    is proportional to its relevance.
    """
    expected = relevance.size ** rng.uniform(0.0, 1.0, (n, 1))
    share = relevance / relevance.mean() / relevance.size
    return rng.random((n, relevance.size)) < expected * share


# Not tuned: 20 starts, and four times the candidates, were tried (doc/search_log.rst).
N_GLOBAL, N_LOCAL = 768, 384  # candidates over the whole cube, and around the best points
N_STARTS = 5  # starts of the gradient ascent, far from one another
MAX_ITERATIONS = 40  # iterations of L-BFGS-B from each start
# Rounds of candidates near the best in a restricted space. Without them, the regret with a linear
# constraint was nine times as large (10 seeds; doc/benchmarks/scripts/known_constraints.py).
N_ROUNDS = 5


@dataclass(frozen=True)
class Climb:
    """Gradient ascent on the acquisition function from the best random candidates.

    Candidates are drawn over the whole cube and around the best points.

    If a discrete or restricted space has few points left, all these points are compared instead.
    """

    def find(
        self, surface: AcquisitionSurface, ranked: FloatArray, space: AnySpace, rng: Generator
    ) -> Found:
        """Return the end points of the gradient ascents and other candidates, best first."""
        whole, restricted = surface.restricted or space, surface.restricted
        if can_be_listed(whole.n_points, len(ranked)):
            return every_point(surface, whole)
        X = draw_candidates(surface.embedding, ranked[:N_BEST], rng, surface.relevance)
        # The centre of the cube is rounded to a bound in columns of categories only.
        held = np.abs(space.round(np.zeros((1, space.n_features_)))[0]) == 1.0
        X = whole.round(X)
        if restricted is not None:
            X, held = restricted.admitted(X), held | restricted.held_columns
        if not len(X):
            return Found(surface.embedding.project(X), X)
        values, ends = surface.values(X), []
        options: dict[str, Any] = {"jac": True, "options": {"maxiter": MAX_ITERATIONS}}
        for x in X[distant_rows(surface.embedding.project(X), values)]:
            bounds = Bounds(np.where(held, x, -1.0), np.where(held, x, 1.0))
            options |= {"args": (-1.0,), "method": "L-BFGS-B", "bounds": bounds}
            ends.append(minimize(surface.value_and_gradient, x, **options).x)
        more = whole.round(np.clip(ends, -1.0, 1.0))
        # The ascent stops at constraints, so rounds of candidates near the best follow there.
        for i in range(1 if restricted is None else N_ROUNDS):
            if restricted is not None:
                more = restricted.admitted(more) if i == 0 else restricted.near(X[:N_BEST], rng)
            if len(more):
                X, values = np.vstack([more, X]), np.append(surface.values(more), values)
            order = np.argsort(-values, kind="stable")
            X, values = X[order], values[order]
        return Found(surface.embedding.project(X), X)


def every_point(surface: AcquisitionSurface, whole: "AnySpace | RestrictedSpace") -> Found:
    """Return all points of a finite space in decreasing order of acquisition values."""
    X = whole.every_point()
    X = X[np.argsort(-surface.values(X), kind="stable")]
    return Found(surface.embedding.project(X), X)


def draw_candidates(
    embedding: Embedding, best: FloatArray, rng: Generator, relevance: FloatArray
) -> FloatArray:
    """Draw random encoded points that cover all coordinates of the embedding.

    Parameters
    ----------
    embedding : Embedding
    best : ndarray of shape (k, d)
        The best evaluated points. Local candidates are drawn around these points. Half of the
        candidates differ from them along the embedding, and the other half in some inputs.
    rng : numpy.random.Generator
    relevance : ndarray of shape (d,)
        Relevance of each input according to the surrogate. Inputs of high relevance are changed
        more often.
    """
    widths = embedding.half_widths
    wide = rng.uniform(-1.0, 1.0, (N_GLOBAL, widths.size)) * widths
    near = best[rng.integers(len(best), size=N_LOCAL)]
    steps = embedding.pull_back(steps_near(N_LOCAL, widths, rng))
    X = np.vstack([embedding.pull_back(wide), near + steps])
    anew = draw_moved(N_LOCAL, relevance, rng)
    near = np.where(anew, rng.uniform(-1.0, 1.0, near.shape), near)
    return np.vstack([np.clip(X, -1.0, 1.0), near])


def distant_rows(Z: FloatArray, values: FloatArray) -> list[int]:
    """Return the indices of rows with large values that are far apart from each other.

    At most `N_STARTS` rows are returned. Their distances are at least a tenth of the spread of Z.
    """
    chosen: list[int] = []
    radius = 0.1 * np.sqrt(Z.var(axis=0).sum())
    for i in np.argsort(-values, kind="stable"):
        if (np.linalg.norm(Z[i] - Z[chosen], axis=1) > radius).all():
            chosen.append(i)
        if len(chosen) == N_STARTS:
            break
    return chosen


# Largest loss of log acquisition, in nats, per input and in total. The values were chosen with five
# relevant inputs out of 100. With 10 or 20 relevant inputs, a total loss of 0.2 is harmful.
LOSS_EACH, MOST_LOSS = 0.002, 0.2
LEAST_INPUTS = 25
SMALLEST_STEP = 1e-6  # a point counts as off a bound from this distance in the cube


def moved_off_bounds(
    surface: AcquisitionSurface, x: FloatArray, ranked: FloatArray, space: AnySpace
) -> FloatArray:
    """Move inputs of a candidate off their bounds where this hardly lowers the acquisition.

    Gradient ascent moves irrelevant inputs to their bounds, where the Gaussian process is most
    uncertain, and later incumbents keep them there (doc/search_log.rst). Each such input is set to
    its value in the best evaluated point at which it is off its bounds. Inputs are moved in
    increasing order of their cost, as long as the log acquisition decreases by at most `LOSS_EACH`
    per column and `MOST_LOSS` in total.

    No input is moved with fewer than `LEAST_INPUTS` columns, with an acquisition function that is
    not a logarithm, or in a union of spaces.

    Parameters
    ----------
    surface : AcquisitionSurface
    x : ndarray of shape (d,)
        The candidate, rounded to a point of the space.
    ranked : ndarray of shape (n, d)
        The evaluated points, ordered from best to worst.
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


N_DRAWN = 4  # points drawn, since some may already be evaluated in a small discrete space


@dataclass(frozen=True)
class ParzenTurns:
    """Search that alternates between another search and draws from a Parzen estimator.

    With many inputs and many local optima, a Gaussian process may explain little of the observed
    values. Its expected improvement is then largest far from all points, and the search is no
    better than random.

    The probability of a draw is `most` times the surrogate's `unexplained_share`, and 0 with
    constraints, which the draws cannot take into account. Each input is drawn independently, as in
    the tree-structured Parzen estimator without a tree (Bergstra, Bardenet, Bengio and Kegl 2011):
    several values are drawn from a density estimate of the good points, and the value with the
    largest ratio of this density to the density of the other points is kept.

    In a small discrete space, all points follow the drawn candidates, since these may already have
    been evaluated. A copy of the best candidate of the other search, with inputs
    `moved_off_bounds`, comes before this candidate.

    Attributes
    ----------
    search : Search
    most : float
        Probability of a random draw if the surrogate explains none of the variance.
    """

    search: Search = field(default_factory=Climb)
    most: float = 0.5

    def find(
        self, surface: AcquisitionSurface, ranked: FloatArray, space: AnySpace, rng: Generator
    ) -> Found:
        """Return the candidates of the wrapped search or, at every other turn, random draws.

        The surrogate `surface.observed` must have the method `unexplained_share`.
        """
        share = self.most * cast(SurrogateOptions, surface.observed).unexplained_share()
        constrained = surface.feasibility is not None or surface.restricted is not None
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


N_NEAR = 384  # number of candidates around the best points, as in `Climb`
BOX_ROUNDS = 3  # rounds of such candidates for nonlinear embeddings; not tuned


@dataclass(frozen=True)
class BoxSearch:
    """Random search over the coordinates of the embedding (Chen et al. 2020, Algorithm 1).

    Attributes
    ----------
    n_rounds : int
        Number of rounds in which further candidates are drawn near the best ones so far.
    """

    n_rounds: int = 0

    def find(
        self, surface: AcquisitionSurface, ranked: FloatArray, space: AnySpace, rng: Generator
    ) -> Found:
        """Return the best coordinates in the embedding, without computing their preimages."""
        widths = surface.embedding.half_widths
        Z = rng.uniform(-1.0, 1.0, (N_CANDIDATES, widths.size)) * widths
        values = surface.values_at(Z)
        for _ in range(self.n_rounds):
            best = Z[np.argsort(-values, kind="stable")[:N_BEST]]
            near = points_near(best, N_NEAR, widths, rng)
            Z, values = np.vstack([Z, near]), np.append(values, surface.values_at(near))
        return Found(Z[np.argsort(-values, kind="stable")])
