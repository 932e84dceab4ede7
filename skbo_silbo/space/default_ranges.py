"""Default search spaces for estimators, with the ranges in `defaults.toml`."""

import inspect
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache, cached_property
from importlib.resources import files
from itertools import product
from math import prod
from typing import Any, TypeAlias

import numpy as np
from scipy.sparse import issparse
from scipy.stats import loguniform, randint, uniform
from sklearn.base import clone, is_classifier
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.ensemble import StackingClassifier, StackingRegressor
from sklearn.gaussian_process import kernels
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer, LabelBinarizer

from skbo_silbo._checks import brief, warn_user
from skbo_silbo._sklearn import BaseSearchCV, rows_of
from skbo_silbo.space._parameters import read_parameter
from skbo_silbo.space._step_data import StepData
from skbo_silbo.space.values import format_value, same

REST = ("...", ...)  # keys that request default ranges for all other parameters
N_LEVELS = 20  # number of levels of integers that are searched on a logarithmic scale
DIGITS = 3  # significant digits of values that are scaled to the data
MOST_BRANCHES = 32  # the number of combined branches is limited to this many
Branch: TypeAlias = dict[str, tuple[Any, str]]  # values and their source, by parameter name


class _Table:
    """Mixin that prints a search space as a table of parameters, ranges and their sources.

    Attributes
    ----------
    sources : dict of str to str
        Source of each default range, by parameter name.
    fixed : dict of str to object
        Values set by the user, by parameter name. These parameters are not searched, although
        they have a default range.
    """

    sources: dict[str, str]
    fixed: dict[str, Any]
    read: list[Any]  # pairs of a range from the table and its source; users may replace ranges

    def __repr__(self) -> str:
        branches = self if isinstance(self, list) else [self]
        blocks = [self._rows(branch) for branch in branches]
        widths = [max(len(row[i]) for rows in blocks for row in rows) for i in range(2)]
        line = f"{{:{widths[0]}}}  {{:{widths[1]}}}  {{}}"
        texts = ["\n".join(line.format(*row).rstrip() for row in rows) for rows in blocks]
        return "\n--- or ---\n".join(texts)

    def _rows(self, branch: Any) -> list[tuple[str, str, str]]:
        words = {n: read_parameter(n, v).text for n, v in branch.items()}
        sources = {n: next((s for r, s in self.read if r is v), "") for n, v in branch.items()}
        fixed = [(n, format_value(v), "fixed") for n, v in self.fixed.items() if n not in branch]
        return [(n, w, sources[n].partition(";")[0]) for n, w in words.items()] + fixed


class DefaultSpace(_Table, dict):
    """A default search space: a dict of parameter names to lists and distributions."""


class DefaultSpaces(_Table, list):
    """A default search space with conditional parameters: a list of dicts, one per branch."""


@dataclass(frozen=True)
class Step:
    """Estimator whose hyperparameters are tuned, or an estimator nested in it.

    Attributes
    ----------
    prefix : str
        Prefix of the estimator's parameters in the search space, such as ``"svc__"``.
    estimator : estimator object
    data : StepData
        Properties of the data to which the estimator is fitted.
    decided : frozenset of str
        Full names of the parameters and steps that a nested search tunes, and of the parameters
        whose value early stopping determines.
    """

    prefix: str
    estimator: Any
    data: StepData
    decided: frozenset[str] = frozenset()

    @cached_property
    def key(self) -> str | None:
        """Name of the estimator's class in the table of default ranges, or None."""
        return class_key(self.estimator)

    @cached_property
    def params(self) -> dict[str, Any]:
        """The estimator's own parameters, without the parameters of nested estimators."""
        return self.estimator.get_params(deep=False)

    @cached_property
    def defaults(self) -> dict[str, Any]:
        """Default values of the arguments of ``__init__``."""
        arguments = inspect.signature(type(self.estimator).__init__).parameters
        return {name: argument.default for name, argument in arguments.items()}

    def is_decided(self, name: str) -> bool:
        """Return whether a nested search tunes a parameter, or early stopping determines it."""
        return self.prefix + name in self.decided

    def is_set(self, name: str) -> bool:
        """Return whether a parameter of the estimator differs from its default value."""
        default = self.defaults.get(name)
        return not same(self.params.get(name, default), default)

    def set_by_user(self) -> dict[str, Any]:
        """Return the parameters with a default range that the user has set explicitly."""
        own = (n for n in parameter_names(self.key) if n in self.params and self.is_set(n))
        return {self.prefix + n: self.params[n] for n in own if not self.is_decided(n)}

    def asks_for(self, branch: dict[str, Any]) -> bool:
        """Return whether the user has set all single-valued parameters of an optional branch."""
        return all(self.is_set(n) and self.params[n] == v for n, v in constants(branch).items())

    def has(self, name: str) -> bool:
        """Return whether the estimator has a parameter, even if only `__init__` lists it."""
        return name in self.params or name in self.defaults


