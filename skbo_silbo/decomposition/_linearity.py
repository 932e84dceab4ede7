"""Is the mean of X linear in the scores found? What sliced inverse regression takes for granted.

==========  ==========  =======================================================================
symbol      shape       meaning
==========  ==========  =======================================================================
Z           (n, r)      scores along the directions found
A, B        (n, 1 + r), bases of the constant and Z; of the squares and products of Z, less their
            (n, m)      regression on A
==========  ==========  =======================================================================

With E[x | Z] linear in Z the slice means of X stay in the span wanted (Li 1991, condition 3.1):
true for elliptical X. Where a feature is curved in Z, slicing returns that curve as a direction.
"""

import warnings

import numpy as np
from scipy import special

MAX_ROWS = 1000
"""Rows looked at, every so many in the order given, where `MAX_ROWS_PER_FEATURE` are no more."""
MAX_ROWS_PER_FEATURE = 10
ROWS_PER_FEATURE = 3
"""With fewer labelled rows a feature, scores are made of noise and the diagnostic is not taken."""
MAX_DIRECTIONS = 3
"""First directions that are looked at."""
PAIRS = tuple(np.triu_indices(r) for r in range(MAX_DIRECTIONS + 1))
"""Products of r scores, each once."""
REACH = 2.5
"""Standard deviations at which features and scores are clipped."""
CURVED_SHARE = 0.25
"""Share of a feature's variance, explained by curvature alone, from which it is worth a warning."""
SIGNIFICANCE = 1e-3
"""Level of the F test of that curvature, over all features together."""


def curvature(X, components, mean=0.0):
    """Share of every feature's variance that squares and products of the scores explain alone.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Labelled rows.
    components : ndarray of shape (r, d)
    mean : ndarray of shape (d,), default=0.0
        Of the rows, where they are not centred.

    Returns
    -------
    shares : ndarray of shape (d,)
        The largest over the first 1, 2, ... directions, adjusted for the number of terms: beside
        a direction that is the curve itself, nothing looks curved. NaN where there are too few
        rows to tell.
    curved : ndarray of shape (d,)
        Whether the share is large, and significant.
    """
    most = max(MAX_ROWS, MAX_ROWS_PER_FEATURE * X.shape[1])
    X = X[:: -(-len(X) // most)] - mean
    n, d = X.shape
    shares, curved = np.full(d, np.nan), np.zeros(d, dtype=bool)
    if n < ROWS_PER_FEATURE * d:
        return shares, curved
    Z = _clipped(X @ components.T)
    X -= X.mean(axis=0)
    X = _clipped(X)
    X -= X.mean(axis=0)
    norms = np.sqrt(np.einsum("ij,ij->j", X, X))
    X /= np.where(norms > 0, norms, 1.0)
    for r in range(1, min(len(components), MAX_DIRECTIONS) + 1):
        gained, p_values = _beyond_linear(X, Z[:, :r])
        shares = np.fmax(shares, gained)
        curved |= (gained > CURVED_SHARE) & (p_values < SIGNIFICANCE / d)
    return shares, curved


def _clipped(values):
    """Columns of mean 0, in place held within `REACH` standard deviations: no few rows decide."""
    reach = REACH * np.sqrt(np.einsum("ij,ij->j", values, values) / len(values))
    return np.clip(values, -reach, reach, out=values)


def _beyond_linear(X, Z):
    """Return the share (adjusted) of every column that squares of Z explain, and its p-value.

    Columns of X have mean 0 and length 1.
    """
    n, r = Z.shape
    first, second = PAIRS[r]
    Q = np.linalg.qr(np.column_stack([np.ones(n), Z, Z[:, first] * Z[:, second]]))[0]
    explained = (Q[:, 1:].T @ X) ** 2
    gained = explained[r:].sum(axis=0)
    left = np.clip(1 - explained.sum(axis=0), 1e-12, 1)
    m, df = len(first), max(n - 1 - r - len(first), 1)
    return gained - m * left / df, special.fdtrc(m, df, (gained / m) / (left / df))


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
