"""Search of the acquisition group by group, for an additive surrogate."""

from dataclasses import dataclass
from typing import cast

import numpy as np

from skbo_silbo._typing import FloatArray, SpaceLike
from skbo_silbo.acquisition import AcquisitionSurface, Found
from skbo_silbo.acquisition._box_search import N_NEAR
from skbo_silbo.acquisition._candidates import N_BEST, points_near
from skbo_silbo.baselines._additive_process import AdditiveProcess


@dataclass(frozen=True)
class GroupSearch:
    """Every group of an additive surrogate for itself (Kandasamy et al. 2015, Algorithm 1).

    Attributes
    ----------
    n_points : int
        Candidates for each group, besides those round the incumbents.
    """

    n_points: int = 256
    n_best = 5  # points put together from the best, second best, ... of every group

    def find(
        self,
        surface: AcquisitionSurface,
        ranked: FloatArray,
        space: SpaceLike,
        rng: np.random.Generator,
    ) -> Found:
        """Return points put together from the best of every group (see `Search`)."""
        Z = np.empty((self.n_best, surface.embedding.r))
        surrogate = cast(AdditiveProcess, surface.surrogate)
        for index, group in enumerate(surrogate.groups_):
            candidates = self._candidates(ranked[:N_BEST, group], rng)
            mean, std = surrogate.predict_group(index, candidates)
            values = surface.acquisition(mean, std, 0.0)
            Z[:, group] = candidates[np.argsort(-values, kind="stable")[: self.n_best]]
        return Found(Z)

    def _candidates(self, incumbents, rng):
        size = incumbents.shape[1]
        wide = rng.uniform(-1.0, 1.0, (self.n_points, size))
        return np.vstack([wide, points_near(incumbents, N_NEAR, np.ones(size), rng)])
