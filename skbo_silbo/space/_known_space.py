"""The space of an estimator that nobody wrote: `default_space`."""

import inspect
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from math import prod
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.ensemble import StackingClassifier, StackingRegressor
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer, LabelBinarizer

from skbo_silbo._checks import brief, warn_user
from skbo_silbo._sklearn import BaseSearchCV, rows_of
from skbo_silbo.space._known_data import StepData
from skbo_silbo.space._known_table import (
    asked_of_class,
    branches_of_class,
    constants,
    gives_few_columns,
    key_of,
    names_of,
    ranges_of,
    read_constant,
    read_range,
    table,
)
from skbo_silbo.space._parameters import read_parameter
from skbo_silbo.space._values import in_words, range_in_words, same

REST = ("...", ...)  # in a dict: and all else that is known
MOST_BRANCHES = 32  # of all conditional steps together; those found first then keep what they have


class _Table:
    """Prints a space as a table, with the source of every range.

    Attributes
    ----------
    sources : dict of str to str
        Where the range of a parameter is from.
    fixed : dict of str to object
        Parameters with a known range that are not searched, as they were set, and their values.
    """

    sources: dict[str, str]
    fixed: dict[str, Any]
    read: list[Any]  # the ranges of the table; what was put in since is of no source

    def __repr__(self) -> str:
        branches = self if isinstance(self, list) else [self]
        blocks = [self._rows(branch) for branch in branches]
        widths = [max(len(row[i]) for rows in blocks for row in rows) for i in range(2)]
        line = f"{{:{widths[0]}}}  {{:{widths[1]}}}  {{}}"
        texts = ["\n".join(line.format(*row).rstrip() for row in rows) for rows in blocks]
        return "\n--- or ---\n".join(texts)

    def _rows(self, branch):
        words = {n: range_in_words(read_parameter(n, v)) for n, v in branch.items()}
        own = [n for n in words if any(branch[n] is values for values in self.read)]
        sources = {n: self.sources.get(n, "").partition(";")[0] if n in own else "" for n in words}
        fixed = [(n, in_words(v), "fixed") for n, v in self.fixed.items() if n not in branch]
        return [(n, w.removeprefix(f"{n}: "), sources[n]) for n, w in words.items()] + fixed


class KnownSpace(_Table, dict):
    """A space without conditions: names to lists and distributions."""


class KnownSpaces(_Table, list):
    """A space with conditions: a list of dicts."""


@dataclass(frozen=True)
class Step:
    """An estimator, or one inside it.

    Attributes
    ----------
    prefix : str
        What its parameters' names begin with.
    estimator : estimator object
    data : StepData
        What it sees.
    searched : frozenset of str
        Full names of the parameters, and steps, that a search around it sets itself.
    """

    prefix: str
    estimator: Any
    data: StepData
    searched: frozenset[str] = frozenset()

    @property
    def key(self) -> str | None:
        """The class by which it is known."""
        return key_of(self.estimator)

    def is_searched(self, name: str) -> bool:
        """Return whether a search around the estimator overwrites a parameter."""
        return self.prefix + name in self.searched

    def is_set(self, name: str) -> bool:
        """Return whether a parameter has another value than its default."""
        parameter = inspect.signature(type(self.estimator).__init__).parameters.get(name)
        default = None if parameter is None else parameter.default
        return not same(self.estimator.get_params(deep=False).get(name, default), default)

    def set_by_user(self) -> dict[str, Any]:
        """Return the parameters with a known range that were set, by full name."""
        has, names = self.estimator.get_params(deep=False), names_of(self.key)
        own = (n for n in names if n in has and self.is_set(n) and not self.is_searched(n))
        return {self.prefix + n: has[n] for n in own}

    def has(self, name: str) -> bool:
        """Return whether there is a parameter; CatBoost's are named in its signature alone."""
        has = self.estimator.get_params(deep=False)
        return name in has or name in inspect.signature(type(self.estimator).__init__).parameters


