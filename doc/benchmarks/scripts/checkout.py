"""What scripts share: imports from their own checkout, its folders, and a command line."""

import argparse
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

__all__ = ["FOLDER", "RESULTS", "TABLES", "make_parser", "pages_with", "read_registry"]


def make_parser(about):
    """Return an argument parser whose help is the docstring of a script."""
    raw = argparse.RawDescriptionHelpFormatter
    return argparse.ArgumentParser(description=about, formatter_class=raw)
