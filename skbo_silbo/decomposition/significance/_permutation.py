"""Sequential permutation tests of the number of directions.

==========  ==========  =======================================================================
symbol      shape       meaning
==========  ==========  =======================================================================
S           (n, q)      whitened labelled samples, leading directions first
k           int         number of directions under the hypothesis
S1, S2      (n, k)      scores of the first k directions; residuals of the other scores in a
            (n, q - k)  regression on S1
w           (n,)        weights in units of samples
C           (q, q)      contribution of ridge and penalty to T: ``S'WS + C = I``
==========  ==========  =======================================================================

The hypothesis that k directions suffice means that y depends on X through S1 only. If S2 is then
independent of (y, S1), permuting the rows of S2 does not change the distribution of the (k + 1)-th
eigenvalue. The eigenvalue is recomputed for each permutation and compared with the observed one.
Cook and Yin (2001, section 5) compare the sum of all later eigenvalues. The first of them has more
power against a single further direction, and keeps its level if the first k directions are
estimated with error, as with localised slices. For k = 0 the level is exact for any distribution of
X, if whitening and slices depend on y in no other way.

The number of permutations adapts to the p-value, as in Gandy, "Sequential Implementation of Monte
Carlo Tests With Uniformly Bounded Resampling Risk", JASA 104, 2009: drawing continues until a
binomial test shows on which side of the level the p-value lies, or until ten times the usual number
of permutations. Two random states therefore seldom disagree. A hypothesis that is accepted, as most
are, takes a tenth of the usual number. Rows are sorted by slice and norm first, so that their order
in X does not matter.

With weights, a permutation pairs samples with other weights, so T and the slice means are
recomputed. The weights can stay with y and S1, or move with S2. Weights that stay give an exact
test for k = 0 if the weights depend on y (balanced classes, sampling by outcome). Weights that move
give a nearly exact test if they depend on X (covariate shift, survey strata). Since this is
unknown, both are computed and the larger p-value is returned.
"""

from functools import partial

import numpy as np
from scipy import linalg, special
from scipy.spatial.distance import cdist
from sklearn.utils import check_random_state

from skbo_silbo._numerics.pencil import whitening_basis
from skbo_silbo.decomposition.significance._sequential_tests import SIGNIFICANCE, until_accepted
from skbo_silbo.decomposition.slicing._slices import Slices

FEWEST_REACHED = 10  # draws that must reach the statistic to accept a hypothesis early
RISK = 0.01  # level of the binomial tests that end the drawing
EXTENSION = 10  # factor by which the number of permutations may grow near the level
BATCH = 11  # permutations computed together: a divisor of 99, and nearly of 199
# Costs n q^2 for n rows of q columns. Up to the first, the number of permutations may grow. Above
# the second, it is the smallest number that can reject at level .05.
FEW, MANY = 10**7, 10**8
N_FEW_PERMUTATIONS = 19


def permutation_tests(make_statistic, most, n_permutations, random_state):
    """Run permutation tests of the hypotheses that k = 0, 1, ... directions suffice.

    Parameters
    ----------
    make_statistic : callable
        Function that maps k to a pair: the observed statistic, which is the (k + 1)-th eigenvalue,
        and a function that takes a RandomState and returns the statistic after permuting the rows
        of S2. `mean_shuffles`, `local_shuffles` and `kernel_shuffles` return functions of this
        kind.
    most : int
        Largest number of directions that the tests consider.
    n_permutations : tuple of int
        Number of permutations needed to reject a hypothesis, and the largest number of
        permutations.
    random_state : int or RandomState instance

    Returns
    -------
    dict of ndarray
        Values of all tests: "n_components", "statistic", "p_value" and "n_permutations".
    """
    random_state = check_random_state(random_state)
    usual, largest = n_permutations

    def test(k):
        observed, draw = make_statistic(k)
        reached = made = 0
        while made < largest and not _is_decided(reached, made, usual, largest):
            reached += draw(random_state) >= observed * (1 - 1e-12)
            made += 1
        return observed, (1 + reached) / (1 + made), made

    return until_accepted(test, most, ("statistic", "p_value", "n_permutations"))


def _is_decided(reached, made, usual, largest):
    """Return whether further permutations are unlikely to change the decision of a test."""
    if 1 + reached > SIGNIFICANCE * (1 + made):
        enough = reached >= FEWEST_REACHED
        certain = 1 + reached > SIGNIFICANCE * (1 + largest)
        return enough and (certain or special.bdtrc(reached - 1, made, SIGNIFICANCE) < RISK)
    return made >= usual and special.bdtr(reached, made, SIGNIFICANCE) < RISK


