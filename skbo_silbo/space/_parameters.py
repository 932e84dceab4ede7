"""Parameters of a search space and their encoding as columns of the cube.

All parameter classes have the same interface:

- ``n_columns``, ``column_names``: the columns of the cube, with coordinates in [-1, 1];
- ``n_values``, ``values``: number and list of possible values (``math.inf`` and None if they
  cannot be listed);
- ``encode(values)``: columns of shape (n, n_columns);
- ``decode(columns)``: list of n values. A uniform draw from the cube decodes to a draw from the
  parameter's distribution;
- ``round(columns)``: the same as ``encode(decode(columns))``, but faster;
- ``spread(u)``: columns for uniform samples u of shape (n,) from [0, 1];
- ``holds(value)``: whether a value is possible;
- ``own(value)``: a value as ``decode`` would return it, such as a number of the right type;
- ``text``: the range or the list of values, for messages and tables;
- ``describe(label)``: JSON-compatible data that are equal for parameters with the same values, in
  which ``label(value)`` is the text of a value that JSON does not represent.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from numbers import Integral
from typing import Any, TypeAlias

import numpy as np
from scipy import stats
from scipy.stats import rv_discrete

from skbo_silbo._checks import brief, warn_user
from skbo_silbo._typing import FloatArray, IntArray
from skbo_silbo.space.keys import STEP, snap, to_cube
from skbo_silbo.space.values import (
    Positions,
    alike,
    describe_pair,
    describe_values,
    distinct,
    format_value,
    is_interval,
    is_number,
    unique_names,
)

# Unbounded distributions are truncated at this tail probability (3.8 standard deviations of a
# normal), because optimisers, unlike random draws, try the very edge of the space.
TAIL = 2.0**-14
# Parameters of which None is no limit, above all numbers; elsewhere None is a choice of its own
UNLIMITED = {
    *("early_stopping_rounds", "max_categories", "max_depth", "max_features", "max_leaf_nodes"),
    *("max_samples", "n_components", "n_iter_no_change"),
}
CLOSE = 1e-6  # relative distance at which the searched range is extended to the bound
# NumPy types whose values are the same as Python's; others are passed on unchanged
PLAIN = (np.bool_, np.int64, np.float64, np.str_)
N_QUANTILES = 9  # used to compare distributions that are not of scipy.stats
MOST_SHOWN = 6  # largest number of values printed per parameter

Label: TypeAlias = Callable[[Any], str]


class _Listed:
    """Base class of parameters that take one of a list of values."""

    values: list[Any]
    n_values: int
    _index: Any  # value -> its index in `values`
    _columns_at: Any  # indices -> columns (n, n_columns)
    _nearest: Any  # columns -> indices of the nearest values

    def encode(self, values: Any) -> FloatArray:
        """Encode values of the parameter as columns of the cube [-1, 1]^m."""
        return self._columns_at([self._index(value) for value in values])

    def decode(self, columns: FloatArray) -> list[Any]:
        """Return the parameter values nearest to the encoded columns."""
        return [self.values[i] for i in self._nearest(columns)]

    def round(self, columns: FloatArray) -> FloatArray:
        """Replace the encoded columns by the encodings of the nearest parameter values."""
        return self._columns_at(self._nearest(columns))

    def spread(self, u: FloatArray) -> FloatArray:
        """Convert uniform samples in [0, 1] to encoded values, all equally likely."""
        return self._columns_at(np.minimum((u * self.n_values).astype(int), self.n_values - 1))

    @property
    def text(self) -> str:
        """List of values, abbreviated if it is long."""
        values = [format_value(value) for value in self.values]
        return ", ".join(values if len(values) <= MOST_SHOWN else [*values[:3], "...", values[-1]])


class Levels(_Listed):
    """Ordered numeric parameter, encoded by one column with an interval for each level.

    The last level may be None, where it means "no limit". A number that is not a level is encoded
    as the nearest level if `mass`, a function that returns its probability, is given and positive.
    Otherwise it is rejected.
    """

    n_columns = 1

    def __init__(
        self, name: str, values: Any, weights: Any, *, mass: Any = None, distribution: Any = None
    ) -> None:
        self.name, self.values, self.mass = name, list(values), mass
        self.weights, self.distribution = weights, distribution
        self.n_values, self.column_names = len(self.values), [name]
        self._position = {value: i for i, value in enumerate(self.values)}  # also finds 2.0 for 2
        edges = np.cumsum(weights) / np.sum(weights)
        self._inner = edges[:-1]
        self._centres = to_cube((np.r_[0.0, self._inner] + np.r_[self._inner, 1.0]) / 2.0)

    def spread(self, u: FloatArray) -> FloatArray:
        """Convert uniform samples in [0, 1] to the encoded column."""
        return to_cube(u)[:, None]

    def own(self, value: Any) -> Any:
        """Return the level that equals the given value, or the value itself if none does."""
        i = self._find(value)
        return value if i is None else self.values[i]

    def holds(self, value: Any) -> bool:
        """Return whether the value is one of the levels."""
        i = self._find(value)
        return i is not None and alike(value, self.values[i])

    def describe(self, label: Label = format_value) -> dict[str, Any]:
        """Describe the distribution of the parameter, or its levels and their weights."""
        if (call := describe_distribution(self.distribution)) is not None:
            return {"text": self.text, **call}
        own = {} if self.mass is None else {"weights": np.asarray(self.weights, float).tolist()}
        return {"text": self.text, "levels": describe_values(self.values, label), **own}

    def _columns_at(self, index: Any) -> FloatArray:
        """Return the centres of the intervals that encode the given levels."""
        return self._centres[index, None]

    def _nearest(self, columns: FloatArray) -> IntArray:
        """Return the indices of the levels whose intervals contain the encoded coordinates."""
        return np.searchsorted(self._inner, (columns[:, 0] + 1.0) / 2.0, side="right")

    def _find(self, value: Any) -> int | None:
        is_possible = value is None or is_number(value)  # unlike True, which equals 1
        return self._position.get(value) if is_possible else None

    def _index(self, value: Any) -> int:
        i = self._find(value)
        if i is None and self.mass is not None and is_number(value) and self.mass(value) > 0:
            i = int(np.argmin(np.abs(np.asarray(self.values, dtype=float) - value)))
        if i is None:
            raise ValueError(_not_one_of(self.name, self.values, value))
        return i


class LevelsOrNone(Levels):
    """Ordered numbers or None, encoded by two columns; the first indicates None."""

    n_columns = 2
    spread = _Listed.spread

    def __init__(self, name: str, numbers: list[Any]) -> None:
        super().__init__(name, [*numbers, None], np.ones(len(numbers) + 1))
        self.column_names = [f"{name}=None", name]
        self._numbers = Levels(name, numbers, np.ones(len(numbers)))

    def describe(self, label: Label = format_value) -> dict[str, Any]:
        """Describe the levels of the parameter."""
        return {"text": self.text, "levels or None": describe_values(self.values, label)}

    def _columns_at(self, index: Any) -> FloatArray:
        """Encode None as (1, 0) and a number as -1 followed by its own coordinate."""
        index = np.asarray(index, dtype=int)
        is_none = index == self.n_values - 1
        numbers = self._numbers._columns_at(np.where(is_none, 0, index))[:, 0]
        return np.column_stack([np.where(is_none, 1.0, -1.0), np.where(is_none, 0.0, numbers)])

    def _nearest(self, columns: FloatArray) -> IntArray:
        # None is as probable as each of the numbers.
        is_none = columns[:, 0] > 1.0 - 2.0 / self.n_values
        return np.where(is_none, self.n_values - 1, self._numbers._nearest(columns[:, 1:]))


class Categories(_Listed):
    """Unordered categories, one-hot encoded with -1 and 1.

    Two values are encoded by a single column. A single value is a constant and has no column.
    """

    def __init__(self, name: str, values: Any) -> None:
        self.name, self._positions = name, Positions(values)
        self.values = self._positions.values
        self.n_values = len(self.values)
        self.n_columns = self.n_values if self.n_values > 2 else self.n_values - 1
        self.column_names = []
        if self.n_columns:
            labels = [v if isinstance(v, str) else format_value(v) for v in self.values]
            if len(set(labels)) < len(labels):  # such as 1 and "1"
                labels = list(map(format_value, self.values))
            self.column_names = unique_names(f"{name}={v}" for v in labels[-self.n_columns :])

    def own(self, value: Any) -> Any:
        """Return the category that equals the given value."""
        return self.values[self._index(value)]

    def holds(self, value: Any) -> bool:
        """Return whether the value is one of the categories."""
        return self._positions.holds(value)

    def describe(self, label: Label = format_value) -> dict[str, Any]:
        """Describe the categories."""
        return {"text": self.text, "categories": describe_values(self.values, label)}

    def _index(self, value: Any) -> int:
        if (i := self._positions.find(value)) is None:
            raise ValueError(_not_one_of(self.name, self.values, value))
        return i

    def _columns_at(self, index: Any) -> FloatArray:
        """Return the one-hot rows of the categories with the given indices."""
        if self.n_columns < 2:
            return 2.0 * np.asarray(index, dtype=float).reshape(-1, 1)[:, : self.n_columns] - 1.0
        rows = np.full((len(index), self.n_columns), -1.0)
        rows[np.arange(len(index)), index] = 1.0
        return rows

    def _nearest(self, columns: FloatArray) -> IntArray:
        """Return the index of the category with the largest one-hot entry in each row."""
        if self.n_columns > 1:
            return columns.argmax(axis=1)
        return (columns > 0).sum(axis=1)  # 0 for a constant


def is_category(parameter: Any) -> bool:
    """Return whether a parameter is categorical with at least two values."""
    return isinstance(parameter, Categories) and parameter.n_columns > 0


class Quantiles:
    """Parameter with a scipy.stats distribution, encoded by its cumulative probability."""

    n_columns, n_values, values = 1, math.inf, None
    spread = Levels.spread

    def __init__(self, name: str, distribution: Any, *, integer: bool) -> None:
        self.name, self.distribution, self.integer = name, distribution, integer
        self.column_names = [name]
        self._support = np.array(distribution.support(), dtype=float)
        self._ends = self._searched_shares()

    def _searched_shares(self) -> tuple[float, float]:
        """Return the cumulative probabilities at the lower and upper limit of the search.

        Both bounds of an interval are included. The bound of a half-open range is excluded: a draw
        from ``expon()`` is never 0, and most parameters with such a range do not allow 0.
        """
        tails = np.where(np.isfinite(self._support), STEP, TAIL)
        steps = self._support - self.distribution.ppf([STEP, 1.0 - STEP])
        if np.isfinite(width := np.ptp(self._support)):
            tails = np.where(np.abs(steps) <= CLOSE * width, 0.0, tails)
        return tails[0], 1.0 - tails[1]

    def own(self, value: Any) -> Any:
        """Convert a value to int for a discrete distribution, and otherwise to float."""
        return int(value) if self.integer else float(value)

    def holds(self, value: Any) -> bool:
        """Return whether a value has the right type and lies in the distribution's support."""
        low, high = self._support
        kind = is_number(value) and isinstance(value, Integral) == self.integer
        return kind and low <= value <= high

    def encode(self, values: Any) -> FloatArray:
        """Return the cumulative probabilities of parameter values, scaled to [-1, 1].

        Values of an unbounded distribution outside the searched range are clipped to it.
        """
        return self._columns(np.array([self._check(value) for value in values], dtype=float))

    def decode(self, columns: FloatArray) -> list[Any]:
        """Return the quantiles at encoded coordinates, clipped to the distribution's support."""
        values = self._quantiles(columns)
        return [int(v) for v in values] if self.integer else values.tolist()

    def round(self, columns: FloatArray) -> FloatArray:
        """Round encoded coordinates to the encodings of the nearest parameter values."""
        return self._columns(self._quantiles(columns))

    @property
    def text(self) -> str:
        """Limits and name of the distribution."""
        low, high = np.where(
            np.isfinite(self._support), self._support, self.decode(np.array([[-1.0], [1.0]]))
        )
        kind = getattr(getattr(self.distribution, "dist", None), "name", None)
        return f"{low:.6g} to {high:.6g}" + (f" ({kind})" if kind else "")

    def describe(self, label: Label = format_value) -> dict[str, Any]:
        """Describe a scipy.stats distribution by its parameters, and any other by quantiles."""
        if (call := describe_distribution(self.distribution)) is not None:
            return {"text": self.text, **call}
        quantiles = self._quantiles(np.linspace(-1.0, 1.0, N_QUANTILES)[:, None]).tolist()
        own = {"quantiles": quantiles, "integer": self.integer}
        return {"text": self.text, "support": list(map(as_json_number, self._support)), **own}

    def _quantiles(self, columns: FloatArray) -> FloatArray:
        values = self.distribution.ppf(self._canonical((columns[:, 0] + 1.0) / 2.0))
        return np.clip(values, *self._support)

    def _columns(self, values: Any) -> FloatArray:
        u = self.distribution.cdf(values)
        if self.integer:
            u = (u + self.distribution.cdf(values - 1)) / 2.0  # centre of the integer's interval
        return to_cube(self._canonical(u))[:, None]

    def _canonical(self, u: FloatArray) -> FloatArray:
        return np.clip(snap(u), *self._ends)

    def _check(self, value: Any) -> Any:
        low, high = self._support
        inside = is_number(value) and low <= value <= high
        if not inside or (self.integer and value != int(value)):
            kind = "an integer" if self.integer else "a number"
            raise ValueError(
                f"Parameter {self.name!r} must be {kind} in the support [{low}, {high}] of its "
                f"distribution, got {brief(value)}. Widen the distribution or change the point."
            )
        return value


