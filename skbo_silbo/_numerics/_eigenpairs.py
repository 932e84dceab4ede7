"""Leading eigenpairs, of a matrix that is there or of a pencil known by its products.

For the pencil, without T (d, d) or anything of its size:

=====================  ==========  ===========================================================
symbol                 shape       meaning
=====================  ==========  ===========================================================
N                      (c, d)      Gamma = N'N
T                      (d, d)      positive definite on the span of N'
M = N T^-1 N'          (c, c)      ``M u = lambda u`` gives ``b = T^-1 N'u`` over root lambda
=====================  ==========  ===========================================================

All eigenvalues of a matrix and its first vectors come from one reduction to a tridiagonal matrix.
That is most of the cost of LAPACK's drivers, which give either all vectors or a range of values.
"""

import numpy as np
from scipy import linalg
from scipy.sparse.linalg import LinearOperator, eigsh
from sklearn.exceptions import ConvergenceWarning

from .._checks import warn_user
from ._pencil import Spectrum

FEW_SUMS = 20  # slice sums, beside the directions wanted, up to which M is formed
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


def leading_eigenpairs(pencil, solve_total, n_wanted, *, random_state):
    """Leading solutions of ``N'N b = lambda T b``; ``solve_total(V)`` is T^-1 V for V (d, p).

    Of few slice sums M is formed, and all its eigenvalues are known. Of many, Lanczos iteration
    (ARPACK) multiplies by it, to a residual of 1e-8 relative to the eigenvalue.
    """

    def directions_of(U):
        return solve_total(pencil.apply_slice_sums_transposed(U))

    def times_M(u):
        return pencil.apply_slice_sums(directions_of(u.reshape(-1, 1))).ravel()

    n_sums = pencil.omega.shape[1]
    if n_sums <= n_wanted + FEW_SUMS:
        every = directions_of(np.eye(n_sums))
        M = pencil.apply_slice_sums(every)
        eigenvalues, U = linalg.eigh((M + M.T) / 2, check_finite=False)
        B = every @ U[:, ::-1][:, :n_wanted]
    else:
        M = LinearOperator((n_sums, n_sums), times_M, dtype=np.float64)
        start = random_state.standard_normal(n_sums)
        eigenvalues, U = eigsh(M, n_wanted, which="LA", v0=start, tol=1e-8)
        B = directions_of(U[:, ::-1])
    eigenvalues = np.clip(eigenvalues[::-1][: pencil.X.shape[1]], 0, None)
    least = np.finfo(np.float64).tiny
    return Spectrum(eigenvalues, B / np.sqrt(np.maximum(eigenvalues[: B.shape[1]], least)))


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
