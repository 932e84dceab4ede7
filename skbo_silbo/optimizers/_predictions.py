"""Predictions of a fitted model, in the units of the observed values."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from skbo_silbo.acquisition import ParzenTurns, log_expected_improvement

FIRST_BATCH = 16  # candidates checked against constraints at a time, at first


class Recommendation(NamedTuple):
    """The evaluated point to use if values are noisy.

    Attributes
    ----------
    point : ndarray of shape (d,) or dict
        The feasible point with the lowest posterior mean.
    mean, std : float
        Posterior of the noise-free objective at the point, in the units of the values; `std` is NaN
        without a model.
    """

    point: Any
    mean: float
    std: float


class Prediction(NamedTuple):
    """Prediction of the noise-free objective, in the units and sign of the values.

    Attributes
    ----------
    mean, std : float, or ndarray of shape (n,) for n points
    probability : float, or ndarray of shape (n,) for n points
        Probability that all learnt constraints hold; 1 without any.
    """

    mean: Any
    std: Any
    probability: Any


def predict(model, X, Z, history, y):
    """Return the predicted mean, standard deviation and probability of feasibility, (n,) each.

    Mean and standard deviation refer to the values to minimise.

    Parameters
    ----------
    model : Model
    X, Z : ndarray of shape (n, d) and (n, r)
        Encoded points and their coordinates.
    history : History
    y : ndarray
        Values that the model was fitted to.
    """
    mean, std = model.surrogate.predict(Z)
    probability = np.ones(len(X))
    if model.feasibility is not None:
        probability = np.exp(model.feasibility.log_probability(X))
    return *in_units_of_values(model, mean, std, history, y), probability


def in_units_of_values(model, mean, std, history, y):
    """Convert predicted means and standard deviations, (n,), to the units of the values.

    The warp is inverted by linear interpolation between the observed values and linear
    extrapolation beyond them. Standard deviations are divided by its slope at the nearest value.
    """
    y = y[np.isfinite(y)]
    order = np.argsort(y)
    warped, run = model.warp(y)[order], np.exp(-model.warp.log_slope(y))[order]
    y = y[order]
    value = np.interp(mean, warped, y)
    value = value + np.minimum(mean - warped[0], 0.0) * run[0]
    value = value + np.maximum(mean - warped[-1], 0.0) * run[-1]
    nearest = np.abs(y - np.expand_dims(value, -1)).argmin(axis=-1)
    return history.in_units(value), history.in_units(std * run[nearest])


def expected_gain(model, surface, search, space, rng, history, y):
    """Return the largest expected improvement in the space, in the units of the values.

    It is infinite if no candidate satisfies the known constraints.
    """
    search = search.search if isinstance(search, ParzenTurns) else search
    surface = replace(surface, acquisition=log_expected_improvement)
    found = search.find(surface, model.ranked, space, rng)
    Z = found.Z if surface.part is None else first_admitted(found, surface.part)
    return float(_improvement(model, surface.values_at(Z).max(), history, y)) if len(Z) else np.inf


def expected_improvement(model, surface, X, history, y):
    """Return the expected improvement at points X, (n,), in the units of the values.

    It is multiplied by the probability that learnt constraints hold, and infinite until a feasible
    point is known.
    """
    if not model.n_feasible:
        return np.full(len(X), np.inf)
    surface = replace(surface, acquisition=log_expected_improvement)
    return _improvement(model, surface.values(X), history, y)


def _improvement(model, log_gain, history, y):
    best = model.warp(y[np.isfinite(y)]).min()
    return in_units_of_values(model, best, np.exp(log_gain), history, y)[1]


def first_admitted(found, part):
    """Return the coordinates of the first candidates, (k, r), that satisfy the constraints."""
    if found.X is None:
        return found.Z
    some = ((rows.Z, part.violation(rows.X) == 0.0) for rows in found.portions(FIRST_BATCH))
    return next((Z[admitted] for Z, admitted in some if admitted.any()), found.Z[:0])
