"""Rows as points of a kernel's feature space, about the mean of the labelled ones.

=========  ========  ======================================================================
symbol     shape     meaning
=========  ========  ======================================================================
K          (n, n)    kernel values of all rows, labelled ones first
F = U S    (n, q)    coordinates of the rows, ``F F'`` the kernel about the labelled mean
c          (n, r)    a direction as a combination of the rows: ``F' c``
=========  ========  ======================================================================

The mean is weighted where the labelled rows have weights.
"""

from dataclasses import dataclass

import numpy as np
from scipy import linalg

# eigenvalues of the centred kernel below this share of the largest are taken as zero
RANGE_TOLERANCE = 1e-12


@dataclass(frozen=True, eq=False)
class KernelFeatures:
    """Coordinates of the rows in feature space.

    Attributes
    ----------
    shares : ndarray of shape (n_l,)
        Weights of the labelled rows, of sum 1.
    labelled_means : ndarray of shape (n,)
        Mean kernel value of every row with the labelled rows.
    left : ndarray of shape (n, q)
        U.
    singular : ndarray of shape (q,)
        Diagonal of S.
    """

    shares: np.ndarray
    labelled_means: np.ndarray
    left: np.ndarray
    singular: np.ndarray

    @classmethod
    def of(cls, K, n_labeled, weights=None):
        """Decompose a kernel (n, n) whose first `n_labeled` rows and columns are labelled."""
        shares = np.full(n_labeled, 1 / n_labeled) if weights is None else weights / weights.sum()
        means = K[:, :n_labeled] @ shares
        centred = K - means[:, None] - means + shares @ means[:n_labeled]
        squares, left = linalg.eigh((centred + centred.T) / 2, check_finite=False)
        squares, left = squares[::-1], left[:, ::-1]
        kept = squares > max(RANGE_TOLERANCE * squares[0], 0.0)
        if squares[0] <= 10 * len(K) * np.finfo(np.float64).eps * np.abs(K).max():
            raise ValueError(
                "X must hold rows that differ under the kernel: all of them are the same point of "
                "its feature space. Choose another kernel or gamma."
            )
        return cls(shares, means, left[:, kept], np.sqrt(squares[kept]))

    @property
    def coordinates(self):
        """F (n, q)."""
        return self.left * self.singular

    def dual(self, V):
        """Coefficients (n, p) on the rows, and offsets (p,), of directions V (q, p).

        The score of x is ``k(x, rows) @ coefficients - offsets``.
        """
        c = self.left @ (V / self.singular[:, None])
        offsets = self.labelled_means @ c
        totals = c.sum(axis=0)
        n_labeled = len(self.shares)
        offsets -= totals * (self.shares @ self.labelled_means[:n_labeled])
        c[:n_labeled] -= np.outer(self.shares, totals)
        return c, offsets
