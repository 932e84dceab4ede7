"""How often tests of noise may reject, and how many sets are drawn to see it."""

import pytest
from scipy import stats

RARE = 1e-6  # the chance that a test of the right level is called wrong


def sets(few, many):
    """Parametrise n_sets: a few, and the full size behind ``statistical``."""
    full = pytest.param(many, marks=pytest.mark.statistical)
    return pytest.mark.parametrize("n_sets", [few, full])


def assert_level(rejected, n_sets, level=0.05):
    """Assert that so many of n_sets rejected at a level are no rare event, too many or too few."""
    low, high = stats.binom.ppf([RARE, 1 - RARE], n_sets, level)
    assert low <= rejected <= high, f"{rejected} of {n_sets} at level {level}"
