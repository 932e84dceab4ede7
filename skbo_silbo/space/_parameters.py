"""How one parameter is read from a list or a distribution, and becomes columns of the cube.

Each class here has the same surface: ``n_columns``; ``n_values`` (or math.inf); ``column_names``;
``encode(values) -> (n, n_columns)``; ``decode(columns) -> list of n values``; ``round(columns)``,
the same as ``encode(decode(columns))`` without making the values; ``values``, a list, or None if
they cannot be listed; ``holds(value)``, whether it is one of them; ``own(value)``, a value that can
be encoded as ``decode`` would give it, a number of its type; ``summary()``, a dict by which two
parameters are distinguished; ``spread(u)``, columns from uniform numbers (n,) in [0, 1], one for a
value (not of a constant). Columns lie in [-1, 1]. A uniform draw from the cube decodes to a draw
from the parameter's distribution.
"""

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import pairwise
from numbers import Integral
from typing import Any

import numpy as np
from scipy.stats import rv_discrete

from skbo_silbo._checks import brief, warn_user
from skbo_silbo.space._keys import STEP, snap, to_cube
from skbo_silbo.space._known_table import none_is_unlimited
from skbo_silbo.space._values import (
    Positions,
    alike,
    as_distribution,
    distinct,
    in_words,
    interval,
    is_interval,
    is_number,
    unlike,
)

# An unbounded side of a distribution is searched as far as this tail probability
# (3.8 standard deviations of a normal): optimisers go to the very edge, random draws do not.
TAIL = 2.0**-14
CLOSE = 1e-6  # of the range: a grid step next to a bound that is no wider ends at the bound
N_QUANTILES = 9  # by which distributions are compared


class _OneColumn:
    """A parameter in one column, in which equal probability is equal length."""

    n_columns = 1

    def spread(self, u):
        """Return the column in which the numbers are shares of the probability."""
        return to_cube(u)[:, None]


class _Listed:
    """A parameter whose values are listed: a subclass says where each is, and which is nearest."""

    values: list[Any]
    _index: Any  # of a value
    _at: Any  # the columns, (n, n_columns), of indices
    _nearest: Any  # the indices at columns

    def encode(self, values):
        """Return the columns of values, as an array (n, n_columns)."""
        return self._at([self._index(value) for value in values])

    def decode(self, columns):
        """Return the nearest values."""
        return [self.values[i] for i in self._nearest(columns)]

    def round(self, columns):
        """Return the columns of the nearest values."""
        return self._at(self._nearest(columns))


class Levels(_Listed, _OneColumn):
    """Finitely many distinct numbers in order, one column; each level owns its share of it.

    `mass` gives the probability of a number that is not a level; where it is positive, the number
    is encoded as the nearest level. Without `mass` only the levels are known.
    """

    def __init__(self, name, values, weights, *, mass=None):
        self.name, self.values, self.mass = name, list(values), mass
        self.n_values, self.column_names = len(self.values), [name]
        self._position = {value: i for i, value in enumerate(self.values)}  # 2 == 2.0 as keys
        edges = np.cumsum(weights) / np.sum(weights)
        self._inner = edges[:-1]
        self._centres = to_cube((np.r_[0.0, self._inner] + np.r_[self._inner, 1.0]) / 2.0)

    def own(self, value):
        """Return the level that equals the value; the value itself where it is none."""
        i = self._position.get(value)
        return value if i is None else self.values[i]

    def holds(self, value):
        """Return whether the value is a level."""
        i = self._position.get(value) if is_number(value) else None
        return i is not None and alike(value, self.values[i])

    def summary(self):
        """Return the levels and the middles of their shares."""
        return {"levels": self.values, "centres": _rounded(self._centres)}

    def _at(self, index):
        """Return the middles of the levels' shares of [-1, 1]."""
        return self._centres[index, None]

    def _nearest(self, columns):
        """Return the levels in whose share the coordinates lie."""
        return np.searchsorted(self._inner, (columns[:, 0] + 1.0) / 2.0, side="right")

    def _index(self, value):
        if is_number(value):
            if value in self._position:
                return self._position[value]
            if self.mass is not None and self.mass(value) > 0:
                return int(np.argmin(np.abs(np.asarray(self.values, dtype=float) - value)))
        raise ValueError(_not_one_of(self.name, self.values, value))


class LevelsThenNone(Levels):
    """Numbers in rising order, and None after them because it means that there is no limit."""

    def __init__(self, name, numbers):
        super().__init__(name, [*numbers, None], np.ones(len(numbers) + 1))

    def holds(self, value):
        """Return whether the value is None or one of the numbers."""
        return value is None or super().holds(value)

    def _index(self, value):
        return self.n_values - 1 if value is None else super()._index(value)


