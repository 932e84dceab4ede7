"""The experiments, a file each; a new file is found by itself."""

from ._registry import find_experiments

EXPERIMENTS = find_experiments(__name__, __path__)

__all__ = ["EXPERIMENTS"]
