"""Standard errors of the directions of plain slices by the delta method.

==========  ==========  =======================================================================
symbol      shape       meaning
==========  ==========  =======================================================================
z           (n, d)      scores along all d directions, of unit variance
m           (n, d)      mean of the slice of each sample in these scores
lambda      (d,)        eigenvalues in decreasing order
h           (n,)        leverage of a sample, ``(1 + z'z) / n``
==========  ==========  =======================================================================

The influence of a sample on direction ``b_i`` is ``(z_j m_i + m_j z_i - m_j m_i - lambda_i z_j z_i)
/ (lambda_i - lambda_j) / n`` along each other ``b_j``, and ``(1 - z_i^2) / 2 / n`` along ``b_i``:
the first derivative of an eigenvector of unit score variance. Divided by ``1 - h``, it approximates
the effect of leaving the sample out. The sum of squares over the samples estimates the variance for
any distribution of X. For normal X and a single direction, the variance across it is about ``(1 -
lambda) / lambda / n`` times the inverse covariance of X (Chen and Li, "Can SIR be as popular as
multiple linear regression?", Statist. Sinica 8, 1998).

The directions are not scaled to unit length: among collinear columns, the length is mostly error,
and dividing by it would shrink the errors of the entries with the largest errors.
"""

import numpy as np
from scipy import linalg

from skbo_silbo.decomposition.slicing._whitened_rows import slice_means

LEAST_LEFT = 0.1  # lower limit of the divisor ``1 - h``


def direction_errors(X, slices, r):
    """Return the standard errors of the loadings of the first r directions.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Labelled samples, one per row. There must be more samples than features.
    slices : Slices
        Slices of the samples, which have no weights.
    r : int

    Returns
    -------
    ndarray of shape (r, d), or None
        Standard errors of the entries of the directions, or None if the columns of X are linearly
        dependent.
    """
    n, X = len(X), X - X.mean(axis=0)
    means = slice_means(X, slices)
    try:
        eigenvalues, B = linalg.eigh((means.T * slices.counts) @ means / n, X.T @ X / n)
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
        errors[i] = np.linalg.norm((moved / left) @ B.T, axis=0) / n
    return errors
