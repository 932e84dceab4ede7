"""Known constraints on points, in the form of `scipy.optimize`."""

import pickle
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import LinearConstraint, NonlinearConstraint

from skbo_silbo._checks import as_numbers, as_reals, brief
from skbo_silbo._descriptions import describe, describe_callable, require_same
from skbo_silbo._typing import FloatArray
from skbo_silbo.acquisition.restricted_space import RestrictedSpace
from skbo_silbo.space.any_space import AnySpace, branches_of

TOLERANCE = 1e-9  # relative to the bounds; larger than the error of rounding points to the grid


@dataclass(frozen=True, eq=False)
class KnownConstraints:
    """Constraints passed to `constrain`, in a form that is fast to evaluate.

    Attributes
    ----------
    violations : callable or None
        Function that maps a list of n points to their total constraint violations, an array of
        shape (n,). None if there are no such constraints.
    described : list
        JSON-compatible data that identify the constraints, with functions by their names. A
        restored optimiser has only this description until the constraints are passed again.
    """

    violations: Callable[[Sequence[Any]], FloatArray] | None = None
    described: list[Any] = field(default_factory=list)

    @classmethod
    def of(cls, given, space):
        """Validate the user's constraints and compile them.

        Parameters
        ----------
        given : NonlinearConstraint, LinearConstraint, (names, constraint), list, or None
            Constraints as passed by the user. The function of a `NonlinearConstraint` is called
            with a point, like the objective. For named parameters, a `LinearConstraint` needs the
            names of its columns, and a function that returns True or False is a constraint by
            itself. With names, the constraint applies to the array of these parameters; points that
            lack one of the parameters satisfy it.
        space : Space, SpaceUnion or Box

        Raises
        ------
        ValueError
            If a constraint has an unsupported type, or is an equality, which no random candidate
            would satisfy.
        """
        checks = tuple(_Check(constraint, space) for constraint in _as_list(given, space))
        if not checks:
            return NO_CONSTRAINTS
        described = [check.described() for check in checks]
        return cls(partial(_violations, checks), described)

    def __getstate__(self):
        """Return the state to pickle, without functions that cannot be imported elsewhere."""
        state = vars(self).copy()
        if not _is_importable(self.violations):
            state["violations"] = None
        return state

    def __deepcopy__(self, memo):
        """Return the object itself, because it is immutable."""
        return self

    @property
    def are_missing(self) -> bool:
        """Whether the user must pass the constraints again after a restart."""
        return bool(self.described) and self.violations is None

    def violation(self, point: Any) -> float:
        """Return by how much a point violates the constraints, 0 if all are satisfied."""
        return 0.0 if self.violations is None else float(self.violations([point])[0])

    def restrict(self, space: AnySpace, fixed: Mapping[Any, Any] | None) -> RestrictedSpace | None:
        """Return the search space restricted by constraints and fixed parameters, None without any.

        Parameters
        ----------
        space : Space, SpaceUnion or Box
        fixed : dict or None
            Values of the fixed parameters, by name, or by index for the inputs of a box.

        Raises
        ------
        ValueError
            If the constraints are missing, or `fixed` is not a dict or not in the space.
        """
        if self.are_missing:
            raise ValueError(
                "constrain must be called before ask: this optimiser was saved with "
                f"{format_constraints(self.described)}, which cannot be restored from the saved "
                "data. Pass the same constraints to constrain()."
            )
        if fixed is not None and not isinstance(fixed, Mapping):
            raise ValueError(
                f"fixed must be None or a dict from {'names' if space.is_dict else 'indices'} to "
                f"values, got {brief(fixed)}. Write "
                f"{{{'name' if space.is_dict else 0}: value}}."
            )
        if not fixed and self.violations is None:
            return None
        return RestrictedSpace(space, fixed or {}, self.violations)

    def following(self, before):
        """Check that new constraints may replace the previous ones, and return them.

        Raises
        ------
        ValueError
            If the previous constraints were restored from a saved optimiser and differ.
        """
        if not before.are_missing:
            return self
        then, now = {"rule": before.described}, {"rule": self.described}
        remedy = "Pass the same constraints, or pass the points and values to a new optimiser."
        require_same(then, now, "`constraints` differ from those of the saved optimiser", remedy)
        return replace(self, described=before.described)


NO_CONSTRAINTS = KnownConstraints()


def _is_importable(part):
    """Return whether an object can be pickled and loaded in another process."""
    try:
        return b"__main__" not in pickle.dumps(part)
    except Exception:  # local functions, or errors in an object's own methods
        return False


def _violations(checks, points):
    """Return the total constraint violation of each point, 0 if all are satisfied.

    It is infinite if a constraint function returns NaN or an infinite value.
    """
    return sum(check(points) for check in checks)


def format_constraints(described):
    """Format constraints as a list of class and function names."""
    functions = [f" of {d['fun']}" if "fun" in d else "" for d in described]
    return ", ".join(d["class"] + of for d, of in zip(described, functions, strict=True))


def _as_list(constraints, space):
    """Convert constraints to a list of scipy constraints or (names, constraint) pairs.

    For named parameters, functions that return True or False are wrapped in constraints.
    """
    if constraints is None:
        return []
    is_one = _has_names(constraints) or not isinstance(constraints, (list, tuple))
    given = [constraints] if is_one else list(constraints)
    made = (NonlinearConstraint(_Rule(c), 1.0, np.inf) if callable(c) else c for c in given)
    return list(made) if space.is_dict else given


