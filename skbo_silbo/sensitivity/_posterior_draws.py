"""Sampling of functions and hyperparameters from the posterior of a Gaussian process.

Functions. A posterior draw is a draw from the prior, represented by random features, plus a
correction by the data (Matheron's rule: Wilson et al. 2020, "Efficiently sampling functions from
Gaussian process posteriors", eqs. 6 and 13). It can be evaluated at any number of points. The
features use single precision, which is several times faster. The rounding error is small compared
with the differences between draws.

========  ============  ==========================================================
symbol    shape         meaning
========  ============  ==========================================================
Z         (n, r)        observed points
w         (r,)          inverse squared length scales
W, b      (r, M), (M,)  frequencies and phases of the random features
A, C      (M, k)        weights of the features, and (n, k + 1) of the kernels
q         (N, n)        scaled squared distances to the observed points
========  ============  ==========================================================

Hyperparameters. They are sampled around a mode of the posterior by Hamiltonian Monte Carlo. Each
chain starts from a draw of the Laplace approximation and is run in its coordinates, in which the
posterior is nearly standard normal. A few short trajectories are then sufficient (Neal 2011,
"MCMC using Hamiltonian dynamics", sections 4.1 and 5.4).

========  ========  ==============================================================
symbol    shape     meaning
========  ========  ==============================================================
theta     (k,)      hyperparameters
H         (k, k)    Hessian of the loss at the mode
S         (k, k)    ``S S' = H^-1``, with curvatures of at least `LEAST_CURVATURE`
u         (k,)      ``theta = mode + S u``
========  ========  ==============================================================
"""

from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.linalg import cho_solve
from scipy.stats import chi2

from skbo_silbo._numerics.hyperparameters import negative_log_posterior
from skbo_silbo._numerics.matern import matern52, scaled_squared_distances

N_FEATURES = 512
DEGREES = 5  # degrees of freedom of Student's t, the spectrum of the Matern-5/2 kernel
DIFFERENCE = 1e-3  # step of the finite differences for H
LEAST_CURVATURE = 0.15  # limits the step size where the posterior is flat
N_TRAJECTORIES = 4
N_STEPS = 5
STEP = 0.9  # step size in one dimension; it is divided by the fourth root of the dimension


@dataclass(frozen=True, eq=False)
class PreparedPoints:
    """Points with precomputed terms that make the evaluation of posterior draws fast."""

    X: np.ndarray  # (N, r)
    phases: np.ndarray  # (N, M)
    distances: np.ndarray  # (N, n)


class FunctionDraws:
    """Functions drawn from the posterior of the objective, and the posterior mean.

    Parameters
    ----------
    process : GaussianProcess
        Gaussian process that is conditioned on the data.
    n_draws : int
        Number of functions to draw.
    rng : numpy.random.Generator
        Source of all random numbers.
    """

    def __init__(self, process, n_draws, rng):
        self._process = process
        signal, weights, n = process.signal_variance, process.weights, process.y.size
        strata = (np.arange(N_FEATURES) + rng.random(N_FEATURES)) / N_FEATURES
        scale = np.sqrt(chi2.ppf(strata, DEGREES) / DEGREES)  # stratified to include both tails
        frequencies = rng.standard_normal((weights.size, N_FEATURES)) / scale
        self._W = (np.sqrt(weights)[:, None] * frequencies).astype(np.float32)
        self._b = rng.uniform(0.0, 2.0 * np.pi, N_FEATURES).astype(np.float32)
        amplitude = np.sqrt(2.0 * signal / N_FEATURES)
        self._A = (amplitude * rng.standard_normal((N_FEATURES, n_draws))).astype(np.float32)
        deviation = np.sqrt(np.broadcast_to(process.noise_variance, n))
        noise = deviation[:, None] * rng.standard_normal((n, n_draws))
        residual = process.y[:, None] - self._prior(self._phases(process.X)) - noise
        residual = np.column_stack([residual, process.y])
        # the signal variance cancels between K = v L L' and the covariance with the data
        self._C = cho_solve((process.cholesky, True), residual, check_finite=False)

    def __call__(self, X):
        """Evaluate the drawn functions and the posterior mean at given points.

        Parameters
        ----------
        X : ndarray of shape (N, r)

        Returns
        -------
        values : ndarray of shape (n_draws + 1, N)
        """
        return self.values(self.prepare(X))

    def mean_gradient(self, X):
        """Return the gradient of the posterior mean at each row of X."""
        return self._process.mean_gradient(X)

    def prepare(self, X):
        """Precompute the terms that are needed to evaluate the draws at the points X."""
        q = scaled_squared_distances(X, self._process.X, self._process.weights)
        return PreparedPoints(X, self._phases(X), q)

    def replace_columns(self, prepared, columns, new):
        """Replace columns of prepared points, recomputing only the affected terms.

        Parameters
        ----------
        prepared : PreparedPoints
        columns : array-like of int
        new : ndarray of shape (N, len(columns))

        Returns
        -------
        prepared : PreparedPoints
        """
        old, w = prepared.X[:, columns], self._process.weights[columns]
        X = prepared.X.copy()
        X[:, columns] = new
        q = prepared.distances + ((new**2 - old**2) @ w)[:, None]
        q -= 2.0 * ((new - old) * w) @ self._process.X[:, columns].T
        phases = prepared.phases + (new - old).astype(np.float32) @ self._W[columns]
        return PreparedPoints(X, phases, np.maximum(q, 0.0, out=q))

    def values(self, prepared):
        """Evaluate the drawn functions and the posterior mean at prepared points."""
        values = matern52(prepared.distances)[0] @ self._C
        values[:, :-1] += self._prior(prepared.phases)
        return values.T

    def _phases(self, X):
        return X.astype(np.float32) @ self._W + self._b

    def _prior(self, phases):
        return np.cos(phases) @ self._A


