"""Box-shaped search spaces: lower and upper bounds for d numeric inputs."""

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from numbers import Integral
from typing import Any

import numpy as np
from scipy.optimize import Bounds

from skbo_silbo._checks import brief, has_text
from skbo_silbo._typing import ArrayLike, BoolArray, BoundsLike, FloatArray
from skbo_silbo.space.categories import Category
from skbo_silbo.space.keys import check_cube, snap, to_cube
from skbo_silbo.space.values import is_number

LOGARITHMIC = "log"


class Box:
    """Search space of d real inputs with lower and upper bounds.

    Each input, or its logarithm, is scaled linearly to [-1, 1]. An input with equal bounds is a
    constant, as in `scipy.optimize`: it is part of every decoded point but has no column in the
    cube [-1, 1]^m, so m <= d.

    Parameters
    ----------
    bounds : array-like of shape (d, 2) or scipy.optimize.Bounds
        Lower and upper bound of each input, finite and in the input's original unit.
    scale : "log", list of "log" and None, or None, default=None
        Scale on which the inputs are searched: "log" for all inputs, or a list with "log" or None
        for each input.

    Attributes
    ----------
    lower, upper : ndarray of shape (d,)
        Lower and upper bound of each input.
    is_logarithmic : ndarray of bool of shape (d,)
        Mask of the inputs that are searched on a logarithmic scale.
    n_features_ : int
        Number m of encoded columns, one for each input that is not constant.
    feature_names_ : list of str
        Names of the encoded columns: ``x0``, ``x1``, and so on.
    n_points : float or int
        Number of points in the box: ``math.inf``, or 1 if all inputs are constant.
    is_dict : bool
        Always False, because points are rows of an array.

    Raises
    ------
    ValueError
        If the bounds are empty, have the wrong shape, are not finite or are reversed, or if an
        input with a logarithmic scale has a lower bound of 0 or less.

    Notes
    -----
    Coordinates are rounded to multiples of 2^-30 of the range, so that encoding and decoding a
    point on this grid returns exactly the same numbers.

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

    def __repr__(self) -> str:
        n_logarithmic = int(self.is_logarithmic.sum())
        more = f", {n_logarithmic} logarithmic" if n_logarithmic else ""
        return f"Box(d={len(self.lower)}{more})"

    def encode(self, points: ArrayLike) -> FloatArray:
        """Encode points of the box as points of the cube [-1, 1]^m.

        Parameters
        ----------
        points : array-like of shape (n, d)
            Points inside the bounds, in the original units.

        Returns
        -------
        X : ndarray of shape (n, m)
            The nearest grid points of the cube [-1, 1]^m.

        Raises
        ------
        ValueError
            If the shape is wrong, or a point contains NaN or lies outside the bounds.
        """
        points = np.asarray(points, dtype=np.float64)
        if points.ndim != 2 or points.shape[1] != len(self.lower):
            raise ValueError(
                f"`points` must have shape (n, {len(self.lower)}), one column per input, "
                f"got {points.shape}."
            )
        inside = (points >= self.lower) & (points <= self.upper)
        if not inside.all():
            row, j = np.argwhere(~inside)[0]
            raise ValueError(
                f"`points` must lie inside the bounds [{self.lower[j]}, {self.upper[j]}] of input "
                f"{j}, got {points[row, j]} in row {row}. Clip the point or widen the bounds."
            )
        return self._place(points)

    def decode(self, X: ArrayLike) -> FloatArray:
        """Decode points of the cube [-1, 1]^m to points of the box.

        Parameters
        ----------
        X : array-like of shape (n, m)
            Encoded points, one per row. They are rounded before decoding.

        Returns
        -------
        points : ndarray of shape (n, d)
            Points inside the bounds, in the original units.

        Raises
        ------
        ValueError
            If the shape is wrong or a value lies outside [-1, 1].
        """
        u = snap((check_cube(X, self.n_features_) + 1.0) / 2.0)
        lower, upper = self._low, self._high
        points = np.tile(self.lower, (len(u), 1))
        # Interpolate from the nearer bound so that u = 0 and u = 1 give the bounds exactly.
        from_lower, from_upper = lower + u * (upper - lower), upper - (1.0 - u) * (upper - lower)
        values = np.where(u < 0.5, from_lower, from_upper)
        if self._is_log.any():
            ends, is_log = (self.lower[self._free], self.upper[self._free]), self._is_log
            values = np.clip(np.where(is_log, np.exp(np.where(is_log, values, 0.0)), values), *ends)
            values = np.where(u == 0.0, ends[0], np.where(u == 1.0, ends[1], values))
        points[:, self._free] = values
        return points

    def round(self, X: ArrayLike) -> FloatArray:
        """Round encoded points so that ``encode(decode(X))`` leaves them unchanged."""
        return self._place(self.decode(X))

    def every_point(self) -> FloatArray:
        """Return the only point, encoded, of a box in which lower and upper bounds are equal."""
        return np.empty((1, 0))

    def pinned(self, fixed: Mapping[int, float]) -> "Box":
        """Return this box with some inputs fixed to given values.

        Parameters
        ----------
        fixed : dict of int to float
            Values of the fixed inputs, by index.

        Returns
        -------
        box : Box

        Raises
        ------
        ValueError
            If an index is not between 0 and d - 1, or a value is outside its bounds.
        """
        bounds = np.column_stack([self.lower, self.upper])
        for j, value in fixed.items():
            is_index = isinstance(j, Integral) and not isinstance(j, bool) and 0 <= j < len(bounds)
            if not is_index or not is_number(value) or not bounds[j, 0] <= value <= bounds[j, 1]:
                where = f" [{self.lower[j]}, {self.upper[j]}]" if is_index else ""
                raise ValueError(
                    f"`fixed` must be a dict of input indices from 0 to {len(bounds) - 1} to "
                    f"numbers within the bounds{where} of the input, got {value!r} for input "
                    f"{j!r}. Change the value or widen the bounds."
                )
            bounds[j] = value
        return Box(bounds, self.scale)

    @property
    def scale(self) -> list[str | None]:
        """The scale of each input, "log" or None."""
        return [LOGARITHMIC if is_log else None for is_log in self.is_logarithmic]

    def spread(self, U: FloatArray) -> FloatArray:
        """Convert uniform samples in [0, 1]^m to encoded points."""
        return to_cube(U)

    def coordinates(self) -> list[list[int]]:
        """Return the encoded columns that depend on each column of the samples for `spread`."""
        return [[j] for j in range(self.n_features_)]

    def with_value(self, X: FloatArray, name: str, value: float) -> FloatArray:
        """Return a copy of the encoded points X with one input set to a value."""
        j = self.feature_names_.index(name)
        point = self.lower[None].copy()
        point[0, self._free[j]] = value
        return np.where(np.arange(self.n_features_) == j, self._place(point), X)

    def with_values(self, X: FloatArray, values: Mapping[str, float]) -> FloatArray:
        """Return a copy of the encoded points X with several inputs set to values."""
        for name in values.keys() & set(self.feature_names_):
            X = self.with_value(X, name, values[name])
        return X

    def categories(self) -> list[Category]:
        """Return an empty list, because a box has no categorical parameters."""
        return []

    def column_groups(self) -> dict[str, list[int]]:
        """Return the encoded columns of each input that is not constant."""
        return {name: [j] for j, name in enumerate(self.feature_names_)}

    def _place(self, points: FloatArray) -> FloatArray:
        """Return the encoded grid points that are nearest to points inside the bounds."""
        values = points[:, self._free]
        if self._is_log.any():
            values = self._scaled(values)
        return 2.0 * snap((values - self._low) / (self._high - self._low)) - 1.0

    def _scaled(self, values: FloatArray) -> FloatArray:
        """Take the logarithm of the columns whose inputs have a logarithmic scale."""
        return np.where(self._is_log, np.log(np.where(self._is_log, values, 1.0)), values)


def _check_bounds(bounds: Any) -> tuple[FloatArray, FloatArray]:
    """Validate `bounds` and return the lower and upper bounds as arrays."""
    if isinstance(bounds, Bounds):
        bounds = np.column_stack(np.broadcast_arrays(np.ravel(bounds.lb), np.ravel(bounds.ub)))
    given = bounds
    with suppress(TypeError, ValueError):
        bounds = np.array(given, dtype=np.float64)
    is_array = isinstance(bounds, np.ndarray) and bounds.dtype == np.float64
    is_text = is_array and has_text(given)  # NumPy converts "1" to 1.0
    if not is_array or is_text or bounds.shape[1:] != (2,) or len(bounds) == 0:
        is_of_numbers = is_array and not is_text and given is not None
        got = f"shape {bounds.shape}" if is_of_numbers else brief(given)
        raise ValueError(
            "`bounds` must be an array-like of numbers of shape (d, 2), one (lower, upper) pair "
            f"per input, got {got}. Use scale='log' for logarithmic scales and a Space for named "
            "or mixed parameters."
        )
    lower, upper = bounds.T.copy()
    _refuse(~np.isfinite(bounds).all(axis=1), given, "be finite", "Give a finite search range")
    _refuse(lower > upper, bounds, "not be reversed", "Write (lower, upper)")
    with np.errstate(over="ignore"):
        too_wide = ~np.isfinite(upper - lower)
    _refuse(too_wide, bounds, "have a finite range upper - lower", "Search the logarithm instead")
    return lower, upper


def _check_scale(scale: Any, lower: FloatArray) -> BoolArray:
    """Validate `scale` and return a mask of the inputs with a logarithmic scale."""
    listed = [scale] * len(lower) if scale is None or isinstance(scale, str) else scale
    is_list = isinstance(listed, (list, tuple)) and len(listed) == len(lower)
    if not is_list or any(s is not None and s != LOGARITHMIC for s in listed):
        raise ValueError(
            f"`scale` must be None, {LOGARITHMIC!r}, or a list of {len(lower)} of these, one per "
            f"input, got {brief(scale)}."
        )
    is_logarithmic = np.array([s == LOGARITHMIC for s in listed])
    if (bad := is_logarithmic & (lower <= 0.0)).any():
        j = int(np.flatnonzero(bad)[0])
        raise ValueError(
            f"`scale` can only be {LOGARITHMIC!r} for inputs with positive bounds, but input {j} "
            f"has a lower bound of {lower[j]}. Raise the bound or set the scale of this input to "
            "None."
        )
    return is_logarithmic


def _refuse(bad: BoolArray, bounds: Any, rule: str, remedy: str) -> None:
    """Raise a ValueError about the first input for which the mask `bad` is True."""
    if bad.any():
        j = int(np.flatnonzero(bad)[0])
        got = np.asarray(bounds[j]).tolist()
        raise ValueError(f"bounds of input {j} must {rule}: got {got}. {remedy}.")