def _not_one_of(name: str, values: Any, value: Any) -> str:
    if len(values) == 1:
        return (
            f"Parameter {name!r} must be {brief(values[0])}, its only value, got "
            f"{brief(value)}. Add the value to the space or change the point."
        )
    shown = ", ".join(map(brief, values[:10])) + (", ..." if len(values) > 10 else "")
    return (
        f"Parameter {name!r} must be one of {shown}, got {brief(value)}. "
        "Add the value to the space or change the point."
    )


_MAX_LEVELS = 2**16  # distributions over more integers are treated as continuous
INTERVAL = "scipy.stats.uniform(low, high - low), loguniform(low, high) or randint(low, high + 1)"
_N_DRAWS = 1024  # draws from an object that only has `rvs`


def describe_distribution(distribution: Any) -> dict[str, Any] | None:
    """Return the name and parameters of a frozen distribution of scipy.stats, otherwise None.

    Examples
    --------
    >>> describe_distribution(stats.randint(1, high=5))
    {'distribution': 'randint', 'low': 1, 'high': 5, 'loc': 0}
    """
    if (family := getattr(distribution, "dist", None)) is None:
        return None
    name, kind = getattr(family, "name", None), type(family)
    if type(getattr(stats, str(name), None)) is not kind:
        return None
    names = [*filter(None, (family.shapes or "").split(", ")), "loc", "scale"]
    given = {**dict(zip(names, distribution.args, strict=False)), **distribution.kwds}
    default = {"loc": 0} if isinstance(family, rv_discrete) else {"loc": 0, "scale": 1}
    given = {**default, **given}
    return {"distribution": name, **{k: as_json_number(given[k]) for k in names if k in given}}


