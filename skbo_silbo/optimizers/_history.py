"""Evaluation history: validation, storage, and the rescaled values that models are fitted to.

Values are rescaled or dropped so that their squares do not overflow.
"""

from collections.abc import Mapping
from functools import cached_property
from typing import NamedTuple

import numpy as np
from sklearn.exceptions import NotFittedError

from skbo_silbo._checks import as_numbers, has_booleans, warn_user

ORDINARY = 2.0**200  # magnitudes between this and its inverse are not rescaled
# Values above PENALTY, and GAP times larger than all others, are penalties for failed evaluations.
# Their squares would overflow (from 1e154 on).
PENALTY = 1e100
GAP = 2.0**100
MOST_NAMED = 10  # rows listed in a warning
MAX_NOISE_RATIO = 2.0**30  # largest modelled noise, relative to the largest value


class BeyondModelWarning(UserWarning):
    """Warning for a value too large to be modelled with the others, treated as failed."""


class Labelled(NamedTuple):
    """The evaluations in canonical order, with the values that models are fitted to.

    The order does not depend on the order of the calls of `tell`.

    Attributes
    ----------
    X : ndarray of shape (n, d)
        Encoded points.
    y, noise_std : ndarray of shape (n,)
        Values and standard deviations of their noise; NaN for failed evaluations and unknown noise.
    constraints : ndarray of shape (n, m)
        Observed constraints; NaN if unknown.
    goals : ndarray of shape (n, k)
        Values of several objectives, NaN for failed evaluations; k is 0 with one objective.
    """

    X: np.ndarray
    y: np.ndarray
    noise_std: np.ndarray
    constraints: np.ndarray
    goals: np.ndarray = np.empty((0, 0))

    def ranked(self):
        """Return the points, best first, and the number of leading points to improve on.

        Without constraints this is the number of all points, failed ones included, because models
        impute their values. Otherwise it is the number of feasible points, restricted to those with
        a finite value if there is one.
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
    """The evaluated points and their values, in the order of `tell`; immutable.

    Parameters
    ----------
    n_features : int
        Number of columns of encoded points.

    Attributes
    ----------
    points : list
        The points as the user passed them.
    X : ndarray of shape (n, n_features)
        The encoded points.
    y : ndarray of shape (n,)
        Observed values; not finite for failed evaluations.
    noise_std : ndarray of shape (n,)
        Standard deviations of the noise, in the units of y; NaN if unknown.
    constraints : ndarray of shape (n, m)
        Observed constraints, at most 0 where they hold, NaN if unknown. m is 0 until the first one
        is observed.
    goals : ndarray of shape (n, k)
        Values of several objectives, to be minimised, NaN for failed evaluations; k is 0 with one
        objective.
    """

    def __init__(self, n_features):
        self.points = []
        self.X = np.empty((0, n_features))
        self.y = self.noise_std = np.empty(0)
        self.constraints = self.goals = np.empty((0, 0))

    def __len__(self):
        return self.y.size

    def with_added(self, points, X, y, noise_std, constraints, goals=None):
        """Return a history with evaluations appended; None or (n, 0) means no objectives."""
        longer = History(self.X.shape[1])
        longer.points = [*self.points, *points]
        longer.X, longer.y = np.vstack([self.X, X]), np.append(self.y, y)
        longer.noise_std = np.append(self.noise_std, noise_std)
        longer.constraints = _stacked(self.constraints, constraints)
        longer.goals = _stacked(self.goals, np.empty((len(X), 0)) if goals is None else goals)
        return longer

    def best_index(self):
        """Return the index of the first lowest finite value at a feasible point, or None."""
        good = np.isfinite(self.y) & is_feasible(self.constraints)
        return int(np.argmin(np.where(good, self.y, np.inf))) if good.any() else None

    def require_best(self):
        """Return `best_index`, or raise an error if no feasible point has a finite value.

        Raises
        ------
        NotFittedError
            If no feasible point has a finite value.
        """
        index = self.best_index()
        if index is None:
            n_finite = int(np.isfinite(self.y).sum())
            raise NotFittedError(
                "best_x_ and best_y_ need a finite value of a feasible point, got "
                f"{len(self)} values, {n_finite} of them finite"
                f"{', none feasible' if n_finite else ''}. Pass one to tell() first."
            )
        return index

    def best_places(self, n):
        """Return the encoded points of the n lowest finite values, of shape (k, n_features).

        Feasible points come first.
        """
        finite = np.flatnonzero(np.isfinite(self.y))
        infeasible = ~is_feasible(self.constraints)[finite]
        return self.X[finite[np.lexsort([self.y[finite], infeasible])[:n]]]

    @cached_property
    def canonical(self):
        """The evaluations in canonical order, as `Labelled`.

        Values and noise are scaled for the models by `as_modelled`.
        """
        more = *self.goals.T, *self.constraints.T
        order = np.lexsort([*more, self.noise_std, self.y, *self.X.T[::-1]])
        modelled = as_modelled(self.y[order], self.noise_std[order])
        return Labelled(self.X[order], *modelled, self.constraints[order], self.goals[order])

    def in_units(self, modelled):
        """Convert values from the scale of the models to the scale of the observed values."""
        return np.ldexp(modelled, unit_exponent(self.y))


def _stacked(rows, more):
    """Stack rows, (n, m), on more rows, (k, m or 0), filling missing columns with NaN."""
    stacked = np.full((len(rows) + len(more), max(rows.shape[1], more.shape[1])), np.nan)
    stacked[: len(rows), : rows.shape[1]] = rows
    stacked[len(rows) :, : more.shape[1]] = more
    return stacked


def is_feasible(constraints):
    """Return whether all constraints, (n, m), are known to hold, of shape (n,)."""
    return (constraints <= 0.0).all(axis=1)


def total_violation(constraints):
    """Return the sum of constraint violations, (n,), each in units of its median.

    Unknown constraints count as 0.
    """
    passed = np.where(constraints > 0.0, constraints, 0.0)
    total = np.zeros(len(passed))
    for values in passed.T:
        some = values[(values > 0.0) & np.isfinite(values)]
        with np.errstate(over="ignore"):
            total += np.where(values > 0.0, values / np.median(some), 0.0) if some.size else values
    return total


def exceeds_model_range(y):
    """Return which finite values are too large to be modelled with the others.

    These are penalties for failed evaluations, such as ``np.finfo(float).max`` or 1e308: values
    above 1e100, separated from the next smaller magnitude by a factor of at least 1e30. Their
    squares overflow on any scale that resolves the other values. If all values are large, they are
    rescaled instead.

    Parameters
    ----------
    y : ndarray of shape (n,)
        Observed values.

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
    """Return the exponent of two of the unit in which values y, (n,), are modelled.

    It is 0 for values of ordinary magnitude. Values beyond the range of the models are ignored.

    Examples
    --------
    >>> unit_exponent(np.array([1.0, 7.0, 1e150])), unit_exponent(np.array([1e200, 3e200]))
    (0, 666)
    """
    usable = np.abs(y[np.isfinite(y) & ~exceeds_model_range(y)])
    largest = usable.max(initial=0.0)
    return int(np.frexp(largest)[1]) if largest and not 1.0 / ORDINARY <= largest <= ORDINARY else 0


