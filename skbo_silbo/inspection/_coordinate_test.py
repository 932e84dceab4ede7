"""Test of whether sliced inverse regression needs a given set of features.

=========  ==========  ==================================================================
symbol     shape       meaning
=========  ==========  ==================================================================
Z          (n, d)      whitened labelled rows, with mean 0 and covariance I
m_h, p_h   (d,), ()    mean of Z within slice h, and proportion of rows in it
J          (n, H)      slice indicators divided by sqrt(p_h)
w          (n,)        row weights, scaled so that n is their sum
S          (d, H)      one column ``sqrt(p_h) m_h`` per slice
H          (d, a)      orthonormal; a direction b does not use the a features iff ``H'b = 0``
G          (d, d - a)  orthonormal basis of the complement of H, never computed
e          (n, H)      residuals of the regression of the centred J on Z
=========  ==========  ==================================================================

Covariance. Under the null hypothesis, ``H'S`` is a mean of ``w v``, where v contains the entries of
a row's ``H'z e'``. The estimate of its covariance is ``sum w^2 v v' / n^2`` (Binder, Int. Stat.
Rev. 51, 1983, section 3). The term of a row of leverage h is divided by ``1 - h``, because
residuals of high-leverage rows are too small (MacKinnon and White, J. Econometrics 29, 1985, HC2).
R's ``dr`` omits this correction.

Degrees of freedom. The trace of the covariance is itself estimated, with a large error if a few
rows have most of the leverage. Its degrees of freedom are computed for homoscedastic normal
residuals (Bell and McCaffrey, Surv. Methodol. 28, 2002): with the projection P onto the constant
and Z, and ``a = |H'z|^2 / (1 - h)``, they are ``(sum a (1 - h))^2 / sum_ij a_i a_j (I - P)_ij^2``
for one response.

Marginal test. The statistic is n times the squared norm of ``H'S``. Its ratio to the trace is
compared with an F distribution. The p-value also needs the sum of squared eigenvalues of the
covariance. Without weights it is computed from pairs of different rows, because the plug-in
estimate is biased upwards.

Conditional test. Given k directions, the statistic is n times the difference between the sums of
the k leading eigenvalues of ``SS'`` and of ``G'SS'G`` (Cook 2004, section 5). It depends on S only
through ``H'S`` and ``S'GG'S``, and the two are asymptotically independent under the null
hypothesis. Its distribution given ``S'GG'S`` is therefore simulated, with normal ``H'S`` of the
estimated covariance. This accounts for the estimation error of the directions, which the weighted
chi-squared distribution of Cook (2004) and R's ``dr`` ignore.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from scipy import linalg
from sklearn.utils import check_random_state

from skbo_silbo._checks import check_integer, check_switch
from skbo_silbo._typing import ArrayLike, LegacyRandomState
from skbo_silbo.decomposition import SlicedInverseRegression, split_labelled
from skbo_silbo.decomposition.rows._columns import (
    center_within_groups,
    drop_constant_columns,
    mean_and_spread,
)
from skbo_silbo.decomposition.significance._sequential_tests import bentler_xie
from skbo_silbo.decomposition.slicing._slices import slice_within

COLLINEAR = 1e-10  # residual standard deviation below which a column is collinear
LEAST_LEFT = 1e-8  # a row whose leverage is closer to 1 is fitted exactly, and does not count
N_DRAWS = 999  # simulated statistics of the conditional test


@dataclass(frozen=True, eq=False)
class CoordinateTest:
    """Result of `coordinate_test`.

    Attributes
    ----------
    features : list of str
        Names of the tested features.
    statistic : float
        Value of the test statistic, as in R's ``dr``.
    p_value : float
        Probability, under the null hypothesis, of a statistic at least as large as the observed
        one.
    """

    features: list[str]
    statistic: float
    p_value: float


def coordinate_test(
    X: ArrayLike,
    y: ArrayLike,
    features: int | str | Iterable[int | str],
    *,
    n_slices: int = 10,
    categorical: bool | str = "auto",
    n_components: int | None = None,
    sample_weight: ArrayLike | None = None,
    group: ArrayLike | None = None,
    random_state: LegacyRandomState = 0,
) -> CoordinateTest:
    """Test whether the directions of sliced inverse regression depend on the given features.

    The null hypothesis is that y does not depend on these features given the others [1]_. Effects
    that do not change the slice means, such as symmetric ones, are not detected. The tests assume
    that the mean of the tested features is linear in the others. They do not assume normal features
    or a constant variance.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Training data with more labelled rows than features.
    y : array-like of shape (n,)
        Numerical, categorical or censored response. Rows whose response is missing (NaN or None)
        are ignored.
    features : int, str, sequence of int or str, or mask of shape (d,) of bool
        Features to test, by index, by name or as a boolean mask.
    n_slices : int, default=10
        Target number of slices, as in `SemiSlicedInverseRegression`.
    categorical : "auto" or bool, default="auto"
        Whether y is categorical, see `SemiSlicedInverseRegression`.
    n_components : int, default=None
        Number of directions for the conditional test, at most the number of features and of slices
        minus one. The conditional test assumes that this number is correct. It is more powerful
        than the marginal test if the other features identify the directions. Its null distribution
        is simulated, so its p-value is at least 0.001. If None, the marginal test is used, which
        needs no number of directions.
    sample_weight : array-like of shape (n,), default=None
        Sample weights. The test then refers to the weighted population. Its level is accurate if
        there are many more rows than features: at level .05, it rejects a true hypothesis in up to
        8 % of cases with 150 rows of 5 features, and in up to 10 % with 60 rows. Rows of weight 0
        are ignored.
    group : array-like of shape (n,), default=None
        Categories of a grouping variable to condition on, as in ``fit`` of
        `SlicedInverseRegression`. Cannot be combined with weights.
    random_state : int, RandomState instance or None, default=0
        Controls the simulation of the conditional test.

    Returns
    -------
    result : CoordinateTest
        Result of the test, with the statistic and the p-value.

    Raises
    ------
    ValueError
        If `features` does not select some but not all features, there are too few labelled rows,
        `n_components` is too large, or a single row identifies the tested features.

    References
    ----------
    .. [1] Cook, "Testing predictor contributions in sufficient dimension reduction", Ann. Statist.
       32, 2004, sections 4 and 5. The p-value of the marginal test is approximated as in Bentler
       and Xie, Statist. Probab. Lett. 47, 2000, the default of R's ``dr``.

    Examples
    --------
    >>> import numpy as np
    >>> from skbo_silbo.inspection import coordinate_test
    >>> X = np.random.default_rng(0).normal(size=(300, 4))
    >>> y = X[:, 0] + np.exp(X[:, 1])
    >>> test = coordinate_test(X, y, [2, 3], n_slices=4)
    >>> test.features, round(test.p_value, 2)
    (['x2', 'x3'], 0.32)
    >>> coordinate_test(X, y, [1], n_components=1).p_value
    0.001
    """
    check_switch("categorical", categorical)
    check_integer("n_components", n_components, 1, special="None")
    checker = SlicedInverseRegression()
    takes = ("numeric", "categorical", "censored")
    settings: dict[str, Any] = {
        "takes": takes,
        "categorical": categorical,
        "n_slices": n_slices,
    }
    data = split_labelled(checker, X, y, None, sample_weight, **settings).labelled_only()
    data = center_within_groups(data, group)
    slices = slice_within(data.y, data.groups, n_slices, sample_weight=data.weights)
    numbered = [f"x{j}" for j in range(checker.n_features_in_)]
    names = [str(name) for name in vars(checker).get("feature_names_in_", numbered)]
    indices = _feature_indices(features, names)
    _check_n_directions(n_components, slices, len(names))
    statistic, p_value = _test(
        _standardise(data), slices, indices, n_components, names, check_random_state(random_state)
    )
    return CoordinateTest([names[j] for j in indices], statistic, p_value)


def _standardise(data):
    """Scale features to (weighted) mean 0 and variance 1. Constant features become 0."""
    data = drop_constant_columns(data)
    mean, std = mean_and_spread(data.X_labeled, data.weights)
    return data.columns.expand((data.X_labeled - mean) / std)


def _feature_indices(features, names):
    """Return the sorted indices of features given by index, name or mask."""
    d, listed = len(names), np.asarray(features, dtype=object)
    keys = listed.ravel().tolist() if listed.ndim < 2 else [None]
    if len(keys) == d and all(isinstance(key, bool | np.bool_) for key in keys):
        keys = np.flatnonzero(keys).tolist()
    lookup = dict(zip([*range(d), *names], [*range(d)] * 2, strict=True))
    is_valid = [isinstance(key, str | Integral) and not isinstance(key, bool) for key in keys]
    found = {lookup.get(key) if ok else None for key, ok in zip(keys, is_valid, strict=True)}
    if None in found or not 0 < len(found) < d:
        raise ValueError(
            f"features must select some but not all of the {d} features of X, by index, by "
            f"name or by a mask of {d} booleans, got {features!r}."
        )
    return sorted(found)


def _check_n_directions(k, slices, d):
    if k is not None and k > (most := min(slices.n_slices - slices.n_groups, d)):
        raise ValueError(
            f"n_components must be at most {most} with {slices.n_slices} slices and {d} features, "
            f"got {k}."
        )


def _test(X, slices, features, k, names, random_state):
    """Return the statistic and the p-value of the marginal or conditional test."""
    n, a = slices.n_rows, len(features)
    Q, R = _factored(X, slices, names)
    H = np.linalg.qr(linalg.solve_triangular(R, np.eye(len(R))[:, features], trans="T"))[0]
    J = slices.membership()  # times the root weights and 1 / sqrt(n)
    S = (J.T @ Q).T
    HS, roots = H.T @ S, _group_roots(slices)
    e = np.sqrt(n) * (J.toarray() - Q @ S - roots @ (J.T @ roots).T)
    P = np.column_stack([Q, roots])
    one_minus_h = np.maximum(1 - np.sum(P**2, axis=1, keepdims=True), LEAST_LEFT)
    is_fitted, Z = one_minus_h <= LEAST_LEFT, np.sqrt(n) * Q @ H / np.sqrt(one_minus_h)
    if np.any(is_fitted & (np.abs(Q @ H) > LEAST_LEFT)):
        raise ValueError(
            "features must not be identified by a single labelled row given the other features, "
            f"got {', '.join(names[j] for j in features)}. Remove features that are constant but "
            "for one row."
        )
    Z[is_fitted[:, 0]] = 0
    df = _df_of_trace(np.sum(Z**2, axis=1, keepdims=True), one_minus_h, P)
    v = (Z[:, :, None] * e[:, None, :]).reshape(len(Z), -1)
    root = np.linalg.qr(v, mode="r")  # v'v = root' root
    if k is None:
        statistic, total = n * np.sum(HS**2), np.sum(root**2) / n
        squares = np.sum((root @ root.T) ** 2) / n**2
        if slices.weights is None:  # from pairs of different rows
            squares = (squares - np.sum(np.sum(v**2, axis=1) ** 2) / n**2) / (1 - 1 / n)
            squares = max(squares, total**2 / a / (slices.n_slices - slices.n_groups))
        return float(statistic), bentler_xie(statistic, total, squares, df * _n_effective(e.T @ e))
    given, leading = np.linalg.eigh(S.T @ S - HS.T @ HS)  # S'GG'S
    e = e @ leading[:, -k:]
    df *= _n_effective(e.T @ e)
    draws = random_state.standard_normal((N_DRAWS, len(root))) @ root
    draws /= n * np.sqrt(random_state.chisquare(df, size=(N_DRAWS, 1)) / df)
    draws = np.concatenate([HS[None], draws.reshape(N_DRAWS, *HS.shape)])
    sums = S.T @ S - HS.T @ HS + draws.transpose(0, 2, 1) @ draws
    gained = np.linalg.eigvalsh(sums)[:, -k:].sum(axis=1) - given[-k:].sum()
    p_value = np.mean(gained >= gained[0] * (1 - 1e-12))
    return float(n * max(gained[0], 0.0)), float(p_value)


def _factored(X, slices, names):
    """Return the QR decomposition of the weighted samples.

    Raises
    ------
    ValueError
        If there are too few rows or the features are collinear.
    """
    n, d = slices.n_rows, X.shape[1]
    if n - 1 <= d:
        raise ValueError(
            f"X must have more labelled rows than features + 1 for a coordinate test, got "
            f"{n:.6g} labelled rows and {d} features. Remove some features first, or select "
            "features with SparseSlicedInverseRegression, which needs no minimum number of rows."
        )
    Q, R = np.linalg.qr(slices.weighted(X))
    residual = np.append(np.abs(np.diag(R)), np.zeros(d - len(R)))
    if residual.min() <= COLLINEAR * np.sqrt(n):
        j = int(np.argmax(residual <= COLLINEAR * np.sqrt(n)))
        reason = "a linear combination of the features before it" if X[:, j].any() else "constant"
        raise ValueError(
            f"X must have linearly independent features for a coordinate test, but {names[j]} is "
            f"{reason}. Remove it."
        )
    return Q, R


def _group_roots(slices):
    """Return one unit vector per group, proportional to the root weights of its samples."""
    codes, roots = slices.groups, slices.weighted(np.ones((len(slices.codes), 1)))
    if codes is not None:
        roots = roots * np.equal.outer(codes, np.arange(slices.n_groups))
    return roots / np.linalg.norm(roots, axis=0)


def _df_of_trace(a, one_minus_h, P):
    """Return the degrees of freedom of the trace for homoscedastic normal residuals."""
    squares = np.sum(a * a * (2 * one_minus_h - 1)) + np.sum(((P.T * a[:, 0]) @ P) ** 2)
    return np.sum(a * one_minus_h) ** 2 / squares if squares > 0 else np.inf


def _n_effective(variance):
    """Return the effective number of eigenvalues: squared sum over sum of squares."""
    squares = np.sum(variance**2)
    return np.trace(variance) ** 2 / squares if squares else 1.0
