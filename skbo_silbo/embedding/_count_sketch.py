"""The count sketch: every input follows one of few coordinates, with a sign."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from skbo_silbo._typing import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class CountSketch:
    """``x_j = s_j v_h(j)``: bins h, signs s; v in ``[-1, 1]^m`` gives x in ``[-1, 1]^d``.

    HeSBO (Nayebi, Munteanu and Poloczek 2019) draws bins and signs independently; a nested sketch
    (Papenmeier, Nardi and Poloczek 2022) splits bins, and every point of the coarser
    one stays exactly representable.

    Attributes
    ----------
    bins : ndarray of int of shape (d,)
        The coordinate of v that each input follows.
    signs : ndarray of shape (d,)
        1 or -1.
    r : int
        Coordinates m of v; a bin may be empty.

    Examples
    --------
    >>> import numpy as np
    >>> from skbo_silbo.embedding._count_sketch import CountSketch
    >>> sketch = CountSketch(np.array([0, 1, 0]), np.array([1.0, -1.0, -1.0]), 2)
    >>> sketch.expand(np.array([[0.5, 0.2]]))
    array([[ 0.5, -0.2, -0.5]])
    >>> sketch.project(sketch.expand(np.array([[0.5, 0.2]])))
    array([[0.5, 0.2]])
    """

    bins: IntArray
    signs: FloatArray
    r: int

    is_identity = False

    @classmethod
    def draw(cls, d: int, r: int, rng: np.random.Generator, *, balanced: bool = False) -> Self:
        """Draw bins and signs.

        Parameters
        ----------
        d, r : int
            Inputs and coordinates.
        rng : numpy.random.Generator
        balanced : bool, default=False
            Whether the bins differ in size by at most one; else bins are independent (HeSBO).
        """
        bins = rng.permutation(d) % r if balanced else rng.integers(r, size=d)
        return cls(bins, rng.choice([-1.0, 1.0], size=d), r)

    @property
    def d(self) -> int:
        """Number of inputs."""
        return self.bins.size

    @property
    def counts(self) -> IntArray:
        """How many inputs each bin holds, (m,)."""
        return np.bincount(self.bins, minlength=self.r)

    @property
    def half_widths(self) -> FloatArray:
        """Half the sides, (m,), of the box of v."""
        return np.ones(self.r)

    @property
    def basis(self) -> FloatArray:
        """Orthonormal basis, (d, k), of the points that the sketch reaches; k bins hold inputs."""
        held = np.flatnonzero(self.counts)
        basis = np.zeros((self.d, self.r))
        basis[np.arange(self.d), self.bins] = self.signs / np.sqrt(self.counts[self.bins])
        return basis[:, held]

    def expand(self, V: FloatArray) -> FloatArray:
        """Return the points, (n, d), of coordinates V, (n, m)."""
        return self.signs * V[:, self.bins]

    def project(self, X: FloatArray) -> FloatArray:
        """Return the signed mean over every bin, (n, m), 0 for an empty one.

        It is the V that `expand` made X from, or the one that makes the nearest points.
        """
        sums = np.zeros((self.d, self.r))
        sums[np.arange(self.d), self.bins] = self.signs
        return X @ sums / np.maximum(self.counts, 1)

    def pull_back(self, gradient: FloatArray) -> FloatArray:
        """Return the gradient by x, (n, d), from the gradient by the projected v, (n, m)."""
        return self.expand(gradient / np.maximum(self.counts, 1))

    def halved(self, rng: np.random.Generator) -> "CountSketch":
        """Return a finer sketch: every bin of two inputs or more is halved at random.

        Points of this one are points of the finer one to the last bit.
        """
        bins, r = self.bins.copy(), self.r
        for b in range(self.r):
            members = rng.permutation(np.flatnonzero(self.bins == b))
            if members.size > 1:
                bins[members[: members.size // 2]] = r
                r += 1
        return CountSketch(bins, self.signs, r)
