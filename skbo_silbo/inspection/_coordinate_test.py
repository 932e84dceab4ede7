"""Tests of whether sliced inverse regression needs a given set of features.

=========  ==========  ==================================================================
symbol     shape       meaning
=========  ==========  ==================================================================
Z          (n, d)      whitened labelled rows, with mean 0 and covariance I
m_h, p_h   (d,), ()    mean of Z within slice h, and proportion of rows in it
J          (n, H)      slice indicators divided by sqrt(p_h)
w          (n,)        row weights as numbers of rows; n is their sum
S          (d, H)      one column ``sqrt(p_h) m_h`` per slice
H          (d, a)      orthonormal; a direction b does not use the a features iff ``H'b = 0``
G          (d, d - a)  orthonormal basis of the complement of H, never computed
e          (n, H)      residuals of the regression of the centred J on Z
=========  ==========  ==================================================================

Marginal test. The statistic is n times the squared norm of ``H'Z'WJ / n``. Under the null
hypothesis, its covariance is that of the mean of ``w v``, where v contains the entries of a row's
``H'z e'``. The estimate is ``sum w v v' / n^2`` if the weights are counts, and
``sum w^2 v v' / n^2`` if they are relative, because relative weights are random like the rows
(Binder, Int. Stat. Rev. 51, 1983, section 3). Both are divided by ``1 - h`` for a row of leverage
h, because residuals of high-leverage rows are too small (MacKinnon and White, J. Econometrics 29,
1985, HC2). R's ``dr`` omits this correction. The p-value also needs the sum of squared
eigenvalues of this covariance. For counts it is computed from pairs of different rows, because
the plug-in estimate is biased upwards.

Degrees of freedom. The trace of the covariance is itself estimated, with a large error if a few
rows have most of the leverage. The ratio of the statistic to the trace is therefore compared with
an F distribution. Its second degrees of freedom are those of the trace for homoscedastic normal
residuals (Bell and McCaffrey, Surv. Methodol. 28, 2002): with the projection P onto the constant
and Z, and ``a = |H'z|^2 / (1 - h)``, they are ``(sum a (1 - h))^2 / sum_ij a_i a_j (I - P)_ij^2``
for one response.

Conditional test. Given k directions, the statistic is n times the difference between the sums of
the k leading eigenvalues of ``SS'`` and of ``G'SS'G`` (Cook 2004, section 5), and e is projected
onto the k leading right singular vectors of ``G'S``. The covariance along the i-th vector is
multiplied by ``1 + sum_{j > k} var_j / (lambda_i - lambda_j)``, with the eigenvalues lambda of
``G'SS'G`` and the variance var_j of a row of ``H'S`` along the j-th vector. This factor accounts
for the estimation error of the vectors to second order. It is our own, found in no paper, by
expanding the sum of the k leading eigenvalues of ``S'GG'S + S'HH'S`` to second order in ``H'S``. At
level .05 the test rejected .030 to .058 of true null hypotheses, and .081 to .092 without the
factor and with R's weights (2,000 data sets per cell, doc/benchmarks/sdr_levels.rst).
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from numbers import Integral

import numpy as np
from scipy import linalg

from skbo_silbo._checks import check_choice, check_integer, check_switch
from skbo_silbo._typing import ArrayLike, FloatArray
from skbo_silbo.decomposition import SlicedInverseRegression, Slices, split_labelled
from skbo_silbo.decomposition._summary import text_table
from skbo_silbo.decomposition.rows._columns import (
    center_within_groups,
    drop_constant_columns,
    mean_and_spread,
)
from skbo_silbo.decomposition.significance._sequential_tests import bentler_xie
from skbo_silbo.decomposition.slicing._slices import slice_within

COLLINEAR = 1e-10  # residual standard deviation below which a column is collinear


@dataclass(frozen=True, eq=False, repr=False)
class CoordinateTest:
    """Result of `coordinate_test`, displayed as a table.

    The null distribution is approximately a weighted sum of independent chi-squared variables with
    one degree of freedom. With ``F = statistic / weights.sum()``, `p_value` is
    ``scipy.stats.f.sf(F, df, df_of_weights)``, or ``scipy.stats.chi2.sf(F * df, df)`` if
    `df_of_weights` is infinite.

    Attributes
    ----------
    features : list of str
        Names of the tested features.
    statistic : float
        Value of the test statistic.
    weights : ndarray of shape (m,)
        Weights of the chi-squared variables in the null distribution.
    p_value : float
        Probability, under the null hypothesis, of a statistic at least as large as the observed
        one.
    sum_of_squares : float
        Sum of the squared weights. For estimated weights it is corrected for the bias that their
        estimation error causes, so it is less than ``weights @ weights``.
    df : float
        Degrees of freedom of the scaled chi-squared distribution that has the same mean and
        variance as the weighted sum: ``weights.sum()**2 / sum_of_squares``. NaN if all weights are
        0.
    df_of_weights : float
        Degrees of freedom with which the sum of the weights is estimated; infinite with
        ``variance="constant"``.
    """

    features: list[str]
    statistic: float
    weights: FloatArray
    p_value: float
    sum_of_squares: float
    df_of_weights: float = np.inf

    @property
    def df(self) -> float:
        """Degrees of freedom of the scaled chi-squared distribution."""
        if not self.sum_of_squares:
            return np.nan
        return float(self.weights.sum() ** 2 / self.sum_of_squares)

    def __repr__(self) -> str:
        F = self.statistic / self.weights.sum() if self.sum_of_squares else np.nan
        numbers = self.statistic, F, self.df, self.df_of_weights, self.p_value
        row = [", ".join(self.features), *(f"{number:.5g}" for number in numbers)]
        return text_table([row], ["Stat", "F", "df", "df.weights", "p.value"])


def coordinate_test(
    X: ArrayLike,
    y: ArrayLike,
    features: int | str | Iterable[int | str],
    *,
    n_slices: int | ArrayLike = 10,
    categorical: bool | str = "auto",
    variance: str = "general",
    n_components: int | None = None,
    sample_weight: ArrayLike | None = None,
    group: ArrayLike | None = None,
) -> CoordinateTest:
    """Test whether the directions of sliced inverse regression depend on the given features.

    The null hypothesis is that y does not depend on these features given the others [1]_. Effects
    that do not change the slice means, such as symmetric ones, are not detected. The marginal test
    needs no number of directions. The conditional test assumes that `n_components` is correct and
    is then more powerful.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Training data with more labelled rows than features.
    y : array-like of shape (n,)
        Numerical, categorical or censored response. Rows whose response is missing (NaN or None)
        are ignored.
    features : int, str, sequence of int or str, or mask of shape (d,) of bool
        Features to test, by index, by name or as a boolean mask.
    n_slices : int or array-like of increasing edges, default=10
        Target number of slices, or their edges, as in `SemiSlicedInverseRegression`.
    categorical : "auto" or bool, default="auto"
        Whether y is categorical, see `SemiSlicedInverseRegression`.
    variance : {"general", "constant"}, default="general"
        How to estimate the weights of the null distribution.

        - "general" makes no assumption. It corrects for leverage and for the estimation error of
          the weights, which R's ``dr`` does not. With 60 skewed rows of five features, a test at
          level .05 rejects .03 to .07 of true null hypotheses.
        - "constant" computes the weights from the eigenvalues, as R's ``dr`` does. It is valid if
          the variance of X given the directions is constant, for example for normal X.
    n_components : int, default=None
        Number of directions for the conditional test, at most the number of features and of slices
        minus one. If None, the marginal test is used. With ``variance="constant"`` the test ignores
        that the directions are estimated and rejects too often in small samples: .09 at level .05
        with 100 rows of 8 features.
    sample_weight : array-like of shape (n,), default=None
        Sample weights, which need ``variance="general"``. The test then refers to the weighted
        population. Its level is accurate if there are many more rows than features: at level .05
        it rejects up to .08 with 150 rows of 5 features, and .10 with 60. Rows of weight 0 are
        ignored.
    group : array-like of shape (n,), default=None
        Categories of a grouping variable to condition on, as in ``fit`` of
        `SlicedInverseRegression`. Cannot be combined with weights.

    Returns
    -------
    result : CoordinateTest
        Result of the test, with the statistic, the weights of its null distribution and the
        p-value.

    Raises
    ------
    ValueError
        If `features` does not select some but not all features, there are too few labelled rows,
        `n_components` is too large, or relative weights are combined with ``variance="constant"``.

    References
    ----------
    .. [1] Cook, "Testing predictor contributions in sufficient dimension reduction", Ann. Statist.
       32, 2004, sections 4 and 5. The p-value is approximated as in Bentler and Xie,
       Statist. Probab. Lett. 47, 2000, the default of R's ``dr``.

    Examples
    --------
    >>> import numpy as np
    >>> from skbo_silbo.inspection import coordinate_test
    >>> X = np.random.default_rng(0).normal(size=(300, 4))
    >>> y = X[:, 0] + np.exp(X[:, 1])
    >>> test = coordinate_test(X, y, [2, 3], n_slices=4)
    >>> test
             Stat      F     df df.weights p.value
    x2, x3 5.0284 1.1724 4.7936      292.6 0.32294
    >>> bool(coordinate_test(X, y, [1], n_components=1).p_value < 1e-6)
    True
    """
    rows = RowsUnderTest.from_data(X, y, n_slices, categorical, variance, sample_weight, group)
    return rows.with_n_components(n_components).test(rows.feature_indices(features))


@dataclass(frozen=True, eq=False)
class RowsUnderTest:
    """Labelled samples prepared for coordinate tests.

    Attributes
    ----------
    X : ndarray of shape (n, d)
        Features standardised to (weighted) mean 0 and variance 1. Constant features are 0.
    slices : Slices
        Slices into which the response is divided.
    names : list of str
        Names of the features.
    variance : {"general", "constant"}
        Method to estimate the weights of the null distribution, as in `coordinate_test`.
    n_components : int or None
        Number of directions of the conditional test, or None for the marginal test.
    """

    X: FloatArray
    slices: Slices
    names: list[str]
    variance: str
    n_components: int | None = None

    @classmethod
    def from_data(cls, X, y, n_slices, categorical, variance, sample_weight, group):
        """Validate the arguments of `coordinate_test` and prepare the labelled samples."""
        check_choice("variance", variance, ["general", "constant"])
        check_switch("categorical", categorical)
        checker = SlicedInverseRegression()
        takes = ("numeric", "categorical", "censored")
        settings = {"takes": takes, "categorical": categorical, "n_slices": n_slices}
        data = split_labelled(checker, X, y, None, sample_weight, **settings).labelled_only()
        data = center_within_groups(data, group)
        slices = slice_within(data.y, data.groups, n_slices, sample_weight=data.weights)
        if variance == "constant" and not slices.is_counted:
            data.without_weights(
                "with variance='constant', which assumes that all rows have the same weight. Use "
                "variance='general'."
            )
        numbered = [f"x{j}" for j in range(checker.n_features_in_)]
        names = [str(name) for name in vars(checker).get("feature_names_in_", numbered)]
        return cls(_standardise(data), slices, names, variance)

    def feature_indices(self, features):
        """Return the sorted indices of features given by index, name or mask."""
        d, listed = self.X.shape[1], np.asarray(features, dtype=object)
        keys = listed.ravel().tolist() if listed.ndim < 2 else [None]
        if len(keys) == d and all(isinstance(key, bool | np.bool_) for key in keys):
            keys = np.flatnonzero(keys).tolist()
        lookup = dict(zip([*range(d), *self.names], [*range(d)] * 2, strict=True))
        is_valid = [isinstance(key, str | Integral) and not isinstance(key, bool) for key in keys]
        found = {lookup.get(key) if ok else None for key, ok in zip(keys, is_valid, strict=True)}
        if None in found or not 0 < len(found) < d:
            raise ValueError(
                f"features must select some but not all of the {d} features of X, by index, by "
                f"name or by a mask of {d} booleans, got {features!r}."
            )
        return sorted(found)

    def with_n_components(self, k):
        """Return a copy for tests that assume k directions."""
        check_integer("n_components", k, 1, special="None")
        if k is not None and k > (most := min(self._max_directions(), self.X.shape[1])):
            raise ValueError(
                f"n_components must be at most {most} with {self.slices.n_slices} slices and "
                f"{self.X.shape[1]} features, got {k}."
            )
        return replace(self, n_components=k)

    def test(self, features):
        """Test whether the directions depend on the features with the given indices."""
        n, k, a = self.slices.n_rows, self.n_components, len(features)
        Q, R = self._factored()
        H = np.linalg.qr(linalg.solve_triangular(R, np.eye(len(R))[:, features], trans="T"))[0]
        J = self.slices.membership()  # times the root weights and 1 / sqrt(n)
        S = (J.T @ Q).T
        HS, reduced, axes = H.T @ S, np.zeros(0), np.eye(S.shape[1])
        full = np.linalg.svd(S, compute_uv=False) ** 2
        if k is None:
            statistic = n * np.sum(HS**2)
        else:
            reduced, axes = np.linalg.eigh(S.T @ S - HS.T @ HS)  # S'GG'S
            reduced, axes = reduced[::-1], axes[:, ::-1]
            statistic = n * max(float(full[:k].sum() - reduced[:k].sum()), 0.0)
        if self.variance == "general":
            e = self._residuals(Q, J, S) @ axes
            weights, *moments = self._estimated_weights(Q, H, e, reduced)
        else:
            eigenvalues = np.zeros(self._max_directions() if k is None else k)
            eigenvalues[: len(full)] = full[: len(eigenvalues)]
            weights = np.repeat(np.clip(1 - eigenvalues, 0, None), a)
            moments = [float(weights @ weights), np.inf]
        p_value = bentler_xie(statistic, weights.sum(), *moments)
        names = [self.names[j] for j in features]
        return CoordinateTest(names, float(statistic), weights, p_value, *moments)

    def _max_directions(self):
        """Return the largest number of directions that the slices can identify."""
        return self.slices.n_slices - self.slices.n_groups

    def _factored(self):
        """Return the QR decomposition of the weighted samples.

        Raises
        ------
        ValueError
            If there are too few rows or the features are collinear.
        """
        n, d = self.slices.n_rows, self.X.shape[1]
        if n - 1 <= d:
            raise ValueError(
                f"X must have more labelled rows than features + 1 for a coordinate test, got "
                f"{n:.6g} labelled rows and {d} features. Remove some features first."
            )
        Q, R = np.linalg.qr(self.slices.weighted(self.X))
        residual = np.append(np.abs(np.diag(R)), np.zeros(d - len(R)))
        if residual.min() <= COLLINEAR * np.sqrt(n):
            j = int(np.argmax(residual <= COLLINEAR * np.sqrt(n)))
            reason = "constant"
            if self.X[:, j].any():
                reason = "a linear combination of the features before it"
            raise ValueError(
                f"X must have linearly independent features for a coordinate test, but "
                f"{self.names[j]} is {reason}. Remove it."
            )
        return Q, R

    def _residuals(self, Q, J, S):
        """Return the weighted residuals of the regression of the slices on the features."""
        n, roots = self.slices.n_rows, self._group_roots()
        return np.sqrt(n) * (J.toarray() - Q @ S - roots @ (J.T @ roots).T)

    def _group_roots(self):
        """Return one unit vector per group, proportional to the root weights of its samples."""
        codes, roots = self.slices.groups, self.slices.weighted(np.ones((len(self.X), 1)))
        if codes is not None:
            roots = roots * np.equal.outer(codes, np.arange(self.slices.n_groups))
        return roots / np.linalg.norm(roots, axis=0)

    def _estimated_weights(self, Q, H, e, reduced):
        """Estimate the weights of the test statistic's chi-squared distribution."""
        n, k, a = self.slices.n_rows, self.n_components, H.shape[1]
        P, counts = np.column_stack([Q, self._group_roots()]), np.ones((len(Q), 1))
        if self.slices.is_counted:  # leverage and residuals of a single copy of each row
            P, counts = self.slices.unweighted(P), self.slices.weighted(counts) ** 2
            Q, e = self.slices.unweighted(Q), self.slices.unweighted(e)
        one_minus_h = np.maximum(1 - np.sum(P**2, axis=1, keepdims=True), COLLINEAR)
        Z = np.sqrt(n) * Q @ H / np.sqrt(one_minus_h)
        norms = np.sum(Z**2, axis=1, keepdims=True)
        if k is not None:
            e = e[:, :k] * np.sqrt(self._inflation(counts * norms, e, reduced, a))
        v = np.sqrt(counts)[:, :, None] * Z[:, :, None] * e[:, None, :]
        v = v.reshape(len(Z), -1)
        weights = np.linalg.svd(v, compute_uv=False) ** 2 / n
        n_weights = a * (self._max_directions() if k is None else k)
        squares = self._sum_of_squares(v, weights, n_weights)
        df = _df_of_trace(norms, one_minus_h, P, counts) * _n_effective((e.T * counts[:, 0]) @ e)
        return weights, float(squares), float(df)

    def _inflation(self, norms, e, reduced, a):
        """Return the factor by which estimating the directions inflates the test statistic."""
        k = self.n_components
        variance = np.sum(norms * e[:, k:] ** 2, axis=0) / a / self.slices.n_rows**2
        gaps = np.subtract.outer(reduced[:k], reduced[k:])
        return 1 + np.sum(variance / np.maximum(gaps, 2 * variance + COLLINEAR), axis=1)

    def _sum_of_squares(self, v, weights, n_weights):
        """Return the sum of squared weights. For counts, only pairs of different rows are used."""
        if not self.slices.is_counted:
            return weights @ weights
        n, w = self.slices.n_rows, self.slices.weights
        same_row = np.sum(v**2, axis=1) ** 2 / (1 if w is None else w)  # copies are different rows
        unbiased = (weights @ weights - same_row.sum() / n**2) / (1 - 1 / n)
        return max(unbiased, weights.sum() ** 2 / n_weights)


def _df_of_trace(norms, one_minus_h, P, counts):
    """Return the degrees of freedom of the trace for homoscedastic normal residuals."""
    a = counts * norms
    squares = np.sum(a * norms * (2 * one_minus_h - 1)) + np.sum(((P.T * a[:, 0]) @ P) ** 2)
    return np.sum(a * one_minus_h) ** 2 / squares if squares > 0 else np.inf


def _n_effective(variance):
    """Return the number of equal eigenvalues with the same sum and sum of squares."""
    squares = np.sum(variance**2)
    return np.trace(variance) ** 2 / squares if squares else 1.0


def _standardise(data):
    data = drop_constant_columns(data)
    mean, std = mean_and_spread(data.X_labeled, data.weights)
    return data.columns.expand((data.X_labeled - mean) / std)
