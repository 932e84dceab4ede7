"""Local linear regression at every row, for outer products of gradients and for MAVE.

=========  ============  ===================================================================
symbol     shape         meaning
=========  ============  ===================================================================
X, Y       (n, d), (n, t) rows with columns of mean 0 and variance 1, responses
V          (n, k)        inputs of the kernel
w          (n, n)        Gaussian weights ``exp(-|v_i - v_j|^2 / (2 h^2))``, times s_i
s          (n,)          weights of the rows themselves
m_j, C_j   (d,), (d, d)  weighted mean and variance of the rows about row j
c_j        (d, t)        weighted covariance of the rows with Y about row j
b_j        (d, t)        slopes at row j
=========  ============  ===================================================================

All local moments are one product of the weights with the products of pairs of columns: O(n^2 d^2)
multiplications, without a loop over rows. Variances are then differences of second moments, which
are inaccurate at isolated rows. For these rows, the moments are computed again from differences
between rows.
"""

from dataclasses import dataclass

import numpy as np

from skbo_silbo._typing import FloatArray

BATCH_NUMBERS = 10_000_000  # batch size of local variances, in numbers (80 MB)
# Share of the second moment below which a local variance is computed from differences. Above it, at
# most four of sixteen digits cancel.
LONELY = 1e-4


@dataclass(frozen=True, eq=False)
class LocalMoments:
    """Weighted moments of the data around each of several points.

    Attributes
    ----------
    rows : slice
    mean : ndarray of shape (m, d)
    covariance : ndarray of shape (m, d, t)
        Weighted covariances c_j between the inputs and the targets about each row.
    y_mean : ndarray of shape (m, t)
    variance : ndarray of shape (m, d, d)
    kernel : ndarray of shape (m, n)
        Gaussian weight of each of the n rows in the regression around each of the m rows of the
        batch. Sample weights are not included.
    """

    rows: slice
    mean: np.ndarray
    covariance: np.ndarray
    y_mean: np.ndarray
    variance: np.ndarray
    kernel: np.ndarray

    def slopes(self, ridge: float) -> FloatArray:
        """Return the slopes of the local linear regressions."""
        d = self.variance.shape[1]
        scale = np.einsum("jkk->j", self.variance) / d
        ridged = self.variance + (ridge * scale + np.finfo(float).tiny)[:, None, None] * np.eye(d)
        return np.linalg.solve(ridged, self.covariance)


def gaussian_weights(at: FloatArray, V: FloatArray, bandwidth: float) -> FloatArray:
    """Return the Gaussian weight of each row of V around each of the given points."""
    left = np.column_stack([at, _minus_half_squares(at), np.ones(len(at))])
    right = np.column_stack([V, np.ones(len(V)), _minus_half_squares(V)])
    exponents = (left / bandwidth) @ (right / bandwidth).T
    np.minimum(exponents, 0.0, out=exponents)
    return np.exp(exponents, out=exponents)


def _minus_half_squares(V):
    return -0.5 * np.einsum("ij,ij->i", V, V)


