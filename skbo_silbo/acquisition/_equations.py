"""Linear equations between inputs, such as shares that sum to one."""

from dataclasses import dataclass

import numpy as np

from skbo_silbo._typing import BoolArray, FloatArray
from skbo_silbo.space._box import Box

CLOSE = 1e-10  # relative to the range of the inputs: below `TOLERANCE` with the grid's rounding
MOST_STEPS = 500


@dataclass(frozen=True, eq=False)
class Equations:
    """``matrix @ x = target`` for points x of a box.

    Attributes
    ----------
    matrix : ndarray of shape (k, d)
    target : ndarray of shape (k,)
    """

    matrix: FloatArray
    target: FloatArray

    def project(self, X: FloatArray, box: Box, held: BoolArray) -> FloatArray:
        """Return places in the cube of a box, (n, d), moved to where the equations hold.

        Columns that are held, (d,), stay.

        By alternating projections to the affine set and the cube (von Neumann; Bauschke and
        Borwein 1996): they meet in a point of both, where there is one.
        """
        is_free, half = box.lower < box.upper, (box.upper - box.lower) / 2.0
        matrix = (self.matrix * half)[:, is_free]
        target = self.target - self.matrix @ (box.lower + half)
        back = np.linalg.pinv(np.where(held, 0.0, matrix)).T
        close = CLOSE * np.abs(matrix).sum(axis=1)
        for _ in range(MOST_STEPS):
            missed = X @ matrix.T - target
            if (np.abs(missed) <= close).all():
                break
            X = np.where(held, X, np.clip(X - missed @ back, -1.0, 1.0))
        return X
