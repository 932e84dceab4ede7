"""Surrogate models of the objective."""

from skbo_silbo.surrogate._surrogate_protocol import Surrogate, SurrogateOptions, Warp
from skbo_silbo.surrogate.process import GaussianProcessSurrogate
from skbo_silbo.surrogate.regressor import central_differences

__all__ = [
    "GaussianProcessSurrogate",
    "Surrogate",
    "SurrogateOptions",
    "Warp",
    "central_differences",
]