def default_space(estimator: Any, X: Any = None, y: Any = None) -> DefaultSpace | DefaultSpaces:
    """Return a default search space for an estimator.

    Ranges of nested estimators, such as the steps of a Pipeline or a ColumnTransformer, are
    included.

    A parameter is searched if it has a default range and its value equals the default of its class:
    ``GradientBoostingClassifier(n_estimators=100)`` counts as not set, because 100 is the default.
    All other parameters keep the value of the estimator. To keep a parameter at its default, remove
    it from the space, or pass ``{"n_estimators": [100], "...": "auto"}`` to the search. Numbers of
    boosting rounds inside :class:`~skbo_silbo.EarlyStopped` are not searched.

    Parameters
    ----------
    estimator : estimator object
        The estimator to be tuned.
    X, y : array-like or None, default=None
        The training data. The data limit the ranges: for example, the number of neighbours stays
        below the number of samples, and kernel widths are scaled to the variance of X. Steps from
        scikit-learn are fitted on at most 500 samples to determine the input of later steps.
        Without data, the ranges suit large data sets.

    Returns
    -------
    space : dict or list of dict
        Default search space: parameter names mapped to lists and scipy.stats distributions, as in
        :class:`~sklearn.model_selection.RandomizedSearchCV`. If some parameters are conditional,
        the result is a list of dicts, one per branch. The space is printed as a table. Its
        attribute ``sources`` gives the source of each range, and ``fixed`` the parameters that are
        left unchanged.

    Raises
    ------
    ValueError
        If `estimator` is not an estimator object, or no default range is available for it.

    Warns
    -----
    UserWarning
        If no default ranges are available for one of the nested estimators.

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
            "`estimator` must be a scikit-learn compatible estimator object such as SVC(), got "
            f"{brief(estimator)}."
        )
    steps = list_steps(estimator, X, y)
    warn_of_unknown(steps)
    branches = branches_of_steps(steps)
    if branches == [{}]:
        raise no_range_error(estimator, steps)
    return as_table(branches, steps)


def no_range_error(estimator: Any, steps: list[Step]) -> ValueError:
    """Return the error for an estimator that has no default search ranges."""
    was_set = [*_set_by_user(steps)]
    remedy = f", or leave out the parameters you have set, {was_set}" if was_set else ""
    return ValueError(
        f"No default search space is available for {brief(estimator)}. Pass your own ranges as "
        f"`param_distributions`{remedy}."
    )


def _set_by_user(steps: list[Step]) -> dict[str, Any]:
    return {name: value for step in steps for name, value in step.set_by_user().items()}


def branches_of_steps(steps: list[Step]) -> list[Branch]:
    """Combine the conditional branches of all pipeline steps.

    Each branch maps parameter names to a pair: the values and their source. If there are too many
    combinations, the steps with the most branches are reduced to their first one.
    """
    by_step = [branches for step in steps if (branches := _branches(step)) != [{}]]
    while len(by_step) > 1 and prod(map(len, by_step)) > MOST_BRANCHES:
        longest = max(by_step, key=len)
        by_step[by_step.index(longest)] = longest[:1]
    return [{n: v for branch in choice for n, v in branch.items()} for choice in product(*by_step)]


def as_table(branches: list[Branch], steps: list[Step]) -> DefaultSpace | DefaultSpaces:
    """Convert branches to a search space that is printed as a table."""
    made = [{name: values for name, (values, _) in branch.items()} for branch in branches]
    space = DefaultSpace(made[0]) if len(made) == 1 else DefaultSpaces(made)
    read = [(n, *pair) for branch in branches[::-1] for n, pair in branch.items() if pair[1]]
    space.sources = {name: source for name, _, source in read}
    space.read = [pair for _, *pair in read]
    searched = {name for branch in branches for name in branch}
    fixed = _set_by_user(steps).items()
    space.fixed = {name: value for name, value in fixed if name not in searched}
    return space


def has_parameter(steps: list[Step], name: str) -> bool:
    """Return whether the first step or one of the steps nested in it has the named parameter."""
    inside = (s.has(name.removeprefix(s.prefix)) for s in steps if name.startswith(s.prefix))
    return name in steps[0].estimator.get_params() or any(inside)


def list_steps(estimator: Any, X: Any = None, y: Any = None) -> list[Step]:
    """List an estimator and all estimators nested in it, in the order in which they are fitted."""
    return list(_walk(Step("", estimator, StepData.from_arrays(X, y))))


def _walk(step: Step) -> Iterator[Step]:
    yield step
    data, decided = step.data, step.decided | _rounds_inside(step)
    if isinstance(step.estimator, BaseSearchCV):
        decided |= {f"{step.prefix}estimator"}
    is_pipeline = isinstance(step.estimator, Pipeline)
    for name, inner in _nested_estimators(step):
        path = step.prefix + name
        data = data if is_pipeline else _data_inside(step, name)
        if path not in decided:
            yield from _walk(Step(f"{path}__", inner, data, decided))
        if is_pipeline and hasattr(inner, "transform"):
            is_few = any(gives_few_columns(s.key) for s in _walk(Step("", inner, StepData())))
            data = data.after(inner, few_columns=is_few)


def _nested_estimators(step: Step) -> Iterator[tuple[str, Any]]:
    """Yield the names and values of all estimators among the parameters of a step."""
    for name, value in step.params.items():
        members = [m for m in value if isinstance(m, tuple)] if isinstance(value, list) else []
        for found in [(name, value), *(member[:2] for member in members)]:
            is_estimator = hasattr(found[1], "get_params") and hasattr(found[1], "fit")
            if is_estimator and not isinstance(found[1], type):
                yield found


def _data_inside(step: Step, name: str) -> StepData:
    """Return the properties of the data to which the named nested estimator is fitted."""
    outer, data = step.estimator, step.data
    is_final = name == "final_estimator"
    try:
        if isinstance(outer, ColumnTransformer):
            return data if data.X is None else data.with_rows(_columns(outer, name, data.X))
        if is_final and isinstance(outer, StackingClassifier | StackingRegressor):
            if data.y is None:
                return StepData(data.n, len(outer.estimators))
            return data.with_rows(_predictions(outer, data))
    except Exception:  # the fits of the search will report it
        return StepData(n=data.n, y=data.y)
    if isinstance(outer, TransformedTargetRegressor):
        data = _transformed_target(step)
    return data.halved()


def _columns(outer: Any, name: str, X: Any) -> Any:
    """Return the columns of X that one part of a ColumnTransformer receives."""
    selected = {other: columns for other, _, columns in outer.transformers}
    if name == "remainder":  # reserved by scikit-learn
        dropped = [(other, "drop", columns) for other, columns in selected.items()]
        return ColumnTransformer(dropped, remainder="passthrough").fit_transform(X)
    columns = selected[name](X) if callable(selected[name]) else selected[name]
    return rows_of(X, columns, axis=1)


def _predictions(stack: Any, data: StepData) -> Any:
    """Return an approximation of the predictions that a stack's final estimator receives."""
    y = LabelBinarizer().fit_transform(data.y) if is_classifier(stack) else np.asarray(data.y)
    X = np.tile(y.reshape(len(y), -1), len(stack.estimators))
    return np.hstack([X, np.asarray(data.X)]) if stack.passthrough else X


