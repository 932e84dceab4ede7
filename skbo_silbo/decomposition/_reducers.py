"""A transformer as the first step of a prediction."""

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from .._checks import brief


def check_reducer(reducer):
    """Raise ValueError for what is neither None nor a transformer."""
    if reducer is not None and (isinstance(reducer, type) or not hasattr(reducer, "transform")):
        raise ValueError(
            f"reducer must be None or a transformer: got {brief(reducer)}. Give an object, as "
            "MAVE(1)."
        )


def fit_reducer(reducer, X, y, X_unlabeled, weights):
    """Fit a clone of a transformer to labelled rows, and unlabelled ones if it takes them."""
    given = {}
    if len(X_unlabeled) and has_fit_parameter(reducer, "X_unlabeled"):
        given["X_unlabeled"] = X_unlabeled
    if weights is not None:
        given["sample_weight"] = weights
    return clone(reducer).fit(X, y, **given)


def reduced_rows(reducer, X):
    """Scores (n, r), a column of zeros where there is no direction."""
    if reducer is None or not getattr(reducer, "n_components_", 1):
        return np.zeros((len(X), 1))
    return np.asarray(reducer.transform(X), dtype=np.float64).reshape(len(X), -1)
