"""Records of a journal and of a saved optimiser, and the only code that reads them.

=============== =========================================================================
record          content
=============== =========================================================================
``asked``       points that became pending; ``learnt`` is the part of the optimiser's
                model that has changed since the last such record
``observed``    points, with ``y`` and perhaps ``noise_std``, ``constraints`` or ``goals``;
                an evaluation also has the entries of `Evaluated`
``cancelled``   points that are no longer pending
``constrained`` description of the known constraints from here on
``begun``       point whose evaluation began; ``again`` if the process died during an earlier
                attempt
``ended``       points whose evaluation ended without a value; ``called`` is false if it had
                not begun
=============== =========================================================================

A point is a dict of named values, or a list of numbers for a box. A value that JSON does not
represent is written as ``{"text": label}``. ``outside`` is true if the point is outside the search
space, as initial candidates may be.
"""

import json
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from skbo_silbo._checks import as_noise, brief
from skbo_silbo._descriptions import TEXT
from skbo_silbo._typing import Content, Damaged, FloatArray
from skbo_silbo.space.descriptions import Label, labels_of
from skbo_silbo.space.keys import keys_of
from skbo_silbo.space.values import as_plain, format_value, is_plain

KINDS = ("asked", "begun", "cancelled", "constrained", "ended", "observed")
UNREADABLE = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
INFINITE = {math.inf: "inf", -math.inf: "-inf"}


class Values(NamedTuple):
    """Observed values of the n points of a record, as in `History`."""

    y: FloatArray
    noise_std: FloatArray
    constraints: FloatArray
    goals: FloatArray


class Evaluated(NamedTuple):
    """How the point of a record was evaluated.

    Attributes
    ----------
    error : str or None
        Reason why there is no value, or None if there is one.
    source : str
        Origin of the point, as in `Trial`.
    batch, position : int
        Number of the batch, and position of the point within the batch.
    in_order : bool
        True if the optimiser receives all points of a batch at once, in the order of their
        positions. False if it receives each point as soon as it is evaluated.
    proposal_time : float
        Time in seconds that proposing the point took.
    """

    error: str | None
    source: str
    batch: int
    position: int
    in_order: bool
    proposal_time: float


@dataclass(frozen=True, eq=False)
class Record:
    """Validated record of a journal.

    Attributes
    ----------
    kind : str
        Kind of the record, one of `KINDS`.
    content : dict
        The record as JSON data.
    n : int
        Number of the record in its journal, counted from 0.
    points : list of n dicts or arrays
    X : ndarray of shape (n, m)
        The encoded points. Empty for a point outside the space.
    keys : list of n bytes
        Keys that identify the points.
    is_outside : bool
        Whether the points are outside the search space.
    values : Values or None
        Observed values of an "observed" record, otherwise None.
    evaluated : Evaluated or None
        How the point was evaluated. None for other records, and for values that the user supplied.
    """

    kind: str
    content: dict[str, Any]
    n: int
    points: list[Any] = field(default_factory=list)
    X: FloatArray = field(default_factory=lambda: np.empty((0, 0)))
    keys: list[bytes] = field(default_factory=list)
    is_outside: bool = False
    values: Values | None = None
    evaluated: Evaluated | None = None

    @property
    def is_of_optimizer(self) -> bool:
        """Whether the record changes the state of the optimiser."""
        return self.kind not in ("begun", "ended") and not self.is_outside