def _rounds_inside(step: Step) -> frozenset[str]:
    """Return the names of the parameters that early stopping determines (numbers of rounds)."""
    rules = table()["steps"]
    if class_name(step.estimator) != rules["early_stopped"]:
        return frozenset()
    booster, path = step.estimator.estimator, f"{step.prefix}estimator__"
    if isinstance(booster, Pipeline):
        path += f"{booster.steps[-1][0]}__"
    return frozenset(path + name for name in rules["rounds"].split())


def _transformed_target(step: Step) -> StepData:
    """Return the properties of the data that the inner regressor of a step is fitted to."""
    transformer, y = step.estimator.transformer, step.data.y
    if y is None:
        return step.data
    try:
        y = np.asarray(y, dtype=float)
        if transformer is None:
            transformer = FunctionTransformer(step.estimator.func)
        y = clone(transformer).fit_transform(y.reshape(len(y), -1)).reshape(y.shape)
    except Exception:  # the fits of the search will report it
        y = None
    return replace(step.data, y=y)


def _branches(step: Step) -> list[dict[str, tuple[Any, str]]]:
    """Return the conditional branches of the default search space of a pipeline step.

    Each branch maps parameter names to a pair: the values and their source.
    """
    if step.key is None:
        return [{}]
    ranges = class_ranges(step.key)
    optional = filter(step.asks_for, sections()[step.key].get("asked", []))
    entries = [*class_branches(step.key), *optional]
    branches = [_read_branch(step, {**entry, **ranges}) for entry in entries]
    return [b for b in branches if b is not None] or [_read_branch(step, ranges)]


