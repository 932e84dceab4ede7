"""Sliced average variance estimation."""

from typing import Self

import numpy as np

from .._typing import ArrayLike
from ._second_moments import MAX_AUTO_COMPONENTS, SecondMomentSlicing
from .significance._variance_tests import variance_tests
from .slicing._slice_variances import centred_groups, slice_means, sum_of_squared_scatters


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
