"""What has been evaluated."""

import numpy as np


class History:
    """The evaluated points and their values, in the order told.

    Parameters
    ----------
    n_features : int
        Columns of the encoded cube.

    Attributes
    ----------
    points : list
        The points as they were told.
    X : ndarray of shape (n, n_features)
        The same, encoded.
    y : ndarray of shape (n,)
        Their values; not finite where the evaluation failed.
    noise_std : ndarray of shape (n,)
        Standard deviations of the noise of the values, in the units of y; NaN where not known.
    """

    def __init__(self, n_features):
        self.points = []
        self.X = np.empty((0, n_features))
        self.y = self.noise_std = np.empty(0)

    def __len__(self):
        return self.y.size

    def add(self, points, X, y, noise_std):
        """Append evaluations."""
        self.points.extend(points)
        self.X, self.y = np.vstack([self.X, X]), np.append(self.y, y)
        self.noise_std = np.append(self.noise_std, noise_std)

    def best_index(self):
        """Return the position of the lowest finite value, the first of equals; None without one."""
        finite = np.isfinite(self.y)
        return int(np.argmin(np.where(finite, self.y, np.inf))) if finite.any() else None

    def canonical(self):
        """Return X, y and noise_std, sorted in this order, on which a model may depend."""
        order = np.lexsort([self.noise_std, self.y, *self.X.T[::-1]])
        return self.X[order], self.y[order], self.noise_std[order]


def impute_failures(y):
    """Return y with every failed value replaced by the worst that succeeded; zeros if none did.

    A failed point is then unattractive, and so is its neighbourhood, but no worse than a place
    known to be bad: one crash does not bend the surrogate out of shape.
    """
    finite = np.isfinite(y)
    return np.where(finite, y, y[finite].max()) if finite.any() else np.zeros_like(y)
