"""Whole functions drawn from the posterior of a Gaussian process with a Matern-5/2 kernel.

A draw is a draw of the prior, by random features, and what the data correct of it (Matheron's
rule: Wilson et al. 2020, "Efficiently sampling functions from Gaussian process posteriors",
eqs. 6 and 13): so it can be evaluated anywhere, at any number of points. The features are in
single precision, several times as fast: what they lose is small beside what differs between draws.

========  ============  ==========================================================
symbol    shape         meaning
========  ============  ==========================================================
Z         (n, r)        the points of the data
w         (r,)          inverse squared length scales
W, b      (r, M), (M,)  frequencies and phases of the features
A, C      (M, k)        weights of the features, and (n, k + 1) of the kernels
q         (N, n)        scaled squared distances of points to those of the data
========  ============  ==========================================================

Draws from the posterior density of hyperparameters, round a mode: Hamiltonian Monte Carlo.

Every chain starts at a draw of the Laplace approximation and moves in its coordinates, where the
density is nearly a standard normal: a few short trajectories then forget the start (Neal 2011,
"MCMC using Hamiltonian dynamics", sections 4.1 and 5.4).

========  ========  ==============================================================
symbol    shape     meaning
========  ========  ==============================================================
theta     (k,)      hyperparameters
H         (k, k)    second derivative of the loss at the mode
S         (k, k)    with ``S S' = H^-1``, curvatures below `LEAST_CURVATURE` raised
u         (k,)      ``theta = mode + S u``
========  ========  ==============================================================
"""

from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.linalg import cho_solve
from scipy.stats import chi2

from skbo_silbo._numerics._hyperparameters import negative_log_posterior
from skbo_silbo._numerics._matern import matern52, scaled_squared_distances

N_FEATURES = 512
DEGREES = 5  # of freedom: the spectrum of a Matern kernel of order 5/2 is Student's t
DIFFERENCE = 1e-3  # of a hyperparameter, in nats, between the gradients that give H
LEAST_CURVATURE = 0.15  # where a prior is flat H says nothing of how far it is so
N_TRAJECTORIES = 4
N_STEPS = 5
STEP = 0.9  # at one dimension; it shrinks with the fourth root of their number


@dataclass(frozen=True, eq=False)
class Placed:
    """Points with what their values are computed from; made by `FunctionDraws.place`."""

    X: np.ndarray  # (N, r)
    phases: np.ndarray  # (N, M)
    distances: np.ndarray  # (N, n)


class FunctionDraws:
    """Draws of the noise-free objective, and the posterior mean, as functions of the point.

    Parameters
    ----------
    process : GaussianProcess
        Conditioned on the data.
    n_draws : int
    rng : numpy.random.Generator
    """

    def __init__(self, process, n_draws, rng):
        self._process = process
        signal, weights, n = process.signal_variance, process.weights, process.y.size
        strata = (np.arange(N_FEATURES) + rng.random(N_FEATURES)) / N_FEATURES
        scale = np.sqrt(chi2.ppf(strata, DEGREES) / DEGREES)  # so that both tails are there
        frequencies = rng.standard_normal((weights.size, N_FEATURES)) / scale
        self._W = (np.sqrt(weights)[:, None] * frequencies).astype(np.float32)
        self._b = rng.uniform(0.0, 2.0 * np.pi, N_FEATURES).astype(np.float32)
        height = np.sqrt(2.0 * signal / N_FEATURES)
        self._A = (height * rng.standard_normal((N_FEATURES, n_draws))).astype(np.float32)
        deviation = np.sqrt(np.broadcast_to(process.noise_variance, n))
        noises = deviation[:, None] * rng.standard_normal((n, n_draws))
        rest = process.y[:, None] - self._prior(self._phases(process.X)) - noises
        rest = np.column_stack([rest, process.y])
        # K = v L L', and the covariance with the data is v times the correlation
        self._C = cho_solve((process.cholesky, True), rest, check_finite=False)

    def __call__(self, X):
        """Return the draws at the rows of X and, last, the posterior mean: (n_draws + 1, N)."""
        return self.values(self.place(X))

    def mean_gradient(self, X):
        """Return the gradient of the posterior mean at the rows of X: (N, r)."""
        return self._process.mean_gradient(X)

    def place(self, X):
        """Return the points X, (N, r), ready to be evaluated or moved."""
        q = scaled_squared_distances(X, self._process.X, self._process.weights)
        return Placed(X, self._phases(X), q)

    def move(self, placed, columns, new):
        """Return the points with some columns replaced by `new`, (N, len(columns)), cheaply."""
        old, w = placed.X[:, columns], self._process.weights[columns]
        X = placed.X.copy()
        X[:, columns] = new
        q = placed.distances + ((new**2 - old**2) @ w)[:, None]
        q -= 2.0 * ((new - old) * w) @ self._process.X[:, columns].T
        phases = placed.phases + (new - old).astype(np.float32) @ self._W[columns]
        return Placed(X, phases, np.maximum(q, 0.0, out=q))

    def values(self, placed):
        """Return what calling would at these points: (n_draws + 1, N)."""
        values = matern52(placed.distances)[0] @ self._C
        values[:, :-1] += self._prior(placed.phases)
        return values.T

    def _phases(self, X):
        return X.astype(np.float32) @ self._W + self._b

    def _prior(self, phases):
        return np.cos(phases) @ self._A


