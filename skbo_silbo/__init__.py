"""Bayesian optimisation with many inputs, and dimension reduction with few labels."""

from importlib.metadata import version

from skbo_silbo.evaluation import FirstPointsOnlyWarning
from skbo_silbo.minimization import MinimizeResult, minimize
from skbo_silbo.optimizers import SILBO, BeyondModelWarning
from skbo_silbo.space import SpaceExhausted
from skbo_silbo.workers import LostEvaluationWarning, LostWorkerError

from .decomposition import (
    MAVE,
    ActiveSubspace,
    DirectionalRegression,
    KernelSlicedInverseRegression,
    OuterProductGradients,
    PrincipalHessianDirections,
    RecursiveFeatureMachine,
    SDRClassifier,
    SDRRegressor,
    SemiSlicedInverseRegression,
    SlicedAverageVarianceEstimation,
    SlicedInverseRegression,
    SparseSlicedInverseRegression,
)
from .model_selection import EarlyStopped, SILBOSearchCV
from .space import Space, default_space

__version__ = version("skbo_silbo")

__all__ = [
    "ActiveSubspace",
    "BeyondModelWarning",
    "DirectionalRegression",
    "EarlyStopped",
    "FirstPointsOnlyWarning",
    "KernelSlicedInverseRegression",
    "LostEvaluationWarning",
    "LostWorkerError",
    "MAVE",
    "MinimizeResult",
    "OuterProductGradients",
    "PrincipalHessianDirections",
    "RecursiveFeatureMachine",
    "SDRClassifier",
    "SDRRegressor",
    "SILBO",
    "SILBOSearchCV",
    "SemiSlicedInverseRegression",
    "SlicedAverageVarianceEstimation",
    "SlicedInverseRegression",
    "Space",
    "SpaceExhausted",
    "SparseSlicedInverseRegression",
    "default_space",
    "minimize",
]
