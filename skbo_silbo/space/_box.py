"""The space of an array problem: lower and upper bounds of d numbers."""

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from numbers import Integral

import numpy as np
from scipy.optimize import Bounds

from skbo_silbo._checks import brief, has_text
from skbo_silbo._typing import ArrayLike, BoundsLike, FloatArray
from skbo_silbo.space._categories import Category
from skbo_silbo.space._keys import check_cube, snap, to_cube
from skbo_silbo.space._values import is_number

LOGARITHMIC = "log"


class Box:
    """Axis-aligned box of d real inputs, mapped to [-1, 1]^m: they or their logarithms, linearly.

    An input with equal bounds is a constant: it is part of every decoded point and has no column
    in the cube, so m <= d. (An engineer who wants to hold one input still sets both bounds to it;
    `scipy.optimize` reads equal bounds in the same way.)

    Parameters
    ----------
    bounds : array-like of shape (d, 2) or scipy.optimize.Bounds
        Lower and upper bound of every input, in the input's own unit. All finite.
    scale : "log", list of "log" and None, or None, default=None
        Which inputs are searched by their logarithm: all, or those so named in a list of d.

    Attributes
    ----------
    lower, upper : ndarray of shape (d,)
        The bounds.
    is_logarithmic : ndarray of bool of shape (d,)
        Which inputs are mapped by their logarithm.
    n_features_ : int
        Columns m of the encoded cube: the number of inputs that are not constant.
    feature_names_ : list of str
        ``x0``, ``x1``, ... for the columns of the cube.
    n_points : float or int
        ``math.inf``, or 1 when every input is constant.
    is_dict : bool
        False: points are rows of an array.

    Raises
    ------
    ValueError
        If the bounds are empty, of another shape, not finite or reversed, or not above 0 where the
        scale is logarithmic.

    Notes
    -----
    Coordinates are multiples of 2^-30 of the range, so that decoding an encoded point gives back
    exactly the same numbers.

    Examples
    --------
    >>> from skbo_silbo.space import Box
    >>> box = Box([(0, 10), (3, 3), (-1, 1)])
    >>> box.n_features_, box.feature_names_
    (2, ['x0', 'x2'])
    >>> box.decode([[0, 0.5]])
    array([[5. , 3. , 0.5]])
    >>> box.encode([[5, 3, 0.5]])
    array([[0. , 0.5]])
    >>> Box([(1e-4, 1), (-1, 1)], scale=["log", None]).decode([[0, 0.5]])
    array([[0.01, 0.5 ]])
    """

    is_dict = False

    def __init__(self, bounds: BoundsLike, scale: str | Sequence[str | None] | None = None) -> None:
        self.lower, self.upper = _check_bounds(bounds)
        self._free = np.flatnonzero(self.lower < self.upper)
        self.is_logarithmic = _check_scale(scale, self.lower)
        self._is_log = self.is_logarithmic[self._free]
        ends = self.lower[self._free], self.upper[self._free]
        self._low, self._high = map(self._scaled, ends)
        self.n_features_ = len(self._free)
        self.feature_names_ = [f"x{j}" for j in self._free]
        self.n_points = math.inf if self.n_features_ else 1

    def __repr__(self):
        n_logarithmic = int(self.is_logarithmic.sum())
        more = f", {n_logarithmic} by their logarithm" if n_logarithmic else ""
        return f"Box(d={len(self.lower)}{more})"

    def encode(self, points: ArrayLike) -> FloatArray:
        """Map points to the cube.

        Parameters
        ----------
        points : array-like of shape (n, d)
            Points inside the bounds, in the inputs' own units.

        Returns
        -------
        X : ndarray of shape (n, m)
            The nearest grid points of [-1, 1]^m.

        Raises
        ------
        ValueError
            If the shape is wrong or a point is NaN, infinite or outside the bounds.
        """
        points = np.asarray(points, dtype=np.float64)
        if points.ndim != 2 or points.shape[1] != len(self.lower):
            raise ValueError(
                f"points must have shape (n, {len(self.lower)}), one column per input: "
                f"got {points.shape}. Give one row per point."
            )
        inside = (points >= self.lower) & (points <= self.upper)
        if not inside.all():
            row, j = np.argwhere(~inside)[0]
            raise ValueError(
                f"points must lie inside the bounds [{self.lower[j]}, {self.upper[j]}] of input "
                f"{j}: got {points[row, j]} in row {row}. Clip the point or widen the bounds."
            )
        return self._place(points)

    def decode(self, X: ArrayLike) -> FloatArray:
        """Map points of the cube to the box.

        Parameters
        ----------
        X : array-like of shape (n, m)
            Points of [-1, 1]^m, rounded to the grid here.

        Returns
        -------
        points : ndarray of shape (n, d)
            Points inside the bounds, in the inputs' own units.

        Raises
        ------
        ValueError
            If the shape is wrong or a value lies outside [-1, 1].
        """
        u = snap((check_cube(X, self.n_features_) + 1.0) / 2.0)
        lower, upper = self._low, self._high
        points = np.tile(self.lower, (len(u), 1))
        # From the nearer bound, so that u = 0 and u = 1 give the bounds to the last bit.
        from_lower, from_upper = lower + u * (upper - lower), upper - (1.0 - u) * (upper - lower)
        values = np.where(u < 0.5, from_lower, from_upper)
        if self._is_log.any():
            ends, is_log = (self.lower[self._free], self.upper[self._free]), self._is_log
            values = np.clip(np.where(is_log, np.exp(np.where(is_log, values, 0.0)), values), *ends)
            values = np.where(u == 0.0, ends[0], np.where(u == 1.0, ends[1], values))
        points[:, self._free] = values
        return points

    def round(self, X: ArrayLike) -> FloatArray:
        """Return the grid points of the cube that X, (n, m), stands for: ``encode(decode(X))``.

        Where the grid is finer than floating-point numbers near the bounds, these are the nearest
        that stand for a number. A ValueError says where X is no points of the cube.
        """
        return self._place(self.decode(X))

    def every_point(self) -> FloatArray:
        """Return the only point of a box without free inputs, (1, 0)."""
        return np.empty((1, 0))

    def pinned(self, fixed: Mapping[int, float]) -> "Box":
        """Return the part of this box in which inputs have the values of a dict, by index.

        Raises
        ------
        ValueError
            If an index is not from 0 to d - 1, or a value is outside its bounds.
        """
        bounds = np.column_stack([self.lower, self.upper])
        for j, value in fixed.items():
            is_index = isinstance(j, Integral) and not isinstance(j, bool) and 0 <= j < len(bounds)
            if not is_index or not is_number(value) or not bounds[j, 0] <= value <= bounds[j, 1]:
                where = f" [{self.lower[j]}, {self.upper[j]}]" if is_index else ""
                raise ValueError(
                    f"fixed must be a dict of indices from 0 to {len(bounds) - 1} to numbers "
                    f"within the bounds{where} of the input: got {value!r} for {j!r}. Count the "
                    "inputs from 0; change the value or widen the bounds."
                )
            bounds[j] = value
        return Box(bounds, self.scale)

    @property
    def scale(self) -> list[str | None]:
        """The scale of every input, "log" or None."""
        return [LOGARITHMIC if is_log else None for is_log in self.is_logarithmic]

    def spread(self, U: FloatArray) -> FloatArray:
        """Return points of the cube from uniform numbers in [0, 1], (n, m): one for an input."""
        return to_cube(U)

    def coordinates(self) -> list[list[int]]:
        """Return which columns each of the numbers that `spread` takes sets."""
        return [[j] for j in range(self.n_features_)]

    def with_value(self, X: FloatArray, name: str, value: float) -> FloatArray:
        """Return points of the cube, (n, m), with another value of an input, ``x0`` or another."""
        j = self.feature_names_.index(name)
        point = self.lower[None].copy()
        point[0, self._free[j]] = value
        X = X.copy()
        X[:, j] = self._place(point)[0, j]
        return X

    def with_values(self, X: FloatArray, values: Mapping[str, float]) -> FloatArray:
        """Return points of the cube, (n, m), with other values of inputs; constants have theirs."""
        for name in values.keys() & set(self.feature_names_):
            X = self.with_value(X, name, values[name])
        return X

    def categories(self) -> list[Category]:
        """Return an empty list: inputs of a box are numbers."""
        return []

    def column_groups(self) -> dict[str, list[int]]:
        """Return which columns each input that is not constant has: dict of str to list of int."""
        return {name: [j] for j, name in enumerate(self.feature_names_)}

    def _place(self, points):
        """Return the nearest grid points of the cube of points, (n, d), inside the bounds."""
        values = points[:, self._free]
        if self._is_log.any():
            values = self._scaled(values)
        return 2.0 * snap((values - self._low) / (self._high - self._low)) - 1.0

    def _scaled(self, values):
        """Return values of the free inputs, (..., m), or, where it is these, their logarithms."""
        return np.where(self._is_log, np.log(np.where(self._is_log, values, 1.0)), values)