def as_json_number(number: Any) -> Any:
    """Return a number as JSON represents it: integral floats as int, infinite ones as text.

    `poisson_binom` has a list of numbers.
    """
    if np.ndim(number):
        return list(map(as_json_number, number))
    number = float(number)
    if not math.isfinite(number):
        return str(number)
    return int(number) if number.is_integer() else number


def read_parameter(name: str, values: Any) -> Any:
    """Create a parameter from a list of values or a distribution.

    If None means "no limit", it follows the largest number.

    Raises
    ------
    ValueError
        If `values` is neither a non-empty list (tuple, array, range) nor a distribution of scalars,
        or has masked values.
    """
    if hasattr(values, "ppf") and hasattr(values, "cdf") and hasattr(values, "support"):
        return _read_distribution(name, values)
    if hasattr(values, "rvs"):
        return _read_sample(name, values)
    is_array = isinstance(values, np.ndarray) and values.ndim > 0
    is_list = is_array or (isinstance(values, Sequence) and not isinstance(values, (str, bytes)))
    if isinstance(values, range) and values[_MAX_LEVELS:]:
        raise ValueError(
            f"Parameter {name!r} must have at most {_MAX_LEVELS} values in a range, got {values}. "
            "Write scipy.stats.randint(low, high) or a larger step."
        )
    if is_list and not isinstance(values, range) and any(map(np.ma.is_masked, values)):
        raise ValueError(
            f"Parameter {name!r} must not have masked values, got {brief(values)}. Write "
            "values.compressed() to leave them out, or list None for no limit."
        )
    if is_list and len(values):
        is_plain = is_array and values.ndim == 1 and values.dtype.type in PLAIN
        return _read_list(name, values.tolist() if is_plain else values)
    remedy = f"Write [{brief(values)}] for one value, list(...) for others, or {INTERVAL}."
    if is_list:
        remedy = "List at least one value or remove the parameter."
    elif isinstance(values, Mapping):
        remedy = "For conditional parameters, pass a list of dicts, one per branch."
    raise ValueError(
        f"Parameter {name!r} must be a list of values or a distribution of scipy.stats, got "
        f"{brief(values)}. {remedy}"
    )


