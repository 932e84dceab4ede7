"""Solvers of the pencil ``Gamma b = lambda T b``.

==============  ======================================  ==================================
solver          cost (plus that of T^-1's products)     memory beyond X
==============  ======================================  ==================================
dense           n d^2 + d^3                             d^2
dual            n^2 d + n^3                             n^2
randomized      as dense or dual, less the whitening    d^2 or n^2
                of c sums and most of d^3 or n^3
==============  ======================================  ==================================

Each is a function of ``(pencil, n_wanted, random_state)`` that returns the first `n_wanted`
directions. The exact solvers return all eigenvalues, "randomized" the leading ones. The smaller of
T and X X' is never larger than X.
"""

from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np
from scipy import linalg
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from skbo_silbo._checks import warn_user
from skbo_silbo._numerics.pencil import (
    POOR_CONDITION,
    CholeskyBasis,
    Pencil,
    Spectrum,
    centred_membership,
    cholesky_basis,
    whitening_basis,
)
from skbo_silbo._typing import FloatArray, RandomState

# Measured by `python doc/benchmarks run solvers`, see doc/benchmarks/sdr.rst.
# Order min(c, d) from which "auto" uses the randomised solver. Below it the exact solver takes at
# most twice as long (some milliseconds), and returns all eigenvalues.
RANDOMIZED_MIN_ORDER = 1000
# The same with more features than rows, a ridge and no graph
RANDOMIZED_MIN_ORDER_WIDE = 500
# Relative ridge, over the number of features, above which a wide T has a Cholesky factor. Without
# one, the dense solver decomposes the rows, at ten times the cost of the dual solver. The largest
# eigenvalue of T is at most ``d`` times their mean, so this is 30 `POOR_CONDITION`.
DENSE_LEAST_RIDGE = 3e-7
RANGE_OF_GRAM = 1e-12  # eigenvalues of X X' below this share of the largest count as zero
# Eigenvalues of X X' below this share have too few digits: the SVD of the rows is used instead
COARSE_GRAM = 1e-9
UNEVEN_SQUARES = 1e-8  # squared column norms below this share of the largest lose digits in X X'
LIGHT_RIDGE = 1e-6  # a ridge above this share of the largest squared norm exceeds rounding in X X'
# Largest number of features for which T is formed if columns have uneven scales.
UNEVEN_MAX_FEATURES = 8000

SMALL = 64  # order below which it is as fast to compute all eigenvectors
TOLERANCE = 1e-10  # relative residual at which the randomised solver stops
# Eigenvalues of Omega'K(K + ridge I)^-1 Omega below this are too inaccurate.
LEAST_EIGENVALUE = 1e-8


def choose_solver(pencil: Pencil, *, relative_ridge: float, counted: bool) -> str:
    """Return the name of the fastest eigenvalue solver.

    "randomized" is only returned if `counted` is True, that is, if the user set the number of
    directions.
    """
    n, d = pencil.X.shape
    if counted and _leading_are_faster(pencil):
        return "randomized"
    if d <= n:
        return "dense"
    with_graph = pencil.penalty is not None and d <= 2 * n
    return "dense" if with_graph and relative_ridge > DENSE_LEAST_RIDGE * d else "dual"


def _leading_are_faster(pencil):
    """Return whether the randomised solver is substantially faster than the exact one."""
    n, d = pencil.X.shape
    order = min(pencil.omega.shape[1], d)
    if d <= n:
        return order >= RANDOMIZED_MIN_ORDER
    # otherwise both decompose the rows, which is most of the cost
    needs_no_decomposition = pencil.penalty is None and pencil.ridge > 0
    return needs_no_decomposition and order >= RANDOMIZED_MIN_ORDER_WIDE


def solve_dense(pencil: Pencil, n_wanted: int, random_state: Any = None) -> Spectrum:
    """Compute all directions exactly from T, or from the rows if T is ill-conditioned."""
    return solve_moments(pencil.slice_sums(), pencil.basis, n_wanted)


def solve_dual(pencil: Pencil, n_wanted: int, random_state: RandomState = None) -> Spectrum:
    """Compute all directions exactly from the Gram matrix of the rows."""
    return solve_rows(pencil, n_wanted)


def solve_randomized(pencil: Pencil, n_wanted: int, random_state: RandomState = None) -> Spectrum:
    """Compute leading directions by ARPACK, from a random start and to a residual of 1e-10."""
    random_state = check_random_state(random_state)
    if pencil.X.shape[1] > len(pencil.X):
        return solve_rows(pencil, n_wanted, random_state)
    return solve_moments(pencil.slice_sums(), pencil.basis, n_wanted, random_state)


PENCIL_SOLVERS = MappingProxyType(
    dict(dense=solve_dense, dual=solve_dual, randomized=solve_randomized)
)


