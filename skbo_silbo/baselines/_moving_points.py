"""Bottom-up: coordinates stay, and their points follow the embedding."""

from dataclasses import replace

import numpy as np

from skbo_silbo._numerics._threads import one_thread
from skbo_silbo._typing import FloatArray
from skbo_silbo.acquisition._part_of_space import Part
from skbo_silbo.baselines._baseline import Baseline
from skbo_silbo.baselines._ledger import CoordinateLedger
from skbo_silbo.embedding import Embedding
from skbo_silbo.optimizers._history import Labelled


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

    def _chosen(self, x, z, rng):
        self._ledger = self._ledger.noted(x[None], z[None])
        return x

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
