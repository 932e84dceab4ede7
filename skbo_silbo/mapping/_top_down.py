"""Top-down mapping: the evaluated points stay, their coordinates follow the embedding."""

import numpy as np

from skbo_silbo._checks import check_choice
from skbo_silbo._numerics._preimages import nearest_preimages
from skbo_silbo._typing import FloatArray
from skbo_silbo.embedding import Embedding
from skbo_silbo.mapping._evolution import preimage_by_evolution
from skbo_silbo.mapping._mapping_protocol import FullMapping

PREIMAGES = ("nearest", "least-squares", "cma")


class TopDown(FullMapping):
    """Keep every x and y; put new points at a preimage of z in the cube.

    The top-down strategy of SILBO (Chen et al. 2020, section 4.3 and Algorithm 4): any x of the
    cube with ``x B`` nearest z (eq. 14 there) will do.

    Parameters
    ----------
    preimage : {"nearest", "least-squares", "cma"}, default="nearest"
        Which of them. "nearest": the one nearest the incumbent, so that coordinates the embedding
        does not see stay where they have done well. "least-squares": the one of least norm.
        "cma": the one that CMA-ES finds from a random start, as in the paper; for the point to
        be evaluated only.

    Examples
    --------
    >>> import numpy as np
    >>> from skbo_silbo.embedding import LinearEmbedding
    >>> from skbo_silbo.mapping import TopDown
    >>> embedding = LinearEmbedding.from_components(np.array([[1.0, 0.0, 0.0]]))
    >>> TopDown().lift(np.array([[0.5]]), embedding, np.array([0.0, 0.3, -0.3])).round(6)
    array([[ 0.5,  0.3, -0.3]])
    """

    keeps_coordinates = False

    def __init__(self, preimage: str = "nearest", *, keeps_found: bool = True) -> None:
        check_choice("preimage", preimage, PREIMAGES)
        self.preimage = preimage
        self.keeps_found = keeps_found and preimage == "nearest"

    def lift(self, Z: FloatArray, embedding: Embedding, incumbent: FloatArray | None) -> FloatArray:
        """Return points of the cube with coordinates Z, or the nearest to them that there are.

        Parameters
        ----------
        Z : ndarray of shape (m, r)
            Coordinates in the embedding.
        embedding : LinearEmbedding
        incumbent : ndarray of shape (d,)
            Among the points with the same coordinates, the one nearest this is taken (the one
            nearest the centre of the cube for "least-squares").

        Returns
        -------
        X : ndarray of shape (m, d)
            In ``[-1, 1]``.
        """
        if embedding.is_identity:
            return np.clip(Z, -1.0, 1.0)
        centre = np.zeros(embedding.d) if self.preimage == "least-squares" else incumbent
        return nearest_preimages(Z, embedding.basis, centre)

    def place(
        self, Z: FloatArray, X: FloatArray | None, embedding: Embedding, incumbent: FloatArray
    ) -> FloatArray:
        """Return the points that a search found, or preimages of their coordinates."""
        if self.keeps_found and X is not None:
            return X
        return self.lift(Z, embedding, incumbent)

    def refine(
        self, x: FloatArray, z: FloatArray, embedding: Embedding, rng: np.random.Generator
    ) -> FloatArray:
        """Return the point to evaluate for z, given the one, (d,), that `lift` found for it."""
        if self.preimage != "cma" or embedding.is_identity:
            return x
        return preimage_by_evolution(z, embedding, rng)

    def carry(self, X: FloatArray, embedding: Embedding) -> FloatArray:
        """Return the coordinates, (n, r), of evaluated points X under a new embedding."""
        return embedding.project(X)
