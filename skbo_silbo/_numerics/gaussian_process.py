"""Gaussian process regression with a Matern-5/2 kernel, one weight per input, and its gradients.

The covariance is ``K = v (R + eta I)`` with R the Matern-5/2 correlation at the weights w, v the
signal variance and ``v eta`` the noise variance; the mean is zero, so targets must be centred
(Rasmussen and Williams 2006, eqs. 2.30, 5.8 and 5.9).

=========  ========  ========================================================================
symbol     shape     meaning
=========  ========  ========================================================================
X, y       (n, d)    points, and (n,) centred targets
w          (d,)      weights, inverse squared length scales
C          (n, n)    ``R + eta I``, so that ``K = v C``
a          (n,)      dual coefficients ``K^-1 y``
G          (n, n)    ``(a a' - K^-1) / 2``, derivative of the log likelihood by K
c          (n,)      multiplicity of a row: the power of its likelihood
=========  ========  ========================================================================

The likelihood of c copies of a value is the likelihood of one value with noise ``v eta / c``, times
``c^-1/2 (2 pi v eta)^((1 - c)/2)``; c need not be an integer.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.linalg import cholesky
from scipy.linalg.blas import dtrsv
from scipy.linalg.lapack import dpotri, dpotrs, dtrtri, dtrtrs

from skbo_silbo._numerics.matern import (
    DistancesTo,
    gradient_by_points,
    gradient_by_weights,
    matern52,
)
from skbo_silbo._typing import FloatArray

LEAST_VARIANCE = 1e-14  # smallest predicted variance relative to the signal variance
IN_PLACE = {"lower": True, "overwrite_a": True, "check_finite": False}  # for C.T (Fortran order)
JITTER = 1e-10  # smallest noise variance for standardised targets
FANTASY_VARIANCE = 1e-8  # noise of added values relative to the signal, as regularisation


@dataclass(frozen=True, eq=False)
class GaussianProcess:
    """Gaussian process conditioned on data, created by `Observations.condition`.

    Attributes
    ----------
    X : ndarray of shape (n, d)
    y : ndarray of shape (n,)
    weights : ndarray of shape (d,)
        Inverse squared length scale of each input, in inverse squared units of X.
    signal_variance : float
        Variance of the noise-free process, in squared units of y.
    noise_variance : float or ndarray of shape (n,)
        Variance of the noise, common to all targets or one for each target, in squared units of y.
    cholesky : ndarray of shape (n, n)
        Lower triangular Cholesky factor L with ``L L' = R + (noise_variance / signal_variance) I``.
    dual : ndarray of shape (n,)
        Dual coefficients ``K^-1 y``.
    distances : DistancesTo
        Function that computes the scaled squared distances from other points to X with these
        weights.
    """

    X: np.ndarray
    y: np.ndarray
    weights: np.ndarray
    signal_variance: float
    noise_variance: float | np.ndarray
    cholesky: np.ndarray
    dual: np.ndarray
    distances: DistancesTo

    def mean_gradient(self, X: FloatArray) -> FloatArray:
        """Return the gradient of the posterior mean at each row of X."""
        _, D = matern52(self.distances(X))
        D *= self.signal_variance * self.dual  # d mean_t / d q_tj
        return gradient_by_points(D, X, self.X, self.weights)

    def predict(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Predict the mean and variance of the noise-free process at each row of X.

        Returns
        -------
        mean, variance : ndarray of shape (m,)
            Posterior mean in the units of y, and posterior variance in squared units (Rasmussen and
            Williams 2006, eqs. 2.25 and 2.26).
        """
        correlation, _ = matern52(self.distances(X), derivative=False)
        half, _ = dtrtrs(self.cholesky, correlation.T, lower=1)
        mean = self.signal_variance * (correlation @ self.dual)
        left = np.maximum(1.0 - np.einsum("ij,ij->j", half, half), LEAST_VARIANCE)
        return mean, self.signal_variance * left

    def predict_gradient(self, X: FloatArray) -> tuple[FloatArray, ...]:
        """Predict the mean, the variance and their gradients at each row of X.

        Returns
        -------
        mean, variance : ndarray of shape (m,)
        by_mean, by_variance : ndarray of shape (m, d)
            Gradients of the posterior mean and the posterior variance with respect to the point.
        """
        correlation, derivative = matern52(self.distances(X))
        if len(X) == 1:  # twice as fast as LAPACK's routine for several right-hand sides
            half = dtrsv(self.cholesky, correlation[0], lower=1)
            solved = dtrsv(self.cholesky, half, lower=1, trans=1)[None]
        else:
            solved = dpotrs(self.cholesky, correlation.T, lower=1)[0].T
        mean = self.signal_variance * (correlation @ self.dual)
        left = np.maximum(1.0 - np.einsum("ij,ij->i", correlation, solved), LEAST_VARIANCE)
        both = np.concatenate([derivative * self.dual, derivative * solved])
        twice = np.concatenate([X, X])
        slopes = self.signal_variance * gradient_by_points(both, twice, self.X, self.weights)
        return mean, self.signal_variance * left, slopes[: len(X)], -2.0 * slopes[len(X) :]

    def with_values(self, X: FloatArray, y: FloatArray) -> "GaussianProcess":
        """Return the process conditioned on additional noise-free values at new points.

        The hyperparameters are unchanged.

        Parameters
        ----------
        X : ndarray of shape (m, d)
        y : ndarray of shape (m,)
            Noise-free values of the process at the rows of X.
        """
        all_X, all_y = np.vstack([self.X, X]), np.append(self.y, y)
        distances = DistancesTo(all_X, self.weights)
        correlation, _ = matern52(distances(X), derivative=False)  # (m, n + m)
        n, m = len(self.X), len(X)
        below = dtrtrs(self.cholesky, correlation[:, :n].T, lower=1)[0].T
        rest = correlation[:, n:] - below @ below.T  # posterior covariance
        rest[np.diag_indices_from(rest)] += FANTASY_VARIANCE
        corner = cholesky(rest, lower=True, check_finite=False)
        L = np.asfortranarray(np.block([[self.cholesky, np.zeros((n, m))], [below, corner]]))
        dual = dpotrs(L, all_y, lower=1)[0] / self.signal_variance
        noise = np.append(
            np.broadcast_to(self.noise_variance, n),
            np.full(m, FANTASY_VARIANCE * self.signal_variance),
        )
        v = self.signal_variance
        return GaussianProcess(all_X, all_y, self.weights, v, noise, L, dual, distances)

    def leave_one_out(self) -> tuple[FloatArray, FloatArray]:
        """Predict each target from all other targets, with unchanged hyperparameters.

        Returns
        -------
        mean, variance : ndarray of shape (n,)
            Predictive mean ``y_i - a_i / [K^-1]_ii`` and variance ``1 / [K^-1]_ii`` of each target
            given all others. The variance includes noise (Rasmussen and Williams 2006, eq. 5.12).
        """
        root = dtrtri(self.cholesky, lower=1)[0]  # its upper half is that of L: zero
        precision = np.einsum("ij,ij->j", root, root) / self.signal_variance
        return self.y - self.dual / precision, 1.0 / precision


