"""Rows about their labelled mean, and rows that have too little to show."""

import numpy as np

from ..._typing import FloatArray
from ._labels import LabelledData

# share of its magnitude by which a column that is constant may vary
ROUNDING = 10 * np.finfo(np.float64).eps


def center_on_labels(data: LabelledData) -> tuple[FloatArray, FloatArray]:
    """Rows about the (weighted) labelled mean, labelled first: X (n, d), and the mean (d,).

    Centring the pooled rows would add a spurious direction wherever the two means differ.
    """
    mean = data.labelled_mean()
    if len(data.X_unlabeled):
        X = np.concatenate([data.X_labeled, data.X_unlabeled], dtype=np.float64)
        X -= mean
    else:
        X = data.X_labeled - mean
    X[:, _constant_columns(X, mean)] = 0.0
    return X, mean


def _constant_columns(X, mean):
    """Find the constant columns of centred X; few are left to sum once the first row is seen."""
    suspects = np.flatnonzero(is_constant(X[0] ** 2 / len(X), mean))
    rows = X[:, suspects]
    variance = np.einsum("ij,ij->j", rows, rows) / len(X)
    return suspects[is_constant(variance, mean[suspects])]


def is_constant(variance, mean):
    """Tell which columns vary by no more than the rounding of their mean."""
    return np.sqrt(variance) <= ROUNDING * np.abs(mean)


def mean_and_spread(values, weights):
    """(Weighted) mean and standard deviation over the rows of values (n,) or (n, d)."""
    mean = np.average(values, axis=0, weights=weights)
    return mean, np.sqrt(np.average((values - mean) ** 2, axis=0, weights=weights))


def check_a_column_varies(X):
    """Refuse labelled rows, (n, d), that are all the same.

    Raises
    ------
    ValueError
    """
    rounding = ROUNDING * np.abs(X[0])
    if (np.abs(X[0] - X[-1]) <= rounding).all() and (np.ptp(X, axis=0) <= rounding).all():
        raise ValueError(
            f"X must have a column that varies over the labelled rows: all {X.shape[1]} are "
            "constant. Label rows that differ."
        )


def check_enough_rows(name, n, d):
    """Refuse data whose whitened rows carry no second moments."""
    if n - 1 <= d:
        raise ValueError(
            f"X must have more labelled rows than features + 1 for {name}: got {n} labelled rows "
            f"and {d} features. Reduce the features first, or use SemiSlicedInverseRegression."
        )


def with_positive_peaks(components):
    """Return components (r, d) with the largest entry of each row made positive."""
    largest = np.take_along_axis(
        components, np.abs(components).argmax(axis=1, keepdims=True), axis=1
    )
    return components * np.where(largest < 0, -1.0, 1.0)
