"""How many directions, where chi-square is no reference: sequential permutation tests.

==========  ==========  =======================================================================
symbol      shape       meaning
==========  ==========  =======================================================================
S           (n, q)      whitened labelled rows, the directions found first
k           int         directions granted
S1, S2      (n, k)      scores of the directions granted; the rest, less its regression on S1
            (n, q - k)
w           (n,)        weights, as numbers of rows
C           (q, q)      what ridge and penalty are of T: ``S'WS + C = I``
==========  ==========  =======================================================================

"k directions suffice" means that y depends on X through S1 alone. If S2 is then independent of
(y, S1), shuffling the rows of S2 changes nothing: the eigenvalue after the k-th, found anew in
every shuffle, is compared with that of the rows as they are. Cook and Yin (2001, section 5) compare
the sum of all later eigenvalues; the first of them rejects far more often where there is one more
direction to find, and keeps its level where those granted are found with an error, as with
localised slices, which leave 1/k of the scatter in every direction.
For k = 0 the level is exact whatever the distribution of X, if whitening and slices do not depend
on y in another way.

Draws end as soon as so many have reached the statistic that the hypothesis is accepted whatever the
others say (Besag and Clifford, "Sequential Monte Carlo p-values", Biometrika 78, 1991): decisions
are those of all draws, and accepted hypotheses, which are most, cost a tenth.

Rows of relative weight, shuffled, meet other weights: T and the slice means are computed anew.
Weights can stay with y (and S1) or go with S2. The first is exact for k = 0 where they depend on y
(classes balanced, cases sampled by outcome), the second, up to the slices having been cut with the
weights, where they depend on X (covariate shift, survey strata); where on neither, both are. What
they depend on is not known, so both are done, and the larger p-value is the answer.
"""

from functools import partial

import numpy as np
from scipy import linalg
from scipy.spatial.distance import cdist
from sklearn.utils import check_random_state

from ..._numerics._pencil import whitening_basis
from ..slicing._slices import Slices
from ._sequential_tests import SIGNIFICANCE, until_accepted

FEWEST_REACHED = 10  # draws that reach the statistic before they may end
BATCH = 11  # shuffles whose slice sums are one product: a divisor of 99, and nearly of 199
# the fewest that can reject at level .05, taken where one shuffle costs more than `MANY`
N_FEW_PERMUTATIONS = 19
MANY = 10**8  # products of n q^2 in one shuffle (n rows of q columns)


def permutation_tests(make_statistic, *, most, n_permutations, random_state):
    """Test k = 0, 1, ... until one is accepted.

    Parameters
    ----------
    make_statistic : callable
        Of k: `mean_shuffles` and the like return one. It gives the statistic observed, the
        eigenvalue after the k-th, and a function of a RandomState that draws one with the rows of
        S2 shuffled.
    most : int
        Largest number of directions that can be found.
    n_permutations : int
        At most.
    random_state : int or RandomState instance

    Returns
    -------
    dict of ndarray
        "n_components", "statistic", "p_value" and "n_permutations", a row a test made.
    """
    random_state = check_random_state(random_state)

    def test(k):
        observed, draw = make_statistic(k)
        reached = made = 0
        while made < n_permutations and (
            reached < FEWEST_REACHED or 1 + reached <= SIGNIFICANCE * (1 + n_permutations)
        ):
            reached += draw(random_state) >= observed * (1 - 1e-12)
            made += 1
        return observed, (1 + reached) / (1 + made), made

    return until_accepted(test, most, ("statistic", "p_value", "n_permutations"))


