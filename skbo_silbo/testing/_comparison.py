"""Comparisons that say what is wrong."""

import numpy as np


def require(holds, what):
    """Raise AssertionError with this sentence unless it holds."""
    if not holds:
        raise AssertionError(what)


def require_close(got, wanted, what, *, rtol=1e-7, atol=1e-9):
    """Raise AssertionError unless two arrays agree."""
    try:
        np.testing.assert_allclose(got, wanted, rtol=rtol, atol=atol)
    except AssertionError as error:
        raise AssertionError(f"{what}: {error}") from None
