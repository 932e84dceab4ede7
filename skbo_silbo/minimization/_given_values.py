"""Read known values that the user passes to `minimize` as `x0` and `y0`."""

from collections import Counter
from typing import Any

import numpy as np

from skbo_silbo._checks import warn_user
from skbo_silbo._typing import FloatArray
from skbo_silbo.evaluation.trial import Observation, Trial
from skbo_silbo.optimizers import AskTellOptimizer
from skbo_silbo.optimizers.history import as_constraints, as_evaluations, as_points
from skbo_silbo.space.any_space import AnySpace
from skbo_silbo.space.keys import keys_of


def read_given(x0: Any, y0: Any, n_constraints: int, space: AnySpace) -> tuple[Any, Any, Any]:
    """Validate `x0` and `y0`, and return the points, their values and their constraint values.

    Values and constraint values are None without `y0`.

    Raises
    ------
    ValueError
        If a point is not in the space, or `y0` does not have one value per point.
    """
    if x0 is None:
        if y0 is not None:
            raise ValueError("`x0` must be given with `y0`, got None. Pass the points of `y0`.")
        return [], None, None
    points, _ = as_points(x0, space)
    try:
        space.encode(points)
    except ValueError as error:
        raise ValueError(f"`x0` must be points of the search space. {error}") from error
    if y0 is None:
        return points, None, None
    is_pair = n_constraints and isinstance(y0, tuple) and len(y0) == 2
    y0, c0 = y0 if is_pair else (y0, None)
    points, values = as_evaluations(x0, y0, space)
    if n_constraints and c0 is None:
        warn_user(
            "`y0` has no values of the constraints, so these points do not count as feasible. Pass "
            "y0=(values, constraints), of an earlier result (result.func_vals, result.constraints)."
        )
        c0 = np.full((len(values), n_constraints), np.nan)
    return points, values, as_constraints(c0, values.shape, n_constraints)


def tell_given(
    optimizer: AskTellOptimizer, log: Any, points: Any, values: FloatArray, constraints: FloatArray
) -> list[Trial]:
    """Pass observations supplied by the user to an optimiser, unless the journal has them.

    Parameters
    ----------
    optimizer : AskTellOptimizer
    log : EventLog or NoLog
    points : list or array
    values, constraints : ndarray of shape (n,), ndarray of shape (n, m)

    Returns
    -------
    trials : list of Trial
        One trial for each known value that was passed to the optimiser.

    Raises
    ------
    ValueError
        If a point has different values in the journal.
    """
    space = optimizer.space_
    given = _pairs(space, points, values, constraints)
    known = _pairs(space, optimizer.x_iters_, optimizer.func_vals_, optimizer.constraints_)
    for point, (key, _) in zip(points, given, strict=True):
        one, other = (Counter(v for k, v in pairs if k == key) for pairs in (given, known))
        if not (one <= other or other <= one):
            raise ValueError(_difference(point, one, other))
    left, new = Counter(known), []
    for i, pair in enumerate(given):
        new += [] if left[pair] > 0 else [i]
        left[pair] -= 1
    if not new:
        return []
    points, y, c = [points[i] for i in new], values[new], constraints[new]
    optimizer.tell(points, y, constraints=c if c.size else None)
    y = -y if optimizer.maximize else y
    log.record_observations(points, y, None, c)
    trials = [Trial(point, "given", is_evaluated=False) for point in points]
    for trial, value, row in zip(trials, y, c, strict=True):
        trial.observation = Observation(float(value), {"constraints": row} if row.size else {})
    return trials


def _pairs(space: Any, points: Any, values: Any, constraints: Any) -> list[tuple[bytes, str]]:
    """Return, for each evaluation, a key of the point and the observed values as text."""
    keys = keys_of(space.encode(points)) if len(points) else ()
    return list(zip(keys, map(_format_values, values, constraints), strict=True))


def _format_values(y: float, constraints: FloatArray) -> str:
    text = repr(float(y) + 0.0)  # + 0.0: no negative zero
    is_unknown = np.isnan(constraints).all()
    return text if is_unknown else f"{text} with constraints {(constraints + 0.0).tolist()}"


def _difference(point: Any, now: Counter[str], then: Counter[str]) -> str:
    was, got = (", ".join(values.elements()) for values in (then, now))
    return (
        f"`y0` must agree with the journal: the value at the point {point} is {was} there, got "
        f"{got}. Remove the point from x0 and y0, add the value from the journal if the point was "
        "measured more than once, or use another path."
    )
