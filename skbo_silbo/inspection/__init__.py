"""Looking at fitted directions, how far resampling moves them, and at searches: plots."""

from ._bootstrap import DirectionBootstrap, bootstrap_directions
from ._coordinate import CoordinateTest, coordinate_test
from ._display import SubspaceDisplay
from ._pareto_display import ParetoDisplay
from ._search_display import ConvergenceDisplay, SearchDisplay
from ._stepwise import StepwiseSelection, stepwise_selection

__all__ = [
    "ConvergenceDisplay",
    "CoordinateTest",
    "DirectionBootstrap",
    "ParetoDisplay",
    "SearchDisplay",
    "StepwiseSelection",
    "SubspaceDisplay",
    "bootstrap_directions",
    "coordinate_test",
    "stepwise_selection",
]