def _read_list(name: str, values: Any) -> Any:
    if is_interval(values):
        warn_user(f"{describe_pair(name, values)} Here they are two values, as in scikit-learn.")
    start = list(values)[:3]
    word = start[2] if len(start) == 3 and isinstance(start[2], str) else None
    if word in ("uniform", "log-uniform") and is_interval(tuple(start[:2])):
        raise ValueError(
            f"Parameter {name!r} must be a list of values or a distribution, got {values!r}, which "
            f"is scikit-optimize's notation for an interval. Write {INTERVAL} instead."
        )
    values = distinct(values)
    numbers = [v for v in values if v is not None]
    is_ordered = len(numbers) > 1 and all(map(is_number, numbers))
    if not is_ordered or sorted(set(numbers)) not in (numbers, numbers[::-1]):
        return Categories(name, values)
    if len(numbers) == len(values):
        return Levels(name, values, np.ones(len(values)))
    if name.rpartition("__")[-1] in UNLIMITED:
        return Levels(name, [*sorted(numbers), None], np.ones(len(values)))
    return LevelsOrNone(name, numbers)


def _read_distribution(name: str, distribution: Any) -> Any:
    quantiles = np.empty(0)
    with suppress(TypeError), np.errstate(all="ignore"):  # a TypeError if it is not frozen
        if hasattr(distribution, "pmf") and np.isinf(distribution.mean()):
            raise ValueError(  # quantiles would take minutes
                f"Parameter {name!r} must not have a discrete distribution with an infinite mean, "
                f"got {_format_call(distribution)}. Use randint, or a list of the values to search."
            )
        quantiles = np.array([distribution.ppf(q) for q in (TAIL, 0.5, 1.0 - TAIL)], dtype=float)
    if quantiles.ndim != 1 or not quantiles.size or not np.isfinite(quantiles).all():
        raise ValueError(
            f"Parameter {name!r} must be a frozen univariate distribution with finite quantiles, "
            f"got {_format_call(distribution)}. Pass its parameters, as in loguniform(1e-3, 1e3), "
            "and check that they are valid (scale > 0, lower < upper)."
        )
    if hasattr(distribution, "pmf"):
        return _read_discrete(name, distribution)
    return Quantiles(name, distribution, integer=False)