def solve_rows(pencil, n_wanted, random_state=None):
    """Compute the directions in the span of the rows."""
    if has_uneven_columns(pencil):
        d = pencil.X.shape[1]
        if d > UNEVEN_MAX_FEATURES:
            raise ValueError(
                f"X must have columns of similar scale with {d} features, got norms that differ by "
                "a factor of more than 10,000. Standardise the columns, or raise ridge."
            )
        return solve_dense(pencil, n_wanted)  # T keeps their digits
    few = random_state is not None or 2 * pencil.omega.shape[1] <= pencil.n_labeled
    if few and pencil.penalty is None and pencil.ridge:
        spectrum = solve_ridged_rows(pencil, n_wanted, random_state)
        if spectrum is not None:
            return spectrum
    reduced, lift = reduce_to_rows(pencil)
    basis = whitening_basis(reduced.total())
    spectrum = solve_moments(reduced.slice_sums(), basis, n_wanted, random_state)
    return Spectrum(spectrum.eigenvalues, lift(spectrum.directions))


def has_uneven_columns(pencil: Pencil) -> bool:
    """Return whether columns of small scale would be lost to rounding errors.

    Columns that the ridge outweighs do not count.
    """
    squares = np.einsum("ij,ij->j", pencil.X, pencil.X)
    largest, least = squares.max(), squares[squares > 0].min(initial=np.inf)
    return least < UNEVEN_SQUARES * largest and pencil.ridge < LIGHT_RIDGE * largest


def solve_moments(N, basis, n_wanted, random_state=None):
    """Compute directions from the slice sums N and a whitening transformation P of T.

    The eigenvalues are the squared singular values of N P. The directions are its right singular
    vectors, multiplied by P. With a `random_state`, only leading directions are computed, by
    products with P and N'N. This saves the c d^2 operations for whitening N. It loses digits in
    proportion to the condition number of T, which `cholesky_basis` limits.
    """
    if random_state is not None and _are_few(n_wanted, min(len(N), basis.n_columns)):
        gamma = N.T @ N if len(N) > N.shape[1] else None

        def between(V):
            lifted = basis.lift(V)
            image = N.T @ (N @ lifted) if gamma is None else gamma @ lifted
            return basis.whiten(image.T).T

        eigenvalues, V = leading_eigenpairs(between, basis.n_columns, n_wanted, random_state)
        return Spectrum(eigenvalues, basis.lift(V))
    whitened = basis.whiten(N)
    if len(whitened) > whitened.shape[1]:
        eigenvalues, V = eigenvalues_and_leading_vectors(whitened.T @ whitened, n_wanted)
        eigenvalues = np.clip(eigenvalues, 0, None)
    else:
        _, singular, Vt = np.linalg.svd(whitened, full_matrices=False)
        eigenvalues, V = singular**2, Vt.T
    return Spectrum(eigenvalues, basis.lift(V[:, :n_wanted]))


def solve_within_slices(pencil: Pencil, n_wanted: int) -> Spectrum:
    """Compute directions exactly from the scatter matrix within slices.

    ``Gamma b = theta W b`` has the same directions, with ``lambda = theta / (1 + theta)``. With a
    small ridge, several lambda differ from 1 by little more than rounding errors, while their theta
    are well separated. W is factored by a QR decomposition of rows, because forming the matrix
    would lose a small ridge. If W is singular, T is used.
    """
    sums = pencil.slice_sums()
    basis = _within_basis(pencil, sums)
    if basis is None:
        return solve_moments(sums, pencil.basis, n_wanted)
    spectrum = solve_moments(sums, basis, n_wanted)
    theta = spectrum.eigenvalues
    scale = np.sqrt(1 + theta[: spectrum.directions.shape[1]])
    return Spectrum(theta / (1 + theta), spectrum.directions / scale)


def _within_basis(pencil, sums):
    """Return the Cholesky basis of the scatter within slices, or None if it is singular."""
    root, info = linalg.lapack.dpotrf(pencil.roughness(), clean=True)
    if info != 0:
        return None
    within = pencil.X_labeled - pencil.omega @ sums
    rows = np.concatenate([within, root])
    R = linalg.qr(rows, mode="r", overwrite_a=True, check_finite=False)[0][: len(root)]
    reciprocal_condition, _ = linalg.lapack.dtrcon(R)
    return CholeskyBasis(R.T, np.ones(len(R))) if reciprocal_condition > POOR_CONDITION else None


def _are_few(k, order):
    """Return whether computing only k eigenvectors of a matrix is faster than computing all."""
    return order >= SMALL and 4 * k <= order


def leading_eigenpairs(between, order, k, random_state):
    """Return the k leading eigenvalues and eigenvectors of a symmetric matrix.

    Parameters
    ----------
    between : callable
        Function that maps V of shape (order, p) to its product with the matrix.
    order, k : int
    random_state : RandomState instance

    Returns
    -------
    eigenvalues : ndarray of shape (k,)
    V : ndarray of shape (order, k)

    Warns
    -----
    ConvergenceWarning
        If ARPACK fails. All eigenvectors are then computed.
    """
    start = random_state.standard_normal(order)
    matrix = LinearOperator((order, order), lambda v: between(v.reshape(-1, 1)), dtype=np.float64)
    try:
        eigenvalues, V = eigsh(matrix, k, v0=start, tol=TOLERANCE)
    except ArpackError as error:
        warn_user(
            f"The eigensolver failed, so all eigenvectors are computed ({error}) Use "
            "solver='dense' or 'dual'.",
            ConvergenceWarning,
        )
        eigenvalues, V = eigenvalues_and_leading_vectors(between(np.eye(order)), k)
        return eigenvalues[:k], V
    return eigenvalues[::-1], V[:, ::-1]


