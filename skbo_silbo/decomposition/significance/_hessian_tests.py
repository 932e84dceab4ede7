"""Tests of how many principal Hessian directions there are."""

import numpy as np
from scipy import stats


def hessian_tests(squares, n, variance):
    """Chi-square tests that k directions suffice, a row each (Li 1992, theorem 4.2).

    Parameters
    ----------
    squares : ndarray of shape (q,)
        Squared eigenvalues, falling.
    n : int
    variance : float
        Of the residuals; zero, where the fit is exact, accepts every k.
    """
    granted = np.arange(len(squares))
    left_out = np.cumsum(squares[::-1])[::-1]
    statistic = n * left_out / (2 * variance) if variance else np.zeros(len(squares))
    df = (len(squares) - granted) * (len(squares) - granted + 1) // 2
    return {
        "n_components": granted,
        "statistic": statistic,
        "df": df,
        "p_value": stats.chi2.sf(statistic, df),
    }