def default_space(
    estimator: Any, X: Any = None, y: Any = None, *, all: bool = False
) -> KnownSpace | KnownSpaces:
    """Return the space in which an estimator is usually searched.

    Pipelines, ColumnTransformers and other estimators that hold some are looked into. Parameters
    that have another value than their default stay as they are.

    Parameters
    ----------
    estimator : estimator object
    X, y : array-like or None, default=None
        The data: then neighbours and leaves are fewer than rows, components at most as many as
        columns, and the width of a kernel is in units of the spread of X. Steps of scikit-learn are
        fitted on at most 500 rows to see what comes after them. Without data the ranges are those
        of large ones, 100 neighbours for example, and may not fit few rows.
    all : bool, default=False
        Whether parameters that were set to other than their default are searched too.

    Returns
    -------
    space : dict or list of dict
        Names to lists and distributions of scipy, as RandomizedSearchCV takes them; a list of dicts
        where some parameters are there under a condition. It prints as a table, and has the source
        of every range in ``sources`` and the parameters that stay as they were set in ``fixed``.

    Raises
    ------
    ValueError
        If it is a class or has no ``get_params``, or no parameter of it is known.

    Warns
    -----
    UserWarning
        If a step is not known: it keeps its parameters.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from sklearn.svm import LinearSVC
    >>> from skbo_silbo import default_space
    >>> space = default_space(make_pipeline(StandardScaler(), LinearSVC()))
    >>> list(space), space["linearsvc__C"].args
    (['linearsvc__C'], (0.001, 1000.0))
    """
    if isinstance(estimator, type) or not hasattr(estimator, "get_params"):
        raise ValueError(
            f"estimator must be an estimator object of scikit-learn's kind: got {brief(estimator)}"
            ". Write SVC(), say."
        )
    steps = steps_of(estimator, X, y)
    warn_of_unknown(steps)
    branches = branches_of_steps(steps, all=all)
    if branches == [{}]:
        raise no_range_error(estimator)
    return as_table(branches, steps)


def no_range_error(estimator):
    return ValueError(
        f"estimator must have a parameter whose range is known: got {estimator!r}. Give "
        'param_distributions, {"name": [values]} of what its get_params() names, or '
        "default_space(..., all=True) if its parameters were set to other than their defaults."
    )


def branches_of_steps(steps, *, all=False):
    """Return the conditional parts of all steps together: names to values and source."""
    parts = [part for step in steps if (part := _branches(step, all=all)) != [{}]]
    while len(parts) > 1 and prod(map(len, parts)) > MOST_BRANCHES:
        longest = max(parts, key=len)
        parts[parts.index(longest)] = longest[:1]
    return [{n: v for part in choice for n, v in part.items()} for choice in product(*parts)]


def as_table(branches, steps):
    """Return a space of steps from branches of names to values and source, "" without one."""
    made = [{name: values for name, (values, _) in branch.items()} for branch in branches]
    space = KnownSpace(made[0]) if len(made) == 1 else KnownSpaces(made)
    known = [(n, *pair) for branch in branches[::-1] for n, pair in branch.items() if pair[1]]
    space.sources = {name: source for name, _, source in known}
    space.read = [values for _, values, _ in known]
    was_set = {name: value for step in steps for name, value in step.set_by_user().items()}
    searched = {name for branch in branches for name in branch}
    space.fixed = {name: value for name, value in was_set.items() if name not in searched}
    return space


def steps_of(estimator: Any, X: Any = None, y: Any = None) -> list[Step]:
    """Return an estimator and all those inside it, in the order in which data pass them."""
    return list(_walk(Step("", estimator, StepData.of(X, y))))


def _walk(step: Step) -> Iterator[Step]:
    yield step
    data, searched = step.data, step.searched | _searched_inside(step)
    for name, inner in _inside(step.estimator):
        path = step.prefix + name
        if isinstance(step.estimator, ColumnTransformer):
            data = _columns(step, name)
        elif isinstance(step.estimator, TransformedTargetRegressor):
            data = _of_targets(step).halved()
        elif name == "final_estimator" and isinstance(
            step.estimator, StackingClassifier | StackingRegressor
        ):
            data = _of_predictions(step)
        elif not isinstance(step.estimator, Pipeline):
            data = step.data.halved()
        if path not in searched:
            yield from _walk(Step(f"{path}__", inner, data, searched))
        if isinstance(step.estimator, Pipeline) and hasattr(inner, "transform"):
            is_few = any(gives_few_columns(s.key) for s in _walk(Step("", inner, StepData())))
            data = data.after(inner, few_columns=is_few)


def _inside(estimator):
    """Return names and estimators, those in lists of tuples included; "passthrough" is none."""
    for name, value in estimator.get_params(deep=False).items():
        members = [m for m in value if isinstance(m, tuple)] if isinstance(value, list) else []
        for found in [(name, value), *(member[:2] for member in members)]:
            is_estimator = hasattr(found[1], "get_params") and hasattr(found[1], "fit")
            if is_estimator and not isinstance(found[1], type):
                yield found


