"""Algorithm 2 of the SILBO paper as printed, kept to reproduce the paper (arXiv 2005.14601).

It does not solve the eigenvalue problem of the paper. At rank r, its span is the span of the r
leading left singular vectors of X'Omega for any T, so unlabelled samples only matter through the
pooled centring. The weakest direction comes first. See `doc/maths.rst`.
"""

import numpy as np
from scipy import linalg, sparse
from scipy.sparse import csgraph
from sklearn.utils.extmath import randomized_svd

from skbo_silbo._numerics.graphs import neighbor_graph
from skbo_silbo._numerics.pencil import RANGE_TOLERANCE


def pairwise_membership(omega, slices):
    """Return the slice membership matrix Omega with the weights of the paper.

    Each of the k_h neighbour pairs in slice h has weight 1 / k_h.
    """
    pairs = (omega != 0).astype(np.float64)
    per_slice = np.bincount(slices.codes, weights=pairs.sum(axis=0), minlength=slices.n_slices)
    return (pairs @ sparse.diags_array(1 / per_slice[slices.codes])).tocsr()


def paper_directions(X, omega, *, alpha, n_neighbors, rank, method, random_state, ridge=0.0):
    """Compute the directions B by Algorithm 2 of the paper, and their eigenvalues.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Samples centred on the mean of all samples, labelled ones first.
    omega : csr_array of shape (n_l, c)
    alpha : float
        Coefficient of the graph Laplacian L in ``M = I + alpha L``.
    n_neighbors : int
    rank : int
    method : {"auto", "brute", "pynndescent"}
        Method of the nearest-neighbour search.
    random_state : RandomState instance
    ridge : float, default=0.0
        Multiple of the identity that is added to M. The authors' code uses .01.

    Returns
    -------
    eigenvalues : ndarray of shape (r,)
    B : ndarray of shape (d, r)
        Directions, one per column. Their number r is `rank`, or the rank of the slice sums if that
        is lower.
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
