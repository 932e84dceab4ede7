"""How many directions: Li's sequential test, and an information criterion where it is no test.

==========  =======================================================
symbol      meaning
==========  =======================================================
lambda      eigenvalues of plain SIR, falling
n, d, H     labelled rows, features, slices
k           directions already granted
==========  =======================================================
"""

import warnings

import numpy as np
from scipy import special

SIGNIFICANCE = 0.05
"""Level of each test in the sequence."""
ROWS_PER_FEATURE_TESTED = 3
"""Labelled rows a feature from which the chi-square reference is taken for valid."""


def sequential_tests(eigenvalues, n, d, n_slices):
    """Chi-square tests of "k directions suffice" for k = 0, 1, ... (Li 1991, section 5).

    The statistic is n times the sum of the eigenvalues after the k-th, referred to chi-square with
    ``(d - k)(H - k - 1)`` degrees of freedom: exact in large samples of normal X.

    Parameters
    ----------
    eigenvalues : ndarray of shape (p,)
        Those after the p-th, which collinear columns leave out, are zero.
    n, d, n_slices : int

    Returns
    -------
    dict of ndarray
        "n_components", "statistic", "df" and "p_value", a row a test, as R's ``dr`` prints them.
    """
    granted = np.arange(min(d, n_slices - 1))
    known = np.zeros(len(granted))
    known[: len(eigenvalues)] = eigenvalues[: len(granted)]
    statistic = n * np.cumsum(known[::-1])[::-1]
    df = (d - granted) * (n_slices - granted - 1)
    return {
        "n_components": granted,
        "statistic": statistic,
        "df": df,
        "p_value": special.chdtrc(df, statistic),
    }


def dimension_by_tests(tests):
    """Smallest k that no test rejects; one more than the last k tested when all reject."""
    accepted = np.flatnonzero(tests["p_value"] > SIGNIFICANCE)
    return int(accepted[0]) if len(accepted) else len(tests["p_value"])


def warn_of_none():
    """Say that no direction was found."""
    warnings.warn(
        f"No direction was found: tests at level {SIGNIFICANCE} do not tell y from noise. "
        "n_components_ is 0, and components_ keeps the first direction, which may mean nothing. "
        "Label more rows, take fewer slices, or give n_components if you know that there are "
        "directions.",
        UserWarning,
        stacklevel=4,
    )


def dimension_by_criterion(eigenvalues, n):
    """Maximise a penalised share of the spectrum over the number of directions k >= 1.

    ``n sum_{j <= k} lambda_j^2 / sum_j lambda_j^2 - (2 n^(3/4) / p) k (k + 1) / 2`` (Zhu, Zhu and
    Feng 2010, section 3.1), with p the number of eigenvalues. It is free of the spectrum's scale,
    which localisation, ridge and graph change, and costs nothing beyond the spectrum.

    Parameters
    ----------
    eigenvalues : ndarray of shape (p,)
        Falling, >= 0; where all are 0 the answer is 1.
    n : int
        Labelled rows.

    Returns
    -------
    int
    """
    squares = np.cumsum(eigenvalues**2)
    if not squares[-1]:
        return 1
    k, shares = np.arange(1, len(eigenvalues) + 1), squares / squares[-1]
    charge = 2 * n**0.75 / len(eigenvalues)
    return int(k[np.argmax(n * shares - charge * k * (k + 1) / 2)])


def excess_over_noise(eigenvalues):
    """Subtract the median from localised eigenvalues and keep what is positive.

    A mean over k neighbours keeps 1/k of the scatter in every direction, so that localised
    eigenvalues do not fall to zero where there is nothing to find.
    """
    excess = eigenvalues - np.median(eigenvalues)
    return excess[excess > 0] if eigenvalues[0] > np.median(eigenvalues) else eigenvalues
