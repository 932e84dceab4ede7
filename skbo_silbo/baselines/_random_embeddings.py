"""Bayesian optimisation in a random embedding: REMBO and HeSBO."""

from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Self

import numpy as np

from skbo_silbo._checks import check_count
from skbo_silbo._typing import Auto, FloatArray, IntArray
from skbo_silbo.acquisition import AcquisitionFunction
from skbo_silbo.acquisition.searches import BOX_ROUNDS, BoxSearch
from skbo_silbo.baselines._moving_points import MovingPoints, clipped_points
from skbo_silbo.embedding.choice import FixedLearner
from skbo_silbo.optimizers.configuration import Configuration, check_n_initial, make_acquisition
from skbo_silbo.surrogate import GaussianProcessSurrogate

SKETCH_STREAM = (0, 3)  # key of the random generator of the sketch


@dataclass(frozen=True, eq=False)
class Sketch:
    """Random linear map ``x = A v`` from embedding coordinates v to unclipped points x.

    Attributes
    ----------
    matrix : ndarray of shape (d, r)
        Matrix A, which maps coordinates v to points A v.
    sums : ndarray of shape (r, d)
        Matrix of the inverse map: ``v = (sums x) / counts`` minimises the distance from A v to x.
    counts : ndarray of shape (r,)
        Divisors of the inverse map, one per coordinate; see `sums`.
    half_widths : ndarray of shape (r,)
        Half the side length of the box of coordinates v along each axis.
    basis : ndarray of shape (d, k)
        Orthonormal basis of the range of A, one vector per column.

    Examples
    --------
    >>> import numpy as np
    >>> from skbo_silbo.baselines._random_embeddings import Sketch
    >>> V = np.array([[0.1, -0.2]])
    >>> for draw in (Sketch.count, Sketch.gaussian):
    ...     sketch = draw(10, 2, np.random.default_rng(0))
    ...     print(sketch.project(sketch.expand(V)).round(6))
    [[ 0.1 -0.2]]
    [[ 0.1 -0.2]]
    """

    matrix: FloatArray
    sums: FloatArray
    counts: FloatArray | IntArray
    half_widths: FloatArray
    basis: FloatArray

    is_identity = False

    @classmethod
    def count(cls, d: int, r: int, rng: np.random.Generator) -> Self:
        """Draw a count sketch, which maps each of d inputs to one coordinate with a random sign.

        HeSBO (Nayebi, Munteanu and Poloczek 2019) maps v in ``[-1, 1]^r`` to x in ``[-1, 1]^d``. A
        coordinate may have no input.
        """
        bins, matrix = rng.integers(r, size=d), np.zeros((d, r))
        matrix[np.arange(d), bins] = rng.choice([-1.0, 1.0], size=d)
        counts = np.maximum(np.bincount(bins, minlength=r), 1)
        basis = (matrix / np.sqrt(counts))[:, matrix.any(axis=0)]
        return cls(matrix, matrix.T, counts, np.ones(r), basis)

    @classmethod
    def gaussian(cls, d: int, r: int, rng: np.random.Generator) -> Self:
        """Draw a map with independent standard normal entries for d inputs and r coordinates.

        REMBO (Wang, Zoghi, Hutter, Matheson and de Freitas 2013) searches v in the box
        ``[-sqrt(r), sqrt(r)]^r`` (there, section 3.2).
        """
        matrix = rng.standard_normal((d, r))
        inverse: Any = np.linalg.pinv(matrix)
        basis = np.linalg.qr(matrix)[0]
        return cls(matrix, inverse, np.ones(r), np.full(r, np.sqrt(r)), basis)

    @property
    def d(self) -> int:
        """Number of inputs."""
        return self.matrix.shape[0]

    @property
    def r(self) -> int:
        """Number of coordinates of the embedding."""
        return self.matrix.shape[1]

    def expand(self, V: FloatArray) -> FloatArray:
        """Return the unclipped point ``A v`` for each row v of V."""
        return V @ self.matrix.T

    def project(self, X: FloatArray) -> FloatArray:
        """Return the coordinates whose points ``A v`` are nearest to the points in X."""
        return X @ self.sums.T / self.counts

    def pull_back(self, gradient: FloatArray) -> FloatArray:
        """Convert gradients with respect to coordinates v to gradients with respect to points x."""
        return gradient / self.counts @ self.sums


MOST_COMPONENTS = 10  # largest value of n_components="auto"


def check_n_components(n_components: int | Auto, d: int, most: int = MOST_COMPONENTS) -> int:
    """Return the number of coordinates of an embedding of d inputs; "auto" is at most `most`."""
    r = min(d, most) if n_components == "auto" else n_components
    return check_count("n_components", r, least=0 if d == 0 else 1)