class LevelsOrNone(LevelsThenNone):
    """Numbers in order in the second column; the first says whether the value is None instead."""

    n_columns = 2

    def __init__(self, name, numbers):
        super().__init__(name, numbers)
        self.column_names = [f"{name}=None", name]
        self._numbers = Levels(name, numbers, np.ones(len(numbers)))

    def spread(self, u):
        """Return columns: equal shares of [0, 1] for the numbers in order, and for None."""
        return self._at(np.minimum((u * self.n_values).astype(int), self.n_values - 1))

    def _at(self, index):
        """Return 1 and the centre for None, else -1 and the middle of the number's share."""
        index = np.asarray(index, dtype=int)
        is_none = index == self.n_values - 1
        places = self._numbers._at(np.where(is_none, 0, index))[:, 0]
        return np.column_stack([np.where(is_none, 1.0, -1.0), np.where(is_none, 0.0, places)])

    def _nearest(self, columns):
        # None has the same share of the cube as each of the numbers
        is_none = columns[:, 0] > 1.0 - 2.0 / self.n_values
        return np.where(is_none, self.n_values - 1, self._numbers._nearest(columns[:, 1:]))


class Categories(_Listed):
    """Values without order: one column per value, one-hot in {-1, 1}.

    Two values have one column; a single one is a constant, part of every point, without a column.
    """

    def __init__(self, name, values):
        self.name, self._places = name, Positions(values)
        self.values = self._places.values
        self.n_values = len(self.values)
        self.n_columns = self.n_values if self.n_values > 2 else self.n_values - 1
        self.column_names = unlike(f"{name}={word}" for word in self._words())

    def _words(self):
        """Return a word for every column."""
        if self.n_columns == 0:
            return []
        words = [value if isinstance(value, str) else in_words(value) for value in self.values]
        if len(set(words)) < len(words):  # such as 1 and "1"
            words = [in_words(value) for value in self.values]
        return words[-self.n_columns :]

    def own(self, value):
        """Return the category that the value is."""
        return self.values[self._places.find(value)]

    def holds(self, value):
        """Return whether the value is a category."""
        return self._places.holds(value)

    def spread(self, u):
        """Return one-hot rows: equal shares of [0, 1] for the categories in order."""
        return self._at(np.minimum((u * self.n_values).astype(int), self.n_values - 1))

    def summary(self):
        """Return the categories."""
        return {"categories": self.values} if self.n_columns else {"value": self.values[0]}

    def _index(self, value):
        if (i := self._places.find(value)) is None:
            raise ValueError(_not_one_of(self.name, self.values, value))
        return i

    def _at(self, index):
        """Return the one-hot rows."""
        if self.n_columns < 2:
            return 2.0 * np.asarray(index, dtype=float).reshape(-1, 1)[:, : self.n_columns] - 1.0
        rows = np.full((len(index), self.n_columns), -1.0)
        rows[np.arange(len(index)), index] = 1.0
        return rows

    def _nearest(self, columns):
        """Return the values with the largest column."""
        if self.n_columns > 1:
            return columns.argmax(axis=1)
        return (columns > 0).sum(axis=1)  # of a constant 0


def is_category(parameter):
    """Return whether a parameter is a category of at least two levels."""
    return isinstance(parameter, Categories) and parameter.n_columns > 0


