"""Leading eigenpairs, of a matrix that is there or of a pencil known by its products.

For the pencil, a restarted block Krylov method:

=====================  ==========  ===========================================================
symbol                 shape       meaning
=====================  ==========  ===========================================================
N                      (c, d)      Gamma = N'N
T                      (d, d)      positive definite on the span searched
S                      (d, m)      basis of the space searched, orthonormal columns
W = T^-1 Gamma B       (d, p)      what one step of subspace iteration would put in B's place
=====================  ==========  ===========================================================

Every W enlarges S instead of replacing B, and a Rayleigh-Ritz step picks the best B in S: what
plain subspace iteration reaches in k^2 steps takes some k (Musco and Musco 2015).

All eigenvalues of a matrix and its first vectors come from one reduction to a tridiagonal matrix.
That is most of the cost of LAPACK's drivers, which give either all vectors or a range of values.
"""

from dataclasses import dataclass

import numpy as np
from scipy import linalg
from scipy.sparse.linalg import eigsh
from sklearn.exceptions import ConvergenceWarning

from .._checks import warn_user
from ._pencil import Spectrum

MAX_BLOCKS = 6  # blocks kept in the basis before it is restarted from its best two

# Order of a matrix above which Lanczos overtakes LAPACK's tridiagonal reduction
LANCZOS_MIN_SIZE = 1000
SMALL = 64  # order below which all vectors cost no more than a second call


def leading_eigenvectors(A, k, random_state=None):
    """Leading k eigenpairs of a symmetric A (q, q), falling: values (k,) and vectors (q, k).

    By LAPACK; or, for a large A and with a `random_state` to draw the start from, by restarted
    Lanczos (ARPACK) to a residual of 1e-10 relative to the eigenvalue.
    """
    if random_state is None or len(A) <= max(LANCZOS_MIN_SIZE, 20 * k):
        leading = (len(A) - k, len(A) - 1)
        eigenvalues, V = linalg.eigh(A, subset_by_index=leading, check_finite=False)
    else:
        start = random_state.standard_normal(len(A))
        eigenvalues, V = eigsh(A, k, which="LA", v0=start, tol=1e-10)
    return eigenvalues[::-1], V[:, ::-1]


@dataclass(frozen=True)
class _Basis:
    """S with the two products that a Rayleigh-Ritz step needs."""

    S: np.ndarray
    sums: np.ndarray
    totals: np.ndarray

    def combined(self, coefficients):
        return _Basis(*(part @ coefficients for part in (self.S, self.sums, self.totals)))

    def joined(self, other):
        pairs = (self.S, other.S), (self.sums, other.sums), (self.totals, other.totals)
        return _Basis(*map(np.hstack, pairs))

    def orthonormal(self):
        Q, R = np.linalg.qr(self.S)
        inverse = linalg.solve_triangular(R, np.eye(len(R)), check_finite=False)
        return _Basis(Q, self.sums @ inverse, self.totals @ inverse)

    def ritz(self, p):
        """Best p directions within S, with their eigenvalues."""
        between = self.sums.T @ self.sums
        total = self.S.T @ self.totals
        eigenvalues, vectors = linalg.eigh(between, (total + total.T) / 2, check_finite=False)
        return eigenvalues[::-1][:p], vectors[:, ::-1][:, :p]


def leading_eigenpairs(
    pencil, solve_total, n_wanted, *, random_state, n_oversamples=20, tol=1e-8, max_iter=100
):
    """Leading solutions of ``N'N b = lambda T b``.

    Parameters
    ----------
    pencil : Pencil
        Known by its products.
    solve_total : callable
        V (d, p) to T^-1 V.
    n_wanted : int
        Directions that must converge, and are returned; at most as many as N has rows.
    random_state : RandomState instance
    n_oversamples : int, default=20
        Directions iterated beside the wanted ones; their eigenvalues are returned, less accurate.
    tol : float, default=1e-8
        Largest T-norm of ``T^-1 Gamma b - lambda b`` among the wanted, relative to the first
        eigenvalue (b'Tb = 1). Divided by the relative gap below the wanted eigenvalues it bounds
        the sine of the error.
    max_iter : int, default=100

    Returns
    -------
    Spectrum

    Warns
    -----
    ConvergenceWarning
        At `max_iter`, with the residual reached.
    """
    n_sums = pencil.omega.shape[1]
    n_wanted = min(n_wanted, n_sums)
    p = min(n_sums, n_wanted + n_oversamples)
    start = np.eye(n_sums) if p == n_sums else random_state.standard_normal((n_sums, p))
    basis = _extend(pencil, None, solve_total(pencil.apply_slice_sums_transposed(start)))
    for _ in range(max_iter):
        eigenvalues, vectors = basis.ritz(p)
        best = basis.combined(vectors)
        if p == n_sums:
            break
        W = solve_total(pencil.apply_slice_sums_transposed(best.sums))
        residual = _residual(pencil, W - best.S * eigenvalues, n_wanted) / eigenvalues[0]
        if residual <= tol:
            break
        if basis.S.shape[1] > (MAX_BLOCKS - 1) * p:
            basis = basis.combined(basis.ritz(2 * p)[1]).orthonormal()
        basis = _extend(pencil, basis, W)
    else:
        warn_user(
            f"The eigensolver stopped at {max_iter} iterations with residual {residual:.1e}, above "
            f"its tolerance {tol:.1e}. Use solver='dense' or 'dual', or fewer n_components.",
            ConvergenceWarning,
        )
    return Spectrum(np.clip(eigenvalues, 0, None), best.S[:, :n_wanted])


