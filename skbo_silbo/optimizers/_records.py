"""What an event of a journal or a saved state says, read once: all that follow it share the record.

=============== =========================================================================
event           what it holds
=============== =========================================================================
``asked``       points that are pending from now on, and as ``learnt`` what the optimiser has
                learnt by then, as far as that has changed
``told``        points, with ``y``, ``noise_std`` and perhaps ``constraints`` or ``goals``
``cancelled``   points that are not pending any more
``constrained`` what describes the constraints of `constrain` from now on, a list
others          points, and what became of calls there: for those who write them
=============== =========================================================================

A point stands as its place in the cube, an observed one of a box as itself, and a candidate that
was given to a search as its number, from 1 on.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from skbo_silbo._typing import FloatArray
from skbo_silbo.space._keys import keys_of

OPTIMIZER_EVENTS = ("asked", "told", "cancelled", "constrained")
CALL_EVENTS = ("called", "given", "left", "not called", "raised")
KINDS = frozenset({*OPTIMIZER_EVENTS, *CALL_EVENTS})
UNREADABLE = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
INFINITE = {math.inf: "inf", -math.inf: "-inf"}


@dataclass(frozen=True)
class Event:
    """One event.

    Attributes
    ----------
    kind : str
    content : dict
        As it was written.
    keys : tuple of bytes
        What makes its points the same as others.
    X : ndarray of shape (n, m)
        Their places in the cube, NaN for a given candidate that is outside the space.
    points : list
        The points, of what was told.
    y, noise_std : ndarray of shape (n,)
    constraints, goals : ndarray of shape (n, k)
    """

    kind: str
    content: dict[str, Any]
    keys: tuple[bytes, ...] = ()
    X: FloatArray = field(default_factory=lambda: np.empty((0, 0)))
    points: Sequence[Any] = ()
    y: FloatArray = field(default_factory=lambda: np.empty(0))
    noise_std: FloatArray = field(default_factory=lambda: np.empty(0))
    constraints: FloatArray = field(default_factory=lambda: np.empty((0, 0)))
    goals: FloatArray = field(default_factory=lambda: np.empty((0, 0)))

    @property
    def is_of_optimizer(self) -> bool:
        """Whether an optimiser of the space is told of it."""
        return self.kind in OPTIMIZER_EVENTS and not np.isnan(self.X).any()


class Points:
    """How points of a space stand in events.

    Parameters
    ----------
    space : Space, SpaceUnion or Box
    numbered : list of dict, default=()
        Candidates that are known by their number. They are known again by identity: equal ones may
        be proposed later.
    """

    def __init__(self, space, numbered=()):
        self.space, self.numbered = space, list(numbered)

    def number(self, point):
        """Return the number of a point, from 1 on; 0 if it has none."""
        return next((i for i, p in enumerate(self.numbered, start=1) if p is point), 0)

    def rows(self, points):
        """Return numbers, or places as lists."""
        return [self.number(p) or self.space.encode([p])[0].tolist() for p in points]

    def keys(self, points):
        """Return what makes points the same as others: bytes."""
        return self.read(self.rows(points))[1]

    def read(self, rows):
        """Return places, (n, m), and keys of what `rows` returned.

        Raises
        ------
        ValueError
            When it is something else.
        """
        m = self.space.n_features_
        X = places_of([[0.0] * m if type(row) is int else row for row in rows], m)
        keys = keys_of(X)
        for i, row in enumerate(rows):
            if type(row) is int:
                X[i], keys[i] = self._place(self._numbered(row)), b"%d" % row
        return X, tuple(keys)

    def points(self, rows, X):
        """Return the points of rows, whose places are X."""
        return [
            self._numbered(row) if type(row) is int else self.space.decode(x[None])[0]
            for row, x in zip(rows, X, strict=True)
        ]

    def _numbered(self, number):
        if not 1 <= number <= len(self.numbered):
            raise ValueError(f"a candidate must be one of {len(self.numbered)}: got {number}")
        return self.numbered[number - 1]

    def _place(self, point):
        try:
            return self.space.encode([point])[0]
        except ValueError:  # it is outside
            return np.nan


def read_event(content: dict[str, Any], points: Points) -> Event:
    """Return the record of an event; raise one of `UNREADABLE` if it is not as it was written."""
    kinds = KINDS & content.keys()
    if len(kinds) != 1:
        raise ValueError(f"an event must be one of {', '.join(sorted(KINDS))}")
    [kind] = kinds
    if kind == "told":
        return _told(content, points)
    if kind == "constrained":
        return Event(kind, {**content, kind: _list(content[kind], kind, dict)})
    if content.get("func") is not None and not isinstance(content["func"]["class"], str):
        raise ValueError(f"'func' must have a name: got {content['func']!r}")
    X, keys = points.read(_list(content[kind], kind))
    return Event(kind, dict(content), keys, X)


def _told(content, points):
    y, noise_std = (values_from_data(content[name]) for name in ("y", "noise_std"))
    more = [_table(content.get(name, [[]] * len(y))) for name in ("constraints", "goals")]
    told, space = _list(content["told"], "told"), points.space
    if space.is_dict:
        X, keys = points.read(told)
        observed = points.points(told, X)
    else:
        observed = list(_rows(told, len(space.lower)))
        X = space.encode(observed) if observed else np.empty((0, space.n_features_))
        keys = tuple(keys_of(X))
    if not len(X) == len(y) == len(noise_std) == len(more[0]) == len(more[1]):
        raise ValueError(f"'told' and 'y' must be as many: got {len(X)}, {len(y)}, and others")
    return Event("told", dict(content), keys, X, observed, y, noise_std, *more)


def _table(rows):
    """Return rows of values, (n, k), that `values_to_data` was given one by one."""
    rows = list(map(values_from_data, rows))
    return np.array(rows, dtype=float).reshape(len(rows), len(rows[0]) if rows else 0)


def observed_event(space, points, X, y, noise_std, constraints, goals):
    """Return evaluations as an event; named parameters as their place in the cube."""
    event = {
        "told": X.tolist() if space.is_dict else np.array(points).tolist(),
        "y": values_to_data(y),
        "noise_std": values_to_data(noise_std),
    }
    for name, rows in (("constraints", constraints), ("goals", goals)):
        if rows.shape[1]:
            event[name] = list(map(values_to_data, rows))
    return event


def places_of(rows, m):
    """Return places of the cube, (n, m), that were written as lists.

    Raises
    ------
    ValueError
        When they are something else.
    """
    X = _rows(rows, m)
    if (np.abs(X) > 1.0).any():
        raise ValueError(f"places must be lists of {m} numbers in [-1, 1]")
    return X


def values_to_data(y):
    """Return values as numbers; None for NaN, "inf" and "-inf" for the infinite."""
    return [None if math.isnan(v) else INFINITE.get(v, v) for v in map(float, y)]


def values_from_data(values):
    """Return the array that `values_to_data` was given."""
    numbers = [math.nan if v is None else v for v in _list(values, "values")]
    if any(type(v) not in (int, float) and v not in INFINITE.values() for v in numbers):
        raise ValueError(f"values must be numbers, null, 'inf' or '-inf': got {values!r}")
    return np.array(list(map(float, numbers)), dtype=float)


def _rows(rows, m):
    listed = [_list(row, "points") for row in rows]
    X = np.array(listed, dtype=float).reshape(len(listed), -1 if listed else m)
    if X.shape[1] != m or not np.isfinite(X).all():
        raise ValueError(f"points must be lists of {m} numbers: got shape {X.shape}")
    return X


def _list(value, name, kind=object):
    if not isinstance(value, list) or not all(isinstance(member, kind) for member in value):
        raise ValueError(f"{name!r} must be a list: got {value!r}")
    return value
