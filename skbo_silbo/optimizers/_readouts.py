"""What can be read from a model: predictions in the units of the values, and the gain expected."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from skbo_silbo.acquisition import ParzenTurns, log_expected_improvement

FIRST_BATCH = 16  # candidates checked against constraints at a time


class Recommendation(NamedTuple):
    """The evaluated point to use where values are noisy.

    Attributes
    ----------
    point : ndarray of shape (d,) or dict
        The feasible one with the lowest posterior mean.
    mean, std : float
        Of the objective there, without noise, in the units of the values; `std` is NaN where there
        is no model.
    """

    point: Any
    mean: float
    std: float


class Prediction(NamedTuple):
    """What a model expects of the objective, without noise, in the units and sign of the values.

    Attributes
    ----------
    mean, std : float, or ndarray of shape (n,) for n points
    probability : float, or ndarray of shape (n,) for n points
        That all learnt constraints hold; 1 where there are none.
    """

    mean: Any
    std: Any
    probability: Any


def predict(model, X, Z, history, y):
    """Return mean, deviation and probability of feasibility at places X of the cube, (n,) each.

    Mean and deviation are in the units in which values are minimised.

    Parameters
    ----------
    model : Model
    X, Z : ndarray of shape (n, d) and (n, r)
        Places, and their coordinates.
    history : History
    y : ndarray
        The values that the model is of, as it sees them.
    """
    mean, std = model.surrogate.predict(Z)
    probability = np.ones(len(X))
    if model.feasibility is not None:
        probability = np.exp(model.feasibility.log_probability(X))
    return *in_units_of_values(model, mean, std, history, y), probability


def in_units_of_values(model, mean, std, history, y):
    """Return means and deviations of the model, (n,), in the units in which values are minimised.

    The warp rises. It is inverted between the values and goes on beyond the outermost as straight
    as it is there; the deviation goes through its slope at the nearest value.
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
    """Return the largest expected improvement in the space, or the part of the surface.

    In the units of the values; infinite where no candidate is admitted.
    """
    search = search.search if isinstance(search, ParzenTurns) else search
    surface = replace(surface, acquisition=log_expected_improvement)
    found = search.find(surface, model.ranked, space, rng)
    Z = found.Z if surface.part is None else first_admitted(found, surface.part)
    return float(_improvement(model, surface.values_at(Z).max(), history, y)) if len(Z) else np.inf


def expected_improvement(model, surface, X, history, y):
    """Return the expected improvement at places X, (n,), in the units of the values.

    Times the probability that learnt constraints hold; infinite where no feasible point is known.
    """
    if not model.n_feasible:
        return np.full(len(X), np.inf)
    surface = replace(surface, acquisition=log_expected_improvement)
    return _improvement(model, surface.values(X), history, y)


def _improvement(model, log_gain, history, y):
    best = model.warp(y[np.isfinite(y)]).min()
    return in_units_of_values(model, best, np.exp(log_gain), history, y)[1]


def first_admitted(found, part):
    """Return the first coordinates found, (k, r), whose points are of a part of the space."""
    if found.X is None:
        return found.Z
    some = ((rows.Z, part.violation(rows.X) == 0.0) for rows in found.portions(FIRST_BATCH))
    return next((Z[admitted] for Z, admitted in some if admitted.any()), found.Z[:0])