def eigenvalues_and_leading_vectors(A: FloatArray, k: int) -> tuple[FloatArray, FloatArray]:
    """Return all eigenvalues and the leading eigenvectors of a symmetric matrix.

    A has shape (q, q), and the k leading eigenvectors shape (q, k). Both come from one reduction to
    tridiagonal form, which dominates the cost. LAPACK's drivers compute either all vectors or a
    range of values only.
    """
    k = min(k, len(A))
    if not _are_few(k, len(A)):
        eigenvalues, V = linalg.eigh(A, driver="evd", check_finite=False)
        return eigenvalues[::-1], V[:, ::-1][:, :k]
    lwork = int(linalg.lapack.dsytrd_lwork(len(A), lower=1)[0])
    reflectors, diagonal, beside, scales, _ = linalg.lapack.dsytrd(A, lower=1, lwork=lwork)
    eigenvalues = linalg.eigvalsh_tridiagonal(diagonal, beside, check_finite=False)
    leading = (len(A) - k, len(A) - 1)
    S = linalg.eigh_tridiagonal(
        diagonal, beside, select="i", select_range=leading, check_finite=False
    )[1]
    # the reflectors do not change the first coordinate
    rest, _, _ = linalg.lapack.dormqr("L", "N", reflectors[1:, :-1], scales, S[1:], lwork=SMALL * k)
    return eigenvalues[::-1], np.concatenate([S[:1], rest])[:, ::-1]


def whitened_rows(pencil: Pencil) -> FloatArray:
    """Return the labelled rows in whitened coordinates, ``X_l P``."""
    if pencil.X.shape[1] <= len(pencil.X):
        return pencil.basis.whiten(pencil.X_labeled)
    reduced, _ = reduce_to_rows(pencil)
    return whitening_basis(reduced.total()).whiten(reduced.X_labeled)


def solve_ridged_rows(pencil, n_wanted, random_state=None):
    """Compute directions of a problem with a ridge from the Gram matrix of the rows.

    ``T^-1 X_l' = X_l' (K + ridge I)^-1`` needs one Cholesky factor. Omega is centred like X_l,
    because the null vector of K would only be divided by the ridge. None is returned if the factor
    is ill-conditioned, or if a wanted direction has an eigenvalue of 0. With a `random_state`, only
    leading eigenvalues are returned.
    """
    X, n_wanted = pencil.X_labeled, min(n_wanted, pencil.omega.shape[1] - 1)
    K = X @ X.T
    ridged = K.copy()
    ridged[np.diag_indices_from(ridged)] += pencil.ridge
    basis = cholesky_basis(ridged)
    if basis is None:
        return None
    omega = centred_membership(pencil.omega, pencil.root_weights)

    def solve(V):  # (K + ridge I)^-1 V
        return basis.lift(basis.whiten(V.T).T)

    if random_state is None or not _are_few(n_wanted, omega.shape[1]):
        solved = solve(omega)
        M = omega.T @ (K @ solved)
        eigenvalues, V = eigenvalues_and_leading_vectors((M + M.T) / 2, n_wanted)
        solved = solved @ V
    else:

        def between(U):
            return omega.T @ (K @ solve(omega @ U))

        eigenvalues, V = leading_eigenpairs(between, omega.shape[1], n_wanted, random_state)
        solved = solve(omega @ V)
    wanted = eigenvalues[:n_wanted]
    if wanted[-1] <= LEAST_EIGENVALUE:
        return None
    directions = ((solved / np.sqrt(wanted)).T @ X).T  # reads X row by row
    return Spectrum(np.clip(eigenvalues, 0, None), directions)


def reduce_to_rows(pencil):
    """Restrict an eigenvalue problem to the span of its rows.

    Directions of the original pencil are ``b = Q b_red``. Q is orthonormal and never formed. The
    other factors of ``X = left diag(singular) Q'`` come from the Gram matrix of the rows, or from
    the SVD of the rows if that has too few digits.
    """
    X = pencil.X
    squares, left = linalg.eigh(X @ X.T, check_finite=False)
    kept = squares > RANGE_OF_GRAM * squares[-1]
    singular = np.sqrt(squares[kept])
    if squares[kept][0] < COARSE_GRAM * squares[-1]:
        left, singular, _ = linalg.svd(X, full_matrices=False, check_finite=False)
        kept = singular > np.sqrt(RANGE_OF_GRAM) * singular[0]
        singular = singular[kept]
    left = left[:, kept]

    def lift(V):
        return (((left / singular) @ V).T @ X).T  # reads X row by row

    return replace(pencil, X=left * singular), lift
