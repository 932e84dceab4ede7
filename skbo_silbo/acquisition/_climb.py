"""Search of the acquisition by gradients, from the best of random candidates.

Everything is a point x of the cube, and the acquisition is seen through ``z = x B``: so every
candidate can be reached, which is not so of a point drawn in the box round the image of the cube.
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import Bounds, minimize

from skbo_silbo._typing import BoolArray, FloatArray, SpaceLike
from skbo_silbo.acquisition._candidates import N_BEST, steps_near
from skbo_silbo.acquisition._search_protocol import Found
from skbo_silbo.acquisition._surface import AcquisitionSurface
from skbo_silbo.embedding import Embedding

N_GLOBAL, N_LOCAL = 768, 384  # candidates over the whole cube, and round the best points: as in the
# runs of doc/search_log.rst; twice as many cost more and gained nothing there
N_STARTS = 5  # climbs, from candidates far from one another
MAX_ITERATIONS = 40  # of L-BFGS-B in a climb


@dataclass(frozen=True)
class Climb:
    """Random candidates over the cube and round the best points, the best climbed by gradients."""

    def find(
        self,
        surface: AcquisitionSurface,
        ranked: FloatArray,
        space: SpaceLike,
        rng: np.random.Generator,
    ) -> Found:
        """Return candidates and where climbs from the best of them ended (see `Search`)."""
        X = draw_candidates(surface.embedding, ranked[:N_BEST], rng, surface.relevance)
        X = space.round(X)
        values = surface.values(X)
        ends = space.round(climb(surface, X, values, held=categorical_columns(space)))
        X, values = np.vstack([ends, X]), np.append(surface.values(ends), values)
        X = X[np.argsort(-values, kind="stable")]
        return Found(surface.embedding.project(X), X)


def draw_candidates(
    embedding: Embedding, best: FloatArray, rng: np.random.Generator, relevance: FloatArray
) -> FloatArray:
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


def draw_moved(n: int, relevance: FloatArray, rng: np.random.Generator) -> BoolArray:
    """Return which coordinates n candidates shall differ in, bool of shape (n, d).

    From one to all of them, on average and before the probabilities are cut at 1; the more
    relevant ones more often.
    """
    expected = relevance.size ** rng.uniform(0.0, 1.0, (n, 1))
    share = relevance / relevance.mean() / relevance.size
    return rng.random((n, relevance.size)) < expected * share


def categorical_columns(space: SpaceLike) -> BoolArray:
    """Return which columns of the cube hold categories, bool of shape (d,).

    There alone the centre of the cube is rounded to an end: it is no category.
    """
    return np.abs(space.round(np.zeros((1, space.n_features_)))[0]) == 1.0


def climb(
    surface: AcquisitionSurface, X: FloatArray, values: FloatArray, held: BoolArray
) -> FloatArray:
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

    def loss(x):
        value, gradient = surface.value_and_gradient(x)
        return -value, -gradient

    options, ends = {"maxiter": MAX_ITERATIONS}, []
    for x in X[_separate(surface.embedding.project(X), values)]:
        bounds = Bounds(np.where(held, x, -1.0), np.where(held, x, 1.0))
        run = minimize(loss, x, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
        ends.append(run.x)
    return np.clip(ends, -1.0, 1.0)


def _separate(Z, values):
    """Return the best rows, none within a tenth of the candidates' spread of a better one."""
    radius = 0.1 * np.sqrt(Z.var(axis=0).sum())
    chosen: list[int] = []
    for i in np.argsort(-values, kind="stable"):
        if (np.linalg.norm(Z[i] - Z[chosen], axis=1) > radius).all():
            chosen.append(i)
        if len(chosen) == N_STARTS:
            break
    return chosen
