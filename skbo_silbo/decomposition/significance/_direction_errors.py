"""Standard errors of the directions of plain slices, in closed form.

==========  ==========  =======================================================================
symbol      shape       meaning
==========  ==========  =======================================================================
z           (n, d)      scores along all d directions, of unit variance
m           (n, d)      mean of the slice of each row in these scores
lambda      (d,)        eigenvalues, falling
h           (n,)        leverage of a row, ``(1 + z'z) / n``
==========  ==========  =======================================================================

A row moves ``b_i`` along ``b_j`` by ``(z_j m_i + m_j z_i - m_j m_i - lambda_i z_j z_i) / (lambda_i
- lambda_j)``, and along itself by ``(1 - z_i^2) / 2``, over n: the first derivative of an
eigenvector of unit score variance. Over ``1 - h`` it is nearly what leaving the row out does. The
sum of squares over the rows is the variance, whatever the distribution of X. For normal X and one
direction, what is across it is near ``(1 - lambda) / lambda / n`` times the inverse of the variance
of X (Chen and Li, "Can SIR be as popular as multiple linear regression?", Statist. Sinica 8, 1998).

The length of b is no unit to divide by: among collinear columns it is mostly error, which would
shrink the errors of the entries that have most of it.
"""

import numpy as np
from scipy import linalg

from ..slicing._whitened_rows import slice_means

LEAST_LEFT = 0.1  # least ``1 - h`` that is divided by


def direction_errors(X, slices, r):
    """Return standard errors (r, d) of the first r directions, of unit score variance.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Labelled rows, more than features.
    slices : Slices
        Counted: a row of weight 3 is three rows.
    r : int

    Returns
    -------
    ndarray of shape (r, d), or None
        None where columns of X do not vary independently.
    """
    n, weights = slices.n_rows, slices.weights
    X = X - np.average(X, axis=0, weights=weights)
    rows, means = slices.weighted(X), slice_means(X, slices)
    try:
        eigenvalues, B = linalg.eigh((means.T * slices.counts) @ means / n, rows.T @ rows / n)
    except linalg.LinAlgError:
        return None
    eigenvalues, B = eigenvalues[::-1], B[:, ::-1]
    Z, M = X @ B, (means @ B)[slices.codes]
    left = np.maximum(1 - (1 + np.sum(Z**2, axis=1, keepdims=True)) / n, LEAST_LEFT)
    errors = np.empty((r, len(B)))
    for i in range(r):
        z, m, gaps = Z[:, [i]], M[:, [i]], eigenvalues[i] - eigenvalues
        gaps[i] = np.inf
        moved = (Z * m + M * z - M * m - eigenvalues[i] * Z * z) / gaps
        moved[:, [i]] = (1 - z**2) / 2
        errors[i] = np.linalg.norm(slices.weighted(moved / left) @ B.T, axis=0) / n
    return errors
