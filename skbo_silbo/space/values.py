"""Compare and format parameter values of any type, with the same result in every process."""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial
from numbers import Integral, Real
from typing import Any

import joblib
import numpy as np

from skbo_silbo._descriptions import TEXT, describe

ADDRESS = re.compile(r" at 0x[0-9a-f]+", re.IGNORECASE)  # differs between processes


def is_number(value: Any) -> bool:
    """Return whether a value is a finite real number and not a bool."""
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)


def is_interval(values: Any) -> bool:
    """Return whether values are a tuple of two increasing numbers, possibly an interval."""
    is_pair = isinstance(values, tuple) and len(values) == 2 and all(map(is_number, values))
    return is_pair and values[0] < values[1]


def describe_pair(name: str, pair: tuple[float, float]) -> str:
    """Return an error text for two numbers that may be an interval or two separate values."""
    return (
        f"Parameter {name!r} is a tuple of two numbers, {pair!r}, which may mean an interval or "
        f"two values. Write scipy.stats.uniform({pair[0]!r}, {pair[1] - pair[0]!r}) for the "
        f"interval or the list {list(pair)!r} for the two values."
    )


def same(a: Any, b: Any, *, by_parts: bool = False) -> bool:
    """Return whether two values of a parameter configure an estimator identically.

    The types must agree, because an estimator may treat 1 as a count, 1.0 as a fraction and True
    as a flag. Arrays are compared by content. With `by_parts`, so are objects that do not define
    ``==``, such as an estimator and its clone. Other values for which ``==`` fails or does not
    return a bool are only the same if they are identical.

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


def _has_parts(value: Any) -> bool:
    """Return whether an object lacks its own ``==`` and must be compared by its attributes."""
    defines_equality: Any = type(value).__eq__
    return defines_equality is object.__eq__ and not hasattr(value, "__qualname__")


def alike(a: Any, b: Any) -> bool:
    """Return whether two parameter values are equal, ignoring NumPy types of numbers.

    Integers and floats remain different: numpy.float64(2.0) is like 2.0 but not like 2.
    """
    if is_number(a) and is_number(b):
        return isinstance(a, Integral) == isinstance(b, Integral) and a == b
    return same(a, b)


class Positions:
    """Hash table that maps distinct values, hashable or not, to their positions in a list.

    Only the values are pickled, because hashes differ between processes and copies.

    Examples
    --------
    >>> positions = Positions(["a", 2, None])
    >>> positions.find(2.0), positions.holds(2.0), positions.find("b")
    (1, False, None)
    """

    def __init__(self, values: Iterable[Any] = ()) -> None:
        self._buckets: dict[Any, list[int]] = {}
        self.values: list[Any] = []
        for value in values:
            bucket = self._buckets.setdefault(_bucket(value), [])
            if not any(same(value, self.values[i]) for i in bucket):
                bucket.append(len(self.values))
                self.values.append(value)

    def __reduce__(self) -> tuple[Any, ...]:
        return Positions, (self.values,)

    def find(self, value: Any) -> int | None:
        """Return the position of a value in the list, or None if it is not listed.

        Numbers are also found by an equal number of another type, because JSON files and arrays do
        not preserve the type. Objects are also found by a copy.
        """
        bucket = self._buckets.get(_bucket(value), ())
        exact = next((i for i in bucket if same(value, self.values[i])), None)
        if exact is not None:
            return exact
        if is_number(value):  # all numbers of a bucket are equal
            return next(iter(bucket), None)
        return next((i for i in bucket if same(value, self.values[i], by_parts=True)), None)

    def holds(self, value: Any) -> bool:
        """Return whether a value is listed, ignoring its NumPy type."""
        bucket = self._buckets.get(_bucket(value), ())
        return any(alike(value, self.values[i]) for i in bucket)


def _bucket(value: Any) -> Any:
    """Return a key for hashing that is equal for values that count as the same."""
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
    except Exception:  # unhashable, or a custom `__hash__` that raises
        return (type(value),)


def distinct(values: Iterable[Any]) -> list[Any]:
    """Return the values without duplicates, in order of first occurrence."""
    return Positions(values).values


def unique_names(names: Iterable[str], taken: Iterable[str] = ()) -> list[str]:
    """Make names unique by appending numbers to repeated ones."""
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


def format_value(value: Any) -> str:
    """Return the repr of a value, with memory addresses replaced by reproducible text.

    Functions are shown by their qualified name, lambdas and objects by their class and a hash.

    Examples
    --------
    >>> class Wall:
    ...     def __init__(self, width):
    ...         self.width = width
    >>> format_value(1.5), format_value(Wall(3)) == format_value(Wall(3)) != format_value(Wall(4))
    ('1.5', True)
    """
    text = str(value) if isinstance(value, np.number) else repr(value)
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


def describe_values(values: Iterable[Any], label: Callable[[Any], str]) -> list[Any]:
    """Describe values as JSON data; values that JSON cannot store get a label and a description."""
    return [
        as_plain(v) if is_plain(v) else {TEXT: label(v), "value": _described(v)} for v in values
    ]


def _described(value: Any) -> Any:
    try:
        return describe(value)
    except ValueError:  # it cannot be pickled
        return format_value(value)


def as_plain(value: Any) -> Any:
    """Convert a NumPy scalar to a Python object, and return other values unchanged."""
    return value.item() if isinstance(value, np.generic) else value


def is_plain(value: Any) -> bool:
    """Return whether JSON represents a value: None, a bool, a finite number or a string.

    Examples
    --------
    >>> is_plain(np.int64(3)), is_plain(float("nan")), is_plain((1, 2))
    (True, False, False)
    """
    value = as_plain(value)
    is_finite = type(value) is not float or math.isfinite(value)
    return value is None or (type(value) in (bool, int, float, str) and is_finite)
