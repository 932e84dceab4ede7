"""Sequential chi-square tests of the number of directions.

==========  =======================================================
symbol      meaning
==========  =======================================================
lambda      eigenvalues of plain SIR in decreasing order
n, d, H     number of labelled samples, features and slices
k           number of directions under the hypothesis
==========  =======================================================
"""

import numpy as np
from scipy import special, stats
from sklearn.utils import gen_batches

SIGNIFICANCE = 0.05  # level of each test in the sequence
MAX_TESTS = 20  # largest number of tests in a sequence
# Numbers of labelled samples per feature and per slice that the chi-square approximation needs.
ROWS_PER_FEATURE_TESTED = 3
FEWEST_IN_SLICE = 5  # number of samples that the smallest slice must have
ENOUGH_IN_SLICE = 50  # number of samples that is enough even if other slices are far larger
BATCH = 500  # rows of the n x n products that are formed at a time
MOST_PRODUCTS = 4e9  # largest n^2 q in `moments_of_squares`
MANY_ROWS = 10_000  # rows whose products of scores are formed at a time


def sequential_tests(eigenvalues, n, d, n_slices, n_groups=1):
    """Run Li's chi-square tests that k = 0, 1, ... directions suffice (Li 1991).

    The statistic is n times the sum of the eigenvalues after the k-th. The theorem writes it as ``n
    (d - k)`` times their mean. For normal X and large n, it has a chi-square distribution with ``(d
    - k)(H - k - 1)`` degrees of freedom. If y is sliced within G groups, the degrees of freedom are
    ``(d - k)(H - k - G)``, since the weighted slice means sum to 0 in each group.

    Parameters
    ----------
    eigenvalues : ndarray of shape (p,)
        Eigenvalues in decreasing order. If columns of X are collinear, there are fewer than d, and
        the missing eigenvalues are zero.
    n, d, n_slices, n_groups : int

    Returns
    -------
    dict of ndarray
        Values of all tests: "n_components", "statistic", "df" and "p_value", as printed by R's
        ``dr``.
    """
    n_tested = np.arange(min(d, n_slices - n_groups))
    known = np.zeros(len(n_tested))
    known[: len(eigenvalues)] = eigenvalues[: len(n_tested)]
    statistic = n * np.cumsum(known[::-1])[::-1]
    df = (d - n_tested) * (n_slices - n_tested - n_groups)
    return {
        "n_components": n_tested,
        "statistic": statistic,
        "df": df,
        "p_value": special.chdtrc(df, statistic),
    }


def slices_are_large(sizes):
    """Return whether all slices are large enough for the chi-square approximation.

    The mean of few samples of a skewed feature is skewed, and a single small slice among large ones
    can dominate the statistic: with a class of 30 in 2000 lognormal samples, the test at level .05
    rejects in 10 % of cases.
    """
    return min(sizes) >= max(FEWEST_IN_SLICE, min(np.mean(sizes) / 2, ENOUGH_IN_SLICE))


def until_accepted(test, most, names):
    """Test the hypotheses k = 0, 1, ... until one is accepted.

    Parameters
    ----------
    test : callable
        Function that maps k to the values of the test that k directions suffice, in the order of
        `names`.
    most : int
        Largest number of tests to perform. It is limited to `MAX_TESTS`.
    names : tuple of str
        Names of the values that `test` returns. One of them is "p_value".

    Returns
    -------
    dict of ndarray
        Values of all tests: "n_components", and an array for each name.
    """
    columns = {name: [] for name in ("n_components", *names)}
    for k in range(min(most, MAX_TESTS)):
        for column, value in zip(columns.values(), (k, *test(k)), strict=True):
            column.append(value)
        if columns["p_value"][-1] > SIGNIFICANCE:
            break
    return {name: np.array(column) for name, column in columns.items()}


def dimension_by_tests(tests):
    """Return the number of directions that a sequence of tests implies."""
    accepted = np.flatnonzero(tests["p_value"] > SIGNIFICANCE)
    return int(accepted[0]) if len(accepted) else len(tests["p_value"])


def bentler_xie(statistic, total, squares, df_of_total=np.inf):
    """Return the p-value of a scaled chi-square statistic (Bentler and Xie 2000).

    Parameters
    ----------
    statistic : float
    total, squares : float
        Sum of the weights of the chi-square variables, and sum of their squares.
    df_of_total : float
        Degrees of freedom with which the sum of the weights is estimated. If it is finite, the
        p-value is computed from an F distribution.
    """
    if not squares:
        return float(statistic <= 0)
    df = total**2 / squares
    if np.isfinite(df_of_total):
        return float(special.fdtrc(df, df_of_total, statistic / total))
    return float(stats.chi2.sf(statistic * df / total, df))


