"""Slice methods that look at variances too, and so find symmetric responses: SAVE and DR.

==========  ==========  =====================================================
symbol      shape       meaning
==========  ==========  =====================================================
Z           (n_l, q)    whitened labelled rows: mean 0, variance I
p_h         (H,)        share of the rows in slice h
m_h, V_h    (q,), (q,q) mean and variance of Z within slice h
==========  ==========  =====================================================
"""

import numpy as np
from scipy import linalg

from .._numerics._pencil import Pencil
from .._numerics._solvers import primal_basis
from ._checks import check_n_components
from ._dimension import dimension_by_criterion
from ._labels import split_labelled
from ._projection import LinearProjection, with_positive_peaks
from ._scatter import center_on_labels
from ._slices import check_n_slices, slice_response


class _SecondMomentSlicing(LinearProjection):
    """Whiten, take the kernel matrix of the slices, return its leading eigenvectors.

    A subclass has one method, ``_kernel(shares, means, variances)``.
    """

    def __init__(self, n_components="auto", *, n_slices=10):
        self.n_components = n_components
        self.n_slices = n_slices

    def fit(self, X, y):
        """Learn the directions.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            More labelled rows than features.
        y : array-like of shape (n,)
            Numbers or categories; NaN (None) marks a row without a label, which is left out.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            For fewer labelled rows than the method needs, a constant y, or an `n_components` above
            the number of features that vary.
        """
        check_n_slices(self.n_slices)
        data = split_labelled(self, X, y, allow_categories=True).labelled_only()
        n, d = data.X_labeled.shape
        check_n_components(self.n_components, d)
        check_enough_rows(type(self).__name__, n, d)
        slices = slice_response(data.y, self.n_slices)
        self.n_slices_ = slices.n_slices
        X, self.mean_ = center_on_labels(data)
        pencil = Pencil(X, n, slices.membership())
        basis = primal_basis(pencil)
        Z = np.sqrt(n) * basis.whiten(pencil.X)
        kernel = self._kernel(slices.counts / n, *_slice_moments(Z, slices))
        eigenvalues, V = linalg.eigh(kernel)
        self.eigenvalues_ = np.clip(eigenvalues[::-1], 0, None)
        self._check_rank(len(eigenvalues))
        self.n_components_ = self._choose_n_components(n)
        directions = np.sqrt(n) * basis.lift(V[:, ::-1][:, : self.n_components_])
        self.components_ = with_positive_peaks(directions.T)
        return self

    def _choose_n_components(self, n):
        if self.n_components == "auto":
            return dimension_by_criterion(self.eigenvalues_, n)
        return int(self.n_components)

    def _check_rank(self, rank):
        if self.n_components != "auto" and self.n_components > rank:
            raise ValueError(
                f"n_components must be at most {rank}, the number of features that vary "
                f"independently: got {self.n_components}. Use n_components='auto'."
            )


def check_enough_rows(name, n, d):
    """Refuse data whose whitened rows carry no second moments."""
    if n - 1 <= d:
        raise ValueError(
            f"X must have more labelled rows than features + 1 for {name}: got {n} labelled rows "
            f"and {d} features. Reduce the features first, or use SemiSlicedInverseRegression."
        )


def _slice_moments(Z, slices):
    """Means (H, q) and variances (H, q, q) of the rows of each slice."""
    groups = [Z[slices.codes == h] for h in range(slices.n_slices)]
    means = np.array([group.mean(axis=0) for group in groups])
    variances = np.array([_variance(group) for group in groups])
    return means, variances


def _variance(Z):
    centred = Z - Z.mean(axis=0)
    return centred.T @ centred / len(Z)


class SlicedAverageVarianceEstimation(_SecondMomentSlicing):
    """Directions along which the variance within slices of y differs from that overall (SAVE).

    Eigenvectors of ``sum_h p_h (I - V_h)^2`` in whitened coordinates [1]_. It sees responses that
    are symmetric in a direction, which sliced inverse regression cannot; it needs more rows, and
    is slower to see a linear trend.

    Parameters
    ----------
    n_components : "auto" or int, default="auto"
        "auto" takes an information criterion of the spectrum [2]_.
    n_slices : int or array-like of increasing edges, default=10
        As in `SemiSlicedInverseRegression`; fewer, larger slices suit second moments.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The labelled scores have unit variance; the largest entry of each row is positive.
    mean_ : ndarray of shape (n_features,)
    eigenvalues_ : ndarray of shape (q,)
        All, falling; q the number of features that vary independently.
    n_components_, n_slices_, n_features_in_ : int

    References
    ----------
    .. [1] Cook and Weisberg, discussion of "Sliced Inverse Regression", JASA 86, 1991.
    .. [2] Zhu, Zhu and Feng, "Dimension Reduction in Regressions Through Cumulative Slicing
       Estimation", JASA 105, 2010.

    Examples
    --------
    >>> import numpy as np
    >>> from skbo_silbo import SlicedAverageVarianceEstimation
    >>> X = np.random.default_rng(0).normal(size=(400, 4))
    >>> save = SlicedAverageVarianceEstimation(1, n_slices=5).fit(X, X[:, 2] ** 2)
    >>> int(np.argmax(np.abs(save.components_[0])))
    2
    """

    def _kernel(self, shares, means, variances):
        gaps = np.eye(variances.shape[1]) - variances
        return np.einsum("h,hij,hjk->ik", shares, gaps, gaps, optimize=True)


class DirectionalRegression(_SecondMomentSlicing):
    """Directions from means and variances of the slices together.

    Eigenvectors of the average over pairs of slices of ``(2 I - A)^2``, with A the mean of
    ``(Z - Z')(Z - Z')'`` for Z and Z' drawn from the pair [1]_, in its closed form. It sees both
    trends and symmetric responses.

    Parameters
    ----------
    n_components : "auto" or int, default="auto"
        "auto" takes an information criterion of the spectrum [2]_.
    n_slices : int or array-like of increasing edges, default=10
        As in `SemiSlicedInverseRegression`; fewer, larger slices suit second moments.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The labelled scores have unit variance; the largest entry of each row is positive.
    mean_ : ndarray of shape (n_features,)
    eigenvalues_ : ndarray of shape (q,)
        All, falling; q the number of features that vary independently.
    n_components_, n_slices_, n_features_in_ : int

    References
    ----------
    .. [1] Li and Wang, "On Directional Regression for Dimension Reduction", JASA 102, 2007.
    .. [2] Zhu, Zhu and Feng, "Dimension Reduction in Regressions Through Cumulative Slicing
       Estimation", JASA 105, 2010.

    Examples
    --------
    >>> import numpy as np
    >>> from skbo_silbo import DirectionalRegression
    >>> X = np.random.default_rng(0).normal(size=(400, 4))
    >>> dr = DirectionalRegression(2, n_slices=5).fit(X, X[:, 0] + X[:, 2] ** 2)
    >>> sorted(np.argmax(np.abs(dr.components_), axis=1).tolist())
    [0, 2]
    """

    def _kernel(self, shares, means, variances):
        second = variances + np.einsum("hi,hj->hij", means, means)
        between = np.einsum("h,hi,hj->ij", shares, means, means)
        squares = np.einsum("h,hij,hjk->ik", shares, second, second, optimize=True)
        trace = shares @ np.einsum("hi,hi->h", means, means)
        identity = np.eye(len(between))
        return 2 * squares + 2 * between @ between + 2 * trace * between - 2 * identity
