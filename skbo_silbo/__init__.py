"""Bayesian optimisation with many inputs, and dimension reduction with few labels."""

from importlib.metadata import version

from .decomposition import (
    ActiveSubspace,
    DirectionalRegression,
    KernelSlicedInverseRegression,
    OuterProductGradients,
    PrincipalHessianDirections,
    SemiSlicedInverseRegression,
    SlicedAverageVarianceEstimation,
    SparseSlicedInverseRegression,
)
from .model_selection import SILBOSearchCV
from .optimizers import (
    BOCK,
    REMBO,
    SILBO,
    SIRBO,
    AddBO,
    BeyondModelWarning,
    FirstPointsOnlyWarning,
    HeSBO,
    LostEvaluationWarning,
    LostWorkerError,
    MinimizeResult,
    NotLowDimensionalWarning,
    RandomSearch,
    SpaceExhausted,
    minimize,
)
from .space import Space

__version__ = version("skbo_silbo")

__all__ = [
    "ActiveSubspace",
    "AddBO",
    "BOCK",
    "BeyondModelWarning",
    "DirectionalRegression",
    "FirstPointsOnlyWarning",
    "HeSBO",
    "KernelSlicedInverseRegression",
    "LostEvaluationWarning",
    "LostWorkerError",
    "MinimizeResult",
    "NotLowDimensionalWarning",
    "OuterProductGradients",
    "PrincipalHessianDirections",
    "REMBO",
    "RandomSearch",
    "SILBO",
    "SILBOSearchCV",
    "SIRBO",
    "SemiSlicedInverseRegression",
    "SlicedAverageVarianceEstimation",
    "Space",
    "SpaceExhausted",
    "SparseSlicedInverseRegression",
    "minimize",
]