class Quantiles(_OneColumn):
    """A scipy.stats distribution, through its quantiles."""

    n_values = math.inf
    values = None

    def __init__(self, name, distribution, *, integer):
        self.name, self.distribution, self.integer = name, distribution, integer
        self.column_names = [name]
        self._support = np.array(distribution.support(), dtype=float)
        self._ends = self._searched_shares()

    def _searched_shares(self):
        """Return the lowest and the highest probability that is searched.

        Bounds of an interval are part of it. A half-open range begins one grid step inside, since
        a draw from ``expon()`` is never 0, which most parameters with that range do not allow.
        """
        tails = np.where(np.isfinite(self._support), STEP, TAIL)
        steps = self._support - self.distribution.ppf([STEP, 1.0 - STEP])
        if np.isfinite(width := np.ptp(self._support)):
            tails = np.where(np.abs(steps) <= CLOSE * width, 0.0, tails)
        return tails[0], 1.0 - tails[1]

    def own(self, value):
        """Return the value as the kind of number that is drawn."""
        return int(value) if self.integer else float(value)

    def holds(self, value):
        """Return whether the value is of the kind that is drawn, and in the support."""
        low, high = self._support
        kind = is_number(value) and isinstance(value, Integral) == self.integer
        return kind and low <= value <= high

    def encode(self, values):
        """Return the cumulative probabilities, stretched to [-1, 1], as an array (n, 1).

        Values of an unbounded distribution beyond its searched range go to the edge of the column.
        """
        return self._columns(np.array([self._check(value) for value in values], dtype=float))

    def decode(self, columns):
        """Return the quantiles, within the support."""
        values = self._quantiles(columns)
        return [int(v) for v in values] if self.integer else values.tolist()

    def round(self, columns):
        """Return the coordinates of the quantiles."""
        return self._columns(self._quantiles(columns))

    def summary(self):
        """Return some quantiles, the ends of the searched range included."""
        quantiles = _rounded(self._quantiles(np.linspace(-1.0, 1.0, N_QUANTILES)[:, None]))
        return {"quantiles of an integer" if self.integer else "quantiles": quantiles}

    def _quantiles(self, columns):
        values = self.distribution.ppf(self._canonical((columns[:, 0] + 1.0) / 2.0))
        return np.clip(values, *self._support)

    def _columns(self, values):
        u = self.distribution.cdf(values)
        if self.integer:
            u = (u + self.distribution.cdf(values - 1)) / 2.0  # the middle of the integer's share
        return to_cube(self._canonical(u))[:, None]

    def _canonical(self, u):
        return np.clip(snap(u), *self._ends)

    def _check(self, value):
        low, high = self._support
        inside = is_number(value) and low <= value <= high
        if not inside or (self.integer and value != int(value)):
            kind = "an integer" if self.integer else "a number"
            raise ValueError(
                f"parameter {self.name!r} must be {kind} in the support [{low}, {high}] of its "
                f"distribution: got {value!r}. Widen the distribution or change the point."
            )
        return value


def _not_one_of(name, values, value):
    if len(values) == 1:
        return (
            f"parameter {name!r} must be its only value {values[0]!r}: got {value!r}. List more "
            "values in the space to search over it."
        )
    shown = ", ".join(map(repr, values[:10])) + (", ..." if len(values) > 10 else "")
    return (
        f"parameter {name!r} must be one of {shown}: got {value!r}. "
        "Add it to the space or change the point."
    )


def _rounded(numbers):
    """Return floats without the digits in which versions of scipy differ."""
    return [float(f"{number:.8g}") for number in numbers]


_MAX_LEVELS = 2**16  # integers beyond this many are as good as continuous
_N_DRAWS = 1024  # for an object that has only rvs


def read_parameter(name, values):
    """Return the parameter (Levels, Categories or Quantiles) that `values` describes.

    Raises
    ------
    ValueError
        If `values` is neither a non-empty list (tuple, 1-d array, range) nor a distribution.
    """
    if hasattr(values, "ppf") and hasattr(values, "cdf") and hasattr(values, "support"):
        return _read_distribution(name, values)
    if hasattr(values, "rvs"):
        return _read_sample(name, values)
    is_array = isinstance(values, np.ndarray) and values.ndim > 0
    is_list = is_array or (isinstance(values, Sequence) and not isinstance(values, (str, bytes)))
    if is_list and len(values):
        is_numeric = is_array and values.dtype.kind in "biuf"
        return _read_list(name, values.tolist() if is_numeric else values)
    remedy = f"Write [{brief(values)}] for a single value, list(...) for other collections."
    if is_list:
        remedy = "List at least one value, or leave the parameter out of the space."
    elif isinstance(values, Mapping):
        remedy = "Write what only some points have as a list of dicts, one for each kind."
    raise ValueError(
        f"parameter {name!r} must be a list of values or a distribution with an rvs method: "
        f"got {brief(values)}. {remedy}"
    )


def _read_list(name, values):
    if is_interval(values):
        warn_user(
            f"parameter {name!r} is a tuple of two numbers, {values!r}, and searched over these "
            f"two values alone, as scikit-learn does. Write {interval(*values)} for the interval, "
            f"or the list {list(values)!r} for the two values."
        )
    distribution = as_distribution(values)
    if distribution is not None:
        raise ValueError(
            f"parameter {name!r} must be a list of values or a distribution: got {values!r}, the "
            "form of another library, which would be three categories here. Write "
            f"{distribution}."
        )
    values = distinct(values)
    numbers = [v for v in values if v is not None]
    if len(numbers) < 2 or not all(map(is_number, numbers)) or not _is_sorted(numbers):
        return Categories(name, values)
    if len(numbers) == len(values):
        return Levels(name, values, np.ones(len(values)))
    if none_is_unlimited(name):
        return LevelsThenNone(name, sorted(numbers))
    return LevelsOrNone(name, numbers)


