"""Maps from the cube to few coordinates: drawn at random, or learnt from values."""

from skbo_silbo.embedding._as_run_learner import AsRunLearner
from skbo_silbo.embedding._count_sketch import CountSketch
from skbo_silbo.embedding._differences import (
    STEP,
    DifferenceDesign,
    DifferenceLearner,
    differences_needed,
)
from skbo_silbo.embedding._gaussian_sketch import GaussianSketch
from skbo_silbo.embedding._learner_protocol import Embedding, Learner
from skbo_silbo.embedding._learners import (
    ActiveSubspaceLearner,
    ChosenEmbedding,
    CoordinatesLearner,
    FixedLearner,
    IdentityLearner,
    SemiSIRLearner,
    TransformerLearner,
    choose_embedding,
)
from skbo_silbo.embedding._learnt import check_learnt
from skbo_silbo.embedding._linear import LinearEmbedding
from skbo_silbo.embedding._nonlinear import N_TRIAL, NonlinearLearner, TransformerEmbedding
from skbo_silbo.embedding._sketched import SKETCH_STREAM, SketchedLearner, draw_sketch

__all__ = [
    "ActiveSubspaceLearner",
    "AsRunLearner",
    "ChosenEmbedding",
    "CoordinatesLearner",
    "CountSketch",
    "DifferenceDesign",
    "DifferenceLearner",
    "Embedding",
    "FixedLearner",
    "GaussianSketch",
    "IdentityLearner",
    "Learner",
    "N_TRIAL",
    "LinearEmbedding",
    "NonlinearLearner",
    "SKETCH_STREAM",
    "STEP",
    "SemiSIRLearner",
    "SketchedLearner",
    "TransformerEmbedding",
    "TransformerLearner",
    "check_learnt",
    "choose_embedding",
    "differences_needed",
    "draw_sketch",
]
