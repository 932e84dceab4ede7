"""What the loop asks of an embedding, and of a learner of one.

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
    """A map from the cube to few coordinates, most often linear."""

    @property
    def d(self) -> int:
        """How many columns points have."""

    @property
    def r(self) -> int:
        """How many coordinates."""

    @property
    def is_identity(self) -> bool:
        """Whether coordinates are the points themselves."""

    @property
    def basis(self) -> FloatArray | None:
        """B, or None for the identity and for what is no matrix."""

    @property
    def half_widths(self) -> FloatArray:
        """Half the sides, (r,), of the box in which coordinates are searched."""

    def project(self, X: FloatArray, /) -> FloatArray:
        """Return the coordinates of points, (n, r)."""

    def expand(self, Z: FloatArray, /) -> FloatArray:
        """Return points with these coordinates, (n, d), perhaps outside the cube."""

    def pull_back(self, gradient: FloatArray, /) -> FloatArray:
        """Return the gradient by x, (n, d), from that by z, (n, r)."""


class Learner(Protocol):
    """A way to learn an embedding from values."""

    @property
    def name(self) -> str:
        """What warnings and `subspace_` call it."""

    def learn(self, X: FloatArray, y: FloatArray, X_unlabeled: FloatArray, /) -> Embedding:
        """Return an `Embedding`.

        Parameters
        ----------
        X : ndarray of shape (n, d)
            Labelled points.
        y : ndarray of shape (n,)
            Their values, finite, as the surrogate sees them; to be minimised.
        X_unlabeled : ndarray of shape (m, d)
            Points without a value: failed ones, and those that the last search ranked next.
        """
