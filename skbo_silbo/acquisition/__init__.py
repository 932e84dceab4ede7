"""What a point is worth evaluating, and where that is largest."""

from skbo_silbo.acquisition._climb import Climb, Found, ParzenTurns, Search
from skbo_silbo.acquisition._functions import (
    AcquisitionFunction,
    AcquisitionSurface,
    log_expected_improvement,
)
from skbo_silbo.acquisition._part import Part

__all__ = [
    "AcquisitionFunction",
    "AcquisitionSurface",
    "Climb",
    "Found",
    "Part",
    "ParzenTurns",
    "Search",
    "log_expected_improvement",
]
