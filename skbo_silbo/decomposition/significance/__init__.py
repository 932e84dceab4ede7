"""Tests: how many directions there are, and whether what they assume holds."""

from ._sequential_tests import dimension_by_tests
from ._weighted_chi_square import bentler_xie

__all__ = ["bentler_xie", "dimension_by_tests"]
