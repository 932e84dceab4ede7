"""The embedding as the code of SILBO's authors learns it, which is not what the paper prints."""

from dataclasses import dataclass

import numpy as np

from skbo_silbo._typing import FloatArray
from skbo_silbo.embedding import LinearEmbedding
from skbo_silbo.embedding._learners import SemiSIRLearner

AS_RUN = {
    "n_local_neighbors": 3,
    "n_neighbors": 3,
    "alpha": 0.1,
    "ridge": 0.01,
    "solver": "paper",
    "random_state": 0,
}


@dataclass(frozen=True)
class AsRunLearner:
    """Learn by Algorithm 2 with the constants of the authors' code, from the best labels alone.

    ``H = r + 1`` slices, 3 neighbours in slices and graph, ``M = I + .1 L + .01 I``. (The paper
    prints 7 neighbours and all labels.)

    Attributes
    ----------
    n_components : int
        Coordinates r.
    n_best : int
        How many of the lowest values are learnt from: as many as there were first points.
    """

    n_components: int
    n_best: int
    name = "semi-sir-as-run"

    def learn(self, X: FloatArray, y: FloatArray, X_unlabeled: FloatArray) -> LinearEmbedding:
        """Return the embedding, or the identity when equal values identify no direction."""
        best = np.sort(np.argsort(y, kind="stable")[: self.n_best])
        learner = SemiSIRLearner(self.name, self.n_components, dict(AS_RUN), self.n_components + 1)
        return learner.learn(X[best], y[best], X_unlabeled)
