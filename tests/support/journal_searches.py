"""A search whose fits are counted, for the tests of its journal."""

import json

import numpy as np
from scipy.stats import uniform
from sklearn.base import BaseEstimator
from sklearn.model_selection import KFold

from skbo_silbo.model_selection import SILBOSearchCV

X = np.random.RandomState(0).normal(size=(30, 2))
Y = np.arange(30) % 2
SPACE = {"a": uniform(), "b": uniform(), "kind": ["x", "y", (1, 2)]}


class Counted(BaseEstimator):
    """Counts its fits, over all clones; fails for one kind."""

    n_fits = 0

    def __init__(self, a=0.0, b=0.0, kind="x"):
        self.a, self.b, self.kind = a, b, kind

    def fit(self, X, y=None):
        Counted.n_fits += 1
        if self.kind == "fails":
            raise RuntimeError("this kind cannot be fitted")
        self.mean_ = float(np.mean(X))
        return self

    def predict(self, X):
        return np.zeros(len(X))

    def score(self, X, y=None):
        return -((self.a - 0.7) ** 2) - (self.b - 0.2) ** 2 + 0.01 * float(np.mean(X))


def search(journal=None, estimator=None, space=SPACE, **params):
    own = {"initial_params": None, "cv": KFold(3), "random_state": 0, "n_iter": 8, "n_initial": 4}
    params = {**own, **params}
    estimator = Counted() if estimator is None else estimator
    return SILBOSearchCV(estimator, space, journal=journal, **params)


def fit(search, y=Y):
    """Return the search, fitted, and how many fits of candidates that took."""
    before = Counted.n_fits
    search.fit(X, y)
    return search, Counted.n_fits - before - (search.refit is not False)


def lines_of(path):
    return path.read_bytes().splitlines(keepends=True)


def told_in(lines):
    """Return the events that hold a candidate."""
    return [event for event in map(json.loads, lines) if "observed" in event]
