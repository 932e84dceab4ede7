"""Numbers whose squares are no numbers any more."""

import numpy as np

LARGEST = 1e140
SMALLEST = 1e-140
"""Magnitudes and spreads beyond these are refused: squares, and sums of them, leave the range."""


def check_extremes(X, y=None):
    """Refuse columns of X (n, d), or of a numeric y, that are too large or vary too little.

    Raises
    ------
    ValueError
    """
    if len(X) and max(float(X.max()), -float(X.min())) > LARGEST:
        _refuse("X", int(np.argmax(np.abs(X).max(axis=0))), f"above {LARGEST:g} in magnitude")
    _check_spread("X", X)
    if y is not None and y.dtype.kind == "f":
        y = y.reshape(len(y), -1)
        if np.abs(y).max() > LARGEST:
            _refuse("y", int(np.argmax(np.abs(y).max(axis=0))), f"above {LARGEST:g} in magnitude")
        _check_spread("y", y)


def _check_spread(name, rows):
    """Only columns whose first and last rows are close are looked at whole."""
    close = np.flatnonzero(np.abs(rows[0] - rows[-1], dtype=np.float64) < SMALLEST)
    spread = np.ptp(rows[:, close], axis=0).astype(np.float64)
    if ((spread > 0) & (spread < SMALLEST)).any():
        tiny = close[np.argmax((spread > 0) & (spread < SMALLEST))]
        _refuse(name, int(tiny), f"spread over less than {SMALLEST:g}")


def _refuse(name, column, why):
    where = f"column {column} of {name}" if name == "X" else name
    raise ValueError(
        f"{name} must hold numbers whose squares are neither infinite nor 0: {where} is {why}. "
        "Change its unit, or scale it, for instance by sklearn.preprocessing.StandardScaler."
    )