def _extend(pencil, basis, W):
    """Basis enlarged by the part of W that it does not hold yet."""
    W = W / np.maximum(np.linalg.norm(W, axis=0), np.finfo(float).tiny)
    if basis is not None:
        for _ in range(2):
            W = W - basis.S @ (basis.S.T @ W)
    Q, R, _ = linalg.qr(W, mode="economic", pivoting=True, check_finite=False)
    fresh = Q[:, np.abs(np.diag(R)) > 1e-12]
    if basis is not None:
        fresh = np.linalg.qr(fresh - basis.S @ (basis.S.T @ fresh))[0]
    block = _Basis(fresh, pencil.apply_slice_sums(fresh), pencil.apply_total(fresh))
    return block if basis is None else basis.joined(block)


def _residual(pencil, R, n_wanted):
    R = R[:, :n_wanted]
    squared = np.einsum("ij,ij->j", R, pencil.apply_total(R))
    return np.sqrt(np.clip(squared, 0, None).max())


def eigenvalues_and_leading_vectors(A, k):
    """Eigenvalues (q,) of a symmetric A (q, q), falling, and the vectors (q, k) of the largest."""
    k = min(k, len(A))
    if len(A) < SMALL or 4 * k > len(A):
        eigenvalues, V = linalg.eigh(A, driver="evd", check_finite=False)
        return eigenvalues[::-1], V[:, ::-1][:, :k]
    reflectors, diagonal, beside, scales = _tridiagonal(A)
    eigenvalues = linalg.eigvalsh_tridiagonal(diagonal, beside, check_finite=False)
    leading = (len(A) - k, len(A) - 1)
    S = linalg.eigh_tridiagonal(
        diagonal, beside, select="i", select_range=leading, check_finite=False
    )[1]
    # the reflectors leave the first coordinate alone
    rest, _, _ = linalg.lapack.dormqr("L", "N", reflectors[1:, :-1], scales, S[1:], lwork=SMALL * k)
    return eigenvalues[::-1], np.concatenate([S[:1], rest])[:, ::-1]


def _tridiagonal(A):
    """Householder reflectors, diagonal, off-diagonal and the reflectors' scales."""
    lwork = int(linalg.lapack.dsytrd_lwork(len(A), lower=1)[0])
    return linalg.lapack.dsytrd(A, lower=1, lwork=lwork)[:4]


def conjugate_gradients(apply, B, *, diagonal, tol=1e-10, max_iter=1000):
    """Solve ``T X = B`` column by column, in step, with a diagonal preconditioner.

    Parameters
    ----------
    apply : callable
        V (d, p) to T V; T symmetric, positive semi-definite.
    B : ndarray of shape (d, p)
        In the range of T.
    diagonal : ndarray of shape (d,)
        Diagonal of T; where it is zero, so is the solution.
    tol : float, default=1e-10
        Largest residual relative to the column of B, both in the preconditioner's norm.
    max_iter : int, default=1000

    Returns
    -------
    X : ndarray of shape (d, p)

    Warns
    -----
    ConvergenceWarning
        At `max_iter`, with the residual reached.
    """
    inverse = np.divide(1.0, diagonal, out=np.zeros_like(diagonal), where=diagonal > 0)[:, None]
    X, R = np.zeros_like(B), B.copy()
    Z = inverse * R
    direction, rho = Z, _dots(R, Z)
    target = tol**2 * rho
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
    reached = np.sqrt(_ratio(rho, target).max()) * tol
    warn_user(
        f"Conjugate gradients stopped at {max_iter} iterations with relative residual "
        f"{reached:.1e}, above {tol:.1e}. Raise ridge, or use solver='dense' or 'dual'.",
        ConvergenceWarning,
    )
    return X


def _dots(A, B):
    return np.einsum("ij,ij->j", A, B)


def _ratio(numerator, denominator):
    return np.divide(numerator, denominator, out=np.zeros_like(numerator), where=denominator > 0)
