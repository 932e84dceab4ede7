"""Bayesian optimisation in a random embedding: variants of REMBO, and HeSBO."""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Self

import numpy as np

from skbo_silbo._checks import check_choice, check_count
from skbo_silbo._typing import Auto, FloatArray, IntArray
from skbo_silbo.acquisition import AcquisitionFunction
from skbo_silbo.acquisition.searches import BOX_ROUNDS, BoxSearch, Climb
from skbo_silbo.baselines._baseline import Baseline
from skbo_silbo.baselines._moving_points import MovingPoints, clipped_points
from skbo_silbo.embedding import Embedding, LinearEmbedding
from skbo_silbo.embedding.choice import FixedLearner
from skbo_silbo.embedding.linear import nearest_points
from skbo_silbo.optimizers.configuration import Configuration, check_n_initial, make_acquisition
from skbo_silbo.surrogate import GaussianProcessSurrogate, central_differences

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


KERNELS = ("y", "x", "psi")
MOST_COMPONENTS = 10  # largest value of n_components="auto"
FAR = 10.0  # scale of random coordinates outside the zonotope, in half widths


@dataclass(eq=False, repr=False, kw_only=True)
class RandomEmbedding(Baseline):
    """Base class of optimisers with a random embedding that is never updated."""

    n_components: int | Auto = "auto"
    acquisition: str | AcquisitionFunction = "ei"
    n_initial: int | Auto = "auto"

    def configure(self, d: int) -> Configuration:
        """Validate the optimiser's arguments and return its `Configuration` for d inputs."""
        r = min(d, MOST_COMPONENTS) if self.n_components == "auto" else self.n_components
        r = check_count("n_components", r, least=0 if d == 0 else 1)
        sketch = self._draw_sketch(d, r, self._rng(*SKETCH_STREAM))
        return Configuration(
            learner=FixedLearner(sketch),
            search=BoxSearch(n_rounds=BOX_ROUNDS),
            acquisition=make_acquisition(self.acquisition),
            design=partial(self._initial_points, sketch=sketch),
            surrogate=self._make_surrogate(sketch),
            n_initial=check_n_initial(self.n_initial, r),
        )

    _draw_sketch = Sketch.gaussian  # called with d, r and a random generator

    @abstractmethod
    def _initial_points(self, n, d, rng, *, sketch):
        """Draw the n points of the initial design."""

    def _make_surrogate(self, sketch):
        return GaussianProcessSurrogate()


class ClippedEmbedding(MovingPoints, RandomEmbedding):
    """Base class of `REMBO` and `HeSBO`, which evaluate the points ``clip(A z)``."""

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
class REMBO(ClippedEmbedding):
    """Bayesian optimisation in a Gaussian random embedding ``x = clip(A z)``.

    Parameters
    ----------
    bounds : array-like of shape (d, 2), scipy.optimize.Bounds, dict or Space
        The search space: lower and upper bounds of each input, or named parameters.
    n_components : int or "auto", default="auto"
        Number r of coordinates z, which are searched in ``[-sqrt(r), sqrt(r)]^r``. "auto" is 10, or
        d if that is lower.
    kernel : {"y", "x", "psi"}, default="y"
        Inputs of the Matern kernel: the coordinates z with one length scale each ("y"), the clipped
        points ("x"), or the clipped points warped back to the range of A ("psi").
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
    via Random Embeddings" (kernels "y" and "x"); Binois, Ginsbourger and Roustant (2015), "A Warped
    Kernel Improving Robustness in Bayesian Optimization via Random Embeddings" ("psi").

    Examples
    --------
    >>> from skbo_silbo.baselines import REMBO
    >>> optimizer = REMBO([(-1, 1)] * 20, n_components=2, random_state=0)
    >>> optimizer.ask().shape
    (20,)
    """

    kernel: str = "y"

    def _make_surrogate(self, sketch):
        check_choice("kernel", self.kernel, KERNELS)
        if self.kernel == "y":
            return GaussianProcessSurrogate()
        image = clipped_image if self.kernel == "x" else warped_image
        return ImageProcess(partial(image, sketch=sketch))


def clipped_image(Z: FloatArray, sketch: Sketch) -> FloatArray:
    """Return the points ``clip(A z)`` for coordinates z (kernel K_X of Wang et al. 2013)."""
    return np.clip(sketch.expand(Z), -1.0, 1.0)


