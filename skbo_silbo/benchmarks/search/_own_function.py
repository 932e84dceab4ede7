"""A user's own function as a problem, by ``module:name``."""

import json
from functools import partial
from importlib import import_module

import numpy as np

from skbo_silbo.problems import Problem


def own_problem(objective, bounds):
    """Return the problem of a function that stands in a module.

    Parameters
    ----------
    objective : str
        ``module:function``: from an ndarray of shape (d,) to a float, minimised. The module is
        sought as ``python -m`` seeks it, in the present folder first.
    bounds : str
        JSON pairs, ``[[0, 1], [-5, 5]]``, or ``module:name`` of an array-like of shape (d, 2).

    Returns
    -------
    problem : Problem

    Raises
    ------
    ValueError
        When the function or the bounds cannot be had, or are of another kind.
    """
    function = named_object("objective", objective)
    if not callable(function):
        raise ValueError(
            f"objective must be a function: {objective} is {type(function).__name__}. Name one "
            "that takes an array of shape (d,) and returns a float."
        )
    return Problem(objective, partial(_row_by_row, function), _read_bounds(bounds))


def named_object(option, name):
    """Return what ``module:name`` names.

    Raises
    ------
    ValueError
        When it has another form, or there is no such module or name; `option` is named.
    """
    module, colon, attribute = name.partition(":")
    if not (module and colon and attribute):
        raise ValueError(f"{option} must be MODULE:NAME: got {name!r}. Write both, with a colon.")
    try:
        return getattr(import_module(module), attribute)
    except ImportError as error:
        raise ValueError(
            f"{option} must name a module that can be imported: {module}: {error}. Start the "
            "command in the folder that holds it, or put that folder on PYTHONPATH."
        ) from error
    except AttributeError as error:
        raise ValueError(
            f"{option} must be in its module: {error}. Correct the name after the colon."
        ) from error


def _read_bounds(bounds):
    if not bounds.lstrip().startswith("["):
        return named_object("bounds", bounds)
    try:
        return json.loads(bounds)
    except ValueError as error:
        raise ValueError(
            f"bounds must be JSON pairs such as '[[0, 1], [-5, 5]]': got {bounds!r} ({error}). "
            "Quote the whole for the shell."
        ) from error


def _row_by_row(function, X):
    return np.array([float(function(x)) for x in X])
