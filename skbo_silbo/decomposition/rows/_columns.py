"""Columns that can be computed with: none too large, none constant, about the means of groups.

The mean of n equal numbers is not always that number: the column about it is rounding, which slices
of y explain perfectly. So columns far from 0 are taken from the first row before anything is
summed: what is constant is then exactly 0, and no digits are lost to a place far away.
"""

from dataclasses import dataclass, replace

import numpy as np

from ..._checks import warn_user
from ..._typing import BoolArray, FloatArray
from ._centering import mean_and_spread
from ._labels import as_label_array, is_known
from ._weights import are_counts

# magnitudes and spreads beyond these are refused: squares, and sums of them, leave the range
LARGEST = 1e140
SMALLEST = 1e-140
ROUNDING = 2 * np.finfo(np.float64).eps  # share of its magnitude by which a constant may vary
FAR = 100  # spreads of a sample by which the first row of a column is away from 0, to be moved
SAMPLE = 50  # rows, evenly spaced


def check_extremes(rows, what="X", names=None):
    """Refuse columns of X (n, d), or a numeric y, that are too large or vary too little.

    `names` are those of the columns, where they have any.

    Raises
    ------
    ValueError
    """
    high, low = (end(axis=0).astype(np.float64) for end in (rows.max, rows.min))
    spread = high - low
    refused = (np.maximum(high, -low) > LARGEST) | ((spread > 0) & (spread < SMALLEST))
    if refused.any():
        where = column_of_x(int(refused.argmax()), names) if what == "X" else what
        raise ValueError(
            f"{what} must hold numbers whose squares are neither infinite nor 0: {where} is above "
            f"{LARGEST:g} in magnitude, or spreads over less than {SMALLEST:g}. Change its unit, "
            "or scale it, as sklearn.preprocessing.StandardScaler does."
        )


def column_of_x(place, names):
    """Name a column in a message."""
    return f"column {place if names is None else repr(str(names[place]))} of X"


def is_constant(spread, magnitude):
    """Tell which columns have a standard deviation that is no more than rounding."""
    return spread <= ROUNDING * np.abs(magnitude)


def are_far(X):
    """Tell which columns of X (n, d) are far from 0 for their spread, constant ones among them."""
    sample = X[np.linspace(0, len(X) - 1, min(len(X), SAMPLE)).astype(np.intp)]
    return FAR * np.ptp(sample, axis=0) <= np.abs(X[0])


@dataclass(frozen=True, eq=False)
class Columns:
    """Which features vary, and what was taken off them.

    Attributes
    ----------
    varying : ndarray of shape (d,) of bool
    offset : ndarray of shape (d,)
        The value of columns that are constant.
    """

    varying: BoolArray
    offset: FloatArray

    @classmethod
    def of(cls, X, weights=None):
        """Columns of rows X (n, d)."""
        far = np.flatnonzero(are_far(X))
        varying, offset = np.ones(X.shape[1], dtype=bool), np.zeros(X.shape[1], dtype=X.dtype)
        offset[far] = X[0, far]
        spread = mean_and_spread(X[:, far].astype(np.float64) - offset[far], weights)[1]
        varying[far] = ~is_constant(spread, offset[far])
        return cls(varying, offset)

    @property
    def n_varying(self):
        """Number of features that vary."""
        return int(np.count_nonzero(self.varying))

    def part(self, rows):
        """Rows (n, n_varying) of rows (n, d): the columns that vary, less their offset."""
        if self.varying.all() and not self.offset.any():
            return rows
        return rows[:, self.varying] - self.offset[self.varying]

    def spread(self, values, fill=0.0):
        """Values (..., n_varying) as ones of all features (..., d)."""
        all_values = np.full((*values.shape[:-1], len(self.varying)), fill, dtype=values.dtype)
        all_values[..., self.varying] = values
        return all_values

    def place(self, mean):
        """Place (d,) among the features of a point (n_varying,) less their offset."""
        return self.offset + self.spread(mean)


def check_a_column_varies(columns, within=""):
    """Refuse labelled rows that are all the same."""
    if not columns.n_varying:
        raise ValueError(
            f"X must have a column that varies over the labelled rows: all {len(columns.varying)} "
            f"are constant{within}. Label rows that differ."
        )


def varying_part(data, names=None):
    """Return a `LabelledData` without the features that are constant over its labelled rows.

    Those far from 0 are less their offset. `names` are those of the features, where they have any.

    Warns
    -----
    UserWarning
        Of a feature that varies, by no more than rounding.

    Raises
    ------
    ValueError
        Where all are constant.
    """
    X = data.X_labeled
    columns = Columns.of(X, data.weights)
    check_a_column_varies(columns, "" if data.groups is None else " within every category of group")
    constant = np.flatnonzero(~columns.varying)
    lost = constant[(X[:, constant] != X[0, constant]).any(axis=0)]
    if len(lost):
        warn_user(
            f"{column_of_x(int(lost[0]), names)} varies by no more than the rounding of its mean, "
            "and was taken for constant. If it is not, subtract the mean before."
        )
    rows = {"X_labeled": columns.part(X), "X_unlabeled": columns.part(data.X_unlabeled)}
    return replace(data, **rows, columns=columns)


def check_group(group, n):
    """Return categories (n,) as strings, one for every row.

    Raises
    ------
    ValueError
    """
    values = as_label_array(group)
    if values.shape != (n,):
        raise ValueError(
            f"group must hold a category for each of the {n} rows: got shape {values.shape}. Pass "
            "a column, labelled or not."
        )
    missing = ~is_known(values)
    if missing.any():
        raise ValueError(
            f"group must hold the category of every row: row {missing.argmax()} has none. Drop "
            "such rows, or give them a category of their own."
        )
    return values.astype(str)


def about_group_means(data, group):
    """Return a `LabelledData` whose labelled rows lost the means of their groups, numbered from 0.

    The (weighted) mean of all labelled rows stays. Where `group` is None the data are as they were.
    """
    if group is None:
        return data
    group = check_group(group, len(data.is_labeled))
    if data.weights is not None and not are_counts(data.weights):
        data = data.without_weights(
            "or counts of an integer type, with group. Leave the weights, or the group, out."
        )
    groups = np.unique(group[data.is_labeled], return_inverse=True)[1]
    X = data.labelled_mean() + less_group_means(data.X_labeled, groups, data.weights)
    return replace(data, X_labeled=X, groups=groups)


def less_group_means(values, groups, weights=None):
    """Values (n, p) less the (weighted) means of their groups (n,): 0 where a group is constant."""
    values = values - values[np.unique(groups, return_index=True)[1]][groups]
    sums = np.zeros((groups.max() + 1, values.shape[1]))
    np.add.at(sums, groups, values if weights is None else weights[:, None] * values)
    return values - (sums / np.bincount(groups, weights)[:, None])[groups]
