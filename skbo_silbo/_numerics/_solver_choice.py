"""Which solver ``solver="auto"`` takes for a pencil."""

# Measured by `python doc/benchmarks run solvers`, see doc/benchmarks/sdr.rst.
# Features up to which "auto" forms T (d x d) when there are more rows than features. A limit of
# memory (3 d^2 doubles, 1.5 GiB), not of speed: conjugate gradients were slower at every size
# measured, to d = 4000, and the more so the more correlated the columns
DENSE_MAX_FEATURES = 8000
# Rows up to which "auto" forms X X' (n x n) when there are more features than rows; likewise
DUAL_MAX_ROWS = 8000
# Columns of a localised Omega above which "auto" seeks the leading directions alone. Below this the
# exact solver takes some milliseconds at most where rows are more than features, up to twice the
# time of the other, and knows all eigenvalues
RANDOMIZED_MIN_COLUMNS = 1000
# The same where features outnumber rows, with a ridge and no graph: there it is twice as slow
RANDOMIZED_MIN_COLUMNS_WIDE = 100
# Relative ridge, over the number of features, with which a wide T has a Cholesky factor. Without
# one the dense solver decomposes the rows, at ten times the cost of the dual one. The largest
# eigenvalue of T is at most ``d`` times their mean: this is 30 `POOR_CONDITION`
DENSE_LEAST_RIDGE = 3e-7


def choose_solver(pencil, *, relative_ridge, counted):
    """Name of the fastest solver that fits in memory; `counted` where few directions will do."""
    n, d = pencil.X.shape
    if (d <= n and d > DENSE_MAX_FEATURES) or (d > n and n > DUAL_MAX_ROWS):
        return "iterative"
    if counted and _leading_are_faster(pencil):
        return "randomized"
    if d <= n:
        return "dense"
    with_graph = pencil.penalty is not None and d <= 2 * n
    return "dense" if with_graph and relative_ridge > DENSE_LEAST_RIDGE * d else "dual"


def _leading_are_faster(pencil):
    """Tell whether Lanczos iteration beats the exact solver of the shape by what is worth it."""
    n, d = pencil.X.shape
    ridged_rows = d > n and pencil.penalty is None and pencil.ridge > 0
    least = RANDOMIZED_MIN_COLUMNS_WIDE if ridged_rows else RANDOMIZED_MIN_COLUMNS
    return pencil.omega.shape[1] > least
