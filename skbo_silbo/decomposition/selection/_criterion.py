"""How many directions, by an information criterion of the spectrum."""

import numpy as np


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
