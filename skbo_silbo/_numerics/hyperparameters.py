"""Search for the hyperparameters of a Gaussian process with the highest posterior density.

========  ============  =====================================================================
symbol    shape         meaning
========  ============  =====================================================================
theta     (d + 2,)      log of the signal variance, of the d length scales, of the noise variance
theta     (3,)          the same with one length scale for all inputs
========  ============  =====================================================================

One start of the search assigns shorter length scales to inputs that explain more by themselves.
This finds better modes if few inputs are relevant.
"""

import numpy as np
from scipy.linalg import LinAlgError
from scipy.optimize import minimize

from skbo_silbo._numerics.gaussian_process import Observations
from skbo_silbo._typing import FloatArray

MAX_ITERATIONS = 60  # iterations of L-BFGS-B for each start
NEAR = 0.1  # starts at this distance from the first, in log units, lead to the same optimum
MOST_ROWS = 300  # largest number of rows used in the search, whose steps cost O(n^3) each
LARGEST_R2 = 0.999  # R^2 from which the screened weight of an input no longer grows
TYPICAL_DISTANCE = 0.3  # mean weighted squared distance if no input explains anything


def most_probable(log_likelihood, prior, *starts):
    """Return the hyperparameters of highest posterior density found from several starts.

    Parameters
    ----------
    log_likelihood : callable
        Function that maps theta to the log likelihood and its gradient. It may raise a LinAlgError
        if theta cannot be evaluated.
    prior : HyperparameterPrior
    *starts : ndarray of shape (k,)

    Returns
    -------
    theta : ndarray of shape (k,)

    Examples
    --------
    >>> import numpy as np
    >>> from skbo_silbo._numerics.gaussian_process import Observations
    >>> from skbo_silbo._numerics.hyperparameters import most_probable
    >>> from skbo_silbo._numerics.priors import sparse_prior
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(40, 2))
    >>> y, prior = 3.0 * X[:, 0] ** 2 - 1.0, sparse_prior(2)
    >>> theta = most_probable(Observations(X, y).log_likelihood, prior, prior.location)
    >>> bool(theta[1] < theta[2] - 2.0)
    True
    """
    first, *others = starts
    others = [start for start in others if not np.allclose(start, first, atol=NEAR)]
    ends = (climb(log_likelihood, prior, start) for start in [first, *others])
    return min(ends, key=lambda run: run.fun).x


def climb(log_likelihood, prior, start, max_iter=MAX_ITERATIONS):
    """Maximise the posterior density of the hyperparameters by L-BFGS-B within bounds."""
    return minimize(
        negative_log_posterior,
        start,
        args=(log_likelihood, prior),
        jac=True,
        method="L-BFGS-B",
        bounds=prior.bounds,
        options={"maxiter": max_iter},
    )


def negative_log_posterior(theta, log_likelihood, prior):
    """Return the negative log posterior density of theta, up to a constant, and its gradient."""
    try:
        value, by_theta = log_likelihood(theta)
    except LinAlgError:  # not numerically positive definite: step back
        return np.inf, np.zeros_like(theta)
    prior_value, prior_gradient = prior.log_density(theta)
    return -(value + prior_value), -(by_theta + prior_gradient)


def starting_log_lengths(X: FloatArray, y: FloatArray, copies: FloatArray) -> FloatArray:
    """Return two starting points for the search of the log length scales.

    With many inputs the posterior has many local modes, and a start from equal lengths easily
    misses a relevant input. Screened lengths are shorter for inputs that explain more of y by
    themselves. The weight of an input is about the F statistic of a quadratic regression on it. In
    20 data sets with 60 random rows and two relevant inputs out of 50, the highest mode was found
    20 times from screened lengths, 6 times from equal lengths, and 13 times from the mode under the
    broader prior.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Inputs, one per column, scaled to unit standard deviation.
    y : ndarray of shape (n,)
        Targets to predict, which must not all be equal.
    copies : ndarray of shape (n,)
        Positive multiplicity of each row: a row with multiplicity 2 counts twice in the likelihood.
        It need not be an integer.

    Returns
    -------
    ndarray of shape (2, d)
    """
    r2 = np.minimum(quadratic_r2(X, y, copies), LARGEST_R2)
    level = np.log(TYPICAL_DISTANCE / (2.0 * X.shape[1]))  # the mean squared distance is 2 d
    screened = np.log(0.1 + 0.5 * copies.sum() * r2 / (1.0 - r2))
    return -0.5 * (level + np.vstack([np.zeros_like(r2), screened]))


def searched_process(X, y, prior, most_rows, copies=None):
    """Optimise the hyperparameters of a Gaussian process on a subset of the data.

    Since rows are sorted by y, the result does not depend on their order.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Inputs, one per column, with mean 0 and variance 1. If all entries are 0, inputs are not
        screened.
    y : ndarray of shape (n,)
    prior : HyperparameterPrior
    most_rows : int
        Largest number of rows used in the search. Larger data sets are reduced to a subset of their
        rows.
    copies : ndarray of shape (n,), default=None
        Positive multiplicity of each row: a row with multiplicity 2 counts twice in the likelihood.
        It need not be an integer.
    """
    copies, starts = np.ones(len(y)) if copies is None else copies, np.tile(prior.location, (2, 1))
    if X.any():
        starts[:, 1:-1] = starting_log_lengths(X, y, copies)
    order = np.argsort(y, kind="stable")
    data = Observations(X[order], y[order], copies=copies[order])
    return data, most_probable(data.spread(most_rows).log_likelihood, prior, *starts)


def quadratic_r2(X: FloatArray, y: FloatArray, copies: FloatArray) -> FloatArray:
    """Return the R^2 of a quadratic regression of y on each column of X.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    y : ndarray of shape (n,)
        Targets to predict, which must not all be equal.
    copies : ndarray of shape (n,)
        Positive multiplicity of each row: a row with multiplicity 2 counts twice in the regression.
        It need not be an integer.

    Returns
    -------
    r2 : ndarray of shape (d,)
        R^2 of the regression on each column, between 0 and 1.
    """
    root = np.sqrt(copies / copies.sum())[:, None]  # the intercept, of unit length
    y = (y[:, None] - root.T**2 @ y) * root
    linear = _unit_columns((X - root.T**2 @ X) * root)
    square = linear**2 / root
    square -= root * (root.T @ square)
    square -= linear * np.einsum("ik,ik->k", linear, square)
    square = _unit_columns(square)
    return (((y.T @ linear) ** 2 + (y.T @ square) ** 2) / (y.T @ y))[0]


def _unit_columns(A):
    """Scale columns to unit length, and set columns of rounding errors to zero."""
    norm = np.sqrt(np.einsum("ik,ik->k", A, A))
    kept = norm > 1e-8
    return np.divide(A, norm, out=np.zeros_like(A), where=kept)
