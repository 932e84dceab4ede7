"""The pencil of semi-supervised sliced inverse regression, kept as factors.

``Gamma b = lambda T b`` (SILBO paper, eq. of section 4.2), with

=============  ==========  ==================================================================
symbol         shape       meaning
=============  ==========  ==================================================================
X              (n, d)      rows centred on the labelled mean, the n_l labelled ones first;
                           weighted rows times the roots of their weights
Omega          (n_l, c)    slice membership, or local means within slices
N = Omega'X_l  (c, d)      (local) slice sums; Gamma = N'N
P = alpha' L   (n, n)      penalty: scaled graph Laplacian, or None; over the roots of the weights
                           of both rows, so that X'PX does not know them
T              (d, d)      X_l'X_l + X'PX + ridge I
=============  ==========  ==================================================================

A basis of T is one in which it becomes the identity.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy import linalg, sparse

# Eigenvalues of the unit-diagonal T below this share of the largest are taken as zero
RANGE_TOLERANCE = 1e-12
POOR_CONDITION = 1e-8  # reciprocal condition number below which a Cholesky factor is not relied on


@dataclass(frozen=True)
class CholeskyBasis:
    """``T = D L L' D`` with D the root of T's diagonal; whitening is two triangular solves."""

    factor: np.ndarray
    scale: np.ndarray

    @property
    def n_columns(self):
        """Rank of T, q."""
        return len(self.factor)

    def whiten(self, N):
        """``N P`` for N (c, d), where the columns of P (d, q) span range(T) and P'TP = I."""
        scaled = (N / self.scale).T
        return linalg.lapack.dtrtrs(self.factor, scaled, lower=True)[0].T

    def lift(self, U):
        """``P U`` (d, p) for whitened directions U (q, p)."""
        solved = linalg.lapack.dtrtrs(self.factor, U, lower=True, trans=True)[0]
        return solved / self.scale[:, None]


@dataclass(frozen=True)
class ExplicitBasis:
    """Whitening columns P (d, q) written out: for a T that is singular or nearly so."""

    columns: np.ndarray

    @property
    def n_columns(self):
        """Rank of T, q."""
        return self.columns.shape[1]

    def whiten(self, N):
        """``N P``."""
        return N @ self.columns

    def lift(self, U):
        """``P U``."""
        return self.columns @ U


def whitening_basis(T):
    """Basis that whitens T (d, d) on its numerical range."""
    return cholesky_basis(T) or truncated_basis(T)


def cholesky_basis(T):
    """`CholeskyBasis` of T, or None where T is too ill-conditioned to rely on it."""
    squares = np.diag(T)
    if not (squares > 0).all():
        return None
    scale = np.sqrt(squares)
    unit = T / scale[:, None]
    unit /= scale
    norm = linalg.lapack.dlange("1", unit.T)
    factor, info = linalg.lapack.dpotrf(unit.T, lower=True, clean=True, overwrite_a=True)
    if info != 0:
        return None
    reciprocal_condition, _ = linalg.lapack.dpocon(factor, norm, uplo="L")
    return CholeskyBasis(factor, scale) if reciprocal_condition > POOR_CONDITION else None


def truncated_basis(T):
    """`ExplicitBasis` of the numerical range of T (d, d), by eigenvalues at unit diagonal."""
    scale = _positive_scale(np.sqrt(np.clip(np.diag(T), 0, None)))
    eigenvalues, V = linalg.eigh(T / scale[:, None] / scale, check_finite=False)
    kept = eigenvalues > RANGE_TOLERANCE * eigenvalues[-1]
    return _range_basis(V[:, kept], np.sqrt(eigenvalues[kept]), scale)


def row_basis(F):
    """`ExplicitBasis` for ``T = F'F`` from F (m, d) itself: no squared condition number."""
    scale = _positive_scale(np.linalg.norm(F, axis=0))
    _, singular, Vt = linalg.svd(F / scale, full_matrices=False, check_finite=False)
    kept = singular > np.sqrt(RANGE_TOLERANCE) * singular[0]
    return _range_basis(Vt[kept].T, singular[kept], scale)


def _positive_scale(scale):
    return np.where(scale > 0, scale, 1.0)


def _range_basis(V, singular, scale):
    """P = D^-1 V S^-1, its columns moved along T's null space into T's range, span(D V)."""
    inside = np.linalg.qr(V * scale[:, None])[0]
    P = (V / singular) / scale[:, None]
    return ExplicitBasis(inside @ (inside.T @ P))


