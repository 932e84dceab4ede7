"""Predictions of a fitted model, in the units of the observed values."""

from typing import Any, NamedTuple

import numpy as np


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

    The warp is inverted by linear interpolation between the observed values y and linear
    extrapolation beyond them. Standard deviations are divided by the slope of the warp at the
    nearest value.
    """
    y = y[np.isfinite(y)]
    order = np.argsort(y)
    warped, run = model.warp(y)[order], np.exp(-model.warp.log_slope(y))[order]
    y = y[order]
    value = np.interp(mean, warped, y)
    value = value + np.minimum(mean - warped[0], 0.0) * run[0]
    value = value + np.maximum(mean - warped[-1], 0.0) * run[-1]
    nearest = np.abs(y - np.expand_dims(value, -1)).argmin(axis=-1)
    return value, std * run[nearest]
