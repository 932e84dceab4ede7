"""Predictions of a fitted model, in the units of the observed values."""

from typing import Any, NamedTuple

import numpy as np

from skbo_silbo.surrogate.warps import invert_warp


class Recommendation(NamedTuple):
    """Evaluated point to use if the objective is noisy, with its predicted value.

    Attributes
    ----------
    point : ndarray of shape (d,) or dict
        The feasible evaluated point with the lowest posterior mean.
    mean, std : float
        Posterior mean and standard deviation of the noise-free objective at the point, in the units
        of the values. Without a model, `std` is NaN.
    """

    point: Any
    mean: float
    std: float


class Prediction(NamedTuple):
    """Prediction of the noise-free objective, in the objective's own units.

    Attributes
    ----------
    mean, std : float, or ndarray of shape (n,) for n points
        Posterior mean and standard deviation of the noise-free objective.
    probability : float, or ndarray of shape (n,) for n points
        Probability that the point satisfies all observed constraints, 1 if there are none.
    """

    mean: Any
    std: Any
    probability: Any


def in_units_of_values(model, mean, std, y):
    """Convert predicted means and standard deviations to the units of the objective.

    Standard deviations are divided by the slope of the warp at the nearest observed value in y.
    """
    y = y[np.isfinite(y)]
    value = invert_warp(model.warp, y, mean)
    order = np.argsort(y)  # the lower of two values that are equally near
    nearest = order[np.abs(y[order] - np.expand_dims(value, -1)).argmin(axis=-1)]
    return value, std * np.exp(-model.warp.log_slope(y))[nearest]
