"""Exact leave-one-out errors of ridge regressions that share one decomposition.

=========  ========  ==================================================================
symbol     shape     meaning
=========  ========  ==================================================================
U          (n, q)    left singular vectors of the features (or eigenvectors of the kernel)
s^2        (q,)      their squared singular values (eigenvalues of the kernel)
T          (n, t)    targets
hat        (n, n)    ``U diag(s^2 / (s^2 + rho)) U'``, plus 1/n with an intercept
w          (n,)      weights of the rows
=========  ========  ==================================================================

The leave-one-out error of a row is ``residual_i / (1 - hat_ii)`` (Allen 1974). Rows are multiplied
by the square roots of their weights.
"""

import numpy as np

RIDGE_GRID = np.logspace(-6, 2, 33)  # candidate ridges relative to the mean squared row norm
# A ridge is rejected if it leaves a row fewer degrees of freedom than this
LEAST_FREEDOM = 1e-8


def leave_one_out_errors(left, squares, targets, ridges, *, intercept, weights):
    """Return the mean squared leave-one-out error of ridge regression for each ridge.

    Parameters
    ----------
    left : ndarray of shape (n, q)
        Left singular vectors of the design matrix. For a regression with intercept, they must be
        orthogonal to the vector of ones, or to the square roots of the weights.
    squares : ndarray of shape (q,)
        Squared singular values of the design matrix.
    targets : ndarray of shape (n, t)
        Targets, multiplied by the square roots of the weights. For a regression with intercept,
        they must be centred.
    ridges : ndarray of shape (m,)
        Positive ridge parameters to compare, in the units of the squared singular values.
    intercept : bool
    weights : ndarray of shape (n,)
        Positive weights of the rows.

    Returns
    -------
    ndarray of shape (m,)
        Mean squared leave-one-out error for each ridge. The error is infinite if the ridge is so
        small that a row determines its own fit.
    """
    coefficients, leverages, total = left.T @ targets, left**2, weights.sum()
    outside, freedom_outside = 0.0, 0.0  # part outside the span of the features
    if left.shape[1] < len(left) - intercept:  # otherwise rounding error
        outside = targets - left @ coefficients
        freedom_outside = 1 - (weights / total if intercept else 0.0) - leverages.sum(axis=1)
    errors = np.full(len(ridges), np.inf)
    for m, ridge in enumerate(ridges):
        left_over = ridge / (squares + ridge)
        freedom = freedom_outside + leverages @ left_over
        if freedom.min() > LEAST_FREEDOM:
            residuals = outside + left @ (left_over[:, None] * coefficients)
            errors[m] = np.sum((residuals / freedom[:, None]) ** 2) / (total * targets.shape[1])
    return errors


def best_ridge(left, squares, targets, *, intercept, weights):
    """Return the ridge with the smallest leave-one-out error.

    The ridge is relative to the mean squared norm of a row.

    `leave_one_out_errors` describes the parameters.
    """
    scale = squares.sum() / weights.sum()
    given = {"intercept": intercept, "weights": weights}
    errors = leave_one_out_errors(left, squares, targets, scale * RIDGE_GRID, **given)
    return float(RIDGE_GRID[np.argmin(errors)])
