"""Weights with which the rows look like a sample of an elliptical distribution."""

import warnings

import numpy as np
from scipy import linalg
from sklearn.covariance import MinCovDet
from sklearn.metrics import pairwise_distances_argmin
from sklearn.utils import check_random_state

from ._centering import with_positive_peaks
from ._columns import Columns

DRAWS_PER_ROW = 10  # as in R's ``dr.weights``
RANGE = 1e-10  # eigenvalues of the covariance below this share of the largest are rounding


def elliptical_weights(X, random_state=None):
    """How often each row is the nearest of a draw from a normal distribution (Cook and Nachtsheim).

    Parameters
    ----------
    X : ndarray of shape (n, d)
    random_state : int, RandomState instance or None, default=None
        None is a fixed seed.

    Returns
    -------
    ndarray of shape (n,)
        With mean 1; 0 for rows that no draw is near.
    """
    random_state = check_random_state(0 if random_state is None else random_state)
    X = Columns.of(X).part(X)
    if not X.shape[1]:
        return np.ones(len(X))
    X = (X - X.mean(axis=0)) / X.std(axis=0)  # determinants overflow in units
    center, covariance = _robust_moments(X, random_state)
    eigenvalues, V = linalg.eigh(covariance)
    kept = eigenvalues > RANGE * eigenvalues[-1]
    V = with_positive_peaks(V[:, kept].T).T  # draws meet the same axes whatever rounding does
    Z = (X - center) @ (V / np.sqrt(eigenvalues[kept]))
    draws = random_state.normal(size=(DRAWS_PER_ROW * len(X), Z.shape[1]))
    nearest = pairwise_distances_argmin(draws, Z)
    return np.bincount(nearest, minlength=len(X)) / DRAWS_PER_ROW


def _robust_moments(X, random_state):
    """Centre and covariance of the half of the rows that lie closest; of all where it is flat."""
    with warnings.catch_warnings():  # of a half that is flat
        warnings.simplefilter("ignore")
        robust = MinCovDet(random_state=random_state).fit(X)
    rank, plain = np.linalg.matrix_rank(robust.covariance_, hermitian=True), np.cov(X.T)
    if rank < np.linalg.matrix_rank(plain, hermitian=True):
        return X.mean(axis=0), np.atleast_2d(plain)
    return robust.location_, robust.covariance_
