"""Describe search spaces as JSON data, and restore them for reading a journal.

A restored space encodes points as the original one does, but has a `Label` in place of each value
that JSON does not represent, such as an estimator. Distributions that are not from scipy.stats are
interpolated between quantiles.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.stats
from scipy.stats import rv_continuous, rv_discrete

from skbo_silbo._descriptions import TEXT
from skbo_silbo.space._box import Box
from skbo_silbo.space._parameters import (
    Categories,
    Levels,
    LevelsOrNone,
    Quantiles,
    read_parameter,
)
from skbo_silbo.space._space import Space
from skbo_silbo.space._union import SpaceUnion
from skbo_silbo.space.any_space import AnySpace, branches_of
from skbo_silbo.space.values import Positions, format_value, is_number, is_plain, unique_names

LISTED = ("levels", "levels or None", "categories")  # keys of lists of values


@dataclass(frozen=True, repr=False)
class Label:
    """Stand-in for a parameter value of which only the text is known."""

    text: str

    def __repr__(self) -> str:
        return self.text


class ValueLabels:
    """Unique labels of the values of a parameter that JSON does not represent.

    Parameters
    ----------
    values : list
        Listed values, possibly repeated.
    described : list of dict or None, default=None
        Descriptions of the values, whose labels are kept. If None, labels are created.
    """

    def __init__(self, values: list[Any], described: list[dict[str, str]] | None = None) -> None:
        self._positions = Positions(values)
        self._labels = unique_names(map(format_value, self._positions.values))
        if described is not None:
            own = {self._positions.find(value): i for i, value in enumerate(values)}
            self._labels = [described[own[i]][TEXT] for i in range(len(self._labels))]

    def label(self, value: Any) -> str:
        """Return the label of a value, which is its text if it is not listed."""
        i = self._positions.find(value)
        return format_value(value) if i is None else self._labels[i]

    def value(self, label: str) -> Any:
        """Return the value with a label, or raise a ValueError."""
        return self._positions.values[self._labels.index(label)]


def labels_of(space: AnySpace, described: Any = None) -> dict[str, ValueLabels]:
    """Return the labels of the values of each parameter that JSON does not represent.

    Parameters
    ----------
    space : Space, SpaceUnion or Box
    described : list or None, default=None
        Earlier description of the same space, whose labels are kept.

    Examples
    --------
    >>> from skbo_silbo import Space
    >>> labels = labels_of(Space({"shape": [(5, 5), 10, "auto"]}))
    >>> labels["shape"].label((5, 5)), labels["shape"].value("(5, 5)")
    ('(5, 5)', (5, 5))
    """
    listed: dict[str, list[Any]] = {}
    for b, branch in enumerate(branches_of(space)):
        for i, parameter in enumerate(branch.parameters):
            kind = {} if described is None else described[b][i][1]
            values = parameter.values or []
            entries = _entries(kind, values)
            pairs = [p for p in zip(values, entries, strict=True) if not is_plain(p[0])]
            listed.setdefault(parameter.name, []).extend(pairs)
    return {
        name: ValueLabels([v for v, _ in pairs], described and [entry for _, entry in pairs])
        for name, pairs in listed.items()
    }


def describe_space(space: Space | SpaceUnion) -> list[list[list[Any]]]:
    """Describe the parameters of a search space as JSON-compatible data.

    Parameters
    ----------
    space : Space or SpaceUnion

    Returns
    -------
    description : list of list of [str, dict]
        One list per branch of the space. It contains a pair for each parameter: the name, and a
        description of the values. A `Space` counts as a single branch.

    Examples
    --------
    >>> from scipy.stats import uniform
    >>> from skbo_silbo import Space
    >>> describe_space(Space({"C": uniform(1, 9), "kernel": ["rbf", None]}))
    [[['C', {'text': '1 to 10 (uniform)', 'distribution': 'uniform', 'loc': 1, 'scale': 9}],
      ['kernel', {'text': "'rbf', None", 'categories': ['rbf', None]}]]]
    """
    labels = labels_of(space)
    return [
        [[p.name, p.describe(labels[p.name].label)] for p in branch.parameters]
        for branch in branches_of(space)
    ]


def space_from_description(described: Any) -> Space | SpaceUnion:
    """Restore a search space from the data of `describe_space`.

    Raises
    ------
    ArithmeticError, AttributeError, LookupError, TypeError, ValueError
        If the data were not returned by `describe_space`.

    Examples
    --------
    >>> from skbo_silbo import Space
    >>> space_from_description(describe_space(Space({"shape": [(5, 5), (10,)]})))
    Space(shape: (5, 5), (10,))
    """
    branches = [
        Space.from_parameters([_restore_parameter(name, kind) for name, kind in branch])
        for branch in described
    ]
    return SpaceUnion(branches) if len(branches) > 1 else branches[0]


def space_to_data(space: AnySpace) -> dict[str, Any]:
    """Convert a search space to JSON-compatible data."""
    if not isinstance(space, Box):
        return {"parameters": describe_space(space)}
    rows = zip(space.lower.tolist(), space.upper.tolist(), space.scale, strict=True)
    return {"bounds": [[part for part in row if part is not None] for row in rows]}


def box_from_data(rows: Any) -> Box:
    """Create a box from the bounds that `space_to_data` returned."""
    return Box([row[:2] for row in rows], [row[2] if row[2:] else None for row in rows])


def _restore_parameter(name: str, kind: dict[str, Any]) -> Any:
    """Create a parameter from its description, with labels for values that JSON cannot store."""
    if "distribution" in kind:
        numbers = {k: v for k, v in kind.items() if k not in ("distribution", TEXT)}
        shapes = {k: np.array(v, dtype=float)[()] for k, v in numbers.items()}
        family = getattr(scipy.stats, kind["distribution"])
        if not isinstance(family, (rv_continuous, rv_discrete)):
            raise ValueError(f"unknown distribution {kind['distribution']!r}")
        return read_parameter(name, family(**shapes))
    if "quantiles" in kind:
        ends, first = np.unique(np.array(kind["quantiles"], dtype=float), return_index=True)
        distribution = scipy.stats.rv_histogram((np.diff(first), ends), density=False)
        return Quantiles(name, distribution, integer=kind["integer"])
    values: list[Any] = [Label(str(v[TEXT])) if isinstance(v, dict) else v for v in _entries(kind)]
    levels = [v for v in values if v is not None]
    if "categories" in kind or not all(map(is_number, levels)):
        return Categories(name, values)
    if "levels or None" in kind:
        return LevelsOrNone(name, levels)
    weights = kind.get("weights")
    if weights is None:
        return Levels(name, values, np.ones(len(values)))
    return Levels(name, values, np.array(weights, dtype=float), mass=np.isfinite)


def _entries(kind: dict[str, Any], default: Any = ()) -> Any:
    """Return the listed values in the description of a parameter, if it has any."""
    return next((kind[key] for key in LISTED if key in kind), default)
