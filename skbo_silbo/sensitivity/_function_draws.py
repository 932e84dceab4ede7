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
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_solve
from scipy.stats import chi2

from skbo_silbo._numerics._matern import matern52, scaled_squared_distances

N_FEATURES = 512
DEGREES = 5  # of freedom: the spectrum of a Matern kernel of order 5/2 is Student's t


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