class ProcessStack:
    """Several Gaussian processes on the same points, for fast joint predictions.

    Parameters
    ----------
    processes : sequence of m GaussianProcess
    """

    def __init__(self, processes: Sequence[GaussianProcess]) -> None:
        self._X = processes[0].X
        self._weights = np.array([process.weights for process in processes])[:, None]
        self._distances = DistancesTo(self._X, self._weights)
        self._signals = np.array([process.signal_variance for process in processes])
        self._duals = np.array([process.dual for process in processes])[:, :, None]
        self._choleskys = [process.cholesky for process in processes]

    def predict_gradient(self, x: FloatArray) -> tuple[FloatArray, ...]:
        """Predict means and variances at a single point, and their gradients.

        Parameters
        ----------
        x : ndarray of shape (1, d)

        Returns
        -------
        mean, variance : ndarray of shape (m,)
        by_mean, by_variance : ndarray of shape (m, d)
        """
        correlation, derivative = matern52(self._distances(x))  # (m, 1, n)
        solved = np.empty_like(correlation)
        for L, row, out in zip(self._choleskys, correlation, solved, strict=True):
            out[0] = dtrsv(L, dtrsv(L, row[0], lower=1), lower=1, trans=1)
        mean = self._signals * (correlation @ self._duals)[:, 0, 0]
        left = np.maximum(1.0 - np.einsum("kij,kij->k", correlation, solved), LEAST_VARIANCE)
        both = np.concatenate([derivative * self._duals.swapaxes(1, 2), derivative * solved], 1)
        slopes = gradient_by_points(both, x, self._X, self._weights)
        slopes *= self._signals[:, None, None]
        return mean, self._signals * left, slopes[:, 0], -2.0 * slopes[:, 1]


