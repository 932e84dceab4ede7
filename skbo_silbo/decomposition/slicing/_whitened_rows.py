"""Labelled rows in coordinates in which their variance is the identity."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._numerics._pencil import Pencil
from ..._typing import FloatArray
from ..rows._centering import center_on_labels, with_positive_peaks


@dataclass(frozen=True, eq=False)
class WhitenedRows:
    """Whitened rows, and the way back to the features.

    Attributes
    ----------
    mean : ndarray of shape (d,)
    Z : ndarray of shape (n, q)
        Of (weighted) mean 0 and variance I.
    basis : CholeskyBasis or ExplicitBasis
        That whitens the scatter of the rows.
    root_n : float
    """

    mean: FloatArray
    Z: FloatArray
    basis: Any
    root_n: float

    @classmethod
    def of(cls, data, slices):
        """Whiten the labelled rows of a `LabelledData`, weighed as their slices are."""
        X, mean = center_on_labels(data)
        pencil = Pencil(slices.weighted(X), len(X), slices.membership())
        basis, root_n = pencil.basis, np.sqrt(slices.n_rows)
        Z = slices.unweighted(basis.whiten(pencil.X))
        Z *= root_n
        return cls(mean, Z, basis, root_n)

    def components(self, V):
        """Directions (r, d) of whitened ones V (q, r): scores of unit variance, positive peaks."""
        return with_positive_peaks((self.root_n * self.basis.lift(V)).T)