def draw_processes(surrogate, n, rng):
    """Sample hyperparameters of a fitted surrogate, and return one process per sample.

    Parameters
    ----------
    surrogate : GaussianProcessSurrogate
        Fitted surrogate, whose hyperparameters are sampled.
    n : int
        Number of samples to draw.
    rng : numpy.random.Generator
        Source of all random numbers.

    Returns
    -------
    processes : list of GaussianProcess
        Gaussian processes conditioned on the data of the surrogate, with the same standardisation.
    """
    data, prior = surrogate.observations_, surrogate.prior_
    loss = partial(negative_log_posterior, log_likelihood=data.log_likelihood, prior=prior)
    draws = draw_hyperparameters(loss, surrogate.theta_, prior.bounds, n, rng)
    return [data.condition(theta) for theta in draws]


def draw_hyperparameters(loss, mode, bounds, n, rng):
    """Sample hyperparameters from a posterior density by Hamiltonian Monte Carlo.

    Parameters
    ----------
    loss : callable
        Function that maps theta of shape (k,) to the loss and its gradient. The loss is infinite if
        theta is invalid.
    mode : ndarray of shape (k,)
        Hyperparameters that minimise the loss.
    bounds : ndarray of shape (k, 2)
        Lower and upper bound of each hyperparameter, which define the support of the density.
    n : int
        Number of samples to draw.
    rng : numpy.random.Generator
        Source of all random numbers.

    Returns
    -------
    draws : ndarray of shape (n, k)

    Examples
    --------
    >>> import numpy as np
    >>> from skbo_silbo.sensitivity._posterior_draws import draw_hyperparameters
    >>> def loss(theta):
    ...     return 2.0 * theta @ theta, 4.0 * theta
    >>> bounds, rng = np.array([[-9.0, 9.0]]), np.random.default_rng(0)
    >>> bool(abs(draw_hyperparameters(loss, np.zeros(1), bounds, 400, rng).std() - 0.5) < 0.05)
    True
    """
    S, (low, high) = _laplace_root(loss, mode, bounds), bounds.T

    def loss_at(u):
        """Return the loss and its gradient in coordinates in which S is the identity."""
        theta = mode + S @ u
        if (theta < low).any() or (theta > high).any():
            return np.inf, np.zeros_like(u)
        value, slope = loss(theta)
        return value, S.T @ slope

    def draw():
        """Run a Markov chain from the Laplace approximation, and return its last sample."""
        u = rng.standard_normal(len(mode))
        while not np.isfinite(loss_at(u)[0]):
            u *= 0.5
        state = u, *loss_at(u)
        for _ in range(N_TRAJECTORIES):
            state = _trajectory(loss_at, *state, rng)
        return mode + S @ state[0]

    return np.array([draw() for _ in range(n)])


def _laplace_root(loss, mode, bounds):
    """Return a square root of the Laplace covariance matrix at the mode."""
    gradient = loss(mode)[1]
    # towards the farther bound, to stay inside the support
    inward = np.where(mode > bounds.mean(axis=1), -DIFFERENCE, DIFFERENCE)
    H = np.array([(loss(mode + h)[1] - gradient) / h.sum() for h in np.diag(inward)])
    curvature, V = np.linalg.eigh((H + H.T) / 2.0)
    return V / np.sqrt(np.maximum(curvature, LEAST_CURVATURE))


def _trajectory(loss_at, u, value, slope, rng):
    """Return the sample that follows u in a Markov chain, with its loss and gradient."""
    momentum = rng.standard_normal(len(u))
    energy = value + 0.5 * momentum @ momentum
    step = STEP / len(u) ** 0.25 * rng.uniform(0.7, 1.1)
    end, end_value, end_slope = u, value, slope
    for _ in range(N_STEPS):
        momentum = momentum - 0.5 * step * end_slope
        end = end + step * momentum
        end_value, end_slope = loss_at(end)
        if not np.isfinite(end_value):
            return u, value, slope
        momentum = momentum - 0.5 * step * end_slope
    log_ratio = energy - end_value - 0.5 * momentum @ momentum
    if np.log(rng.random()) < log_ratio:
        return end, end_value, end_slope
    return u, value, slope
