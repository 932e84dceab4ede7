"""Weights under which samples resemble draws from a normal distribution."""

import warnings

import numpy as np
from scipy import linalg
from sklearn.covariance import MinCovDet
from sklearn.metrics import pairwise_distances_argmin
from sklearn.utils import check_random_state

from skbo_silbo.decomposition.rows._columns import Columns, with_positive_peaks

DRAWS_PER_ROW = 10  # as in R's ``dr.weights``
RANGE = 1e-10  # eigenvalues of the covariance below this share of the largest count as 0


def elliptical_weights(X, random_state=None):
    """Return weights under which the samples are distributed approximately normally.

    The mean and covariance of the distribution are robust estimates from X (Cook and Nachtsheim
    1994).

    Parameters
    ----------
    X : ndarray of shape (n, d)
    random_state : int, RandomState instance or None, default=None
        Seed of the random draws. None uses a fixed seed.

    Returns
    -------
    ndarray of shape (n,)
        Weights of the rows, with mean 1. Rows that are not the nearest row of any draw have weight
        0.
    """
    random_state = check_random_state(0 if random_state is None else random_state)
    X = Columns.from_rows(X).select(X)
    if not X.shape[1]:
        return np.ones(len(X))
    X = (X - X.mean(axis=0)) / X.std(axis=0)  # determinants of unscaled data can overflow
    center, covariance = _robust_moments(X, random_state)
    eigenvalues, V = linalg.eigh(covariance)
    kept = eigenvalues > RANGE * eigenvalues[-1]
    V = with_positive_peaks(V[:, kept].T).T  # fixed signs, whatever the rounding
    Z = (X - center) @ (V / np.sqrt(eigenvalues[kept]))
    draws = random_state.normal(size=(DRAWS_PER_ROW * len(X), Z.shape[1]))
    nearest = pairwise_distances_argmin(draws, Z)
    return np.bincount(nearest, minlength=len(X)) / DRAWS_PER_ROW


def _robust_moments(X, random_state):
    """Return robust estimates of mean and covariance, or the usual ones if they are singular."""
    with warnings.catch_warnings():  # about singular covariances, handled below
        warnings.simplefilter("ignore")
        robust = MinCovDet(random_state=random_state).fit(X)
    rank, plain = np.linalg.matrix_rank(robust.covariance_, hermitian=True), np.cov(X.T)
    if rank < np.linalg.matrix_rank(plain, hermitian=True):
        return X.mean(axis=0), np.atleast_2d(plain)
    return robust.location_, robust.covariance_
