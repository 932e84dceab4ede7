"""Rows about their labelled mean, and the signs of directions."""

import numpy as np

from ..._typing import FloatArray
from ._labels import LabelledData


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
    return X, mean


def mean_and_spread(values, weights):
    """(Weighted) mean and standard deviation over the rows of values (n,) or (n, d)."""
    shares = np.full(len(values), 1 / len(values)) if weights is None else weights / weights.sum()
    mean = shares @ values
    return mean, np.sqrt(shares @ (values - mean) ** 2)


def with_positive_peaks(components):
    """Return components (r, d) with the largest entry of each row made positive."""
    largest = np.take_along_axis(
        components, np.abs(components).argmax(axis=1, keepdims=True), axis=1
    )
    return components * np.where(largest < 0, -1.0, 1.0)
