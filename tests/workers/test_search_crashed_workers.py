"""Candidates that end the worker that fits them: all are in the results, every score is right."""

import threading
from collections import Counter

import numpy as np
import pytest
from joblib import parallel_config
from odd_estimator import Odd
from scipy.stats import uniform
from sklearn.base import clone
from sklearn.model_selection import KFold
from worker_parts import THREAD_NAME, Scheduler

from skbo_silbo.model_selection import SILBOSearchCV
from skbo_silbo.workers import LostEvaluationWarning, LostWorkerError

X, Y = np.arange(24.0).reshape(12, 2), np.arange(12.0)
SPACE = {"a": uniform(), "kind": ["good", "dies"]}

pytestmark = pytest.mark.filterwarnings(
    "ignore::sklearn.exceptions.FitFailedWarning",
    "ignore:.*non-finite",
    "ignore:A worker stopped",
    "ignore::skbo_silbo.LostEvaluationWarning",
)


@pytest.fixture(autouse=True)
def ended():
    """Wait for fits that an interrupt leaves behind: at their end scikit-learn resets warnings."""
    yield
    for thread in threading.enumerate():
        if thread.name == THREAD_NAME:
            thread.join()


class Mortal(Odd):
    """Loses its worker, a thread, where `Odd` ends its process; its folds have other scores."""

    def set_params(self, **params):  # called at the begin of a fit, outside what may fail
        if params.get("kind") == "dies":
            raise LostWorkerError("a worker was lost")
        return super().set_params(**params)

    def score(self, X, y=None):
        return super().score(X, y) + 0.01 * float(np.mean(X))


def search(estimator, **params):
    params = {
        "initial_params": None,
        "n_iter": 12,
        "cv": KFold(3),
        "random_state": 0,
        "n_jobs": 2,
        **params,
    }
    return SILBOSearchCV(estimator, SPACE, **params).fit(X, Y)


def check(fitted, n_iter=12, n_splits=3):
    """Compare every row with the score of its candidate and fold, NaN for what dies."""
    results = fitted.cv_results_
    candidates = results["params"]
    dies = np.array([params["kind"] == "dies" for params in candidates])
    assert len(candidates) == n_iter
    assert 1 < dies.sum() < n_iter
    folds = [X[test] for _, test in KFold(n_splits).split(X)]
    right = [
        [type(fitted.estimator)(**params).score(fold) for fold in folds] for params in candidates
    ]
    rows = np.transpose([results[f"split{i}_test_score"] for i in range(n_splits)])
    expected = np.where(dies[:, None], np.nan, right)
    np.testing.assert_allclose(rows, expected)
    assert fitted.best_params_["kind"] == "good"
    assert fitted.stop_reason_ == "budget"


def test_error_score_raise_raises_lost_worker():
    with parallel_config("threading"), pytest.raises(LostWorkerError, match="worker was lost"):
        search(Mortal(), error_score="raise")


ROADS = {
    "as workers are free": {},
    "batches": {"batch_size": 3},
}


@pytest.mark.parametrize("options", ROADS.values(), ids=ROADS)
def test_several_candidates_each_end_their_workers(options):
    with parallel_config("threading"):
        check(search(Mortal(), n_jobs=3, n_initial=12, **options))


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"timeout": 600.0, "batch_size": 3}], ids=str)
@pytest.mark.parametrize("n_jobs", ["of the search", "of the context"])
def test_in_processes_on_every_road(options, n_jobs):
    if n_jobs == "of the context":  # whose backend all joblib.Parallel share
        with parallel_config("loky", n_jobs=2):
            check(search(Odd(), **{**options, "n_jobs": None}))
    else:
        check(search(Odd(), **options))


class Retried(Mortal):
    """Counts how often each candidate is tried."""

    tried, lock = Counter(), threading.Lock()

    def set_params(self, **params):
        with Retried.lock:
            Retried.tried[params["a"]] += 1
        return super().set_params(**params)


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("n_retries", [0, 1, 3])
def test_fit_that_loses_worker_is_retried(n_retries, n_jobs):
    Retried.tried.clear()
    Retried.tried[SPACE["a"].median()] = -1  # the search tries the names of the parameters first
    split = [(np.arange(6), np.arange(6, 12))]
    options = {"n_initial": 12, "cv": split, "refit": False, "n_jobs": n_jobs}
    lost = pytest.warns(LostEvaluationWarning, match="counts as failed: it lost its worker")
    with parallel_config("threading"), lost:
        fitted = search(Retried(), n_retries=n_retries, **options)
    for params, score in zip(
        *map(fitted.cv_results_.get, ["params", "mean_test_score"]), strict=True
    ):
        dies = params["kind"] == "dies"
        assert Retried.tried[params["a"]] == (n_retries + 1 if dies else 1)
        assert np.isnan(score) == dies


# --- Ctrl-C while candidates are evaluated again --------------------------------------------------


class Interrupted(Odd):
    """In one process: a worker is lost in the second candidate, Ctrl-C hits the second try."""

    n_calls = 0

    def set_params(self, **params):  # called at the begin of a fit, outside what may fail
        Interrupted.n_calls += 1
        if Interrupted.n_calls == 5:
            raise LostWorkerError("a worker was lost")
        if Interrupted.n_calls == 7:  # two candidates' three fits, and one more
            raise KeyboardInterrupt
        return super().set_params(**params)


@pytest.mark.filterwarnings("ignore:The search was interrupted after 1 of 6 candidates")
def test_interrupt_during_retries_keeps_finished_candidates(tmp_path):
    path, options = tmp_path / "a.jsonl", {"n_jobs": 1, "batch_size": 3}
    options |= {"journal": path, "n_iter": 6}
    space = {"a": uniform()}
    Interrupted.n_calls = 0
    search = SILBOSearchCV(
        Interrupted(), space, initial_params=None, cv=KFold(3), random_state=0, **options
    )
    resumed = clone(search)
    with parallel_config("threading"):  # one of them: fits are made here
        search.fit(X, Y)
        resumed.fit(X, Y)
    assert search.stop_reason_ == "interrupted"
    [first] = search.cv_results_["params"]
    assert resumed.cv_results_["params"][0] == first
    assert resumed.cv_results_["resumed"].sum() == 1
    assert len(set(resumed.cv_results_["param_a"])) == 6


def test_sys_exit_in_callback_keeps_finished_candidates(monkeypatch):
    """Several candidates can end at once; the callback is called after the first of them."""
    called, wait = [], Scheduler.wait

    def wait_for_two(self, until):
        outcomes = wait(self, until)
        while self.n_calls and len(outcomes) == 1:
            outcomes += wait(self, np.inf)
        return outcomes

    def leave(progress):
        called.append(progress)
        raise SystemExit

    monkeypatch.setattr(Scheduler, "wait", wait_for_two)
    # a third candidate could end before the first two are recorded
    options = {"n_iter": 2, "random_state": 0, "n_jobs": 2, "callback": leave}
    options["cv"] = [(np.arange(6), np.arange(6, 12))]
    searching = SILBOSearchCV(Odd(), {"a": uniform()}, **options)
    with (
        parallel_config("threading"),
        pytest.warns(UserWarning, match="interrupted after 2 of 2"),
        pytest.raises(SystemExit),
    ):
        searching.fit(X, Y)
    assert len(searching.cv_results_["params"]) == 2
    assert len(called) == 1
