"""Events: what a journal and a saved optimiser consist of.

=============== =========================================================================
event           content
=============== =========================================================================
``asked``       points that became pending, and as ``learnt`` what the optimiser has
                learnt by then, as far as it changed
``observed``    points, with ``y``, ``noise_std`` and perhaps ``constraints`` or ``goals``;
                ``given`` is true for values that the user supplied
``cancelled``   points that are no longer pending
``constrained`` description of the known constraints from here on
``begun``       points whose evaluation began; ``alone`` if nothing else ran in the process
``ended``       points whose evaluation ended without a value; ``called`` is false if it had
                not begun
=============== =========================================================================

A point is written encoded in the cube, an observed point of a box as itself, and an initial
candidate of a search as its number, counted from 1.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from skbo_silbo._typing import FloatArray
from skbo_silbo.space.keys import keys_of

OPTIMIZER_EVENTS = ("asked", "observed", "cancelled", "constrained")
KINDS = frozenset({*OPTIMIZER_EVENTS, "begun", "ended"})
UNREADABLE = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
INFINITE = {math.inf: "inf", -math.inf: "-inf"}


@dataclass(frozen=True)
class Event:
    """One event, parsed.

    Attributes
    ----------
    kind : str
    content : dict
        As it was written.
    keys : tuple of bytes
        Identify its points.
    X : ndarray of shape (n, m)
        Its encoded points, NaN for candidates outside the space.
    points : list
        The points, of an observation.
    y, noise_std : ndarray of shape (n,)
        Values to be minimised and standard deviations of their noise, of an observation.
    constraints, goals : ndarray of shape (n, k)
        Of an observation.
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
        """Whether it changes the state of an optimiser of the space."""
        return self.kind in OPTIMIZER_EVENTS and not np.isnan(self.X).any()


class Points:
    """Write and read the points of a space.

    Parameters
    ----------
    space : Space, SpaceUnion or Box
    numbered : list of dict, default=()
        Candidates that are written as their number. They are recognised by identity, since equal
        candidates may be proposed later.
    """

    def __init__(self, space, numbered=()):
        self.space, self.numbered = space, list(numbered)

    def number(self, point):
        """Return the number of a candidate, counted from 1; 0 for other points."""
        return next((i for i, p in enumerate(self.numbered, start=1) if p is point), 0)

    def rows(self, points):
        """Return points as they are written: numbers, or encoded points as lists."""
        return [self.number(p) or self.space.encode([p])[0].tolist() for p in points]

    def observed_rows(self, points, X=None):
        """Return observed points, with encodings X, as they are written: exactly, if of a box."""
        if not self.space.is_dict:
            return np.array(points).tolist()
        return self.rows(points) if X is None else X.tolist()

    def is_inside(self, point):
        """Return whether a point is inside the space; only numbered candidates may be outside."""
        if not self.numbered or not self.number(point):
            return True
        return not np.isnan(self._encoded(point)).any()

    def keys(self, points):
        """Return the keys that identify points, bytes."""
        return self.read(self.rows(points))[1]

    def read(self, rows):
        """Return the encoded points, (n, m), and keys of written points.

        Raises
        ------
        ValueError
            If `rows` is not what `Points.rows` returns.
        """
        m = self.space.n_features_
        X = points_from_data([[0.0] * m if type(row) is int else row for row in rows], m)
        keys = keys_of(X)
        for i, row in enumerate(rows):
            if type(row) is int:
                X[i], keys[i] = self._encoded(self._numbered(row)), b"%d" % row
        return X, tuple(keys)

    def points(self, rows, X):
        """Return the points that were written as `rows`, with encodings X."""
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


def read_event(content: dict[str, Any], points: Points) -> Event:
    """Parse an event; raise one of `UNREADABLE` if it was not written by this module."""
    kinds = KINDS & content.keys()
    if len(kinds) != 1:
        raise ValueError(f"an event must be one of {', '.join(sorted(KINDS))}")
    [kind] = kinds
    rows = content[kind]
    if not isinstance(rows, list):
        raise ValueError(f"{kind!r} must be a list, got {rows!r}")
    if kind == "constrained":
        return Event(kind, dict(content))
    if kind != "observed":
        X, keys = points.read(rows)
        return Event(kind, dict(content), keys, X)
    y, noise_std = (values_from_data(content[name]) for name in ("y", "noise_std"))
    more = [_table(content.get(name, [[]] * len(y))) for name in ("constraints", "goals")]
    if points.space.is_dict:
        X, keys = points.read(rows)
        observed = points.points(rows, X)
    else:
        observed = list(_finite_rows(rows, len(points.space.lower)))
        X = points.space.encode(observed) if observed else np.empty((0, points.space.n_features_))
        keys = tuple(keys_of(X))
    if not len(X) == len(y) == len(noise_std) == len(more[0]) == len(more[1]):
        raise ValueError(f"'observed' and 'y' must have the same length, got {len(X)}, {len(y)}")
    return Event(kind, dict(content), keys, X, observed, y, noise_std, *more)


def _table(rows):
    """Return rows of values, (n, k), each written by `values_to_data`."""
    rows = list(map(values_from_data, rows))
    return np.array(rows, dtype=float).reshape(len(rows), len(rows[0]) if rows else 0)


def observed_event(rows, y, noise_std=None, constraints=None, goals=None):
    """Return observations as an event; `rows` are their points, from `Points.observed_rows`."""
    noise = [None] * len(y) if noise_std is None else values_to_data(noise_std)
    event = {"observed": rows, "y": values_to_data(y), "noise_std": noise}
    for name, values in (("constraints", constraints), ("goals", goals)):
        if values is not None and np.size(values):
            event[name] = list(map(values_to_data, values))
    return event


def points_from_data(rows: list[list[float]], m: int) -> FloatArray:
    """Return points of the cube, (n, m), that were written as lists, or raise ValueError."""
    X = _finite_rows(rows, m)
    if (np.abs(X) > 1.0).any():
        raise ValueError(f"encoded points must be lists of {m} numbers in [-1, 1]")
    return X


def values_to_data(y):
    """Return values as JSON numbers; None for NaN, "inf" and "-inf" for infinite values."""
    return [None if math.isnan(v) else INFINITE.get(v, v) for v in map(float, y)]


def values_from_data(values: list[Any]) -> FloatArray:
    """Return the array that was written by `values_to_data`."""
    numbers = [math.nan if v is None else v for v in values]
    if any(type(v) not in (int, float) and v not in INFINITE.values() for v in numbers):
        raise ValueError(f"values must be numbers, null, 'inf' or '-inf', got {values!r}")
    return np.array(list(map(float, numbers)), dtype=float)


def _finite_rows(rows, m):
    X = np.array(rows, dtype=float).reshape(len(rows), -1 if rows else m)
    if X.shape[1] != m or not np.isfinite(X).all():
        raise ValueError(f"points must be lists of {m} finite numbers, got shape {X.shape}")
    return X
