"""Candidates of a space that did well on other data: the known values of every step."""

from typing import Any

import numpy as np

from skbo_silbo.space._known_space import Step
from skbo_silbo.space._known_table import entry_of, known_of, ranges_of, read_value
from skbo_silbo.space._space import Space
from skbo_silbo.space._values import is_number, same

MOST = 9  # candidates (doc/benchmarks/known.rst)
MOST_IN_PART = 4  # that are moved into the space, or do not say all of its parameters


def known_candidates(
    steps: list[Step], has: dict[str, Any], branches: list[Space]
) -> list[dict[str, Any]]:
    """Return points of a space with the known values of all steps, the best first.

    Numbers beyond an end of their range are moved to it, those between two levels to the nearer.
    Other parameters are as the estimator has them, or in the middle where that is not of the space.
    After the first few only those come that need neither: more of the others would be alike.

    Parameters
    ----------
    steps : list of Step
    has : dict
        The estimator's parameters.
    branches : list of Space
        Of which a point has one.
    """
    steps = [step for step in steps if step.key and known_of(step.key)]
    known = [_values(step) for step in steps]
    longest = max(map(len, known), default=0)
    together = [[own[min(i, len(own) - 1)] for own in known] for i in range(longest)]
    wanted = [{n: v for own in choice for n, v in own.items()} for choice in together]
    shares = [s.prefix + n for s in steps for n, e in ranges_of(str(s.key)).items() if "real" in e]
    points: list[dict[str, Any]] = []
    for values in wanted:
        whole = len(points) >= MOST_IN_PART
        points += _points(values, has, branches, shares, whole=whole)[:1]
    return points[:MOST]


def _values(step):
    """Return the known candidates of one step, in the units of its data."""
    return [
        {
            step.prefix + n: read_value(entry_of(step.key, n, params), value, step.data)
            for n, value in params.items()
        }
        for params in known_of(step.key)
    ]


def _points(values, has, branches, shares, *, whole):
    """Return the points of those branches that can have the known values.

    If `whole`, values of all parameters, none of them beyond the ends.
    """
    points = []
    for branch in branches:
        own = [p for p in branch.parameters if p.name in values]
        own = [p for p in own if not (p.name in shares and _counts(p))]
        near = {p.name: _nearest(p, values[p.name], move=not whole) for p in own}
        # A kernel that is not searched has to be the estimator's, or the other values mean nothing.
        fixed = [n for n, v in values.items() if isinstance(v, str) and n not in near]
        is_enough = len(own) == len(branch.parameters) if whole else own
        if is_enough and all(near.values()) and all(same(values[n], has.get(n)) for n in fixed):
            own = [(p.name, near.get(p.name) or _as_it_is(p, has)) for p in branch.parameters]
            points.append({name: value for name, [value] in own})
    return points


def _counts(parameter):
    """Tell whether a parameter has integers only: a share of the columns is none of them."""
    values = parameter.values
    return parameter.integer if values is None else all(isinstance(v, int) for v in values)


def _nearest(parameter, value, *, move):
    """Return the value of a parameter that is nearest to another, in a list; none for a word."""
    if parameter.values is None:
        ends = parameter.distribution.support()
        if not is_number(value) or not (move or ends[0] <= value <= ends[1]):
            return []
        inside = np.clip(value, *ends)
        return [int(inside) if parameter.integer else inside]
    numbers = [v for v in parameter.values if is_number(v)]
    if is_number(value) and numbers and (move or min(numbers) <= value <= max(numbers)):
        return [numbers[int(np.argmin(np.abs(np.array(numbers, dtype=float) - value)))]]
    return [v for v in parameter.values if same(v, value)][:1]


def _as_it_is(parameter, has):
    """Return what the estimator has, if that is of the space, or else the middle, in a list."""
    value = has.get(parameter.name)
    if parameter.holds(value):
        return [parameter.own(value)]
    return parameter.decode(np.zeros((1, parameter.n_columns)))
