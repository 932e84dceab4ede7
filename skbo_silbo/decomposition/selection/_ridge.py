"""Choice of the ridge by generalised cross-validation of a ridge regression on the slices.

==========  ==========  =======================================================================
symbol      shape       meaning
==========  ==========  =======================================================================
X           (n, d)      labelled samples, centred, and standardised unless ``scale=False``
R           (H, m)      target of each slice: mid-rank, or class indicators
Y           (n, m)      target of each sample, of mean 0 and total mean square 1
s^2         (q,)        non-zero eigenvalues of X'X
p           (q, m)      Y in the left singular vectors of X
rho         scalar      absolute ridge; ``f = s^2 / (s^2 + rho)``
==========  ==========  =======================================================================

The criterion is ``RSS(rho) / (1 - (sum f + 1) / n)^2`` (Golub, Heath and Wahba 1979): the
leave-one-out error with all leverages replaced by their mean. It depends on X through X'X and the
slice sums only, so samples in blocks choose the same ridge.
"""

import numpy as np
from scipy import linalg

from skbo_silbo.decomposition.slicing._slices import evenly_spaced

# Number of labelled samples per feature from which ridge="auto" is 0. Least squares then increases
# the prediction error by at most 1/12 of the noise, less than a ridge can gain, and the chi-square
# tests of plain SIR apply.
ROWS_PER_FEATURE = 12
# Maximum number of samples used to choose the ridge if both the samples and the features are more.
# They are evenly spaced over the slices. The best absolute ridge is a ratio of noise to signal,
# which does not depend on the number of samples.
MAX_ROWS = 500
# Candidate ridges, relative to n times the mean scatter of standardised columns.
GRID = 10.0 ** np.arange(-6, 4.25, 0.5)
EXACT_FIT = 1e-9  # share of the targets' variance below which residuals are rounding errors
DIGITS = 10  # rows are duplicates if they agree to this many decimals of the largest entry
RANGE = 1e-12  # eigenvalues of X'X below this share of the largest count as 0


def slice_targets(counts, categorical):
    """Return the regression targets that represent the slices.

    Parameters
    ----------
    counts : ndarray of shape (H,)
        Number of samples in each slice, in the order of the response.
    categorical : bool
        Whether to use class indicators, scaled by 1 / sqrt(share), as targets. Otherwise the
        targets are mid-ranks.
    """
    shares = counts / counts.sum()
    mid_ranks = (np.cumsum(shares) - shares / 2)[:, None]
    R = np.diag(1 / np.sqrt(shares)) if categorical else mid_ranks
    R = R - shares @ R
    return R / np.sqrt(np.sum(shares @ R**2))


def choose_ridge(X, slices, categorical):
    """Select the ridge by generalised cross-validation on labelled samples."""
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
    """Select the ridge by generalised cross-validation from moments of the samples."""
    n, d = counts.sum(), len(scatter)
    if n >= ROWS_PER_FEATURE * d:
        return 0.0
    targets = np.sqrt(counts)[:, None] * slice_targets(counts, categorical)
    return minimize_gcv(*_projections(scatter, slice_sums.T @ targets), n)


def _projections(scatter, products):
    """Compute squared singular values of X and projections of Y, from X'X and X'Y."""
    squares, V = linalg.eigh(scatter, check_finite=False)
    kept = squares > RANGE * squares.max()
    projected = V.T @ products / np.sqrt(np.where(kept, squares, np.inf))[:, None]
    return squares, projected


def _n_distinct_rows(X, squares, projected, n):
    """Return the number of samples, without duplicates if all samples can be fitted exactly.

    Duplicated rows predict each other for any ridge, so they do not help to choose it.
    """
    kept = squares > RANGE * squares.max()
    rank, left = np.count_nonzero(kept), n - np.sum(projected[kept] ** 2)
    if rank >= n - 1 or left > EXACT_FIT * n:
        return n
    n_different = len(np.unique((X / np.abs(X).max()).round(DIGITS), axis=0))
    return n_different if rank >= n_different - 1 else n


def minimize_gcv(squares, projected, n, n_distinct=None):
    """Return the absolute ridge with the smallest generalised cross-validation error.

    Parameters
    ----------
    squares : ndarray of shape (q,)
        Eigenvalues of X'X or X X', which are non-negative up to rounding errors.
    projected : ndarray of shape (q, m)
        Coefficients of Y with respect to the corresponding singular vectors.
    n : int or float
        Number of samples, or their total weight if there are weights.
    n_distinct : int or float, default=None
        Number of distinct samples. None means that all n samples are distinct.

    Returns
    -------
    float
        Ridge that minimises the criterion. It can be 0 unless a regression without ridge fits the
        samples exactly.
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
