"""Tests of the number of principal Hessian directions.

==========  ==========  =======================================================================
symbol      shape       meaning
==========  ==========  =======================================================================
S           (n, q)      scores of unit variance along all directions, in order of importance
U           (n, m)      scores of the directions after the k-th, m = q - k
e           (n,)        residuals of the linear regression of y on X
F           (n, .)      orthonormal basis of the span of the constant, S, and later squares
==========  ==========  =======================================================================

The hypothesis that k directions suffice means that the mean of ``e u u'`` is 0. If X is normal and
e is independent of X, all m (m + 1) / 2 entries have the same variance, and n times the sum of the
squared eigenvalues over ``2 var e`` is chi-square (Li 1992). In general, their covariance is
estimated from the ``e (u u' - I)`` of the samples (Cook 1998; R's ``dr``). This is
valid for any X, but conservative, since it ignores that e is orthogonal to X.

The wild bootstrap (Wu 1986) flips the signs of e at random and repeats the regression, which keeps
e orthogonal to X. It compares the norm of ``sum e u u'``, divided by its scale, the root of ``sum
e^2 |u|^4``. The squares and products of the first k scores are added to the regressors: variation
of e due to them is not noise, and flipping its sign would reject too often.
"""

import numpy as np

from skbo_silbo.decomposition.significance._permutation import (
    n_affordable_permutations,
    permutation_tests,
)
from skbo_silbo.decomposition.significance._sequential_tests import (
    chi_square_tests,
    moments_of_squares,
)
from skbo_silbo.decomposition.significance._slice_tests import N_PERMUTATIONS, scores_to_shuffle

TINY = np.finfo(np.float64).tiny


def hessian_tests(eigenvalues, S, e, weights, n):
    """Run chi-square tests of the hypotheses that k = 0, 1, ... directions suffice.

    Parameters
    ----------
    eigenvalues : ndarray of shape (q,)
        Eigenvalues in decreasing order of absolute value.
    S : ndarray of shape (n_rows, q)
    e : ndarray of shape (n_rows,)
        Residuals of the regression of y on X. If they are all 0, every hypothesis is accepted.
    weights : ndarray of shape (n_rows,)
    n : float
        Number of samples, or their total weight if there are weights.
    """
    variance = weights @ e**2 / (n - 1)
    scaled = e / np.sqrt(2 * variance) if variance else e

    def test(k):
        m = len(eigenvalues) - k
        statistic = n * np.sum(eigenvalues[k:] ** 2) / (2 * variance) if variance else 0.0
        return statistic, m * (m + 1) // 2, moments_of_squares(S[:, k:], scaled, weights)

    return chi_square_tests(test, len(eigenvalues))


def wild_bootstrap(S, e, slices, random_state):
    """Run wild bootstrap tests of the hypotheses that k = 0, 1, ... directions suffice.

    Large data are subsampled, see `scores_to_shuffle`.
    """
    S, slices, places = scores_to_shuffle(S, slices)
    return permutation_tests(
        sign_flips(S, e[places], slices.weights),
        most=S.shape[1],
        n_permutations=n_affordable_permutations(S, N_PERMUTATIONS),
        random_state=random_state,
    )


def sign_flips(S, y, weights=None):
    """Return the function that `permutation_tests` uses for a wild bootstrap.

    Parameters
    ----------
    S : ndarray of shape (n, q)
        Whitened samples, whose covariance is the identity.
    y : ndarray of shape (n,)
        Response of each sample.
    weights : ndarray of shape (n,) or None
    """
    root = np.ones(len(y)) if weights is None else np.sqrt(weights)
    S = root[:, None] * S
    of_lines = np.linalg.qr(np.column_stack([root, S]))[0]
    residuals = _residual(root * y, of_lines)

    def make_statistic(k):
        """Return the observed statistic, and a function that draws bootstrap statistics."""
        U, first_scores = S[:, k:], S[:, :k] / root[:, None]
        squares = [(S[:, i] * first_scores[:, : i + 1].T).T for i in range(k)]
        F = np.linalg.qr(np.column_stack([of_lines, *squares]))[0]
        e, fourth = _residual(residuals, F), np.einsum("ij,ij->i", U, U) ** 2 / root**2

        def statistic(e):
            return np.sum(((U.T * (e / root)) @ U) ** 2) / max(e**2 @ fourth, TINY)

        def draw(random_state):
            signs = random_state.choice([-1.0, 1.0], size=len(e))
            return statistic(_residual(signs * e, F))

        return statistic(e), draw

    return make_statistic


def _residual(e, F):
    return e - F @ (F.T @ e)
