"""How many directions, where chi-square is no reference: sequential permutation tests.

==========  ==========  =======================================================================
symbol      shape       meaning
==========  ==========  =======================================================================
S           (n, q)      whitened labelled rows, the directions found first
k           int         directions granted
S1, S2      (n, k)      scores of the directions granted; the rest, less its regression on S1
            (n, q - k)
==========  ==========  =======================================================================

"k directions suffice" means that y depends on X through S1 alone. If S2 is then independent of
(y, S1), shuffling the rows of S2 changes nothing: the eigenvalue after the k-th, found anew in
every shuffle, is compared with that of the rows as they are. Cook and Yin (2001, section 5) compare
the sum of all later eigenvalues; the first of them rejects far more often where there is one more
direction to find, and keeps its level where those granted are found with an error, as with
localised slices, which leave 1/k of the scatter in every direction.
For k = 0 the level is exact whatever the distribution of X, if whitening and slices do not depend
on y in another way.
"""

from dataclasses import dataclass

import numpy as np
from scipy import linalg
from scipy.spatial.distance import cdist

from ._sequential_tests import SIGNIFICANCE


def permutation_tests(problem, *, most, n_permutations, random_state):
    """Test k = 0, 1, ... until one is accepted.

    Parameters
    ----------
    problem : MeanShuffles, LocalShuffles, KernelShuffles, WeightedShuffles or MeanRotations
        ``granting(k)`` gives the statistic observed, and a function of a RandomState that draws
        one under the hypothesis.
    most : int
        Largest number of directions that can be found.
    n_permutations : int
    random_state : RandomState instance

    Returns
    -------
    dict of ndarray
        "n_components", "statistic", "p_value" and "n_permutations", a row a test made.
    """
    rows = []
    for k in range(most):
        observed, draw = problem.granting(k)
        drawn = (draw(random_state) for _ in range(n_permutations))
        reached = sum(value >= observed * (1 - 1e-12) for value in drawn)
        rows.append((k, observed, (1 + reached) / (1 + n_permutations), n_permutations))
        if rows[-1][2] > SIGNIFICANCE:
            break
    names = ("n_components", "statistic", "p_value", "n_permutations")
    return dict(zip(names, (np.array(column) for column in zip(*rows, strict=True)), strict=True))


def shuffling(statistic, n):
    """Return the statistic of n rows as they are, and a draw of one with the rows in any order."""
    return statistic(np.arange(n)), lambda random_state: statistic(random_state.permutation(n))


@dataclass(frozen=True)
class MeanShuffles:
    """Plain slices: eigenvalues of ``S' Omega Omega' S``.

    Attributes
    ----------
    S : ndarray of shape (n, q)
    omega : csr_array of shape (n, H)
    """

    S: np.ndarray
    omega: object

    def granting(self, k):
        """Eigenvalue after the k-th, as it is and with the rows of S2 shuffled."""
        S1, S2 = parted(self.S, k)
        within = self.omega.T @ S1
        granted = within @ within.T

        def statistic(order):
            rest = self.omega[order].T @ S2  # shuffles y against S2: the same, and S2 stays put
            return largest_after(granted + rest @ rest.T, k)

        return shuffling(statistic, len(S2))


@dataclass(frozen=True)
class LocalShuffles:
    """Localised slices: neighbours are sought anew among the shuffled rows.

    Attributes
    ----------
    S : ndarray of shape (n, q)
    X : ndarray of shape (n, d)
        The same rows in the coordinates in which neighbours are near.
    slices : Slices
    n_local_neighbors : int
    """

    S: np.ndarray
    X: np.ndarray
    slices: object
    n_local_neighbors: int

    def granting(self, k):
        """Eigenvalue after the k-th, as it is and with the rows of S2 shuffled."""
        S1, S2 = parted(self.S, k)
        X2 = _residual(self.X, S1)
        X1 = self.X - X2

        def statistic(order):
            means = self.local_means(X1 + X2[order], np.hstack([S1, S2[order]]))
            return largest_after(means.T @ means, k)

        return shuffling(statistic, len(S2))

    def local_means(self, X, S):
        """Mean of S (n, q) over the rows of the same slice near each row in X."""
        groups = (np.flatnonzero(self.slices.codes == h) for h in range(self.slices.n_slices))
        return np.concatenate([self._local_means(X[group], S[group]) for group in groups])

    def _local_means(self, X, S):
        if self.n_local_neighbors >= len(X):
            return np.tile(S.mean(axis=0), (len(X), 1))
        last = self.n_local_neighbors - 1
        near = np.argpartition(cdist(X, X, "sqeuclidean"), last, axis=1)
        return S[near[:, : last + 1]].mean(axis=1)


@dataclass(frozen=True)
class KernelShuffles:
    """Second moments: eigenvalues of a kernel matrix of the rows and their slices.

    Attributes
    ----------
    S : ndarray of shape (n, q)
    kernel : callable
        Rows (n, q) to the kernel matrix (q, q).
    """

    S: np.ndarray
    kernel: object

    def granting(self, k):
        """Eigenvalue after the k-th, as it is and with the rows of S2 shuffled."""
        S1, S2 = parted(self.S, k)

        def statistic(order):
            return largest_after(self.kernel(np.hstack([S1, S2[order]])), k)

        return shuffling(statistic, len(S2))


def parted(S, k):
    """S1 (n, k), and S2 (n, q - k) less its mean and its regression on S1."""
    return S[:, :k], _residual(S[:, k:], S[:, :k])


def _residual(S2, S1):
    S2 = S2 - S2.mean(axis=0)
    if not S1.shape[1]:
        return S2
    Q = np.linalg.qr(S1 - S1.mean(axis=0))[0]
    return S2 - Q @ (Q.T @ S2)


def largest_after(matrix, k):
    """Largest eigenvalue of a symmetric matrix after the k largest."""
    place = len(matrix) - k - 1
    return linalg.eigvalsh(matrix, subset_by_index=(place, place), check_finite=False)[0]


def found_first(S, sums):
    """S (n, q) in an orthonormal basis that begins with the right singular vectors of the sums."""
    if len(sums) <= S.shape[1]:
        V = linalg.svd(sums, check_finite=False)[2].T
    else:
        V = linalg.eigh(sums.T @ sums, check_finite=False)[1][:, ::-1]
    return S @ V
