"""Learning on a sketch: the first points and every direction lie in what a sketch reaches.

With more inputs than points no linear method can find the directions that matter; on a sketch of
m coordinates the points outnumber them (MATH section 4).
"""

from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from skbo_silbo._typing import FloatArray
from skbo_silbo.embedding._count_sketch import CountSketch
from skbo_silbo.embedding._gaussian_sketch import GaussianSketch
from skbo_silbo.embedding._learner_protocol import Learner
from skbo_silbo.embedding._linear import LinearEmbedding

SKETCH_STREAM = (0, 3)  # number of the random stream that a sketch comes from
MOST_COORDINATES = 16  # of a sketch; not tuned, as no default has one
POINTS_PER_COORDINATE = 3  # that a count sketch must have before its bins are split; not tuned


@dataclass(frozen=True)
class SketchedLearner:
    """Learn by another learner in the coordinates of a sketch.

    Attributes
    ----------
    sketch : CountSketch or GaussianSketch
    learner : object
    seed : int
        Of the halving of bins.
    """

    sketch: CountSketch | GaussianSketch
    learner: Learner
    seed: int

    @property
    def name(self) -> str:
        """Name of the learner on the sketch."""
        return f"sketched {self.learner.name}"

    def learn(self, X: FloatArray, y: FloatArray, X_unlabeled: FloatArray) -> LinearEmbedding:
        """Return the embedding ``z = x S B``, S the sketch's orthonormal basis, B learnt there."""
        basis = self.refined(len(y)).basis
        return _compose(basis, self.learner.learn(X @ basis, y, X_unlabeled @ basis))

    def refined(self, n: int) -> CountSketch | GaussianSketch:
        """Return the sketch for n points: a count sketch is halved as often as they allow.

        The halvings of fewer points are the first ones of more, so that every point on a coarser
        sketch is on all finer ones.
        """
        sketch, rng = self.sketch, np.random.default_rng([self.seed, *SKETCH_STREAM])
        if not isinstance(sketch, CountSketch):
            return sketch
        while sketch.counts.max() > 1 and n >= 2 * POINTS_PER_COORDINATE * sketch.r:
            sketch = sketch.halved(rng)
        return sketch


def _compose(basis, inner):
    return LinearEmbedding(basis.shape[0], basis if inner.is_identity else basis @ inner.basis)


def _count(d, m, rng):
    return CountSketch.draw(d, m, rng, balanced=True)


SKETCHES = MappingProxyType({"count": _count, "gaussian": GaussianSketch.draw})


def draw_sketch(
    sketch: str | None, d: int, rng: np.random.Generator
) -> CountSketch | GaussianSketch:
    """Return the sketch of this name on d inputs.

    Raises
    ------
    ValueError
        When there is no such sketch.
    """
    if not isinstance(sketch, str) or sketch not in SKETCHES:
        raise ValueError(
            f"sketch must be None, 'auto' or one of {sorted(SKETCHES)}: got {sketch!r}."
        )
    return SKETCHES[sketch](d, min(d, MOST_COORDINATES), rng)
