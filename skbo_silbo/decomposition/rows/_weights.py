"""Sample weights in units of samples.

Weights are relative, whatever their type: a sample of weight 2 has the influence of two samples of
weight 1. Where the number of samples matters, as in tests, they are scaled to sum to the effective
sample size ``(sum w)^2 / sum w^2`` (Kish, "Survey Sampling", 1965), which is n if all are equal.
If weights are counts, repeat the samples by ``np.repeat`` instead. Samples of weight 0 are dropped.
"""

import numpy as np


def effective_weights(weights):
    """Scale weights to sum to the effective sample size. None means that all are equal."""
    if (weights == weights[:1]).all():
        return None
    weights = weights / weights.max()  # so that squares cannot overflow
    return weights * (weights.sum() / (weights @ weights))


def sample_by_weight(weights, n_rows):
    """Return the indices of at most `n_rows` rows, evenly spaced in cumulative weight.

    The number of indices is about the sum of the weights, if that is less than `n_rows`.
    """
    n = min(n_rows, max(2, int(np.rint(weights.sum()))))
    at = np.linspace(0, weights.sum() - 1, n).round()
    return np.searchsorted(np.cumsum(weights), at, side="right")


def copies(X, y):
    """Find groups of duplicated rows, which would predict each other in cross-validation.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    y : ndarray of shape (n,) or (n, q)

    Returns
    -------
    firsts : ndarray of shape (m,)
        Index of the first row of each group of identical rows, in increasing order.
    sets : ndarray of shape (n,)
        Number of the group that each row belongs to. Groups are numbered in the order of `firsts`.
    """
    codes = np.unique(y, axis=0, return_inverse=True)[1].reshape(len(X), 1)
    rows = np.hstack([codes, X]) + 0.0  # -0.0 becomes 0.0
    places = {}
    sets = np.array([places.setdefault(row.tobytes(), len(places)) for row in rows])
    return np.unique(sets, return_index=True)[1], sets
