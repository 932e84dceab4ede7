"""A censored response: an event, or not, and the time of it, or of the end of observation."""

import numpy as np

CENSORED = np.dtype([("event", bool), ("time", float)])


def is_censored(y):
    """Tell a structured array."""
    return getattr(getattr(y, "dtype", None), "names", None) is not None


def as_censored(y):
    """Return y (n,) of the type `CENSORED`, and which rows have a time.

    Raises
    ------
    ValueError
    """
    y = np.asarray(y)
    names = {y.dtype[name].kind: name for name in y.dtype.names}
    number = next((names[kind] for kind in "fiu" if kind in names), None)
    if y.ndim != 1 or len(y.dtype.names) != 2 or "b" not in names or number is None:
        raise ValueError(
            "y given as a structured array must hold, for each row, whether there was an event, a "
            f"boolean, and the time, a number, as scikit-survival has it: got {y.dtype} of shape "
            f"{y.shape}. Several responses are columns of an ordinary array."
        )
    rows = np.empty(len(y), dtype=CENSORED)
    rows["event"], rows["time"] = y[names["b"]], y[number]
    if np.isinf(rows["time"]).any():
        raise ValueError("y must hold finite times: got an infinite one. NaN marks no label.")
    return rows, ~np.isnan(rows["time"])
