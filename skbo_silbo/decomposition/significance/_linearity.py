"""Is the mean of X linear in the scores found? What sliced inverse regression takes for granted.

==========  ==========  =======================================================================
symbol      shape       meaning
==========  ==========  =======================================================================
F           (d, n)      features, a row each: many times faster than a column each
Z           (k, n)      scores along the directions found
B           (., n)      the constant; then every score, its products with those before and itself
==========  ==========  =======================================================================

With E[x | Z] linear in Z the slice means of X stay in the span wanted (Li 1991, condition 3.1):
true for elliptical X. Where a feature is curved in Z, slicing returns that curve as a direction.
"""

import numpy as np
from scipy import special

from ..._checks import warn_user
from ..rows._weights import rows_by_weight

MAX_ROWS = 500
"""Most rows looked at, every so many in the order given: of more, 250 to 500 (with 501, 251)."""
ROWS_PER_FEATURE = 3
"""With fewer labelled rows a feature, scores are made of noise and the diagnostic is not taken."""
MAX_DIRECTIONS = 3
"""First directions that are looked at."""
REACH = 2.5
"""Standard deviations at which features and scores are clipped."""
CURVED_SHARE = 0.25
"""Share of a feature's variance, explained by curvature alone, from which it is worth a warning."""
SIGNIFICANCE_OF_BEND = 0.01
"""Level of the test of directions after the first."""
KNOTS = (0.2, 0.4, 0.6, 0.8)
"""Quantiles of the scores at which lines may break."""
SIGNIFICANCE = 1e-3
"""Level of the F test of that curvature, over all features together."""


def rows_to_look_at(n, d, weights=None):
    """Places of the rows, among n of d features, that `curvature` is to see; none of too few.

    Those at these places have equal weights.
    """
    places = np.arange(n)
    if weights is not None:
        places = rows_by_weight(weights, max(MAX_ROWS, ROWS_PER_FEATURE * d))
    enough = len(places) >= ROWS_PER_FEATURE * d
    return places[:: -(-len(places) // MAX_ROWS)] if enough else places[:0]


def curvature(X, components):
    """Share of every feature's variance that squares and products of the scores explain alone.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Labelled rows, those of `rows_to_look_at`.
    components : ndarray of shape (r, d)

    Returns
    -------
    shares : ndarray of shape (d,)
        The largest over the first 1, 2, ... directions, adjusted for the number of terms: beside
        a direction that is the curve itself, nothing looks curved. NaN where there are too few
        rows to tell.
    curved : ndarray of shape (d,)
        Whether the share is large, and significant.
    """
    n, d = X.shape
    shares, curved = np.full(d, np.nan), np.zeros(d, dtype=bool)
    k = min(len(components), MAX_DIRECTIONS)
    if n <= (k + 1) * (k + 2) // 2:  # terms would explain all
        return shares, curved
    F = np.array(X.T, order="C")
    F -= F.mean(axis=1, keepdims=True)
    Z = _clipped(components[:k] @ F)
    gained, left, m = _nested_shares(_clipped(F), Z)
    df = np.maximum(F.shape[1] - 1 - np.arange(1, len(Z) + 1) - m, 1)
    adjusted = gained - m * left / df
    feature, r = np.nonzero(adjusted > CURVED_SHARE)
    ratios = (gained[feature, r] / m[r]) / (left[feature, r] / df[r])
    curved[feature[special.fdtrc(m[r], df[r], ratios) < SIGNIFICANCE / d]] = True
    return adjusted.max(axis=1), curved


def _clipped(values):
    """Rows of mean 0, in place held within `REACH` standard deviations: no few samples decide."""
    reach = REACH * np.sqrt(np.einsum("ij,ij->i", values, values) / values.shape[1])[:, None]
    np.minimum(values, reach, out=values)
    return np.maximum(values, -reach, out=values)


def _nested_shares(F, Z):
    """Return shares of every feature's variance (d, k), for the first 1, ..., k scores.

    What their squares and products explain beyond the scores, and what is left over; and the number
    of squares and products (k,). One orthonormal basis Q of ``B' = Q R`` serves, since those of the
    first scores stand first in B.
    """
    blocks = [np.ones((1, Z.shape[1]))]
    for r, scores in enumerate(Z):
        blocks += [scores[None], scores * Z[: r + 1]]
    Q, R = np.linalg.qr(np.concatenate(blocks).T)
    inner = F @ Q
    squares = np.einsum("ij,ij->i", F, F) - inner[:, 0] ** 2
    inner /= np.sqrt(np.where(squares > 0, squares, 1.0))[:, None]
    triangular = np.cumsum(np.arange(len(Z) + 2))
    Q_linear = np.linalg.qr(R[:, triangular[:-1]])[0]
    linear = np.cumsum((inner @ Q_linear[:, 1:]) ** 2, axis=1)
    explained = np.cumsum(inner[:, 1:] ** 2, axis=1)[:, triangular[2:] - 2]
    return explained - linear, np.clip(1 - explained, 1e-12, 1), triangular[1:-1]


def extra_are_curved(Z):
    """Tell whether a score after the first bends along those before it.

    Of one direction that y depends on, slicing shows more where the linearity condition fails: the
    others then follow the first along a curve. Where y depends on them they do not, whatever y is,
    for elliptical X.

    Parameters
    ----------
    Z : ndarray of shape (n, r)
    """
    p_values = [_p_value_of_bend(Z[:, j], Z[:, :j]) for j in range(1, min(Z.shape[1], 5))]
    return bool(p_values) and min(p_values) < SIGNIFICANCE_OF_BEND / len(p_values)


def _p_value_of_bend(z, before):
    """F test of broken lines in the scores before, beside straight ones."""
    straight = np.linalg.qr(np.column_stack([np.ones(len(z)), before]))[0]
    knots = np.quantile(before, KNOTS, axis=0)
    broken = np.maximum(before[:, :, None] - knots.T[None], 0).reshape(len(z), -1)
    broken -= straight @ (straight.T @ broken)
    U, singular, _ = np.linalg.svd(broken, full_matrices=False)
    U = U[:, singular > 1e-8 * singular[0]]
    z = z - straight @ (straight.T @ z)
    m, gained = U.shape[1], np.sum((U.T @ z) ** 2)
    df = len(z) - straight.shape[1] - m
    return special.fdtrc(m, df, gained / m / ((z @ z - gained) / df)) if df > 0 else 1.0


def warn_of_curvature(shares, curved, extra, names=None):
    """Say that the linearity condition fails, and in which feature, by name, that shows."""
    found = []
    if curved.any():
        most = int(np.nanargmax(np.where(curved, shares, -np.inf)))
        name = most if names is None else repr(str(names[most]))
        found.append(
            f"{curved.sum()} of {len(shares)} features are curved along the directions found, "
            f"feature {name} with {shares[most]:.2f} of its variance (curvature_)"
        )
    if extra:
        found.append("directions after the first are curved functions of those before")
    warn_user(
        f"The linearity condition fails, that the mean of X is linear in the scores: "
        f"{'; '.join(found)}. Sliced inverse regression may then return directions that y does not "
        "depend on. Transform skewed features, take reweight='elliptical', or a method that does "
        "without the condition: MAVE, OuterProductGradients, ActiveSubspace."
    )
