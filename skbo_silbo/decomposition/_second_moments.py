"""Sliced average variance estimation (SAVE) and directional regression (DR).

Both use the variances within slices, and therefore also find directions in which y is symmetric.

==========  ==========  =====================================================
symbol      shape       meaning
==========  ==========  =====================================================
Z           (n_l, q)    whitened labelled samples: mean 0, covariance I
p_h         (H,)        share of the samples in slice h
m_h, V_h    (q,), (q,q) mean and covariance of Z within slice h
==========  ==========  =====================================================
"""

from abc import abstractmethod
from typing import ClassVar, Self

import numpy as np

from skbo_silbo._numerics.solvers import eigenvalues_and_leading_vectors
from skbo_silbo._sklearn import StrOptions
from skbo_silbo._typing import ArrayLike, LegacyRandomState
from skbo_silbo.decomposition._projection import COUNT, SupervisedProjection
from skbo_silbo.decomposition.rows._response import KINDS
from skbo_silbo.decomposition.selection._n_components import (
    COMPONENT_WORDS,
    INDEPENDENT,
    TESTED_WORDS,
    check_identified,
    dimension_by_criterion,
)
from skbo_silbo.decomposition.significance._linearity import has_slice_per_value, n_before_violation
from skbo_silbo.decomposition.significance._sequential_tests import (
    can_be_tested,
    dimension_by_tests,
)
from skbo_silbo.decomposition.significance._slice_tests import moment_tests
from skbo_silbo.decomposition.significance._variance_tests import (
    variance_tests,
    warn_if_dependence_unseen,
)
from skbo_silbo.decomposition.slicing._whitened_rows import (
    WhitenedRows,
    centred_groups,
    slice_means,
    sum_of_squared_scatters,
)


class SecondMomentSlicing(SupervisedProjection):
    """Base class of methods that use the second moments of X within slices of y.

    A subclass implements ``_kernel_of_rows(Z, slices, total)``, which returns the kernel matrix
    whose leading eigenvectors are the directions; `total` is the covariance of Z. Its attribute
    `_sees` describes the directions that it can find, for warnings.
    """

    _sees: str
    _sees_means = False

    _takes = KINDS
    _needs_rows = True
    _parameter_constraints: ClassVar = {
        **SupervisedProjection._parameter_constraints,
        "n_components": [COUNT, StrOptions(set(COMPONENT_WORDS))],
    }

    def __init__(
        self,
        n_components: int | str = "auto",
        *,
        n_slices: int = 4,
        categorical: bool | str = "auto",
        random_state: LegacyRandomState = None,
    ) -> None:
        self.n_components = n_components
        self.n_slices = n_slices
        self.categorical = categorical
        self.random_state = random_state

    def _learn(self, data):
        slices = self._slice_response(data)
        rows = WhitenedRows.from_data(data, slices)
        self.mean_, Z = rows.mean, rows.Z
        kernel = self._kernel_of_rows(Z, slices, np.eye(Z.shape[1]))
        is_auto = isinstance(self.n_components, str)  # tests need the scores of all directions
        n_vectors = len(kernel) if is_auto else int(self.n_components)
        eigenvalues, V = eigenvalues_and_leading_vectors(kernel, n_vectors)
        self.eigenvalues_ = np.clip(eigenvalues, 0, None)
        check_identified(self.n_components, len(eigenvalues), INDEPENDENT)
        self.n_components_ = self._choose_n_components(Z, V, slices)
        if self.n_components in TESTED_WORDS:
            found, by_value = self.n_components_, has_slice_per_value(data.y, slices)
            self.n_components_ = n_before_violation(
                Z @ V, found, slices, "permutation_tests_", by_value
            )
        self.components_ = rows.components(V[:, : max(self.n_components_, 1)])
        if not self.n_components_:
            seen = {"sees_means": self._sees_means, "sees_variances": True}
            warn_if_dependence_unseen(Z, data.y, data.weights, self._sees, **seen)

    def _choose_n_components(self, Z, V, slices):
        """Select the number of directions."""
        if not isinstance(self.n_components, str):
            return int(self.n_components)
        if self.n_components == "criterion":
            return dimension_by_criterion(self.eigenvalues_, slices.n_rows)
        self._test_by_chi_square(Z @ V, slices)
        seed = 0 if self.random_state is None else self.random_state
        self.permutation_tests_ = moment_tests(Z @ V, slices, self._kernel_of_rows, seed)
        return dimension_by_tests(self.permutation_tests_)

    @abstractmethod
    def _kernel_of_rows(self, Z, slices, total):
        """Return the matrix whose leading eigenvectors are the directions."""

    def _test_by_chi_square(self, S, slices):
        """Test the number of directions by chi-square tests, if the method has them."""


