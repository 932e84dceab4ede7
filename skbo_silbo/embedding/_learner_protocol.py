"""What the loop asks of an embedding, and of a learner of one.

=========  =========  ==================================================================
symbol     shape      meaning
=========  =========  ==================================================================
X          (n, d)     points of the cube ``[-1, 1]^d``
Z          (n, r)     their coordinates
B          (d, r)     orthonormal columns; the embedding is ``z = x B``
=========  =========  ==================================================================
"""

from typing import Any, Protocol

from skbo_silbo._members import check_members
from skbo_silbo._typing import FloatArray

REMEDY = "Return skbo_silbo.embedding.LinearEmbedding.from_components(rows), a row a direction."


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


def check_learnt(learner: Learner, learnt: Any, d: int) -> None:
    """Refuse what is no embedding of points of d columns.

    Parameters
    ----------
    learner : Learner
        For the message.
    learnt : object
        What its `learn` has returned.
    d : int

    Raises
    ------
    ValueError
        When a member is missing, or `d` or `r` are not those of such an embedding.
    """
    name = f"what {learner.name}.learn returns"
    check_members(name, learnt, Embedding, REMEDY)
    if learnt.d != d or not 1 <= learnt.r <= d:
        raise ValueError(
            f"{name} must be an embedding of the {d} columns of X to 1 to {d} coordinates: got "
            f"d = {learnt.d} and r = {learnt.r}. {REMEDY}"
        )
