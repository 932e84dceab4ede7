"""Read known values that the user passes to `minimize` as `x0` and `y0`."""

from collections import Counter

import numpy as np

from skbo_silbo._checks import warn_user
from skbo_silbo.evaluation.trial import Observation, Trial
from skbo_silbo.optimizers.event import Points, observed_event, values_to_data
from skbo_silbo.optimizers.history import as_constraints, as_evaluations
from skbo_silbo.space.keys import keys_of


def tell_given(optimizer, log, x0, y0, n_constraints):
    """Pass observations supplied by the user to an optimiser, unless the journal has them.

    Parameters
    ----------
    optimizer : AskTellOptimizer
    log : EventLog or NoLog
    x0, y0 : object
        Points and their known values, as passed to `minimize`.
    n_constraints : int

    Returns
    -------
    trials : list of Trial
        One trial for each known value that was passed to the optimiser.

    Raises
    ------
    ValueError
        If a point has different values in the journal, or there are no points.
    """
    if y0 is None:
        return []
    if x0 is None:
        raise ValueError("`x0` must be given with `y0`, got None. Pass the points of `y0`.")
    is_pair = n_constraints and isinstance(y0, tuple) and len(y0) == 2
    y0, c0 = y0 if is_pair else (y0, None)
    space = optimizer.space_
    points, values = as_evaluations(x0, y0, space)
    if n_constraints and c0 is None:
        warn_user(
            "`y0` has no values of the constraints, so these points do not count as feasible. Pass "
            "y0=(values, constraints), of an earlier result (result.func_vals, result.constraints)."
        )
        c0 = np.full((len(values), n_constraints), np.nan)
    c = as_constraints(c0, values.shape, optimizer.constraints_.shape[1])
    given = _pairs(space, points, values, c)
    known = _pairs(space, optimizer.x_iters_, optimizer.func_vals_, optimizer.constraints_)
    for point, (key, _) in zip(points, given, strict=True):
        one, other = (Counter(v for k, v in pairs if k == key) for pairs in (given, known))
        if not (one <= other or other <= one):
            raise ValueError(_difference(point, one, other))
    new = indices_missing(given, known)
    if not new:
        return []
    points = [points[i] for i in new]
    optimizer.tell(points, values[new], constraints=c[new] if n_constraints else None)
    y = -values[new] if optimizer.maximize else values[new]
    rows = Points(space).observed_rows(points)
    log.write({**observed_event(rows, y, constraints=c[new]), "given": True})
    trials = [Trial(point, "given", is_evaluated=False) for point in points]
    for trial, value, row in zip(trials, y, c[new], strict=True):
        trial.observation = Observation(float(value), {"constraints": row} if row.size else {})
    return trials


def indices_missing(given, known):
    """Return the indices of items that are missing from another list.

    Examples
    --------
    >>> indices_missing(["a", "b", "a"], ["a"])
    [1, 2]
    """
    left, new = Counter(known), []
    for i, one in enumerate(given):
        new += [] if left[one] > 0 else [i]
        left[one] -= 1
    return new


def _pairs(space, points, values, constraints):
    """Return a key of the point and the observed values for each evaluation."""
    keys = keys_of(space.encode(points)) if len(points) else ()
    return list(zip(keys, map(_as_data, values, constraints), strict=True))


def _as_data(y, c):
    return *values_to_data([y]), *(() if np.isnan(c).all() else values_to_data(c))


def _difference(point, now, then):
    was, now = (", ".join(_format_value(v) for v in values.elements()) for values in (then, now))
    return (
        f"`y0` must agree with the journal: the value at the point {point} is {was} there, got "
        f"{now}. Remove the point from x0 and y0, add the value from the journal if the point was "
        "measured more than once, or use another path."
    )


def _format_value(values):
    y, *constraints = values
    text = repr(y) if isinstance(y, float) else "nan" if y is None else y
    return f"{text} with constraints {constraints}" if constraints else text
