"""Evaluation history: validated input, storage, and the rescaled view that models are fitted to.

Models see values whose squares are finite.
"""

from collections.abc import Mapping
from functools import cached_property
from typing import NamedTuple

import numpy as np
from sklearn.exceptions import NotFittedError

from skbo_silbo._checks import as_numbers, has_booleans, warn_user

ORDINARY = 2.0**200  # magnitudes between this and its inverse are modelled as they are
# A value above this, and far above all below it, stands for a failure. Sums of squares of larger
# ones overflow (from 1e154 on); measured values are smaller.
PENALTY = 1e100
GAP = 2.0**100  # how far, as a ratio
MOST_NAMED = 10  # rows in a warning
MAX_NOISE_RATIO = 2.0**30  # noise, relative to the largest value, beyond which a value says nothing


class BeyondModelWarning(UserWarning):
    """A value is so large that beside the others it cannot be modelled: it has failed."""


class Labelled(NamedTuple):
    """Evaluations in an order that depends on them alone, as models see them.

    Attributes
    ----------
    X : ndarray of shape (n, d)
        Points of the cube.
    y, noise_std : ndarray of shape (n,)
        Values and the standard deviations of their noise; NaN where failed, and where not known.
    constraints : ndarray of shape (n, m)
        NaN where not known.
    goals : ndarray of shape (n, k)
        The values of several goals, NaN where failed; k is 0 where there is one.
    """

    X: np.ndarray
    y: np.ndarray
    noise_std: np.ndarray
    constraints: np.ndarray
    goals: np.ndarray = np.empty((0, 0))

    def ranked(self):
        """Return the points, the best first, and how many of these are to be improved on.

        These are all where no constraint is known of any (failed ones too: to a model they have
        values), and the feasible ones elsewhere: those with a value, if there is one.
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


class History:
    """The evaluated points and their values, in the order of `tell`. It does not change.

    Parameters
    ----------
    n_features : int
        Columns of the encoded cube.

    Attributes
    ----------
    points : list
        The points as they were given.
    X : ndarray of shape (n, n_features)
        The same, encoded.
    y : ndarray of shape (n,)
        Their values; not finite where the evaluation failed.
    noise_std : ndarray of shape (n,)
        Standard deviations of the noise of the values, in the units of y; NaN where not known.
    constraints : ndarray of shape (n, m)
        At most 0 where they hold; NaN where not known. m is 0 until the first is observed.
    goals : ndarray of shape (n, k)
        The values of several goals, to be minimised, NaN where failed; k is 0 where there is one.
    """

    def __init__(self, n_features):
        self.points = []
        self.X = np.empty((0, n_features))
        self.y = self.noise_std = np.empty(0)
        self.constraints = self.goals = np.empty((0, 0))

    def __len__(self):
        return self.y.size

    def with_added(self, points, X, y, noise_std, constraints, goals=None):
        """Return a history with evaluations appended; no `goals`, no `constraints` are (n, 0)."""
        longer = History(self.X.shape[1])
        longer.points = [*self.points, *points]
        longer.X, longer.y = np.vstack([self.X, X]), np.append(self.y, y)
        longer.noise_std = np.append(self.noise_std, noise_std)
        longer.constraints = _stacked(self.constraints, constraints)
        longer.goals = _stacked(self.goals, np.empty((len(X), 0)) if goals is None else goals)
        return longer

    def best_index(self):
        """Return the position of the lowest finite value of a feasible point, the first of equals.

        None without one.
        """
        good = np.isfinite(self.y) & is_feasible(self.constraints)
        return int(np.argmin(np.where(good, self.y, np.inf))) if good.any() else None

    def require_best(self):
        """Return `best_index`.

        Raises
        ------
        NotFittedError
            Without one.
        """
        index = self.best_index()
        if index is None:
            n_finite = int(np.isfinite(self.y).sum())
            raise NotFittedError(
                "best_x_ and best_y_ need a finite value of a feasible point: got "
                f"{len(self)} values, {n_finite} of them finite"
                f"{', none feasible' if n_finite else ''}. Tell one first."
            )
        return index

    def best_places(self, n):
        """Return the places, (k, n_features), of the n lowest finite values at most.

        Those of feasible points come first.
        """
        finite = np.flatnonzero(np.isfinite(self.y))
        infeasible = ~is_feasible(self.constraints)[finite]
        return self.X[finite[np.lexsort([self.y[finite], infeasible])[:n]]]

    @cached_property
    def canonical(self):
        """The evaluations sorted by X, y, noise_std, constraints and goals: `Labelled`.

        Values and noise are as models see them (`as_modelled`).
        """
        more = *self.goals.T, *self.constraints.T
        order = np.lexsort([*more, self.noise_std, self.y, *self.X.T[::-1]])
        modelled = as_modelled(self.y[order], self.noise_std[order])
        return Labelled(self.X[order], *modelled, self.constraints[order], self.goals[order])

    def in_units(self, modelled):
        """Return numbers in the units of models in those of the values."""
        return np.ldexp(modelled, unit_exponent(self.y))


def _stacked(rows, more):
    """Return rows, (n, m), and more below them, (k, m or 0), NaN where some have no column."""
    stacked = np.full((len(rows) + len(more), max(rows.shape[1], more.shape[1])), np.nan)
    stacked[: len(rows), : rows.shape[1]] = rows
    stacked[len(rows) :, : more.shape[1]] = more
    return stacked


def is_feasible(constraints):
    """Return where all constraints, (n, m), are known to hold, (n,); everywhere if m is 0."""
    return (constraints <= 0.0).all(axis=1)


def total_violation(constraints):
    """Return the sum, (n,), of what constraints are passed by, each in units of its median.

    Those that are not known count nothing.
    """
    passed = np.where(constraints > 0.0, constraints, 0.0)
    total = np.zeros(len(passed))
    for values in passed.T:
        some = values[(values > 0.0) & np.isfinite(values)]
        with np.errstate(over="ignore"):
            total += np.where(values > 0.0, values / np.median(some), 0.0) if some.size else values
    return total


def exceeds_model_range(y):
    """Return which values are finite and beyond what can be modelled with the others.

    They are positive and above 1e100, and no magnitude lies within a factor of 1e30 below the
    least of them, while there is one further below: what people return for infeasible points,
    ``np.finfo(float).max`` or 1e308. On any scale on which the other values differ, squares of
    these overflow. Values that are large all together are not: they are scaled.

    Parameters
    ----------
    y : ndarray of shape (n,)
        As observed.

    Returns
    -------
    beyond : ndarray of bool of shape (n,)

    Examples
    --------
    >>> exceeds_model_range(np.array([3.0, 1e308, -2.0, 1e12]))
    array([False,  True, False, False])
    >>> exceeds_model_range(np.array([2e307, 1e308]))
    array([False, False])
    """
    sizes = np.unique(np.abs(y[np.isfinite(y) & (y != 0.0)]))
    with np.errstate(over="ignore"):
        gaps = np.flatnonzero((sizes[1:] > PENALTY) & (sizes[1:] / GAP > sizes[:-1]))
    if not gaps.size:
        return np.zeros(y.shape, bool)
    return np.isfinite(y) & (y >= sizes[gaps[0] + 1])


def unit_exponent(y):
    """Return the power of two that is the unit in which models see values, (n,).

    It is 0 for ordinary values. What exceeds the range of models has no say.

    Examples
    --------
    >>> unit_exponent(np.array([1.0, 7.0, 1e150])), unit_exponent(np.array([1e200, 3e200]))
    (0, 666)
    """
    usable = np.abs(y[np.isfinite(y) & ~exceeds_model_range(y)])
    largest = usable.max(initial=0.0)
    return int(np.frexp(largest)[1]) if largest and not 1.0 / ORDINARY <= largest <= ORDINARY else 0


def as_modelled(y, noise_std):
    """Return values and noise as models see them: NaN where out of range, in a unit of their own.

    Parameters
    ----------
    y, noise_std : ndarray of shape (n,)
        As observed.

    Returns
    -------
    y, noise_std : ndarray of shape (n,)
    """
    exponent, y = unit_exponent(y), np.where(exceeds_model_range(y), np.nan, y)
    if exponent:
        with np.errstate(over="ignore"):
            y, noise_std = np.ldexp(y, -exponent), np.ldexp(noise_std, -exponent)
    largest = 1.0 if exponent else np.abs(y[np.isfinite(y)]).max(initial=0.0)
    return y, np.minimum(noise_std, MAX_NOISE_RATIO * largest if largest else ORDINARY)


def warn_of_told(before, y, sign, left_out):
    """Warn of values, (n,), that are beyond what can be modelled since there were `before`.

    They were given with this sign. And warn, if they are left out, of constraints that were told
    before.
    """
    if left_out:
        warn_user(
            "constraints were told of earlier points and are left out now: these points are not "
            "known to be feasible, and none of them can be the best. Tell constraints with every "
            "value, NaN where one is not known."
        )
    beyond = exceeds_model_range(y)
    rows = np.setdiff1d(np.flatnonzero(beyond), np.flatnonzero(exceeds_model_range(before)))
    if not rows.size:
        return
    least, shown = sign * np.min(y[beyond]), ", ".join(map(str, rows[:MOST_NAMED]))
    more = ", ..." if rows.size > MOST_NAMED else ""
    warn_user(
        f"{rows.size} of {y.size} values count as failed evaluations: from {least:.3g} on they are "
        f"too large to be modelled with the others. They are those of row {shown}{more} of "
        "x_iters_, counted from 0. Return float('nan') for a failure.",
        BeyondModelWarning,
    )


def impute_failures(y):
    """Return y with every failed value replaced by the worst that succeeded; zeros if none did.

    A failed point is then unattractive, and so is its neighbourhood, but no worse than a place
    known to be bad: one crash does not bend the surrogate out of shape.
    """
    finite = np.isfinite(y)
    return np.where(finite, y, y[finite].max()) if finite.any() else np.zeros_like(y)


def as_points(x, space):
    """Return one point or several as a list or array of points, and whether it was one.

    Raises
    ------
    ValueError
        When they are no numbers where the space is a box, or masked.
    """
    if space.is_dict:
        single = isinstance(x, Mapping)
        points = _rows_of_frame(x) if hasattr(x, "columns") else x
        return ([dict(x)] if single else list(points)), single
    remedy = "Tell what ask() returned, (d,) or (n, d), or use a Space for named parameters."
    x = as_numbers("x", x, remedy)
    return (x if x.ndim == 2 else x.reshape(1, -1)), x.ndim < 2


def _rows_of_frame(frame):
    """Return the rows of a DataFrame as dicts, without what is NaN."""
    rows = (zip(frame.columns, row, strict=True) for row in np.asarray(frame, dtype=object))
    return [{name: value for name, value in row if value == value} for row in rows]


def as_evaluations(x, y, space):
    """Return x as points of the space, and y as a float array of as many.

    Raises
    ------
    ValueError
        When they differ in number, or are no points or no numbers.
    """
    points, single = as_points(x, space)
    values = as_numbers("y", y, "Tell float('nan') for a failed evaluation.")
    if values.shape != (() if single else (len(points),)):
        n, plural = len(points), "s" * (len(points) > 1)
        raise ValueError(
            f"y must be {'one number' if single else f'{n} number{plural}'}, one for every "
            f"point in x: got shape {values.shape}. Tell points and values in equal number."
        )
    return points, values.reshape(len(points))


def as_constraints(constraints, shape, n_known):
    """Return values of constraints, (n, m), NaN where they are not known; (n, 0) without any.

    Parameters
    ----------
    constraints : array-like or None
    shape : tuple
        That of the observed values, (n,).
    n_known : int
        How many constraints earlier evaluations have; 0 if none has any.

    Raises
    ------
    ValueError
        When they are of another number, or no real numbers, or booleans.
    """
    if constraints is None:
        return np.empty((*shape, 0))
    values = as_numbers("constraints", constraints, "Give NaN where one is not known.")
    if has_booleans(constraints):
        raise ValueError(
            "constraints must be numbers, at most 0 where a constraint holds: got booleans, of "
            "which True would be 1. Tell -1.0 where it holds and 1.0 where it does not."
        )
    if values.ndim < 2 and (shape == (1,) or values.shape == shape):
        values = values.reshape(shape[0], -1)
    m = values.shape[1] if values.ndim == 2 and len(values) == shape[0] else 0
    if m not in ([n_known] if n_known else range(1, m + 1)):
        told = f"{n_known} as told before" if n_known else "at least 1"
        raise ValueError(
            f"constraints must be of shape (m,) for one point, and ({shape[0]}, m) for "
            f"{shape[0]} points, m being {told}: got shape {np.shape(constraints)}. Give NaN where "
            "one is not known."
        )
    return values
