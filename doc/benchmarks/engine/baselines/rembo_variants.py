"""REMBO with other kernels, and in the image of the whole cube."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self

import numpy as np

from skbo_silbo._checks import check_choice
from skbo_silbo._numerics.priors import HyperparameterPrior, dimension_scaled_prior
from skbo_silbo._typing import Auto, FloatArray
from skbo_silbo.acquisition import AcquisitionFunction
from skbo_silbo.acquisition.searches import Climb
from skbo_silbo.baselines import REMBO
from skbo_silbo.baselines._baseline import Baseline
from skbo_silbo.baselines._random_embeddings import SKETCH_STREAM, Sketch, check_n_components
from skbo_silbo.embedding import Embedding, LinearEmbedding
from skbo_silbo.embedding.choice import FixedLearner
from skbo_silbo.embedding.linear import nearest_points
from skbo_silbo.optimizers.configuration import Configuration, check_n_initial, make_acquisition
from skbo_silbo.surrogate import GaussianProcessSurrogate, central_differences

KERNELS = ("x", "psi")
FAR = 10.0  # scale of random coordinates outside the zonotope, in half widths


@dataclass(eq=False, repr=False, kw_only=True)
class ImageREMBO(REMBO):
    """REMBO with a kernel that compares points of the cube instead of coordinates.

    Parameters
    ----------
    kernel : {"x", "psi"}, default="x"
        Inputs of the Matern kernel, which has one length scale: the clipped points ("x"), or the
        clipped points warped back to the range of A ("psi"). The other arguments are those of
        `REMBO`.

    References
    ----------
    Wang, Zoghi, Hutter, Matheson and de Freitas (2013), "Bayesian Optimization in High Dimensions
    via Random Embeddings" ("x"); Binois, Ginsbourger and Roustant (2015), "A Warped Kernel
    Improving Robustness in Bayesian Optimization via Random Embeddings" ("psi").

    Examples
    --------
    >>> from benchmarks.engine.baselines import ImageREMBO
    >>> ImageREMBO([(-1, 1)] * 20, n_components=2, kernel="psi", random_state=0).ask().shape
    (20,)
    """

    kernel: str = "x"

    def configure(self, d: int) -> Configuration:
        """Validate the optimiser's arguments and return its `Configuration` for d inputs."""
        check_choice("kernel", self.kernel, KERNELS)
        plain = super().configure(d)
        image = clipped_image if self.kernel == "x" else warped_image
        surrogate = ImageProcess(partial(image, sketch=plain.learner.embedding))
        return replace(plain, surrogate=surrogate)


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
        super().__init__()
        self.image = image

    def fit(self, Z: FloatArray, *args: Any, **options: Any) -> Self:
        """Fit the Gaussian process to the transformed coordinates ``image(Z)``."""
        self._r, images = Z.shape[1], self.image(Z)
        self.shared, one = np.zeros(images.shape[1], dtype=int), [0, 1, -1]
        dense = dimension_scaled_prior(images.shape[1])
        self.prior = HyperparameterPrior(dense.location[one], dense.spread[one], dense.bounds[one])
        return super().fit(images, *args, **options)

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


@dataclass(eq=False, repr=False, kw_only=True)
class ZonotopeREMBO(Baseline):
    """Bayesian optimisation in a random embedding that covers the image of the whole cube.

    B has orthonormal columns with a random span, and z ranges over the zonotope ``{x B}``, the
    image of the cube. Each z has exactly one point: the shortest x in the cube with ``x B = z``.
    The arguments are those of `REMBO`. The kernel compares z.

    References
    ----------
    Binois, Ginsbourger and Roustant (2017), "On the choice of the low-dimensional domain for global
    optimization via random embeddings", arXiv 1704.05318: the back-projection gamma and its domain.

    Examples
    --------
    >>> from benchmarks.engine.baselines import ZonotopeREMBO
    >>> from skbo_silbo import minimize
    >>> minimize(lambda x: x[0], [(-1, 1)] * 20, method=ZonotopeREMBO, n_calls=6).nfev
    6
    """

    n_components: int | Auto = "auto"
    acquisition: str | AcquisitionFunction = "ei"
    n_initial: int | Auto = "auto"

    def configure(self, d: int) -> Configuration:
        """Validate the optimiser's arguments and return its `Configuration` for d inputs."""
        sketch = LinearEmbedding(d)
        if d:
            r = check_n_components(self.n_components, d)
            A = Sketch.gaussian(d, r, self._rng(*SKETCH_STREAM)).matrix
            sketch = LinearEmbedding.from_components(A.T)
        return Configuration(
            learner=FixedLearner(sketch),
            search=Climb(),
            acquisition=make_acquisition(self.acquisition),
            design=partial(self._initial_points, sketch=sketch),
            surrogate=GaussianProcessSurrogate(),
            n_initial=check_n_initial(self.n_initial, sketch.r),
        )

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