def shuffled_orders(n, groups=None):
    """Return a function that draws random permutations of n rows.

    If `groups` is passed, rows are permuted within their groups.
    """
    if groups is None:
        return lambda random_state: random_state.permutation(n)
    by_group = np.argsort(groups, kind="stable")

    def draw(random_state):
        order = np.empty(n, dtype=int)
        order[by_group] = np.lexsort((random_state.random_sample(n), groups))
        return order

    return draw


def shuffling(statistic, n, groups=None):
    """Return the observed statistic, and a function that draws it for permuted rows."""
    in_order = shuffled_orders(n, groups)
    return statistic(np.arange(n)), lambda random_state: statistic(in_order(random_state))


def mean_shuffles(S, omega, groups=None):
    """Prepare `permutation_tests` for slices without localisation.

    Parameters
    ----------
    S : ndarray of shape (n, q)
        Whitened samples in any basis. S2 has q columns and rank q - k.
    omega : csr_array of shape (n, H)
    groups : ndarray of shape (n,) or None
        Group of each sample. Rows are only permuted within groups. None without groups.
    """
    omega = omega.toarray()
    n, H = omega.shape
    in_order = shuffled_orders(n, groups)

    def make_statistic(k):
        S1 = S @ linalg.svd(omega.T @ S, full_matrices=False)[2][:k].T
        S2, within, drawn = _residual(S, S1), omega.T @ S1, []

        def statistics(orders):
            """Return the test statistics of several permutations.

            Permuting y relative to S2 is equivalent to permuting S2, and cheaper.
            """
            moved = omega[orders].transpose(0, 2, 1).reshape(-1, n)
            rest = (moved @ S2).reshape(-1, H, S2.shape[1])
            matrices = within @ within.T + rest @ rest.transpose(0, 2, 1)
            return np.linalg.eigvalsh(matrices)[:, -1 - k].tolist()

        def draw(random_state):
            if not drawn:
                drawn.extend(statistics([in_order(random_state) for _ in range(BATCH)]))
            return drawn.pop(0)

        return statistics([np.arange(n)])[0], draw

    return make_statistic


def local_shuffles(S, X, slices, n_local_neighbors):
    """Prepare `permutation_tests` for localised slices.

    The neighbours are recomputed for each permutation.

    Parameters
    ----------
    S : ndarray of shape (n, q)
        Whitened samples in any basis, one sample per row.
    X : ndarray of shape (n, d)
        The same samples as in S, in the coordinates of the neighbour search.
    slices : Slices
    n_local_neighbors : int
    """
    groups = [np.flatnonzero(slices.codes == h) for h in range(slices.n_slices)]

    def local_means(X, S):
        """Return the mean of S over the nearest neighbours of each row within its slice."""
        return np.concatenate([_local_means(X[g], S[g], n_local_neighbors) for g in groups])

    S = rotate_to_leading(S, local_means(X, S))

    def make_statistic(k):
        S1, S2 = split_scores(S, k)
        X2 = _residual(X, S1)
        X1 = X - X2

        def statistic(order):
            means = local_means(X1 + X2[order], np.hstack([S1, S2[order]]))
            return largest_after(means.T @ means, k)

        return shuffling(statistic, len(S2), slices.groups)

    return make_statistic


def _local_means(X, S, n_neighbors):
    if n_neighbors >= len(X):
        return np.tile(S.mean(axis=0), (len(X), 1))
    near = np.argpartition(cdist(X, X, "sqeuclidean"), n_neighbors - 1, axis=1)
    return S[near[:, :n_neighbors]].mean(axis=1)


def kernel_shuffles(S, kernel, groups=None):
    """Prepare `permutation_tests` for methods based on second moments.

    Parameters
    ----------
    S : ndarray of shape (n, q)
    kernel : callable
        Function that maps rows of shape (n, q) and their covariance to a kernel matrix of shape (q,
        q).
    groups : ndarray of shape (n,) or None
        Group of each sample. Rows are only permuted within groups. None without groups.
    """

    def make_statistic(k):
        S1, S2 = split_scores(S, k)
        n = len(S1)
        total = linalg.block_diag(S1.T @ S1, S2.T @ S2) / n

        def statistic(order):
            moved = S2[order]
            total[:k, k:] = S1.T @ moved / n
            total[k:, :k] = total[:k, k:].T
            return largest_after(kernel(np.hstack([S1, moved]), total), k)

        return shuffling(statistic, n, groups)

    return make_statistic


