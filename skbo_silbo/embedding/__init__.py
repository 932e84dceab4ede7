"""Maps from the cube to few coordinates: drawn at random, or learnt from values."""

from skbo_silbo.embedding._as_run import AsRunLearner
from skbo_silbo.embedding._count_sketch import CountSketch
from skbo_silbo.embedding._differences import DifferenceDesign, DifferenceLearner
from skbo_silbo.embedding._gaussian_sketch import GaussianSketch
from skbo_silbo.embedding._learners import (
    ActiveSubspaceLearner,
    CoordinatesLearner,
    FixedLearner,
    IdentityLearner,
    SemiSIRLearner,
    TransformerLearner,
    make_learners,
)
from skbo_silbo.embedding._linear import LinearEmbedding
from skbo_silbo.embedding._nonlinear import NonlinearLearner, TransformerEmbedding
from skbo_silbo.embedding._sketched import SKETCH_STREAM, SketchedLearner, draw_sketch

__all__ = [
    "ActiveSubspaceLearner",
    "AsRunLearner",
    "CoordinatesLearner",
    "CountSketch",
    "DifferenceDesign",
    "DifferenceLearner",
    "FixedLearner",
    "GaussianSketch",
    "IdentityLearner",
    "LinearEmbedding",
    "NonlinearLearner",
    "SKETCH_STREAM",
    "SemiSIRLearner",
    "SketchedLearner",
    "TransformerEmbedding",
    "TransformerLearner",
    "draw_sketch",
    "make_learners",
]
