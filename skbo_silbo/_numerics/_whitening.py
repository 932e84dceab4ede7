"""Bases in which a positive semi-definite T becomes the identity."""

from dataclasses import dataclass

import numpy as np
from scipy import linalg

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
