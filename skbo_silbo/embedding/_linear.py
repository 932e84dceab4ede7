"""The linear map from the cube to the coordinates that the surrogate sees."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from skbo_silbo._typing import ArrayLike, FloatArray

ORTHONORMAL = 1e-6  # by how much inner products of the columns may miss 0 and 1


@dataclass(frozen=True, eq=False)
class LinearEmbedding:
    """``z = x B`` with orthonormal columns B, without centring.

    Attributes
    ----------
    d : int
        Coordinates of x.
    basis : ndarray of shape (d, r) or None
        B; None is the identity, r = d, stored as nothing.

    Raises
    ------
    ValueError
        When `basis` has another shape, is not finite, or its columns are not orthonormal: the
        points of a coordinate, ``z B'``, would be others. `from_components` makes them so.

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

    def __post_init__(self):
        """Refuse a basis that is none."""
        if self.basis is None:
            return
        basis = np.asarray(self.basis)
        fits = basis.ndim == 2 and len(basis) == self.d and basis.size > 0
        if not fits or not np.allclose(basis.T @ basis, np.eye(basis.shape[1]), 0.0, ORTHONORMAL):
            raise ValueError(
                f"basis must have shape ({self.d}, r) and orthonormal columns, one a direction: "
                f"got {basis!r}. Use LinearEmbedding.from_components(rows), which orthonormalises."
            )

    @classmethod
    def from_components(cls, components: ArrayLike) -> Self:
        """Orthonormalise the rows of `components`, (r, d), and drop what depends on the others.

        Raises
        ------
        ValueError
            When the components are not finite, or all zero.
        """
        components = np.asarray(components, dtype=float)
        if components.ndim != 2 or not np.isfinite(components).all() or not np.any(components):
            raise ValueError(
                "components of an embedding must be finite and not all zero, of shape (r, d), a "
                f"row a direction: got {components!r}. Check the transformer or learner given as "
                "embedding; write components[None] for a single one."
            )
        lengths = np.linalg.norm(components, axis=1)
        rows = components[lengths > 0] / lengths[lengths > 0, None]
        basis, triangle = np.linalg.qr(rows.T)
        sign = np.where(np.diag(triangle) < 0, -1.0, 1.0)
        independent = np.abs(np.diag(triangle)) > 1e-10
        return cls(components.shape[1], (basis * sign)[:, independent])

    @property
    def r(self) -> int:
        """Number of coordinates of z."""
        return self.d if self.basis is None else self.basis.shape[1]

    @property
    def is_identity(self) -> bool:
        """Whether z is x itself."""
        return self.basis is None

    @property
    def half_widths(self) -> FloatArray:
        """Half the sides, (r,), of the smallest box around the image of the cube (a zonotope)."""
        return np.ones(self.d) if self.basis is None else np.abs(self.basis).sum(axis=0)

    def project(self, X: FloatArray) -> FloatArray:
        """Return ``Z = X B``, of shape (n, r)."""
        return X if self.basis is None else X @ self.basis

    def expand(self, Z: FloatArray) -> FloatArray:
        """Return ``X = Z pinv(B)``, the preimages of least norm in R^d, of shape (n, d)."""
        return Z if self.basis is None else Z @ self.basis.T

    def pull_back(self, gradient: FloatArray) -> FloatArray:
        """Return the gradient by x, (n, d), from the gradient by z, (n, r)."""
        return gradient if self.basis is None else gradient @ self.basis.T
