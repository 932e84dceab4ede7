"""Kernel ridge regression with a Laplace kernel, and the gradients of its fit.

=========  ========  ==========================================================================
symbol     shape     meaning
=========  ========  ==========================================================================
Z          (n, p)    rows
w          (n,)      weights of the rows
T          (n, t)    targets of weighted mean 0
h          scalar    bandwidth: ten times the mean distance between two centres
K          (m, m)    ``exp(-|z_i - z_j| / h)`` of the centres: all rows, or the first m
c          (m, t)    coefficients; they sum to 0 if all rows are centres
f(z)       (t,)      ``sum_i c_i (k(z, z_i) - m_i)``, m_i the weighted mean of k(., z_i)
=========  ========  ==========================================================================
"""

import numpy as np
from scipy import linalg
from scipy.spatial.distance import cdist

from skbo_silbo._numerics.leave_one_out import LEAST_FREEDOM, best_ridge
from skbo_silbo._typing import FloatArray

# Bandwidth relative to the mean distance between rows. On 12 data sets with 40 and 120 labels, R^2
# was lower by 0.040 with a factor of 1 (standard error 0.009) and by 0.009 with 3 (0.003).
WIDTH = 10.0
LEAST_NOISE = 1e-8  # smallest noise variance relative to the variance of the targets
TINY = np.finfo(float).tiny
BATCH_NUMBERS = 4_000_000  # batch size of distances and gradients, in numbers (32 MB)
# Eigenvalues of the centred kernel below this share of the kernel's trace count as zero.
RANGE_TOLERANCE = 1e-12


class LaplaceRidge:
    """Kernel ridge regression with a Laplace kernel and a ridge chosen by leave-one-out error.

    Parameters
    ----------
    Z : ndarray of shape (n, p)
    T : ndarray of shape (n, t)
    weights : ndarray of shape (n,)
    n_centres : int, default=None
        Number of leading rows of Z whose kernel functions span the fit (Nystroem). None uses all
        rows.
    """

    def __init__(
        self, Z: FloatArray, T: FloatArray, weights: FloatArray, n_centres: int | None = None
    ) -> None:
        self.centres = Z[:n_centres]
        distances = cdist(self.centres, self.centres)
        self.bandwidth = WIDTH * mean_distance(distances, weights[:n_centres])
        shares, root = weights / weights.sum(), np.sqrt(weights)[:, None]
        K = np.exp(-distances / self.bandwidth)
        if len(K) == len(Z):
            basis, squares, left = self._exact_features(K, shares, root)
        else:
            basis, squares, left = self._nystroem_features(K, Z, shares, root)
        targets = root * T
        self.ridge = best_ridge(left, squares, targets, intercept=True, weights=weights)
        absolute = self.ridge * squares.sum() / weights.sum()
        self.coefficients = basis @ (
            (np.sqrt(squares) / (squares + absolute))[:, None] * (left.T @ targets)
        )
        self.offsets = self._means @ self.coefficients
        # For variances: leave-one-out errors have the variance noise / freedom.
        kept = squares / (squares + absolute)
        self._whitening = basis * np.sqrt(kept)
        residuals = targets - left @ (kept[:, None] * (left.T @ targets))
        freedom = np.maximum(1 - shares - left**2 @ kept, LEAST_FREEDOM)
        noise = np.sum(residuals**2 / freedom[:, None], axis=0)
        least = np.maximum(LEAST_NOISE * (weights @ T**2), TINY)
        self.noise = np.maximum(noise, least) / weights.sum()
        self.signal = self.noise / absolute if absolute else 0 * self.noise

    def _exact_features(self, K, shares, root):
        """Return orthogonal features of the centred rows.

        The features of a point are its centred kernel values times `basis`. `squares` holds the
        weighted sum of squares of each feature over the rows, and `left` the features scaled to
        unit length.
        """
        self._means, self._average = K @ shares, shares
        centred = K - self._means - self._means[:, None] + shares @ self._means
        squares, left = linalg.eigh(root * centred * root.T, check_finite=False, driver="evd")
        kept = squares > RANGE_TOLERANCE * np.sum(root**2)
        squares, left = squares[kept], left[:, kept]
        return root * left / np.sqrt(squares), squares, left

    def _nystroem_features(self, K, Z, shares, root):
        """Return orthogonal features of rows projected onto the centres' kernel functions."""
        values, V = linalg.eigh(K, check_finite=False, driver="evd")
        kept = values > RANGE_TOLERANCE * len(K)
        basis = V[:, kept] / np.sqrt(values[kept])
        kernel = self._kernel(Z)[0]
        self._means = shares @ kernel
        self._average = basis @ (basis.T @ self._means)
        kernel -= self._means
        kernel *= root
        features = kernel @ basis
        squares, V = linalg.eigh(features.T @ features, check_finite=False, driver="evd")
        kept = squares > RANGE_TOLERANCE * np.sum(root**2)
        squares, V = squares[kept], V[:, kept]
        return basis @ V, squares, features @ (V / np.sqrt(squares))

    def predict(self, at: FloatArray) -> FloatArray:
        """Predict the targets at the given points."""
        parts = [self._kernel(at[rows])[0] @ self.coefficients for rows in self._batches(at)]
        return np.concatenate(parts) - self.offsets

    def variance(self, at: FloatArray) -> FloatArray:
        """Predict the variances of new observations of all targets at the given points.

        Each is `noise` plus the posterior variance of a Gaussian process with prior variance
        `signal`, scaled to match the mean squared leave-one-out error.
        """
        return np.concatenate([self._variance(at[rows]) for rows in self._batches(at)])

    def _variance(self, at):
        kernel = self._kernel(at)[0]
        prior = 1 - 2 * kernel @ self._average + self._average @ self._means
        explained = np.sum(((kernel - self._means) @ self._whitening) ** 2, axis=1)
        return self.noise + self.signal * np.maximum(prior - explained, 0.0)[:, None]

    def outer_product(self, at: FloatArray, weights: FloatArray, *, diagonal: bool) -> FloatArray:
        """Return the average outer product of the gradients at the given points.

        Returns
        -------
        ndarray of shape (p, p), or (p,) where `diagonal`
            Weighted average outer product of the gradients, summed over the targets, or only its
            diagonal if `diagonal` is True.
        """
        p = self.centres.shape[1]
        total = np.zeros(p if diagonal else (p, p))
        for rows in self._batches(at):
            w = weights[rows]
            for gradients in self._gradients(at[rows]):
                total += w @ gradients**2 if diagonal else (w * gradients.T) @ gradients
        return total / weights.sum()

    def _gradients(self, at):
        """Yield the gradients of each target at all points.

        A row does not contribute to the gradient at its own position.
        """
        kernel, distances = self._kernel(at)
        pull = np.divide(kernel, distances, out=kernel, where=distances > 0)
        pull[distances == 0] = 0.0
        for c in self.coefficients.T:
            weighed = pull * (c / self.bandwidth)
            yield weighed @ self.centres - weighed.sum(axis=1)[:, None] * at

    def _kernel(self, at):
        distances = cdist(at, self.centres)
        return np.exp(-distances / self.bandwidth), distances

    def _batches(self, at):
        size = max(1, BATCH_NUMBERS // (len(self.centres) + at.shape[1]))
        return [slice(start, start + size) for start in range(0, len(at), size)]


def mean_distance(distances: FloatArray, weights: FloatArray) -> float:
    """Return the weighted mean of a matrix of distances, or 1 in place of 0."""
    shares = weights / weights.sum()
    return float(shares @ distances @ shares) or 1.0