def shuffled_orders(n, groups=None):
    """Return a function of a RandomState that draws an order of n rows, (n,).

    Rows that have groups (n,) stay within theirs.
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
    """Return the statistic of n rows as they are, and a draw of one with the rows in any order."""
    in_order = shuffled_orders(n, groups)
    return statistic(np.arange(n)), lambda random_state: statistic(in_order(random_state))


def mean_shuffles(S, omega, groups=None):
    """Plain slices: eigenvalues of ``S' Omega Omega' S``, as `permutation_tests` takes them.

    Parameters
    ----------
    S : ndarray of shape (n, q)
        In any basis; S2 has q columns too, of rank q - k.
    omega : csr_array of shape (n, H)
    groups : ndarray of shape (n,) or None
        Within which rows are shuffled.
    """
    omega = omega.toarray()
    n, H = omega.shape
    in_order = shuffled_orders(n, groups)

    def make_statistic(k):
        S1 = S @ linalg.svd(omega.T @ S, full_matrices=False)[2][:k].T
        S2, within, drawn = _residual(S, S1), omega.T @ S1, []

        def statistics(orders):
            """Shuffle y against S2, which is the same, and S2 stays put."""
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
    """Localised slices: neighbours are sought anew among the shuffled rows.

    Parameters
    ----------
    S : ndarray of shape (n, q)
        In any basis.
    X : ndarray of shape (n, d)
        The same rows in the coordinates in which neighbours are near.
    slices : Slices
    n_local_neighbors : int
    """
    groups = [np.flatnonzero(slices.codes == h) for h in range(slices.n_slices)]

    def local_means(X, S):
        """Mean of S (n, q) over the rows of the same slice near each row in X."""
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
    """Second moments: eigenvalues of a kernel matrix of the rows and their slices.

    Parameters
    ----------
    S : ndarray of shape (n, q)
    kernel : callable
        Rows (n, q) and their variance (q, q) to the kernel matrix (q, q).
    groups : ndarray of shape (n,) or None
        Within which rows are shuffled.
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


def split_scores(S, k):
    """S1 (n, k), and S2 (n, q - k) less its mean and its regression on S1."""
    return S[:, :k], _residual(S[:, k:], S[:, :k])


def _residual(S2, S1):
    S2 = S2 - S2.mean(axis=0)
    if not S1.shape[1]:
        return S2
    Q = np.linalg.qr(S1 - S1.mean(axis=0))[0]
    S2 -= Q @ (Q.T @ S2)
    return S2


def largest_after(matrix, k):
    """Largest eigenvalue of a symmetric matrix after the k largest."""
    place = len(matrix) - k - 1
    return linalg.eigvalsh(matrix, subset_by_index=(place, place), check_finite=False)[0]


def rotate_to_leading(S, sums):
    """S (n, q) in an orthonormal basis that begins with the right singular vectors of the sums."""
    if len(sums) <= S.shape[1]:
        V = linalg.svd(sums, check_finite=False)[2].T
    else:
        V = linalg.eigh(sums.T @ sums, check_finite=False)[1][:, ::-1]
    return S @ V


def n_affordable_permutations(S, n_permutations):
    """How many shuffles of rows S (n, q) are made, where each whitens or multiplies them."""
    return n_permutations if S.size * S.shape[1] <= MANY else N_FEW_PERMUTATIONS


def weighted_permutation_tests(make_statistic, **settings):
    """As `permutation_tests`, with the larger p-value of weights that stay and weights that go.

    With an integer as seed both sides see the same shuffles.
    """
    one, other = (
        permutation_tests(partial(make_statistic, weights_stay=stay), **settings)
        for stay in (True, False)
    )
    n_tests = min(len(one["p_value"]), len(other["p_value"]))
    tests = {name: column[:n_tests] for name, column in one.items()}
    tests["p_value"] = np.maximum(tests["p_value"], other["p_value"][:n_tests])
    return tests


def weighted_shuffles(S, fixed, slices, kernel):
    """Eigenvalues of a kernel matrix of the rows, whitened and sliced anew.

    Parameters
    ----------
    S : ndarray of shape (n, q)
    fixed : ndarray of shape (q, q)
        C.
    slices : Slices
        With weights.
    kernel : callable
        Whitened rows (n, q') of weighted mean 0 and their slices to a symmetric matrix.
    """
    weights, codes, every = slices.weights, slices.codes, S

    def make_statistic(k, weights_stay=True):
        """Weights stay with y, or go with S2."""
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
    """S with its last columns less their weighted regression on the first k, and C of that."""
    if not k:
        return S, fixed
    root = np.sqrt(weights)[:, None]
    change = np.eye(S.shape[1])
    change[:k, k:] = -np.linalg.lstsq(root * S[:, :k], root * S[:, k:], rcond=None)[0]
    return S @ change, change.T @ fixed @ change