def chi_square_tests(test, most):
    """Run weighted chi-square tests of k = 0, 1, ... until a hypothesis is accepted.

    Parameters
    ----------
    test : callable
        Function that maps k to four values: the statistic, its degrees of freedom if all weights
        are 1, the sum of the weights, and the sum of the squared weights.
    most : int

    Returns
    -------
    dict of ndarray
        Values of all tests: "n_components", "statistic", "df", "p_value" (with the weights) and
        "p_value_normal" (as if all weights were 1).
    """

    def row(k):
        statistic, df, moments = test(k)
        return statistic, df, bentler_xie(statistic, *moments), stats.chi2.sf(statistic, df)

    return until_accepted(row, most, ("statistic", "df", "p_value", "p_value_normal"))


def hessian_tests(eigenvalues, S, e, weights, n):
    """Run chi-square tests that k = 0, 1, ... principal Hessian directions suffice.

    The hypothesis means that the mean of ``e u u'`` is 0, where u are the m scores after the k-th.
    If X is normal and e is independent of X, all m (m + 1) / 2 entries have the same variance, and
    n times the sum of the squared eigenvalues over ``2 var e`` is chi-square (Li 1992). In general,
    their covariance is estimated from the ``e (u u' - I)`` of the samples (Cook 1998; R's ``dr``).
    This is valid for any X, but conservative, since it ignores that e is orthogonal to X.

    Parameters
    ----------
    eigenvalues : ndarray of shape (q,)
        Eigenvalues in decreasing order of absolute value.
    S : ndarray of shape (n_rows, q)
        Scores of unit variance along all directions, in the same order.
    e : ndarray of shape (n_rows,)
        Residuals of the regression of y on X. If they are all 0, every hypothesis is accepted.
    weights : ndarray of shape (n_rows,)
    n : float
        Number of samples, or their total weight if there are weights.
    """
    variance = weights @ e**2 / (n - 1)
    scaled = e / np.sqrt(2 * variance) if variance else e

    def test(k):
        m = len(eigenvalues) - k
        statistic = n * np.sum(eigenvalues[k:] ** 2) / (2 * variance) if variance else 0.0
        return statistic, m * (m + 1) // 2, moments_of_squares(S[:, k:], scaled, weights)

    return chi_square_tests(test, len(eigenvalues))


def can_be_tested(S):
    """Return whether the chi-square tests can be computed in about a second."""
    n, q = S.shape
    return q**3 <= n or n**2 * q <= MOST_PRODUCTS


def moments_of_squares(U, e, weights):
    """Return the traces of V and V^2, where V is the covariance of ``e (u u' - I)``.

    The eigenvalues of V are the weights in two tests whose statistics are weighted sums of
    chi-square variables: Cook's (1998) test of pHd, where e is the residual, and the general test
    of SAVE by Shao, Cook and Weisberg (2007), where e is 1.

    Parameters
    ----------
    U : ndarray of shape (n, m)
    e, weights : ndarray of shape (n,)
    """
    m, shares = U.shape[1], weights / weights.sum()
    if m**3 <= len(U):  # n m^4 rather than n^2 m operations
        i, j = np.triu_indices(m)
        repeats, mean, G = np.sqrt(np.where(i == j, 1, 2)), 0.0, 0.0  # each pair stands for two
        for rows in gen_batches(len(U), MANY_ROWS):
            v = e[rows, None] * (repeats * U[rows][:, i] * U[rows][:, j] - (i == j))
            mean += shares[rows] @ v
            G += (v.T * shares[rows]) @ v
        G -= np.multiply.outer(mean, mean)
        return np.trace(G), np.vdot(G, G)
    squares = np.einsum("ij,ij->i", U, U)
    means, total = np.empty(len(U)), 0.0
    for rows in gen_batches(len(U), BATCH):  # inner products of the rows of e (u u' - I)
        K = (U[rows] @ U.T) ** 2 - np.add.outer(squares[rows], squares) + m
        K *= np.multiply.outer(e[rows], e)
        means[rows] = K @ shares
        total += shares[rows] @ (K**2 @ shares)
    grand_mean = shares @ means
    trace = shares @ (e**2 * (squares**2 - 2 * squares + m)) - grand_mean
    return trace, total - 2 * shares @ means**2 + grand_mean**2