def _check_bounds(bounds):
    """Return lower and upper bounds, each (d,), or raise ValueError."""
    if isinstance(bounds, Bounds):
        bounds = np.column_stack(np.broadcast_arrays(np.ravel(bounds.lb), np.ravel(bounds.ub)))
    given = bounds
    with suppress(TypeError, ValueError):
        bounds = np.array(given, dtype=np.float64)
    is_array = isinstance(bounds, np.ndarray) and bounds.dtype == np.float64
    is_text = is_array and has_text(given)  # which numpy reads
    if not is_array or is_text or bounds.shape[1:] != (2,) or len(bounds) == 0:
        is_of_numbers = is_array and not is_text and given is not None
        got = f"shape {bounds.shape}" if is_of_numbers else brief(given)
        raise ValueError(
            "bounds must be numbers of shape (d, 2) with d >= 1, a (lower, upper) pair per input: "
            f"got {got}. Transpose what is (2, d), give scale='log' for logarithms, or a Space for "
            "named or mixed parameters."
        )
    lower, upper = bounds.T.copy()
    _refuse(~np.isfinite(bounds).all(axis=1), given, "be finite", "Give a finite search range")
    _refuse(lower > upper, bounds, "not be reversed", "Write (lower, upper)")
    with np.errstate(over="ignore"):
        too_wide = ~np.isfinite(upper - lower)
    _refuse(too_wide, bounds, "have a finite range upper - lower", "Search the logarithm instead")
    return lower, upper