class PointFormat:
    """Conversion between points of a search space and their JSON data in a journal.

    Parameters
    ----------
    space : Space, SpaceUnion or Box
    described : list or None, default=None
        Description of the space in the journal, whose labels are used.
    candidates : list of dict, default=()
        Points that may be outside the space. They are recognised by their JSON data.
    """

    def __init__(self, space: Any, described: Any = None, candidates: Sequence[Any] = ()) -> None:
        self.space, self._labels = space, labels_of(space, described)
        self._candidates = candidates
        self._read: dict[str, tuple[Any, FloatArray]] = {}

    def write(self, point: Any) -> Any:
        """Convert a point to JSON data."""
        if not self.space.is_dict:
            return np.asarray(point, dtype=float).tolist()
        return {name: self._write_value(name, value) for name, value in point.items()}

    def read(self, points: Any, *, is_outside: bool = False) -> tuple[list[Any], FloatArray]:
        """Restore points and their encodings from JSON data.

        Raises
        ------
        ValueError
            If the data were not returned by `write`.
        """
        m = self.space.n_features_
        if not self.space.is_dict:
            rows = list(_finite_rows(points, len(self.space.lower)))
            return rows, self.space.encode(rows) if rows else np.empty((0, m))
        if not all(isinstance(point, dict) for point in points):
            raise ValueError(f"points must be objects of named values, got {brief(points)}")
        if is_outside:
            return [self._read_outside(point) for point in points], np.empty((0, m))
        read = [self._read_inside(json.dumps(point)) for point in points]
        return [point for point, _ in read], np.array([x for _, x in read]).reshape(len(read), m)

    def is_inside(self, point: Any) -> bool:
        """Return whether a point is inside the search space."""
        try:
            self.space.encode([point])
        except ValueError:
            return False
        return True

    def keys(self, points: Iterable[Any]) -> list[bytes]:
        """Return hashable keys that identify points."""
        return [
            keys_of(self.space.encode([p]))[0] if self.is_inside(p) else _key_outside(self.write(p))
            for p in points
        ]

    def _write_value(self, name: str, value: Any) -> Any:
        if is_plain(value):
            return as_plain(value)
        known = self._labels.get(name)
        return {TEXT: format_value(value) if known is None else known.label(value)}

    def _read_value(self, name: str, value: Any) -> Any:
        if is_plain(value):
            return value
        if name not in self._labels:
            raise ValueError(f"there is no parameter {name!r}")
        return self._labels[name].value(value[TEXT])

    def _read_inside(self, text: str) -> tuple[Any, FloatArray]:
        """Restore a point and its encoding from JSON text, cached for further records of it."""
        if text not in self._read:
            point = {k: self._read_value(k, v) for k, v in json.loads(text).items()}
            [x] = self.space.encode([point])
            self._read[text] = self.space.own(point), x
        return self._read[text]

    def _read_outside(self, point: Any) -> Content:
        known = next((c for c in self._candidates if self.write(c) == point), None)
        if known is not None:
            return known
        return {k: v if is_plain(v) else Label(str(v[TEXT])) for k, v in point.items()}


def _key_outside(point: Any) -> bytes:
    return json.dumps(point, sort_keys=True).encode()


class AttemptCounts:
    """Counts of the evaluations that a journal records as begun.

    Attributes
    ----------
    n_calls : int
        Number of evaluations that have begun.
    in_progress : Counter
        Number of evaluations of each point, by its key, that have begun but have no outcome.
    repeated : Counter
        Number of evaluations of each point that were repeated after the process died.
    """

    def __init__(self, records: Iterable[Record] = ()) -> None:
        self.n_calls = 0
        self.in_progress, self.repeated = Counter[bytes](), Counter[bytes]()
        for record in records:
            self._count(record)

    def take(self, key: bytes) -> int:
        """Return how often earlier attempts at a point began, at most 2, and stop counting them."""
        n = (self.in_progress[key] > 0) + (self.repeated[key] > 0)
        self.in_progress[key] -= n > 0
        self.repeated[key] -= n > 1
        return n

    def _count(self, record: Record) -> None:
        was_withdrawn = record.kind == "ended" and not record.content["called"]
        self.n_calls += len(record.keys) * ((record.kind == "begun") - was_withdrawn)
        for key in record.keys:
            if record.kind == "begun":
                (self.repeated if record.content["again"] else self.in_progress)[key] += 1
            elif was_withdrawn and self.repeated[key]:  # the first attempt still has no outcome
                self.repeated[key] -= 1
            elif record.kind == "ended" or record.evaluated is not None:
                self.in_progress[key] = max(self.in_progress[key] - 1, 0)
                self.repeated[key] = min(self.repeated[key], self.in_progress[key])


def read_records(contents: Sequence[Any], points: PointFormat, damaged: Damaged) -> list[Record]:
    """Validate the records of a journal.

    If record n is invalid, the error returned by ``damaged(n, error)`` is raised.
    """
    records: list[Record] = []
    for n, content in enumerate(contents):
        try:
            records.append(_read_record(n, content, points))
        except UNREADABLE as error:
            raise damaged(n, error) from error
    return records


