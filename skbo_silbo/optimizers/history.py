"""Evaluation history: validation and storage of evaluated points and their values."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.exceptions import NotFittedError

from skbo_silbo._checks import as_numbers, has_booleans, warn_user
from skbo_silbo._typing import FloatArray

LARGEST = 1e100  # larger values are assumed to be penalties; squares overflow above 1e154
MAX_NOISE_RATIO = 2.0**30  # largest modelled noise, relative to the largest value


class BeyondModelWarning(UserWarning):
    """Warning that a value is too large to be modelled and counts as a failed evaluation."""


class Labelled(NamedTuple):
    """Evaluations in canonical order, with the values to which models are fitted.

    The order does not depend on the order of the calls of `tell`.

    Attributes
    ----------
    X : ndarray of shape (n, d)
        Encoded points, one per row.
    y, noise_std : ndarray of shape (n,)
        Observed values, with NaN for failed evaluations, and the standard deviations of their
        noise, with NaN if unknown.
    constraints : ndarray of shape (n, m)
        Observed values of m constraints, with NaN if unknown.
    goals : ndarray of shape (n, k)
        Values of k objectives, with NaN for failed evaluations. With a single objective, k is 0.
    """

    X: np.ndarray
    y: np.ndarray
    noise_std: np.ndarray
    constraints: np.ndarray
    goals: np.ndarray = np.empty((0, 0))

    def ranked(self):
        """Return the points, best first, and the number of leading points that may be incumbent.

        Without constraints, this is the number of all points, including failed evaluations, because
        models impute their values. With constraints, only feasible points with a finite value are
        counted or, if there are none, all feasible points.
        """
        values = np.where(np.isfinite(self.y), self.y, np.inf)
        constraints = self.constraints[:, ~np.isnan(self.constraints).all(axis=0)]
        if not constraints.shape[1]:
            return self.X[np.argsort(values, kind="stable")], len(self.X)
        feasible = is_feasible(constraints)
        has_value = feasible & np.isfinite(self.y)
        if has_value.any():
            feasible = has_value
        violation = np.where(feasible, 0.0, total_violation(constraints))
        order = np.lexsort([values, violation, ~feasible])
        return self.X[order], int(feasible.sum())


@dataclass(frozen=True, eq=False)
class History:
    """Immutable record of the evaluated points and their observed values.

    Attributes
    ----------
    X : ndarray of shape (n, d)
        Encoded evaluated points, one per row.
    points : list
        The evaluated points, as the user passed them.
    y : ndarray of shape (n,)
        Observed values, which are not finite for failed evaluations.
    noise_std : ndarray of shape (n,)
        Standard deviations of the noise in the units of y, with NaN if unknown.
    constraints : ndarray of shape (n, m)
        Observed values of m constraints. A constraint holds if its value is at most 0, and NaN
        means unknown. m is 0 until the first constraint is observed.
    goals : ndarray of shape (n, k)
        Values of k objectives to minimise, with NaN for failed evaluations. With a single
        objective, k is 0.
    """

    X: FloatArray
    points: Sequence[Any] = ()
    y: FloatArray = field(default_factory=lambda: np.empty(0))
    noise_std: FloatArray = field(default_factory=lambda: np.empty(0))
    constraints: FloatArray = field(default_factory=lambda: np.empty((0, 0)))
    goals: FloatArray = field(default_factory=lambda: np.empty((0, 0)))

    def __len__(self):
        return self.y.size

    def extended(self, new: Self) -> Self:
        """Return the history followed by new evaluations."""
        return type(self)(
            np.vstack([self.X, new.X]),
            [*self.points, *new.points],
            np.append(self.y, new.y),
            np.append(self.noise_std, new.noise_std),
            _stacked(self.constraints, new.constraints),
            _stacked(self.goals, new.goals),
        )

    def best_index(self) -> int:
        """Return the index of the first feasible evaluation with the lowest finite value.

        Raises
        ------
        NotFittedError
            If no feasible point has a finite value.
        """
        finite = np.isfinite(self.y)
        good = finite & is_feasible(self.constraints)
        if not good.any():
            raise NotFittedError(
                "best_x_ and best_y_ need a finite value of a feasible point, got "
                f"{len(self)} values, {finite.sum()} of them finite"
                f"{', none feasible' if finite.any() else ''}. Pass one to tell() first."
            )
        return int(np.argmin(np.where(good, self.y, np.inf)))

    def best_points(self, n: int) -> FloatArray:
        """Return the n encoded points with the lowest finite values, feasible ones first.

        There are fewer than n if fewer values are finite.
        """
        finite = np.flatnonzero(np.isfinite(self.y))
        infeasible = ~is_feasible(self.constraints)[finite]
        return self.X[finite[np.lexsort([self.y[finite], infeasible])[:n]]]

    @cached_property
    def canonical(self) -> "Labelled":
        """Evaluations in an order that does not depend on the order of `tell`.

        Values that are too large to be modelled are replaced by NaN, and large noise is clipped.
        """
        more = *self.goals.T, *self.constraints.T
        order = np.lexsort([*more, self.noise_std, self.y, *self.X.T[::-1]])
        y = self.y[order]
        y = np.where(np.abs(y) > LARGEST, np.nan, y)
        most = MAX_NOISE_RATIO * (np.abs(y[np.isfinite(y)]).max(initial=0.0) or 1.0)
        noise_std = np.minimum(self.noise_std[order], most)
        return Labelled(self.X[order], y, noise_std, self.constraints[order], self.goals[order])


def _stacked(rows, more):
    """Stack two arrays vertically, filling missing columns with NaN."""
    stacked = np.full((len(rows) + len(more), max(rows.shape[1], more.shape[1])), np.nan)
    stacked[: len(rows), : rows.shape[1]] = rows
    stacked[len(rows) :, : more.shape[1]] = more
    return stacked


def is_feasible(constraints):
    """Return a mask of the rows of constraint values in which all constraints are satisfied."""
    return (constraints <= 0.0).all(axis=1)


def total_violation(constraints):
    """Return the total constraint violation at each point.

    The violation of each constraint is divided by its median. Unknown values count as 0.
    """
    passed = np.where(constraints > 0.0, constraints, 0.0)
    total = np.zeros(len(passed))
    for values in passed.T:
        some = values[(values > 0.0) & np.isfinite(values)]
        with np.errstate(over="ignore"):
            total += np.where(values > 0.0, values / np.median(some), 0.0) if some.size else values
    return total


def warn_about_large_values(y):
    """Warn about new observed values that are too large to be modelled."""
    beyond = np.isfinite(y) & (np.abs(y) > LARGEST)
    if beyond.any():
        warn_user(
            f"{beyond.sum()} of {y.size} values count as failed evaluations, because models cannot "
            f"represent values above {LARGEST:g} in size, got {y[beyond][0]:.3g}. Return "
            "float('nan') for a failure, or rescale the values.",
            BeyondModelWarning,
        )


def as_points(x, space):
    """Convert one or more points to a list or array, and return whether there is only one.

    Raises
    ------
    ValueError
        If the points of a box are masked or are not numeric.
    """
    if space.is_dict:
        single = isinstance(x, Mapping)
        points = _rows_of_frame(x) if hasattr(x, "columns") else x
        return ([dict(x)] if single else list(points)), single
    remedy = "Pass the array returned by ask(), or use a Space for named parameters."
    x = as_numbers("x", x, remedy)
    return (x if x.ndim == 2 else x.reshape(1, -1)), x.ndim < 2


def _rows_of_frame(frame):
    """Convert the rows of a DataFrame to dicts, without missing values."""
    rows = (zip(frame.columns, row, strict=True) for row in np.asarray(frame, dtype=object))
    return [{name: value for name, value in row if value == value} for row in rows]


def as_evaluations(x, y, space):
    """Validate points x and observed values y, and convert both to arrays or lists.

    Raises
    ------
    ValueError
        If x and y differ in length, or are not valid points and numbers.
    """
    points, single = as_points(x, space)
    values = as_numbers("y", y, "Pass float('nan') for a failed evaluation.")
    if values.shape != (() if single else (len(points),)):
        n, plural = len(points), "s" * (len(points) > 1)
        raise ValueError(
            f"y must be {'one number' if single else f'{n} number{plural}'}, one for every "
            f"point in x, got shape {values.shape}. Pass as many values as points."
        )
    return points, values.reshape(len(points))


def as_constraints(constraints, shape, n_constraints):
    """Validate constraint values and convert them to an array of shape (n, m).

    Parameters
    ----------
    constraints : array-like or None
    shape : tuple
        Shape of the array of observed values, which is (n,).
    n_constraints : int
        Number of constraints observed at earlier evaluations.

    Raises
    ------
    ValueError
        If the number of constraints has changed, or if a value is not a real number or is a
        boolean.
    """
    if constraints is None:
        return np.empty((*shape, 0))
    values = as_numbers("constraints", constraints, "Pass NaN for an unknown constraint.")
    if has_booleans(constraints):
        raise ValueError(
            "constraints must be numbers, at most 0 where a constraint holds, got booleans. Pass "
            "-1.0 if it holds and 1.0 if it does not."
        )
    if values.ndim < 2 and (shape == (1,) or values.shape == shape):
        values = values.reshape(shape[0], -1)
    m = values.shape[1] if values.ndim == 2 and len(values) == shape[0] else 0
    if m not in ([n_constraints] if n_constraints else range(1, m + 1)):
        expected = f"{n_constraints} as before" if n_constraints else "at least 1"
        raise ValueError(
            f"constraints must be of shape (m,) for one point, and ({shape[0]}, m) for "
            f"{shape[0]} points, m being {expected}, got shape {np.shape(constraints)}. Pass NaN "
            "for an unknown constraint."
        )
    return values