def draw_processes(surrogate, n, rng):
    """Return n processes of a surrogate's data, hyperparameters drawn from their posterior.

    Parameters
    ----------
    surrogate : GaussianProcessSurrogate
        Fitted.
    n : int
    rng : numpy.random.Generator

    Returns
    -------
    processes : list of GaussianProcess
        Their targets are standardised as those of the surrogate.
    """
    data, prior = surrogate.observations_, surrogate.prior_
    loss = partial(negative_log_posterior, log_likelihood=data.log_likelihood, prior=prior)
    draws = draw_hyperparameters(loss, surrogate.theta_, prior.bounds, n, rng)
    return [data.condition(theta) for theta in draws]


def draw_hyperparameters(loss, mode, bounds, n, rng):
    """Return draws from the density ``exp(-loss)``.

    Parameters
    ----------
    loss : callable
        From theta, (k,), to the loss and its gradient, (k,); infinite where it is not defined.
    mode : ndarray of shape (k,)
        Where the loss is least.
    bounds : ndarray of shape (k, 2)
        Outside them the density is 0.
    n : int
    rng : numpy.random.Generator

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
    S = _laplace_root(loss, mode, bounds)
    chain = _Chain(loss, mode, bounds, S, rng)
    return np.array([chain.run() for _ in range(n)])


def _laplace_root(loss, mode, bounds):
    """Return S, by one-sided differences of the gradient away from the nearer bound."""
    here = loss(mode)[1]
    inward = np.where(mode > bounds.mean(axis=1), -DIFFERENCE, DIFFERENCE)
    H = np.array(
        [(loss(mode + step)[1] - here) / h for h, step in zip(inward, np.diag(inward), strict=True)]
    )
    curvature, V = np.linalg.eigh((H + H.T) / 2.0)
    return V / np.sqrt(np.maximum(curvature, LEAST_CURVATURE))


class _Chain:
    def __init__(self, loss, mode, bounds, S, rng):
        self._loss, self._mode, self._bounds, self._S, self._rng = loss, mode, bounds, S, rng
        self._step = STEP / len(mode) ** 0.25

    def run(self):
        """Return the theta that one chain ends at."""
        u = self._start()
        value, slope = self._at(u)
        for _ in range(N_TRAJECTORIES):
            u, value, slope = self._trajectory(u, value, slope)
        return self._mode + self._S @ u

    def _start(self):
        """Return a draw of the Laplace approximation, drawn in towards the mode until inside."""
        u = self._rng.standard_normal(len(self._mode))
        while not np.isfinite(self._at(u)[0]):
            u *= 0.5
        return u

    def _at(self, u):
        theta = self._mode + self._S @ u
        low, high = self._bounds.T
        if (theta < low).any() or (theta > high).any():
            return np.inf, np.zeros_like(u)
        value, slope = self._loss(theta)
        return value, self._S.T @ slope

    def _trajectory(self, u, value, slope):
        momentum = self._rng.standard_normal(len(u))
        energy = value + 0.5 * momentum @ momentum
        step = self._step * self._rng.uniform(0.7, 1.1)
        place, end, end_slope = u, value, slope
        for _ in range(N_STEPS):
            momentum = momentum - 0.5 * step * end_slope
            place = place + step * momentum
            end, end_slope = self._at(place)
            if not np.isfinite(end):
                return u, value, slope
            momentum = momentum - 0.5 * step * end_slope
        gained = energy - end - 0.5 * momentum @ momentum
        if np.log(self._rng.random()) < gained:
            return place, end, end_slope
        return u, value, slope
