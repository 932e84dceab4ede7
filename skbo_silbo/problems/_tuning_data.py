"""Bundled regression data for tuning problems, and the splits on which they are judged."""

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.model_selection import KFold
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from skbo_silbo._checks import check_choice
from skbo_silbo.problems._random import as_generator

N_FOLDS = 5


def folds_of(data, random_state):
    """Return standardised splits of a bundled data set.

    Parameters
    ----------
    data : {"diabetes", "diabetes-interactions", "breast-cancer"}
        442 rows and 10 inputs; the same with all 45 products of two inputs; 569 rows and 30
        inputs with the class, 0 or 1, as a number.
    random_state : int, RandomState, Generator or None
        Seed of the five folds.

    Returns
    -------
    folds : tuple of (X, y, X_test, y_test)
        One for each fold; centred and scaled to unit variance by the training rows.
    """
    check_choice("data", data, tuple(LOADERS))
    X, y = LOADERS[data]()
    seed = int(as_generator(random_state).integers(2**31))
    splits = KFold(N_FOLDS, shuffle=True, random_state=seed).split(X)
    return tuple(_standardised(X, y, train, test) for train, test in splits)


def _diabetes_interactions():
    X, y = load_diabetes(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    return PolynomialFeatures(2, interaction_only=True, include_bias=False).fit_transform(X), y


LOADERS: Mapping[str, Callable[[], Any]] = MappingProxyType(
    {
        "diabetes": partial(load_diabetes, return_X_y=True),
        "diabetes-interactions": _diabetes_interactions,
        "breast-cancer": partial(load_breast_cancer, return_X_y=True),
    }
)


def _standardised(X, y, train, test):
    inputs, target = StandardScaler().fit(X[train]), StandardScaler().fit(y[train, None])
    return (
        inputs.transform(X[train]),
        target.transform(y[train, None]).ravel(),
        inputs.transform(X[test]),
        target.transform(y[test, None]).ravel(),
    )


def error_over_folds(predict, folds, rows):
    """Return the mean squared errors over folds, (n,), of rows of parameters, (n, d).

    Parameters
    ----------
    predict : callable
        From ``(X, y, X_test, parameters)`` to what is predicted at X_test.
    folds : tuple
        As `folds_of` returns them.
    rows : ndarray of shape (n, d)
    """
    return np.array([np.mean(_errors(predict, folds, row)) for row in rows])


def _errors(predict, folds, row):
    return [np.mean((y_test - predict(X, y, X_test, row)) ** 2) for X, y, X_test, y_test in folds]
