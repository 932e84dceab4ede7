"""Problems to test and compare optimisers on: known functions, hidden, and with noise."""

from skbo_silbo.problems._embeddings import embedded, planted, rotated
from skbo_silbo.problems._problem import NoisyProblem, Problem, noisy
from skbo_silbo.problems._problems_as_run import colville_as_run, three_hump_camel
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
    "noisy",
    "planted",
    "rosenbrock",
    "rotated",
    "styblinski_tang",
    "three_hump_camel",
]
