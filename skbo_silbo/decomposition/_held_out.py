"""What unlabelled rows are worth: held-out gains of a set of weights over none."""

import numpy as np
from sklearn.neighbors import KNeighborsRegressor

N_FOLDS = 5
N_VOTERS = 5
"""Nearest training rows whose mean predicts a held-out row."""


def stratified_folds(y, rng):
    """Fold (n,) of every row, such that each fold spans the range (or the classes) of y."""
    order = np.argsort(y, kind="stable")
    folds = np.empty(len(y), dtype=np.intp)
    n_folds = min(N_FOLDS, len(y))
    for start in range(0, len(y), n_folds):
        block = order[start : start + n_folds]
        folds[block] = rng.permutation(n_folds)[: len(block)]
    return folds


def held_out_errors(Z, targets, held_out):
    """Squared errors (m,) of a nearest-neighbour regression at the rows held out.

    Parameters
    ----------
    Z : ndarray of shape (n, r)
        Scores of all labelled rows, learnt without the labels held out.
    targets : ndarray of shape (n, t)
    held_out : ndarray of shape (n,) of bool
    """
    voters = min(N_VOTERS, int((~held_out).sum()))
    regression = KNeighborsRegressor(voters).fit(Z[~held_out], targets[~held_out])
    return np.sum((targets[held_out] - regression.predict(Z[held_out])) ** 2, axis=1)


def choose_by_gain(errors):
    """Column of the errors that pays most: 0 unless another beats it by a standard error.

    Parameters
    ----------
    errors : ndarray of shape (n, m)
        Held-out squared errors, the first column that of doing nothing; targets of variance one.

    Returns
    -------
    best : int
    gains, standard_errors : ndarray of shape (m,)
        Mean reduction of the error, in units of the targets' variance: a difference of R^2.
    """
    reduction = errors[:, :1] - errors
    gains = reduction.mean(axis=0)
    standard_errors = reduction.std(axis=0, ddof=1) / np.sqrt(len(errors))
    best = int(np.argmax(np.where(gains > standard_errors, gains, 0.0)))
    return best, gains, standard_errors