@dataclass(frozen=True, eq=False)
class Observations:
    """Training data of a Gaussian process.

    Attributes
    ----------
    X : ndarray of shape (n, d)
    y : ndarray of shape (n,)
        Targets with mean about 0 and variance about 1.
    known : ndarray of shape (n,) or float, default=0.0
        Known noise variance of each target. It is added to the estimated noise variance.
    copies : ndarray of shape (n,) or float, default=1.0
        Positive multiplicity of each row: a row with multiplicity 2 counts twice in the likelihood.
        It need not be an integer.
    shared : sequence of int, of length d, or None, default=None
        Index of the length scale that each column uses. If None, each column has its own length
        scale.
    """

    X: np.ndarray
    y: np.ndarray
    known: np.ndarray | float = 0.0
    copies: np.ndarray | float = 1.0
    shared: Sequence[int] | None = None

    @property
    def n_rows(self) -> Any:
        """Number of rows of the training data, counted with their multiplicity."""
        return np.broadcast_to(self.copies, len(self.y)).sum()

    def spread(self, most: int) -> Self:
        """Return a subset of at most `most` evenly spaced rows of the training data."""
        if self.n_rows <= most:
            return self
        copies = np.broadcast_to(self.copies, self.y.shape)
        at = np.linspace(0, self.n_rows - 1, most).astype(int)
        drawn = np.searchsorted(np.cumsum(copies), at, side="right")
        rows, times = np.unique(drawn, return_counts=True)
        known = np.broadcast_to(self.known, self.y.shape)[rows]
        return type(self)(self.X[rows], self.y[rows], known, times.astype(float), self.shared)

    def _weights(self, theta):
        """Return the inverse squared length scale of each column."""
        lengths = theta[1:-1] if self.shared is None else theta[1:-1][list(self.shared)]
        return np.exp(-2.0 * lengths)

    def condition(self, theta: FloatArray) -> GaussianProcess:
        """Return the Gaussian process with hyperparameters theta, conditioned on the data.

        Raises
        ------
        scipy.linalg.LinAlgError
            If the covariance is not numerically positive definite, because the noise is too small.

        Examples
        --------
        >>> import numpy as np
        >>> from skbo_silbo._numerics.gaussian_process import Observations
        >>> data = Observations(np.array([[0.0], [1.0]]), np.array([-1.0, 1.0]))
        >>> gp = data.condition(np.log([1.0, 1.0, 1e-6]))
        >>> gp.predict(np.array([[-1.0], [1.0]]))[0].round(2)
        array([-0.81,  1.  ])
        """
        weights = self._weights(theta)
        signal, noise = np.exp(theta[[0, -1]])
        noise_variance = (noise + JITTER + self.known) / self.copies
        distances = DistancesTo(self.X, weights)
        q = distances(self.X)
        np.fill_diagonal(q, 0.0)
        C, _ = matern52(q, derivative=False)
        np.einsum("ii->i", C)[...] += noise_variance / signal
        L = cholesky(C.T, **IN_PLACE)
        dual = dpotrs(L, self.y, lower=1)[0] / signal
        return GaussianProcess(self.X, self.y, weights, signal, noise_variance, L, dual, distances)

    def log_likelihood(self, theta: FloatArray) -> tuple[float, FloatArray]:
        """Return the log likelihood of theta, in nats, and its gradient.

        A row counts as often as its entry in `copies` says. The covariance is ``K = v R + diag((v
        eta + known) / copies)``. The computation takes O(n^3 + n^2 d) time and O(n^2 + n d) memory.
        """
        weights = self._weights(theta)
        signal, noise = np.exp(theta[[0, -1]])
        y, known, copies = self.y, self.known, self.copies
        variance = noise + known  # noise of one copy
        q = DistancesTo(self.X, weights)(self.X)
        np.fill_diagonal(q, 0.0)
        C, derivative = matern52(q)
        np.einsum("ii->i", C)[...] += variance / copies / signal
        L = cholesky(C.T, **IN_PLACE)
        dual = dpotrs(L, y, lower=1)[0] / signal
        half, _ = dpotri(L, lower=1)  # its upper half is that of L: zero
        G = half + np.tril(half, -1).T
        G *= -0.5 / signal
        G += 0.5 * np.outer(dual, dual)
        by_variance = np.diag(G) / copies
        derivative *= signal
        derivative *= G  # P of `matern`, by the chain rule
        by_lengths = -2.0 * (weights * gradient_by_weights(derivative, self.X))
        by_noise = noise * by_variance.sum()
        by_known = float(np.sum(known * by_variance))
        by_scale = 0.5 * (dual @ y - y.size)  # by the log of a factor on all of K
        by_copies = -0.5 * noise * np.sum((copies - 1.0) / variance)
        # identical copies are more likely with less noise
        by_value = (copies - 1.0) * np.log(2.0 * np.pi * variance) + np.log(copies)
        log_determinant = 2.0 * np.log(np.diag(L)).sum() + y.size * np.log(signal)
        value = -0.5 * float(y @ dual + log_determinant + y.size * np.log(2.0 * np.pi))
        if self.shared is not None:
            by_lengths = np.bincount(self.shared, by_lengths)
        ends = by_scale - by_noise - by_known, by_noise + by_copies
        gradient = np.concatenate([ends[:1], by_lengths, ends[1:]])
        return value - 0.5 * float(np.sum(by_value)), gradient
