"""Sample weights in units of samples.

Integers are counts: a sample of weight 3 is equivalent to three samples, also in tests. Floats are
relative, even if they are whole numbers: they are scaled to sum to the effective sample size ``(sum
w)^2 / sum w^2`` (Kish, "Survey Sampling", 1965), which is n if all are equal. The type decides
rather than the values, so that a part of an array has the same meaning as the whole array. Samples
of weight 0 are dropped.
"""

from numbers import Integral, Real

import numpy as np
from sklearn.utils import check_array


def check_sample_weight(sample_weight, n):
    """Validate weights (n,): non-negative, and some of them positive. None is returned as None.

    Counts are returned as int64, relative weights as float64.
    """
    if sample_weight is None:
        return None
    given = np.full(n, sample_weight) if isinstance(sample_weight, Real) else sample_weight
    kind = np.int64 if _holds_integers(given) else np.float64
    weights = np.asarray(given)
    if not isinstance(given, str):
        weights = check_array(given, dtype=kind, ensure_2d=False, input_name="sample_weight")
    if weights.shape != (n,):
        raise ValueError(
            f"sample_weight must have shape ({n},), a weight for every row of X, got "
            f"{weights.shape or given!r}. Pass a 1d array of {n} numbers."
        )
    if weights.min() < 0:
        raise ValueError(
            f"sample_weight must be non-negative, got {weights.min()!s}. Drop such samples, or set "
            "their weight to 0."
        )
    if not weights.any():
        raise ValueError(
            f"sample_weight must be positive for some samples, but all {n} weights are zero. Pass "
            "None for equal weights."
        )
    return weights


def _holds_integers(values):
    """Return whether an array-like holds integers or booleans, including pandas' types."""
    values = np.asarray(values)
    if values.dtype.kind == "O":
        return all(isinstance(value, Integral | np.bool_) for value in values.ravel())
    return values.dtype.kind in "biu"


def as_effective_counts(weights):
    """Return counts unchanged, and scale relative weights (n,) to the effective sample size.

    Equal weights become counts of 1.
    """
    if are_counts(weights):
        return weights
    if (weights == weights[:1]).all():
        return np.ones(len(weights), dtype=np.int64)
    weights = weights / weights.max()  # so that squares cannot overflow
    return weights * (weights.sum() / (weights @ weights))


def are_counts(weights):
    """Return whether weights are counts rather than relative weights."""
    return weights.dtype.kind == "i"


def sample_by_weight(weights, n_rows):
    """Return indices of rows, evenly spaced in cumulative weight, at most `n_rows`.

    Their number is about the sum of the weights. Counts that sum to at most `n_rows` give each row
    as often as it counts.
    """
    n = min(n_rows, max(2, int(np.rint(weights.sum()))))
    at = np.linspace(0, weights.sum() - 1, n).round()
    return np.searchsorted(np.cumsum(weights), at, side="right")


def copies(X, y):
    """Group duplicated rows, which would predict each other in cross-validation.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    y : ndarray of shape (n,) or (n, q)

    Returns
    -------
    firsts : ndarray of shape (m,)
        Index of the first row of each group, increasing.
    sets : ndarray of shape (n,)
        Group of each row, numbered in this order.
    """
    codes = np.unique(y, axis=0, return_inverse=True)[1].reshape(len(X), 1)
    rows = np.hstack([codes, X]) + 0.0  # -0.0 becomes 0.0
    places = {}
    sets = np.array([places.setdefault(row.tobytes(), len(places)) for row in rows])
    return np.unique(sets, return_index=True)[1], sets
