"""Numbers whose squares are no numbers any more."""

import numpy as np

from ..._checks import warn_user
from ._centering import is_constant

LARGEST = 1e140
SMALLEST = 1e-140
"""Magnitudes and spreads beyond these are refused: squares, and sums of them, leave the range."""
REACH = 100
"""Roundings of its first row within which the last row of a nearly constant column lies."""
TOO_LARGE = f"above {LARGEST:g} in magnitude"


def check_extremes(X, y=None, names=None):
    """Refuse columns of X (n, d), or of a numeric y, that are too large or vary too little.

    `names` are those of the columns, where they have any. Warn of columns that vary by no more than
    the rounding of their mean, which are taken for constant.

    Raises
    ------
    ValueError
    """
    if len(X) and max(float(X.max()), -float(X.min())) > LARGEST:
        _refuse(_column(int(np.argmax(np.abs(X).max(axis=0))), names), TOO_LARGE)
    _check_spread(X, lambda place: _column(place, names))
    if y is not None and y.dtype.kind == "f":
        y = y.reshape(len(y), -1)
        if np.abs(y).max() > LARGEST:
            _refuse("y", TOO_LARGE)
        _check_spread(y, lambda place: "y")
    _warn_of_offsets(X, names)


def _check_spread(rows, named):
    """Only columns whose first and last rows are close are looked at whole."""
    close = np.flatnonzero(np.abs(rows[0] - rows[-1], dtype=np.float64) < SMALLEST)
    spread = np.ptp(rows[:, close], axis=0).astype(np.float64)
    if ((spread > 0) & (spread < SMALLEST)).any():
        tiny = close[np.argmax((spread > 0) & (spread < SMALLEST))]
        _refuse(named(int(tiny)), f"spread over less than {SMALLEST:g}")


def _warn_of_offsets(X, names):
    """As `_check_spread`, only columns whose first and last rows are close are looked at whole."""
    rounding = np.finfo(X.dtype).eps * np.abs(X[0])
    close = np.flatnonzero(np.abs(X[0] - X[-1], dtype=np.float64) <= REACH * rounding)
    rows = X[:, close].astype(np.float64)
    lost = (np.ptp(rows, axis=0) > 0) & is_constant(rows.var(axis=0), rows.mean(axis=0))
    if lost.any():
        warn_user(
            f"{_column(int(close[np.argmax(lost)]), names)} varies by no more than the rounding of "
            "its mean, and was taken for constant. If it is not, subtract the mean before."
        )


def _column(place, names):
    return f"column {place if names is None else repr(str(names[place]))} of X"


def _refuse(where, why):
    raise ValueError(
        f"{where[-1]} must hold numbers whose squares are neither infinite nor 0: {where} is "
        f"{why}. Change its unit, or scale it, as sklearn.preprocessing.StandardScaler does."
    )
