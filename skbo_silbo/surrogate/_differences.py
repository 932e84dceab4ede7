"""Gradients of predictions that can only be evaluated."""

import numpy as np

STEP = 1e-4  # of coordinates in a range like [-1, 1]; error ~ STEP^2 and rounding / STEP


def differences(predict, Z):
    """Return mean, standard deviation and their gradients, by central differences.

    Parameters
    ----------
    predict : callable
        From (k, r) to mean and standard deviation, (k,) each. It is called once.
    Z : ndarray of shape (m, r)

    Returns
    -------
    mean, std : ndarray of shape (m,)
    by_mean, by_std : ndarray of shape (m, r)
    """
    m, r = Z.shape
    steps = STEP * np.eye(r)
    around = [Z[:, None] + steps, Z[:, None] - steps]
    points = np.concatenate([Z, *(moved.reshape(m * r, r) for moved in around)])
    mean, std = predict(points)
    by_mean, by_std = (
        (values[m : m + m * r] - values[m + m * r :]).reshape(m, r) / (2.0 * STEP)
        for values in (mean, std)
    )
    return mean[:m], std[:m], by_mean, by_std
