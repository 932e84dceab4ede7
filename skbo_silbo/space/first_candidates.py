"""Candidates that performed well on other data sets, for a search space."""

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from skbo_silbo.space._space import Space
from skbo_silbo.space.default_ranges import (
    Step,
    class_branches,
    class_ranges,
    constants,
    read_constant,
    round_to_digits,
    table,
)
from skbo_silbo.space.values import is_number, same

MOST_SMALL_ROWS = 1000  # of tables that have the candidates of small ones
MAX_CANDIDATES, MAX_CURRENT = 9, 4  # (doc/benchmarks/known.rst)
Params: TypeAlias = dict[str, Any]


def known_candidates(
    steps: list[Step],
    has: dict[str, Any],
    branches: list[Space],
    untried: Sequence[Space] = (),
) -> list[dict[str, Any]]:
    """Return configurations that perform well on many data sets, best first.

    Values are rounded to the nearest level, but neither clipped nor completed: a candidate is left
    out if one of its values is outside the space, or the space has other parameters.

    Parameters
    ----------
    steps : list of Step
        The estimator and the estimators nested in it.
    has : dict
        The estimator's parameters.
    branches : list of Space
        The branches of the search space.
    untried : list of Space, default=()
        Branches that exclude one of the estimator's current values. If no default configuration
        fits a branch, it gets a point with the current values and, where these are excluded, the
        middle of the range. Without well-performing values, this holds for a single branch only.
    """
    by_step = [_values(step) for step in steps if step.key]
    points = []
    for i in range(max(map(len, by_step), default=0)):
        choice = [own[min(i, len(own) - 1)] for own in by_step if own]
        points += _points(choice, has, branches)[:1]
    return _with_branches(points, has, untried) if points or len(branches) == 1 else []


def _with_branches(points: list[Params], has: Params, branches: Sequence[Space]) -> list[Params]:
    """Return the first points, including at least one of each branch if possible."""
    by_branch = [[i for i, p in enumerate(points) if branch.holds(p)] for branch in branches]
    leads = [own[0] for own in by_branch if own]
    others = [i for i in range(len(points)) if i not in leads]
    empty = [b for b, own in zip(branches, by_branch, strict=True) if not own][:MAX_CURRENT]
    kept = sorted([*leads, *others][: MAX_CANDIDATES - len(empty)])
    return [points[i] for i in kept] + [_current(branch, has) for branch in empty]


def _values(step: Step) -> list[dict[str, Any]]:
    """Return the default configurations of one step, scaled to the step's data."""
    return [
        {
            step.prefix + n: read_value(find_range(str(step.key), n, params), value, step.data)
            for n, value in params.items()
            if not step.is_decided(n)
        }
        for params in class_candidates(str(step.key), step.data.n)
    ]


def _points(choice: list[Params], has: Params, branches: Sequence[Space]) -> list[Params]:
    """Return one point from each branch that has the given parameter values."""
    points = []
    for branch in branches:
        near = {n: v for values in choice for n, v in _inside(values, has, branch).items()}
        if near.keys() == set(branch.parameter_names):
            points.append({name: near[name] for name in branch.parameter_names})
    return points


def _inside(values: Params, has: Params, branch: Space) -> Params:
    """Return the given parameter values that a branch searches, or {} if one is outside it."""
    prefix = next(iter(values)).rpartition("__")[0]
    own = {p.name: p for p in branch.parameters if p.name.rpartition("__")[0] == prefix}
    is_same = all(same(value, has.get(name)) for name, value in values.items() if name not in own)
    near = {name: _nearest(own[name], values[name]) for name in own if name in values}
    return {name: v for name, [v] in near.items()} if is_same and all(near.values()) else {}


def _nearest(parameter: Any, value: Any) -> list[Any]:
    """Return the listed value nearest to `value` in a list, or [] if it is out of range."""
    if parameter.values is None:
        low, high = parameter.distribution.support()
        if not is_number(value) or not low <= value <= high:
            return []
        is_share = parameter.integer and 0.0 < value < 1.0  # of the columns, say
        return [] if is_share else [parameter.own(value)]
    numbers = [v for v in parameter.values if is_number(v)]
    if is_number(value) and numbers and min(numbers) <= value <= max(numbers):
        return [numbers[int(np.argmin(np.abs(np.array(numbers, dtype=float) - value)))]]
    return [v for v in parameter.values if same(v, value)][:1]


def _current(branch: Space, has: Params) -> Params:
    """Return the estimator's current parameters, or the middle of ranges that exclude them."""
    [middle] = branch.decode(np.zeros((1, sum(p.n_columns for p in branch.parameters))))
    own = [p for p in branch.parameters if p.name in has and p.holds(has[p.name])]
    return middle | {p.name: p.own(has[p.name]) for p in own}


def class_candidates(key: str, n_rows: float) -> list[dict[str, Any]]:
    """Return the built-in configurations of an estimator class for tables of a given size.

    They performed well on many data sets. Small and large tables have different configurations,
    and some classes have none.
    """
    known = table()["known"]["large" if n_rows > MOST_SMALL_ROWS else "small"]
    name = key.removeprefix("sklearn.")
    return next((own for names, own in known.items() if name in names.split()), [])


def find_range(key: str, name: str, params: dict[str, Any]) -> dict[str, Any]:
    """Return the default range of a parameter in a candidate's branch, or {} for a constant."""
    for branch in class_branches(key):
        if name in branch and all(params.get(n, v) == v for n, v in constants(branch).items()):
            return branch[name] if isinstance(branch[name], dict) else {}
    return class_ranges(key).get(name, {})


def read_value(entry: dict[str, Any], value: Any, data: Any) -> Any:
    """Scale the value of a parameter in a default configuration to the data."""
    if "unit" in entry:
        return round_to_digits(value * data.unit(entry["unit"]))
    if "most" in entry:
        return int(min(value, data.upper_limit(entry["most"])))
    return read_constant(value)
