"""How `minimize` evaluates a point: one call of the objective."""

import math
from functools import partial

import numpy as np

from skbo_silbo._checks import as_reals, has_booleans
from skbo_silbo.evaluation._loop import in_short
from skbo_silbo.evaluation._trial import Observation
from skbo_silbo.workers._calls import on_copies


class ObjectiveEvaluation:
    """Evaluates points by calling an objective.

    Parameters
    ----------
    func : callable
    n_constraints : int
        How many values of constraints it returns with its value.
    sign : {1.0, -1.0}
        What its values are multiplied by to be minimised.
    """

    n_calls = 1

    def __init__(self, func, n_constraints, sign):
        self._function, self._n_constraints, self._sign = (
            partial(on_copies, func),
            n_constraints,
            sign,
        )

    def calls(self, trial):
        """Return the call that evaluates a point, in a list."""
        return [(self._function, (trial.point,))]

    def observation(self, trial):
        """Return the observation from what the objective returned."""
        try:
            value, constraints = as_outcome(trial.results[0], self._n_constraints)
        except TypeError as error:
            error.add_note(f"minimize: func returned this at the point {in_short(trial.point)}.")
            raise
        return self._observed(value, constraints)

    def failure(self, trial, why, error):
        """Return the observation of an evaluation that was given up."""
        return self._observed(float("nan"), None, why)

    def _observed(self, value, constraints, error=None):
        told = {}
        if self._n_constraints:
            unknown = np.full(self._n_constraints, np.nan)
            told = {"constraints": unknown if constraints is None else constraints}
        return Observation(self._sign * value, told, error)

    def standard_error(self, trial):
        """Return NaN: a single call has no standard error."""
        return math.nan

    def record(self, trial):
        """Return nothing: a value and its constraints are all there is."""
        return {} if trial.observation.error is None else {"error": trial.observation.error}

    def from_record(self, content, observation):
        """Return the observation: it is complete."""
        return observation


def as_outcome(returned, n_constraints):
    """Return value and constraints, (m,) or None, from what an objective returned.

    Parameters
    ----------
    returned : object
        A number, or (number, m numbers) if there are constraints; NaN alone for a failure.
    n_constraints : int
        m.

    Raises
    ------
    TypeError
        If it is something else.
    """
    is_pair = n_constraints and isinstance(returned, tuple | list) and len(returned) == 2
    value, shown = returned if is_pair else (returned, None)
    number = None if isinstance(value, tuple) else as_reals(value)
    is_number = number is not None and number.size == 1
    if is_number and (not n_constraints or (not is_pair and np.isnan(number).all())):
        return float(number.item()), None
    constraints = as_reals(shown) if is_pair else None
    is_right = constraints is not None and np.atleast_1d(constraints).shape == (n_constraints,)
    is_right = is_right and is_number and not any(map(has_booleans, returned))
    if not is_right or number.ndim > constraints.ndim:  # or the other way round
        raise TypeError(_not_an_outcome(returned, n_constraints))
    return float(number.item()), np.atleast_1d(constraints)


def _not_an_outcome(returned, n_constraints):
    if n_constraints:
        return (
            "func must return (value, constraints), the latter of length n_constraints="
            f"{n_constraints}, numbers and no booleans, at most 0 where they hold: got "
            f"{returned!r}. Return by how much each is violated, or 1.0 where it is and -1.0 where "
            "it is not; float('nan') alone for a failure of which no constraint is known."
        )
    return (
        f"func must return one real number: got {returned!r}. Return float(value), or float('nan') "
        "for a failure. If the second part of a tuple are values of constraints, say how many "
        "there are: minimize(..., n_constraints=m)."
    )
