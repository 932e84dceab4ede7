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
        ``module:function``: from an ndarray of shape (d,) to a float, minimised; or ``module:name``
        of a `Problem`, whose bounds, optimum and noise are used. The module is sought as ``python
        -m`` seeks it, in the present folder first.
    bounds : str or None
        JSON pairs, ``[[0, 1], [-5, 5]]``, or ``module:name`` of an array-like of shape (d, 2). For
        a `Problem` None, or its own.

    Returns
    -------
    problem : Problem

    Raises
    ------
    ValueError
        When the function or the bounds cannot be had, or are of another kind, or missing, or are
        not those of a `Problem`.
    """
    function = named_object("objective", objective)
    if isinstance(function, Problem):
        return _checked(function, objective, bounds)
    if not callable(function):
        raise ValueError(
            f"objective must be a function: {objective} is {type(function).__name__}. Name one "
            "that takes an array of shape (d,) and returns a float."
        )
    if bounds is None:
        raise ValueError(
            f"bounds must be given for a function: {objective} is no Problem of skbo_silbo, which "
            "has its own. Give --bounds, for example '[[0, 1], [-5, 5]]'."
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


def _checked(problem, objective, bounds):
    if bounds is None:
        return problem
    given = np.asarray(_read_bounds(bounds), dtype=float)
    if not np.array_equal(given, problem.bounds):
        raise ValueError(
            f"bounds must be those of the Problem {objective}: got {bounds}. Leave --bounds out, "
            "or name a function."
        )
    return problem


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
