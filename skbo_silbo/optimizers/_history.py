"""What has been evaluated."""

import numpy as np

from skbo_silbo.optimizers._modelled_values import as_modelled, is_beyond


class History:
    """The evaluated points and their values, in the order told. It does not change.

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

    def with_added(self, points, X, y, noise_std):
        """Return a history with evaluations appended."""
        longer = History(self.X.shape[1])
        longer.points = [*self.points, *points]
        longer.X, longer.y = np.vstack([self.X, X]), np.append(self.y, y)
        longer.noise_std = np.append(self.noise_std, noise_std)
        return longer

    def best_index(self):
        """Return the position of the lowest finite value, the first of equals; None without one."""
        finite = np.isfinite(self.y)
        return int(np.argmin(np.where(finite, self.y, np.inf))) if finite.any() else None

    def best_places(self, n):
        """Return the places, (k, n_features), of the n lowest finite values at most."""
        finite = np.flatnonzero(np.isfinite(self.y))
        return self.X[finite[np.argsort(self.y[finite], kind="stable")[:n]]]

    def count_beyond(self):
        """Return how many values are beyond what can be modelled with the others."""
        return int(is_beyond(self.y).sum())

    def canonical(self):
        """Return X, y and noise_std, sorted in this order, on which a model may depend.

        Values and noise are as models see them (`as_modelled`).
        """
        order = np.lexsort([self.noise_std, self.y, *self.X.T[::-1]])
        return self.X[order], *as_modelled(self.y[order], self.noise_std[order])


def impute_failures(y):
    """Return y with every failed value replaced by the worst that succeeded; zeros if none did.

    A failed point is then unattractive, and so is its neighbourhood, but no worse than a place
    known to be bad: one crash does not bend the surrogate out of shape.
    """
    finite = np.isfinite(y)
    return np.where(finite, y, y[finite].max()) if finite.any() else np.zeros_like(y)
