"""How many directions: sequential tests, by chi-squares or sums of such with weights.

==========  =======================================================
symbol      meaning
==========  =======================================================
lambda      eigenvalues of plain SIR, falling
n, d, H     labelled rows, features, slices
k           directions already granted
==========  =======================================================
"""

import numpy as np
from scipy import special, stats
from sklearn.utils import gen_batches

SIGNIFICANCE = 0.05  # level of each test in the sequence
# labelled rows a feature, and a slice, from which the chi-square reference is taken for valid
ROWS_PER_FEATURE_TESTED = 3
FEWEST_IN_SLICE = 5  # rows of the least slice from which it is
ENOUGH_IN_SLICE = 50  # rows from which it is though other slices are far larger
BATCH = 500  # rows whose products with all are formed at a time


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


def slices_are_large(sizes):
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


def bentler_xie(statistic, total, squares, df_of_total=np.inf):
    """P-value by a scaled chi-square with the same mean and variance (Bentler and Xie 2000).

    Parameters
    ----------
    statistic : float
    total, squares : float
        Sum of the weights, and of their squares; both 0 where all weights are.
    df_of_total : float
        Degrees of freedom of an estimated sum of the weights: the reference is F where finite.
    """
    if not squares:
        return float(statistic <= 0)
    df = total**2 / squares
    if np.isfinite(df_of_total):
        return float(special.fdtrc(df, df_of_total, statistic / total))
    return float(stats.chi2.sf(statistic * df / total, df))


def chi_square_tests(test, most):
    """Test k = 0, 1, ... until one is accepted.

    Parameters
    ----------
    test : callable
        From k to the statistic, its degrees of freedom where all weights are 1, and sum and sum of
        squares of the weights.
    most : int

    Returns
    -------
    dict of ndarray
        "n_components", "statistic", "df", "p_value" by the weights and "p_value_normal" without
        them, a row a test made.
    """

    def row(k):
        statistic, df, moments = test(k)
        return statistic, df, bentler_xie(statistic, *moments), stats.chi2.sf(statistic, df)

    return until_accepted(row, most, ("statistic", "df", "p_value", "p_value_normal"))


def moments_of_squares(U, e, weights):
    """Trace, and trace of the square, of the variance of the rows' ``e (u u' - I)``.

    Parameters
    ----------
    U : ndarray of shape (n, m)
    e, weights : ndarray of shape (n,)
    """
    m, shares = U.shape[1], weights / weights.sum()
    if m**3 <= len(U):  # n m^4 operations, in place of n^2 m
        v = e[:, None] * ((U[:, :, None] * U[:, None, :]).reshape(len(U), -1) - np.eye(m).ravel())
        v -= shares @ v
        G = (v.T * shares) @ v
        return np.trace(G), np.vdot(G, G)
    squares = np.einsum("ij,ij->i", U, U)
    means, total = np.empty(len(U)), 0.0
    for rows in gen_batches(len(U), BATCH):  # inner products of the rows' entries
        K = (U[rows] @ U.T) ** 2 - np.add.outer(squares[rows], squares) + m
        K *= np.multiply.outer(e[rows], e)
        means[rows] = K @ shares
        total += shares[rows] @ (K**2 @ shares)
    grand_mean = shares @ means
    trace = shares @ (e**2 * (squares**2 - 2 * squares + m)) - grand_mean
    return trace, total - 2 * shares @ means**2 + grand_mean**2
