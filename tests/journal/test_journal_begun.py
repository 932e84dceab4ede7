"""An evaluation that ends its own process is repeated alone, and then counts as failed."""

import json
import os
import warnings

import numpy as np
import pytest
from joblib import parallel_config
from scipy.stats import uniform
from sklearn.base import BaseEstimator
from sklearn.model_selection import KFold

from skbo_silbo import LostEvaluationWarning, SILBOSearchCV

X, Y = np.zeros((12, 1)), np.zeros(12)
DEATH = 9
OPTIONS = {"initial_params": None, "n_iter": 6, "n_initial": 6, "cv": KFold(2), "random_state": 0}

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork"),
    pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning"),
    pytest.mark.filterwarnings("ignore:One or more of the test scores are non-finite"),
]


class Poison(BaseEstimator):
    """Ends its process where a is near .35."""

    def __init__(self, a=0.0):
        self.a = a

    def fit(self, X, y=None):
        if 0.25 < self.a < 0.45:
            os._exit(DEATH)
        return self

    def score(self, X, y=None):
        return -self.a


def told_in(path):
    events = map(json.loads, path.read_bytes().splitlines()[1:])
    return [event for event in events if "observed" in event]


def search(path, **params):
    params = {**OPTIONS, "refit": False, **params}
    return SILBOSearchCV(Poison(), {"a": uniform()}, journal=path, **params)


def exit_code(function):
    """Call a function in a process of its own."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            warnings.simplefilter("ignore")
            function()
            code = 0
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def count_deaths(function):
    """Call a function in processes of its own until it returns; return how many died before."""
    for n_deaths in range(40):
        if (code := exit_code(function)) == 0:
            return n_deaths
        assert code == DEATH
    raise AssertionError("it never ends")


def count_poison(fitted):
    """Return how many candidates are poisonous, after checking that only they have failed."""
    a = np.array([params["a"] for params in fitted.cv_results_["params"]])
    poison = (a > 0.25) & (a < 0.45)
    assert poison.any()
    np.testing.assert_array_equal(
        fitted.cv_results_["mean_test_score"], np.where(poison, np.nan, -a)
    )
    return int(poison.sum())


def test_deadly_candidate_is_repeated_once(path):
    n_deaths = count_deaths(lambda: search(path).fit(X, Y))
    n_poison = count_poison(search(path).fit(X, Y))
    assert n_deaths == 2 * n_poison
    errors = [str(event["error"]) for event in told_in(path)]
    assert sum("2 times when the process died" in error for error in errors) == n_poison
    assert os.listdir(path.parent) == [path.name]


def test_rest_of_batch_survives_deadly_candidate(path):
    n_deaths = count_deaths(lambda: search(path, batch_size=3).fit(X, Y))
    fitted = search(path, batch_size=3).fit(X, Y)
    n_poison = count_poison(fitted)
    assert 2 * n_poison <= n_deaths <= 3 * n_poison
    assert list(fitted.cv_results_["iter"]) == [0, 0, 0, 1, 1, 1]


def test_deadly_candidate_in_threads_fails_alone(path):
    with parallel_config("threading"):
        count_deaths(lambda: search(path, n_jobs=2).fit(X, Y))
        count_poison(search(path, n_jobs=2).fit(X, Y))
    assert not any(event["in order"] for event in told_in(path))


@pytest.mark.parametrize("error_score", [-7.0, "raise"])
def test_deadly_candidate_gets_error_score(path, error_score):
    for _ in range(2):
        assert exit_code(lambda: search(path, error_score=error_score).fit(X, Y)) == DEATH
    ending = search(path, error_score=error_score, n_iter=len(told_in(path)) + 2)
    if error_score == "raise":
        with pytest.raises(RuntimeError, match="2 times when the process died"):
            ending.fit(X, Y)
        return
    with pytest.warns(LostEvaluationWarning, match=r"counts as failed: .*2 times"):
        fitted = ending.fit(X, Y)
    assert -7.0 in fitted.cv_results_["mean_test_score"]
