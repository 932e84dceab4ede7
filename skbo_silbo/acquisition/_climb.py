"""Search of the acquisition by gradients, from the best of random candidates.

Everything is a point x of the cube, and the acquisition is seen through ``z = x B``: so every
candidate can be reached, which is not so of a point drawn in the box round the image of the cube.
"""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from scipy.optimize import Bounds, minimize

from skbo_silbo._typing import BoolArray, FloatArray, SpaceLike
from skbo_silbo.acquisition._search_protocol import Found
from skbo_silbo.acquisition._surface import AcquisitionSurface
from skbo_silbo.embedding import Embedding

N_GLOBAL, N_LOCAL = 768, 384  # candidates over the whole cube, and round the incumbents
N_INCUMBENTS = 5
N_STARTS = 5
MAX_ITERATIONS = 40
LOG_STEPS = (-3.5, -0.3)  # decimal logarithms of the local steps
Limits: TypeAlias = tuple[float | FloatArray, float | FloatArray]
CUBE: Limits = (-1.0, 1.0)  # bounds of every coordinate


@dataclass(frozen=True)
class Climb:
    """Random candidates over the cube and round the incumbents, the best climbed by gradients."""

    n_points = 2 * N_LOCAL + N_GLOBAL

    def find(
        self,
        surface: AcquisitionSurface,
        ranked: FloatArray,
        space: SpaceLike,
        rng: np.random.Generator,
    ) -> Found:
        """Return candidates and where climbs from the best of them ended (see `Search`)."""
        X = draw_candidates(surface.embedding, ranked[:N_INCUMBENTS], rng, surface.relevance)
        return climb_from(X, surface, space)


def draw_candidates(
    embedding: Embedding, incumbents: FloatArray, rng: np.random.Generator, relevance: FloatArray
) -> FloatArray:
    """Return random points of the cube whose images fill the image of the cube, of shape (n, d).

    Parameters
    ----------
    embedding : LinearEmbedding
    incumbents : ndarray of shape (k, d)
        The best points known; local candidates are drawn round these.
    rng : numpy.random.Generator
    """
    widths = embedding.half_widths
    wide = rng.uniform(-1.0, 1.0, (N_GLOBAL, widths.size)) * widths
    near = incumbents[rng.integers(len(incumbents), size=N_LOCAL)]
    sizes = 10.0 ** rng.uniform(*LOG_STEPS, (N_LOCAL, 1))
    steps = sizes * rng.standard_normal((N_LOCAL, widths.size))
    X = np.vstack([embedding.pull_back(wide), near + embedding.pull_back(steps)])
    anew = draw_moved(len(near), relevance, 1, rng)
    near = np.where(anew, rng.uniform(-1.0, 1.0, near.shape), near)
    return np.vstack([np.clip(X, -1.0, 1.0), near])


def draw_moved(n: int, relevance: FloatArray, least: float, rng: np.random.Generator) -> BoolArray:
    """Return which coordinates n candidates shall differ in, bool of shape (n, d).

    From `least` to all of them, on average and before the probabilities are cut at 1; the more
    relevant ones more often.
    """
    expected = relevance.size ** rng.uniform(0.0, 1.0, (n, 1)) * least
    share = relevance / relevance.mean() / relevance.size
    return rng.random((n, relevance.size)) < expected * share


def climb_from(
    X: FloatArray, surface: AcquisitionSurface, space: SpaceLike, bounds: Limits = CUBE
) -> Found:
    """Climb from the best of the points X; return these, rounded, and the ends as `Found`.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Points of the cube.
    surface : AcquisitionSurface
    space : Space or Box
    bounds : pair of float or ndarray of shape (d,)
        Between which the coordinates stay; categories stay what they are.
    """
    X = space.round(X)
    values = surface.values(X)
    ends = space.round(polish(surface, X, values, bounds, held=categorical_columns(space)))
    X, values = np.vstack([ends, X]), np.append(surface.values(ends), values)
    X = X[np.argsort(-values, kind="stable")]
    return Found(surface.embedding.project(X), X)


def categorical_columns(space: SpaceLike) -> BoolArray:
    """Return which columns of the cube hold categories, bool of shape (d,).

    There alone the centre of the cube is rounded to an end: it is no category.
    """
    return np.abs(space.round(np.zeros((1, space.n_features_)))[0]) == 1.0


def polish(
    surface: AcquisitionSurface,
    X: FloatArray,
    values: FloatArray,
    bounds: Limits = CUBE,
    *,
    held: bool | BoolArray = False,
) -> FloatArray:
    """Climb from several of the best candidates, far from one another.

    Parameters
    ----------
    surface : AcquisitionSurface
    X : ndarray of shape (n, d)
    values : ndarray of shape (n,)
        The acquisition there.
    bounds : pair of float or ndarray of shape (d,)
        Lower and upper bound of the coordinates.
    held : bool or ndarray of bool of shape (d,)
        Which columns stay as they are in the candidate.

    Returns
    -------
    ends : ndarray of shape (k, d)
    """

    def loss(x):
        value, gradient = surface.value_and_gradient(x)
        return -value, -gradient

    starts = X[_separate(surface.embedding.project(X), values)]
    options = {"maxiter": MAX_ITERATIONS}
    (low, high), ends = bounds, []
    for x in starts:
        own = Bounds(np.where(held, x, low), np.where(held, x, high))
        ends.append(minimize(loss, x, jac=True, method="L-BFGS-B", bounds=own, options=options).x)
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
