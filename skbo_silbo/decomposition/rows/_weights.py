"""Sample weights, as numbers of rows.

Integers are counts: a row of weight 3 is three rows, in tests and choices too. Floats, whole or
not, are relative: they are scaled to sum to the effective number of rows ``(sum w)^2 / sum w^2``
(Kish, "Survey Sampling", 1965), which is n where all are the same. The type decides, not the
values, so that every part of an array means what the array does. Rows of weight 0 are left out.
"""

from numbers import Integral, Real

import numpy as np
from sklearn.utils import check_array


def check_sample_weight(sample_weight, n):
    """Return weights (n,) of at least 0, of which some are positive; None stays None.

    They are int64 where they are counts, float64 where they are relative.
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
            f"sample_weight must have shape ({n},), a weight for every row of X: got "
            f"{weights.shape or given!r}. Pass one column of {n} numbers."
        )
    if weights.min() < 0:
        raise ValueError(
            f"sample_weight must be at least 0: got {weights.min()!s}. Drop such rows, or give "
            "them weight 0."
        )
    if not weights.any():
        raise ValueError(
            f"sample_weight must be positive for some row: all {n} weights are zero. Pass None to "
            "weigh all rows alike."
        )
    return weights


def _holds_integers(values):
    """Tell whether an array-like is of integers or booleans, pandas' own kinds included."""
    values = np.asarray(values)
    if values.dtype.kind == "O":
        return all(isinstance(value, Integral | np.bool_) for value in values.ravel())
    return values.dtype.kind in "biu"


def as_numbers_of_rows(weights):
    """Positive weights (n,): counts as they are, others scaled to Kish's sum; 1 if all the same."""
    if are_counts(weights):
        return weights
    if (weights == weights[:1]).all():
        return np.ones(len(weights), dtype=np.int64)
    weights = weights / weights.max()  # no square overflows
    return weights * (weights.sum() / (weights @ weights))


def are_counts(weights):
    """Tell weights that say how often a row was seen from those that only compare rows."""
    return weights.dtype.kind == "i"


def rows_by_weight(weights, n_rows):
    """Places of about as many rows as the weights sum to, `n_rows` at most, evenly by weight.

    Counts that sum to no more than `n_rows` give every row as often as it counts.
    """
    n = min(n_rows, max(2, int(np.rint(weights.sum()))))
    at = np.linspace(0, weights.sum() - 1, n).round()
    return np.searchsorted(np.cumsum(weights), at, side="right")


def copies(X, y):
    """Tell which rows are copies of each other: held out together, they cannot predict each other.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    y : ndarray of shape (n,) or (n, q)

    Returns
    -------
    firsts : ndarray of shape (m,)
        Place of the first of every set of equal rows, rising.
    sets : ndarray of shape (n,)
        Set of every row, from 0 in that order.
    """
    codes = np.unique(y, axis=0, return_inverse=True)[1].reshape(len(X), 1)
    rows = np.hstack([codes, X]) + 0.0  # -0.0 becomes 0.0
    places = {}
    sets = np.array([places.setdefault(row.tobytes(), len(places)) for row in rows])
    return np.unique(sets, return_index=True)[1], sets
