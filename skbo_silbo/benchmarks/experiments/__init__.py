"""The experiments, a file each; a new file is found by itself.

In a checkout also the project's own measurements, beside their data in doc/benchmarks.
"""

from ._registry import OWN_MEASUREMENTS, find_experiments

__path__ += [str(OWN_MEASUREMENTS)] if OWN_MEASUREMENTS.is_dir() else []
EXPERIMENTS = find_experiments(__name__, __path__)

__all__ = ["EXPERIMENTS", "OWN_MEASUREMENTS"]
