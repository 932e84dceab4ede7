"""Validation of the arguments of ``fit`` and ``partial_fit``."""

from numbers import Integral

import numpy as np
from sklearn.utils.validation import check_consistent_length, validate_data

from ._columns import check_extremes
from ._dask_arrays import FLOATS, check_in_memory
from ._labels import (
    check_response,
    check_unlabelled,
    split_by_label,
    split_labelled,
    warn_if_class_labels,
    warn_if_minus_ones,
    warn_if_numeric_strings,
)
from ._weights import check_sample_weight

STRINGS_IN_CHUNKS = (
    "if `classes` is None, got strings. Pass all categories that y can take as `classes` on the "
    "first call to partial_fit."
)


def read_rows(estimator, X, y, X_unlabeled=None, sample_weight=None, *, takes=None):
    """Validate the arguments of ``fit`` and return them as `LabelledData`.

    Parameters
    ----------
    estimator : BaseEstimator
        Its attribute `_takes` lists the supported types of y, and `_by_value` tells whether the
        values of a numeric y matter, not only their order. Its parameters `n_slices` and
        `categorical` must be valid.
    X, y, X_unlabeled, sample_weight
        Arguments of ``fit``.
    takes : collection of str, default=None
        Supported types of y, as in `split_labelled`. None is ``estimator._takes``.

    Raises
    ------
    ValueError
    """
    categorical = getattr(estimator, "categorical", "auto")
    settings = {"takes": takes or estimator._takes, "categorical": categorical}
    data = split_labelled(estimator, X, y, X_unlabeled, sample_weight, **settings)
    _warn_if_codes(estimator, data.y, categorical)
    check_extremes(data.X_labeled, names=vars(estimator).get("feature_names_in_"))
    if data.y.dtype.kind == "f" and (estimator._by_value or data.y.ndim > 1):
        check_extremes(data.y, "y")
    return data


def read_chunk(estimator, X, y, sample_weight, *, reset, categories):
    """Validate the arguments of ``partial_fit``.

    Returns rows X (n, d) with n >= 1, labels (n,), and weights as given or None. Rows of weight 0
    are dropped.
    """
    check_in_memory("X", X)
    X = validate_data(estimator, X, reset=reset, dtype=FLOATS)
    takes = ("categorical",) if categories else ("numeric",)
    y, labelled = check_response(estimator, y, takes, strings=STRINGS_IN_CHUNKS)
    check_consistent_length(X, y)
    if not labelled.all():
        raise ValueError(
            f"y must label every sample in partial_fit, got {(~labelled).sum()} NaN in {len(y)} "
            "values. Drop the unlabelled samples, or use fit."
        )
    check_extremes(X, names=vars(estimator).get("feature_names_in_"))
    weights = check_sample_weight(sample_weight, len(y))
    if weights is None or weights.all():
        return X, y, weights
    return X[weights > 0], y[weights > 0], weights[weights > 0]


def read_blocks(estimator, X, y, X_unlabeled, sample_weight):
    """Validate the arguments of ``fit`` for a Dask array X, which is not loaded.

    Returns labels (n_l,), a mask of the labelled rows of X, and the weights of these or None.

    Raises
    ------
    ValueError
        If an argument is invalid, or there are unlabelled samples and `alpha` is not 0.
    """
    if np.isnan(X.shape).any() or X.ndim != 2:
        raise ValueError(
            f"X must be a 2d Dask array with known chunk sizes, got shape {X.shape}. Call "
            "X.compute_chunk_sizes() first."
        )
    validate_data(estimator, np.zeros((1, X.shape[1])))
    if X_unlabeled is not None:
        check_unlabelled(estimator, X_unlabeled)
    y, labelled = check_response(estimator, y, estimator._takes, estimator.categorical)
    check_consistent_length(X, y)
    weights = check_sample_weight(sample_weight, len(y))
    labelled, unlabelled, weights = split_by_label(y, labelled, weights)
    if estimator.alpha != 0 and (X_unlabeled is not None or unlabelled.any()):
        raise ValueError(
            "alpha must be 0 for a Dask array with unlabelled samples, since the graph needs all "
            f"samples in memory, got alpha={estimator.alpha!r}. Use alpha=0, or pass a subsample "
            "as a NumPy array."
        )
    _warn_if_codes(estimator, y[labelled], estimator.categorical)
    return y[labelled], labelled, weights


def _warn_if_codes(estimator, y, categorical):
    """Warn if integers look like class labels, or like the -1 of unlabelled samples."""
    if categorical != "auto":
        return
    warn_if_minus_ones(y)
    if isinstance(n_slices := getattr(estimator, "n_slices", None), Integral):
        warn_if_class_labels(y, n_slices)
        warn_if_numeric_strings(y, n_slices)
