"""Which coordinates belong to which evaluated point.

A mapping that keeps points needs no ledger: coordinates are computed from the points whenever the
embedding changes. One that keeps coordinates does: a clipped point does not tell which
coordinates it was made from, and when the embedding changes the points move.
"""

from collections.abc import Container
from itertools import compress
from typing import Any

import numpy as np

from skbo_silbo._typing import FloatArray, IntArray, SpaceLike
from skbo_silbo.embedding import Embedding
from skbo_silbo.mapping._mapping_protocol import FullMapping
from skbo_silbo.space._keys import keys_of


class CoordinateLedger:
    """Coordinates are kept; each has a place in the cube, which moves with the embedding.

    Values of a place that has been left take no part any more.
    """

    def __init__(self, mapping: FullMapping, space: SpaceLike) -> None:
        self._mapping, self._space = mapping, space
        # (m, r) coordinates and (m, d) places, in the order they came; None before the first
        self._Z: Any = None
        self._X: Any = None
        self._keys: list[bytes] = []  # of the places, m
        self._moved = False  # whether the places have moved and may lack values
        self._left: set[bytes] = set()  # keys of places that coordinates have left

    def note(self, X: FloatArray, Z: FloatArray) -> None:
        """Take notice of the coordinates Z, (m, r), that the points X, (m, d), were made from."""
        self._Z = np.array(Z) if self._Z is None else np.vstack([self._Z, Z])
        self._X = np.array(X) if self._X is None else np.vstack([self._X, X])
        self._keys = [*self._keys, *keys_of(X)]

    def select(self, X: FloatArray, *values: FloatArray) -> tuple[FloatArray, ...]:
        """Return the rows that are not places which have been left, of X and of its values."""
        current = set(self._keys)
        stays = [key in current or key not in self._left for key in keys_of(X)]
        return X[stays], *(v[stays] for v in values)

    def locate(self, X: FloatArray, embedding: Embedding) -> tuple[FloatArray, IntArray]:
        """Return a coordinate row for every point: rows (m, r), and the row of X of each, (m,).

        Several coordinates can share a place. A point that was made from none gets the ones that
        the mapping gives it.
        """
        known = self._rows_by_key()
        rows, source = [], []
        for i, key in enumerate(keys_of(X)):
            own = self._Z[known[key]] if key in known else self._mapping.carry(X[[i]], embedding)
            rows.append(own)
            source += [i] * len(own)
        return np.vstack(rows), np.array(source)

    def adopt(self, X: FloatArray, embedding: Embedding) -> None:
        """Keep the coordinates that the mapping gives to points that the user gave."""
        known = self._rows_by_key()
        foreign = {key: x for key, x in zip(keys_of(X), X, strict=True) if key not in known}
        if foreign:
            points = np.array(list(foreign.values()))
            self.note(points, self._mapping.carry(points, embedding))

    def move(self, embedding: Embedding, seen: Container[bytes], first: bool) -> None:
        """Move the places to where the coordinates lie under a new embedding.

        With the first one they stay: nothing lay elsewhere before. Coordinates of another number
        mean nothing under it: they are computed again from the places, which stay.

        Parameters
        ----------
        embedding : object
        seen : set
            Keys of the observed points or pending; what was drawn and never asked for is dropped.
        first : bool
            Whether there was no embedding before.
        """
        if first or self._Z is None:
            return
        known = [key in seen for key in self._keys]
        self._Z, self._X = self._Z[known], self._X[known]
        self._keys = list(compress(self._keys, known))
        if self._Z.shape[1] != embedding.r:
            self._Z = self._mapping.carry(self._X, embedding)
            return
        self._left |= set(self._keys)
        self._X = self._space.round(self._mapping.lift(self._Z, embedding, None))
        self._keys = keys_of(self._X)
        self._moved = True

    def waiting(self, seen: Container[bytes]) -> FloatArray | None:
        """Return the first place moved to that has no value and is not pending, (d,), or None."""
        if not self._moved:
            return None
        keyed = zip(self._X, self._keys, strict=True)
        waiting = next((x for x, key in keyed if key not in seen), None)
        self._moved = waiting is not None
        return waiting

    def to_state(self) -> dict[str, Any]:
        """Return coordinates, places and places left, as plain data."""
        if self._Z is None:
            return {}
        left = [np.frombuffer(key).tolist() for key in sorted(self._left)]
        arrays = {"Z": self._Z.tolist(), "X": self._X.tolist()}
        return {**arrays, "moved": self._moved, "left": left}

    def from_state(self, state: dict[str, Any]) -> None:
        """Take over what `to_state` returned."""
        if state:
            self._Z, self._X = np.array(state["Z"]), np.array(state["X"])
            self._keys = keys_of(self._X)
            self._moved = state["moved"]
            self._left = {np.array(x).tobytes() for x in state["left"]}

    def _rows_by_key(self):
        rows: dict[bytes, list[int]] = {}
        for i, key in enumerate(self._keys):
            rows.setdefault(key, []).append(i)
        return rows
