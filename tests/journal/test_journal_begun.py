"""A candidate that ends the process of its search is known by name, and has failed in the end."""

import json
import os

import numpy as np
import pytest
from joblib import parallel_config
from scipy.stats import uniform
from sklearn.base import BaseEstimator
from sklearn.model_selection import KFold

from skbo_silbo import SILBO
from skbo_silbo.model_selection import SILBOSearchCV
from skbo_silbo.workers import LostEvaluationWarning

X, Y = np.zeros((12, 1)), np.zeros(12)
DEATH = 9

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork"),
    pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning"),
    pytest.mark.filterwarnings("ignore:One or more of the test scores are non-finite"),
]


class Poison(BaseEstimator):
    """Ends its process where a is near .5, and writes down that it was there."""

    def __init__(self, a=0.0, log=None):
        self.a, self.log = a, log

    def fit(self, X, y=None):
        with open(self.log, "a") as file:
            file.write(f"{self.a!r}\n")
        if 0.4 < self.a < 0.6:
            os._exit(DEATH)
        return self

    def score(self, X, y=None):
        return -self.a


def events(path):
    return [json.loads(line) for line in path.read_bytes().splitlines()[1:]]


def told_in(path):
    return [event for event in events(path) if "observed" in event]


def search(path, **params):
    params = {
        "initial_params": None,
        "n_iter": 6,
        "n_initial": 6,
        "cv": KFold(2),
        "random_state": 0,
        **params,
    }
    estimator = Poison(log=str(path.with_name("log")))
    return SILBOSearchCV(estimator, {"a": uniform()}, journal=path, refit=False, **params)


def exit_code(function):
    """Call a function in a process of its own."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            function()
            code = 0
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def run_until_it_ends(path, **params):
    """Run a search again and again; return it, as it is in the journal, and how often it died."""
    n_deaths = 0
    while (code := exit_code(lambda: quietly(search(path, **params).fit))) == DEATH:
        n_deaths += 1
        assert n_deaths < 20
    assert code == 0
    return search(path, **params).fit(X, Y), n_deaths


@pytest.mark.filterwarnings("ignore::UserWarning")
def quietly(fit):
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit(X, Y)


def assert_only_the_poison_failed(fitted):
    a = np.array([params["a"] for params in fitted.cv_results_["params"]])
    poison = (a > 0.4) & (a < 0.6)
    assert poison.any()
    scores = fitted.cv_results_["mean_test_score"]
    np.testing.assert_array_equal(np.isnan(scores), poison)
    np.testing.assert_array_equal(scores[~poison], -a[~poison])
    return int(poison.sum())


def test_one_by_one_it_is_tried_once_more(path):
    fitted, n_deaths = run_until_it_ends(path)
    n_poison = assert_only_the_poison_failed(fitted)
    assert n_deaths == 2 * n_poison
    errors = [event["error"] for event in told_in(path)]
    assert sum("the process ended 2 times" in str(error) for error in errors) == n_poison
    assert sorted(os.listdir(path.parent)) == ["log", path.name]


def test_the_others_of_its_batch_are_not_spoilt(path):
    fitted, n_deaths = run_until_it_ends(path, batch_size=3)
    n_poison = assert_only_the_poison_failed(fitted)
    assert 2 * n_poison <= n_deaths <= 3 * n_poison
    assert list(fitted.cv_results_["iter"]) == [0, 0, 0, 1, 1, 1]


def test_as_workers_are_free(path):
    def run():
        with parallel_config("threading"):
            quietly(search(path, n_jobs=2).fit)

    n_deaths = 0
    while (code := exit_code(run)) == DEATH:
        n_deaths += 1
        assert n_deaths < 40
    assert code == 0
    with parallel_config("threading"):
        fitted = search(path, n_jobs=2).fit(X, Y)
    assert_only_the_poison_failed(fitted)
    assert not any(event["in order"] for event in told_in(path))


def until_the_killer(path, **params):
    """Return a search that ends with the candidate that two processes have died with."""
    for _ in range(2):
        assert exit_code(lambda: quietly(search(path, **params).fit)) == DEATH
    return search(path, **params).set_params(n_iter=len(told_in(path)) + 1)


def test_it_is_said(path):
    with pytest.raises(RuntimeError, match="the process ended 2 times while this candidate"):
        until_the_killer(path, error_score="raise").fit(X, Y)


def test_it_is_said_by_a_warning(path):
    ending = until_the_killer(path, error_score=-7.0)
    with pytest.warns(LostEvaluationWarning, match="counts as failed: the process ended 2 times"):
        fitted = ending.fit(X, Y)
    assert fitted.cv_results_["mean_test_score"][-1] == -7.0


def test_what_an_earlier_run_was_at_is_known_by_the_end_of_this_one(path, monkeypatch):
    """An error in a run that has not come to what killed the one before."""
    ending = until_the_killer(path)

    def interrupt(*_):
        raise LookupError

    with monkeypatch.context() as patch:
        patch.setattr(SILBO, "tell", interrupt)
        with pytest.raises(LookupError):
            quietly(search(path).fit)
    quietly(ending.fit)
    assert np.isnan(ending.cv_results_["mean_test_score"][-1])


def test_a_mended_estimator_with_a_new_journal_knows_nothing_of_deaths(path):
    for _ in range(2):
        assert exit_code(lambda: quietly(search(path).fit)) == DEATH
    path.unlink()
    assert sorted(os.listdir(path.parent)) == ["log"]

    class Mended(Poison):
        def fit(self, X, y=None):
            return self

    estimator = Mended(log=str(path.with_name("log")))
    options = {"n_iter": 6, "n_initial": 6, "cv": KFold(2), "random_state": 0, "refit": False}
    fitted = SILBOSearchCV(estimator, {"a": uniform()}, journal=path, **options).fit(X, Y)
    a = [params["a"] for params in fitted.cv_results_["params"]]
    np.testing.assert_array_equal(fitted.cv_results_["mean_test_score"], np.negative(a))
