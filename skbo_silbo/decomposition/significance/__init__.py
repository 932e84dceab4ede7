"""Tests: how many directions there are, and whether what they assume holds."""

from ._sequential_tests import bentler_xie, dimension_by_tests

__all__ = ["bentler_xie", "dimension_by_tests"]
