"""What a point is worth evaluating, and where that is largest."""

from skbo_silbo.acquisition._box_search import BoxSearch
from skbo_silbo.acquisition._climb import (
    Climb,
    categorical_columns,
    climb_from,
    draw_candidates,
    draw_moved,
    polish,
)
from skbo_silbo.acquisition._functions import (
    confidence_gain,
    confidence_weight,
    confidence_weight_as_run,
    expected_improvement,
    log_expected_improvement,
    no_improvement,
    variance_gain,
)
from skbo_silbo.acquisition._group_search import GroupSearch
from skbo_silbo.acquisition._hypercube_search import (
    HypercubeSearch,
    reach_of_coordinates,
    reach_of_inputs,
)
from skbo_silbo.acquisition._idle_redraw import LARGEST_LOSS, IdleRedraw, redraw_idle
from skbo_silbo.acquisition._near_or_far import NearOrFar, draw_near
from skbo_silbo.acquisition._parzen_turns import (
    Doubting,
    ParzenEstimates,
    ParzenTurns,
    draw_good,
)
from skbo_silbo.acquisition._search_protocol import AcquisitionFunction, Found, Search
from skbo_silbo.acquisition._surface import AcquisitionSurface

__all__ = [
    "AcquisitionFunction",
    "AcquisitionSurface",
    "BoxSearch",
    "Climb",
    "Doubting",
    "Found",
    "GroupSearch",
    "HypercubeSearch",
    "IdleRedraw",
    "LARGEST_LOSS",
    "NearOrFar",
    "ParzenEstimates",
    "ParzenTurns",
    "Search",
    "categorical_columns",
    "climb_from",
    "confidence_gain",
    "confidence_weight",
    "confidence_weight_as_run",
    "draw_candidates",
    "draw_good",
    "draw_moved",
    "draw_near",
    "expected_improvement",
    "log_expected_improvement",
    "no_improvement",
    "polish",
    "reach_of_coordinates",
    "reach_of_inputs",
    "redraw_idle",
    "variance_gain",
]
