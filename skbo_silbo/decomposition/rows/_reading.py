"""The arguments of a fit, checked: rows in memory, a chunk of them, or a Dask array."""

from numbers import Integral

import numpy as np
from sklearn.utils.validation import check_consistent_length, validate_data

from ._columns import check_extremes
from ._dask_arrays import FLOATS, check_in_memory
from ._labels import (
    check_response,
    check_unlabelled,
    part_weighted,
    split_labelled,
    warn_of_classes,
    warn_of_minus_ones,
    warn_of_strings,
)
from ._weights import check_sample_weight

STRINGS_IN_CHUNKS = (
    "where `classes` is None: got strings. Pass all categories that y can take as `classes`, at "
    "the first call of partial_fit."
)


def read_rows(estimator, X, y, X_unlabeled=None, sample_weight=None, *, takes=None):
    """Return the `LabelledData` of rows in memory.

    Parameters
    ----------
    estimator : BaseEstimator
        Whose `n_slices` and `categorical`, if any, are checked parameters. Its `_by_value` says
        whether more than the order of a numeric y counts.
    X, y, X_unlabeled, sample_weight
        As ``fit`` was given them.
    takes : collection of str, default=None
        As in `split_labelled`; None is the estimator's `_takes`.

    Raises
    ------
    ValueError
    """
    categorical = getattr(estimator, "categorical", "auto")
    settings = {"takes": takes or estimator._takes, "categorical": categorical}
    data = split_labelled(estimator, X, y, X_unlabeled, sample_weight, **settings)
    _warn_of_codes(estimator, data.y, categorical)
    check_extremes(data.X_labeled, names=vars(estimator).get("feature_names_in_"))
    if data.y.dtype.kind == "f" and (estimator._by_value or data.y.ndim > 1):
        check_extremes(data.y, "y")
    return data


def read_chunk(estimator, X, y, sample_weight, *, reset, categories):
    """Return rows X (n, d), n >= 1, labels (n,) of all, and weights as given, or None.

    Rows of weight 0 are left out.
    """
    check_in_memory("X", X)
    X = validate_data(estimator, X, reset=reset, dtype=FLOATS)
    takes = ("categorical",) if categories else ("numeric",)
    y, labelled = check_response(estimator, y, takes, strings=STRINGS_IN_CHUNKS)
    check_consistent_length(X, y)
    if not labelled.all():
        raise ValueError(
            f"y must label every row for partial_fit: got {(~labelled).sum()} NaN among {len(y)}. "
            "Drop those rows, or use fit."
        )
    check_extremes(X, names=vars(estimator).get("feature_names_in_"))
    weights = check_sample_weight(sample_weight, len(y))
    if weights is None or weights.all():
        return X, y, weights
    return X[weights > 0], y[weights > 0], weights[weights > 0]


def read_blocks(estimator, X, y, X_unlabeled, sample_weight):
    """Return labels (n_l,), which rows of X have one, and their weights, or None.

    X, a Dask array (n, d), is not read.

    Raises
    ------
    ValueError
        Also where there are unlabelled rows, and `alpha` is not 0.
    """
    if np.isnan(X.shape).any() or X.ndim != 2:
        raise ValueError(
            f"X must be a Dask array of two known dimensions: got shape {X.shape}. Call "
            "X.compute_chunk_sizes() first."
        )
    validate_data(estimator, np.zeros((1, X.shape[1])))
    if X_unlabeled is not None:
        check_unlabelled(estimator, X_unlabeled)
    y, labelled = check_response(estimator, y, estimator._takes, estimator.categorical)
    check_consistent_length(X, y)
    weights = check_sample_weight(sample_weight, len(y))
    labelled, unlabelled, weights = part_weighted(y, labelled, weights)
    if estimator.alpha != 0 and (X_unlabeled is not None or unlabelled.any()):
        raise ValueError(
            "alpha must be 0 for a Dask array with unlabelled rows: the graph needs all rows "
            f"in memory, got alpha={estimator.alpha!r}. Pass alpha=0, or a sample of the rows as a "
            "NumPy array."
        )
    _warn_of_codes(estimator, y[labelled], estimator.categorical)
    return y[labelled], labelled, weights


def _warn_of_codes(estimator, y, categorical):
    """Say so where integers look like classes, or like marks."""
    if categorical != "auto":
        return
    warn_of_minus_ones(y)
    if isinstance(n_slices := getattr(estimator, "n_slices", None), Integral):
        warn_of_classes(y, n_slices)
        warn_of_strings(y, n_slices)
