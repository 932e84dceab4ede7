"""Parameter values of any type, compared and in words that are the same in every process."""

import math
import re
from collections import Counter
from functools import partial
from numbers import Integral, Real
from typing import Any

import joblib
import numpy as np

from skbo_silbo.journal._describe import describe

ADDRESS = re.compile(r" at 0x[0-9a-f]+", re.IGNORECASE)  # differs from process to process
MOST = 6  # values of a parameter that are written out


def is_number(value):
    """Whether a value is a finite real number; truth values are not numbers here."""
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)


def as_distribution(values):
    """Return in words the distribution that scikit-optimize would read; None of anything else.

    Examples
    --------
    >>> as_distribution((1e-3, 1.0, "log-uniform")), as_distribution((1, 3, "sqrt"))
    ('scipy.stats.loguniform(0.001, 1.0)', None)
    """
    if not isinstance(values, (list, tuple)) or len(values) not in (3, 4):
        return None
    low, high, word = values[:3]
    if not (is_number(low) and is_number(high) and low < high and isinstance(word, str)):
        return None
    integer = isinstance(low, Integral) and isinstance(high, Integral)
    if word == "uniform":
        return f"scipy.stats.randint({low}, {high + 1})" if integer else interval(low, high)
    if word not in ("log-uniform", "loguniform"):
        return None
    if integer:
        return f"numpy.unique(numpy.geomspace({low}, {high}, 20).round().astype(int))"
    return f"scipy.stats.loguniform({low!r}, {high!r})"


def is_interval(values):
    """Whether values are a tuple of two increasing numbers: an interval, or two values."""
    is_pair = isinstance(values, tuple) and len(values) == 2 and all(map(is_number, values))
    return is_pair and values[0] < values[1]


def interval(low, high):
    """Return in words the uniform distribution between two numbers."""
    return f"scipy.stats.uniform({low!r}, {high - low!r})"


def same(a, b, *, by_parts=False):
    """Whether two parameter values are the same setting of an estimator.

    The types must agree: 1, 1.0 and True are three settings, since an estimator may treat them as
    a count, a share and a switch. Values whose ``==`` gives no plain truth value (arrays, frames)
    or fails are the same only if they are one object, except that arrays compare by content, and
    so do `by_parts` objects that define no ``==``, such as an estimator and its copy.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> same(1, True), same(float("nan"), float("nan")), same((5, 5), (5, 5))
    (False, True, True)
    >>> same(SVC(C=2.0), SVC(C=2.0)), same(SVC(C=2.0), SVC(C=2.0), by_parts=True)
    (False, True)
    """
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    both = partial(same, by_parts=by_parts)
    if isinstance(a, (tuple, list)):
        return len(a) == len(b) and all(map(both, a, b))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(both(a[key], b[key]) for key in a)
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    if isinstance(a, float) and math.isnan(a) and math.isnan(b):
        return True
    try:
        if by_parts and _has_parts(a):
            return both(a.__reduce_ex__(4), b.__reduce_ex__(4))
        equal = a == b
    except Exception:
        return False
    return isinstance(equal, (bool, np.bool_)) and bool(equal)


def _has_parts(value):
    """Whether an object defines no ``==``, and is not a function or class."""
    defines_equality: Any = type(value).__eq__
    return defines_equality is object.__eq__ and not hasattr(value, "__qualname__")


def alike(a, b):
    """Whether two values are the same setting, whichever numeric type of their kind they have.

    Whole numbers are of one kind and fractions of another: numpy.float64(2.0) is like 2.0, not 2.
    """
    if is_number(a) and is_number(b):
        return isinstance(a, Integral) == isinstance(b, Integral) and a == b
    return same(a, b)


