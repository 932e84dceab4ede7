"""What random search would have reached with fewer candidates, from those that it evaluated."""

import numpy as np
from scipy.special import gammaln

BAND = (0.1, 0.9)  # quantiles of the best


def expected_best(scores):
    """Return mean and quantiles of the best of k scores drawn without replacement, k = 1, ..., n.

    Exact, by order statistics: the k-th drawn set has the i-th smallest score as its best with
    probability ``C(i - 1, k - 1) / C(n, k)``.

    Parameters
    ----------
    scores : ndarray of shape (n,)
        At least one of them finite. Failures count as the worst score.

    Returns
    -------
    mean : ndarray of shape (n,)
    band : ndarray of shape (2, n)
        10 % and 90 % quantiles.

    Examples
    --------
    >>> expected_best(np.array([0.0, 1.0]))[0]
    array([0.5, 1. ])
    """
    finite = np.isfinite(scores)
    ordered = np.sort(np.where(finite, scores, scores[finite].min()))
    n = ordered.size
    i, k = np.arange(1, n + 1), np.arange(1, n + 1)[:, None]
    with np.errstate(divide="ignore"):  # log 0 where i < k
        log_chance = np.where(i >= k, log_binomial(i - 1, k - 1) - log_binomial(n, k), -np.inf)
    chance = np.exp(log_chance)  # (k, i)
    at_most = np.cumsum(chance, axis=1)
    band = [ordered[np.minimum((at_most < q - 1e-9).sum(axis=1), n - 1)] for q in BAND]
    return chance @ ordered, np.array(band)


def log_binomial(n, k):
    """Return the logarithms of binomial coefficients, k taken for n where it is more."""
    n, k = np.broadcast_arrays(n, np.minimum(k, n))
    return gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
