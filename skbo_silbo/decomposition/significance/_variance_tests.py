"""Chi-square tests of the number of directions that the variances within slices identify.

==========  ==========  =======================================================================
symbol      shape       meaning
==========  ==========  =======================================================================
U           (n, m)      whitened samples along the directions after the k-th
V_h, p_h    (m, m), ()  their covariance within slice h, and its share of the samples
==========  ==========  =======================================================================

The statistic is ``n / 2 sum_h p_h |V_h - I|^2``, as in the marginal dimension test of SAVE (Shao,
Cook and Weisberg, Biometrika 94, 2007). If k directions suffice and the covariance of U does not
depend on the others, it is a weighted sum of chi-squares. The weights are the eigenvalues of the
covariance of ``u u'``, halved, each with multiplicity H - 1; for normal X all are 1.

With k = 0, the same test tells whether y depends on X if a method finds no direction.
"""

import numpy as np
from scipy import linalg, special

from skbo_silbo._checks import warn_user
from skbo_silbo.decomposition.significance._sequential_tests import (
    SIGNIFICANCE,
    chi_square_tests,
    moments_of_squares,
)
from skbo_silbo.decomposition.slicing._slices import rows_to_shuffle, slice_response
from skbo_silbo.decomposition.slicing._whitened_rows import centred_groups, slice_means

N_SLICES = 4
ROWS_PER_FEATURE = 3  # labelled samples per feature from which the dependence tests are run
COLLINEAR = 1e-10  # relative size of singular values below which they count as 0
LEVEL = 0.001  # level of the tests that the mean or variance of X is the same in all slices


def variance_tests(S, slices, most):
    """Run tests of the hypotheses that k = 0, 1, ... directions suffice.

    Parameters
    ----------
    S : ndarray of shape (n, q)
        Whitened samples. The first columns are the scores of the leading directions.
    slices : Slices
    most : int
    """
    n, groups = slices.n_rows, centred_groups(S, slices, slice_means(S, slices))
    excess = [
        np.sqrt(count / n) * (group.T @ group / count - np.eye(S.shape[1]))
        for group, count in zip(groups, slices.counts, strict=True)
    ]
    weights = np.ones(len(S)) if slices.weights is None else slices.weights
    halved = np.full(len(S), np.sqrt(n / (n - 1) / 2))

    def test(k):
        m, times = S.shape[1] - k, slices.n_slices - 1
        statistic = n / 2 * sum(np.sum(part[k:, k:] ** 2) for part in excess)
        total, squares = moments_of_squares(S[:, k:], halved, weights)
        return statistic, times * m * (m + 1) // 2, (times * total, times * squares)

    return chi_square_tests(test, most)


def dependence_p_values(X, y, weights=None):
    """Test whether the mean and the variance of X depend on y.

    Return a p-value for each; both are 1 if there are too few samples. Large data are subsampled,
    and samples with counts are repeated.
    """
    slices = slice_response(y, N_SLICES, sample_weight=weights)
    places = rows_to_shuffle(X, slices)
    X, slices = X[places] - X[places].mean(axis=0), slices.select_unweighted(places)
    X = X[:, X.any(axis=0)]
    if len(X) < ROWS_PER_FEATURE * X.shape[1] or slices.n_slices < 2:
        return 1.0, 1.0
    X = X / np.linalg.norm(X, axis=0)
    U, singular, _ = linalg.svd(X, full_matrices=False, check_finite=False)
    S = np.sqrt(len(X)) * U[:, singular > COLLINEAR * singular[0]]
    between = np.sum(slices.counts[:, None] * slice_means(S, slices) ** 2)
    of_means = special.chdtrc(S.shape[1] * (slices.n_slices - 1), between)
    return float(of_means), float(variance_tests(S, slices, 1)["p_value"][0])


def warn_no_direction(
    why=f"tests at level {SIGNIFICANCE} cannot distinguish y from noise",
    remedy="Label more samples, use fewer slices",
):
    """Warn that no direction was found, and explain the reason and a remedy."""
    warn_user(
        f"No direction was found: {why}. n_components_ is 0, and components_ keeps the first "
        f"direction, which may be noise. {remedy}, or set n_components if you know that y depends "
        "on X."
    )


def warn_if_dependence_unseen(
    X, y, weights, sees, *, found=0, sees_means=False, sees_variances=False, **of_none
):
    """Warn if y depends on X in a way that the method cannot detect.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    y : ndarray of shape (n,) or (n, q)
    weights : ndarray of shape (n,) or None
        Weights of the samples, scaled so that a sample of weight 1 counts as one sample. None
        without weights.
    sees : str
        Description of the dependence that the method can detect, used in the warning.
    found : int, default=0
        Number of directions found. If positive, `warn_no_direction` is not called.
    sees_means, sees_variances : bool, default=False
        Whether the method already uses the means, or the variances, of X within slices.
    **of_none : str
        Texts of the warning, which are passed to `warn_no_direction`.
    """
    of_means, of_variances = dependence_p_values(X, y, weights)
    unseen = [1.0 if sees_means else of_means, 1.0 if sees_variances else of_variances]
    if sees_means and of_means <= SIGNIFICANCE:  # a change of the means changes the variances too
        unseen = [1.0]
    if min(unseen) <= LEVEL:
        other = "SlicedInverseRegression"
        if unseen[0] > LEVEL:
            other = "SlicedAverageVarianceEstimation"
        warn_user(
            f"Little was found, and the coverage condition fails: the method detects {sees}, but "
            f"X differs between slices of y (p = {of_means:.2g} for its means, p = "
            f"{of_variances:.2g} for its variances). {other} and DirectionalRegression detect "
            "this, as do MAVE and OuterProductGradients with target='central'."
        )
    elif not found:
        warn_no_direction(**of_none)