def _format_call(distribution: Any) -> str:
    """Return the name and arguments of a frozen distribution, and the repr of other objects."""
    if (name := getattr(getattr(distribution, "dist", None), "name", None)) is None:
        return brief(distribution)
    keywords = [f"{key}={value}" for key, value in distribution.kwds.items()]
    return f"{name}({', '.join([*map(str, distribution.args), *keywords])})"


def _read_discrete(name: str, distribution: Any) -> Any:
    of_class = getattr(getattr(distribution, "dist", None), "xk", None)
    values = getattr(distribution, "xk", of_class)
    values = _integers(distribution) if values is None else values
    if values is None:
        return Quantiles(name, distribution, integer=True)
    mass = distribution.pmf(values)
    # Levels less probable than one grid step cannot be distinguished from their neighbours.
    values, mass = values[mass >= STEP], mass[mass >= STEP]
    values = [int(v) if v == int(v) else float(v) for v in values]
    if len(values) == 1:
        return Categories(name, values)
    return Levels(name, values, mass, mass=distribution.pmf, distribution=distribution)


def _integers(distribution: Any) -> Any:
    """Return the integers of the searched range, or None if there are too many to list."""
    low, high = distribution.support()
    low = low if np.isfinite(low) else distribution.ppf(TAIL)
    high = high if np.isfinite(high) else distribution.ppf(1.0 - TAIL)
    return None if high - low >= _MAX_LEVELS else np.arange(int(low), int(high) + 1)


def _read_sample(name: str, distribution: Any) -> Any:
    """Create a parameter from random draws of an object whose only method is `rvs`."""
    rng = np.random.RandomState(0)
    draws = [distribution.rvs(random_state=rng) for _ in range(_N_DRAWS)]
    if compound := [draw for draw in draws if isinstance(draw, (list, np.ndarray))]:
        raise ValueError(
            f"Parameter {name!r} must have a distribution that draws single values, got "
            f"{brief(compound[0])} from {brief(distribution)}.rvs(random_state=...). Return one "
            f"value per draw, list the values, or write {INTERVAL}."
        )
    values = distinct(draws)
    if len(values) == 1 or not all(map(is_number, values)):
        return Categories(name, values)
    levels, counts = np.unique(draws, return_counts=True)
    # The probabilities are unknown, so accept any finite number.
    return Levels(name, levels.tolist(), counts, mass=np.isfinite)
