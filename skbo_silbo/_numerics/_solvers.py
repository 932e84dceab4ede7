"""Solvers of the pencil ``Gamma b = lambda T b``: what is formed, and what it costs.

==============  ======================================  ==================================
solver          cost (plus that of T^-1's products)     memory beyond X
==============  ======================================  ==================================
dense           n d^2 + d^3                             d^2
dual            n^2 d + n^3                             n^2
iterative       iterations (n d + nnz(P)) p             d p
randomized      as dense or dual, c d^2 becomes         d^2 or n^2
                iterations (n d + d^2) p
==============  ======================================  ==================================

Each is a frozen record with one method, ``solve(pencil, n_wanted)``: the exact ones return all
eigenvalues, the others the leading ones; all return the first n_wanted directions.
"""

from dataclasses import dataclass

import numpy as np
from scipy import linalg
from sklearn.utils import check_random_state

from ._conjugate_gradients import conjugate_gradients
from ._krylov import Operators, leading_eigenpairs
from ._pencil import Pencil, Spectrum
from ._whitening import ExplicitBasis, cholesky_basis, row_basis, whitening_basis

RANGE_OF_GRAM = 1e-12
"""Eigenvalues of X X' below this share of the largest are taken as zero."""
COARSE_GRAM = 1e-9
"""Kept eigenvalues of X X' below this share carry too few digits: the rows' SVD serves instead."""

LEAST_EIGENVALUE = 1e-8
"""An eigenvalue of Omega'K(K + ridge I)^-1 Omega below this carries too few digits."""


@dataclass(frozen=True)
class DenseSolver:
    """T and its Cholesky factor, d x d; the SVD of the rows where T is ill-conditioned."""

    def solve(self, pencil, n_wanted):
        """Exact directions."""
        return solve_moments(pencil.slice_sums(), primal_basis(pencil), n_wanted)


@dataclass(frozen=True)
class DualSolver:
    """The pencil within the rows' span, from the Gram matrix X X' (n x n)."""

    def solve(self, pencil, n_wanted):
        """Exact directions."""
        if pencil.penalty is None and pencil.ridge:
            spectrum = solve_ridged_rows(pencil, n_wanted)
            if spectrum is not None:
                return spectrum
        reduced = reduce_to_rows(pencil)
        spectrum = solve_moments(reduced.slice_sums(), reduced.whitening(), n_wanted)
        return Spectrum(spectrum.eigenvalues, reduced.lift(spectrum.directions))


@dataclass(frozen=True)
class IterativeSolver:
    """Conjugate gradients on products with X: neither d x d nor n x n is formed."""

    random_state: object = None

    def solve(self, pencil, n_wanted):
        """Leading directions; exact to the tolerance of conjugate gradients for plain slices."""
        diagonal = pencil.total_diagonal()
        operators = Operators(
            pencil.apply_slice_sums,
            pencil.apply_slice_sums_transposed,
            pencil.apply_total,
            lambda V: conjugate_gradients(pencil.apply_total, V, diagonal=diagonal),
        )
        return _leading(operators, pencil.omega.shape[1], n_wanted, self.random_state)


@dataclass(frozen=True)
class RandomizedSolver:
    """Block Krylov iteration from a random start, in the basis that whitens T."""

    random_state: object = None

    def solve(self, pencil, n_wanted):
        """Leading directions."""
        if pencil.X.shape[1] > len(pencil.X):
            reduced = reduce_to_rows(pencil)
            basis, lift_rows = reduced.whitening(), reduced.lift
            rows = reduced.scores[: pencil.n_labeled]
        else:
            basis, rows = primal_basis(pencil), pencil.X_labeled
            lift_rows = _unchanged
        operators = Operators(
            lambda V: pencil.omega.T @ (rows @ basis.lift(V)),
            lambda U: basis.whiten((rows.T @ (pencil.omega @ U)).T).T,
            _unchanged,
            _unchanged,
        )
        whitened = _leading(operators, pencil.omega.shape[1], n_wanted, self.random_state)
        return Spectrum(whitened.eigenvalues, lift_rows(basis.lift(whitened.directions)))


def solve_moments(N, basis, n_wanted):
    """Exact directions from the slice sums N (c, d) and a basis that whitens T.

    The squared singular values of N P are the eigenvalues; its right singular vectors, lifted by
    P, the directions.
    """
    whitened = basis.whiten(N)
    if len(whitened) > whitened.shape[1]:
        eigenvalues, V = linalg.eigh(whitened.T @ whitened, check_finite=False)
        eigenvalues, V = np.clip(eigenvalues[::-1], 0, None), V[:, ::-1]
    else:
        _, singular, Vt = linalg.svd(whitened, full_matrices=False, check_finite=False)
        eigenvalues, V = singular**2, Vt.T
    return Spectrum(eigenvalues, basis.lift(V[:, :n_wanted]))


