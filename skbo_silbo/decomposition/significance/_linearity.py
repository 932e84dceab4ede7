"""Checks of the linearity and constant variance conditions.

==========  ==========  =======================================================================
symbol      shape       meaning
==========  ==========  =======================================================================
F           (n, d)      features, of mean 0
Z           (n, k)      scores along the directions found
B           (n, .)      regressors: the constant and the scores, later with squares and products
==========  ==========  =======================================================================

If E[x | Z] is linear in Z, as for elliptical X, the slice means of X stay in the central subspace
(Li 1991, condition 3.1). If a feature is a curved function of Z, slicing returns the curve as a
further direction.

doc/benchmarks/sdr_levels.rst, "One direction, and slicing finds more", measures how often a false
direction is found without a warning with the thresholds below: in at most .029 of data sets, for
seven distributions of X.
"""

import numpy as np
from scipy import special

from skbo_silbo._checks import warn_user
from skbo_silbo.decomposition.rows._columns import format_column
from skbo_silbo.decomposition.rows._weights import sample_by_weight

# Largest number of samples used. They are evenly spaced in the given order.
MAX_ROWS = 500
# Smallest number of labelled samples per feature for a check. With fewer, scores are mostly noise.
ROWS_PER_FEATURE = 3
MAX_DIRECTIONS = 3  # number of leading directions that are checked
REACH = 2.5  # standard deviations at which features and scores are clipped
# A warning is raised if curvature explains at least this share of the variance of a feature.
CURVED_SHARE = 0.25
SIGNIFICANCE_OF_BEND = 0.01  # level of the test of directions after the first
KNOTS = (0.2, 0.4, 0.6, 0.8)  # knots of piecewise linear functions, as quantiles of the scores
# Knots for predicting slice indicators, which are steps that may be far from the centre.
LEVELS = (0.01, 0.025, 0.05, *np.arange(1, 10) / 10, 0.95, 0.975, 0.99)
# More than one score is needed if one combination leaves at least this share of the variance.
NEEDED_SHARE = 0.05
TURNS = np.pi / 2, np.pi / 18  # ranges of the rotations of the combination: coarse, then fine
SIGNIFICANCE = 1e-3  # level of the F tests, over all features or scores together


