"""Centring on the labelled mean, standardisation, and signs of the components."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._typing import FloatArray
from ._labels import LabelledData

# degrees of freedom if one sample has all the weight, so that its standard error is huge
LEAST_FREEDOM = 1e-12


def center_on_labels(data: LabelledData) -> tuple[FloatArray, FloatArray]:
    """Subtract the (weighted) labelled mean; return all rows (n, d), labelled first, and the mean.

    Centring on the pooled mean would add a spurious direction if labelled and unlabelled means
    differ.
    """
    mean = data.labelled_mean()
    if len(data.X_unlabeled):
        X = np.concatenate([data.X_labeled, data.X_unlabeled], dtype=np.float64)
        X -= mean
    else:
        X = data.X_labeled - mean
    return X, mean


def mean_and_spread(values, weights):
    """Return (weighted) mean and standard deviation over the rows of values (n,) or (n, d)."""
    shares = np.full(len(values), 1 / len(values)) if weights is None else weights / weights.sum()
    mean = shares @ values
    return mean, np.sqrt(shares @ (values - mean) ** 2)


def with_positive_peaks(components):
    """Flip the signs of components (r, d) so that the largest entry of each row is positive."""
    largest = np.take_along_axis(
        components, np.abs(components).argmax(axis=1, keepdims=True), axis=1
    )
    return components * np.where(largest < 0, -1.0, 1.0)


def mean_and_error(values, weights=None):
    """Return the (weighted) mean of values (n, m) over the rows and its standard error, (m,) each.

    Weights are in units of samples.
    """
    n = len(values) if weights is None else weights.sum()
    mean = np.average(values, axis=0, weights=weights)
    variance = np.average((values - mean) ** 2, axis=0, weights=weights)
    return mean, np.sqrt(variance / max(n - 1, LEAST_FREEDOM))


@dataclass(frozen=True, eq=False)
class Frame:
    """Location and scale of the (weighted) labelled samples, without constant columns."""

    mean: np.ndarray  # (d,)
    scale: np.ndarray  # (d,)
    y_mean: Any  # a float, or (q,) for several responses
    y_scale: Any

    @classmethod
    def from_labelled(cls, X, y, weights=None):
        """Compute location and scale of labelled samples."""
        return cls(*mean_and_spread(X, weights), *mean_and_spread(y, weights))

    def standardise(self, X):
        """Return X with columns of mean 0 and standard deviation 1."""
        return (X - self.mean) / self.scale

    def rows_in_features(self, directions):
        """Convert directions of standardised features to orthonormal rows in the original units.

        The first j rows span the first j directions.
        """
        rows = directions / self.scale
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        return with_positive_peaks(np.linalg.qr(rows.T)[0].T)
