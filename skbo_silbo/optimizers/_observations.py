"""Checks of observations: points, values, noise and constraints."""

from collections.abc import Mapping

import numpy as np

from skbo_silbo._checks import as_numbers, warn_user


def as_points(x, space):
    """Return one point or several as a list or array of points, and whether it was one.

    Raises
    ------
    ValueError
        When they are no numbers where the space is a box, or masked.
    """
    if space.is_dict:
        single = isinstance(x, Mapping)
        return ([dict(x)] if single else list(x)), single
    if np.ma.is_masked(x):
        raise ValueError(f"x must have no masked numbers: got {x!r}. Tell the whole point.")
    try:
        x = np.array(x, dtype=float)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"x must be numbers, a point (d,) or points (n, d): got {x!r}. "
            "Tell what ask() returned, or use a Space for named parameters."
        ) from error
    return (x if x.ndim == 2 else x.reshape(1, -1)), x.ndim < 2


def as_evaluations(x, y, space):
    """Return x as points of the space, and y as a float array of as many.

    Raises
    ------
    ValueError
        When they differ in number, or are no points or no numbers.
    """
    points, single = as_points(x, space)
    values = as_numbers("y", y, "Tell float('nan') for a failed evaluation.")
    if values.shape != (() if single else (len(points),)):
        raise ValueError(
            f"y must be {'one number' if single else f'{len(points)} numbers'}, one for every "
            f"point in x: got shape {values.shape}. Tell points and values in equal number."
        )
    return points, values.reshape(len(points))


def as_constraints(constraints, shape, n_known):
    """Return values of constraints, (n, m), NaN where they are not known; (n, 0) without any.

    Parameters
    ----------
    constraints : array-like or None
    shape : tuple
        That of the observed values, (n,).
    n_known : int
        How many constraints earlier evaluations have; 0 if none has any.

    Raises
    ------
    ValueError
        When they are of another number.
    """
    if constraints is None:
        return np.empty((*shape, 0))
    values = as_numbers("constraints", constraints, "Give NaN where one is not known.")
    if values.ndim < 2 and (shape == (1,) or values.shape == shape):
        values = values.reshape(shape[0], -1)
    if values.ndim != 2 or len(values) != shape[0] or not values.shape[1]:
        raise ValueError(
            f"constraints must be of shape (m,) for one point, and ({shape[0]}, m) for "
            f"{shape[0]} points, m of them at least 1: got shape {np.shape(constraints)}."
        )
    if n_known and values.shape[1] != n_known:
        raise ValueError(
            f"constraints must be as many for every point, here {n_known} as told before: got "
            f"{values.shape[1]}. Give NaN where one is not known."
        )
    return values


def warn_of_constraints_left_out():
    """Say that values were told without constraints, which earlier ones have."""
    warn_user(
        "constraints were told of earlier points and are left out now: these points are not known "
        "to be feasible, and none of them can be the best. Tell constraints with every value, NaN "
        "where one is not known."
    )
