"""Linear embeddings, and serialisation of embeddings."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from skbo_silbo._numerics.preimages import nearest_preimages
from skbo_silbo._typing import ArrayLike, FloatArray
from skbo_silbo.embedding._learner_protocol import Embedding, Learner

ORTHONORMAL = 1e-6  # tolerance of the inner products of the columns


@dataclass(frozen=True, eq=False)
class LinearEmbedding:
    """Linear embedding ``z = x B`` with orthonormal columns of B, without centring.

    Attributes
    ----------
    d : int
        Number of inputs, which are the columns of the encoded points.
    basis : ndarray of shape (d, r) or None
        Matrix B of the map, with orthonormal columns. None means the identity, with r = d.

    Raises
    ------
    ValueError
        If `basis` has the wrong shape, is not finite or not orthonormal; see `from_components`.

    Examples
    --------
    >>> import numpy as np
    >>> from skbo_silbo.embedding import LinearEmbedding
    >>> embedding = LinearEmbedding.from_components(np.array([[3.0, 4.0]]))
    >>> embedding.project(np.array([[1.0, 1.0]])).round(6), embedding.half_widths.round(6)
    (array([[1.4]]), array([1.4]))
    """

    d: int
    basis: FloatArray | None = None

    def __post_init__(self) -> None:
        """Validate the basis of the embedding."""
        if self.basis is None:
            return
        basis = np.asarray(self.basis)
        fits = basis.ndim == 2 and len(basis) == self.d and basis.size > 0
        if not fits or not np.allclose(basis.T @ basis, np.eye(basis.shape[1]), 0.0, ORTHONORMAL):
            raise ValueError(
                f"basis must have shape ({self.d}, r) and orthonormal columns, got {basis!r}. Use "
                "LinearEmbedding.from_components(rows) to orthonormalise."
            )

    @classmethod
    def from_components(cls, components: ArrayLike) -> Self:
        """Create the embedding onto the subspace spanned by the rows of `components`.

        Linearly dependent rows are dropped.

        Raises
        ------
        ValueError
            If the components are not finite, or all zero.
        """
        components = np.asarray(components, dtype=float)
        if components.ndim != 2 or not np.isfinite(components).all() or not np.any(components):
            raise ValueError(
                "components of an embedding must be finite, of shape (r, d), and not all zero, "
                f"got {components!r}. Check the transformer or learner passed as embedding; use "
                "components[None] for a single direction."
            )
        lengths = np.linalg.norm(components, axis=1)
        rows = components[lengths > 0] / lengths[lengths > 0, None]
        basis, triangle = np.linalg.qr(rows.T)
        sign = np.where(np.diag(triangle) < 0, -1.0, 1.0)
        independent = np.abs(np.diag(triangle)) > 1e-10
        return cls(components.shape[1], (basis * sign)[:, independent])

    @property
    def r(self) -> int:
        """Number of coordinates of the embedding."""
        return self.d if self.basis is None else self.basis.shape[1]

    @property
    def is_identity(self) -> bool:
        """Whether the embedding maps each point to itself."""
        return self.basis is None

    @property
    def half_widths(self) -> FloatArray:
        """Half the side lengths of the smallest box that contains the image of the cube."""
        return np.ones(self.d) if self.basis is None else np.abs(self.basis).sum(axis=0)

    def project(self, X: FloatArray) -> FloatArray:
        """Return the coordinates ``Z = X B`` of the points X."""
        return X if self.basis is None else X @ self.basis

    def expand(self, Z: FloatArray) -> FloatArray:
        """Return the points of smallest norm with coordinates Z, ``X = Z pinv(B)``."""
        return Z if self.basis is None else Z @ self.basis.T

    def pull_back(self, gradient: FloatArray) -> FloatArray:
        """Convert gradients with respect to coordinates z to gradients with respect to points x."""
        return gradient if self.basis is None else gradient @ self.basis.T


def nearest_points(Z: FloatArray, embedding: Embedding, centre: FloatArray) -> FloatArray:
    """Return, for each row of coordinates, the point of the cube nearest to a centre.

    If no point of the cube has these coordinates, the point with the closest coordinates is
    returned. Any other embedding expands the coordinates, and the result is clipped to the cube.
    """
    if embedding.basis is None:
        return np.clip(embedding.expand(Z), -1.0, 1.0)
    return nearest_preimages(Z, embedding.basis, centre)


def embedding_to_data(embedding: Embedding) -> Any:
    """Convert an embedding to JSON-compatible data.

    Nonlinear embeddings are stored as None, because their learner can recreate them.
    """
    if not isinstance(embedding, LinearEmbedding):
        return None
    basis = embedding.basis
    if basis is None:
        return {"basis": None}
    order = "C" if basis.flags.c_contiguous else "F"  # the memory order affects rounding
    return {"basis": basis.tolist(), "order": order}


def embedding_from_data(data: Any, d: int, learner: Learner) -> Embedding:
    """Restore an embedding of d inputs from the data of `embedding_to_data`.

    If the embedding was stored as None, its learner recreates it.

    Raises
    ------
    ValueError
        If a basis has the wrong number of rows.
    """
    if data is None:
        return learner.learn(np.empty((0, d)), np.empty(0), np.empty((0, d)))
    if data["basis"] is None:
        return LinearEmbedding(d)
    basis = np.array(data["basis"], dtype=float, order=data["order"])
    if basis.ndim != 2 or len(basis) != d:
        raise ValueError(f"the basis must have {d} rows, one per column, got shape {basis.shape}")
    return LinearEmbedding(d, basis)
