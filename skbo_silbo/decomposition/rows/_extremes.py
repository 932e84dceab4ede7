"""Numbers whose squares are no numbers any more."""

import numpy as np

# magnitudes and spreads beyond these are refused: squares, and sums of them, leave the range
LARGEST = 1e140
SMALLEST = 1e-140


def check_extremes(X, y=None, names=None):
    """Refuse columns of X (n, d), or of a numeric y, that are too large or vary too little.

    `names` are those of the columns, where they have any.

    Raises
    ------
    ValueError
    """
    _check_columns(X, lambda place: column_of_x(place, names))
    if y is not None and y.dtype.kind == "f":
        _check_columns(y.reshape(len(y), -1), lambda place: "y")


def _check_columns(rows, named):
    """For their spread only those whose first and last rows are close are looked at whole."""
    if max(float(rows.max()), -float(rows.min())) > LARGEST:
        _refuse(named(int(np.argmax(np.abs(rows).max(axis=0)))), f"above {LARGEST:g} in magnitude")
    close = np.flatnonzero(np.abs(rows[0] - rows[-1], dtype=np.float64) < SMALLEST)
    spread = np.ptp(rows[:, close], axis=0).astype(np.float64)
    if ((spread > 0) & (spread < SMALLEST)).any():
        tiny = close[np.argmax((spread > 0) & (spread < SMALLEST))]
        _refuse(named(int(tiny)), f"spread over less than {SMALLEST:g}")


def column_of_x(place, names):
    """Name a column in a message."""
    return f"column {place if names is None else repr(str(names[place]))} of X"


def _refuse(where, why):
    raise ValueError(
        f"{where[-1]} must hold numbers whose squares are neither infinite nor 0: {where} is "
        f"{why}. Change its unit, or scale it, as sklearn.preprocessing.StandardScaler does."
    )
