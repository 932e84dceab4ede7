"""The pencil of semi-supervised sliced inverse regression, stored as factors.

``Gamma b = lambda T b`` (SILBO paper, eq. of section 4.2), with

=============  ==========  ==================================================================
symbol         shape       meaning
=============  ==========  ==================================================================
X              (n, d)      rows centred on the labelled mean, the n_l labelled ones first;
                           times the square roots of their weights
Omega          (n_l, c)    slice membership, or local means within slices
N = Omega'X_l  (c, d)      (local) slice sums; Gamma = N'N
P = alpha' L   (n, n)      penalty: scaled graph Laplacian, or None; divided by the root weights of
                           both rows, so that X'PX does not depend on them
T              (d, d)      X_l'X_l + X'PX + ridge I
=============  ==========  ==================================================================

A whitening basis of T turns it into the identity.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import linalg, sparse

from skbo_silbo._typing import FloatArray

# Eigenvalues below this share of the largest count as zero.
RANGE_TOLERANCE = 1e-12
POOR_CONDITION = 1e-8  # reciprocal condition number below which Cholesky factors are not used


@dataclass(frozen=True)
class CholeskyBasis:
    """Whitening transformation based on a Cholesky factorisation of T."""

    factor: np.ndarray
    scale: np.ndarray

    @property
    def n_columns(self) -> int:
        """Number of whitened columns, which is the rank of the matrix T."""
        return len(self.factor)

    def whiten(self, N: FloatArray) -> FloatArray:
        """Return ``N P``, the rows of N in whitened coordinates."""
        scaled = (N / self.scale).T
        return linalg.lapack.dtrtrs(self.factor, scaled, lower=True)[0].T

    def lift(self, U: FloatArray) -> FloatArray:
        """Return ``P U``, the whitened directions U in the original coordinates."""
        solved = linalg.lapack.dtrtrs(self.factor, U, lower=True, trans=True)[0]
        return solved / self.scale[:, None]


@dataclass(frozen=True)
class ExplicitBasis:
    """Whitening transformation based on an explicit matrix P, for a singular T."""

    columns: np.ndarray

    @property
    def n_columns(self) -> int:
        """Number of whitened columns, which is the rank of the matrix T."""
        return self.columns.shape[1]

    def whiten(self, N: FloatArray) -> FloatArray:
        """Return ``N P``, the rows of N in whitened coordinates."""
        return N @ self.columns

    def lift(self, U: FloatArray) -> FloatArray:
        """Return ``P U``, the whitened directions U in the original coordinates."""
        return self.columns @ U


def whitening_basis(T: FloatArray) -> CholeskyBasis | ExplicitBasis:
    """Return a whitening transformation for the numerical range of T."""
    return cholesky_basis(T) or truncated_basis(T)


def cholesky_basis(T: FloatArray) -> CholeskyBasis | None:
    """Return a `CholeskyBasis` of T, or None if T is too ill-conditioned for it."""
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


def truncated_basis(T: FloatArray) -> ExplicitBasis:
    """Return a whitening transformation for the numerical range of a singular T."""
    scale = _positive_scale(np.sqrt(np.clip(np.diag(T), 0, None)))
    eigenvalues, V = linalg.eigh(T / scale[:, None] / scale, check_finite=False)
    kept = eigenvalues > RANGE_TOLERANCE * eigenvalues[-1]
    return _range_basis(V[:, kept], np.sqrt(eigenvalues[kept]), scale)


def row_basis(F: FloatArray) -> ExplicitBasis:
    """Return a whitening transformation for ``T = F'F`` without forming T.

    This avoids squaring the condition number.
    """
    scale = _positive_scale(np.linalg.norm(F, axis=0))
    _, singular, Vt = linalg.svd(F / scale, full_matrices=False, check_finite=False)
    kept = singular > np.sqrt(RANGE_TOLERANCE) * singular[0]
    return _range_basis(Vt[kept].T, singular[kept], scale)


def _positive_scale(scale):
    return np.where(scale > 0, scale, 1.0)


def _range_basis(V, singular, scale):
    """Return the whitening matrix ``D^-1 V S^-1``, projected onto the range of T."""
    inside = np.linalg.qr(V * scale[:, None])[0]
    P = (V / singular) / scale[:, None]
    return ExplicitBasis(inside @ (inside.T @ P))


@dataclass(frozen=True)
class Pencil:
    """Matrix pencil (Gamma, T) of a generalised eigenvalue problem, in factored form.

    Attributes
    ----------
    X : ndarray of shape (n, d)
    n_labeled : int
    omega : csr_array of shape (n_l, c)
    penalty : csr_array of shape (n, n) or None
    ridge : float
        Ridge that is added to the diagonal of T, in the units of T.
    root_weights : ndarray of shape (n_l,) or None
        Square roots of the weights by which the labelled rows were multiplied, or None if there are
        no weights.
    """

    X: np.ndarray
    n_labeled: int
    omega: sparse.csr_array
    penalty: sparse.csr_array | None = None
    ridge: float = 0.0
    root_weights: np.ndarray | None = None

    @property
    def X_labeled(self):
        """Labelled samples, as rows of X."""
        return self.X[: self.n_labeled]

    def with_relative_ridge(self, ridge: Any) -> "Pencil":
        """Return the pencil with a ridge relative to the mean of the diagonal of T."""
        return replace(self, ridge=ridge * self.mean_scatter() if ridge else 0.0)

    def mean_scatter(self) -> float:
        """Return the mean of the diagonal of the pencil's matrix T, without the ridge."""
        diagonal = np.einsum("ij,ij->j", self.X_labeled, self.X_labeled)
        if self.penalty is not None:
            diagonal += np.einsum("ij,ij->j", self.X, self.penalty @ self.X)
        return diagonal.mean()

    def slice_sums(self) -> FloatArray:
        """Return the slice sums N as a dense array."""
        return self.omega.T @ self.X_labeled

    def total(self) -> FloatArray:
        """Return the pencil's matrix T as a dense array."""
        return self.X_labeled.T @ self.X_labeled + self.roughness()

    def roughness(self) -> FloatArray:
        """Return the part of T that is due to penalty and ridge, ``T - X_l'X_l``."""
        R = np.zeros(2 * self.X.shape[1:])
        if self.penalty is not None:
            R += self.X.T @ (self.penalty @ self.X)
        R[np.diag_indices_from(R)] += self.ridge
        return R

    @cached_property
    def basis(self) -> CholeskyBasis | ExplicitBasis:
        """Basis in which T is the identity, as a whitening transformation."""
        basis = cholesky_basis(self.total())
        if basis is not None:
            return basis
        of_rows = row_basis(self._scatter_rows())
        if not self.ridge:
            return of_rows
        P = of_rows.columns
        ridged = whitening_basis(np.eye(P.shape[1]) + self.ridge * (P.T @ P))
        return ExplicitBasis(ridged.whiten(P))

    def _scatter_rows(self):
        """Return a matrix F with ``F'F = T - ridge I``.

        F has the labelled rows, followed by one row for each edge of the graph.
        """
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


def centred_membership(omega: sparse.csr_array, root_weights: FloatArray | None) -> FloatArray:
    """Return the slice membership matrix with centred columns.

    With weights, columns are made orthogonal to the square roots of the weights. Since X_l is
    centred, this does not change ``N = Omega'X_l``.
    """
    omega = omega.toarray()
    if root_weights is None:
        return omega - omega.mean(axis=0)
    null = root_weights / np.linalg.norm(root_weights)
    return omega - np.outer(null, null @ omega)


@dataclass(frozen=True)
class Spectrum:
    """Eigenvalues and leading directions of a pencil.

    Attributes
    ----------
    eigenvalues : ndarray of shape (p,)
        All eigenvalues computed by the solver, in decreasing order.
    directions : ndarray of shape (d, r), r <= p
        Leading eigenvectors b, one per column, scaled so that ``b'Tb = 1``.
    """

    eigenvalues: np.ndarray
    directions: np.ndarray
