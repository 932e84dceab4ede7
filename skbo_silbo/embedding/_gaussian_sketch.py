"""The Gaussian sketch: a random dense map from few coordinates to all inputs."""

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from skbo_silbo._typing import FloatArray


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
    >>> from skbo_silbo.embedding._gaussian_sketch import GaussianSketch
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
