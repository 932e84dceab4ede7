"""What unlabelled rows are worth: held-out gains of a set of weights over none."""

import numpy as np
from sklearn.neighbors import NearestNeighbors

N_FOLDS = 5
N_VOTERS = 5  # nearest training rows whose mean predicts a held-out row
# degrees of freedom left where one row has all the weight: its error is beyond measure
LEAST_FREEDOM = 1e-12


def stratified_folds(y, rng):
    """Fold (n,) of every row, such that each fold spans the range (or the classes) of y."""
    order = np.argsort(y, kind="stable")
    folds = np.empty(len(y), dtype=np.intp)
    n_folds = min(N_FOLDS, len(y))
    for start in range(0, len(y), n_folds):
        block = order[start : start + n_folds]
        folds[block] = rng.permutation(n_folds)[: len(block)]
    return folds


def held_out_errors(Z, targets, held_out, weights=None):
    """Squared errors (m,) of a nearest-neighbour regression at the rows held out.

    Parameters
    ----------
    Z : ndarray of shape (n, r)
        Scores of all labelled rows, learnt without the labels held out.
    targets : ndarray of shape (n, t)
    held_out : ndarray of shape (n,) of bool
    weights : ndarray of shape (n,), default=None
        How much the vote of a row counts.
    """
    kept = np.flatnonzero(~held_out)
    index = NearestNeighbors(n_neighbors=min(N_VOTERS, len(kept))).fit(Z[kept])
    voters = kept[index.kneighbors(Z[held_out], return_distance=False)]
    votes = np.ones(voters.shape) if weights is None else weights[voters]
    predicted = np.einsum("ij,ijt->it", votes, targets[voters]) / votes.sum(axis=1)[:, None]
    return np.sum((targets[held_out] - predicted) ** 2, axis=1)


def mean_and_error(values, weights=None):
    """(Weighted) mean of values (n, m) over the rows, and its standard error, (m,) each.

    The weights are numbers of rows.
    """
    n = len(values) if weights is None else weights.sum()
    mean = np.average(values, axis=0, weights=weights)
    variance = np.average((values - mean) ** 2, axis=0, weights=weights)
    return mean, np.sqrt(variance / max(n - 1, LEAST_FREEDOM))


def choose_by_gain(errors, weights=None):
    """Column of the errors that pays most: 0 unless another beats it by a standard error.

    Parameters
    ----------
    errors : ndarray of shape (n, m)
        Held-out squared errors, the first column that of doing nothing; targets of variance one.
    weights : ndarray of shape (n,), default=None
        Of the rows, as numbers of rows.

    Returns
    -------
    best : int
    gains, standard_errors : ndarray of shape (m,)
        Mean reduction of the error, in units of the targets' variance: a difference of R^2.
    """
    gains, standard_errors = mean_and_error(errors[:, :1] - errors, weights)
    best = int(np.argmax(np.where(gains > standard_errors, gains, 0.0)))
    return best, gains, standard_errors