def _is_sorted(values):
    pairs = list(pairwise(values))
    return all(a < b for a, b in pairs) or all(a > b for a, b in pairs)


def _read_distribution(name, distribution):
    quantiles = np.empty(0)
    with suppress(TypeError):  # without its own parameters
        shares = (0.0,) if _has_slow_quantiles(distribution) else (TAIL, 0.5, 1.0 - TAIL)
        quantiles = np.array([distribution.ppf(q) for q in shares], dtype=float)
    if quantiles.ndim != 1 or not quantiles.size or not np.isfinite(quantiles).all():
        raise ValueError(
            f"parameter {name!r} must have a frozen distribution of one number with finite "
            f"quantiles: got {distribution!r} and quantiles {quantiles.tolist()}. Call it, as in "
            "loguniform(1e-3, 1e3), and check its parameters (scale > 0, lower < upper, scalars)."
        )
    if hasattr(distribution, "pmf"):
        return _read_discrete(name, distribution)
    return Quantiles(name, distribution, integer=False)


def _read_discrete(name, distribution):
    of_class = getattr(getattr(distribution, "dist", None), "xk", None)
    values = getattr(distribution, "xk", of_class)
    if values is None:
        values = _integers(name, distribution)
    if values is None:
        return Quantiles(name, distribution, integer=True)
    mass = distribution.pmf(values)
    # A level with less than a step of probability could not be distinguished from its neighbours.
    values, mass = values[mass >= STEP], mass[mass >= STEP]
    values = [int(v) if v == int(v) else float(v) for v in values]
    if len(values) == 1:
        return Categories(name, values)
    return Levels(name, values, mass, mass=distribution.pmf)


def _integers(name, distribution):
    """Return the integers between the ends of the searched range; None if they are too many."""
    low, high = distribution.support()
    if _has_slow_quantiles(distribution):
        return _listed_from_lower_end(name, distribution, int(low), high)
    low = low if np.isfinite(low) else distribution.ppf(TAIL)
    high = high if np.isfinite(high) else distribution.ppf(1.0 - TAIL)
    return None if high - low >= _MAX_LEVELS else np.arange(int(low), int(high) + 1)


def _has_slow_quantiles(distribution):
    """Whether scipy finds quantiles by summing probabilities, or by steps through an open tail.

    Either takes minutes and gigabytes in a heavy tail such as that of ``zipf(1.5)``.
    """
    kind = type(getattr(distribution, "dist", distribution))
    if not issubclass(kind, rv_discrete) or kind._ppf is not rv_discrete._ppf:
        return False
    is_open = np.isfinite(distribution.support()).tolist() == [True, False]
    return is_open or kind._cdf is rv_discrete._cdf


def _listed_from_lower_end(name, distribution, low, high):
    """Return the integers from the lower end to where only the tail is left, by summing once."""
    values = low + np.arange(int(min(high - low + 1, _MAX_LEVELS)))
    share = np.cumsum(distribution.pmf(values))
    n = 1 + np.searchsorted(share, 1.0 - TAIL)
    if n > len(values):
        raise ValueError(
            f"parameter {name!r} must have a distribution with a share of {1.0 - TAIL:.5f} of its "
            f"probability on at most {_MAX_LEVELS} integers, since scipy has no formula for its "
            f"quantiles: got {_call(distribution)}, with {share[-1]:.5f} on the first "
            f"{len(values)}. Write scipy.stats.randint(low, high), or a list such as "
            "numpy.unique(numpy.geomspace(1, 10000, 20).round().astype(int))."
        )
    return values[:n] if np.isinf(high) else values


def _call(distribution):
    """Return the call that made a distribution, such as ``zipf(1.5)``."""
    kwds = getattr(distribution, "kwds", {}).items()
    args = [*map(repr, getattr(distribution, "args", ())), *(f"{k}={v!r}" for k, v in kwds)]
    return f"{getattr(distribution, 'dist', distribution).name}({', '.join(args)})"


def _read_sample(name, distribution):
    """Replace an object with only `rvs` by what it gives in a fixed number of seeded draws."""
    rng = np.random.RandomState(0)
    draws = [distribution.rvs(random_state=rng) for _ in range(_N_DRAWS)]
    values = distinct(draws)
    if len(values) == 1 or not all(map(is_number, values)):
        return Categories(name, values)
    values, counts = np.unique(draws, return_counts=True)
    # The distribution does not say how probable a number is: any finite one may be possible.
    return Levels(name, values.tolist(), counts, mass=np.isfinite)
