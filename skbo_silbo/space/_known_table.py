"""Read the default ranges and well-performing values of estimators from `known.toml`."""

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
from scipy.sparse import issparse
from scipy.stats import loguniform, randint, uniform
from sklearn.gaussian_process import kernels

N_LEVELS = 20  # number of levels of integers that are searched on a logarithmic scale
MOST_SMALL_ROWS = 1000  # of tables that have the known candidates of small ones
DIGITS = 3  # significant digits of values that are scaled to the data


@cache
def table() -> dict[str, Any]:
    """Return the table of default search ranges, read from `known.toml`."""
    return tomllib.loads(files(__package__).joinpath("known.toml").read_text(encoding="utf-8"))


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


def rounds_stopped_by(estimator: Any) -> list[str]:
    """Return the numbers of rounds that a meta-estimator decides by early stopping."""
    steps = table()["steps"]
    return steps["rounds"].split() if class_name(estimator) == steps["early_stopped"] else []


def class_ranges(key: str) -> dict[str, Any]:
    """Return the default parameter ranges that apply in all branches of a class."""
    return {name: entry for name, entry in sections()[key].items() if isinstance(entry, dict)}


def class_branches(key: str) -> list[dict[str, Any]]:
    """Return the conditional branches of the default search space of a class."""
    return sections()[key].get("when", [{}])


def optional_branches(key: str) -> list[dict[str, Any]]:
    """Return the branches of a class that are searched only if the user requests them."""
    return sections()[key].get("asked", [])


def constants(branch: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters of a branch that have a fixed value."""
    return {name: value for name, value in branch.items() if not isinstance(value, dict)}


def parameter_names(key: str | None) -> list[str]:
    """Return the names of all parameters of a class that have a default range."""
    entries = [] if key is None else [*class_branches(key), class_ranges(key)]
    return list(dict.fromkeys(name for entry in entries for name in entry))


def find_range(key: str, name: str, params: dict[str, Any]) -> dict[str, Any]:
    """Return the default range of a parameter in a candidate's branch, or {} for a constant."""
    for branch in class_branches(key):
        if name in branch and all(params.get(n, v) == v for n, v in constants(branch).items()):
            return branch[name] if isinstance(branch[name], dict) else {}
    return class_ranges(key).get(name, {})


def gives_few_columns(key: str | None) -> bool:
    """Return whether a transformer may output fewer columns than it receives."""
    words = table()["steps"]["few_columns"].split()
    return key is not None and (key.removeprefix("sklearn.") in words or key.split(".")[0] in words)


def none_is_unlimited(name: str) -> bool:
    """Return whether None means "no limit" for a parameter with the given name.

    Examples
    --------
    >>> none_is_unlimited("forest__max_depth"), none_is_unlimited("min_frequency")
    (True, False)
    """
    return name.rpartition("__")[-1] in table()["none"]["unlimited"].split()


def class_candidates(key: str, n_rows: float) -> list[dict[str, Any]]:
    """Return configurations of a class that perform well on many data sets.

    Small and large tables have different ones. A class may have none.
    """
    known = table()["known"]["large" if n_rows > MOST_SMALL_ROWS else "small"]
    name = key.removeprefix("sklearn.")
    return next((own for names, own in known.items() if name in names.split()), [])


def read_range(entry: dict[str, Any], data: Any, own: Any = None) -> Any:
    """Convert a range of the default table to a list of values or a distribution.

    Parameters
    ----------
    entry : dict
        Entry of the table of default ranges.
    data : StepData
        Properties of the data, which determine the limits of the range.
    own : object
        Current value of the parameter. If it is an integer inside the range, it is added to the
        values.

    Returns
    -------
    values : list, distribution or None
        List of values or distribution, or None if the data do not allow any value.
    """
    if (entry.get("dense") and issparse(data.X)) or (entry.get("wide") and data.d < 2):
        return None
    if "kernels" in entry:
        return [None, *(getattr(kernels, name)() for name in entry["kernels"])]
    unit = data.unit(entry.get("unit"))
    if "of" in entry:
        return [read_constant(v) if unit == 1 else _short(v * unit) for v in entry["of"]]
    [(kind, (low, high))] = [(k, entry[k]) for k in ("log", "real", "int", "logint") if k in entry]
    high = min(high, data.upper_limit(entry.get("most")))
    if not low < high:
        return None
    if kind == "log":
        return loguniform(_short(low * unit), _short(high * unit))
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


def read_value(entry: dict[str, Any], value: Any, data: Any) -> Any:
    """Scale the value of a parameter in a default configuration to the data."""
    if "unit" in entry:
        return _short(value * data.unit(entry["unit"]))
    if "most" in entry:
        return int(min(value, data.upper_limit(entry["most"])))
    return read_constant(value)


def read_constant(value: Any) -> Any:
    """Convert a TOML value to Python: "None" to None and lists to tuples."""
    if isinstance(value, list):
        return tuple(value)
    return None if value == "None" else value


def _short(number):
    return float(f"{number:.{DIGITS}g}")
