"""The 24 functions of the public suite bbob (``coco-experiment``, extra ``bench-public``)."""

from functools import cache, partial

import numpy as np

from skbo_silbo.problems import Problem

N_FUNCTIONS = 24
REACH = 5.0  # the suite's box is [-5, 5]^d
DIMENSIONS = (2, 3, 5, 10, 20, 40)


def bbob_problem(function, d, instance):
    """Return one instance of a function of bbob.

    Parameters
    ----------
    function : int
        1 to 24.
    d : int
        Inputs: 2, 3, 5, 10, 20 or 40.
    instance : int
        From 1 on: which translation, rotation and optimum.

    Returns
    -------
    problem : Problem
        On ``[-5, 5]^d``, with the optimum that the suite knows.

    Raises
    ------
    ValueError
        When the suite has no such function.
    """
    if function not in range(1, N_FUNCTIONS + 1) or d not in DIMENSIONS or instance < 1:
        raise ValueError(
            f"function must be 1 to {N_FUNCTIONS}, d one of {DIMENSIONS}, instance at least 1: got "
            f"{function}, {d} and {instance}. Choose one that bbob has."
        )
    theirs = _load(function, d, instance)
    values = partial(_values, function, d, instance)
    box, best = np.tile([-REACH, REACH], (d, 1)), np.asarray(theirs.best_parameter())
    name = f"bbob f{function} instance {instance}"
    return Problem(name, values, box, theirs.best_value(), best[None])


@cache
def _load(function, d, instance):
    """Return the suite's own problem, which cannot be pickled."""
    from cocoex import BareProblem

    return BareProblem("bbob", function, d, instance)


def _values(function, d, instance, X):
    problem = _load(function, d, instance)
    return np.array([problem(x) for x in X])
