"""Directional regression."""

import numpy as np

from ._second_moments import SecondMomentSlicing
from .slicing._slice_variances import centred_groups, slice_means, sum_of_squared_scatters


class DirectionalRegression(SecondMomentSlicing):
    """Directions from means and variances of the slices together.

    Eigenvectors of the average over pairs of slices of ``(2 I - A)^2``, with A the mean of
    ``(Z - Z')(Z - Z')'`` for Z and Z' drawn from the pair [1]_, in its closed form. It sees both
    trends and symmetric responses.

    Parameters
    ----------
    n_components : "auto", "permutation", "criterion" or int, default="auto"
        "auto", or "permutation", tests by permutation, at level .05, whether 0, 1, ... directions
        suffice [3]_. It can find none: `n_components_` is 0 then, `components_` keeps one
        direction, and a warning says so. "criterion" takes an information criterion of the spectrum
        [2]_, at least 1.
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

    References
    ----------
    .. [1] Li and Wang, "On Directional Regression for Dimension Reduction", JASA 102, 2007.
    .. [2] Zhu, Zhu and Feng, "Dimension Reduction in Regressions Through Cumulative Slicing
       Estimation", JASA 105, 2010.
    .. [3] Cook and Yin, "Dimension Reduction and Visualization in Discriminant Analysis", Aust. N.
       Z. J. Stat. 43, 2001.

    Examples
    --------
    >>> import numpy as np
    >>> from skbo_silbo import DirectionalRegression
    >>> X = np.random.default_rng(0).normal(size=(400, 4))
    >>> dr = DirectionalRegression(2, n_slices=5).fit(X, X[:, 0] + X[:, 2] ** 2)
    >>> sorted(np.argmax(np.abs(dr.components_), axis=1).tolist())
    [0, 2]
    """

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
