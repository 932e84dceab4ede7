"""Constraints on cheap known functions of a point, as `scipy.optimize` writes them."""

from contextlib import suppress
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.optimize import LinearConstraint, NonlinearConstraint

from skbo_silbo._checks import as_reals
from skbo_silbo.acquisition._part import Equations
from skbo_silbo.journal._differences import describe_lasting

N_PROBES = 64  # points that a function is called with, to see what that changes in it
TOLERANCE = 1e-9  # relative to the bounds: rounding of a point to the grid is below it


def as_violation(constraints, space):
    """Return how far a point is from satisfying all constraints; None without any.

    Parameters
    ----------
    constraints : NonlinearConstraint, LinearConstraint, list of these, or None
        The function of a `NonlinearConstraint` is called with a point, as the objective is. A
        `LinearConstraint` needs a box.
    space : Space, SpaceUnion or Box

    Returns
    -------
    violation : Violation or None

    Raises
    ------
    ValueError
        When something else is given, or an equality that is not linear: no candidate would ever
        satisfy it.
    """
    checks = tuple(_Check(constraint, space) for constraint in _listed(constraints))
    return Violation(checks) if checks else None


@dataclass(frozen=True)
class Violation:
    """How far points are from satisfying constraints.

    Attributes
    ----------
    checks : tuple of callable
        Each of a point: by how much it passes one constraint.
    """

    checks: tuple

    def __call__(self, point):
        """Return the sum of what a point passes them by: 0 if it satisfies all.

        Infinite where a function returns no finite number.
        """
        return sum(check(point) for check in self.checks)


def as_equations(constraints, space):
    """Return the `Equations` among constraints that `as_violation` takes; None without any.

    Those are the rows of a `LinearConstraint` whose bounds are equal.
    """
    linear = [c for c in _listed(constraints) if isinstance(c, LinearConstraint)]
    if not linear:
        return None
    rows = [np.broadcast_arrays(*_ends(c), np.zeros(len(np.atleast_2d(c.A)))) for c in linear]
    lower, upper, _ = (np.concatenate(parts) for parts in zip(*rows, strict=True))
    is_equal = lower == upper
    matrix = np.vstack([np.atleast_2d(c.A) for c in linear])[is_equal]
    if (matrix[:, space.is_logarithmic] != 0.0).any():
        raise ValueError(
            "constraints must not have equations between inputs of a logarithmic scale, which no "
            f"candidate would satisfy: got scale={space.scale}. Leave their scale out."
        )
    return Equations(matrix, lower[is_equal]) if is_equal.any() else None


def describe_constraints(constraints, space):
    """Return what tells constraints, as `as_violation` takes them, from others: a list, plain data.

    Functions are described as `describe_lasting` says: they are called, with
    random points, and what that changes, such as a count of calls, is left out.

    Raises
    ------
    ValueError
        When a function holds what cannot be seen.
    """
    try:
        return [_described(constraint, space) for constraint in _listed(constraints)]
    except ValueError as error:
        raise ValueError(f"constraints: {error}") from error


def _described(constraint, space):
    check, rng = _Check(constraint, space), np.random.default_rng(0)

    def use():
        for point in space.decode(rng.uniform(-1.0, 1.0, (N_PROBES, space.n_features_))):
            with suppress(Exception):  # what it raises comes out when it counts
                check(point)

    return describe_lasting(_parts(constraint), use)


def _parts(constraint):
    """Return what of a constraint decides which points satisfy it."""
    lower, upper = (np.atleast_1d(np.asarray(end, float)).tolist() for end in _ends(constraint))
    if isinstance(constraint, NonlinearConstraint):
        values = {"class": "NonlinearConstraint", "fun": constraint.fun}
    else:
        matrix = np.atleast_2d(constraint.A)
        values = {"class": "LinearConstraint", "A": np.asarray(matrix, float).tolist()}
    return {**values, "lb": lower, "ub": upper}


def _listed(constraints):
    if constraints is None:
        return []
    return list(constraints) if isinstance(constraints, (list, tuple)) else [constraints]


class _Check:
    def __init__(self, constraint, space):
        if not isinstance(constraint, (LinearConstraint, NonlinearConstraint)):
            raise ValueError(
                "constraints must be scipy.optimize.NonlinearConstraint or LinearConstraint, or a "
                f"list of these: got {constraint!r}. Write NonlinearConstraint(fun, 0, numpy.inf) "
                "for fun(x) >= 0, which scipy's dicts call {'type': 'ineq', 'fun': fun}."
            )
        self._func = self._function(constraint, space)
        self._lower, self._upper = map(_as_end, _ends(constraint))
        if np.isnan(self._lower).any() or np.isnan(self._upper).any():
            raise ValueError(
                "constraints must have lb and ub that are real numbers, not NaN: got "
                f"lb={self._lower.tolist()}, ub={self._upper.tolist()}. Use "
                "numpy.inf where there is no bound."
            )
        is_linear = isinstance(constraint, LinearConstraint)
        is_equal = self._lower == self._upper
        if (is_equal.any() and not is_linear) or (self._lower > self._upper).any():
            raise ValueError(
                "constraints must be inequalities, lb < ub, or a LinearConstraint: got "
                f"lb={self._lower.tolist()}, ub={self._upper.tolist()}. Solve an equality for one "
                "input, and search over the others."
            )
        ends = (np.where(np.isfinite(e), np.abs(e), 0.0) for e in (self._lower, self._upper))
        self._size = np.maximum(*ends)
        if is_equal.any():  # all points are rounded to the grid
            self._size = self._size + is_equal * (
                np.abs(constraint.A) @ (space.upper - space.lower)
            )

    @staticmethod
    def _function(constraint, space):
        if isinstance(constraint, NonlinearConstraint):
            if not callable(constraint.fun):
                raise ValueError(
                    "constraints must be NonlinearConstraint with a function of a point: got "
                    f"{constraint.fun!r}. Write NonlinearConstraint(fun, lb, ub)."
                )
            return constraint.fun
        if space.is_dict:
            raise ValueError(
                "constraints must be NonlinearConstraint for named parameters: got a "
                "LinearConstraint. Write a function of the dict."
            )
        matrix, d = np.atleast_2d(constraint.A), len(space.lower)
        if matrix.shape[1] != d:
            raise ValueError(
                f"constraints must have a column for each of the {d} inputs: got a "
                f"LinearConstraint with A of shape {matrix.shape}."
            )
        if not np.isfinite(matrix).all():
            raise ValueError(
                "constraints must be LinearConstraint whose A must be finite real numbers: got "
                f"{matrix.tolist()}. Write 0 for an input without a say."
            )
        return partial(np.matmul, matrix)

    def __call__(self, point):
        returned = self._func(point.copy())
        values = as_reals(returned)
        if values is None:
            raise ValueError(
                f"constraints: their function must return real numbers: got {returned!r}. Return "
                "float('nan') where a point cannot be used."
            )
        values = np.atleast_1d(values)
        if not np.isfinite(values).all():
            return np.inf
        passed = np.maximum(self._lower - values, values - self._upper)
        return float(np.where(passed > TOLERANCE * self._size, passed, 0.0).sum())


def _as_end(given):
    """Return a bound as an array of floats, NaN where it is no real number."""
    values = as_reals(given)
    return np.array([np.nan]) if values is None else np.atleast_1d(values)


def _ends(constraint):
    return constraint.lb, constraint.ub