def local_moments(X, Y, V, bandwidth, weights, at=None):
    """Yield the weighted moments of the data around each point, in batches of points."""
    (n, d), t = X.shape, Y.shape[1]
    at = V if at is None else at
    left, right = np.triu_indices(d)
    crossed = (X[:, :, None] * Y[:, None, :]).reshape(n, d * t)
    products = np.hstack([np.ones((n, 1)), X, Y, crossed, X[:, left] * X[:, right]])
    starts = np.cumsum([1, d, t, d * t])
    products *= weights[:, None]
    size = max(1, BATCH_NUMBERS // d**2)
    for start in range(0, len(at), size):
        rows = slice(start, min(start + size, len(at)))
        kernel = gaussian_weights(at[rows], V, bandwidth)
        sums = kernel @ products
        sums /= np.maximum(sums[:, :1], np.finfo(float).tiny)
        _, mean, y_mean, crossed, squares = np.split(sums, starts, axis=1)
        variance = np.empty((len(sums), d, d))
        variance[:, left, right] = variance[:, right, left] = squares
        variance -= mean[:, :, None] * mean[:, None, :]
        covariance = crossed.reshape(-1, d, t) - mean[:, :, None] * y_mean[:, None, :]
        spread = np.einsum("jkk->j", variance)
        lonely = np.flatnonzero(spread < LONELY * (spread + np.sum(mean**2, axis=1)))
        for j in lonely:
            variance[j], covariance[j] = _moments_by_differences(X, Y, kernel[j] * weights)
        yield LocalMoments(rows, mean, covariance, y_mean, variance, kernel)


def _moments_by_differences(X, Y, weights):
    """Compute weighted variances and covariances from differences to a nearby row.

    The differences of this row are exactly 0, so rows with small weights lose no precision.
    """
    near, heaviest = weights > 0, weights.argmax()
    w = weights[near] / weights.sum()
    gaps, y_gaps = X[near] - X[heaviest], Y[near] - Y[heaviest]
    weighted, rest = gaps * w[:, None], w @ gaps
    covariance = weighted.T @ y_gaps - np.outer(rest, w @ y_gaps)
    return gaps.T @ weighted - np.outer(rest, rest), covariance


def local_slopes(X, Y, V, bandwidth, ridge, weights):
    """Return the slopes of local linear regressions of Y, of shape (n, d, t)."""
    parts = local_moments(X, Y, V, bandwidth, weights)
    return np.concatenate([part.slopes(ridge) for part in parts])


def mave_step(X, Y, B, bandwidth, ridge, weights):
    """Improve the directions B by one iteration of MAVE.

    First the slopes along B are fitted at each row. Then the B that fits best with these slopes is
    computed: it minimises ``sum_j s_j sum_i w_ij |y_i - a_j - b_j'B'(x_i - x_j)|^2 / sum_i w_ij``
    with the a_j profiled out (Xia et al. 2002, eqs. 3.6 and 3.7). Summing over j first avoids local
    variances (d, d) and costs O(n^2 d).

    Returns
    -------
    B : ndarray of shape (d, r)
        Directions to improve: orthonormal columns, ordered from the steepest to the flattest
        direction.
    """
    (d, r), (n, t) = B.shape, Y.shape
    Z, s = X @ B, weights
    weighted, seen = s[:, None] * X, np.zeros((n, r * r + r * t))  # weighted slopes, by row i
    normal, right = np.zeros((r * r, d * d)), np.zeros((r, d))
    for part in local_moments(Z, Y, Z, bandwidth, weights):
        slopes, kernel = part.slopes(ridge), part.kernel
        total = np.maximum(kernel @ s, np.finfo(float).tiny)[:, None]
        mean, counted = kernel @ weighted / total, slopes * s[part.rows, None, None]
        of_pairs = (counted @ slopes.transpose(0, 2, 1)).reshape(-1, r * r)
        seen += kernel.T @ (np.hstack([of_pairs, counted.reshape(-1, r * t)]) / total)
        for place in range(r * r):
            normal[place] -= ((mean.T * of_pairs[:, place]) @ mean).ravel()
        right -= np.einsum("jrt,jt->rj", counted, part.y_mean) @ mean
    pairs, crossed = np.split(s[:, None] * seen, [r * r], axis=1)
    for place in range(r * r):
        normal[place] += ((X.T * pairs[:, place]) @ X).ravel()
    right += np.einsum("irt,it->ri", crossed.reshape(n, r, t), Y) @ X
    normal = normal.reshape(r, r, d, d).transpose(0, 2, 1, 3).reshape(r * d, r * d)
    least = np.finfo(float).tiny  # where Y is constant
    normal[np.diag_indices_from(normal)] += ridge * np.trace(normal) / len(normal) + least
    return np.linalg.qr(np.linalg.solve(normal, right.ravel()).reshape(r, d).T)[0]


def local_predictions(Z, Y, at, bandwidth, ridge, weights):
    """Predict the targets by local linear regression on the scores Z."""
    values = []
    for part in local_moments(Z, Y, Z, bandwidth, weights, at):
        gap = at[part.rows] - part.mean
        values.append(part.y_mean + np.einsum("jk,jkt->jt", gap, part.slopes(ridge)))
    return np.concatenate(values)
