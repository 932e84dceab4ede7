"""Constraints on cheap known functions of a point, as `scipy.optimize` writes them."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import LinearConstraint, NonlinearConstraint

from skbo_silbo._checks import as_reals
from skbo_silbo.acquisition._part_of_space import Equations
from skbo_silbo.journal import _describe as differences
from skbo_silbo.journal._describe import describe, describe_function
from skbo_silbo.space._union import branches_of

TOLERANCE = 1e-9  # relative to the bounds: rounding of a point to the grid is below it


@dataclass(frozen=True, eq=False)
class KnownConstraints:
    """What `constrain` was given, and what is made of it.

    Attributes
    ----------
    violation : callable or None
        As `as_violation` returns it.
    equations : Equations or None
    described : list
        What describes them, plain data. Of a saved optimiser there is nothing else before they are
        given again.
    """

    violation: Callable[[Any], float] | None = None
    equations: Equations | None = None
    described: list[Any] = field(default_factory=list)

    @classmethod
    def of(cls, given, space):
        """Return the record of constraints as `as_violation` takes them."""
        if not _listed(given, space):
            return NO_CONSTRAINTS
        checked = as_violation(given, space), as_equations(given, space)
        return cls(*checked, describe_constraints(given, space))

    @property
    def are_missing(self) -> bool:
        """Whether they have to be given again."""
        return bool(self.described) and self.violation is None

    def following(self, before):
        """Return the record in place of one before, which may have waited for these constraints.

        Raises
        ------
        ValueError
            When it has waited for others.
        """
        if not before.are_missing:
            return self
        require_same_constraints(before.described, self.described)
        return replace(self, described=before.described)


NO_CONSTRAINTS = KnownConstraints()


def as_violation(constraints, space):
    """Return how far a point is from satisfying all constraints; None without any.

    Parameters
    ----------
    constraints : NonlinearConstraint, LinearConstraint, (names, constraint), list, or None
        The function of a `NonlinearConstraint` is called with a point, as the objective is. Of
        named parameters a `LinearConstraint` needs the names of its columns, and a function that
        says True or False is a constraint itself. With names, the
        constraint is of the array of these parameters; a point without one of them satisfies it.
    space : Space, SpaceUnion or Box

    Returns
    -------
    violation : callable or None
        Of a point.

    Raises
    ------
    ValueError
        When something else is given, or an equality that is not linear: no candidate would ever
        satisfy it.
    """
    checks = tuple(_Check(constraint, space) for constraint in _listed(constraints, space))
    return partial(_violation, checks) if checks else None


def _violation(checks, point):
    """Return the sum of what a point passes constraints by: 0 if it satisfies all.

    Infinite where a function returns no finite number.
    """
    return sum(check(point) for check in checks)


def as_equations(constraints, space):
    """Return the `Equations` among constraints that `as_violation` takes; None without any.

    Those are the rows of a `LinearConstraint` whose bounds are equal.
    """
    linear = [c for c in _listed(constraints, space) if isinstance(c, LinearConstraint)]
    if not linear:
        return None
    rows = [np.broadcast_arrays(*_ends(c), np.zeros(len(_matrix(c)))) for c in linear]
    lower, upper, _ = (np.concatenate(parts) for parts in zip(*rows, strict=True))
    is_equal = lower == upper
    matrix = np.vstack([_matrix(c) for c in linear])[is_equal]
    if (matrix[:, space.is_logarithmic & (space.lower < space.upper)] != 0.0).any():
        raise ValueError(
            "constraints must not have equations between inputs of a logarithmic scale, which no "
            f"candidate would satisfy: got scale={space.scale}. Leave their scale out."
        )
    return Equations(matrix, lower[is_equal]) if is_equal.any() else None


def describe_constraints(constraints, space):
    """Return what tells constraints, as `as_violation` takes them, from others: a list, plain data.

    Functions are described by `describe_function`: with another text they are warned of.
    """
    return list(map(_described, _listed(constraints, space)))


def require_same_constraints(then, now):
    """Refuse constraints other than those that an optimiser was saved with, as described.

    Raises
    ------
    ValueError
        Naming the differences.
    """
    if shown := differences.differences_in_words({"rule": then}, {"rule": now}):
        raise ValueError(
            f"constraints must be those that the optimiser was saved with: {shown}. Give them, or "
            "tell what is known to a new optimiser."
        )
    differences.warn_of_functions({"rule": then}, {"rule": now}, "the saved optimiser")


def in_words(described):
    """Return the classes and functions of constraints that `describe_constraints` described."""
    functions = [f" of {d['fun']['class']}" if "fun" in d else "" for d in described]
    return ", ".join(d["class"] + of for d, of in zip(described, functions, strict=True))


def _described(constraint):
    """Return what of a constraint decides which points satisfy it."""
    if _has_names(constraint):
        names, constraint = constraint
        return {"names": list(names), **_described(constraint)}
    lower, upper = (np.atleast_1d(np.asarray(end, float)).tolist() for end in _ends(constraint))
    if isinstance(constraint, NonlinearConstraint):
        function = constraint.fun.is_valid if isinstance(constraint.fun, _Rule) else constraint.fun
        values = {
            "class": "NonlinearConstraint",
            "fun": describe_function(function, with_attributes=True),
        }
    else:
        matrix = np.asarray(_matrix(constraint), float)
        values = {"class": "LinearConstraint", "A": matrix.tolist()}
    return {**values, "lb": describe(lower), "ub": describe(upper)}


def _listed(constraints, space):
    """Return constraints as a list; a tuple that begins with names is one of them.

    Functions of named parameters are those that say of a point whether it is valid.
    """
    if constraints is None:
        return []
    is_one = _has_names(constraints) or not isinstance(constraints, (list, tuple))
    given = [constraints] if is_one else list(constraints)
    made = (NonlinearConstraint(_Rule(c), 1.0, np.inf) if callable(c) else c for c in given)
    return list(made) if space.is_dict else given


@dataclass(frozen=True)
class _Rule:
    """What says of a point whether it is valid, as a function: 1 if it is, else 0."""

    is_valid: Callable

    def __call__(self, params):
        answer = self.is_valid(params)
        if not isinstance(answer, (bool, np.bool_)):
            raise ValueError(
                f"constraints must be a function that returns True or False: got {answer!r} for "
                f"{params}. Write NonlinearConstraint(function, lb, ub) for a number."
            )
        return float(answer)


def _has_names(constraint):
    is_pair = isinstance(constraint, tuple) and len(constraint) == 2
    return is_pair and isinstance(constraint[0], (list, tuple))


class _Check:
    def __init__(self, given, space):
        self._names, constraint = given if _has_names(given) else (None, given)
        _require_known(self._names, space)
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
        is_linear = isinstance(constraint, LinearConstraint) and self._names is None
        is_equal = self._lower == self._upper
        if (is_equal.any() and not is_linear) or (self._lower > self._upper).any():
            raise ValueError(
                "constraints must be inequalities, lb < ub, or a LinearConstraint of an array: got "
                f"lb={self._lower.tolist()}, ub={self._upper.tolist()}. Solve an equality for one "
                "input, and search over the others."
            )
        ends = (np.where(np.isfinite(e), np.abs(e), 0.0) for e in (self._lower, self._upper))
        self._size = np.maximum(*ends)
        if is_equal.any():  # all points are rounded to the grid
            self._size = self._size + is_equal * (
                np.abs(_matrix(constraint)) @ (space.upper - space.lower)
            )

    def _function(self, constraint, space):
        if isinstance(constraint, NonlinearConstraint):
            if not callable(constraint.fun):
                raise ValueError(
                    "constraints must be NonlinearConstraint with a function of a point: got "
                    f"{constraint.fun!r}. Write NonlinearConstraint(fun, lb, ub)."
                )
            return constraint.fun
        if space.is_dict and self._names is None:
            raise ValueError(
                "constraints must be NonlinearConstraint for named parameters, or have names: got "
                "a LinearConstraint. Name its columns: (['a', 'b'], LinearConstraint([[1, 1]], 0, "
                "1)), for example."
            )
        matrix, d = _matrix(constraint), len(self._names or space.lower)
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
        if self._names is None:
            point = point.copy()
        elif all(name in point for name in self._names):
            point = self._named(point)
        else:  # of another branch of the space
            return 0.0
        try:
            returned = self._func(point)
        except Exception as error:
            error.add_note(f"raised by constraints for {point}")
            raise
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

    def _named(self, point):
        given = [point[name] for name in self._names]
        if (values := as_reals(given)) is None:
            raise ValueError(
                f"constraints must name parameters that are numbers: got {given} of {self._names}. "
                "Write a function of the dict for others."
            )
        return values


def _require_known(names, space):
    if names is None:
        return
    branches = branches_of(space) if space.is_dict else ()
    known = {name for branch in branches for name in branch.parameter_names}
    if not (names and set(names) <= known):
        raise ValueError(
            f"constraints must name parameters of the space, {sorted(known)}: got {list(names)}. "
            "Rename them; inputs of an array have no names."
        )


def _as_end(given):
    """Return a bound as an array of floats, NaN where it is no real number."""
    values = as_reals(given)
    return np.array([np.nan]) if values is None else np.atleast_1d(values)


def _matrix(constraint):
    A = constraint.A
    return np.atleast_2d(A.toarray() if sparse.issparse(A) else A)


def _ends(constraint):
    return constraint.lb, constraint.ub
