"""Looking at fitted directions, how far resampling moves them, and at searches: plots."""

from ._bootstrap import DirectionBootstrap, bootstrap_directions
from ._convergence_display import ConvergenceDisplay
from ._coordinate import CoordinateTest, Elimination, backward_elimination, coordinate_test
from ._display import SubspaceDisplay
from ._permutation_tests import PermutationTests, permutation_tests
from ._scree_display import ScreeDisplay
from ._search_display import SearchDisplay

__all__ = [
    "ConvergenceDisplay",
    "CoordinateTest",
    "DirectionBootstrap",
    "Elimination",
    "PermutationTests",
    "ScreeDisplay",
    "SearchDisplay",
    "SubspaceDisplay",
    "backward_elimination",
    "bootstrap_directions",
    "coordinate_test",
    "permutation_tests",
]