def linearity_sample(n, d, weights=None):
    """Return the indices of the samples used to check the linearity condition.

    The array is empty if there are too few samples. The selected samples have equal weights.
    """
    places = np.arange(n)
    if weights is not None:
        places = sample_by_weight(weights, max(MAX_ROWS, ROWS_PER_FEATURE * d))
    enough = len(places) >= ROWS_PER_FEATURE * d
    return places[:: -(-len(places) // MAX_ROWS)] if enough else places[:0]


def curvature(X, components):
    """Return the share of each feature's variance that nonlinear terms of the scores explain.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Labelled samples, selected by `linearity_sample`.
    components : ndarray of shape (r, d)

    Returns
    -------
    shares : ndarray of shape (d,)
        Share of each feature's variance that squares and products of the scores explain beyond what
        the scores explain linearly, adjusted for the number of terms. It is the largest share over
        the first 1, 2, ... directions, because a feature no longer looks curved once a direction
        follows the curve. NaN if there are too few samples.
    curved : ndarray of shape (d,)
        Mask of the features whose share is large and significant. It must also be significant
        without the feature, and the other columns of its one-hot category, in the scores. Otherwise
        a discrete feature looks curved, because scores that contain it nearly determine it.
    """
    n, d = X.shape
    components = components[:MAX_DIRECTIONS]
    k = len(components)
    if n <= (k + 1) * (k + 2) // 2:  # as many terms as samples
        return np.full(d, np.nan), np.zeros(d, dtype=bool)
    raised = X - X.min(axis=0)
    X = X - X.mean(axis=0)
    Z, level = X @ components.T, SIGNIFICANCE / d
    shares, p_values = _curvature_tests(X, Z)
    curved = ((shares > CURVED_SHARE) & (p_values < level)).any(axis=0)
    for j in np.flatnonzero(curved):
        own = raised[:, j] @ raised == 0  # never above their minimum together: of one category
        own[j] = True
        others = Z - X[:, own] @ components[:, own].T
        curved[j] = _curvature_tests(X[:, [j]], others)[1].min() < level
    return shares.max(axis=0), curved


def _curvature_tests(F, Z):
    """Return the shares of `curvature` for 1, 2, ... directions, and the p-values of F tests."""
    F, Z, (n, k) = _clipped(F), _clipped(Z), Z.shape
    F -= F.mean(axis=0)
    shares, p_values = np.empty((2, k, F.shape[1]))
    for r in range(1, k + 1):
        straight = np.column_stack([np.ones(n), Z[:, :r]])
        one, other = np.triu_indices(r)
        by_lines = _explained(F, straight)
        by_all = _explained(F, np.column_stack([straight, Z[:, one] * Z[:, other]]))
        gained, left, m = by_all - by_lines, np.clip(1 - by_all, 1e-12, 1), len(one)
        df = max(n - 1 - r - m, 1)
        shares[r - 1] = gained - m * left / df
        p_values[r - 1] = special.fdtrc(m, df, gained / m / (left / df))
    return shares, p_values


def _clipped(values):
    """Clip outliers in centred columns at `REACH` standard deviations."""
    reach = REACH * values.std(axis=0)
    return np.clip(values, -reach, reach)


def _explained(F, B):
    """Return the share of each feature's variance that linear regression on B explains."""
    squares = np.einsum("ij,ij->j", F, F)
    inner = np.linalg.qr(B)[0].T @ F
    return np.einsum("ij,ij->j", inner, inner) / np.where(squares > 0, squares, 1.0)


def later_scores_are_curved(Z, classes=None):
    """Return whether a later score is a nonlinear function of earlier scores.

    If y depends on one direction and the linearity condition fails, slicing finds further
    directions, whose scores are curved functions of the first. For elliptical X, the scores of true
    further directions are not curved.

    Parameters
    ----------
    Z : ndarray of shape (n, r)
    classes : ndarray of shape (n,), default=None
        Slice of each sample, if every slice is a single value of y. In this case only curvature
        within slices is tested, because the scores of well separated classes look curved, too.
    """
    one = np.ones((len(Z), 1))
    p_values = [
        _curvature_p_values(Z[:, [j]], Z[:, :j], np.hstack([one, Z[:, :j]]), classes)[0]
        for j in range(1, min(Z.shape[1], 5))
    ]
    return bool(p_values) and min(p_values) < SIGNIFICANCE_OF_BEND / len(p_values)


def are_skewed(X):
    """Return a mask of the features with a skewed distribution.

    The test uses the third moments of clipped features. Their variances do not assume normal X.
    """
    F = _clipped(X - X.mean(axis=0))
    F -= F.mean(axis=0)
    F /= np.maximum(np.abs(F).max(axis=0), np.finfo(float).tiny)  # the sixth power may overflow
    cubes = F**3
    influence = cubes - 3 * (F**2).mean(axis=0) * F
    error = influence.std(axis=0) / np.sqrt(len(F))
    ratios = np.abs(cubes.mean(axis=0)) / np.maximum(error, np.finfo(float).tiny)
    return special.erfc(ratios / np.sqrt(2)) < SIGNIFICANCE_OF_BEND / X.shape[1]


def one_score_is_enough(Z, codes):
    """Return whether a single combination of the scores separates the slices.

    The slices are regressed on a piecewise linear function of the combination, with and without the
    other scores.

    Parameters
    ----------
    Z : ndarray of shape (n, r)
        Two or more scores of each sample. Only the first `MAX_DIRECTIONS` scores are used.
    codes : ndarray of shape (n,)
        Index of the slice that each sample belongs to.
    """
    slices = np.equal.outer(codes, np.unique(codes)) * 1.0
    slices -= slices.mean(axis=0)
    Z = Z[:, :MAX_DIRECTIONS]
    score, *others = np.linalg.qr(Z - Z.mean(axis=0))[0].T
    for reach in TURNS:
        for j, other in enumerate(others):
            angles = np.linspace(-reach, reach, 37)
            turned = np.multiply.outer(np.cos(angles), score)
            turned += np.multiply.outer(np.sin(angles), other)
            best = np.argmin([_unexplained(slices, _broken_line(row)) for row in turned])
            others[j] = np.cos(angles[best]) * other - np.sin(angles[best]) * score
            score = turned[best]
    B, m = _broken_line(score), len(others)
    df = len(Z) - B.shape[1] - m
    by_one, by_all = (_unexplained(slices, np.column_stack(t)) for t in ([B], [B, *others]))
    return df > 0 and by_one - by_all * (1 + m / df) <= NEEDED_SHARE * by_one


def _unexplained(F, B):
    """Return the share of the sum of squares of F that linear regression on B does not explain."""
    return 1 - np.average(_explained(F, B), weights=np.einsum("ij,ij->j", F, F))


def _broken_line(score):
    """Return a basis of piecewise linear functions of a score."""
    knots = np.unique(np.quantile(score, LEVELS))
    knots = knots[(knots > score.min()) & (knots < score.max())]
    beyond = np.maximum(score[:, None] - knots, 0)
    return np.column_stack([np.ones(len(score)), score, beyond])


def _curvature_p_values(T, before, straight, classes=None):
    """Return the p-value of an F test of linearity for each column of T.

    The alternative is that the column is a piecewise linear function of the scores.
    """
    if classes is not None:
        within = np.hstack([straight, before, np.eye(classes.max() + 1)[classes]])
        within = _curvature_p_values(T, before, within)
        return np.maximum(within, _curvature_p_values(T, before, straight))
    U, singular, _ = np.linalg.svd(straight, full_matrices=False)
    Q = U[:, singular > 1e-8 * singular[0]]
    knots = np.quantile(before, KNOTS, axis=0)
    broken = np.maximum(before[:, :, None] - knots.T[None], 0).reshape(len(T), -1)
    broken = np.hstack([before, broken])
    broken -= Q @ (Q.T @ broken)
    U, singular, _ = np.linalg.svd(broken, full_matrices=False)
    U = U[:, singular > 1e-8 * singular[0]]
    T = T - Q @ (Q.T @ T)
    m, total, gained = U.shape[1], np.sum(T**2, axis=0), np.sum((U.T @ T) ** 2, axis=0)
    df = len(T) - Q.shape[1] - m
    left = np.maximum(total - gained, 1e-12 * total + np.finfo(float).tiny)
    return special.fdtrc(m, df, gained / m / (left / df)) if df > 0 else np.ones(T.shape[1])


def find_violation(S, r, classes=None):
    """Find the first score along which the mean or variance of later scores changes.

    Returns
    -------
    k : int
        Number of scores before the first violation, or r if there is none.
    failed : list of str
        Names of the conditions that fail: "linearity" and "constant variance".
    """
    S, one = S - S.mean(axis=0), np.ones((len(S), 1))
    most = min(r, MAX_DIRECTIONS, S.shape[1] - 1)
    level = SIGNIFICANCE / sum(S.shape[1] - k for k in range(1, most + 1)) if most else 0.0
    for k in range(1, most + 1):
        before, rest = S[:, :k], S[:, k:]
        of_means = _curvature_p_values(rest, before, np.hstack([one, before]), classes)
        of_variances = _curvature_p_values(_clipped(rest) ** 2, before, one, classes)
        changes = {"linearity": of_means, "constant variance": of_variances}
        if failed := [name for name, p_values in changes.items() if p_values.min() < level]:
            return k - 1, failed
    return r, []


def n_before_violation(S, r, slices, tests_attribute, by_value=False):
    """Return how many directions to keep, with a warning if a condition on the moments fails.

    Parameters
    ----------
    S : ndarray of shape (n, q)
        Whitened samples. The first columns are the scores of the leading directions.
    r : int
    slices : Slices
    tests_attribute : str
        Name of the attribute that contains the tests by which r was chosen.
    by_value : bool, default=False
        Whether each slice is a single value of y. In this case the first direction is not an
        artefact.

    Returns
    -------
    int
    """
    places = linearity_sample(*S.shape, slices.weights)
    if not len(places) or r <= int(by_value):
        return r
    k, failed = find_violation(S[places], r, slices.codes[places] if by_value else None)
    if not failed:
        return r
    kept = max(k, 1)
    why = (
        f"The condition of {' and of '.join(failed)} fails: along direction {k + 1} of those "
        "found, other scores change in mean or in variance."
    )
    others = (
        f"; the other {r - kept} may be artefacts of the distribution of X ({tests_attribute})"
        if kept < r
        else ""
    )
    warn_user(
        f"{why} n_components_ is {kept}{others}, and the first may be wrong too. Compare MAVE(1), "
        "which needs neither condition, and SlicedInverseRegression(1), which only needs "
        "linearity. Set n_components to keep more directions. Transforming skewed features helps "
        "less often."
    )
    return kept


def has_slice_per_value(y, slices):
    """Return whether each slice contains a single value of y.

    If so, the first score cannot be an artefact.
    """
    return y.dtype.kind in "USb" or len(np.unique(y)) == slices.n_slices


def check_linearity(X, slices, components, r, by_value, categorical, columns, names):
    """Check the linearity condition of SIR, and warn if it fails.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    slices : Slices
    components : ndarray of shape (max(r, 1), d)
    r : int
    by_value : bool
        Whether each slice is a single value of y.
    categorical : bool
        Whether y holds categories. If they are well separated, features look curved along a single
        score.
    columns : Columns
    names : ndarray of shape (n_features,) or None
    """
    places = linearity_sample(*X.shape, slices.weights)
    rows, codes = X[places].astype(np.float64, copy=False), slices.codes[places]
    shares, curved = map(columns.expand, curvature(rows, components))
    if not len(rows) or not r:
        return shares
    Z, skewed = rows @ components[:r].T, are_skewed(rows).sum()
    bent = later_scores_are_curved(Z, codes if by_value else None)
    needless = r > 1 and (skewed or curved.any()) and one_score_is_enough(Z, codes)
    curved &= not categorical or needless
    if bent or needless or curved.any():
        warn_nonlinear(shares, curved, bent, skewed if needless else 0, categorical, names)
    return shares


def warn_nonlinear(shares, curved, bent, skewed, categorical, names=None):
    """Warn that the linearity condition fails, naming the most nonlinear feature.

    `skewed` is the number of skewed features if one score is enough.
    """
    found = []
    if curved.any():
        most = int(np.nanargmax(np.where(curved, shares, -np.inf)))
        found.append(
            f"{curved.sum()} of {len(shares)} features are curved along the directions found, "
            f"{format_column(most, names)} with {shares[most]:.2f} of its variance (curvature_)"
        )
    if bent:
        found.append("directions after the first are curved functions of those before")
    if skewed:
        found.append(
            f"{skewed} of {len(shares)} features are skewed, and one combination of the scores "
            "separates the slices of y as well as all of them"
        )
    warn_user(
        f"The linearity condition fails: {'; '.join(found)}. If the mean of X is not linear in the "
        "scores, sliced inverse regression may return directions that y does not depend on. "
        "Compare the predictions from one direction (n_components=1) and from MAVE(1), "
        "which does not need the condition. Transforming skewed features and "
        "reweight='elliptical' help less often."
        + " The class means do differ along all directions: a classifier may want to use them."
        * categorical
    )
