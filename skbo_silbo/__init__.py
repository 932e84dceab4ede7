"""Few directions, few labels: dimension reduction and Bayesian optimisation with many inputs."""

from importlib.metadata import version

from .decomposition import (
    ActiveSubspace,
    DirectionalRegression,
    SemiSlicedInverseRegression,
    SlicedAverageVarianceEstimation,
)
from .model_selection import SILBOSearchCV
from .optimizers import SILBO, RandomSearch, minimize
from .space import Space

__version__ = version("skbo_silbo")

__all__ = [
    "ActiveSubspace",
    "DirectionalRegression",
    "RandomSearch",
    "SILBO",
    "SILBOSearchCV",
    "SemiSlicedInverseRegression",
    "SlicedAverageVarianceEstimation",
    "Space",
    "minimize",
]
