"""Checks, centring and scaling of columns, so that numerical methods can use them.

Because of rounding, the mean of n equal numbers can differ from the number itself, and slices of y
explain this difference perfectly. Columns far from 0 are therefore shifted by their first value
before any sum: constant columns become exactly 0, and no digits are lost to a large offset.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from skbo_silbo._checks import warn_user
from skbo_silbo._typing import BoolArray, FloatArray
from skbo_silbo.decomposition.rows._response import as_label_array, is_present

# Limits of magnitudes and spreads. Beyond them, squares or their sums overflow or underflow.
LARGEST = 1e140
SMALLEST = 1e-140
ROUNDING = 2 * np.finfo(np.float64).eps  # relative spread of a constant column
FAR = 100  # columns are shifted if their first value exceeds this multiple of their range
SAMPLE = 50  # evenly spaced rows from which the ranges are computed
# Degrees of freedom if one sample has all the weight. They make the standard error huge.
LEAST_FREEDOM = 1e-12


def check_extremes(rows, what="X", names=None):
    """Raise a ValueError if values of X or y are too large or vary too little.

    `names` are the feature names, or None.
    """
    high, low = rows.max(axis=0).astype(np.float64), rows.min(axis=0).astype(np.float64)
    spread = high - low
    is_extreme = (np.maximum(high, -low) > LARGEST) | ((spread > 0) & (spread < SMALLEST))
    if is_extreme.any():
        where = format_column(int(is_extreme.argmax()), names) if what == "X" else what
        raise ValueError(
            f"{what} must not hold values too extreme to be squared: {where} exceeds {LARGEST:g} "
            f"in magnitude, or has a range below {SMALLEST:g}. Change its unit, or scale it with "
            "sklearn.preprocessing.StandardScaler."
        )


def format_column(place, names):
    """Return the name of a feature for use in a message."""
    return f"column {place if names is None else repr(str(names[place]))} of X"


def is_constant(spread, magnitude):
    """Return a mask of the columns that are constant up to rounding errors."""
    return spread <= ROUNDING * np.abs(magnitude)


def are_far_from_zero(X):
    """Return a mask of the columns that are constant or far from 0 relative to their range."""
    sample = X[np.linspace(0, len(X) - 1, min(len(X), SAMPLE)).astype(np.intp)]
    return FAR * np.ptp(sample, axis=0) <= np.abs(X[0])


@dataclass(frozen=True, eq=False)
class Columns:
    """Non-constant features, and the offset subtracted from each of them.

    Attributes
    ----------
    varying : ndarray of shape (d,) of bool
        Mask of the features that are not constant.
    offset : ndarray of shape (d,)
        Value subtracted from each column. For a constant column, this is its value.
    """

    varying: BoolArray
    offset: FloatArray

    @classmethod
    def from_rows(cls, X, weights=None):
        """Determine which columns of X are not constant."""
        far = np.flatnonzero(are_far_from_zero(X))
        varying, offset = np.ones(X.shape[1], dtype=bool), np.zeros(X.shape[1], dtype=X.dtype)
        offset[far] = X[0, far]
        spread = mean_and_spread(X[:, far].astype(np.float64) - offset[far], weights)[1]
        varying[far] = ~is_constant(spread, offset[far])
        return cls(varying, offset)

    def select(self, rows):
        """Return the non-constant columns of X minus their offsets."""
        if self.varying.all() and not self.offset.any():
            return rows
        return rows[:, self.varying] - self.offset[self.varying]

    def expand(self, values, fill=0.0):
        """Expand an array to all features, with `fill` in place of constant features."""
        all_values = np.full((*values.shape[:-1], len(self.varying)), fill, dtype=values.dtype)
        all_values[..., self.varying] = values
        return all_values

    def expand_point(self, point):
        """Insert the constant features into a point, and add the offsets."""
        return self.offset + self.expand(point)


def check_some_column_varies(columns, within=""):
    """Raise a ValueError if all columns are constant."""
    if not columns.varying.any():
        raise ValueError(
            f"X must have a column that varies over the labelled samples, but all "
            f"{len(columns.varying)} are constant{within}. Label samples that differ."
        )


def drop_constant_columns(data, names=None):
    """Remove the features that are constant over the labelled samples.

    Columns far from 0 are shifted. `names` are the feature names, or None.

    Warns
    -----
    UserWarning
        If a feature varies only within rounding error.

    Raises
    ------
    ValueError
        If all features are constant.
    """
    X = data.X_labeled
    columns = Columns.from_rows(X, data.weights)
    check_some_column_varies(
        columns, "" if data.groups is None else " within every category of group"
    )
    constant = np.flatnonzero(~columns.varying)
    lost = constant[(X[:, constant] != X[0, constant]).any(axis=0)]
    if len(lost):
        warn_user(
            f"{format_column(int(lost[0]), names)} varies only within the rounding error of its "
            "mean and is treated as constant. If it is not, subtract its mean first."
        )
    rows = {"X_labeled": columns.select(X), "X_unlabeled": columns.select(data.X_unlabeled)}
    return replace(data, **rows, columns=columns)


def check_group(group, n):
    """Validate `group` and return the group of each sample as a string.

    Raises
    ------
    ValueError
    """
    values = as_label_array(group)
    if values.shape != (n,):
        raise ValueError(
            f"group must have shape ({n},), got {values.shape}. Pass a category for every sample, "
            "labelled or not."
        )
    missing = ~is_present(values)
    if missing.any():
        raise ValueError(
            f"group must not contain missing values, but row {missing.argmax()} is missing. Drop "
            "such samples, or give them a category of their own."
        )
    return values.astype(str)


def center_within_groups(data, group):
    """Shift the labelled samples so that all groups have the same mean.

    The mean of all labelled samples is unchanged. Groups are numbered from 0. If `group`
    is None, the data are returned unchanged.
    """
    if group is None:
        return data
    group = check_group(group, len(data.is_labeled))
    data = data.without_weights("with group. Omit the weights, or repeat the samples by np.repeat.")
    groups = np.unique(group[data.is_labeled], return_inverse=True)[1]
    X = data.labelled_mean() + subtract_group_means(data.X_labeled, groups)
    return replace(data, X_labeled=X, groups=groups)


def subtract_group_means(values, groups):
    """Subtract the mean of its group from each row of `values`.

    The result is exactly 0 if a group is constant.
    """
    values = values - values[np.unique(groups, return_index=True)[1]][groups]
    sums = np.zeros((groups.max() + 1, values.shape[1]))
    np.add.at(sums, groups, values)
    return values - (sums / np.bincount(groups)[:, None])[groups]


def column_scales(X, slices):
    """Return the standard deviation of each column of centred samples.

    The labelled samples come first, multiplied by the square roots of their weights. The deviation
    is computed over them. For a column that is constant over the labelled samples, it is computed
    over all samples. For a column that is constant everywhere, 1 is returned.
    """
    labelled = X[: len(slices.codes)]
    variance = np.einsum("ij,ij->j", labelled, labelled) / slices.n_rows
    flat = variance == 0
    variance[flat] = np.var(X[:, flat], axis=0)
    return np.sqrt(np.where(variance > 0, variance, 1.0))


def mean_and_spread(values, weights):
    """Return the weighted mean and standard deviation of each column."""
    shares = np.full(len(values), 1 / len(values)) if weights is None else weights / weights.sum()
    mean = shares @ values
    return mean, np.sqrt(shares @ (values - mean) ** 2)


def with_positive_peaks(components):
    """Flip the sign of each row whose entry of largest magnitude is negative."""
    largest = np.take_along_axis(
        components, np.abs(components).argmax(axis=1, keepdims=True), axis=1
    )
    return components * np.where(largest < 0, -1.0, 1.0)


def mean_and_error(values, weights=None):
    """Return the weighted mean of each column and its standard error.

    Weights are in units of samples.
    """
    n = len(values) if weights is None else weights.sum()
    mean = np.average(values, axis=0, weights=weights)
    variance = np.average((values - mean) ** 2, axis=0, weights=weights)
    return mean, np.sqrt(variance / max(n - 1, LEAST_FREEDOM))


@dataclass(frozen=True, eq=False)
class Frame:
    """Mean and scale of the labelled samples, for standardising features."""

    mean: np.ndarray  # (d,)
    scale: np.ndarray  # (d,)
    y_mean: Any  # a float, or (q,) for several responses
    y_scale: Any

    @classmethod
    def from_labelled(cls, X, y, weights=None):
        """Compute the mean and scale of the labelled samples."""
        return cls(*mean_and_spread(X, weights), *mean_and_spread(y, weights))

    def standardise(self, X):
        """Standardise the columns of X to mean 0 and standard deviation 1."""
        return (X - self.mean) / self.scale

    def rows_in_features(self, directions):
        """Convert directions of standardised features to orthonormal directions of features.

        The first j rows span the first j directions.
        """
        rows = directions / self.scale
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        return with_positive_peaks(np.linalg.qr(rows.T)[0].T)
