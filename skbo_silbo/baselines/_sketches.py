"""Sketches: random maps from few coordinates to all inputs."""

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from skbo_silbo._typing import FloatArray, IntArray

SKETCH_STREAM = (0, 3)  # number of the random stream that a sketch comes from


@dataclass(frozen=True, eq=False)
class CountSketch:
    """``x_j = s_j v_h(j)``: bins h, signs s; v in ``[-1, 1]^m`` gives x in ``[-1, 1]^d``.

    HeSBO (Nayebi, Munteanu and Poloczek 2019) draws bins and signs independently.

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
    >>> from skbo_silbo.baselines._sketches import CountSketch
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
    def draw(cls, d: int, r: int, rng: np.random.Generator) -> Self:
        """Draw independent bins and signs for d inputs and r coordinates."""
        bins = rng.integers(r, size=d)
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


@dataclass(frozen=True, eq=False)
class GaussianSketch:
    """``x = A v`` with independent standard normal A, to be clipped to the cube.

    REMBO (Wang, Zoghi, Hutter, Matheson and de Freitas 2013) searches v in the box
    ``[-sqrt(r), sqrt(r)]^r`` (there, section 3.2).

    Attributes
    ----------
    matrix : ndarray of shape (d, r)
        A.

    Examples
    --------
    >>> import numpy as np
    >>> from skbo_silbo.baselines._sketches import GaussianSketch
    >>> sketch = GaussianSketch.draw(10, 2, np.random.default_rng(0))
    >>> V = np.array([[0.1, -0.2]])
    >>> sketch.project(sketch.expand(V)).round(6)
    array([[ 0.1, -0.2]])
    """

    matrix: FloatArray

    is_identity = False

    @classmethod
    def draw(cls, d: int, r: int, rng: np.random.Generator) -> Self:
        """Draw A for d inputs and r coordinates."""
        return cls(rng.standard_normal((d, r)))

    @property
    def d(self) -> int:
        """Number of inputs."""
        return self.matrix.shape[0]

    @property
    def r(self) -> int:
        """Number of coordinates."""
        return self.matrix.shape[1]

    @property
    def half_widths(self) -> FloatArray:
        """Half the sides, (r,), of the box of v."""
        return np.full(self.r, np.sqrt(self.r))

    @cached_property
    def basis(self) -> FloatArray:
        """Orthonormal basis, (d, min(d, r)), of the range of A."""
        return np.linalg.qr(self.matrix)[0]

    @cached_property
    def _inverse(self):
        return np.linalg.pinv(self.matrix)

    def expand(self, V: FloatArray) -> FloatArray:
        """Return the points A v, (n, d), of coordinates V, (n, r); not clipped."""
        return V @ self.matrix.T

    def project(self, X: FloatArray) -> FloatArray:
        """Return the coordinates, (n, r), of the points of the range of A nearest X."""
        return X @ self._inverse.T

    def pull_back(self, gradient: FloatArray) -> FloatArray:
        """Return the gradient by x, (n, d), from the gradient by the projected v, (n, r)."""
        return gradient @ self._inverse
