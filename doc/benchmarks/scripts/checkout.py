"""Make a script import the package and the benchmarks of the checkout that contains it."""

import sys
from pathlib import Path

sys.path[:0] = map(str, Path(__file__).resolve().parents[2:4][::-1])

from benchmarks.registry import (  # noqa: E402
    FOLDER,
    RESULTS,
    TABLES,
    pages_with,
    read_registry,
)

__all__ = ["FOLDER", "RESULTS", "TABLES", "pages_with", "read_registry"]
