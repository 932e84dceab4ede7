"""Acquisition functions, and the searches that maximise them."""

from skbo_silbo.acquisition.acquisition_functions import (
    AcquisitionFunction,
    log_expected_improvement,
)
from skbo_silbo.acquisition.restricted_space import RestrictedSpace
from skbo_silbo.acquisition.searches import (
    AcquisitionSurface,
    Climb,
    Found,
    ParzenTurns,
    Search,
)

__all__ = [
    "AcquisitionFunction",
    "AcquisitionSurface",
    "Climb",
    "Found",
    "RestrictedSpace",
    "ParzenTurns",
    "Search",
    "log_expected_improvement",
]
