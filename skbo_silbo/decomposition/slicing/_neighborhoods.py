"""Localised slices, the graph penalty, and the scales of the columns."""

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from skbo_silbo._numerics.graphs import neighbor_graph, neighbor_indices

NEIGHBORS = ("auto", "brute", "pynndescent")  # search methods


def local_membership(X, slices, n_local_neighbors, *, method="auto", random_state=None):
    """Return the membership matrix Omega (n_l, n_l) of localised slices.

    Column j averages the k nearest neighbours of sample j in its slice, itself included, with
    weights 1/k (Wu, Liang and Mukherjee 2010). k is `n_local_neighbors`, or the size of the slice
    if that is smaller. If k is the size of every slice, the result equals that of plain slices.

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
    """Return ``alpha n_l / n_edges`` times the graph Laplacian L of all samples, or None if zero.

    With each edge counted once, b'X'LXb times this factor is alpha n_l times the mean squared
    difference of the scores along an edge. Without unlabelled samples the penalty is zero.
    """
    if alpha == 0 or len(X) == n_labeled:
        return None
    S = neighbor_graph(X, n_neighbors, method=method, random_state=random_state)
    return csgraph.laplacian(S).tocsr() * (alpha * n_labeled / (S.nnz / 2))


def column_scales(X, slices):
    """Return the standard deviation (d,) of each column of X (n, d), which is centred.

    It is computed over the labelled samples, which are multiplied by their root weights. Columns
    that are constant there use all samples; those that are constant everywhere get 1.
    """
    labelled = X[: len(slices.codes)]
    variance = np.einsum("ij,ij->j", labelled, labelled) / slices.n_rows
    flat = variance == 0
    variance[flat] = np.var(X[:, flat], axis=0)
    return np.sqrt(np.where(variance > 0, variance, 1.0))
