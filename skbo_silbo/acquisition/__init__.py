"""What a point is worth evaluating, and where that is largest."""

from skbo_silbo.acquisition._climb import Climb
from skbo_silbo.acquisition._functions import log_expected_improvement
from skbo_silbo.acquisition._part import Part
from skbo_silbo.acquisition._parzen_turns import ParzenTurns
from skbo_silbo.acquisition._search_protocol import (
    AcquisitionFunction,
    AcquisitionSurface,
    Found,
    Search,
)

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