@dataclass(eq=False, repr=False, kw_only=True)
class RandomEmbedding(MovingPoints):
    """Base class of `REMBO` and `HeSBO`, which evaluate ``clip(A z)`` with a fixed random A."""

    n_components: int | Auto = "auto"
    acquisition: str | AcquisitionFunction = "ei"
    n_initial: int | Auto = "auto"

    def configure(self, d: int) -> Configuration:
        """Validate the optimiser's arguments and return its `Configuration` for d inputs."""
        r = check_n_components(self.n_components, d)
        sketch = self._draw_sketch(d, r, self._rng(*SKETCH_STREAM))
        return Configuration(
            learner=FixedLearner(sketch),
            search=BoxSearch(n_rounds=BOX_ROUNDS),
            acquisition=make_acquisition(self.acquisition),
            design=partial(self._initial_points, sketch=sketch),
            surrogate=GaussianProcessSurrogate(),
            n_initial=check_n_initial(self.n_initial, r),
        )

    _draw_sketch = Sketch.gaussian  # called with d, r and a random generator

    def _initial_points(self, n, d, rng, *, sketch):
        return clipped_points(box_points(n, sketch, rng), sketch)

    def _design_point(self, index):
        x = super()._design_point(index)
        if x is not None:
            self._ledger = self._ledger.with_points(x[None], self._first_coordinates[[index]])
        return x

    @cached_property
    def _first_coordinates(self):
        return box_points(self.n_initial_, self._configuration.learner.embedding, self._rng(0, 0))


def box_points(n, embedding, rng):
    """Draw coordinates of n points uniformly from the search box of the embedding."""
    return rng.uniform(-1.0, 1.0, (n, embedding.r)) * embedding.half_widths


@dataclass(eq=False, repr=False, kw_only=True)
class REMBO(RandomEmbedding):
    """Bayesian optimisation in a Gaussian random embedding ``x = clip(A z)``.

    Parameters
    ----------
    bounds : array-like of shape (d, 2), scipy.optimize.Bounds, dict or Space
        The search space: lower and upper bounds of each input, or named parameters.
    n_components : int or "auto", default="auto"
        Number r of coordinates z, which are searched in ``[-sqrt(r), sqrt(r)]^r``. "auto" is 10, or
        d if that is lower.
    acquisition : {"ei", "ucb"}, default="ei"
        The acquisition function: the expected improvement ("ei") or the confidence bound ("ucb").
    n_initial : int or "auto", default="auto"
        Number of points to evaluate before the first model is fitted, including points that were
        not proposed.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the proposals. Pass an int for reproducible results.

    Attributes
    ----------
    best_x_, best_y_, x_iters_, func_vals_, embedding_, n_initial_, space_
        As in `SILBO`; `embedding_` is a `Sketch` after the first model.

    References
    ----------
    Wang, Zoghi, Hutter, Matheson and de Freitas (2013), "Bayesian Optimization in High Dimensions
    via Random Embeddings", with the kernel of the coordinates.

    Examples
    --------
    >>> from skbo_silbo.baselines import REMBO
    >>> optimizer = REMBO([(-1, 1)] * 20, n_components=2, random_state=0)
    >>> optimizer.ask().shape
    (20,)
    """


class HeSBO(RandomEmbedding):
    """Bayesian optimisation in a count sketch, where each input copies one coordinate.

    Parameters
    ----------
    bounds : array-like of shape (d, 2), scipy.optimize.Bounds, dict or Space
        The search space: lower and upper bounds of each input, or named parameters.
    n_components : int or "auto", default="auto"
        Number of coordinates of the sketch, which are searched in ``[-1, 1]``. "auto" is 10, or d
        if that is lower.
    acquisition : {"ei", "ucb"}, default="ei"
        The acquisition function: the expected improvement ("ei") or the confidence bound ("ucb").
    n_initial : int or "auto", default="auto"
        Number of points to evaluate before the first model is fitted, including points that were
        not proposed.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the proposals. Pass an int for reproducible results.

    Attributes
    ----------
    best_x_, best_y_, x_iters_, func_vals_, embedding_, n_initial_, space_
        As in `SILBO`; `embedding_` is a `Sketch` after the first model.

    References
    ----------
    Nayebi, Munteanu and Poloczek (2019), "A Framework for Bayesian Optimization in Embedded
    Subspaces", Algorithm 1.

    Examples
    --------
    >>> import numpy as np
    >>> from skbo_silbo.baselines import HeSBO
    >>> optimizer = HeSBO([(-1, 1)] * 20, n_components=2, random_state=0)
    >>> len(np.unique(np.abs(optimizer.ask()).round(6)))
    2
    """

    _draw_sketch = Sketch.count
