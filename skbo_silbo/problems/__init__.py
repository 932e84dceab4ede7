"""Problems to test and compare optimisers on: known functions, embeddings, noise, real tuning."""

from skbo_silbo.problems._embeddings import embedded, planted, rotated
from skbo_silbo.problems._lasso import weighted_lasso
from skbo_silbo.problems._mlp import mlp_weights
from skbo_silbo.problems._noise import NoisyProblem, noisy
from skbo_silbo.problems._problem import Problem
from skbo_silbo.problems._problems_as_run import colville_as_run, three_hump_camel
from skbo_silbo.problems._svr import svr_length_scales
from skbo_silbo.problems._synthetic import (
    ackley,
    branin,
    camel,
    colville,
    hartmann6,
    levy,
    rosenbrock,
    styblinski_tang,
)

__all__ = [
    "NoisyProblem",
    "Problem",
    "ackley",
    "branin",
    "camel",
    "colville",
    "colville_as_run",
    "embedded",
    "hartmann6",
    "levy",
    "mlp_weights",
    "noisy",
    "planted",
    "rosenbrock",
    "rotated",
    "styblinski_tang",
    "svr_length_scales",
    "three_hump_camel",
    "weighted_lasso",
]
