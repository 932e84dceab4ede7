"""Initial candidates: known configurations, and an estimator's parameters moved into a space."""

from typing import Any

from sklearn.base import BaseEstimator, clone

from skbo_silbo.space._space import Space
from skbo_silbo.space.default_ranges import Step, table
from skbo_silbo.space.values import is_number, same

MOST_SMALL_ROWS = 1000  # of tables that have the candidates of small ones


def known_candidates(steps: list[Step], space: Space) -> list[dict[str, Any]]:
    """Return configurations that perform well on many data sets, best first.

    A configuration is left out if a value is outside the space, or if it does not have exactly the
    parameters of the space. Few estimators have such configurations (doc/benchmarks/known.rst).

    Parameters
    ----------
    steps : list of Step
        The estimator and the estimators nested in it.
    space : Space
    """
    points = [
        {step.prefix + name: value for name, value in params.items()}
        for step in steps
        for params in class_candidates(step.key, step.data.n)
    ]
    names = set(space.parameter_names)
    return [point for point in points if point.keys() == names and space.holds(point)]


def class_candidates(key: str | None, n_rows: float) -> list[dict[str, Any]]:
    """Return the built-in configurations of an estimator class for tables of a given size."""
    known = table()["known"]["large" if n_rows > MOST_SMALL_ROWS else "small"]
    return known.get((key or "").removeprefix("sklearn."), [])


def in_space(space: Space, has: dict[str, Any]) -> dict[str, Any]:
    """Return an estimator's parameters `has`; values outside their range are set to its middle."""
    [point] = space.decode([[0.0] * space.n_features_])
    for p in space.parameters:
        value = as_listed(has.get(p.name), p, any_of_class=True)
        if is_number(value) and not p.holds(value):
            value = float(value)  # 1 for a real range
        if p.name in has and p.holds(value):
            point[p.name] = p.own(value)
    return point


def as_listed(value: Any, parameter: Any, *, any_of_class: bool = False) -> Any:
    """Replace an estimator by its listed copy, or on request by a listed one of its class."""
    if not isinstance(value, BaseEstimator):
        return value
    alike = [v for v in parameter.values or () if type(v) is type(value)]
    copies = [v for v in alike if same(clone(v), clone(value), by_parts=True)]
    return next(iter(copies + alike * any_of_class), value)
