"""Protocols of embeddings and of their learners.

=========  =========  ==================================================================
symbol     shape      meaning
=========  =========  ==================================================================
X          (n, d)     points of the cube ``[-1, 1]^d``
Z          (n, r)     their coordinates
B          (d, r)     orthonormal columns; the embedding is ``z = x B``
=========  =========  ==================================================================
"""

from typing import Protocol

from skbo_silbo._typing import FloatArray


class Embedding(Protocol):
    """Protocol of maps, mostly linear, from the cube to few coordinates."""

    @property
    def d(self) -> int:
        """Number of columns of encoded points."""

    @property
    def r(self) -> int:
        """Number of coordinates."""

    @property
    def is_identity(self) -> bool:
        """Whether the coordinates are the points themselves."""

    @property
    def basis(self) -> FloatArray | None:
        """The matrix B, or None for the identity and for nonlinear maps."""

    @property
    def half_widths(self) -> FloatArray:
        """Half the side length, for each coordinate, of the box in which it is searched."""

    def project(self, X: FloatArray, /) -> FloatArray:
        """Return the coordinates of points as an array of shape (n, r)."""

    def expand(self, Z: FloatArray, /) -> FloatArray:
        """Return points with the given coordinates. The points may be outside the cube."""

    def pull_back(self, gradient: FloatArray, /) -> FloatArray:
        """Convert gradients with respect to z to gradients with respect to x."""


class Learner(Protocol):
    """Protocol of methods that learn an embedding from values."""

    @property
    def name(self) -> str:
        """Name used in warnings and ``subspace_``."""

    def learn(self, X: FloatArray, y: FloatArray, X_unlabeled: FloatArray, /) -> Embedding:
        """Learn and return an `Embedding`.

        Parameters
        ----------
        X : ndarray of shape (n, d)
            Encoded points whose values are known, one per row.
        y : ndarray of shape (n,)
            Values at the points X, which are finite and to be minimised. They have been transformed
            by the warp.
        X_unlabeled : ndarray of shape (m, d)
            Points without a value: failed evaluations, and candidates that the last search ranked
            highly but did not propose.
        """
