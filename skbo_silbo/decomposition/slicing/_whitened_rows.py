"""Whitened samples and their slice statistics."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from skbo_silbo._numerics.pencil import Pencil
from skbo_silbo._typing import FloatArray
from skbo_silbo.decomposition.rows._columns import with_positive_peaks


@dataclass(frozen=True, eq=False)
class WhitenedRows:
    """Whitened labelled samples and the inverse of the whitening transformation.

    Attributes
    ----------
    mean : ndarray of shape (d,)
    Z : ndarray of shape (n, q)
        Whitened samples, whose (weighted) mean is 0 and whose covariance is the identity.
    basis : CholeskyBasis or ExplicitBasis
        Whitening basis of the scatter matrix.
    root_n : float
    """

    mean: FloatArray
    Z: FloatArray
    basis: Any
    root_n: float

    @classmethod
    def from_data(cls, data, slices):
        """Whiten the labelled samples of a data set."""
        X, mean = data.center_on_labels()
        pencil = Pencil(slices.weighted(X), len(X), slices.membership())
        basis, root_n = pencil.basis, np.sqrt(slices.n_rows)
        Z = slices.unweighted(basis.whiten(pencil.X))
        Z *= root_n
        return cls(mean, Z, basis, root_n)

    def components(self, V):
        """Convert whitened directions to components whose scores have unit variance."""
        return with_positive_peaks((self.root_n * self.basis.lift(V)).T)


def slice_means(Z, slices):
    """Return the mean of the samples in each slice."""
    return (slices.membership().T @ slices.weighted(Z)) / np.sqrt(slices.counts)[:, None]


def centred_groups(Z, slices, means):
    """Return the centred samples of each slice, multiplied by the square roots of the weights."""
    groups = []
    for h, mean in enumerate(means):
        members = slices.codes == h
        group = Z[members] - mean
        if slices.weights is not None:
            group *= slices.root_weights[members, None]
        groups.append(group)
    return groups


def sum_of_squared_scatters(groups, weights):
    """Return the weighted sum of the squared scatter matrices of all slices."""
    total = np.zeros(2 * groups[0].shape[1:])
    for group, weight in zip(groups, weights, strict=True):
        scatter = group.T @ group
        total += weight * (scatter @ scatter)
    return total
