"""Slice methods that look at variances too, and so find symmetric responses: SAVE and DR.

==========  ==========  =====================================================
symbol      shape       meaning
==========  ==========  =====================================================
Z           (n_l, q)    whitened labelled rows: mean 0, variance I
p_h         (H,)        share of the rows in slice h
m_h, V_h    (q,), (q,q) mean and variance of Z within slice h
==========  ==========  =====================================================
"""

from typing import Self

import numpy as np

from .._numerics._eigenpairs import eigenvalues_and_leading_vectors
from .._typing import ArrayLike
from ._projection import SupervisedProjection
from .rows._labels import KINDS
from .selection._n_components import (
    COMPONENT_WORDS,
    INDEPENDENT,
    MAX_AUTO_COMPONENTS,
    TESTED_WORDS,
    check_identified,
    dimension_by_criterion,
)
from .significance._linearity import is_by_value, kept_by_moments
from .significance._sequential_tests import dimension_by_tests
from .significance._slice_tests import moment_tests
from .significance._variance_tests import variance_tests, warn_of_unseen
from .slicing._whitened_rows import (
    WhitenedRows,
    centred_groups,
    slice_means,
    sum_of_squared_scatters,
)


class SecondMomentSlicing(SupervisedProjection):
    """Whiten, take the kernel matrix of the slices, return its leading eigenvectors.

    A subclass has one method, ``_kernel_of_rows(Z, slices, total)``, with the variance of Z, and
    says in `_sees` which directions it finds.
    """

    _sees: str
    _sees_means = False

    _takes = KINDS
    _words, _needs_rows = COMPONENT_WORDS, True

    def __init__(
        self,
        n_components: int | str = "auto",
        *,
        n_slices: int | ArrayLike = 4,
        categorical: bool | str = "auto",
    ) -> None:
        self.n_components = n_components
        self.n_slices = n_slices
        self.categorical = categorical

    def _learn(self, data, slices):
        rows = WhitenedRows.of(data, slices)
        self.mean_, Z = rows.mean, rows.Z
        kernel = self._kernel_of_rows(Z, slices, np.eye(Z.shape[1]))
        tested = isinstance(self.n_components, str)  # then the scores of all are needed
        n_vectors = len(kernel) if tested else int(self.n_components)
        eigenvalues, V = eigenvalues_and_leading_vectors(kernel, n_vectors)
        self.eigenvalues_ = np.clip(eigenvalues, 0, None)
        check_identified(self.n_components, len(eigenvalues), INDEPENDENT)
        self.n_components_ = self._choose_n_components(Z, V, slices)
        if self.n_components in TESTED_WORDS:
            found, by_value = self.n_components_, is_by_value(data.y, slices)
            self.n_components_ = kept_by_moments(
                Z @ V, found, slices, "permutation_tests_", by_value
            )
        self.components_ = rows.components(V[:, : max(self.n_components_, 1)])
        if not self.n_components_:
            seen = {"sees_means": self._sees_means, "sees_variances": True}
            warn_of_unseen(Z, data.y, data.weights, self._sees, **seen)

    def _choose_n_components(self, Z, V, slices):
        """Take the number given, or test the scores of all directions V (q, q)."""
        if not isinstance(self.n_components, str):
            return int(self.n_components)
        if self.n_components == "criterion":
            return dimension_by_criterion(self.eigenvalues_, slices.n_rows)
        self._test_by_chi_square(Z @ V, slices)
        most = min(len(V), MAX_AUTO_COMPONENTS)
        self.permutation_tests_ = moment_tests(Z @ V, slices, self._kernel_of_rows, most)
        return dimension_by_tests(self.permutation_tests_)

    def _test_by_chi_square(self, S, slices):
        """Set tests whose reference is known in large samples, where there are any."""


