"""Search of the acquisition over a Latin hypercube round the centre, as SILBO's authors ran it."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.stats import qmc

from skbo_silbo._typing import FloatArray, SpaceLike
from skbo_silbo.acquisition import AcquisitionSurface, Found


@dataclass(frozen=True)
class HypercubeSearch:
    """A Latin hypercube of coordinates in one box for all of them.

    The box is ``[-m, m]^r`` with m the largest row sum of the authors' B, without signs taken off:
    signs cancel, so it covers only a part of the image of the cube, round the centre.

    Attributes
    ----------
    reach : callable
        From the basis, (d, r), to m.
    once : bool
        Whether the candidates are drawn once for every embedding, in place of for every proposal.
    n_points : int
        How many candidates.
    """

    reach: Callable[[FloatArray], float]
    once: bool
    n_points: int = 2000

    def find(
        self,
        surface: AcquisitionSurface,
        ranked: FloatArray,
        space: SpaceLike,
        rng: np.random.Generator,
    ) -> Found:
        """Return the candidates; they are coordinates alone (see `Search`)."""
        embedding = surface.embedding
        seeded = embedding_stream(embedding) if self.once else rng
        unit = qmc.LatinHypercube(embedding.r, seed=seeded).random(self.n_points)
        Z = (2.0 * unit - 1.0) * self.reach(basis_of(embedding))
        return Found(Z[np.argsort(-surface.values_at(Z), kind="stable")])


def reach_of_coordinates(basis: FloatArray) -> float:
    """Return the largest size of a coordinate's sum over the inputs: their bottom-up code."""
    return float(np.abs(basis.sum(axis=0)).max())


def reach_of_inputs(basis: FloatArray) -> float:
    """Return the largest size of an input's sum over the coordinates: their top-down code.

    Examples
    --------
    >>> import numpy as np
    >>> from skbo_silbo.baselines._hypercube_search import reach_of_inputs
    >>> reach_of_inputs(np.array([[0.6, 0.8], [0.8, -0.6]])).__round__(6)
    1.4
    """
    return float(np.abs(basis.sum(axis=1)).max())


def basis_of(embedding):
    """Return the basis of a linear embedding, (d, r), the identity's too."""
    return np.eye(embedding.d) if embedding.is_identity else embedding.basis


def embedding_stream(embedding):
    """Return a random stream that is the same for the same basis, and for no other."""
    return np.random.default_rng(np.frombuffer(basis_of(embedding).tobytes(), dtype=np.uint32))
