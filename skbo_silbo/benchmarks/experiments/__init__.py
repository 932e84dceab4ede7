"""The experiments, a file each; a new file is found by itself."""

from ._registry import EXPERIMENTS

__all__ = ["EXPERIMENTS"]
