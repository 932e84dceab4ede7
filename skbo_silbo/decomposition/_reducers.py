"""Helpers for predictors whose first step is a dimension-reduction transformer."""

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from skbo_silbo._sklearn import HasMethods

REDUCER = [HasMethods(["fit", "transform"]), None]  # values that the parameter accepts


def fit_reducer(reducer, X, y, X_unlabeled, weights):
    """Fit a clone of a transformer, passing unlabelled samples if it supports them."""
    given = {}
    if len(X_unlabeled) and has_fit_parameter(reducer, "X_unlabeled"):
        given["X_unlabeled"] = X_unlabeled
    if weights is not None:
        given["sample_weight"] = weights
    return clone(reducer).fit(X, y, **given)


def reduce_rows(reducer, X):
    """Return the scores of X, or a column of zeros if the transformer found no direction."""
    if reducer is None or not getattr(reducer, "n_components_", 1):
        return np.zeros((len(X), 1))
    return np.asarray(reducer.transform(X), dtype=np.float64).reshape(len(X), -1)
