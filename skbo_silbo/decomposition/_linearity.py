"""Is the mean of X linear in the scores found? What sliced inverse regression takes for granted.

==========  ==========  =======================================================================
symbol      shape       meaning
==========  ==========  =======================================================================
Z           (n, r)      scores along the directions found
A, B        (n, 1 + r), the constant and Z; the squares and products of Z, less their regression
            (n, m)      on A
==========  ==========  =======================================================================

With E[x | Z] linear in Z the slice means of X stay in the span wanted (Li 1991, condition 3.1):
true for elliptical X. Where a feature is curved in Z, slicing returns that curve as a direction.
"""

import warnings

import numpy as np
from scipy import stats

MAX_ROWS = 2000
"""Rows looked at, evenly spaced in the order given."""
ROWS_PER_FEATURE = 3
"""With fewer labelled rows a feature, scores are made of noise and the diagnostic is not taken."""
CURVED_SHARE = 0.25
"""Share of a feature's variance, explained by curvature alone, from which it is worth a warning."""
SIGNIFICANCE = 1e-3
"""Level of the F test of that curvature, over all features together."""


def curvature(X, components):
    """Share of every feature's variance that squares and products of the scores explain alone.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Centred labelled rows.
    components : ndarray of shape (r, d)

    Returns
    -------
    shares : ndarray of shape (d,)
        Adjusted for the number of terms; NaN everywhere where there are too few rows to tell.
    curved : ndarray of shape (d,)
        Whether the share is large, and significant.
    """
    X = X[:: -(-len(X) // MAX_ROWS)]
    n, d = X.shape
    Z = X @ components.T
    first, second = np.triu_indices(Z.shape[1])
    p, m = 1 + Z.shape[1], len(first)
    if n < ROWS_PER_FEATURE * d or n < 5 * (p + m):
        return np.full(d, np.nan), np.zeros(d, dtype=bool)
    A = np.linalg.qr(np.column_stack([np.ones(n), Z]))[0]
    squares = Z[:, first] * Z[:, second]
    B = np.linalg.qr(squares - A @ (A.T @ squares))[0]
    total = np.sum((X - X.mean(axis=0)) ** 2, axis=0)
    safe = np.where(total > 0, total, 1.0)
    gained = np.sum((B.T @ X) ** 2, axis=0) / safe
    left = np.clip(1 - np.sum((A[:, 1:].T @ X) ** 2, axis=0) / safe - gained, 1e-12, 1)
    df = n - p - m
    p_values = stats.f.sf((gained / m) / (left / df), m, df)
    shares = gained - m * left / df
    return shares, (shares > CURVED_SHARE) & (p_values < SIGNIFICANCE / d)


def warn_of_curvature(shares, curved):
    """Say which features bend along the directions found."""
    most = int(np.nanargmax(np.where(curved, shares, -np.inf)))
    warnings.warn(
        f"{curved.sum()} of {len(shares)} features are curved along the directions found: feature "
        f"{most} has {shares[most]:.2f} of its variance explained by their squares and products "
        "(curvature_). Sliced inverse regression takes the mean of X for linear in the scores; "
        "here it returns such curves as further directions. Transform or drop those features, or "
        "use ActiveSubspace.",
        UserWarning,
        stacklevel=4,
    )