def _read_branch(step: Step, branch: Any) -> Any:
    """Return a branch of the default space, or None if the user's parameters exclude it."""
    found: dict[str, tuple[Any, str]] = {}
    for name, entry in branch.items():
        is_decided, is_kept = step.is_decided(name), step.is_set(name)
        if not isinstance(entry, dict):
            if is_decided or (is_kept and step.params[name] != entry):
                return None
            if not is_kept:
                found[step.prefix + name] = [read_constant(entry)], ""
            continue
        is_unused = "unless" in entry and entry["unless"].items() <= step.params.items()
        if step.has(name) and not (is_decided or is_kept or is_unused):
            values = read_range(entry, step.data, step.params.get(name))
            if values is not None:
                found[step.prefix + name] = values, table()["sources"][entry["source"]]
    return found


def warn_of_unknown(steps: list[Step]) -> None:
    """Warn about estimators that have parameters without a default search range."""
    unknown = {}
    for step in steps:
        if step.key is None and step.params and not any(True for _ in _nested_estimators(step)):
            name = step.prefix.removesuffix("__") or type(step.estimator).__name__
            unknown[name] = f"{step.prefix}{next(iter(step.params))}"
    if unknown and len(unknown) < len(steps):
        warn_user(
            f"No default ranges are available for the parameters of {[*unknown]}, which are left "
            "unchanged. To search them, add values to the space, such as "
            f'{{"{min(unknown.values())}": [...], "...": "auto"}}.'
        )


# --- the table of default ranges -----------------------------------------------------------------


@cache
def table() -> dict[str, Any]:
    """Return the table of default search ranges, read from `defaults.toml`."""
    return tomllib.loads(files(__package__).joinpath("defaults.toml").read_text(encoding="utf-8"))


