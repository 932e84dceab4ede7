"""Tests whose statistic is, under the hypothesis, a sum of chi-squares with weights."""

import numpy as np
from scipy import special, stats
from sklearn.utils import gen_batches

from ._sequential_tests import until_accepted

BATCH = 500  # rows whose products with all are formed at a time


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
