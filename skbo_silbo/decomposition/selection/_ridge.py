"""How much ridge: generalised cross-validation of a ridge regression on what the slices say.

==========  ==========  =======================================================================
symbol      shape       meaning
==========  ==========  =======================================================================
X           (n, d)      labelled rows, centred; their columns of unit variance unless asked not to
R           (H, m)      what a row of each slice should predict: mid-rank, or class indicators
Y           (n, m)      R at every row: mean 0, its m columns of total mean square 1
s^2         (q,)        eigenvalues of X'X above the rounding
p           (q, m)      Y in the left singular vectors of X
rho         scalar      the ridge, absolute; ``f = s^2 / (s^2 + rho)``
==========  ==========  =======================================================================

The criterion is ``RSS(rho) / (1 - (sum f + 1) / n)^2`` (Golub, Heath and Wahba 1979): leave-one-out
with every leverage at its mean. It needs X through X'X and the slice sums alone, so that rows which
come in chunks choose the same ridge.
"""

import numpy as np
from scipy import linalg

from ..slicing._slices import evenly_spaced

# Labelled rows a feature from which "auto" is 0. Least squares then adds at most 1/12 of the noise
# to what it predicts: less than a choice can win, and the answer is plain SIR with its chi-square
# tests.
ROWS_PER_FEATURE = 12
# Rows, evenly spaced over the slices, that choose where rows and features are both more. What the
# ridge should be in absolute terms, noise over signal, does not depend on how many rows say.
MAX_ROWS = 500
# candidates, times n: relative to the mean scatter of standardised columns
GRID = 10.0 ** np.arange(-6, 4.25, 0.5)
EXACT_FIT = 1e-9  # share of the targets' variance below which what is left unexplained is rounding
DIGITS = 10  # decimals, relative to the largest entry, in which rows must differ not to be copies
RANGE = 1e-12  # eigenvalues of X'X below this share of the largest are rounding


def slice_targets(counts, categorical):
    """Return what a row of each slice should predict: R (H, m).

    Parameters
    ----------
    counts : ndarray of shape (H,)
        Rows in each slice, in the order of the response.
    categorical : bool
        Take class indicators, each in proportion to 1 / sqrt(share), in place of mid-ranks.
    """
    shares = counts / counts.sum()
    mid_ranks = (np.cumsum(shares) - shares / 2)[:, None]
    R = np.diag(1 / np.sqrt(shares)) if categorical else mid_ranks
    R = R - shares @ R
    return R / np.sqrt(np.sum(shares @ R**2))


def choose_ridge(X, slices, categorical):
    """Absolute ridge for the labelled rows X (n, d), centred, scaled and times root weights."""
    d = X.shape[1]
    if slices.n_rows >= ROWS_PER_FEATURE * d:
        return 0.0
    if min(len(X), d) > MAX_ROWS:
        X = slices.unweighted(X)
        rows = evenly_spaced(X, slices, MAX_ROWS)
        X, slices = X[rows] - X[rows].mean(axis=0), slices.select_unweighted(rows)
    Y = slices.weighted(slice_targets(slices.counts, categorical)[slices.codes])
    if d < len(X):
        squares, projected = _projections(X.T @ X, X.T @ Y)
    else:
        squares, U = linalg.eigh(X @ X.T, check_finite=False)
        projected = U.T @ Y
    n_distinct = _n_distinct_rows(slices.unweighted(X), squares, projected, slices.n_rows)
    return minimize_gcv(squares, projected, slices.n_rows, n_distinct)


def choose_ridge_from_moments(scatter, slice_sums, counts, categorical):
    """As `choose_ridge`, from X'X (d, d) and ``sqrt(n_h)`` times the slice means (H, d)."""
    n, d = counts.sum(), len(scatter)
    if n >= ROWS_PER_FEATURE * d:
        return 0.0
    targets = np.sqrt(counts)[:, None] * slice_targets(counts, categorical)
    return minimize_gcv(*_projections(scatter, slice_sums.T @ targets), n)


def _projections(scatter, products):
    """s^2 (d,) and p (d, m) from X'X and X'Y; p is 0 where s^2 is rounding."""
    squares, V = linalg.eigh(scatter, check_finite=False)
    kept = squares > RANGE * squares.max()
    projected = V.T @ products / np.sqrt(np.where(kept, squares, np.inf))[:, None]
    return squares, projected


def _n_distinct_rows(X, squares, projected, n):
    """Return n, or how many rows X differ where even these are fitted exactly: copies judge none.

    Copies of a row predict each other, whatever the ridge.
    """
    kept = squares > RANGE * squares.max()
    rank, left = np.count_nonzero(kept), n - np.sum(projected[kept] ** 2)
    if rank >= n - 1 or left > EXACT_FIT * n:
        return n
    n_different = len(np.unique((X / np.abs(X).max()).round(DIGITS), axis=0))
    return n_different if rank >= n_different - 1 else n


def minimize_gcv(squares, projected, n, n_distinct=None):
    """Ridge of least generalised cross-validation error, 0 among the candidates.

    Parameters
    ----------
    squares : ndarray of shape (q,)
        Eigenvalues of X'X or X X', at least 0 up to rounding.
    projected : ndarray of shape (q, m)
        Y in the singular vectors that go with them.
    n : int or float
        Rows, or the sum of their weights.
    n_distinct : int or float, default=None
        Rows that can be left out in turn; None is n.

    Returns
    -------
    float
        Absolute. 0 is no candidate where the rows would be fitted exactly.
    """
    kept = squares > RANGE * squares.max()
    squares, energy = squares[kept], np.sum(projected[kept] ** 2, axis=1)
    candidates = GRID * n
    n_distinct = n if n_distinct is None else n_distinct
    if len(squares) < n_distinct - 1:
        candidates = np.r_[0.0, candidates]
    left_out = candidates[:, None] / (squares + candidates[:, None])  # 1 - f
    beyond = n - energy.sum()
    residual = (beyond if beyond > EXACT_FIT * n else 0.0) + left_out**2 @ energy
    freedom = n_distinct - 1 - len(squares) + left_out.sum(axis=1)
    errors = residual / (freedom / n_distinct) ** 2
    return float(candidates[np.argmin(errors)])
