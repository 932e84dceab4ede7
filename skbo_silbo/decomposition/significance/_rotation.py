"""How many directions, where the rows are gone: rotation tests of their moments.

==========  ==========  =======================================================================
symbol      shape       meaning
==========  ==========  =======================================================================
S           (n, q)      rows in coordinates in which T is the identity, directions found first
Omega       (n, H)      slice membership, orthonormal columns
s           (H,)        roots of the shares of the slices
S1, S2                  as in `_permutation`
K           (H, H)      ``Omega'(I - P)Omega``, P the projection on the constant and S1
U           (p, q - k)  block of a random rotation of n - 1 - k dimensions
==========  ==========  =======================================================================

Where S2 is normal and independent of (y, S1), any rotation of its rows that leaves the constant and
S1 alone is as likely as the rows seen (Langsrud, Stat. Comput. 15, 2005). All that the statistic
needs of a rotated S2 is ``Omega'S2 = K^(1/2) U C`` with ``C'C = S2'S2``, and U is drawn without
the rows: for normal X and equal weights the level is exact over the draws. With one seed all data
of a shape are compared with the same draws, so theirs is off by chance, with `N_ROTATIONS` by .007.
Relative weights that depend on X are not held to: they only set how many rows count.
"""

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from ._permutation import largest_after

N_ROTATIONS = 999

NEGLIGIBLE = 1e-10  # eigenvalues below this share of the largest are rounding


@dataclass(frozen=True)
class MeanRotations:
    """Plain slices known by their sums.

    Attributes
    ----------
    sums : ndarray of shape (H, q)
        ``Omega'S``.
    scatter : ndarray of shape (q, q)
        ``S'S``: the identity, less what the ridge is of T.
    root_shares : ndarray of shape (H,)
    n : float
        Rows, or the sum of their weights.
    """

    sums: np.ndarray
    scatter: np.ndarray
    root_shares: np.ndarray
    n: float

    @classmethod
    def of_moments(cls, N, basis, rho, counts):
        """From slice sums N (H, d), the basis that whitens T and the ridge rho in it."""
        sums = basis.whiten(N)
        V = linalg.svd(sums, check_finite=False)[2].T
        P = V.T @ basis.whiten(np.eye(N.shape[1])).T
        scatter = np.eye(len(P)) - rho * (P @ P.T)
        return cls(sums @ V, scatter, np.sqrt(counts / counts.sum()), counts.sum())

    def granting(self, k):
        """Eigenvalue after the k-th, as it is and with S2 rotated."""
        sums1, sums2, inner1, inner2 = self._parted(k)
        granted = sums1 @ sums1.T
        K = np.eye(len(sums1)) - np.outer(self.root_shares, self.root_shares)
        if k:
            K -= sums1 @ linalg.solve(inner1, sums1.T, assume_a="pos")
        root, C = _root(K), _root(inner2).T
        dof = max(0, round(self.n - 1 - k - len(C)))

        def draw(random_state):
            rest = root @ _rotation_block(root.shape[1], len(C), dof, random_state) @ C
            return largest_after(granted + rest @ rest.T, k)

        return largest_after(granted + sums2 @ sums2.T, k), draw

    def _parted(self, k):
        """Return sums and scatter of S1, and of S2 less its regression on S1."""
        sums1, sums2 = self.sums[:, :k], self.sums[:, k:]
        inner1, inner2 = self.scatter[:k, :k], self.scatter[k:, k:]
        if k:
            slope = linalg.solve(inner1, self.scatter[:k, k:], assume_a="pos")
            sums2, inner2 = sums2 - sums1 @ slope, inner2 - self.scatter[k:, :k] @ slope
        return sums1, sums2, inner1, inner2


def _root(matrix):
    """R (m, p) with ``R R'`` the matrix, p its rank."""
    eigenvalues, V = linalg.eigh(matrix, check_finite=False)
    kept = eigenvalues > NEGLIGIBLE * max(eigenvalues[-1], NEGLIGIBLE)
    return V[:, kept] * np.sqrt(eigenvalues[kept])


def _rotation_block(p, q, dof, random_state):
    """Draw p rows and q columns of a rotation of q + dof dimensions.

    ``G R^-1`` transposed, with ``R'R = G'G + W``, for a normal G (q, p) and a Wishart W.
    """
    dof = max(dof, p - q)  # few rows count where weights differ much
    G = random_state.normal(size=(q, p))
    if dof >= p:  # Bartlett's factor of W: ten times as fast as scipy.stats.wishart
        Z = np.triu(random_state.normal(size=(p, p)), 1)
        Z[np.diag_indices(p)] = np.sqrt(random_state.chisquare(dof - np.arange(p)))
    else:
        Z = random_state.normal(size=(dof, p))
    R = linalg.cholesky(G.T @ G + Z.T @ Z, check_finite=False)
    return linalg.solve_triangular(R, G.T, trans="T", check_finite=False)
