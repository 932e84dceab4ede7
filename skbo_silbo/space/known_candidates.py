"""Candidates that performed well on other data sets, adapted to a search space."""

from typing import Any

import numpy as np

from skbo_silbo.space._known_table import class_candidates, class_ranges, find_range, read_value
from skbo_silbo.space._space import Space
from skbo_silbo.space.known_space import Step
from skbo_silbo.space.values import is_number, same

MAX_CANDIDATES = 9  # (doc/benchmarks/known.rst)
MAX_ADAPTED = 4  # candidates that were clipped to, or completed for, the space


def known_candidates(
    steps: list[Step], has: dict[str, Any], branches: list[Space]
) -> list[dict[str, Any]]:
    """Return points of the space that combine the well-performing values of all steps, best first.

    Numbers outside their range are clipped to it and rounded to the nearest level. Missing
    parameters keep the estimator's value, or are set to the middle of their range if that value is
    not in the space. Only the first few points are adapted in this way, because further ones would
    be too similar; the others are included only if they fit the space as they are.

    Parameters
    ----------
    steps : list of Step
        The steps of the search: the estimator, and all estimators nested in it.
    has : dict
        Current parameters of the estimator and of its steps, by name.
    branches : list of Space
        The branches of the search space.
    """
    steps = [step for step in steps if step.key and class_candidates(step.key, step.data.n)]
    by_step = [_values(step) for step in steps]
    longest = max(map(len, by_step), default=0)
    together = [[own[min(i, len(own) - 1)] for own in by_step] for i in range(longest)]
    wanted = [{n: v for own in choice for n, v in own.items()} for choice in together]
    shares = [
        s.prefix + n for s in steps for n, e in class_ranges(str(s.key)).items() if "real" in e
    ]
    points: list[dict[str, Any]] = []
    for values in wanted:
        as_is = len(points) >= MAX_ADAPTED
        points += _points(values, has, branches, shares, as_is=as_is)[:1]
    return points[:MAX_CANDIDATES]


def _values(step):
    """Return the well-performing candidates of one step, scaled to its data."""
    return [
        {
            step.prefix + n: read_value(find_range(step.key, n, params), value, step.data)
            for n, value in params.items()
        }
        for params in class_candidates(step.key, step.data.n)
    ]


def _points(values, has, branches, shares, *, as_is):
    """Return a point with these values from each branch that can have them.

    If `as_is`, the values must be inside their ranges and include all parameters of the branch.
    """
    points = []
    for branch in branches:
        own = [p for p in branch.parameters if p.name in values]
        own = [p for p in own if not (p.name in shares and _is_integer(p))]
        near = {p.name: _nearest(p, values[p.name], clip=not as_is) for p in own}
        # Values tuned for one kernel are useless if the estimator is fixed to another kernel.
        fixed = [n for n, v in values.items() if isinstance(v, str) and n not in near]
        is_enough = len(own) == len(branch.parameters) if as_is else own
        if is_enough and all(near.values()) and all(same(values[n], has.get(n)) for n in fixed):
            own = [(p.name, near.get(p.name) or _fallback(p, has)) for p in branch.parameters]
            points.append({name: value for name, [value] in own})
    return points


def _is_integer(parameter):
    """Return whether all values of a parameter are integers, so that it cannot be a fraction."""
    values = parameter.values
    return parameter.integer if values is None else all(isinstance(v, int) for v in values)


def _nearest(parameter, value, *, clip):
    """Return a list with the parameter's value nearest to `value`, or an empty list."""
    if parameter.values is None:
        ends = parameter.distribution.support()
        if not is_number(value) or not (clip or ends[0] <= value <= ends[1]):
            return []
        inside = np.clip(value, *ends)
        return [int(inside) if parameter.integer else inside]
    numbers = [v for v in parameter.values if is_number(v)]
    if is_number(value) and numbers and (clip or min(numbers) <= value <= max(numbers)):
        return [numbers[int(np.argmin(np.abs(np.array(numbers, dtype=float) - value)))]]
    return [v for v in parameter.values if same(v, value)][:1]


def _fallback(parameter, has):
    """Return a list with the estimator's value if it is in the range, and otherwise the middle."""
    value = has.get(parameter.name)
    if parameter.holds(value):
        return [parameter.own(value)]
    return parameter.decode(np.zeros((1, parameter.n_columns)))
