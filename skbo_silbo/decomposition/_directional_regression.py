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
