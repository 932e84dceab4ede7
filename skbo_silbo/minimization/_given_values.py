"""Values that the caller knows, beside those that a journal has."""

from collections import Counter, defaultdict

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
    given = _pairs(space, points, values, c)
    known = _pairs(space, optimizer.x_iters_, optimizer.func_vals_, optimizer.constraints_)
    now, then = _by_place(given), _by_place(known)
    left, new = Counter(known), []
    for i, pair in enumerate(given):
        one, other = now[pair[0]], then[pair[0]]  # a point may have several
        if not (one <= other or other <= one):
            raise ValueError(_difference(points[i], one, other))
        new += [] if left[pair] > 0 else [i]
        left[pair] -= 1
    if not new:
        return
    points = [points[i] for i in new]
    calls.record_given_values(points)
    constraints = None if c0 is None else c[new]
    optimizer.tell(points, values[new], constraints=constraints)


def _pairs(space, points, values, constraints):
    """Return (key of the point, value and constraints as they are compared) of evaluations."""
    keys = keys_of(space.encode(points)) if len(points) else ()
    return list(zip(keys, map(_plain, values, constraints), strict=True))


def _by_place(pairs):
    by_place = defaultdict(Counter)
    for key, values in pairs:
        by_place[key][values] += 1
    return by_place


def _plain(y, c):
    """Return a value and its constraints as plain data, by which they are compared."""
    return *values_to_data([y]), *(() if np.isnan(c).all() else values_to_data(c))


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
