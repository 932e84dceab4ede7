"""The hyperparameters of a Gaussian process: those of highest posterior density.

========  ============  =====================================================================
symbol    shape         meaning
========  ============  =====================================================================
theta     (d + 2,)      log of the signal variance, of the d length scales, of the noise variance
theta     (3,)          the same with one length scale for all inputs
========  ============  =====================================================================
"""

import numpy as np
from scipy.linalg import LinAlgError
from scipy.optimize import minimize

MAX_ITERATIONS = 60  # of L-BFGS-B for each start
NEAR = 0.1  # in logarithms of hyperparameters: the climbs end at the same place
MOST_ROWS = 300  # by which hyperparameters are searched: n^3 for each of some 200 steps


def most_probable(log_likelihood, prior, *starts):
    """Return the best end of climbs from starts; those near the first are left out.

    Parameters
    ----------
    log_likelihood : callable
        From theta, (k,), to a value and its gradient, (k,); may raise LinAlgError.
    prior : HyperparameterPrior
    *starts : ndarray of shape (k,)

    Returns
    -------
    theta : ndarray of shape (k,)

    Examples
    --------
    >>> import numpy as np
    >>> from skbo_silbo._numerics._gaussian_process import Observations
    >>> from skbo_silbo._numerics._hyperparameters import most_probable
    >>> from skbo_silbo._numerics._priors import sparse_prior
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
    """Return scipy's result of L-BFGS-B from `start`, within the prior's bounds."""
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
    """Return minus the log posterior density, up to a constant, and its gradient."""
    try:
        value, by_theta = log_likelihood(theta)
    except LinAlgError:  # not positive definite in floating point: step back
        return np.inf, np.zeros_like(theta)
    prior_value, prior_gradient = prior.log_density(theta)
    return -(value + prior_value), -(by_theta + prior_gradient)
