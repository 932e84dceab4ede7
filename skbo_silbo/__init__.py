"""Few directions, few labels: dimension reduction and Bayesian optimisation with many inputs."""

from importlib.metadata import version

from .decomposition import (
    MAVE,
    ActiveSubspace,
    DirectionalRegression,
    KernelSlicedInverseRegression,
    OuterProductGradients,
    PrincipalHessianDirections,
    SemiSlicedInverseRegression,
    SlicedAverageVarianceEstimation,
    SlicedInverseRegression,
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
    "MAVE",
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
    "SlicedInverseRegression",
    "Space",
    "SpaceExhausted",
    "SparseSlicedInverseRegression",
    "minimize",
]