@dataclass(frozen=True)
class Pencil:
    """Factors of (Gamma, T); nothing of size d x d or n x n is formed before it is asked for.

    Attributes
    ----------
    X : ndarray of shape (n, d)
    n_labeled : int
    omega : csr_array of shape (n_l, c)
    penalty : csr_array of shape (n, n) or None
    ridge : float
        Absolute, added to the diagonal of T.
    root_weights : ndarray of shape (n_l,) or None
        What labelled rows were multiplied by; None where they are as they were.
    """

    X: np.ndarray
    n_labeled: int
    omega: sparse.csr_array
    penalty: sparse.csr_array | None = None
    ridge: float = 0.0
    root_weights: np.ndarray | None = None

    @property
    def X_labeled(self):
        """Labelled rows (n_l, d)."""
        return self.X[: self.n_labeled]

    def with_relative_ridge(self, ridge):
        """Return the same pencil with `ridge` times ``tr(T) / d`` on the diagonal of T."""
        return replace(self, ridge=ridge * self.mean_scatter() if ridge else 0.0)

    def mean_scatter(self):
        """``tr(T) / d`` before any ridge."""
        return replace(self, ridge=0.0).total_diagonal().mean()

    def total_diagonal(self):
        """Diagonal of T (d,)."""
        diagonal = np.einsum("ij,ij->j", self.X_labeled, self.X_labeled)
        if self.penalty is not None:
            diagonal += np.einsum("ij,ij->j", self.X, self.penalty @ self.X)
        return diagonal + self.ridge

    def slice_sums(self):
        """N (c, d), dense."""
        return self.omega.T @ self.X_labeled

    def total(self):
        """T (d, d), dense."""
        return self.X_labeled.T @ self.X_labeled + self.roughness()

    def roughness(self):
        """``T - X_l'X_l`` (d, d), dense: the penalty and the ridge."""
        R = np.zeros(2 * self.X.shape[1:])
        if self.penalty is not None:
            R += self.X.T @ (self.penalty @ self.X)
        R[np.diag_indices_from(R)] += self.ridge
        return R

    @cached_property
    def basis(self):
        """Whitening of T (d, d): Cholesky where T allows it, else from the rows, truncated."""
        basis = cholesky_basis(self.total())
        if basis is not None:
            return basis
        basis = row_basis(self._scatter_rows())
        if not self.ridge:
            return basis
        P = basis.columns
        ridged = whitening_basis(np.eye(P.shape[1]) + self.ridge * (P.T @ P))
        return ExplicitBasis(ridged.whiten(P))

    def _scatter_rows(self):
        """F with ``F'F = T - ridge I``: labelled rows, and a row for every edge of the graph."""
        if self.penalty is None:
            return self.X_labeled
        edges, roots = self.penalty.tocoo(), np.ones((len(self.X), 1))
        if self.root_weights is not None:
            roots[: self.n_labeled, 0] = self.root_weights
        upper = edges.row < edges.col
        one, other = edges.row[upper], edges.col[upper]
        lengths = np.sqrt(-edges.data[upper, None] * roots[one] * roots[other])
        X = self.X / roots
        return np.concatenate([self.X_labeled, lengths * (X[one] - X[other])])

    def apply_total(self, V):
        """``T @ V`` for V (d, p), through products with X only."""
        scores = self.X @ V
        if self.penalty is None:
            weighted = scores[: self.n_labeled]
            return self.X_labeled.T @ weighted + self.ridge * V
        weighted = self.penalty @ scores
        weighted[: self.n_labeled] += scores[: self.n_labeled]
        return self.X.T @ weighted + self.ridge * V

    def apply_slice_sums(self, V):
        """``N @ V`` (c, p) for V (d, p), without forming N."""
        return self.omega.T @ (self.X_labeled @ V)

    def apply_slice_sums_transposed(self, U):
        """``N.T @ U`` (d, p) for U (c, p), without forming N."""
        return self.X_labeled.T @ (self.omega @ U)


def centred_membership(omega, root_weights):
    """Omega (n_l, c), dense, without the part along the roots of the weights, or along ones.

    It is what N = Omega'X_l does not see, since X_l is centred.
    """
    omega = omega.toarray()
    if root_weights is None:
        return omega - omega.mean(axis=0)
    null = root_weights / np.linalg.norm(root_weights)
    return omega - np.outer(null, null @ omega)


@dataclass(frozen=True)
class Spectrum:
    """Leading directions of a pencil.

    Attributes
    ----------
    eigenvalues : ndarray of shape (p,)
        Falling; all that the solver knows.
    directions : ndarray of shape (d, r), r <= p
        Leading columns b, with ``b'Tb = 1``.
    """

    eigenvalues: np.ndarray
    directions: np.ndarray