def sign_flips(S, y, weights):
    """Prepare a wild bootstrap test for principal Hessian directions.

    The wild bootstrap (Wu 1986) flips the signs of the residuals e of the regression of y on X at
    random and repeats the regression, which keeps e orthogonal to X. It compares the norm of ``sum
    e u u'``, where u are the scores after the k-th, divided by its scale, the root of ``sum e^2
    |u|^4``. The squares and products of the first k scores are added to the regressors: variation
    of e due to them is not noise, and flipping its sign would reject too often.

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
    residuals = _residual_on(root * y, of_lines)

    def make_statistic(k):
        """Return the observed statistic, and a function that draws bootstrap statistics."""
        U, first_scores = S[:, k:], S[:, :k] / root[:, None]
        squares = [(S[:, i] * first_scores[:, : i + 1].T).T for i in range(k)]
        F = np.linalg.qr(np.column_stack([of_lines, *squares]))[0]
        e, fourth = _residual_on(residuals, F), np.einsum("ij,ij->i", U, U) ** 2 / root**2

        def statistic(e):
            return np.sum(((U.T * (e / root)) @ U) ** 2) / max(
                e**2 @ fourth, np.finfo(np.float64).tiny
            )

        def draw(random_state):
            signs = random_state.choice([-1.0, 1.0], size=len(e))
            return statistic(_residual_on(signs * e, F))

        return statistic(e), draw

    return make_statistic


def _residual_on(e, F):
    """Return the residual of e in a regression on the orthonormal columns of F."""
    return e - F @ (F.T @ e)


def split_scores(S, k):
    """Split the scores into the first k and the residuals of the others."""
    return S[:, :k], _residual(S[:, k:], S[:, :k])


def _residual(S2, S1):
    S2 = S2 - S2.mean(axis=0)
    if not S1.shape[1]:
        return S2
    Q = np.linalg.qr(S1 - S1.mean(axis=0))[0]
    S2 -= Q @ (Q.T @ S2)
    return S2


def largest_after(matrix, k):
    """Return the (k + 1)-th largest eigenvalue of a symmetric matrix."""
    return np.linalg.eigvalsh(matrix)[-1 - k]


def rotate_to_leading(S, sums):
    """Rotate S so that its first axes are the right singular vectors of `sums`."""
    if len(sums) <= S.shape[1]:
        V = linalg.svd(sums, check_finite=False)[2].T
    else:
        V = linalg.eigh(sums.T @ sums, check_finite=False)[1][:, ::-1]
    return S @ V


def n_affordable_permutations(S, n_permutations):
    """Return the usual and the largest number of permutations that run in reasonable time.

    For S of shape (n, q), the usual number is `n_permutations` up to n q^2 = 1e8, and 19 beyond. Up
    to n q^2 = 1e7, the number may grow tenfold if the p-value is close to the level.
    """
    cost = S.size * S.shape[1]
    usual = n_permutations if cost <= MANY else N_FEW_PERMUTATIONS
    return usual, EXTENSION * usual if cost <= FEW else usual


def weighted_permutation_tests(make_statistic, *settings):
    """Run permutation tests for weighted samples, and return the larger p-values.

    The weights either stay with y or move with S2.

    With an integer seed, both use the same permutations.
    """
    one, other = (
        permutation_tests(partial(make_statistic, weights_stay=stay), *settings)
        for stay in (True, False)
    )
    n_tests = min(len(one["p_value"]), len(other["p_value"]))
    tests = {name: column[:n_tests] for name, column in one.items()}
    tests["p_value"] = np.maximum(tests["p_value"], other["p_value"][:n_tests])
    return tests


def weighted_shuffles(S, fixed, slices, kernel):
    """Prepare `permutation_tests` for weighted samples.

    The samples are whitened again after each permutation.

    Parameters
    ----------
    S : ndarray of shape (n, q)
    fixed : ndarray of shape (q, q)
        Contribution C of the ridge and the penalty to T, which permutations do not change.
    slices : Slices
        Slices of the samples, which have weights.
    kernel : callable
        Function that maps whitened rows of shape (n, q') with weighted mean 0, and their slices, to
        a symmetric matrix.
    """
    weights, codes, every = slices.weights, slices.codes, S

    def make_statistic(k, weights_stay=True):
        """Return the observed statistic, and a function that draws it for permuted rows."""
        S, C = _split_scores_weighted(every, fixed, weights, k)

        def statistic(order):
            moved = weights if weights_stay else weights[order]
            rows = np.hstack([S[:, :k], S[order, k:]])
            rows -= moved @ rows / moved.sum()
            basis = whitening_basis((rows.T * moved) @ rows + C)
            cut = Slices(codes, np.bincount(codes, moved), moved)
            return largest_after(kernel(basis.whiten(rows), cut), k)

        return shuffling(statistic, len(S))

    return make_statistic


def _split_scores_weighted(S, fixed, weights, k):
    """Split weighted scores into the first k and the residuals of the others."""
    if not k:
        return S, fixed
    root = np.sqrt(weights)[:, None]
    change = np.eye(S.shape[1])
    change[:k, k:] = -np.linalg.lstsq(root * S[:, :k], root * S[:, k:], rcond=None)[0]
    return S @ change, change.T @ fixed @ change