def warped_image(Z: FloatArray, sketch: Sketch) -> FloatArray:
    """Return the warped points Psi(z) for coordinates z (kernel of Binois et al. 2015).

    The clipped image x is projected onto the range of A, giving p. If p lies outside the cube, it
    is pulled to the pivot p' on the surface of the cube and then pushed out by ``||x - p'||`` along
    p', so that distances to the faces of the cube count (Binois, Ginsbourger and Roustant 2015,
    section 3). Equal images give equal results.

    Parameters
    ----------
    Z : ndarray of shape (n, r)
    sketch : Sketch

    Returns
    -------
    warped : ndarray of shape (n, r)
        Coordinates of the warped points in an orthonormal basis of the range of A.
    """
    X = clipped_image(Z, sketch)
    P = X @ sketch.basis @ sketch.basis.T
    pivots = P / np.maximum(1.0, np.abs(P).max(axis=1, keepdims=True))
    lengths = np.linalg.norm(pivots, axis=1, keepdims=True)
    pushed = np.linalg.norm(X - pivots, axis=1, keepdims=True)
    stretch = 1.0 + pushed / np.where(lengths > 0.0, lengths, 1.0)
    return (stretch * pivots) @ sketch.basis


class ImageProcess(GaussianProcessSurrogate):
    """Gaussian process whose inputs are transformed coordinates ``image(Z)``.

    Parameters
    ----------
    image : callable
        Function that maps coordinates of shape (n, r) to inputs of the process, of shape (n, k).
    """

    def __init__(self, image: Callable[[FloatArray], FloatArray]) -> None:
        super().__init__(isotropic=True)
        self.image = image

    def fit(self, Z: FloatArray, *args: Any, **options: Any) -> Self:
        """Fit the Gaussian process to the transformed coordinates ``image(Z)``."""
        self._r = Z.shape[1]
        return super().fit(self.image(Z), *args, **options)

    @property
    def relevance_(self) -> FloatArray:
        """Array of r ones, because all coordinates share one length scale."""
        return np.ones(self._r)

    def with_points(self, Z: FloatArray, y: FloatArray) -> Self:
        """Return a copy that is conditioned on additional points, without refitting."""
        return super().with_points(self.image(Z), y)

    def predict(self, Z: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Predict the mean and standard deviation at each row of Z."""
        return super().predict(self.image(Z))

    def predict_gradient(self, Z: FloatArray) -> tuple[FloatArray, ...]:
        """Predict the mean, the standard deviation and their gradients at each row of Z."""
        return central_differences(self.predict, Z)


class ZonotopeREMBO(RandomEmbedding):
    """Bayesian optimisation in a random embedding that covers the image of the whole cube.

    B has orthonormal columns with a random span, and z ranges over the zonotope ``{x B}``, the
    image of the cube. Each z has exactly one point: the shortest x in the cube with ``x B = z``.
    The arguments are those of `REMBO` except `kernel`. The kernel always compares z.

    References
    ----------
    Binois, Ginsbourger and Roustant (2017), "On the choice of the low-dimensional domain for global
    optimization via random embeddings", arXiv 1704.05318: the back-projection gamma and its domain.

    Examples
    --------
    >>> from skbo_silbo import minimize
    >>> minimize(lambda x: x[0], [(-1, 1)] * 20, method="rembo-zonotope", n_calls=6).nfev
    6
    """

    def _draw_sketch(self, d, r, rng):
        if d == 0:
            return LinearEmbedding(d)
        return LinearEmbedding.from_components(Sketch.gaussian(d, r, rng).matrix.T)

    def configure(self, d: int) -> Configuration:
        """Validate the optimiser's arguments and return its `Configuration` for d inputs."""
        return replace(super().configure(d), search=Climb())

    def preimages(
        self, Z: FloatArray, X: FloatArray | None, embedding: Embedding, incumbent: FloatArray
    ) -> FloatArray:
        """Return the points of the cube of smallest norm that have the given coordinates."""
        return shortest_points(Z, embedding)

    def _initial_points(self, n, d, rng, *, sketch):
        """Draw an initial design whose coordinates are spread evenly over the zonotope.

        The boundary point in a random direction is scaled by ``u^(1/r)`` with a uniform u, as when
        drawing uniformly from a ball.
        """
        far = FAR * sketch.half_widths * rng.standard_normal((n, sketch.r))
        boundary = sketch.project(shortest_points(far, sketch))
        return shortest_points(rng.random((n, 1)) ** (1.0 / max(sketch.r, 1)) * boundary, sketch)


def shortest_points(Z, embedding):
    """Return the points of the cube with coordinates Z that are nearest to the centre."""
    return nearest_points(Z, embedding, np.zeros(embedding.d))


class HeSBO(ClippedEmbedding):
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