@cache
def sections() -> dict[str, dict[str, Any]]:
    """Return the default ranges of each estimator class, by names such as "sklearn.SVC"."""
    every: dict[str, dict[str, Any]] = {}
    for words, section in [*table().items(), (table()["steps"]["unsearched"], {})]:
        for name in words.split():
            every.setdefault(name if "." in name else f"sklearn.{name}", {}).update(section)
    return every


def class_key(estimator: Any) -> str | None:
    """Return the name under which an estimator's class has default ranges, or None."""
    key = class_name(estimator)
    return key if key in sections() else None


def class_name(estimator: Any) -> str:
    """Return the name of an estimator's class with its library, such as "sklearn.SVC"."""
    return f"{type(estimator).__module__.split('.')[0]}.{type(estimator).__name__}"


def class_ranges(key: str) -> dict[str, Any]:
    """Return the default parameter ranges that apply in all branches of a class."""
    return {name: entry for name, entry in sections()[key].items() if isinstance(entry, dict)}


def class_branches(key: str) -> list[dict[str, Any]]:
    """Return the conditional branches of the default search space of a class."""
    return sections()[key].get("when", [{}])


def constants(branch: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters of a branch that have a single value."""
    return {name: value for name, value in branch.items() if not isinstance(value, dict)}


def parameter_names(key: str | None) -> list[str]:
    """Return the names of all parameters of a class that have a default range."""
    entries = [] if key is None else [*class_branches(key), class_ranges(key)]
    return list(dict.fromkeys(name for entry in entries for name in entry))


def gives_few_columns(key: str | None) -> bool:
    """Return whether a transformer may output fewer columns than it receives."""
    words = table()["steps"]["few_columns"].split()
    return key is not None and (key.removeprefix("sklearn.") in words or key.split(".")[0] in words)


def read_range(entry: dict[str, Any], data: Any, own: Any = None) -> Any:
    """Convert a range of the default table to a list of values or a distribution.

    Parameters
    ----------
    entry : dict
        Entry of the table of default ranges.
    data : StepData
        Properties of the data, which determine the limits of the range.
    own : object
        Current value of the parameter. An integer inside the range is added to the values.

    Returns
    -------
    values : list, distribution or None
        List of values or distribution. None if the parameter has no valid range for these data, and
        is therefore not searched.
    """
    if (entry.get("dense") and issparse(data.X)) or (entry.get("wide") and data.d < 2):
        return None
    if "kernels" in entry:
        return [None, *(getattr(kernels, name)() for name in entry["kernels"])]
    unit = data.unit(entry.get("unit"))
    if "of" in entry:
        return [read_constant(v) if unit == 1 else round_to_digits(v * unit) for v in entry["of"]]
    [(kind, (low, high))] = [(k, entry[k]) for k in ("log", "real", "int", "logint") if k in entry]
    high = min(high, data.upper_limit(entry.get("most")))
    if not low < high:
        return None
    if kind == "log":
        return loguniform(round_to_digits(low * unit), round_to_digits(high * unit))
    if kind == "real":
        return uniform(low, high - low)
    if kind == "int" and entry.get("wide") and data.d <= high:
        # percentages of few columns: one for each number of columns that they select
        middles = 100 * (np.arange(1, data.d) - 0.5) / (data.d - 1)
        return sorted({*np.maximum(middles.round().astype(int), low).tolist(), high})
    if kind == "int":
        return randint(low, int(high) + 1)
    levels = np.geomspace(low, high, N_LEVELS).round().astype(int).tolist()
    is_between = isinstance(own, int) and low <= own <= high
    return sorted({*levels, *([int(own)] if is_between else [])})


def read_constant(value: Any) -> Any:
    """Convert a TOML value to Python: "None" to None and lists to tuples."""
    if isinstance(value, list):
        return tuple(value)
    return None if value == "None" else value


def round_to_digits(number: float) -> float:
    """Round a value that is scaled to the data to a few significant digits."""
    return float(f"{number:.{DIGITS}g}")
