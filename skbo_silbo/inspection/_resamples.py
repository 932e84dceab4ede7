"""Fits to rows drawn with replacement."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_advice() -> Iterator[None]:
    """Leave out what fits say of conditions: copies of rows depend on y, whatever y is."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Little was found")
        yield
