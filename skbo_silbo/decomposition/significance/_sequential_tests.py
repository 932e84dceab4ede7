"""How many directions: Li's sequential test, and an information criterion where it is no test.

==========  =======================================================
symbol      meaning
==========  =======================================================
lambda      eigenvalues of plain SIR, falling
n, d, H     labelled rows, features, slices
k           directions already granted
==========  =======================================================
"""

import numpy as np
from scipy import special

SIGNIFICANCE = 0.05  # level of each test in the sequence
# labelled rows a feature, and a slice, from which the chi-square reference is taken for valid
ROWS_PER_FEATURE_TESTED = 3
FEWEST_IN_SLICE = 5  # rows of the least slice from which it is
ENOUGH_IN_SLICE = 50  # rows from which it is though other slices are far larger


def sequential_tests(eigenvalues, n, d, n_slices, n_groups=1):
    """Chi-square tests of "k directions suffice" for k = 0, 1, ... (Li 1991, section 5).

    The statistic is n times the sum of the eigenvalues after the k-th, referred to chi-square with
    ``(d - k)(H - k - 1)`` degrees of freedom: exact in large samples of normal X. Slices within G
    groups, whose weighted means sum to 0 in each, have ``(d - k)(H - k - G)``.

    Parameters
    ----------
    eigenvalues : ndarray of shape (p,)
        Those after the p-th, which collinear columns leave out, are zero.
    n, d, n_slices, n_groups : int

    Returns
    -------
    dict of ndarray
        "n_components", "statistic", "df" and "p_value", a row a test, as R's ``dr`` prints them.
    """
    granted = np.arange(min(d, n_slices - n_groups))
    known = np.zeros(len(granted))
    known[: len(eigenvalues)] = eigenvalues[: len(granted)]
    statistic = n * np.cumsum(known[::-1])[::-1]
    df = (d - granted) * (n_slices - granted - n_groups)
    return {
        "n_components": granted,
        "statistic": statistic,
        "df": df,
        "p_value": special.chdtrc(df, statistic),
    }


def are_large(sizes):
    """Tell whether slices of these sizes (H,) are large enough for the chi-square reference.

    The mean of few rows of a skewed feature is skewed, and one slice of few rows among large ones
    decides alone: of a class of 30 in 2000 lognormal rows .10 are rejected for .05.
    """
    return min(sizes) >= max(FEWEST_IN_SLICE, min(np.mean(sizes) / 2, ENOUGH_IN_SLICE))


def until_accepted(test, most, names):
    """Test k = 0, 1, ... until one is accepted.

    Parameters
    ----------
    test : callable
        From k to a value for each name.
    most : int
        Tests at the most.
    names : tuple of str
        Among them "p_value".

    Returns
    -------
    dict of ndarray
        "n_components" and the names, a row a test made.
    """
    columns = {name: [] for name in ("n_components", *names)}
    for k in range(most):
        for column, value in zip(columns.values(), (k, *test(k)), strict=True):
            column.append(value)
        if columns["p_value"][-1] > SIGNIFICANCE:
            break
    return {name: np.array(column) for name, column in columns.items()}


def dimension_by_tests(tests):
    """Smallest k that no test rejects; one more than the last k tested when all reject."""
    accepted = np.flatnonzero(tests["p_value"] > SIGNIFICANCE)
    return int(accepted[0]) if len(accepted) else len(tests["p_value"])