@dataclass(frozen=True)
class _Rule:
    """Constraint function that returns 1.0 if a boolean function returns True, otherwise 0.0."""

    is_valid: Callable

    def __call__(self, params):
        answer = self.is_valid(params)
        if not isinstance(answer, (bool, np.bool_)):
            raise ValueError(
                f"constraints must be a function that returns True or False, got {answer!r} for "
                f"{params}. Use NonlinearConstraint(function, lb, ub) if it returns a number."
            )
        return float(answer)


def _has_names(constraint):
    is_pair = isinstance(constraint, tuple) and len(constraint) == 2
    return is_pair and isinstance(constraint[0], (list, tuple))


class _Check:
    """Function that computes how much points violate a single constraint.

    Attributes
    ----------
    names : list of str or None
        Names of the parameters that are passed to the constraint function as an array. None means
        that the whole point is passed.
    matrix : ndarray of shape (k, d) or None
        Coefficients of a linear constraint, or None for other constraints.
    lower, upper : ndarray
        Lower and upper bounds of the constraint function.
    """

    def __init__(self, given, space):
        self.names, constraint = given if _has_names(given) else (None, given)
        _require_known(self.names, space)
        func = getattr(constraint, "fun", constraint)
        is_nonlinear = isinstance(constraint, NonlinearConstraint) and callable(func)
        if not (is_nonlinear or isinstance(constraint, LinearConstraint)):
            rule = ", a function of the dict of parameters that returns True or False"
            raise ValueError(
                "constraints must be scipy.optimize.NonlinearConstraint or LinearConstraint"
                f"{rule if space.is_dict else ''}, or a list of these, got {brief(func)}. Use "
                "NonlinearConstraint(fun, 0, numpy.inf) in place of {'type': 'ineq', 'fun': fun}."
            )
        self.matrix = None
        self._func = self._function(constraint, space)
        self.lower, self.upper = map(_as_bound, (constraint.lb, constraint.ub))
        lower, upper = self.lower, self.upper
        if not (lower < upper).all():  # NaN is not
            raise ValueError(
                "constraints must be inequalities, lb < ub, where lb and ub are real numbers, not "
                f"NaN: got lb={lower.tolist()}, ub={upper.tolist()}. Use numpy.inf for a missing "
                "bound. Solve an equality for one input and search over the rest."
            )
        self._size = np.maximum(*(np.where(np.isfinite(e), np.abs(e), 0.0) for e in (lower, upper)))

    def described(self):
        """Return JSON-compatible data that identify the constraint."""
        if self.matrix is None:
            rule = self._func.is_valid if isinstance(self._func, _Rule) else self._func
            what = {"class": "NonlinearConstraint", "fun": describe_callable(rule)}
        else:
            what = {"class": "LinearConstraint", "A": np.asarray(self.matrix, float).tolist()}
        names = {} if self.names is None else {"names": list(self.names)}
        ends = describe(self.lower.tolist()), describe(self.upper.tolist())
        return {**names, **what, "lb": ends[0], "ub": ends[1]}

    def _function(self, constraint, space):
        if isinstance(constraint, NonlinearConstraint):
            return constraint.fun
        if space.is_dict and self.names is None:
            raise ValueError(
                "constraints must name the columns of a LinearConstraint for named parameters: "
                "got a LinearConstraint without names. Use (['a', 'b'], LinearConstraint([[1, 1]], "
                "0, 1)), for example."
            )
        A, d = constraint.A, len(self.names or space.lower)
        self.matrix = matrix = np.atleast_2d(A.toarray() if sparse.issparse(A) else A)
        if matrix.shape[1] != d or not np.isfinite(matrix).all():
            raise ValueError(
                "constraints must have a LinearConstraint whose A is finite, with a column for "
                f"each of the {d} inputs, got {brief(matrix.tolist())} of shape {matrix.shape}. "
                "Use 0 for inputs that are not constrained."
            )
        return partial(np.matmul, matrix)

    def __call__(self, points):
        # A point of another branch of the space satisfies the constraint.
        names = self.names or ()
        rows = [i for i, point in enumerate(points) if all(name in point for name in names)]
        total = np.zeros(len(points))
        if not rows:
            return total
        returned, remedy = [self._value(points[i]) for i in rows], "Return NaN for invalid points."
        if as_reals(returned) is None:  # show this value rather than those of all points
            returned = next((value for value in returned if as_reals(value) is None), returned)
        values = as_numbers("what constraints return", returned, remedy).reshape(len(rows), -1)
        is_finite = np.isfinite(values).all(axis=1)
        values = np.where(is_finite[:, None], values, 0.0)
        passed = np.maximum(self.lower - values, values - self.upper)
        passed = np.where(passed > TOLERANCE * self._size, passed, 0.0).sum(axis=1)
        total[rows] = np.where(is_finite, passed, np.inf)
        return total

    def _value(self, point):
        if self.names is None:
            point = point.copy()
        else:
            named, remedy = [point[name] for name in self.names], "Use a function of the dict."
            point = as_numbers(f"{self.names} that constraints name", named, remedy)
        try:
            return self._func(point)
        except Exception as error:
            error.add_note(f"raised by constraints for {point}")
            raise


def _require_known(names, space):
    if names is None:
        return
    known = {name for branch in branches_of(space) for name in branch.parameter_names}
    if not (names and set(names) <= known):
        raise ValueError(
            f"constraints must name parameters of the space, {sorted(known)}, got {list(names)}. "
            "Inputs of an array have no names."
        )


def _as_bound(given):
    """Convert a bound to a float array, with NaN for entries that are not real numbers."""
    values = as_reals(given)
    return np.array([np.nan]) if values is None else np.atleast_1d(values)
