"""Values that the caller knows, beside those that a journal has."""

from collections import Counter, defaultdict
from copy import deepcopy

import numpy as np

from skbo_silbo.optimizers._history import as_constraints, as_evaluations
from skbo_silbo.optimizers._records import values_to_data
from skbo_silbo.space._keys import keys_of


def tell_known(optimizer, calls, x0, y0, c0):
    """Tell the values that are not known yet, and have the journal say that none is of a call.

    Points x0 with values y0, and values c0 of constraints or None. Where a point has other values
    in the journal a ValueError says so, and nothing is told.
    """
    space = optimizer.space_
    points, values = as_evaluations(x0, y0, space)
    c = as_constraints(c0, values.shape, optimizer.constraints_.shape[1])
    keys = keys_of(space.encode(points))
    known = _values_by_place(optimizer)
    new = _missing(points, keys, list(map(_plain, values, c)), known)
    if not new:
        return
    points = [points[i] for i in new]
    calls.record_given_values(points)
    constraints = None if c0 is None else c[new]
    optimizer.tell(points, values[new], constraints=constraints)


def _values_by_place(optimizer):
    """Return how often each value, with its constraints, is known: Counters by keys of points."""
    known = defaultdict(Counter)
    if len(optimizer.func_vals_):
        keys = keys_of(optimizer.space_.encode(optimizer.x_iters_))
        for key, y, c in zip(keys, optimizer.func_vals_, optimizer.constraints_, strict=True):
            known[key][_plain(y, c)] += 1
    return known


def _plain(y, c):
    """Return a value and its constraints as plain data, by which they are compared."""
    return *values_to_data([y]), *(() if np.isnan(c).all() else values_to_data(c))


def _missing(points, keys, given, known):
    """Return which evaluations are not known, refusing others of points that are observed.

    A point can have several: then one of the two, what is given and what is known, holds the other.
    """
    by_place = defaultdict(Counter)
    for key, values in zip(keys, given, strict=True):
        by_place[key][values] += 1
    left, new = deepcopy(known), []
    for i, (key, values) in enumerate(zip(keys, given, strict=True)):
        now, then = by_place[key], known[key]
        if not (now <= then or then <= now):
            raise ValueError(_difference(points[i], now, then))
        if left[key][values]:
            left[key][values] -= 1
        else:
            new.append(i)
    return new


def _difference(point, now, then):
    was, are = (", ".join(_in_words(v) for v in values.elements()) for values in (then, now))
    return (
        f"y0 must agree with the journal: at the point {point} it has {was}, and y0 says {are}. "
        "Leave that point out, which the journal knows; add its value in the journal to x0 and y0, "
        "where the point was measured more than once; or give another path."
    )


def _in_words(values):
    y, *constraints = values
    text = repr(y) if isinstance(y, float) else "nan" if y is None else y
    return f"{text} with constraints {constraints}" if constraints else text