class Positions:
    """Where values stand in a list of distinct values.

    A value is compared with those of its bucket only, so that thousands are found at once. Hashes
    differ from process to process, and of copies: a pickle holds the values alone.

    Examples
    --------
    >>> places = Positions(["a", 2, None])
    >>> places.find(2.0), places.holds(2.0), places.find("b")
    (1, False, None)
    """

    def __init__(self, values=()):
        self._buckets: dict[Any, list[int]] = {}
        self.values: list[Any] = []
        for value in values:
            bucket = self._buckets.setdefault(_bucket(value), [])
            if not any(same(value, self.values[i]) for i in bucket):
                bucket.append(len(self.values))
                self.values.append(value)

    def __reduce__(self):
        return Positions, (self.values,)

    def find(self, value):
        """Return the position of a value, or None.

        A value of the same type is preferred; a number of another type matches an equal number,
        since 2, 2.0 and numpy.int64(2) are interchangeable in JSON files and arrays. An object
        that is none of the values matches one that it is a copy of.
        """
        bucket = self._buckets.get(_bucket(value), ())
        exact = next((i for i in bucket if same(value, self.values[i])), None)
        if exact is not None:
            return exact
        if is_number(value):  # a bucket of numbers holds equal ones only
            return next(iter(bucket), None)
        return next((i for i in bucket if same(value, self.values[i], by_parts=True)), None)

    def holds(self, value):
        """Return whether one of the values is alike to this one."""
        bucket = self._buckets.get(_bucket(value), ())
        return any(alike(value, self.values[i]) for i in bucket)


def _bucket(value):
    """Return what is equal, and can be hashed, for values that are the same."""
    if is_number(value):
        return value
    if isinstance(value, (tuple, list)):
        return type(value), *map(_bucket, value)
    if isinstance(value, float):
        return float, math.isnan(value) or value
    if _has_parts(value):
        return (type(value),)
    try:
        return type(value), hash(value)
    except Exception:  # unhashable, or whatever else an object's own method raises
        return (type(value),)


def distinct(values):
    """Return the values without repetitions, in their first order."""
    return Positions(values).values


def find(value, values):
    """Return the position of a value among distinct values, as `Positions` does, or None."""
    return Positions(values).find(value)


def among(values, others):
    """Return those of the values that are alike to one of the others."""
    return list(filter(Positions(others).holds, values))


def unlike(names, taken=()):
    """Return the names with a number behind those that are taken or were met before."""
    taken, kept = set(taken), []
    counts: Counter[str] = Counter()
    for name in names:
        new = name
        while new in taken:
            counts[name] += 1
            new = f"{name} ({counts[name] + 1})"
        taken.add(new)
        kept.append(new)
    return kept


def in_words(value):
    """Return the text of a value: its repr, unless that holds an address in memory.

    Functions then are module and name, lambdas and objects their class and a digest; what cannot be
    described is its repr without the address.

    Examples
    --------
    >>> class Wall:
    ...     def __init__(self, width):
    ...         self.width = width
    >>> in_words(1.5), in_words(Wall(3)) == in_words(Wall(3)) != in_words(Wall(4))
    ('1.5', True)
    """
    text = repr(value)
    if not ADDRESS.search(text):
        return text
    try:
        described = describe(value)
    except ValueError:
        return ADDRESS.sub("", text)
    if isinstance(described, str):
        return described
    name = described.get("class") if isinstance(described, dict) else None
    return f"{name or type(value).__qualname__}({joblib.hash(described)[:16]})"


def range_in_words(parameter):
    """Return name and range: the ends of a distribution with its name, or the values.

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> from skbo_silbo.space._parameters import read_parameter
    >>> range_in_words(read_parameter("C", loguniform(1e-3, 1e3)))
    'C: 0.001 to 1000 (loguniform)'
    >>> range_in_words(read_parameter("depth", range(1, 100)))
    'depth: 1, 2, 3, ..., 99'
    >>> range_in_words(read_parameter("kernel", ["rbf", "poly"]))
    "kernel: 'rbf', 'poly'"
    """
    if parameter.values is not None:
        return f"{parameter.name}: {_values(parameter.values)}"
    ends = np.array(parameter.distribution.support(), dtype=float)
    searched = parameter.decode(np.array([[-1.0], [1.0]]))
    low, high = np.where(np.isfinite(ends), ends, searched)
    kind = getattr(getattr(parameter.distribution, "dist", None), "name", None)
    return f"{parameter.name}: {low:.6g} to {high:.6g}" + (f" ({kind})" if kind else "")


def _values(values):
    words = [in_words(value) for value in values]
    return ", ".join(words if len(words) <= MOST else [*words[:3], "...", words[-1]])
