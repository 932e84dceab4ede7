"""Exact leave-one-out errors of ridge regressions that share one decomposition.

=========  ========  ==================================================================
symbol     shape     meaning
=========  ========  ==================================================================
U          (n, q)    left singular vectors of the features (or eigenvectors of the kernel)
s^2        (q,)      their squared singular values (eigenvalues of the kernel)
T          (n, t)    targets
hat        (n, n)    ``U diag(s^2 / (s^2 + rho)) U'``, plus 1/n with an intercept
=========  ========  ==================================================================

The error at a row that was left out is ``residual_i / (1 - hat_ii)`` (Allen 1974).
"""

import numpy as np

RIDGE_GRID = np.logspace(-6, 2, 33)
"""Ridges compared, relative to the mean squared norm of a row."""
LEAST_FREEDOM = 1e-8
"""Rows whose own leverage leaves less than this cannot be judged: the ridge is refused."""


def leave_one_out_errors(left, squares, targets, ridges, *, intercept):
    """Mean squared error of rows left out, for every ridge.

    Parameters
    ----------
    left : ndarray of shape (n, q)
        Orthogonal to the vector of ones with an `intercept`.
    squares : ndarray of shape (q,)
    targets : ndarray of shape (n, t)
        Centred with an `intercept`.
    ridges : ndarray of shape (m,)
        Positive, absolute.
    intercept : bool

    Returns
    -------
    ndarray of shape (m,)
        Infinite where a ridge is so small that a row determines its own fit.
    """
    coefficients, leverages = left.T @ targets, left**2
    base = 1 / len(left) if intercept else 0.0
    errors = np.full(len(ridges), np.inf)
    for m, ridge in enumerate(ridges):
        shrinkage = squares / (squares + ridge)
        freedom = 1 - base - leverages @ shrinkage
        if freedom.min() > LEAST_FREEDOM:
            residuals = targets - left @ (shrinkage[:, None] * coefficients)
            errors[m] = np.mean((residuals / freedom[:, None]) ** 2)
    return errors


def best_ridge(left, squares, targets, *, intercept):
    """Ridge of least leave-one-out error, relative to the mean squared norm of a row.

    Parameters are those of `leave_one_out_errors`.
    """
    scale = squares.sum() / len(left)
    errors = leave_one_out_errors(left, squares, targets, scale * RIDGE_GRID, intercept=intercept)
    return float(RIDGE_GRID[np.argmin(errors)])
