"""Bottom-up optimisers, which keep coordinates fixed and move points with the embedding.

The coordinates of a clipped point cannot be recovered from the point. A ledger therefore stores the
coordinates of each evaluated point.
"""

from collections.abc import Callable, Container
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import compress
from typing import Any, Self

import numpy as np
from numpy.random import Generator

from skbo_silbo._numerics.threads import one_thread
from skbo_silbo._typing import FloatArray
from skbo_silbo.acquisition.restricted_space import RestrictedSpace
from skbo_silbo.baselines._baseline import Baseline
from skbo_silbo.embedding import Embedding
from skbo_silbo.optimizers.history import Labelled
from skbo_silbo.space.keys import keys_of

Lift = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True, eq=False)
class CoordinateLedger:
    """Immutable record of the coordinates of each point across changes of the embedding.

    When the embedding changes, the coordinates stay and their points move. The values observed at
    former points are then ignored.

    Attributes
    ----------
    Z : ndarray of shape (m, r)
        Coordinates, one row per point, in the order in which they were added.
    X : ndarray of shape (m, d)
        Encoded point for each row of coordinates.
    moved : bool
        Whether a change of the embedding has moved the points, so that some points may have to be
        evaluated.
    replaced : frozenset of bytes
        Keys of points that were replaced when the embedding changed.
    """

    Z: FloatArray = field(default_factory=lambda: np.empty((0, 0)))
    X: FloatArray = field(default_factory=lambda: np.empty((0, 0)))
    moved: bool = False
    replaced: frozenset[bytes] = frozenset()

    @cached_property
    def keys(self) -> list[bytes]:
        """Hashable keys that identify the m recorded points."""
        return keys_of(self.X)

    def with_points(self, X: FloatArray, Z: FloatArray) -> Self:
        """Return the record extended by points X and their coordinates Z."""
        if self.keys:
            X, Z = np.vstack([self.X, X]), np.vstack([self.Z, Z])
        return replace(self, Z=np.array(Z), X=np.array(X))

    def with_missing(self, X: FloatArray, carry: Lift) -> Self:
        """Return the record extended by the points of X that it does not contain yet."""
        own = set(self.keys)
        foreign = {key: x for key, x in zip(keys_of(X), X, strict=True) if key not in own}
        if not foreign:
            return self
        points = np.array(list(foreign.values()))
        return self.with_points(points, carry(points))

    def in_use(self, X: FloatArray) -> list[bool]:
        """Return whether each point in X still belongs to the current embedding."""
        current = set(self.keys)
        return [key in current or key not in self.replaced for key in keys_of(X)]

    def coordinates(self, X: FloatArray, carry: Lift) -> tuple[FloatArray, list[int]]:
        """Return the coordinates of the points X, and the row of X that each belongs to.

        A point can have several rows of coordinates. If it has none, ``carry(x)`` is used.
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

    def moved_to(self, r: int, carry: Lift, lift: Lift, seen: Container[bytes]) -> Self:
        """Return the record with all points moved according to a new embedding.

        If the number of coordinates has changed, the points are kept and their coordinates computed
        again.

        Parameters
        ----------
        r : int
            Number of coordinates of the new embedding.
        carry, lift : callable
            Functions that map points to coordinates of the new embedding, and coordinates to points
            of the search space.
        seen : set
            Keys of the evaluated and pending points. All other points are removed from the record.
        """
        if not self.keys:
            return self
        kept = [key in seen for key in self.keys]
        Z, X, keys = self.Z[kept], self.X[kept], list(compress(self.keys, kept))
        if Z.shape[1] != r:
            return replace(self, Z=carry(X), X=X)
        return replace(self, Z=Z, X=lift(Z), moved=True, replaced=self.replaced | frozenset(keys))

    def next_unevaluated(self, seen: Container[bytes]) -> FloatArray | None:
        """Return the first moved point that still has to be evaluated, or None."""
        keyed = zip(self.X, self.keys, strict=True)
        return next((x for x, key in keyed if key not in seen), None) if self.moved else None

    def to_state(self) -> dict[str, Any]:
        """Convert the record to JSON-compatible data."""
        if not self.keys:
            return {}
        left = [np.frombuffer(key).tolist() for key in sorted(self.replaced)]
        return {"Z": self.Z.tolist(), "X": self.X.tolist(), "moved": self.moved, "left": left}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """Restore the record from the data of `to_state`."""
        if not state:
            return cls()
        Z, X = np.array(state["Z"]), np.array(state["X"])
        left = frozenset(np.array(x).tobytes() for x in state["left"])
        return cls(Z, X, state["moved"], left)


class MovingPoints(Baseline):
    """Base class of baselines that evaluate ``clip(z pinv(B))`` for coordinates z.

    With a fixed random B, this is the map of REMBO (Wang et al. 2013). With a learnt B, it is the
    bottom-up strategy of SILBO (Chen et al. 2020, Algorithm 3). When B changes, the points move,
    and `ask` first proposes to evaluate them again.
    """

    _ledger = CoordinateLedger()

    def propose(self, rng: Generator, restricted: RestrictedSpace | None) -> FloatArray | None:
        """Return a moved point that must be evaluated again, or else a new point."""
        if self._n_points >= self.n_initial_ and len(self._history):
            with one_thread():
                self._update_model()
            if self._model.surrogate is None:
                return self._ledger.next_unevaluated(self._seen)
        return super().propose(rng, restricted)

    def preimages(
        self, Z: FloatArray, X: FloatArray | None, embedding: Embedding, incumbent: FloatArray
    ) -> FloatArray:
        """Return the clipped points that belong to coordinates Z."""
        return clipped_points(Z, embedding)

    def _update_model(self):
        """Learn the embedding. Fit the surrogate if no moved point is waiting to be evaluated."""
        if self._has_unevaluated() or self._model.n_observed == len(self._history):
            return
        self._model = self._with_embedding(self._model)
        if not self._has_unevaluated():
            self._model = self._with_surrogate(self._model)

    def _has_unevaluated(self):
        unevaluated = self._ledger.next_unevaluated(self._seen) is not None
        self._ledger = replace(self._ledger, moved=unevaluated)
        return unevaluated

    def _with_embedding(self, model):
        """Learn the embedding again if an update is due, and move the points accordingly."""
        relearnt = super()._with_embedding(model)
        learnt = relearnt.embedding
        if model.learnt_at and learnt is not model.embedding:

            def lift(Z):
                return self.space_.round(clipped_points(Z, learnt))

            self._ledger = self._ledger.moved_to(learnt.r, learnt.project, lift, self._seen)
        return relearnt

    def _with_surrogate(self, model, *, tune=True):
        if tune:
            X = self._labelled().X
            self._ledger = self._ledger.with_missing(X, model.embedding.project)
        if not self._labelled().y.size:
            return replace(model, surrogate=None, n_observed=len(self._history))
        return super()._with_surrogate(model, tune=tune)

    def _labelled(self):
        rows = super()._labelled()
        in_use = self._ledger.in_use(rows.X)
        return Labelled(*(part[in_use] for part in rows))

    def _coordinates(self, embedding, X, *values):
        Z, source = self._ledger.coordinates(X, embedding.project)
        return Z, *(part[source] for part in values)

    def _first_new(self, found, restricted, rng):
        x, z = super()._first_new(found, restricted, rng)
        if x is not None:
            self._ledger = self._ledger.with_points(x[None], z[None])
        return x, z

    def model_to_dict(self) -> dict[str, Any]:
        """Convert the model and the moved points to JSON-compatible data."""
        return {**super().model_to_dict(), "ledger": self._ledger.to_state()}

    def model_from_dict(self, state: dict[str, Any]) -> None:
        """Restore the model and the moved points from the data of `model_to_dict`."""
        self._ledger = CoordinateLedger.from_state(state["ledger"])
        super().model_from_dict(state)


def clipped_points(Z, embedding):
    """Return the point ``clip(z pinv(B))`` for each row z of embedding coordinates.

    Examples
    --------
    >>> from skbo_silbo.embedding import LinearEmbedding
    >>> embedding = LinearEmbedding.from_components(np.array([[0.6, 0.8]]))
    >>> clipped_points(np.array([[0.5], [1.4]]), embedding).round(6)
    array([[0.3 , 0.4 ],
           [0.84, 1.  ]])
    """
    return np.clip(embedding.expand(Z), -1.0, 1.0)
