"""Constraints on cheap known functions of a point, as `scipy.optimize` writes them."""

import pickle
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import LinearConstraint, NonlinearConstraint

from skbo_silbo._checks import as_numbers, as_reals, brief
from skbo_silbo.acquisition._part_of_space import Equations
from skbo_silbo.journal._describe import describe, describe_callable, require_same
from skbo_silbo.space._union import branches_of

TOLERANCE = 1e-9  # relative to the bounds: rounding of a point to the grid is below it


@dataclass(frozen=True, eq=False)
class KnownConstraints:
    """What `constrain` was given, and what is made of it.

    Attributes
    ----------
    violation : callable or None
        From a point to how far it is from satisfying all.
    equations : Equations or None
        The rows of every `LinearConstraint` whose bounds are equal.
    described : list
        What tells them from others, plain data; a function by its name, with another text it is
        warned of. Of a saved optimiser there is nothing else before they are given again.
    """

    violation: Callable[[Any], float] | None = None
    equations: Equations | None = None
    described: list[Any] = field(default_factory=list)

    @classmethod
    def of(cls, given, space):
        """Return the record of constraints.

        Parameters
        ----------
        given : NonlinearConstraint, LinearConstraint, (names, constraint), list, or None
            The function of a `NonlinearConstraint` is called with a point, as the objective is. Of
            named parameters a `LinearConstraint` needs the names of its columns, and a function
            that says True or False is a constraint itself. With names, the constraint is of the
            array of these parameters; a point without one of them satisfies it.
        space : Space, SpaceUnion or Box

        Raises
        ------
        ValueError
            When something else is given, or an equality that is not linear: no candidate would ever
            satisfy it.
        """
        checks = tuple(_Check(constraint, space) for constraint in _listed(given, space))
        if not checks:
            return NO_CONSTRAINTS
        described = [check.described() for check in checks]
        return cls(partial(_violation, checks), _equations(checks, space), described)

    def __getstate__(self):
        """Leave out functions that no other process can import: `constrain` is called again."""
        state = vars(self).copy()
        if not _is_importable(self.violation):
            state |= {"violation": None, "equations": None}
        return state

    def __deepcopy__(self, memo):
        """Return the record itself, which never changes."""
        return self

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
        then, now = {"rule": before.described}, {"rule": self.described}
        remedy = "Pass the same constraints, or tell the points and values to a new optimiser."
        require_same(then, now, "`constraints` differ from those of the saved optimiser", remedy)
        return replace(self, described=before.described)


NO_CONSTRAINTS = KnownConstraints()


def _is_importable(part):
    """Return whether a pickle of an object can be loaded outside of this script or notebook."""
    try:
        return b"__main__" not in pickle.dumps(part)
    except Exception:  # of a local function, or whatever an object's own methods raise
        return False


def _violation(checks, point):
    """Return the sum of what a point passes constraints by: 0 if it satisfies all.

    Infinite where a function returns no finite number.
    """
    return sum(check(point) for check in checks)


def _equations(checks, space):
    linear = [check for check in checks if check.matrix is not None and check.names is None]
    if not linear:
        return None
    rows = [np.broadcast_arrays(c.lower, c.upper, np.zeros(len(c.matrix))) for c in linear]
    lower, upper, _ = (np.concatenate(parts) for parts in zip(*rows, strict=True))
    is_equal = lower == upper
    matrix = np.vstack([check.matrix for check in linear])[is_equal]
    if (matrix[:, space.is_logarithmic & (space.lower < space.upper)] != 0.0).any():
        raise ValueError(
            "constraints must not have equations between inputs of a logarithmic scale, which no "
            f"candidate would satisfy: got scale={space.scale}. Leave their scale out."
        )
    return Equations(matrix, lower[is_equal]) if is_equal.any() else None


