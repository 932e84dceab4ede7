"""Comparison of optimisers on a user-defined objective.

`compare` runs them in Python, ``python -m skbo_silbo.benchmarks`` from the command line. The
benchmarks of this project itself are in doc/benchmarks and use the same functions.
"""

from skbo_silbo.benchmarks._comparison import Comparison, compare

__all__ = ["Comparison", "compare"]
