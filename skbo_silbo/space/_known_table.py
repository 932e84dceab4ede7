"""The table of known spaces, `known.toml`, and how its entries become ranges and values."""

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
from scipy.sparse import issparse
from scipy.stats import loguniform, randint, uniform
from sklearn.gaussian_process import kernels

N_LEVELS = 20  # of an integer that is searched by its logarithm
ABSENT = ""  # of a known candidate: a parameter that is of another conditional part
DIGITS = 3  # of the ends of a range, and of a known value, that hang on the data


@cache
def table() -> dict[str, Any]:
    """Return the table as it stands in the file."""
    return tomllib.loads(files(__package__).joinpath("known.toml").read_text(encoding="utf-8"))


@cache
def sections() -> dict[str, dict[str, Any]]:
    """Return the entries of every class, by "package.Class", which scikit-learn's have too."""
    every: dict[str, dict[str, Any]] = {}
    for words, section in [*table().items(), (table()["steps"]["unsearched"], {})]:
        for name in words.split():
            every.setdefault(name if "." in name else f"sklearn.{name}", {}).update(section)
    return every


def key_of(estimator: Any) -> str | None:
    """Return the class of an estimator as the table has it, None if it is not known."""
    key = f"{type(estimator).__module__.split('.')[0]}.{type(estimator).__name__}"
    return key if key in sections() else None


def ranges_of(key: str) -> dict[str, Any]:
    """Return the ranges that all candidates of a class have."""
    return {name: entry for name, entry in sections()[key].items() if isinstance(entry, dict)}


def branches_of_class(key: str) -> list[dict[str, Any]]:
    """Return the conditional parts: constants and ranges, one part empty where there are none."""
    return sections()[key].get("when", [{}])


def asked_of_class(key: str) -> list[dict[str, Any]]:
    """Return the conditional parts that are searched only where a user sets their constants."""
    return sections()[key].get("asked", [])


def constants(part: dict[str, Any]) -> dict[str, Any]:
    """Return what a conditional part fixes: names and values."""
    return {name: value for name, value in part.items() if not isinstance(value, dict)}


def names_of(key: str | None) -> list[str]:
    """Return all parameters of a class that the table has, none of a class that is not known."""
    parts = [] if key is None else [*branches_of_class(key), ranges_of(key)]
    return list(dict.fromkeys(name for part in parts for name in part))


def entry_of(key: str, name: str, params: dict[str, Any]) -> dict[str, Any]:
    """Return the range of a parameter of a candidate; of a constant, {}."""
    for part in branches_of_class(key):
        if name in part and all(params.get(n, v) == v for n, v in constants(part).items()):
            return part[name] if isinstance(part[name], dict) else {}
    return ranges_of(key).get(name, {})


def gives_few_columns(key: str | None) -> bool:
    """Return whether a step may give fewer columns than it gets."""
    words = table()["steps"]["few_columns"].split()
    return key is not None and (key.removeprefix("sklearn.") in words or key.split(".")[0] in words)


def none_is_unlimited(name: str) -> bool:
    """Return whether None means "no limit" for a parameter, by the last part of its name.

    Examples
    --------
    >>> none_is_unlimited("forest__max_depth"), none_is_unlimited("min_frequency")
    (True, False)
    """
    return name.rpartition("__")[-1] in table()["none"]["unlimited"].split()


@cache
def known_of(key: str) -> list[dict[str, Any]]:
    """Return the known candidates of a class, in the units of the table."""
    columns = table()["known"].get(key.removeprefix("sklearn."), {})
    rows = zip(*columns.values(), strict=True)
    return [{n: v for n, v in zip(columns, row, strict=True) if v != ABSENT} for row in rows]


def read_range(entry: dict[str, Any], data: Any, own: Any = None) -> Any:
    """Return an entry as a list or a distribution; None if the data leave nothing to search.

    Parameters
    ----------
    entry : dict
        Of the table.
    data : StepData
        What its ends hang on.
    own : object
        What the estimator has: an integer between the ends is one of the levels.
    """
    if (entry.get("dense") and issparse(data.X)) or (entry.get("wide") and data.d < 2):
        return None
    if "kernels" in entry:
        return [None, *(getattr(kernels, name)() for name in entry["kernels"])]
    unit = data.unit(entry.get("unit"))
    if "of" in entry:
        return [read_constant(v) if unit == 1 else _short(v * unit) for v in entry["of"]]
    [(kind, (low, high))] = [(k, entry[k]) for k in ("log", "real", "int", "logint") if k in entry]
    high = min(high, data.most(entry.get("most")))
    if not low < high:
        return None
    if kind == "log":
        return loguniform(_short(low * unit), _short(high * unit))
    if kind == "real":
        return uniform(low, high - low)
    if kind == "int":
        return randint(low, int(high) + 1)
    levels = np.geomspace(low, high, N_LEVELS).round().astype(int).tolist()
    is_between = isinstance(own, int) and low <= own <= high
    return sorted({*levels, *([int(own)] if is_between else [])})


def read_value(entry: dict[str, Any], value: Any, data: Any) -> Any:
    """Return a known value of an entry for these data."""
    if "unit" in entry:
        return _short(value * data.unit(entry["unit"]))
    return int(min(value, data.most(entry["most"]))) if "most" in entry else read_constant(value)


def read_constant(value: Any) -> Any:
    """Return what TOML has no word for: None and tuples."""
    if isinstance(value, list):
        return tuple(value)
    return None if value == "None" else value


def _short(number):
    return float(f"{number:.{DIGITS}g}")
