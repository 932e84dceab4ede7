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
from scipy import stats

SIGNIFICANCE = 0.05
"""Level of each test in the sequence."""


def sequential_tests(eigenvalues, n, d, n_slices):
    """Chi-square tests of "k directions suffice" for k = 0, 1, ... (Li 1991, section 5).

    The statistic is n times the sum of the eigenvalues after the k-th, referred to chi-square with
    ``(d - k)(H - k - 1)`` degrees of freedom: exact in large samples of normal X.

    Parameters
    ----------
    eigenvalues : ndarray of shape (p,)
    n, d, n_slices : int

    Returns
    -------
    dict of ndarray
        "n_components", "statistic", "df" and "p_value", a row a test, as R's ``dr`` prints them.
    """
    granted = np.arange(min(d, n_slices - 1))
    tails = np.cumsum(eigenvalues[::-1])[::-1]
    statistic = n * tails[granted]
    df = (d - granted) * (n_slices - granted - 1)
    return {
        "n_components": granted,
        "statistic": statistic,
        "df": df,
        "p_value": stats.chi2.sf(statistic, df),
    }


def dimension_by_tests(tests):
    """Smallest k that no test rejects; all directions when every test rejects; at least 1."""
    accepted = np.flatnonzero(tests["p_value"] > SIGNIFICANCE)
    k = tests["n_components"][accepted[0]] if len(accepted) else len(tests["p_value"])
    return max(1, int(k))


def dimension_by_criterion(eigenvalues, n, d, n_slices, limit):
    """Maximise a penalised likelihood of the spectrum over the number of directions; at least 1.

    With theta = 1 + lambda, the directions after the k-th cost
    ``n/2 sum_{j > k} (log theta_j + 1 - theta_j)`` in log likelihood, and k directions have
    ``k (2 d - k + 1) / 2`` parameters, each charged C_n (Zhu, Miao and Peng 2006, eq. 8). C_n grows
    like log n, and with d / n as the eigenvalues of noise do.
    """
    theta = 1 + eigenvalues
    losses = n / 2 * (np.log(theta) + 1 - theta)
    remaining = np.append(np.cumsum(losses[::-1])[::-1], 0.0)[: limit + 1]
    k = np.arange(len(remaining))
    noise = (np.sqrt(d) + np.sqrt(n_slices - 1)) ** 4 / (4 * n * d)
    charge = (noise + np.log(n) / 4) / 2
    return max(1, int(np.argmax(remaining - charge * k * (2 * d - k + 1) / 2)))
