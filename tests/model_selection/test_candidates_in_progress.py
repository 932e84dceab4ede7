"""Candidates in progress: fits that raise and empty splitters."""

import threading

import numpy as np
import pytest
from odd_estimator import Odd
from scipy.stats import uniform
from sklearn.base import BaseEstimator
from sklearn.model_selection import KFold

from skbo_silbo.model_selection import SILBOSearchCV

X, Y = np.arange(24.0).reshape(12, 2), np.arange(12.0)


class NeedsTwo(Exception):
    """Holds what no pickler takes."""

    def __init__(self, code, where):
        super().__init__(f"licence {code} of {where}")
        self.lock = threading.Lock()


class Faulty(BaseEstimator):
    def __init__(self, a=0.0, fault=None):
        self.a, self.fault = a, fault

    def fit(self, X, y=None):
        if self.fault == "raises":
            raise NeedsTwo(7, "solver")
        return self

    def score(self, X, y=None):
        return -((self.a - 0.7) ** 2)


def search(estimator, space=None, **params):
    params = {"n_iter": 4, "cv": KFold(2), "random_state": 0, "n_jobs": 2, **params}
    return SILBOSearchCV(estimator, space or {"a": uniform()}, **params)


@pytest.mark.slow
def test_unpicklable_exception_is_raised_from_processes():
    with pytest.raises((RuntimeError, NeedsTwo), match="licence 7 of solver"):
        search(Faulty(fault="raises"), error_score="raise").fit(X, Y)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:A worker stopped")
def test_with_error_score_raise_a_death_is_raised():
    with pytest.raises(RuntimeError, match="unexpectedly terminated"):
        search(Odd(kind="dies"), error_score="raise").fit(X, Y)