def _read_record(n: int, content: Content, points: Any) -> Record:
    """Validate a record, or raise one of the exceptions in `UNREADABLE`."""
    kinds = [kind for kind in KINDS if kind in content]
    if len(kinds) != 1:
        raise ValueError(f"a record must be one of {', '.join(KINDS)}")
    [kind], content = kinds, dict(content)
    require_type(content, kind, list)
    if kind == "constrained":
        return Record(kind, content, n)
    if "learnt" in content:
        require_type(content, "learnt", dict)
    if kind in ("begun", "ended"):
        require_type(content, {"begun": "again", "ended": "called"}[kind], bool)
    is_outside = content.get("outside", False)
    if is_outside:
        require_type(content, "outside", bool)
    values = _read_values(content) if kind == "observed" else None
    read, X = points.read(content[kind], is_outside=is_outside)
    if values is not None and not all(len(read) == len(part) for part in values):
        raise ValueError(f"'observed' and 'y' must have the same length, got {len(read)}")
    keys = list(map(_key_outside, content[kind])) if is_outside else keys_of(X)
    evaluated = _read_evaluated(content, read) if "batch" in content else None
    return Record(kind, content, n, read, X, keys, is_outside, values, evaluated)


def _read_values(content: Content) -> Values:
    y = values_from_data(content["y"])
    noise_std = values_from_data(content.get("noise_std", [None] * len(y)))
    tables = [_table(content.get(name, [[]] * len(y))) for name in ("constraints", "goals")]
    return Values(y, as_noise(noise_std, y.shape), *tables)


def _read_evaluated(content: Content, points: Any) -> Evaluated:
    kinds = {"source": str, "batch": int, "position": int, "in order": bool}
    kinds["proposal time"] = float
    for name, kind in kinds.items():
        require_type(content, name, kind)
    error = content["error"]
    if not (error is None or isinstance(error, str)):
        raise TypeError(f"'error' must be text or null, got {error!r}")
    if len(points) != 1:
        raise ValueError(f"an evaluation must have one point, got {len(points)}")
    return Evaluated(error, *(content[name] for name in kinds))


def require_type(content: Content, name: str, kind: Any) -> None:
    """Check the type of an entry of a record or header."""
    value = content[name]
    if type(value) is not kind or (kind is int and value < 0):
        raise TypeError(f"{name!r} must be of type {kind.__name__}, got {brief(value)}")


def _table(rows: Any) -> FloatArray:
    """Restore a two-dimensional array from the rows that `values_to_data` returned."""
    rows = list(map(values_from_data, rows))
    return np.array(rows, dtype=float).reshape(len(rows), len(rows[0]) if rows else 0)


def values_to_record(
    y: Any, noise_std: Any = None, constraints: Any = None, goals: Any = None
) -> Content:
    """Convert observed values to entries of a record."""
    record = {"y": values_to_data(y)}
    if noise_std is not None and not np.isnan(noise_std).all():
        record["noise_std"] = values_to_data(noise_std)
    for name, values in (("constraints", constraints), ("goals", goals)):
        if values is not None and np.size(values):
            record[name] = list(map(values_to_data, values))
    return record


def points_from_data(rows: list[list[float]], m: int) -> FloatArray:
    """Restore encoded points from lists of numbers, or raise a ValueError."""
    X = _finite_rows(rows, m)
    if (np.abs(X) > 1.0).any():
        raise ValueError(f"encoded points must be lists of {m} numbers in [-1, 1]")
    return X


def values_to_data(y: Any) -> list[Any]:
    """Convert observed values to JSON-compatible data.

    NaN becomes None, and infinite values become "inf" and "-inf".
    """
    return [None if math.isnan(v) else INFINITE.get(v, v) for v in map(float, y)]


def values_from_data(values: list[Any]) -> FloatArray:
    """Restore an array from the data that `values_to_data` returned."""
    numbers = [math.nan if v is None else v for v in values]
    if any(type(v) not in (int, float) and v not in INFINITE.values() for v in numbers):
        raise ValueError(f"values must be numbers, null, 'inf' or '-inf', got {values!r}")
    return np.array(list(map(float, numbers)), dtype=float)


def _finite_rows(rows: Any, m: int) -> FloatArray:
    is_numeric = all(type(v) in (int, float) for row in rows for v in row)
    X = np.array(rows, dtype=float).reshape(len(rows), -1 if rows else m)
    if not is_numeric or X.shape[1] != m or not np.isfinite(X).all():
        raise ValueError(f"points must be lists of {m} finite numbers, got shape {X.shape}")
    return X
