"""Comparison of optimisers on a user-defined objective.

See ``python -m skbo_silbo.benchmarks --help``. The benchmarks of this project itself are in
doc/benchmarks of the repository and use the same functions.
"""
