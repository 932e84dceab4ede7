"""Models of the objective: what its values may be where it has not been evaluated."""

from skbo_silbo.surrogate._additive import AdditiveProcess
from skbo_silbo.surrogate._cylindrical import CylindricalProcess
from skbo_silbo.surrogate._differences import differences
from skbo_silbo.surrogate._ensemble import EnsembleSurrogate
from skbo_silbo.surrogate._gaussian_process import GaussianProcessSurrogate
from skbo_silbo.surrogate._regressor import RegressorSurrogate, check_regressor
from skbo_silbo.surrogate._viewed import ViewedProcess

__all__ = [
    "AdditiveProcess",
    "CylindricalProcess",
    "EnsembleSurrogate",
    "GaussianProcessSurrogate",
    "RegressorSurrogate",
    "ViewedProcess",
    "check_regressor",
    "differences",
]
