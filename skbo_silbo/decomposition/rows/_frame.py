"""Standardised features, and the way back to the features' own units."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ._centering import mean_and_spread


@dataclass(frozen=True, eq=False)
class Frame:
    """Location and scale of the (weighted) labelled rows, all of whose columns vary."""

    mean: np.ndarray  # (d,)
    scale: np.ndarray  # (d,)
    y_mean: Any  # a float, or (q,) for several responses
    y_scale: Any

    @classmethod
    def from_labelled(cls, X, y, weights=None):
        """Frame of labelled rows."""
        return cls(*mean_and_spread(X, weights), *mean_and_spread(y, weights))

    def standardise(self, X):
        """Return the columns over their standard deviation."""
        return (X - self.mean) / self.scale

    def slopes(self, gradients):
        """Slopes (n, q, d) of standardised responses along such columns."""
        return gradients * self.scale / self.y_scale[:, None]

    def rows_in_features(self, directions):
        """Return orthonormal rows over the features; the first j span the first j directions."""
        rows = directions / self.scale
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        basis = np.linalg.qr(rows.T)[0].T
        largest = np.argmax(np.abs(basis), axis=1)
        return basis * np.sign(basis[np.arange(len(basis)), largest])[:, None]