def _columns(step, name):
    """Return the data of a part of a ColumnTransformer."""
    parts = {part: columns for part, _, columns in step.estimator.transformers}
    data = step.data
    if data.X is None:
        return data
    try:
        if name == "remainder":  # scikit-learn gives no part this name
            dropped = [(part, "drop", columns) for part, columns in parts.items()]
            X = ColumnTransformer(dropped, remainder="passthrough").fit_transform(data.X)
        else:
            columns = parts[name](data.X) if callable(parts[name]) else parts[name]
            X = rows_of(data.X, columns, axis=1)
    except Exception:  # the search's own fits will say why
        return StepData(n=data.n, y=data.y)
    return StepData(data.n, X.shape[1] if X.ndim > 1 else data.d, X, data.y)


def _of_predictions(step):
    """Return the data of the last estimator of a stack: predictions of the others, if right."""
    stack, data = step.estimator, step.data
    if data.y is None:
        return StepData(data.n, len(stack.estimators))
    try:
        y = LabelBinarizer().fit_transform(data.y) if is_classifier(stack) else np.asarray(data.y)
        X = np.tile(y.reshape(len(y), -1), len(stack.estimators))
        X = np.hstack([X, np.asarray(data.X)]) if stack.passthrough else X
    except Exception:  # the search's own fits will say why
        return StepData(data.n, y=data.y)
    return StepData(data.n, X.shape[1], X, data.y)


def _searched_inside(step):
    """Return the full names of what a search overwrites in its estimator: all, or parameters."""
    if not isinstance(step.estimator, BaseSearchCV):
        return frozenset()
    has, inside = step.estimator.get_params(deep=False), f"{step.prefix}estimator"
    space = has.get("param_grid", has.get("param_distributions"))
    grids = space if isinstance(space, list) else [space]
    if not all(isinstance(grid, dict) and grid.keys().isdisjoint(REST) for grid in grids):
        return frozenset({inside})
    return frozenset(f"{inside}__{name}" for grid in grids for name in grid)


def _of_targets(step):
    """Return the data of the regressor in a TransformedTargetRegressor: y as it is transformed."""
    change, y = step.estimator.transformer, step.data.y
    if y is None:
        return step.data
    try:
        y = np.asarray(y, dtype=float)
        change = FunctionTransformer(step.estimator.func) if change is None else clone(change)
        y = change.fit_transform(y.reshape(len(y), -1)).reshape(y.shape)
    except Exception:  # the search's own fits will say why
        y = None
    return replace(step.data, y=y)


def _branches(step: Step, *, all: bool) -> list[dict[str, tuple[Any, str]]]:
    """Return the conditional parts of a step: names to values and source, fixed names first."""
    if step.key is None:
        return [{}]
    common = _ranges(step, ranges_of(step.key), all=all)
    parts = [_part(step, part, all=all) for part in [*branches_of_class(step.key), *_asked(step)]]
    return [{**part, **common} for part in parts if part is not None] or [common]


def _asked(step):
    """Return the conditional parts that the parameters of the estimator ask for."""
    has = step.estimator.get_params(deep=False)
    parts = asked_of_class(step.key)
    return [
        part for part in parts if all(step.is_set(n) and has[n] == part[n] for n in constants(part))
    ]


def _part(step, part, *, all):
    """Return the names, values and sources of one conditional part; None if it is excluded."""
    found: dict[str, Any] = {}
    for name, value in part.items():
        if isinstance(value, dict):
            found |= _ranges(step, {name: value}, all=all)
        elif step.is_searched(name):
            return None
        elif all or not step.is_set(name):
            found[step.prefix + name] = [read_constant(value)], ""
        elif step.estimator.get_params(deep=False)[name] != value:
            return None
    return found


def _ranges(step, entries, *, all):
    has, found = step.estimator.get_params(deep=False), {}
    for name, entry in entries.items():
        is_unused = "unless" in entry and entry["unless"].items() <= has.items()
        if (
            step.has(name)
            and not step.is_searched(name)
            and (all or not (is_unused or step.is_set(name)))
        ):
            values = read_range(entry, step.data, has.get(name))
            found[step.prefix + name] = values, table()["sources"][entry["source"]]
    return {name: pair for name, pair in found.items() if pair[0] is not None}


def warn_of_unknown(steps):
    """Name the estimators that are not known, hold none and have parameters."""
    unknown = {}
    for step in steps:
        has = step.estimator.get_params(deep=False)
        if step.key is None and has and not any(True for _ in _inside(step.estimator)):
            name = step.prefix.removesuffix("__") or type(step.estimator).__name__
            unknown[name] = f"{step.prefix}{next(iter(has))}"
    if unknown and len(unknown) < len(steps):
        warn_user(
            f"no range is known for the parameters of {[*unknown]}: they stay as they are. Add "
            f'values to the space, such as {{"{min(unknown.values())}": [...], "...": "auto"}}.'
        )
