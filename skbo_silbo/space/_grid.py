"""The grid on which every continuous coordinate lives.

A share u in [0, 1] is kept as a multiple of 2^-30. That makes decoding and encoding exact inverses
on canonical points: a round trip through a value v = F^-1(u) returns u with a floating-point error
far below half a step, and the snap removes it.
"""

import numpy as np

from skbo_silbo._typing import ArrayLike, FloatArray

STEP = 2.0**-30


def snap(u):
    """Round shares in [0, 1] to the grid, halves upwards."""
    return np.floor(u / STEP + 0.5) * STEP


def to_share(x):
    """Map cube coordinates [-1, 1] to shares [0, 1]."""
    return (x + 1.0) / 2.0


def to_cube(u):
    """Map shares [0, 1] to cube coordinates [-1, 1]."""
    return 2.0 * u - 1.0


def check_cube(X: ArrayLike, n_features: int) -> FloatArray:
    """Return X as a float64 array (n, n_features) after refusing anything outside [-1, 1].

    Raises
    ------
    ValueError
        If X has another shape, or holds NaN or a number outside [-1, 1].
    """
    X = np.asarray(X, dtype=np.float64)
    if X.ndim != 2 or X.shape[1] != n_features:
        raise ValueError(
            f"X must have shape (n, {n_features}), one column per encoded coordinate: "
            f"got {X.shape}. Use encode() to make it."
        )
    if not np.all(np.abs(X) <= 1.0):
        raise ValueError(
            "X must lie in the cube [-1, 1]: got values from "
            f"{X.min()} to {X.max()}. Clip it first, or use encode() to make it."
        )
    return X
