"""From slices and rows to Omega by neighbourhoods, to the graph penalty, to units of columns."""

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from ..._numerics._graphs import neighbor_graph, neighbor_indices

NEIGHBORS = ("auto", "brute", "pynndescent")  # how they are found


def local_membership(X, slices, n_local_neighbors, *, method="auto", random_state=None):
    """Localised Omega (n_l, n_l): column j averages the neighbours of row j within its slice.

    Each neighbourhood counts the row itself and weighs 1/k (Wu, Liang and Mukherjee 2010), with k
    the smaller of `n_local_neighbors` and the size of the slice: k at the size of every slice gives
    plain SIR back.

    Parameters
    ----------
    X : ndarray of shape (n_l, d)
    slices : Slices
    n_local_neighbors : int
        At least 2.
    method, random_state
        As in `neighbor_indices`.

    Returns
    -------
    omega : csr_array of shape (n_l, n_l)
    """
    rows, columns, weights = [], [], []
    for h in range(slices.n_slices):
        members = np.flatnonzero(slices.codes == h)
        others = neighbor_indices(
            X[members], n_local_neighbors - 1, method=method, random_state=random_state
        )
        local = np.column_stack([np.arange(len(members)), others])
        owner, place = np.nonzero(local >= 0)
        rows.append(members[local[owner, place]])
        columns.append(members[owner])
        weights.append(1 / (local >= 0).sum(axis=1)[owner])
    entries = (np.concatenate(rows), np.concatenate(columns))
    return sparse.csr_array((np.concatenate(weights), entries), shape=(len(X), len(X)))


def graph_penalty(X, n_labeled, alpha, n_neighbors, *, method="auto", random_state=None):
    """Graph Laplacian of all rows times alpha' = alpha n_l / (number of edges); None for zero.

    With each edge counted once, b'X'(alpha' L)Xb is alpha n_l times the mean squared difference of
    the scores along an edge. With no unlabelled row the penalty is zero.
    """
    if alpha == 0 or len(X) == n_labeled:
        return None
    S = neighbor_graph(X, n_neighbors, method=method, random_state=random_state)
    return csgraph.laplacian(S).tocsr() * (alpha * n_labeled / (S.nnz / 2))


def column_scales(X, slices):
    """Return the standard deviation (d,) of every column of X (n, d), centred on the labelled mean.

    Over the labelled rows, which carry their root weights; over all rows where the labelled ones do
    not vary; 1 where none does.
    """
    labelled = X[: len(slices.codes)]
    variance = np.einsum("ij,ij->j", labelled, labelled) / slices.n_rows
    flat = variance == 0
    variance[flat] = np.var(X[:, flat], axis=0)
    return np.sqrt(np.where(variance > 0, variance, 1.0))
