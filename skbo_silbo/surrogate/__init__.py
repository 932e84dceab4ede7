"""Surrogate models of the objective."""

from skbo_silbo.surrogate._process import GaussianProcessSurrogate
from skbo_silbo.surrogate._regressor import central_differences
from skbo_silbo.surrogate._surrogate_protocol import Surrogate, SurrogateOptions, Warp

__all__ = [
    "GaussianProcessSurrogate",
    "Surrogate",
    "SurrogateOptions",
    "Warp",
    "central_differences",
]
