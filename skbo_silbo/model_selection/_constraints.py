"""Rules between the parameters of a candidate."""

import numpy as np
from scipy.optimize import NonlinearConstraint

from skbo_silbo.optimizers._constraints import listed


def read_constraints(given):
    """Return the `constraints` of a search as `SILBO.constrain` takes them.

    Parameters
    ----------
    given : callable, NonlinearConstraint, (names, constraint), list of these, or None
        A callable says of a candidate whether it is valid.

    Returns
    -------
    constraints : list
    """
    return [NonlinearConstraint(_Rule(c), 1.0, np.inf) if callable(c) else c for c in listed(given)]


class _Rule:
    """What says of a candidate whether it is valid, as a function: 1 if it is, else 0."""

    def __init__(self, is_valid):
        self.is_valid = is_valid

    def __call__(self, params):
        answer = self.is_valid(params)
        if not isinstance(answer, (bool, np.bool_)):
            raise ValueError(
                f"constraints must be a function that returns True or False: got {answer!r} for "
                f"{params}. Write NonlinearConstraint(function, lb, ub) for a number."
            )
        return float(answer)
