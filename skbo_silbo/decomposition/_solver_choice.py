"""Which solver ``solver="auto"`` takes for a pencil."""

from .._numerics._solvers import DenseSolver, DualSolver, IterativeSolver, RandomizedSolver

# Measured by `python -m skbo_silbo.benchmarks run solvers`, see doc/benchmarks/sdr.rst.
DENSE_MAX_FEATURES = 8000
"""Features up to which "auto" forms T (d x d) when there are more rows than features.

A limit of memory (3 d^2 doubles, 1.5 GiB), not of speed: conjugate gradients were slower at every
size measured, to d = 4000, and the more so the more correlated the columns.
"""
DUAL_MAX_ROWS = 8000
"""Rows up to which "auto" forms X X' (n x n) when there are more features than rows; likewise."""
RANDOMIZED_MIN_COLUMNS = 1000
"""Columns of a localised Omega above which "auto" seeks the leading directions alone.

Faster at every size measured; below this the exact solver takes 13 ms (at 200 features) and knows
all eigenvalues.
"""
RANDOMIZED_MIN_COLUMNS_WIDE = 300
"""The same where features outnumber rows: the exact solver then decomposes n x n twice."""


def choose_solver(pencil, *, counted):
    """Name of the fastest solver that fits in memory; `counted` where few directions will do."""
    n, d = pencil.X.shape
    if (d <= n and d > DENSE_MAX_FEATURES) or (d > n and n > DUAL_MAX_ROWS):
        return "iterative"
    many = RANDOMIZED_MIN_COLUMNS if d <= n else RANDOMIZED_MIN_COLUMNS_WIDE
    if pencil.omega.shape[1] > many and counted:
        return "randomized"
    ridged_graph = pencil.penalty is not None and pencil.ridge > 0
    return "dense" if d <= (2 * n if ridged_graph else n) else "dual"


def make_solver(name, random_state):
    """Return the solver of a name."""
    return {
        "dense": DenseSolver(),
        "dual": DualSolver(),
        "iterative": IterativeSolver(random_state),
        "randomized": RandomizedSolver(random_state),
    }[name]