class SlicedAverageVarianceEstimation(SecondMomentSlicing):
    """Sliced average variance estimation (SAVE).

    Find directions along which the variance of X within slices of y differs from the overall
    variance. They are the leading eigenvectors of ``sum_h p_h (I - V_h)^2``, where V_h is the
    covariance of the whitened samples in slice h, and p_h the share of samples in this slice [1]_.

    Unlike sliced inverse regression, SAVE finds directions in which y is symmetric. It needs more
    samples and is less sensitive to linear trends. Given a categorical predictor as `group`,
    ``fit`` performs partial SAVE [5]_.

    Parameters
    ----------
    n_components : "auto", "permutation", "criterion" or int, default="auto"
        Number of components. "auto" and "permutation" test by permutation, at level .05, whether 0,
        1, ... directions suffice [3]_. A direction is dropped with a warning if the mean or
        variance of other scores changes along it, since it may be an artefact of the distribution
        of X. If no direction is found, a warning is raised, `n_components_` is 0, and `components_`
        holds the leading direction. "criterion" maximises an information criterion of the
        eigenvalues [2]_ and returns at least 1.
    n_slices : int, default=4
        Target number of slices, as in `SemiSlicedInverseRegression`. Second moments need few, large
        slices.
    categorical : "auto" or bool, default="auto"
        Whether y holds categories, each of which is a slice. "auto" decides by the type of y, as in
        `SemiSlicedInverseRegression`.
    random_state : int, RandomState instance or None, default=None
        Seed of the permutation tests. None uses a fixed seed.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Directions, scaled so that the scores of the labelled samples have unit variance. The
        entry of largest magnitude in each row is positive.
    mean_ : ndarray of shape (n_features,)
    eigenvalues_ : ndarray of shape (q,)
        All eigenvalues in decreasing order. Their number q is the rank of the centred labelled
        samples.
    n_components_, n_slices_, n_features_in_ : int
    slice_sizes_ : ndarray of shape (n_slices,)
    permutation_tests_ : dict of ndarray
        Permutation tests: "n_components", "statistic" (the next eigenvalue), "p_value" and
        "n_permutations" of each test, up to the first hypothesis that is accepted. Defined only if
        `n_components` is "auto" or "permutation".
    dimension_tests_ : dict of ndarray
        Chi-square tests of R's ``dr`` [4]_: "n_components", "statistic", "df", "p_value" (from a
        weighted sum of chi-squares, valid for any X) and "p_value_normal" (valid for normal X), up
        to the first hypothesis that is accepted. In small slices, "p_value" is conservative. For
        non-normal X, tests by "p_value_normal" reject far too often. The tests are computed
        together with the permutation tests, unless there are weights, or ``n^2 q`` exceeds 4e9
        and ``q^3`` exceeds n.

    Warns
    -----
    UserWarning
        If "auto" finds no direction. Also if the mean or variance of other scores changes along a
        direction found, because the linearity or the constant variance condition then fails. For
        normal X, this warning appears in at most 1 of 100 data sets.

    References
    ----------
    .. [1] Cook and Weisberg, discussion of "Sliced Inverse Regression", JASA 86, 1991.
    .. [2] Zhu, Zhu and Feng, "Dimension Reduction in Regressions Through Cumulative Slicing
       Estimation", JASA 105, 2010.
    .. [3] Cook and Yin, "Dimension Reduction and Visualization in Discriminant Analysis", Aust. N.
       Z. J. Stat. 43, 2001.
    .. [4] Shao, Cook and Weisberg, "Marginal Tests with Sliced Average Variance Estimation",
       Biometrika 94, 2007.
    .. [5] Shao, Cook and Weisberg, "Partial Central Subspace and Sliced Average Variance
       Estimation", J. Statist. Plann. Inference 139, 2009.

    Examples
    --------
    >>> import numpy as np
    >>> from skbo_silbo import SlicedAverageVarianceEstimation
    >>> X = np.random.default_rng(0).normal(size=(400, 4))
    >>> save = SlicedAverageVarianceEstimation(1, n_slices=5).fit(X, X[:, 2] ** 2)
    >>> int(np.argmax(np.abs(save.components_[0])))
    2
    """

    _sees = "changes in the variance of X given y, and trends less well"

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        group: ArrayLike | None = None,
    ) -> Self:
        """Fit the model to X and y.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Training samples, one per row.
        y : array-like of shape (n,) or (n, q)
            Response: numbers, categories, or several numeric responses. Samples whose y is NaN or
            None are ignored.
        sample_weight : array-like of shape (n,), default=None
            Weights of the samples, as in `SemiSlicedInverseRegression`.
        group : array-like of shape (n,), default=None
            Categorical predictor to adjust for, as in `SlicedInverseRegression`.

        Returns
        -------
        self : object
            Fitted estimator.
        """
        return self._fit(X, y, None, sample_weight, group)

    def _test_by_chi_square(self, S, slices):
        if slices.weights is None and can_be_tested(S):
            self.dimension_tests_ = variance_tests(S, slices, S.shape[1])

    def _kernel_of_rows(self, Z, slices, total):
        """Return the kernel matrix of SAVE, ``I - 2 sum p_h V_h + sum p_h V_h^2``.

        This expands ``sum p_h (I - V_h)^2``, the sample version of ``E (I - Var(Z|y))^2`` (Cook and
        Weisberg 1991). By the law of total variance, ``sum p_h V_h = total - sum p_h m_h m_h'``.
        """
        shares, means = slices.counts / slices.n_rows, slice_means(Z, slices)
        groups = centred_groups(Z, slices, means)
        kernel = sum_of_squared_scatters(groups, shares / slices.counts**2)
        kernel -= 2 * (total - (means.T * shares) @ means)
        kernel[np.diag_indices_from(kernel)] += 1
        return kernel


