"""Events, the entries of a journal and of a saved optimiser.

=============== =========================================================================
event           content
=============== =========================================================================
``asked``       points that became pending; ``learnt`` is the part of the optimiser's
                model that has changed since the last such event
``observed``    points, with ``y``, ``noise_std`` and perhaps ``constraints`` or ``goals``;
                ``given`` is true for values that the user supplied
``cancelled``   points that are no longer pending
``constrained`` description of the known constraints from here on
``begun``       points whose evaluation began; ``alone`` if nothing else ran in the process
``ended``       points whose evaluation ended without a value; ``called`` is false if it had
                not begun
=============== =========================================================================

A point is written in its encoding in the cube. There are two exceptions: an observed point of a box
is written as it is, and an initial candidate of a search as its number, counted from 1.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from skbo_silbo._typing import FloatArray
from skbo_silbo.optimizers.history import History
from skbo_silbo.space.keys import keys_of

OPTIMIZER_EVENTS = ("asked", "observed", "cancelled", "constrained")
KINDS = frozenset({*OPTIMIZER_EVENTS, "begun", "ended"})
UNREADABLE = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
INFINITE = {math.inf: "inf", -math.inf: "-inf"}


@dataclass(frozen=True)
class Event:
    """Parsed event of a journal.

    Attributes
    ----------
    kind : str
    content : dict
        Content of the event as a dict of JSON data.
    n : int
        Number of the event in its journal, counted from 0.
    keys : tuple of bytes
        Keys that identify the points of the event.
    X : ndarray of shape (n, m)
        The encoded points of the event. Rows of candidates outside the space are NaN.
    observed : History or None
        The evaluations of an "observed" event, otherwise None.
    """

    kind: str
    content: dict[str, Any]
    n: int
    keys: tuple[bytes, ...] = ()
    X: FloatArray = field(default_factory=lambda: np.empty((0, 0)))
    observed: History | None = None

    @property
    def is_of_optimizer(self) -> bool:
        """Whether the event changes the state of the optimiser."""
        return self.kind in OPTIMIZER_EVENTS and not np.isnan(self.X).any()


class Points:
    """Converter between points of a search space and their representation in a journal.

    Parameters
    ----------
    space : Space, SpaceUnion or Box
    numbered : list of dict, default=()
        Initial candidates, which are recorded by their number in this list, counted from 1, instead
        of as encoded points. They are compared by identity, because an equal candidate may be
        proposed later.
    """

    def __init__(self, space, numbered=()):
        self.space, self.numbered = space, list(numbered)

    def number(self, point):
        """Return the number of an initial candidate, counted from 1, or 0 for other points."""
        return next((i for i, p in enumerate(self.numbered, start=1) if p is point), 0)

    def rows(self, points):
        """Convert points to their representation in a journal."""
        return [self.number(p) or self.space.encode([p])[0].tolist() for p in points]

    def observed_rows(self, points):
        """Convert observed points to their representation in a journal.

        Points of a box are written exactly.
        """
        return self.rows(points) if self.space.is_dict else np.array(points).tolist()

    def event_of(self, history):
        """Create the journal event that records the evaluations of an optimiser."""
        rows = history.X.tolist() if self.space.is_dict else np.array(history.points).tolist()
        values = history.y, history.noise_std, history.constraints, history.goals
        return observed_event(rows, *values)

    def is_inside(self, point):
        """Return whether a point is inside the search space, as all but initial candidates are."""
        if not self.numbered or not self.number(point):
            return True
        return not np.isnan(self._encoded(point)).any()

    def keys(self, points):
        """Return hashable keys that identify the given points."""
        return self.read(self.rows(points))[1]

    def read(self, rows):
        """Return the encodings and keys of the points in a journal.

        Raises
        ------
        ValueError
            If `rows` was not written by `Points.rows`.
        """
        m = self.space.n_features_
        X = points_from_data([[0.0] * m if type(row) is int else row for row in rows], m)
        keys = keys_of(X)
        for i, row in enumerate(rows):
            if type(row) is int:
                X[i], keys[i] = self._encoded(self._numbered(row)), b"%d" % row
        return X, tuple(keys)

    def points(self, rows, X):
        """Return the points that are recorded in a journal, given their encodings X."""
        return [
            self._numbered(row) if type(row) is int else self.space.decode(x[None])[0]
            for row, x in zip(rows, X, strict=True)
        ]

    def _numbered(self, number):
        if not 1 <= number <= len(self.numbered):
            raise ValueError(f"candidate {number} is not one of {len(self.numbered)}")
        return self.numbered[number - 1]

    def _encoded(self, point):
        try:
            return self.space.encode([point])[0]
        except ValueError:  # outside the space
            return np.nan


def read_events(
    contents: Sequence[Any], points: Points, damaged: Callable[[int, Exception], Exception]
) -> list[Event]:
    """Parse the events of a journal.

    If event n cannot be parsed, the error returned by ``damaged(n, error)`` is raised.
    """
    events = []
    for n, content in enumerate(contents):
        try:
            events.append(_read_event(n, content, points))
        except UNREADABLE as error:
            raise damaged(n, error) from error
    return events


def _read_event(n, content, points):
    """Parse an event, or raise one of the exceptions in `UNREADABLE`."""
    kinds = KINDS & content.keys()
    if len(kinds) != 1:
        raise ValueError(f"an event must be one of {', '.join(sorted(KINDS))}")
    [kind] = kinds
    rows = content[kind]
    if not isinstance(rows, list):
        raise ValueError(f"{kind!r} must be a list, got {rows!r}")
    if kind == "constrained":
        return Event(kind, dict(content), n)
    if kind != "observed":
        X, keys = points.read(rows)
        return Event(kind, dict(content), n, keys, X)
    y, noise_std = (values_from_data(content[name]) for name in ("y", "noise_std"))
    more = [_table(content.get(name, [[]] * len(y))) for name in ("constraints", "goals")]
    if points.space.is_dict:
        X, keys = points.read(rows)
        told = points.points(rows, X)
    else:
        told = list(_finite_rows(rows, len(points.space.lower)))
        X = points.space.encode(told) if told else np.empty((0, points.space.n_features_))
        keys = tuple(keys_of(X))
    if not len(X) == len(y) == len(noise_std) == len(more[0]) == len(more[1]):
        raise ValueError(f"'observed' and 'y' must have the same length, got {len(X)}, {len(y)}")
    return Event(kind, dict(content), n, keys, X, History(X, told, y, noise_std, *more))


def _table(rows):
    """Restore a two-dimensional array from the rows that `values_to_data` returned."""
    rows = list(map(values_from_data, rows))
    return np.array(rows, dtype=float).reshape(len(rows), len(rows[0]) if rows else 0)


def observed_event(rows, y, noise_std=None, constraints=None, goals=None):
    """Create the journal event that records observations at the given points."""
    noise = [None] * len(y) if noise_std is None else values_to_data(noise_std)
    event = {"observed": rows, "y": values_to_data(y), "noise_std": noise}
    for name, values in (("constraints", constraints), ("goals", goals)):
        if values is not None and np.size(values):
            event[name] = list(map(values_to_data, values))
    return event


def points_from_data(rows: list[list[float]], m: int) -> FloatArray:
    """Restore encoded points from lists of numbers, or raise a ValueError."""
    X = _finite_rows(rows, m)
    if (np.abs(X) > 1.0).any():
        raise ValueError(f"encoded points must be lists of {m} numbers in [-1, 1]")
    return X


def values_to_data(y):
    """Convert observed values to JSON-compatible data.

    NaN becomes None, and infinite values become "inf" and "-inf".
    """
    return [None if math.isnan(v) else INFINITE.get(v, v) for v in map(float, y)]


def values_from_data(values: list[Any]) -> FloatArray:
    """Restore the array that `values_to_data` converted."""
    numbers = [math.nan if v is None else v for v in values]
    if any(type(v) not in (int, float) and v not in INFINITE.values() for v in numbers):
        raise ValueError(f"values must be numbers, null, 'inf' or '-inf', got {values!r}")
    return np.array(list(map(float, numbers)), dtype=float)


def _finite_rows(rows, m):
    X = np.array(rows, dtype=float).reshape(len(rows), -1 if rows else m)
    if X.shape[1] != m or not np.isfinite(X).all():
        raise ValueError(f"points must be lists of {m} finite numbers, got shape {X.shape}")
    return X
