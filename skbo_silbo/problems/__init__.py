"""Test problems for optimisers: standard functions, embedded in more inputs and with noise."""

from skbo_silbo.problems._embeddings import embedded, planted, rotated
from skbo_silbo.problems._problem import NoisyProblem, Problem, noisy
from skbo_silbo.problems._synthetic import branin, hartmann6

__all__ = [
    "NoisyProblem",
    "Problem",
    "branin",
    "embedded",
    "hartmann6",
    "noisy",
    "planted",
    "rotated",
]
