"""Bottom-up: coordinates stay, and their points follow the embedding.

A clipped point does not tell which coordinates it was made from, and when the embedding changes the
points of kept coordinates move: a ledger says which coordinates belong to which evaluated point.
"""

from collections.abc import Callable, Container
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import compress
from typing import Any, Self

import numpy as np

from skbo_silbo._numerics._threads import one_thread
from skbo_silbo._typing import FloatArray
from skbo_silbo.acquisition._part_of_space import Part
from skbo_silbo.baselines._baseline import Baseline
from skbo_silbo.embedding import Embedding
from skbo_silbo.optimizers._history import Labelled
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
    moved : bool
        Whether the places have moved and may lack values.
    left : frozenset of bytes
        Keys of places that coordinates have left.
    """

    Z: FloatArray = field(default_factory=lambda: np.empty((0, 0)))
    X: FloatArray = field(default_factory=lambda: np.empty((0, 0)))
    moved: bool = False
    left: frozenset[bytes] = frozenset()

    @cached_property
    def keys(self) -> list[bytes]:
        """Keys of the places, m."""
        return keys_of(self.X)

    def noted(self, X: FloatArray, Z: FloatArray) -> Self:
        """Return the ledger with the coordinates Z, (n, r), that the points X, (n, d), are of."""
        if self.keys:
            X, Z = np.vstack([self.X, X]), np.vstack([self.Z, Z])
        return replace(self, Z=np.array(Z), X=np.array(X))

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
            return replace(self, Z=carry(X), X=X)
        return replace(self, Z=Z, X=lift(Z), moved=True, left=self.left | frozenset(keys))

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
        return cls(Z, X, state["moved"], left)


class MovingPoints(Baseline):
    """Base of baselines that keep every z; its point is ``clip(z pinv(B))`` under the B in use.

    With a random B that never changes that is the map of REMBO (Wang et al. 2013); else the
    bottom-up strategy of SILBO (Chen et al. 2020, Algorithm 3). When B changes the points move, and
    each has to be evaluated again: `ask` gives these points first, and they count.
    """

    _ledger = CoordinateLedger()

    def propose(self, rng: np.random.Generator, part: Part | None) -> FloatArray | None:
        """Return a place of the cube, (m,): one that a point has moved to, or a new one."""
        if self._n_known >= self.n_initial_ and len(self._history):
            with one_thread():
                self._update_model()
            if self._model.surrogate is None:
                return self._ledger.waiting(self._seen)
        return super().propose(rng, part)

    def place(
        self, Z: FloatArray, X: FloatArray | None, embedding: Embedding, incumbent: FloatArray
    ) -> FloatArray:
        """Return places of the cube for coordinates that a search found; X is not used."""
        return clipped_points(Z, embedding)

    def _update_model(self):
        """Learn from all values, where due; without a surrogate while moved points lack values."""
        if self._waits() or self._model.n_observed == len(self._history):
            return
        self._model = self._learnt(self._model)
        if not self._waits():
            self._model = self._conditioned(self._model)

    def _waits(self):
        waiting = self._ledger.waiting(self._seen) is not None
        self._ledger = replace(self._ledger, moved=waiting)
        return waiting

    def _learnt(self, model):
        """Return the model with the embedding learnt where due; then the points move."""
        relearnt = super()._learnt(model)
        learnt = relearnt.embedding
        if model.learnt_at and learnt is not model.embedding:

            def lift(Z):
                return self.space_.round(clipped_points(Z, learnt))

            self._ledger = self._ledger.under(learnt.r, learnt.project, lift, self._seen)
        return relearnt

    def _conditioned(self, model, *, tune=True):
        if tune:
            X = self._labelled().X
            self._ledger = self._ledger.adopted(X, model.embedding.project)
        if not self._labelled().y.size:
            return replace(model, surrogate=None, n_observed=len(self._history))
        return super()._conditioned(model, tune=tune)

    def _labelled(self):
        rows = super()._labelled()
        in_use = self._ledger.in_use(rows.X)
        return Labelled(*(part[in_use] for part in rows))

    def _coordinates(self, embedding, X, *values):
        Z, source = self._ledger.coordinates(X, embedding.project)
        return Z, *(part[source] for part in values)

    def _first_new(self, found, part, rng):
        x, z = super()._first_new(found, part, rng)
        if x is not None:
            self._ledger = self._ledger.noted(x[None], z[None])
        return x, z

    def _state_to_dict(self):
        return {**super()._state_to_dict(), "ledger": self._ledger.to_state()}

    def _state_from_dict(self, state):
        self._ledger = CoordinateLedger.from_state(state["ledger"])
        super()._state_from_dict(state)


def clipped_points(Z, embedding):
    """Return ``clip(z pinv(B))``, (n, d), for coordinates Z, (n, r).

    Examples
    --------
    >>> from skbo_silbo.embedding import LinearEmbedding
    >>> embedding = LinearEmbedding.from_components(np.array([[0.6, 0.8]]))
    >>> clipped_points(np.array([[0.5], [1.4]]), embedding).round(6)
    array([[0.3 , 0.4 ],
           [0.84, 1.  ]])
    """
    return np.clip(embedding.expand(Z), -1.0, 1.0)
