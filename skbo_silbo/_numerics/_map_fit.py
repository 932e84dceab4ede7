"""Maximum a posteriori fit of a Gaussian process' weights and noise, from several starts."""

import numpy as np
from scipy.optimize import minimize

from ._gaussian_process import condition_profiled, profiled_log_marginal_likelihood
from ._priors import screened_log_weights

LOG_WEIGHT_BOUNDS = (np.log(1e-9), np.log(1e3))
LOG_NOISE_RATIO_BOUNDS = (np.log(1e-6), np.log(1e4))
SEARCH_ROWS = 200
"""Rows on which the hyperparameters are searched for; all rows only polish the best end."""
POLISH_ITERATIONS = 15
_TYPICAL_DISTANCE = 0.3  # mean of q between two points at the first start


def search_map(X, y, prior, log_weight_starts, *, copies=None, max_iter=200):
    """Weights and noise of highest posterior density, the signal variance profiled out.

    L-BFGS-B on the log scale from every start, the noise ratio starting at 0.1; the best end wins.
    Where there are more rows than `SEARCH_ROWS`, so many of them decide: see `polish_map`.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Points; columns of mean 0 and standard deviation 1.
    y : ndarray of shape (n,)
        Centred targets, not all zero.
    prior : DimensionScaledPrior or SparsePrior
    log_weight_starts : iterable of ndarray of shape (d,)
        From `log_weight_starts`.
    copies : ndarray of shape (n,), default=None
        Of every row, positive: as how many rows it counts.
    max_iter : int, default=200
        L-BFGS-B iterations for each start; a run that is stopped by it still competes.

    Returns
    -------
    theta : ndarray of shape (d + n_extra + 1,)
        Log weights, the prior's own parameters, log noise ratio.

    Examples
    --------
    >>> import numpy as np
    >>> from skbo_silbo._numerics._map_fit import process_at, search_map
    >>> from skbo_silbo._numerics._priors import SparsePrior
    >>> X = np.random.default_rng(0).normal(size=(40, 2))
    >>> y = X[:, 0] ** 2 - 1.0
    >>> gp = process_at(search_map(X, y, SparsePrior(), [np.zeros(2)]), X, y)
    >>> bool(gp.weights[0] > 100 * gp.weights[1])
    True
    """
    begins = [np.r_[w, prior.initial_extra(w), np.log(0.1)] for w in log_weight_starts]
    if _n_rows(y, copies) > SEARCH_ROWS:
        rows, copies = spread_rows(y, copies, SEARCH_ROWS)
        X, y = X[rows], y[rows]
    return _best_end(begins, X, y, prior, copies, max_iter)


def polish_map(theta, X, y, prior, *, copies=None):
    """Return `theta` of `search_map` moved towards the mode of all rows, where not all decided."""
    if _n_rows(y, copies) <= SEARCH_ROWS:
        return theta
    return _best_end([theta], X, y, prior, copies, POLISH_ITERATIONS)


def process_at(theta, X, y, copies=None):
    """Return the `GaussianProcess` of all rows with the weights and noise of `theta`."""
    return condition_profiled(X, y, np.exp(theta[: X.shape[1]]), np.exp(theta[-1]), copies)


def spread_rows(y, copies, n_rows):
    """Return rows spread evenly over the ranks of y, whatever their order, and copies of each.

    Without copies, `n_rows` different ones; else so many copies, of fewer.
    """
    order = np.argsort(y, kind="stable")
    at = np.linspace(0, _n_rows(y, copies) - 1, n_rows).round()
    if copies is None:
        return order[at.astype(np.intp)], None
    drawn = order[np.searchsorted(np.cumsum(copies[order]), at, side="right")]
    rows, times = np.unique(drawn, return_counts=True)
    return rows, times.astype(np.float64)


def _n_rows(y, copies):
    return len(y) if copies is None else copies.sum()


def _best_end(begins, X, y, prior, copies, max_iter):
    """End of the L-BFGS-B run with the highest posterior."""
    bounds = [LOG_WEIGHT_BOUNDS] * X.shape[1] + [*prior.extra_bounds, LOG_NOISE_RATIO_BOUNDS]
    runs = [
        minimize(
            negative_log_posterior,
            begin,
            args=(X, y, prior, copies),
            jac=True,
            method="L-BFGS-B",
            bounds=bounds,
            options={"maxiter": max_iter},
        )
        for begin in begins
    ]
    return min(runs, key=lambda run: run.fun).x


def negative_log_posterior(theta, X, y, prior, copies=None):
    """Return minus (log marginal likelihood + log prior), and its gradient.

    Parameters
    ----------
    theta : ndarray of shape (d + n_extra + 1,)
        Log weights, the prior's own parameters, log noise ratio.
    X, y, prior, copies
        As in `search_map`.

    Returns
    -------
    value : float
    gradient : ndarray of the shape of `theta`
    """
    d = X.shape[1]
    value, by_data, _ = profiled_log_marginal_likelihood(
        X, y, np.exp(theta[:d]), np.exp(theta[-1]), copies
    )
    prior_value, by_prior = prior.log_density(theta[:-1])
    gradient = np.append(by_prior, by_data[-1])
    gradient[:d] += by_data[:-1]
    return -(value + prior_value), -gradient


def log_weight_starts(X, y, n_random, rng):
    """Return starts for `search_map`: two isotropic, one screened, `n_random` drawn round it.

    The screened start is that of `screened_log_weights`; the seeded ones multiply it by log-normal
    factors.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Points; columns of mean 0 and standard deviation 1.
    y : ndarray of shape (n,)
        Centred targets.
    n_random : int
        Number of seeded starts.
    rng : numpy.random.RandomState
        Source of the seeded starts.

    Returns
    -------
    starts : list of ndarray of shape (d,)
        Log weights.
    """
    d = X.shape[1]
    level = np.log(_TYPICAL_DISTANCE / (2.0 * d))  # the mean squared distance is 2 d
    screened = level + screened_log_weights(X, y)
    isotropic = [np.full(d, level), np.full(d, level + np.log(10.0))]
    return [*isotropic, screened, *(screened + rng.normal(size=d) for _ in range(n_random))]
