"""The hyperparameters of a Gaussian process: those of highest posterior density.

========  ============  =====================================================================
symbol    shape         meaning
========  ============  =====================================================================
theta     (d + 2,)      log of the signal variance, of the d length scales, of the noise variance
theta     (3,)          the same with one length scale for all inputs
========  ============  =====================================================================
"""

from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.linalg import LinAlgError
from scipy.optimize import minimize

from ._gaussian_process import condition, log_marginal_likelihood

MAX_ITERATIONS = 60  # of L-BFGS-B for each start
JITTER = 1e-10  # least noise variance, for standardised targets
MOST_ROWS = 300  # by which hyperparameters are searched: n^3 for each of some 200 steps


@dataclass(frozen=True, eq=False)
class Observations:
    """What a Gaussian process is fitted to.

    Attributes
    ----------
    X : ndarray of shape (n, d)
    y : ndarray of shape (n,)
        Targets of mean 0 and variance 1, about.
    known : ndarray of shape (n,) or float, default=0.0
        Known variance of the noise of every target, on top of the noise that is searched for.
    copies : ndarray of shape (n,) or float, default=1.0
        As how many rows each counts, positive.
    """

    X: np.ndarray
    y: np.ndarray
    known: np.ndarray | float = 0.0
    copies: np.ndarray | float = 1.0

    @property
    def n_rows(self):
        """Number of rows, copies included."""
        return np.broadcast_to(self.copies, len(self.y)).sum()

    def spread(self, most: int) -> Self:
        """Return these, or where there are more rows, as many of them, evenly spread."""
        if self.n_rows <= most:
            return self
        copies = np.broadcast_to(self.copies, self.y.shape)
        at = np.linspace(0, self.n_rows - 1, most).astype(int)
        drawn = np.searchsorted(np.cumsum(copies), at, side="right")
        rows, times = np.unique(drawn, return_counts=True)
        known = np.broadcast_to(self.known, self.y.shape)[rows]
        return type(self)(self.X[rows], self.y[rows], known, times.astype(float))

    def condition(self, theta):
        """Return the `GaussianProcess` with the hyperparameters theta, conditioned on these."""
        weights, signal, noise = self._split(theta)
        noise_variance = (noise + JITTER + self.known) / self.copies
        return condition(self.X, self.y, weights, signal, noise_variance)

    def log_likelihood(self, theta):
        """Return the log density of the targets, copies included, and its gradient by theta."""
        weights, signal, noise = self._split(theta)
        value, gradient = log_marginal_likelihood(
            self.X, self.y, weights, signal, noise, self.known, self.copies
        )
        by_lengths = -2.0 * gradient[:-2]
        if theta.size == 3:
            by_lengths = by_lengths.sum(keepdims=True)
        return value, np.concatenate([gradient[-2:-1], by_lengths, gradient[-1:]])

    def _split(self, theta):
        """Return weights, signal variance and noise variance."""
        weights = np.broadcast_to(np.exp(-2.0 * theta[1:-1]), self.X.shape[1])
        return weights, *np.exp(theta[[0, -1]])


def most_probable(log_likelihood, prior, *starts):
    """Return the best end of climbs from starts; one that is near the first is left out.

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
    >>> from skbo_silbo._numerics._hyperparameters import Observations, most_probable
    >>> from skbo_silbo._numerics._priors import sparse_prior
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(40, 2))
    >>> y, prior = 3.0 * X[:, 0] ** 2 - 1.0, sparse_prior(2)
    >>> theta = most_probable(Observations(X, y).log_likelihood, prior, prior.location)
    >>> bool(theta[1] < theta[2] - 2.0)
    True
    """
    first, *others = starts
    others = [start for start in others if not np.allclose(start, first)]
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
