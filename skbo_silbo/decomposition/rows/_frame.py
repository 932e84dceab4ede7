"""Standardised features, and the way back to the features' own units."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ._centering import ROUNDING, mean_and_spread


@dataclass(frozen=True, eq=False)
class Frame:
    """Location and scale of the (weighted) labelled rows, without columns constant there."""

    mean: np.ndarray  # (n_features,)
    varying: np.ndarray  # (n_features,) of bool
    scale: np.ndarray  # (number of varying,)
    y_mean: Any  # a float, or (q,) for several responses
    y_scale: Any

    @classmethod
    def from_labelled(cls, X, y, weights=None):
        """Frame of labelled rows, of which at least one column varies."""
        varying = np.ptp(X, axis=0) > ROUNDING * np.abs(X).max(axis=0)
        mean, scale = mean_and_spread(X, weights)
        return cls(mean, varying, scale[varying], *mean_and_spread(y, weights))

    def standardise(self, X):
        """Return the columns that vary, over their standard deviation."""
        return (X[:, self.varying] - self.mean[self.varying]) / self.scale

    def slopes(self, gradients):
        """Slopes (n, q, number of varying) of standardised responses along such columns."""
        return gradients[:, :, self.varying] * self.scale / self.y_scale[:, None]

    def rows_in_features(self, directions):
        """Return orthonormal rows over all features; the first j span the first j directions."""
        rows = np.zeros((len(directions), self.mean.size))
        rows[:, self.varying] = directions / self.scale
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        basis = np.linalg.qr(rows.T)[0].T
        largest = np.argmax(np.abs(basis), axis=1)
        return basis * np.sign(basis[np.arange(len(basis)), largest])[:, None]