class SlicedAverageVarianceEstimation(SecondMomentSlicing):
    """Directions along which the variance within slices of y differs from that overall (SAVE).

    Eigenvectors of ``sum_h p_h (I - V_h)^2`` in whitened coordinates [1]_. It sees responses that
    are symmetric in a direction, which sliced inverse regression cannot; it needs more rows, and
    is slower to see a linear trend. Given a category of each row, it is partial SAVE [5]_.

    Parameters
    ----------
    n_components : "auto", "permutation", "criterion" or int, default="auto"
        "auto", or "permutation", tests by permutation, at level .05, whether 0, 1, ... directions
        suffice [3]_, and keeps those before the first along which mean or variance of other scores
        changes, with a warning: those after it may come from X alone. It can find none:
        `n_components_` is 0 then, `components_` keeps one direction, and a warning says so.
        "criterion" takes an information criterion of the spectrum [2]_, at least 1.
    n_slices : int or array-like of increasing edges, default=4
        As in `SemiSlicedInverseRegression`; second moments want few, large slices.
    categorical : "auto" or bool, default="auto"
        Whether y holds categories, as in `SemiSlicedInverseRegression`.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The labelled scores have unit variance; the largest entry of each row is positive.
    mean_ : ndarray of shape (n_features,)
    eigenvalues_ : ndarray of shape (q,)
        All, falling; q the number of features that vary independently.
    n_components_, n_slices_, n_features_in_ : int
    slice_sizes_ : ndarray of shape (n_slices,)
    permutation_tests_ : dict of ndarray
        "n_components", "statistic" (the eigenvalue after those granted) and "p_value", to the first
        number accepted; only where a word asks for tests.
    dimension_tests_ : dict of ndarray
        Beside them, where rows weigh the same or are counted: "n_components", "statistic", "df",
        "p_value" (a weighted sum of chi-squares, for whatever X) and "p_value_normal" (for normal
        X) of R's ``dr`` [4]_, to the first number accepted. The first rejects too seldom in small
        slices, the second far too often off the normal.

    Warns
    -----
    UserWarning
        When "auto" finds no direction, or mean or variance of the other scores changes along those
        found: the linearity or the constant variance condition fails, which is seen in at most 1 of
        100 sets of normal X.

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

    _sees = "directions along which the variance of X given y differs, a trend late"

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        group: ArrayLike | None = None,
    ) -> Self:
        """Learn the directions.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
        y : array-like of shape (n,) or (n, q)
            Numbers, categories or several numbers a row; NaN or None marks a row without a label,
            which is left out.
        sample_weight : array-like of shape (n,), default=None
            As in `SemiSlicedInverseRegression`.
        group : array-like of shape (n,), default=None
            Categories of a further predictor: partial SAVE, as in `SlicedInverseRegression`.

        Returns
        -------
        self
        """
        return self._fit_within(X, y, sample_weight, group)

    def _test_by_chi_square(self, S, slices):
        if slices.is_counted:
            self.dimension_tests_ = variance_tests(S, slices, min(S.shape[1], MAX_AUTO_COMPONENTS))

    def _kernel_of_rows(self, Z, slices, total):
        """``I - 2 sum p_h V_h + sum p_h V_h^2``; the V_h average ``total - sum p_h m m'``."""
        shares, means = slices.counts / slices.n_rows, slice_means(Z, slices)
        groups = centred_groups(Z, slices, means)
        kernel = sum_of_squared_scatters(groups, shares / slices.counts**2)
        kernel -= 2 * (total - (means.T * shares) @ means)
        kernel[np.diag_indices_from(kernel)] += 1
        return kernel


class DirectionalRegression(SecondMomentSlicing):
    """Directions from means and variances of the slices together.

    Eigenvectors of the average over pairs of slices of ``(2 I - A)^2``, with A the mean of
    ``(Z - Z')(Z - Z')'`` for Z and Z' drawn from the pair [1]_, in its closed form. It sees both
    trends and symmetric responses.

    Parameters
    ----------
    n_components, n_slices, categorical
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

    _sees = "directions along which the mean or the variance of X given y differs"
    _sees_means = True

    def _kernel_of_rows(self, Z, slices, total):
        """``4 I - 8 T + 2 T^2`` and the squares, with T the total: ``-2 I`` where that is I.

        Shuffled rows are correlated with those granted by chance, and T shows how.
        """
        shares, means = slices.counts / slices.n_rows, slice_means(Z, slices)
        groups = centred_groups(Z, slices, np.zeros_like(means))
        squares = sum_of_squared_scatters(groups, shares / slices.counts**2)
        between = (means.T * shares) @ means
        kernel = squares + between @ between + np.trace(between) * between
        kernel += total @ total - 4 * total
        kernel[np.diag_indices_from(kernel)] += 2
        return 2 * kernel
