"""Search of the acquisition over random coordinates in the box round the image of the cube."""

from dataclasses import dataclass

import numpy as np

from skbo_silbo.acquisition._acquisition_functions import N_CANDIDATES
from skbo_silbo.acquisition._nearby_points import N_BEST, points_near
from skbo_silbo.acquisition._surface import Found

N_NEAR = 384  # candidates round the best: as many as those of the climb
N_ROUNDS = 3  # of these where the acquisition has many peaks; not tuned


@dataclass(frozen=True)
class BoxSearch:
    """A random set in the box round the image of the cube (Chen et al. 2020, Algorithm 1).

    Attributes
    ----------
    n_rounds : int
        How often the best are followed by candidates round them.
    """

    n_rounds: int = 0

    def find(self, surface, ranked, space, rng):
        """Return the candidates; they are coordinates alone (see `Search`)."""
        widths = surface.embedding.half_widths
        Z = rng.uniform(-1.0, 1.0, (N_CANDIDATES, widths.size)) * widths
        values = surface.values_at(Z)
        for _ in range(self.n_rounds):
            best = Z[np.argsort(-values, kind="stable")[:N_BEST]]
            near = points_near(best, N_NEAR, widths, rng)
            Z, values = np.vstack([Z, near]), np.append(values, surface.values_at(near))
        return Found(Z[np.argsort(-values, kind="stable")])
