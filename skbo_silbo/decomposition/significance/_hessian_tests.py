"""Tests of how many principal Hessian directions there are.

==========  ==========  =======================================================================
symbol      shape       meaning
==========  ==========  =======================================================================
S           (n, q)      scores of unit variance along all directions, those found first
U           (n, m)      scores of the directions after the k-th, m = q - k
e           (n,)        residuals of the linear regression of y on X
F           (n, .)      orthonormal columns that span the constant and S; then squares too
==========  ==========  =======================================================================

"k directions suffice" means that the mean of ``e u u'`` is 0. For normal X and e independent of X
its n m (m + 1) / 2 entries have the same variance (Li 1992). In general their variance is estimated
by that of the rows' own ``e (u u' - I)`` (Cook 1998; R's ``dr``): valid for whatever X, but far too
cautious, since e was made orthogonal to X. The wild bootstrap makes it so anew in every draw: signs
of e are flipped, the regression is repeated, and the length of ``sum e u u'`` is compared after
division by its scale, the root of ``sum e^2 |u|^4`` (Wu 1986). Squares and products of the scores
granted are regressors too: what e owes to them is no noise, and to flip it rejects too often.
"""

import numpy as np

from ..slicing._slices import repeat_by_count
from ._permutation import n_affordable_permutations, permutation_tests
from ._sequential_tests import chi_square_tests, moments_of_squares

N_FLIPS = 199
TINY = np.finfo(np.float64).tiny
MOST_TESTED = 20  # most directions granted in turn
MOST_PRODUCTS = 2e10  # of rows by rows by directions in `hessian_tests`: seconds a test


def hessian_tests(eigenvalues, S, e, weights, n):
    """Chi-square tests that k directions suffice, a row each, to the first accepted.

    Parameters
    ----------
    eigenvalues : ndarray of shape (q,)
        Falling in absolute value.
    S : ndarray of shape (n_rows, q)
    e : ndarray of shape (n_rows,)
        0 where the regression fits exactly: every k is accepted.
    weights : ndarray of shape (n_rows,)
    n : float
        Number of rows, or the sum of their weights.
    """
    variance = weights @ e**2 / (n - 1)
    scaled = e / np.sqrt(2 * variance) if variance else e

    def test(k):
        m = len(eigenvalues) - k
        statistic = n * np.sum(eigenvalues[k:] ** 2) / (2 * variance) if variance else 0.0
        return statistic, m * (m + 1) // 2, moments_of_squares(S[:, k:], scaled, weights)

    return chi_square_tests(test, min(len(eigenvalues), MOST_TESTED))


def can_be_tested(S):
    """Whether `hessian_tests` of rows S, (n, q), take no more than seconds each."""
    n, q = S.shape
    return q**3 <= n or n**2 * q <= MOST_PRODUCTS


def wild_bootstrap(S, e, slices):
    """Test that k directions suffice, by flipped signs of the residuals e (n,) of S (n, q)."""
    places = repeat_by_count(S, slices)
    S, weights = S[places], None if slices.is_counted else slices.weights
    return permutation_tests(
        sign_flips(S, e[places], weights),
        most=min(S.shape[1], MOST_TESTED),
        n_permutations=n_affordable_permutations(S, N_FLIPS),
        random_state=0,
    )


def sign_flips(S, y, weights=None):
    """Flip signs: the wild bootstrap, as `permutation_tests` takes it.

    Parameters
    ----------
    S : ndarray of shape (n, q)
        Scores of variance I.
    y : ndarray of shape (n,)
        Responses.
    weights : ndarray of shape (n,) or None
    """
    root = np.ones(len(y)) if weights is None else np.sqrt(weights)
    S = root[:, None] * S
    of_lines = np.linalg.qr(np.column_stack([root, S]))[0]
    residuals = _residual(root * y, of_lines)

    def make_statistic(k):
        """Squared length over its squared scale, as it is and with signs flipped."""
        U, granted = S[:, k:], S[:, :k] / root[:, None]
        squares = [(S[:, i] * granted[:, : i + 1].T).T for i in range(k)]
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
