"""Inspection of fitted directions and of finished searches: tests, bootstrap and plots."""

from skbo_silbo.inspection._bootstrap import DirectionBootstrap, bootstrap_directions
from skbo_silbo.inspection._coordinate_test import CoordinateTest, coordinate_test
from skbo_silbo.inspection._pareto_display import ParetoDisplay
from skbo_silbo.inspection._report import report
from skbo_silbo.inspection._search_display import ConvergenceDisplay, SearchDisplay
from skbo_silbo.inspection._subspace_display import SubspaceDisplay
from skbo_silbo.inspection._subspaces import SubspaceComparison, compare_subspaces

__all__ = [
    "ConvergenceDisplay",
    "CoordinateTest",
    "DirectionBootstrap",
    "ParetoDisplay",
    "SearchDisplay",
    "SubspaceComparison",
    "SubspaceDisplay",
    "bootstrap_directions",
    "compare_subspaces",
    "coordinate_test",
    "report",
]
