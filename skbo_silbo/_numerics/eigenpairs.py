"""Leading eigenpairs of a pencil given by matrix products.

A randomised range finder (Halko, Martinsson and Tropp 2011) multiplies a Gaussian block by
``T^-1 Gamma``, and a Rayleigh-Ritz step extracts the leading directions. A block Krylov iteration
improves them until they have converged:

=====================  ==========  ===========================================================
symbol                 shape       meaning
=====================  ==========  ===========================================================
Gamma, T               (d, d)      symmetric; T positive definite on the span searched
S                      (d, m)      basis of the space searched, orthonormal columns
W = T^-1 Gamma B       (d, p)      one step of subspace iteration from B
=====================  ==========  ===========================================================

Every W enlarges S instead of replacing B, and a Rayleigh-Ritz step picks the best B in S. This
needs about k steps where subspace iteration needs k^2 (Musco and Musco 2015).
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import linalg
from sklearn.exceptions import ConvergenceWarning

from skbo_silbo._checks import warn_user
from skbo_silbo._numerics.pencil import Spectrum

MAX_BLOCKS = 6  # largest number of blocks in the basis; it is then restarted from the best two
GRADIENTS_TOL = 1e-10  # relative residual at which `conjugate_gradients` stops


@dataclass(frozen=True, eq=False)
class Products:
    """Matrix pencil (Gamma, T) that is only accessed through products with matrices."""

    between: Callable[[np.ndarray], np.ndarray]  # Gamma V
    total: Callable[[np.ndarray], np.ndarray] = np.asarray  # T V
    solve_total: Callable[[np.ndarray], np.ndarray] = np.asarray  # T^-1 V


@dataclass(frozen=True, eq=False)
class _Basis:
    """Basis of a subspace, with its products with Gamma and T, for Rayleigh-Ritz steps."""

    S: np.ndarray
    between: np.ndarray
    total: np.ndarray

    def combined(self, coefficients):
        return _Basis(*(part @ coefficients for part in (self.S, self.between, self.total)))

    def joined(self, other):
        pairs = (self.S, other.S), (self.between, other.between), (self.total, other.total)
        return _Basis(*map(np.hstack, pairs))

    def orthonormal(self):
        Q, R = np.linalg.qr(self.S)
        inverse = linalg.solve_triangular(R, np.eye(len(R)), check_finite=False)
        return _Basis(Q, self.between @ inverse, self.total @ inverse)

    def ritz(self, p):
        """Return the p largest Ritz values in the subspace, and their coefficients."""
        between, total = self.S.T @ self.between, self.S.T @ self.total
        eigenvalues, vectors = linalg.eigh(
            (between + between.T) / 2, (total + total.T) / 2, check_finite=False
        )
        return eigenvalues[::-1][:p], vectors[:, ::-1][:, :p]


def leading_eigenpairs(products, start, n_wanted, *, is_complete=False, tol=1e-8, max_iter=100):
    """Compute the leading solutions of ``Gamma b = lambda T b``.

    Parameters
    ----------
    products : Products
    start : ndarray of shape (d, p)
        Initial basis: ``T^-1 Gamma`` times a random block of p columns, where p is larger than
        `n_wanted`.
    n_wanted : int
        Number of leading directions to return. The iteration ends when all of them have converged.
    is_complete : bool, default=False
        Whether the columns of `start` already span the range of ``T^-1 Gamma``, so that no
        iteration is needed.
    tol : float, default=1e-8
        Convergence tolerance: the largest T-norm of the residual ``T^-1 Gamma b - lambda b`` among
        the wanted directions, relative to the first eigenvalue (with b'Tb = 1). The sine of the
        error is at most this tolerance divided by the relative gap below the wanted eigenvalues.
    max_iter : int, default=100

    Returns
    -------
    Spectrum
        The p leading eigenvalues, of which the first `n_wanted` are the most accurate, and the
        wanted directions.

    Warns
    -----
    ConvergenceWarning
        If the residual is too large after `max_iter` iterations.
    """
    p, basis = start.shape[1], _extend(products, None, start)
    for _ in range(max_iter):
        eigenvalues, vectors = basis.ritz(p)
        best = basis.combined(vectors)
        if is_complete:
            break
        W = products.solve_total(best.between)
        residual = _residual(products, W - best.S * eigenvalues, n_wanted) / eigenvalues[0]
        if residual <= tol:
            break
        if basis.S.shape[1] > (MAX_BLOCKS - 1) * p:
            basis = basis.combined(basis.ritz(2 * p)[1]).orthonormal()
        basis = _extend(products, basis, W)
    else:
        warn_user(
            f"The eigensolver stopped at {max_iter} iterations with residual {residual:.1e}, above "
            f"its tolerance {tol:.1e}. Use solver='dense' or 'dual', or fewer n_components.",
            ConvergenceWarning,
        )
    return Spectrum(np.clip(eigenvalues, 0, None), best.S[:, :n_wanted])


def _extend(products, basis, W):
    """Extend a basis by the part of W that is orthogonal to it."""
    W = W / np.maximum(np.linalg.norm(W, axis=0), np.finfo(float).tiny)
    if basis is not None:
        for _ in range(2):
            W = W - basis.S @ (basis.S.T @ W)
    Q, R, _ = linalg.qr(W, mode="economic", pivoting=True, check_finite=False)
    fresh = Q[:, np.abs(np.diag(R)) > 1e-12]
    if basis is not None:
        fresh = np.linalg.qr(fresh - basis.S @ (basis.S.T @ fresh))[0]
    block = _Basis(fresh, products.between(fresh), products.total(fresh))
    return block if basis is None else basis.joined(block)


def _residual(products, R, n_wanted):
    R = R[:, :n_wanted]
    squared = np.einsum("ij,ij->j", R, products.total(R))
    return np.sqrt(np.clip(squared, 0, None).max())


def conjugate_gradients(apply, B, *, diagonal, max_iter=1000):
    """Solve ``T X = B`` for all columns of B at once by preconditioned conjugate gradients.

    Parameters
    ----------
    apply : callable
        Function that maps V of shape (d, p) to T V, where T is symmetric and positive
        semi-definite.
    B : ndarray of shape (d, p)
        Right-hand sides of the linear systems, one per column. They must lie in the range of T.
    diagonal : ndarray of shape (d,)
        Diagonal of T, used as preconditioner. The solution is zero wherever the diagonal is zero.
    max_iter : int, default=1000

    Returns
    -------
    X : ndarray of shape (d, p)

    Warns
    -----
    ConvergenceWarning
        If the residual of a column, relative to the same column of B in the norm of the
        preconditioner, is above `GRADIENTS_TOL` after `max_iter` iterations.
    """
    inverse = np.divide(1.0, diagonal, out=np.zeros_like(diagonal), where=diagonal > 0)[:, None]
    X, R = np.zeros_like(B), B.copy()
    Z = inverse * R
    direction, rho = Z, _dots(R, Z)
    target = GRADIENTS_TOL**2 * rho
    for _ in range(max_iter):
        if (rho <= target).all():
            return X
        image = apply(direction)
        step = _ratio(rho, _dots(direction, image))
        X += step * direction
        R -= step * image
        Z = inverse * R
        rho, previous = _dots(R, Z), rho
        direction = Z + _ratio(rho, previous) * direction
    reached = np.sqrt(_ratio(rho, target).max()) * GRADIENTS_TOL
    warn_user(
        f"Conjugate gradients stopped at {max_iter} iterations with relative residual "
        f"{reached:.1e}, above {GRADIENTS_TOL:.1e}. Raise ridge, or use solver='dense' or 'dual'.",
        ConvergenceWarning,
    )
    return X


def _dots(A, B):
    return np.einsum("ij,ij->j", A, B)


def _ratio(numerator, denominator):
    return np.divide(numerator, denominator, out=np.zeros_like(numerator), where=denominator > 0)
