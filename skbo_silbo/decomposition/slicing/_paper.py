"""Algorithm 2 of the SILBO paper as printed, kept so that the paper can be reproduced.

It is not a solver of the paper's own pencil: at rank r its span is that of the r leading left
singular vectors of X'Omega, whatever T is: unlabelled points move it by the pooled centring alone.
Its columns come with the weakest first. `doc/maths.rst` says more.
"""

import numpy as np
from scipy import linalg, sparse
from scipy.sparse import csgraph
from sklearn.utils.extmath import randomized_svd

from ..._numerics._graphs import neighbor_graph
from ..._numerics._pencil import RANGE_TOLERANCE


def pairwise_membership(omega, slices):
    """Omega with the paper's weights: 1/k_h for each of the k_h neighbour pairs of slice h."""
    pairs = (omega != 0).astype(np.float64)
    per_slice = np.bincount(slices.codes, weights=pairs.sum(axis=0), minlength=slices.n_slices)
    return (pairs @ sparse.diags_array(1 / per_slice[slices.codes])).tocsr()


def paper_directions(X, omega, *, alpha, n_neighbors, rank, method, random_state, ridge=0.0):
    """Columns of B (d, rank) as Algorithm 2 returns them, and 1/s^2 for each (eqs. 9 to 13).

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Pooled rows about their pooled mean, labelled first.
    omega : csr_array of shape (n_l, c)
    alpha : float
        The bare coefficient of L.
    n_neighbors : int
    rank : int
    method : {"auto", "brute", "pynndescent"}
        How neighbours are found.
    random_state : RandomState instance
    ridge : float, default=0.0
        Bare coefficient of the identity in ``M = I + alpha L``; the authors' code adds .01.

    Returns
    -------
    eigenvalues : ndarray of shape (r,)
    B : ndarray of shape (d, r)
        r is `rank`, or the rank of the slice sums where that is lower.
    """
    n_labeled = omega.shape[0]
    C = (omega.T @ X[:n_labeled]).T
    U1, s1, _ = randomized_svd(C, rank, power_iteration_normalizer="QR", random_state=random_state)
    kept = s1 > RANGE_TOLERANCE * s1[0]
    U1, s1 = U1[:, kept], s1[kept]
    scores = X @ (U1 / s1)
    weighted = ridge * scores
    weighted[:n_labeled] += scores[:n_labeled]
    if alpha:
        S = neighbor_graph(X, n_neighbors, method=method, random_state=random_state)
        weighted += alpha * (csgraph.laplacian(S) @ scores)
    squares, U2 = linalg.eigh(scores.T @ weighted)
    squares, U2 = squares[::-1], U2[:, ::-1]
    return 1 / squares, (U1 / s1) @ U2