class DirectionalRegression(SecondMomentSlicing):
    """Directional regression (DR).

    Find directions along which the mean or the variance of X within slices of y differs. They are
    the leading eigenvectors of the average of ``(2 I - A)^2`` over pairs of slices, where A is the
    mean of ``(Z - Z')(Z - Z')'`` for whitened samples Z and Z' drawn from the two slices [1]_. DR
    finds both trends and directions in which y is symmetric.

    Parameters
    ----------
    n_components, n_slices, categorical, random_state
        As in `SlicedAverageVarianceEstimation`.

    Attributes
    ----------
    components_, mean_, eigenvalues_, n_components_, n_slices_, n_features_in_, slice_sizes_, \
    permutation_tests_
        As in `SlicedAverageVarianceEstimation`; there are no chi-square tests.

    References
    ----------
    .. [1] Li and Wang, "On Directional Regression for Dimension Reduction", JASA 102, 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from skbo_silbo import DirectionalRegression
    >>> X = np.random.default_rng(0).normal(size=(400, 4))
    >>> dr = DirectionalRegression(2, n_slices=5).fit(X, X[:, 0] + X[:, 2] ** 2)
    >>> sorted(np.argmax(np.abs(dr.components_), axis=1).tolist())
    [0, 2]
    """

    _sees = "changes in the mean or the variance of X given y"
    _sees_means = True

    def _kernel_of_rows(self, Z, slices, total):
        """Return the kernel matrix of directional regression in closed form.

        The mean of ``(2 I - A)^2`` over pairs of slices is ``2 sum p_h S_h^2 + 2 M^2 + 2 tr(M) M -
        2 I`` with the second moments ``S_h = V_h + m_h m_h'`` and ``M = sum p_h m_h m_h'`` (the
        three expectations of Li and Wang 2007). This assumes that the covariance T of Z is I. In
        permuted samples T differs from I, since the permuted scores are correlated with the others
        by chance. Then ``A = S_h + S_l - m_h m_l' - m_l m_h'`` gives ``4 I - 8 T + 2 T^2`` in place
        of ``-2 I``.
        """
        shares, means = slices.counts / slices.n_rows, slice_means(Z, slices)
        groups = centred_groups(Z, slices, np.zeros_like(means))
        squares = sum_of_squared_scatters(groups, shares / slices.counts**2)
        between = (means.T * shares) @ means
        kernel = squares + between @ between + np.trace(between) * between
        kernel += total @ total - 4 * total
        kernel[np.diag_indices_from(kernel)] += 2
        return 2 * kernel
