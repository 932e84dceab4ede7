"""The 24 functions of the public suite bbob (``coco-experiment``, extra ``bench-public``)."""

from dataclasses import dataclass, field

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
    rows = _RowByRow(function, d, instance)
    name = f"bbob f{function} instance {instance}"
    box = np.tile([-REACH, REACH], (d, 1))
    best = np.asarray(rows.problem.best_parameter())
    return Problem(name, rows, box, rows.problem.best_value(), best[None])


@dataclass(frozen=True)
class _RowByRow:
    """The function on rows; made anew where it is unpickled, as the suite's own cannot be."""

    function: int
    d: int
    instance: int
    problem: object = field(init=False, repr=False, compare=False)

    def __post_init__(self):
        from cocoex import BareProblem

        made = BareProblem("bbob", self.function, self.d, self.instance)
        object.__setattr__(self, "problem", made)  # the record is frozen

    def __reduce__(self):
        return type(self), (self.function, self.d, self.instance)

    def __call__(self, X):
        return np.array([self.problem(x) for x in X])
