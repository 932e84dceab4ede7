"""Gradients of predictions that can only be evaluated."""

from collections.abc import Callable

import numpy as np

from skbo_silbo._typing import FloatArray

STEP = 1e-4  # of coordinates in a range like [-1, 1]; error ~ STEP^2 and rounding / STEP


def central_differences(
    predict: Callable[[FloatArray], tuple[FloatArray, FloatArray]], Z: FloatArray
) -> tuple[FloatArray, ...]:
    """Return mean, standard deviation and their gradients, by central differences.

    Parameters
    ----------
    predict : callable
        From (k, r) to mean and standard deviation, (k,) each. It is called once for every row.
    Z : ndarray of shape (m, r)

    Returns
    -------
    mean, std : ndarray of shape (m,)
    by_mean, by_std : ndarray of shape (m, r)
    """
    rows = [_differences_at(predict, z) for z in Z]
    return tuple(map(np.array, zip(*rows, strict=True)))


def _differences_at(predict, z):
    steps = STEP * np.eye(z.size)
    mean, std = predict(np.vstack([z, z + steps, z - steps]))
    by_mean, by_std = (
        (values[1 : 1 + z.size] - values[1 + z.size :]) / (2.0 * STEP) for values in (mean, std)
    )
    return mean[0], std[0], by_mean, by_std
