"""REMBO on the zonotope: the smallest domain that reaches all points of a random subspace."""

from dataclasses import replace
from functools import partial
from typing import cast

from skbo_silbo.acquisition._climb import Climb
from skbo_silbo.baselines._sketched import SketchedOptimizer
from skbo_silbo.embedding._gaussian_sketch import GaussianSketch
from skbo_silbo.embedding._learners import FixedLearner
from skbo_silbo.embedding._linear import LinearEmbedding
from skbo_silbo.mapping._top_down import TopDown
from skbo_silbo.optimizers import Configuration

FAR = 10.0  # times the half widths: well outside the zonotope


class ZonotopeREMBO(SketchedOptimizer):
    """Bayesian optimisation in a random embedding, z searched over the image of the whole cube.

    B has orthonormal columns with a random span. In place of clipping, the point of z is the
    shortest x of the cube with ``x B = z``. So z ranges over the zonotope ``{x B}``: no two z
    have one point, and no z is without one. The arguments are those of `REMBO` without `kernel`,
    which compares z: here distances in z are those of the points' projections.

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
        return LinearEmbedding.from_components(GaussianSketch.draw(d, r, rng).matrix.T)

    def configure(self, d: int) -> Configuration:
        """Return the `Configuration` for d columns, after checking the arguments."""
        made, mapping = super().configure(d), TopDown("least-squares")
        design = partial(
            zonotope_points, embedding=cast(FixedLearner, made.learner).embedding, mapping=mapping
        )
        return replace(made, mapping=mapping, search=Climb(), design=design)


def zonotope_points(n, d, rng, *, embedding, mapping):
    """Return n points of the cube, (n, d), whose coordinates lie in all parts of the zonotope.

    Coordinates far out, in random directions, are carried to the boundary, and from there towards
    the centre by a share ``u^(1/r)``, as in a ball.
    """
    r = embedding.r
    far = FAR * embedding.half_widths * rng.standard_normal((n, r))
    boundary = embedding.project(mapping.lift(far, embedding, None))
    return mapping.lift(rng.random((n, 1)) ** (1.0 / max(r, 1)) * boundary, embedding, None)
