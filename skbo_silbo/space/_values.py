"""Comparing parameter values of any type: numbers, strings, tuples, arrays, estimators, None."""

import math
from numbers import Integral, Real
from typing import Any

import numpy as np


def is_number(value):
    """Whether a value is a finite real number; truth values are not numbers here."""
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)


def same(a, b):
    """Whether two parameter values are the same setting of an estimator.

    The types must agree: 1, 1.0 and True are three settings, since an estimator may treat them as
    a count, a share and a switch. Values whose ``==`` gives no plain truth value (arrays, frames)
    or fails are the same only if they are one object, except that arrays compare by content.

    Examples
    --------
    >>> same(1, True), same(float("nan"), float("nan")), same((5, 5), (5, 5))
    (False, True, True)
    """
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    if isinstance(a, (tuple, list)):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    if isinstance(a, float) and math.isnan(a) and math.isnan(b):
        return True
    try:
        equal = a == b
    except Exception:
        return False
    return isinstance(equal, (bool, np.bool_)) and bool(equal)


def alike(a, b):
    """Whether two values are the same setting, whichever numeric type of their kind they have.

    Whole numbers are of one kind and fractions of another: numpy.float64(2.0) is like 2.0, not 2.
    """
    if is_number(a) and is_number(b):
        return _number_key(a) == _number_key(b)
    return same(a, b)


def among(values, others):
    """Return those of the values that are alike to one of the others."""
    numbers = {_number_key(other) for other in others if is_number(other)}  # can be thousands
    rest = [other for other in others if not is_number(other)]

    def is_among(value):
        if is_number(value):
            return _number_key(value) in numbers
        return any(same(value, other) for other in rest)

    return list(filter(is_among, values))


def _number_key(number):
    return isinstance(number, Integral), number


def distinct(values):
    """Return the values without repetitions, in their first order."""
    if all(map(is_number, values)):  # also for lists of thousands
        return list({(type(value), value): value for value in values}.values())
    kept: list[Any] = []
    for value in values:
        if not any(same(value, other) for other in kept):
            kept.append(value)
    return kept


def unlike(names, taken=()):
    """Return the names with a number behind those that are taken or were met before."""
    taken, kept = set(taken), []
    for name in names:
        new, count = name, 2
        while new in taken:
            new, count = f"{name} ({count})", count + 1
        taken.add(new)
        kept.append(new)
    return kept


def find(value, values):
    """Return the position of a value among distinct values, or None.

    A value of the same type is preferred; a number of another type matches an equal number, since
    2, 2.0 and numpy.int64(2) are told interchangeably by JSON files and arrays.
    """
    for i, other in enumerate(values):
        if same(value, other):
            return i
    if is_number(value):
        for i, other in enumerate(values):
            if is_number(other) and value == other:
                return i
    return None