def as_modelled(y, noise_std):
    """Rescale values and noise for the models, with NaN for values out of range.

    Parameters
    ----------
    y, noise_std : ndarray of shape (n,)
        Observed values and standard deviations.

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


def warn_about_observations(before, y, sign, left_out):
    """Warn about new values, among y, that are too large to be modelled.

    Also warn if constraints were omitted (`left_out`) although earlier points had them. `sign` is
    the factor between the observed values and y, and `before` the values before the update.
    """
    if left_out:
        warn_user(
            "constraints were left out for these points, although earlier points have them. Points "
            "not known to be feasible cannot be the best. Pass constraints with every value, NaN "
            "if unknown."
        )
    beyond = exceeds_model_range(y)
    rows = np.setdiff1d(np.flatnonzero(beyond), np.flatnonzero(exceeds_model_range(before)))
    if not rows.size:
        return
    least, shown = sign * np.min(y[beyond]), ", ".join(map(str, rows[:MOST_NAMED]))
    more = ", ..." if rows.size > MOST_NAMED else ""
    warn_user(
        f"{rows.size} of {y.size} values count as failed evaluations, because values from "
        f"{least:.3g} on are too large to be modelled with the others. See row {shown}{more} of "
        "x_iters_, counted from 0. Return float('nan') for a failure.",
        BeyondModelWarning,
    )


def impute_failures(y):
    """Replace failed values by the worst successful one, or zeros if none succeeded.

    This makes failed points unattractive without distorting the surrogate.
    """
    finite = np.isfinite(y)
    return np.where(finite, y, y[finite].max()) if finite.any() else np.zeros_like(y)


def as_points(x, space):
    """Return points as a list or array, and whether x was a single point.

    Raises
    ------
    ValueError
        If the points of a box are masked or not numeric.
    """
    if space.is_dict:
        single = isinstance(x, Mapping)
        points = _rows_of_frame(x) if hasattr(x, "columns") else x
        return ([dict(x)] if single else list(points)), single
    remedy = "Pass the array returned by ask(), or use a Space for named parameters."
    x = as_numbers("x", x, remedy)
    return (x if x.ndim == 2 else x.reshape(1, -1)), x.ndim < 2


def _rows_of_frame(frame):
    """Return the rows of a DataFrame as dicts, without missing values."""
    rows = (zip(frame.columns, row, strict=True) for row in np.asarray(frame, dtype=object))
    return [{name: value for name, value in row if value == value} for row in rows]


def as_evaluations(x, y, space):
    """Validate x and y, and return a list or array of points and a float array.

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


def as_constraints(constraints, shape, n_known):
    """Validate constraint values and return them with shape (n, m), NaN if unknown.

    Parameters
    ----------
    constraints : array-like or None
    shape : tuple
        Shape of the observed values, (n,).
    n_known : int
        Number of constraints of earlier evaluations; 0 if none has any.

    Raises
    ------
    ValueError
        If their number differs, or they are boolean or not real numbers.
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
    if m not in ([n_known] if n_known else range(1, m + 1)):
        expected = f"{n_known} as before" if n_known else "at least 1"
        raise ValueError(
            f"constraints must be of shape (m,) for one point, and ({shape[0]}, m) for "
            f"{shape[0]} points, m being {expected}, got shape {np.shape(constraints)}. Pass NaN "
            "for an unknown constraint."
        )
    return values
