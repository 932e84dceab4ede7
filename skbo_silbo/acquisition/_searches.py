"""Maximisation of the acquisition function by gradients or over random coordinates.

`Climb` searches over points x of the cube and evaluates the acquisition function at ``z = x B``, so
every candidate has a preimage in the cube. `BoxSearch` draws z in the box around the image of the
cube, where some coordinates have none.
"""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from scipy.optimize import Bounds, minimize

from skbo_silbo._typing import FloatArray, SpaceLike
from skbo_silbo.acquisition._acquisition_functions import N_CANDIDATES
from skbo_silbo.acquisition._restricted_space import (
    N_BEST,
    Part,
    can_be_listed,
    draw_moved,
    points_near,
    steps_near,
)
from skbo_silbo.acquisition._surface import AcquisitionSurface, Found

# Not tuned: 20 starts, and four times the candidates, were tried (doc/search_log.rst).
N_GLOBAL, N_LOCAL = 768, 384  # candidates over the whole cube, and around the best points
N_STARTS = 5  # starts of the gradient ascent, far from one another
MAX_ITERATIONS = 40  # of L-BFGS-B from each start
# Rounds of candidates near the best in a restricted space. Without them, the regret with a linear
# constraint was nine times as large (10 seeds; doc/benchmarks/known_constraints.py).
N_ROUNDS = 5


@dataclass(frozen=True)
class Climb:
    """Draw candidates over the cube and around the best points, and climb from the best ones.

    If a discrete or restricted space has few points left, all of them are compared instead.
    """

    def find(
        self, surface: AcquisitionSurface, ranked: FloatArray, space: SpaceLike, rng: Generator
    ) -> Found:
        """Return the ends of the climbs and the other candidates, best first (see `Search`)."""
        whole = surface.part or space
        if can_be_listed(whole.n_points, len(ranked)):
            return every_point(surface, whole)
        X = draw_candidates(surface.embedding, ranked[:N_BEST], rng, surface.relevance)
        # The centre of the cube is rounded to a bound in columns of categories only.
        held = np.abs(space.round(np.zeros((1, space.n_features_)))[0]) == 1.0
        if surface.part is not None:
            return _find_in_part(surface, surface.part, X, held, rng)
        X = space.round(X)
        values = surface.values(X)
        X, _ = _best_first(surface, space.round(climb(surface, X, values, held)), X, values)
        return Found(surface.embedding.project(X), X)


def every_point(surface: AcquisitionSurface, whole: SpaceLike | Part) -> Found:
    """Return all points of a finite space, best first."""
    X = whole.every_point()
    X, _ = _best_first(surface, X, X[:0], np.empty(0))
    return Found(surface.embedding.project(X), X)


def _find_in_part(surface, part, X, held, rng):
    """Return the candidates of `Climb.find` in a restricted space.

    Climbs stop at constraints, so rounds of candidates near the best points follow.
    """
    X = part.admitted(part.round(X))
    if len(X):
        values = surface.values(X)
        more = part.round(climb(surface, X, values, held | part.held_columns))
        for _ in range(N_ROUNDS):
            X, values = _best_first(surface, part.admitted(more), X, values)
            more = part.near(X[:N_BEST], rng)
    return Found(surface.embedding.project(X), X)


def _best_first(surface, more, X, values):
    """Return the points of both arrays and their acquisition values, the largest first."""
    if len(more):
        X, values = np.vstack([more, X]), np.append(surface.values(more), values)
    order = np.argsort(-values, kind="stable")
    return X[order], values[order]


def draw_candidates(embedding, best, rng, relevance):
    """Draw random points of the cube, (n, d), that cover the image of the embedding.

    Parameters
    ----------
    embedding : Embedding
    best : ndarray of shape (k, d)
        The best evaluated points. Of the local candidates around them, half move in the embedding
        and half have some coordinates redrawn.
    rng : numpy.random.Generator
    relevance : ndarray of shape (d,)
        Relevance of each coordinate; more relevant ones are redrawn more often.
    """
    widths = embedding.half_widths
    wide = rng.uniform(-1.0, 1.0, (N_GLOBAL, widths.size)) * widths
    near = best[rng.integers(len(best), size=N_LOCAL)]
    steps = embedding.pull_back(steps_near(N_LOCAL, widths, rng))
    X = np.vstack([embedding.pull_back(wide), near + steps])
    anew = draw_moved(N_LOCAL, relevance, rng)
    near = np.where(anew, rng.uniform(-1.0, 1.0, near.shape), near)
    return np.vstack([np.clip(X, -1.0, 1.0), near])


def climb(surface, X, values, held):
    """Run gradient ascent from several of the best candidates that are far from one another.

    Parameters
    ----------
    surface : AcquisitionSurface
    X : ndarray of shape (n, d)
    values : ndarray of shape (n,)
        Acquisition values of the candidates.
    held : ndarray of bool of shape (d,)
        Columns that keep the value of the candidate.

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


N_NEAR = 384  # candidates around the best points, as many as in `Climb`
BOX_ROUNDS = 3  # rounds of such candidates for nonlinear embeddings; not tuned


@dataclass(frozen=True)
class BoxSearch:
    """Random coordinates in the box around the image of the cube (Chen et al. 2020, Algorithm 1).

    Attributes
    ----------
    n_rounds : int
        Number of rounds of further candidates near the best ones.
    """

    n_rounds: int = 0

    def find(self, surface, ranked, space, rng):
        """Return the candidates, as coordinates only (see `Search`)."""
        widths = surface.embedding.half_widths
        Z = rng.uniform(-1.0, 1.0, (N_CANDIDATES, widths.size)) * widths
        values = surface.values_at(Z)
        for _ in range(self.n_rounds):
            best = Z[np.argsort(-values, kind="stable")[:N_BEST]]
            near = points_near(best, N_NEAR, widths, rng)
            Z, values = np.vstack([Z, near]), np.append(values, surface.values_at(near))
        return Found(Z[np.argsort(-values, kind="stable")])
