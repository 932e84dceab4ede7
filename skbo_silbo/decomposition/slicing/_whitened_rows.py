"""Labelled rows in coordinates in which their variance is the identity, and slices of them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg

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
    def from_data(cls, data, slices):
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


def slice_means(Z, slices):
    """Means (H, q) of the rows of each slice."""
    return (slices.membership().T @ slices.weighted(Z)) / np.sqrt(slices.counts)[:, None]


def centred_groups(Z, slices, means):
    """Rows of each slice less its mean, times their root weights."""
    groups = []
    for h, mean in enumerate(means):
        members = slices.codes == h
        group = Z[members] - mean
        if slices.weights is not None:
            group *= slices.root_weights[members, None]
        groups.append(group)
    return groups


def sum_of_squared_scatters(groups, weights):
    """``sum_h w_h (A_h'A_h)^2`` (q, q) for groups A_h (n_h, q).

    With fewer rows than columns ``A'A A'A = (L'A)'(L'A)`` for ``A A' = L L'`` (a pivoted Cholesky
    factor: centred rows are dependent): n_h^2 q + n_h q^2 operations in place of q^3.
    """
    q = groups[0].shape[1]
    total, rows = np.zeros((q, q)), []
    for group, weight in zip(groups, weights, strict=True):
        if len(group) < q:
            factor, pivots, rank, _ = linalg.lapack.dpstrf(group @ group.T, lower=1)
            columns, root = group[pivots - 1].T, np.sqrt(weight)
            columns = linalg.blas.dtrmm(root, factor, columns, side=1, lower=1, overwrite_b=1)
            rows.append(columns[:, :rank].T)
        else:
            scatter = group.T @ group
            total += weight * (scatter @ scatter)
    if rows:
        stacked = np.concatenate(rows)
        total += stacked.T @ stacked
    return total
