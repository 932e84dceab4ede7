"""Permutation tests of rows of relative weight.

==========  ==========  =======================================================================
symbol      shape       meaning
==========  ==========  =======================================================================
S           (n, q)      rows in coordinates in which T is the identity, the directions found first
w           (n,)        weights, as numbers of rows
C           (q, q)      what ridge and penalty are of T: ``S'WS + C = I``
S1, S2                  as in `_permutation`
==========  ==========  =======================================================================

Shuffled rows meet other weights, so that T and the slice means are computed anew in every shuffle.
Weights can stay with y (and S1) or go with S2. The first is exact for k = 0 where they depend on y
(classes balanced, cases sampled by outcome), the second, up to the slices having been cut with the
weights, where they depend on X (covariate shift, survey strata); where on neither, both are. What
they depend on is not known, so both are done, and the larger p-value is the answer.
"""

from functools import partial

import numpy as np

from ..._numerics._whitening import whitening_basis
from ..slicing._slices import Slices
from ._permutation import largest_after, permutation_tests, shuffling

# the fewest that can reject at level .05, taken where one shuffle costs more than `MANY`
N_FEW_PERMUTATIONS = 19
MANY = 10**8  # products of n q^2 in one shuffle (n rows of q columns)


def affordable(S, n_permutations):
    """How many shuffles of rows S (n, q) are made, where each whitens or multiplies them."""
    return n_permutations if S.size * S.shape[1] <= MANY else N_FEW_PERMUTATIONS


def weighted_permutation_tests(granting, **settings):
    """As `permutation_tests`, with the larger p-value of weights that stay and weights that go.

    With an integer as seed both sides see the same shuffles.
    """
    one, other = (
        permutation_tests(partial(granting, weights_stay=stay), **settings)
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

    def granting(k, weights_stay=True):
        """Weights stay with y, or go with S2."""
        S, C = _parted(every, fixed, weights, k)

        def statistic(order):
            moved = weights if weights_stay else weights[order]
            rows = np.hstack([S[:, :k], S[order, k:]])
            rows -= moved @ rows / moved.sum()
            basis = whitening_basis((rows.T * moved) @ rows + C)
            cut = Slices(codes, np.bincount(codes, moved), moved)
            return largest_after(kernel(basis.whiten(rows), cut), k)

        return shuffling(statistic, len(S))

    return granting


def _parted(S, fixed, weights, k):
    """S with its last columns less their weighted regression on the first k, and C of that."""
    if not k:
        return S, fixed
    root = np.sqrt(weights)[:, None]
    change = np.eye(S.shape[1])
    change[:k, k:] = -np.linalg.lstsq(root * S[:, :k], root * S[:, k:], rcond=None)[0]
    return S @ change, change.T @ fixed @ change
