"""Which coordinates belong to which evaluated point.

A clipped point does not tell which coordinates it was made from, and when the embedding changes the
points of kept coordinates move.
"""

from collections.abc import Callable, Container
from dataclasses import dataclass, field, replace
from itertools import compress
from typing import Any, Self

import numpy as np

from skbo_silbo._typing import FloatArray
from skbo_silbo.space._keys import keys_of

Lift = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True, eq=False)
class CoordinateLedger:
    """Coordinates are kept; each has a place in the cube, which moves with the embedding.

    Values of a place that has been left take no part any more. Immutable.

    Attributes
    ----------
    Z : ndarray of shape (m, r)
        Coordinates, in the order they came.
    X : ndarray of shape (m, d)
        Their places.
    keys : list of bytes
        Of the places, m.
    moved : bool
        Whether the places have moved and may lack values.
    left : frozenset of bytes
        Keys of places that coordinates have left.
    """

    Z: FloatArray = field(default_factory=lambda: np.empty((0, 0)))
    X: FloatArray = field(default_factory=lambda: np.empty((0, 0)))
    keys: list[bytes] = field(default_factory=list)
    moved: bool = False
    left: frozenset[bytes] = frozenset()

    def noted(self, X: FloatArray, Z: FloatArray) -> Self:
        """Return the ledger with the coordinates Z, (n, r), that the points X, (n, d), are of."""
        keys = [*self.keys, *keys_of(X)]
        if self.keys:
            X, Z = np.vstack([self.X, X]), np.vstack([self.Z, Z])
        return replace(self, Z=np.array(Z), X=np.array(X), keys=keys)

    def adopted(self, X: FloatArray, carry: Lift) -> Self:
        """Return the ledger with coordinates, by ``carry(X)``, of the points that have none."""
        known = set(self.keys)
        foreign = {key: x for key, x in zip(keys_of(X), X, strict=True) if key not in known}
        if not foreign:
            return self
        points = np.array(list(foreign.values()))
        return self.noted(points, carry(points))

    def in_use(self, X: FloatArray) -> list[bool]:
        """Return which rows of X, (n, d), are not places that coordinates have left."""
        current = set(self.keys)
        return [key in current or key not in self.left for key in keys_of(X)]

    def coordinates(self, X: FloatArray, carry: Lift) -> tuple[FloatArray, list[int]]:
        """Return a coordinate row for every point: rows (k, r), and the row of X of each, k.

        Several coordinates can share a place. A point without any gets those of ``carry``.
        """
        rows_of: dict[bytes, list[int]] = {}
        for i, key in enumerate(self.keys):
            rows_of.setdefault(key, []).append(i)
        rows, source = [], []
        for i, key in enumerate(keys_of(X)):
            own = self.Z[rows_of[key]] if key in rows_of else carry(X[[i]])
            rows.append(own)
            source += [i] * len(own)
        return np.vstack(rows), source

    def under(self, r: int, carry: Lift, lift: Lift, seen: Container[bytes]) -> Self:
        """Return the ledger with the places at which the coordinates lie under a new embedding.

        Coordinates of another number mean nothing under it: they are computed again from the
        places, which stay.

        Parameters
        ----------
        r : int
            Coordinates of the new embedding.
        carry, lift : callable
            From places to coordinates under it, and back, rounded to the space.
        seen : set
            Keys of the observed points or pending; what was drawn and never asked for is dropped.
        """
        if not self.keys:
            return self
        known = [key in seen for key in self.keys]
        Z, X, keys = self.Z[known], self.X[known], list(compress(self.keys, known))
        if Z.shape[1] != r:
            return replace(self, Z=carry(X), X=X, keys=keys)
        X = lift(Z)
        return replace(
            self, Z=Z, X=X, keys=keys_of(X), moved=True, left=self.left | frozenset(keys)
        )

    def waiting(self, seen: Container[bytes]) -> FloatArray | None:
        """Return the first place moved to that has no value and is not pending, (d,), or None."""
        keyed = zip(self.X, self.keys, strict=True)
        return next((x for x, key in keyed if key not in seen), None) if self.moved else None

    def to_state(self) -> dict[str, Any]:
        """Return coordinates, places and places left, as plain data."""
        if not self.keys:
            return {}
        left = [np.frombuffer(key).tolist() for key in sorted(self.left)]
        return {"Z": self.Z.tolist(), "X": self.X.tolist(), "moved": self.moved, "left": left}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """Return the ledger that `to_state` was called on."""
        if not state:
            return cls()
        Z, X = np.array(state["Z"]), np.array(state["X"])
        left = frozenset(np.array(x).tobytes() for x in state["left"])
        return cls(Z, X, keys_of(X), state["moved"], left)