def primal_basis(pencil):
    """Whitening of T (d, d): Cholesky where T allows it, else from the rows, truncated."""
    basis = cholesky_basis(pencil.total())
    if basis is not None:
        return basis
    basis = row_basis(_scatter_rows(pencil))
    if not pencil.ridge:
        return basis
    P = basis.columns
    ridged = whitening_basis(np.eye(P.shape[1]) + pencil.ridge * (P.T @ P))
    return ExplicitBasis(ridged.whiten(P))


def _scatter_rows(pencil):
    """F with ``F'F = T - ridge I``: labelled rows, and a row for every edge of the graph."""
    if pencil.penalty is None:
        return pencil.X_labeled
    edges = pencil.penalty.tocoo()
    upper = edges.row < edges.col
    weights = np.sqrt(-edges.data[upper])[:, None]
    differences = pencil.X[edges.row[upper]] - pencil.X[edges.col[upper]]
    return np.concatenate([pencil.X_labeled, weights * differences])


def solve_ridged_rows(pencil, n_wanted):
    """Exact directions for ``T = X_l'X_l + ridge I`` from K = X_l X_l' (n_l, n_l), or None.

    ``T^-1 X_l' = X_l' (K + ridge I)^-1``: one Cholesky factor serves. Omega may be centred as X_l
    is; K's null vector would be divided by the ridge alone. None where localised slices leave
    too many columns, the factor is ill-conditioned, or a direction wanted has no eigenvalue.
    """
    X, n_wanted = pencil.X_labeled, min(n_wanted, pencil.omega.shape[1] - 1)
    if pencil.omega.shape[1] > len(X) // 2:
        return None
    K = X @ X.T
    basis = cholesky_basis(K + pencil.ridge * np.eye(len(K)))
    if basis is None:
        return None
    omega = pencil.omega.toarray()
    omega -= omega.mean(axis=0)
    solved = basis.lift(basis.whiten(omega.T).T)
    M = omega.T @ (K @ solved)
    eigenvalues, V = linalg.eigh((M + M.T) / 2, check_finite=False)
    eigenvalues, V = np.clip(eigenvalues[::-1], 0, None), V[:, ::-1][:, :n_wanted]
    if eigenvalues[n_wanted - 1] <= LEAST_EIGENVALUE:
        return None
    scaled = solved @ (V / np.sqrt(eigenvalues[:n_wanted]))
    return Spectrum(eigenvalues, combine_rows(X, scaled))


def combine_rows(X, A):
    """``X'A`` (d, p), in the order of a product that reads X row by row: twice as fast."""
    return (A.T @ X).T


@dataclass(frozen=True)
class ReducedPencil:
    """A pencil within the span of its rows: b = Q b_red, Q (d, q) orthonormal, never formed.

    Attributes
    ----------
    pencil : Pencil
    left : ndarray of shape (n, q)
    singular : ndarray of shape (q,)
        ``X = left diag(singular) Q'``.
    """

    pencil: Pencil
    left: np.ndarray
    singular: np.ndarray

    @property
    def scores(self):
        """``X Q`` (n, q)."""
        return self.left * self.singular

    def slice_sums(self):
        """``N Q`` (c, q)."""
        return self.pencil.omega.T @ self.scores[: self.pencil.n_labeled]

    def whitening(self):
        """Whitening basis of ``Q'TQ`` (q, q)."""
        T = self.pencil.row_metric(self.scores)
        T[np.diag_indices_from(T)] += self.pencil.ridge
        return whitening_basis(T)

    def lift(self, V):
        """``Q V`` (d, p)."""
        return combine_rows(self.pencil.X, (self.left / self.singular) @ V)


def reduce_to_rows(pencil):
    """`ReducedPencil`, from the Gram matrix of the rows, or their SVD where that is too coarse."""
    X = pencil.X
    squares, left = linalg.eigh(X @ X.T, check_finite=False)
    kept = squares > RANGE_OF_GRAM * squares[-1]
    if squares[kept][0] < COARSE_GRAM * squares[-1]:
        left, singular, _ = linalg.svd(X, full_matrices=False, check_finite=False)
        kept = singular > np.sqrt(RANGE_OF_GRAM) * singular[0]
        return ReducedPencil(pencil, left[:, kept], singular[kept])
    return ReducedPencil(pencil, left[:, kept], np.sqrt(squares[kept]))


def _leading(operators, n_sums, n_wanted, random_state):
    return leading_eigenpairs(
        operators, n_sums, min(n_wanted, n_sums), random_state=check_random_state(random_state)
    )


def _unchanged(V):
    return V
