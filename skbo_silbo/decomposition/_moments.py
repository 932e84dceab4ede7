"""Running moments of rows that come in chunks: all that plain SIR needs of them."""

from dataclasses import dataclass, replace

import numpy as np

from ._scatter import is_constant


@dataclass(frozen=True)
class SliceMoments:
    """Counts, means and scatter of the rows seen, about their running mean.

    Attributes
    ----------
    mean : ndarray of shape (d,)
    scatter : ndarray of shape (d, d)
        Sum of ``(x - mean)(x - mean)'``.
    counts : ndarray of shape (H,)
    slice_means : ndarray of shape (H, d)
        Zero where the count is.
    """

    mean: np.ndarray
    scatter: np.ndarray
    counts: np.ndarray
    slice_means: np.ndarray

    @classmethod
    def of(cls, X, codes, n_slices):
        """Moments of one chunk: X (n, d) with n >= 1, codes (n,) in 0..n_slices - 1."""
        mean = X.mean(axis=0)
        centred = X - mean
        counts = np.bincount(codes, minlength=n_slices)
        one_hot = codes == np.arange(n_slices)[:, None]
        slice_means = mean + (one_hot @ centred) / np.maximum(counts, 1)[:, None]
        slice_means[counts == 0] = 0.0
        return cls(mean, centred.T @ centred, counts, slice_means)

    @property
    def n(self):
        """Rows seen."""
        return int(self.counts.sum())

    def merged(self, other):
        """Moments of both sets of rows together (Chan, Golub and LeVeque 1983)."""
        n = self.n + other.n
        shift = other.mean - self.mean
        scatter = self.scatter + other.scatter
        scatter += (self.n * other.n / n) * np.outer(shift, shift)
        counts = self.counts + other.counts
        weight = (other.counts / np.maximum(counts, 1))[:, None]
        slice_means = self.slice_means + weight * (other.slice_means - self.slice_means)
        return SliceMoments(self.mean + shift * (other.n / n), scatter, counts, slice_means)

    def without_constant_columns(self):
        """Return the same moments with exact zeros where a column only varies by rounding."""
        constant = is_constant(np.diag(self.scatter) / self.n, self.mean)
        scatter, slice_means = self.scatter.copy(), self.slice_means.copy()
        scatter[constant], scatter[:, constant] = 0.0, 0.0
        slice_means[:, constant] = self.mean[constant]
        return replace(self, scatter=scatter, slice_means=slice_means)

    def slice_sums(self):
        """N (number of slices with rows, d): ``sqrt(n_h) (mean_h - mean)``."""
        held = self.counts > 0
        return np.sqrt(self.counts[held])[:, None] * (self.slice_means[held] - self.mean)