def _check_scale(scale, lower):
    """Return which inputs are logarithmic, bool of shape (d,), or raise ValueError."""
    listed = [scale] * len(lower) if scale is None or isinstance(scale, str) else scale
    is_list = isinstance(listed, (list, tuple)) and len(listed) == len(lower)
    if not is_list or any(s is not None and s != LOGARITHMIC for s in listed):
        raise ValueError(
            f"scale must be None, {LOGARITHMIC!r}, or a list of these for each of {len(lower)} "
            f"inputs: got {brief(scale)}. Write one for every input."
        )
    is_logarithmic = np.array([s == LOGARITHMIC for s in listed])
    if (bad := is_logarithmic & (lower <= 0.0)).any():
        j = int(np.flatnonzero(bad)[0])
        raise ValueError(
            f"scale of input {j} must be None unless its bounds are above 0: got {LOGARITHMIC!r} "
            f"with a lower bound of {lower[j]}. Raise it, or write None in a list for this input."
        )
    return is_logarithmic


def _refuse(bad, bounds, rule, remedy):
    """Raise ValueError for the first input where `bad` is true."""
    if bad.any():
        j = int(np.flatnonzero(bad)[0])
        got = np.asarray(bounds[j]).tolist()
        raise ValueError(f"bounds of input {j} must {rule}: got {got}. {remedy}.")
