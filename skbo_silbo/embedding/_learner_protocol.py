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
    """Protocol of maps from encoded points to a few coordinates."""

    @property
    def d(self) -> int:
        """Number of columns of the encoded points."""

    @property
    def r(self) -> int:
        """Number of coordinates of the embedding."""

    @property
    def is_identity(self) -> bool:
        """Whether the embedding maps each point to itself."""

    @property
    def basis(self) -> FloatArray | None:
        """Matrix B of a linear embedding, None for the identity and nonlinear maps."""

    @property
    def half_widths(self) -> FloatArray:
        """Half the side lengths of the box in which the coordinates are searched."""

    def project(self, X: FloatArray, /) -> FloatArray:
        """Return the coordinates of encoded points, as an array of shape (n, r)."""

    def expand(self, Z: FloatArray, /) -> FloatArray:
        """Return points with the given coordinates, which may lie outside the cube."""

    def pull_back(self, gradient: FloatArray, /) -> FloatArray:
        """Convert gradients with respect to coordinates z to gradients with respect to points x."""


class Learner(Protocol):
    """Protocol of methods that learn an embedding from evaluated points."""

    @property
    def name(self) -> str:
        """Name of the learner in warnings and in ``subspace_``."""

    def learn(self, X: FloatArray, y: FloatArray, X_unlabeled: FloatArray, /) -> Embedding:
        """Learn an embedding from evaluated points and return it.

        Parameters
        ----------
        X : ndarray of shape (n, d)
            Encoded points that have been evaluated, one per row.
        y : ndarray of shape (n,)
            Finite values at the points X, to be minimised, after the transformation by the warp.
        X_unlabeled : ndarray of shape (m, d)
            Unlabelled points: failed evaluations, and highly ranked candidates of the last search.
        """