def in_words(described):
    """Return the classes and functions of constraints as they were described."""
    functions = [f" of {d['fun']['class']}" if "fun" in d else "" for d in described]
    return ", ".join(d["class"] + of for d, of in zip(described, functions, strict=True))


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
    """One constraint: how far a point is from satisfying it, 0 where it does.

    Attributes
    ----------
    names : list of str or None
        The parameters that the function gets, as an array; None where it gets the point.
    matrix : ndarray of shape (k, d) or None
        Of a linear one.
    lower, upper : ndarray
        The ends of what the function may return.
    """

    def __init__(self, given, space):
        self.names, constraint = given if _has_names(given) else (None, given)
        _require_known(self.names, space)
        func = getattr(constraint, "fun", constraint)
        is_nonlinear = isinstance(constraint, NonlinearConstraint) and callable(func)
        if not (is_nonlinear or isinstance(constraint, LinearConstraint)):
            raise ValueError(
                "constraints must be scipy.optimize.NonlinearConstraint or LinearConstraint, or a "
                f"list of these, the former with a function of a point: got {brief(func)}. Write "
                "NonlinearConstraint(fun, 0, numpy.inf) for fun(x) >= 0, which scipy's dicts call "
                "{'type': 'ineq', 'fun': fun}."
            )
        self.matrix = None
        self._func = self._function(constraint, space)
        self.lower, self.upper = map(_as_end, (constraint.lb, constraint.ub))
        lower, upper = self.lower, self.upper
        is_linear = self.matrix is not None and self.names is None
        is_equal = lower == upper
        if (is_equal.any() and not is_linear) or not (lower <= upper).all():  # NaN is not
            raise ValueError(
                "constraints must be inequalities, lb < ub, or a LinearConstraint of an array, "
                "where lb and ub are real numbers, not NaN: got "
                f"lb={lower.tolist()}, ub={upper.tolist()}. Use numpy.inf where there is no bound. "
                "Solve an equality for one input, and search over the others."
            )
        self._size = np.maximum(*(np.where(np.isfinite(e), np.abs(e), 0.0) for e in (lower, upper)))
        if is_equal.any():  # all points are rounded to the grid
            self._size = self._size + is_equal * (np.abs(self.matrix) @ (space.upper - space.lower))

    def described(self):
        """Return what of the constraint decides which points satisfy it, as plain data."""
        if self.matrix is None:
            rule = self._func.is_valid if isinstance(self._func, _Rule) else self._func
            what = {
                "class": "NonlinearConstraint",
                "fun": describe_callable(rule),
            }
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
                "constraints must be NonlinearConstraint for named parameters, or have names: got "
                "a LinearConstraint. Name its columns: (['a', 'b'], LinearConstraint([[1, 1]], 0, "
                "1)), for example."
            )
        A, d = constraint.A, len(self.names or space.lower)
        self.matrix = matrix = np.atleast_2d(A.toarray() if sparse.issparse(A) else A)
        if matrix.shape[1] != d or not np.isfinite(matrix).all():
            raise ValueError(
                "constraints must have a LinearConstraint whose A must be finite real numbers, a "
                f"column for each of the {d} inputs: got {brief(matrix.tolist())} of shape "
                f"{matrix.shape}. Write 0 for an input without a say."
            )
        return partial(np.matmul, matrix)

    def __call__(self, point):
        if self.names is None:
            point = point.copy()
        elif all(name in point for name in self.names):
            named, remedy = [point[name] for name in self.names], "Write a function of the dict."
            point = as_numbers(f"{self.names} that constraints name", named, remedy)
        else:  # of another branch of the space
            return 0.0
        try:
            returned = self._func(point)
        except Exception as error:
            error.add_note(f"raised by constraints for {point}")
            raise
        remedy = "Return float('nan') where a point cannot be used."
        values = np.atleast_1d(as_numbers("what constraints return", returned, remedy))
        if not np.isfinite(values).all():
            return np.inf
        passed = np.maximum(self.lower - values, values - self.upper)
        return float(np.where(passed > TOLERANCE * self._size, passed, 0.0).sum())


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
