"""The one rule for a column that is constant, and rows without such columns.

The mean of n equal numbers is not always that number: the column about it is rounding, which slices
of y explain perfectly. So columns far from 0 are taken from the first row before anything is
summed: what is constant is then exactly 0, and no digits are lost to a place far away.
"""

from dataclasses import dataclass, replace

import numpy as np

from ..._checks import warn_user
from ..._typing import BoolArray, FloatArray
from ._centering import mean_and_spread
from ._extremes import column_of_x

ROUNDING = 2 * np.finfo(np.float64).eps  # share of its magnitude by which a constant may vary
FAR = 100  # spreads of a sample by which the first row of a column is away from 0, to be moved
SAMPLE = 50  # rows, evenly spaced


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

    def which_vary(self, names=None):
        """Words for the features that vary, with the first that does not."""
        if self.varying.all():
            return "features that vary"
        first = column_of_x(int(np.argmin(self.varying)), names)
        return f"features that vary ({first} is constant)"

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
