"""Evaluation of points by calling the objective of `minimize`."""

import copy
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from skbo_silbo._checks import as_reals, brief, has_booleans
from skbo_silbo.evaluation.trial import Evaluation, Observation, Trial, format_point
from skbo_silbo.workers.calls import LostWorkerError

Catch: TypeAlias = tuple[type[Exception], ...]


class ObjectiveEvaluation(Evaluation):
    """Evaluates points by calling the user's objective function.

    Parameters
    ----------
    func : callable
    n_constraints : int
        Number of constraint values that `func` returns together with its value.
    sign : {1.0, -1.0}
        Factor that converts the values of `func` to values to be minimised.
    catch : tuple of exception classes, default=()
        Exceptions of `func` that count as failed evaluations.
    """

    n_calls = 1

    def __init__(
        self, func: Callable[..., Any], n_constraints: int, sign: float, catch: Catch = ()
    ) -> None:
        self.func, self._function = func, partial(call_on_copy, func, catch)
        self._n_constraints, self._sign = n_constraints, sign

    def calls(self, trial: Trial) -> list[tuple[Callable[..., Any], tuple[Any, ...]]]:
        """Return the call of the objective that evaluates the point of a trial, in a list."""
        return [(self._function, (trial.point,))]

    def observation(self, trial: Trial) -> Observation:
        """Convert the return value of the objective to an observation.

        The return value must be a number or, with m constraints, a number and a sequence of m
        numbers. NaN alone means that the evaluation failed.

        Raises
        ------
        TypeError
            If the return value is anything else.
        """
        returned, m = trial.results[0], self._n_constraints
        if isinstance(returned, Caught):
            return self.failure(trial, returned.why, None)
        is_pair = m > 0 and isinstance(returned, tuple | list) and len(returned) == 2
        value, constraints = returned if is_pair else (returned, None)
        number: Any = None if isinstance(value, tuple) else as_reals(value)
        others, is_valid = {}, number is not None and number.size == 1
        if is_pair:
            others = as_reals(constraints)
            is_valid = is_valid and others is not None and np.atleast_1d(others).shape == (m,)
            is_valid = is_valid and number.ndim <= others.ndim  # not the other way round
            is_valid = is_valid and not any(map(has_booleans, returned))
            others = {"constraints": np.atleast_1d(others)} if is_valid else {}
        elif m > 0:
            is_valid = is_valid and np.isnan(number).all()
            others = {"constraints": np.full(m, np.nan)}
        if not is_valid:
            error = TypeError(_invalid_return(returned, m))
            error.add_note(
                f"minimize: func returned this at the point {format_point(trial.point)}."
            )
            raise error
        return Observation(self._sign * float(number.item()), others)

    def rows_from_record(self, content: dict[str, Any]) -> None:
        """Check the number of constraints in a record."""
        if (m := len(content.get("constraints", [[]])[0])) != self._n_constraints:
            raise ValueError(f"'constraints' must have {self._n_constraints} values, got {m}")

    def failure(self, trial: Trial, why: str, error: BaseException | None) -> Observation:
        """Return the observation of an evaluation that raised, timed out or lost its worker."""
        unknown = np.full(self._n_constraints, np.nan)
        return Observation(np.nan, {"constraints": unknown} if self._n_constraints else {}, why)


@dataclass(frozen=True)
class Caught:
    """Description of an exception that counts as a failed evaluation."""

    why: str


def call_on_copy(func: Callable[..., Any], catch: Catch, point: Any) -> Any:
    """Call a function with a copy of a point, so that it cannot modify the original.

    Exceptions in `catch` are returned as `Caught`, unless they mean that a worker was lost.
    """
    try:
        return func(copy.copy(point))
    except LostWorkerError:
        raise
    except catch as error:
        return Caught(f"raised {brief(error)}")


def _invalid_return(returned: Any, n_constraints: int) -> str:
    if n_constraints:
        return (
            "`func` must return (value, constraints) with n_constraints="
            f"{n_constraints} numbers as constraints, at most 0 where they hold, got {returned!r}. "
            "Return by how much each is violated, or 1.0 if it is violated and -1.0 if not; "
            "return float('nan') alone for a failure with unknown constraints."
        )
    return (
        f"`func` must return one real number, got {returned!r}. Return float(value), or "
        "float('nan') for a failure. If the second part of a tuple has the values of m "
        "constraints, pass n_constraints=m."
    )
