"""Sparse nearest-neighbour graphs.

=========  ==========  =========================================================
symbol     shape       meaning
=========  ==========  =========================================================
S          (n, n)      symmetric 0/1 adjacency, the union of both directions
=========  ==========  =========================================================
"""

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph
from sklearn.neighbors import NearestNeighbors

# Rows above which "auto" uses pynndescent. By `python doc/benchmarks run graphs`, on one thread and
# including 28 s of import and compilation, it is faster from 90 000 rows of 50 columns or 70 000 of
# 100. A process that builds many graphs gains from some 5000 rows on.
BRUTE_FORCE_ROWS = 80_000
# Columns up to which "auto" uses a k-d tree. For 20 000 normal rows it takes 0.3 s with 5 columns,
# where brute force takes 1.4 s, 1.3 s with 8, and 10 s with 15, where brute force takes 1.6 s.
TREE_COLUMNS = 6


def neighbor_indices(X, n_neighbors, *, method="auto", random_state=None):
    """Return the indices of the nearest neighbours of each row in Euclidean distance.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    n_neighbors : int
        Number of neighbours to find for each row. It is reduced to n - 1 if there are fewer other
        rows.
    method : {"auto", "brute", "pynndescent"}, default="auto"
    random_state : int, RandomState instance or None, default=None
        Seed of the approximate search by pynndescent. The exact methods do not use it.

    Returns
    -------
    indices : ndarray of shape (n, k), k <= n_neighbors
        Indices of the neighbours of each row, not including the row itself. Entries are -1 if
        pynndescent found too few neighbours.
    """
    n_neighbors = min(n_neighbors, len(X) - 1)
    if n_neighbors < 1:
        return np.empty((len(X), 0), dtype=np.intp)
    if method == "auto" and X.shape[1] <= TREE_COLUMNS:
        method = "kd_tree"
    elif method == "auto":
        method = "brute" if len(X) <= BRUTE_FORCE_ROWS else "pynndescent"
    if method == "pynndescent":
        return _descent(X, n_neighbors, random_state)
    index = NearestNeighbors(n_neighbors=n_neighbors, algorithm=method).fit(X)
    return index.kneighbors(return_distance=False)


def _descent(X, n_neighbors, random_state):
    from pynndescent import NNDescent

    index = NNDescent(X, n_neighbors=n_neighbors + 1, random_state=random_state)
    found = index.neighbor_graph[0].astype(np.intp)
    others = np.full((len(X), n_neighbors), -1, dtype=np.intp)
    for row, candidates in enumerate(found):
        kept = candidates[(candidates != row) & (candidates >= 0)][:n_neighbors]
        others[row, : len(kept)] = kept
    return others


def neighbor_graph(X, n_neighbors, *, method="auto", random_state=None):
    """Return the symmetric nearest-neighbour graph of the rows of X.

    Two rows are connected if one of them is a nearest neighbour of the other.

    `neighbor_indices` describes the parameters.

    Returns
    -------
    S : csr_array of shape (n, n)
    """
    indices = neighbor_indices(X, n_neighbors, method=method, random_state=random_state)
    rows, places = np.nonzero(indices >= 0)
    ones = np.ones(len(rows))
    directed = sparse.csr_array((ones, (rows, indices[rows, places])), shape=(len(X), len(X)))
    return directed.maximum(directed.T).tocsr()


def graph_penalty(X, n_labeled, alpha, n_neighbors, *, method="auto", random_state=None):
    """Return the graph Laplacian scaled by ``alpha n_l / n_edges``.

    With each edge counted once, b'X'LXb times this factor is alpha n_l times the mean squared
    difference of the scores along an edge. Without unlabelled samples the penalty is zero.
    """
    S = neighbor_graph(X, n_neighbors, method=method, random_state=random_state)
    return csgraph.laplacian(S).tocsr() * (alpha * n_labeled / (S.nnz / 2))
