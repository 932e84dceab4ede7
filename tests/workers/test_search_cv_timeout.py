"""SILBOSearchCV(timeout=): candidates that hang, with threads and with processes."""

import json
import os
import threading
import time
from functools import partial

import numpy as np
import pytest
from joblib import parallel_config
from odd_estimator import FOREVER, Odd
from scipy.stats import uniform
from sklearn.model_selection import KFold
from worker_parts import THREAD_NAME, Call, Pool, Scheduler

from skbo_silbo.model_selection import SILBOSearchCV
from skbo_silbo.workers import LostEvaluationWarning

X, Y = np.zeros((12, 1)), np.zeros(12)

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning"),
    pytest.mark.filterwarnings("ignore:One or more of the test scores are non-finite"),
]


@pytest.fixture(autouse=True)
def released():
    Odd.released.clear()
    yield
    Odd.released.set()
    for thread in threading.enumerate():
        if thread.name == THREAD_NAME:  # left behind; at their end scikit-learn resets warnings
            thread.join()


def search(estimator=None, **params):
    space = {"a": uniform(), "kind": ["good", "hangs"]}
    own = {"n_iter": 4, "n_initial": 4, "cv": KFold(3), "random_state": 0, "timeout": 1.2}
    return SILBOSearchCV(estimator or Odd(), space, **{**own, **params})


def kinds_of(fitted):
    return np.array([params["kind"] for params in fitted.cv_results_["params"]])


def scores_of(fitted, error_score, lost):
    """Return the scores; exactly the candidates that a warning names have failed.

    What hangs is among them. On a machine that is slow enough, some that do not hang are too.
    """
    scores, candidates = fitted.cv_results_["mean_test_score"], fitted.cv_results_["params"]
    late = [str(warning.message) for warning in lost if warning.category is LostEvaluationWarning]
    right = [-((params["a"] - 0.7) ** 2) for params in candidates]
    failed = np.array([any(f"{params} counts" in text for text in late) for params in candidates])
    assert failed.sum() == len(late)
    assert failed[kinds_of(fitted) == "hangs"].all()
    np.testing.assert_allclose(scores, np.where(failed, error_score, right))
    return scores


@pytest.mark.parametrize(
    ("options", "error_score"),
    [({}, np.nan), ({"n_jobs": 3}, -3.0), ({"n_jobs": 2, "batch_size": 2}, np.nan)],
    ids=["one worker", "as workers are free", "batches"],
)
def test_a_candidate_that_hangs_has_failed(options, error_score, tmp_path):
    path = tmp_path / "search.jsonl"
    options = {**options, "error_score": error_score, "journal": path, "refit": False}
    with parallel_config("threading"):
        with pytest.warns(
            LostEvaluationWarning, match=r"counts as failed: .* than timeout=1\.2 s"
        ) as lost:
            fitted = search(**options).fit(X, Y)
        again = search(**options).fit(X, Y)  # and does not hang again
    scores = scores_of(fitted, error_score, lost)
    assert set(kinds_of(fitted)) == {"good", "hangs"}
    assert set(again.cv_results_["source"]) == {"resumed"}
    np.testing.assert_array_equal(again.cv_results_["mean_test_score"], scores)


def test_with_error_score_raise_it_is_raised():
    with (
        parallel_config("threading"),
        pytest.warns(LostEvaluationWarning),
        pytest.raises(TimeoutError, match="ran longer than timeout"),
    ):
        search(error_score="raise").fit(X, Y)


def test_the_fits_of_a_candidate_share_its_time():
    """Each of them alone would be in time."""

    class Slow(Odd):
        def fit(self, X, y=None):
            time.sleep(0.5 if self.kind == "hangs" else 0.0)
            return self

    with parallel_config("threading"), pytest.warns(LostEvaluationWarning) as lost:
        fitted = search(Slow()).fit(X, Y)
    scores_of(fitted, np.nan, lost)


def test_max_time_ends_a_search_that_would_hang():
    with parallel_config("threading"), pytest.warns(LostEvaluationWarning):
        fitted = search(n_iter=500, max_time=1.5).fit(X, Y)
    assert fitted.stop_reason_ == "max_time"
    assert len(kinds_of(fitted)) < 500


def run_in_processes(kinds, log, timeout):
    """Return the search, fitted, and (kind, process) of all its fits."""
    fitted = search(Odd(log=str(log)), timeout=timeout, refit=False, cv=KFold(2))
    fitted.set_params(param_distributions={"kind": kinds}, n_iter=len(kinds)).fit(X, Y)
    calls = [json.loads(line) for line in log.read_text().splitlines()]
    assert sorted(kinds_of(fitted)) == sorted(kinds)
    assert os.getpid() not in [process for _, process in calls]
    failed = np.isnan(fitted.cv_results_["mean_test_score"])
    np.testing.assert_array_equal(failed, kinds_of(fitted) != "good")
    return fitted, calls


def test_processes_are_ended_and_replaced(tmp_path):
    with pytest.warns(LostEvaluationWarning):
        _, calls = run_in_processes(["hangs", "good"], tmp_path / "log", timeout=4.0)
    assert sorted(kind for kind, _ in calls) == ["good", "good", "hangs"]
    [hanging] = [process for kind, process in calls if kind == "hangs"]
    with pytest.raises(ProcessLookupError):
        os.kill(hanging, 0)


@pytest.mark.slow
def test_a_candidate_that_kills_its_process_has_failed(tmp_path):
    _, calls = run_in_processes(["dies", "good"], tmp_path / "log", timeout=FOREVER)
    assert sorted(kind for kind, _ in calls) == ["dies", "dies", "good", "good"]


def test_a_backend_that_cannot_give_up_a_fit_is_refused_by_name(tmp_path):
    path = tmp_path / "search.jsonl"
    with (
        parallel_config("multiprocessing", n_jobs=2),
        pytest.raises(
            ValueError, match="timeout must be None with joblib's MultiprocessingBackend"
        ),
    ):
        search(journal=path).fit(X, Y)
    assert not path.exists()


@pytest.mark.parametrize("timeout", [0, -1.0, np.nan])
def test_a_timeout_that_is_not_positive_is_refused(timeout):
    with pytest.raises(ValueError, match="timeout"):
        search(timeout=timeout).fit(X, Y)


# The pool.


def pool_of(n_workers, kind, **options):
    return Scheduler(partial(Pool, n_workers, kind), timeout=FOREVER, **options)


def put(pool, group, member, function):
    pool.submit(Call((group, member), function, group=group))


def results_of(pool, n):
    found = []
    while len(found) < n:
        found += pool.wait()
    for outcome in found:
        if outcome.kind != "value":
            raise outcome.value
    return {outcome.call.key: outcome.value for outcome in found}


def test_what_one_group_loses_the_others_have():
    pool = pool_of(2, "threads")
    for member in range(3):
        put(pool, "stuck", member, partial(Odd.released.wait, FOREVER))
    while pool.seconds("stuck") < 0.05:
        pool.wait(0.0)
    for member in range(4):
        put(pool, "free", member, partial(pow, member, 2))
    assert pool.wait(time.perf_counter() + 0.05) == []  # no worker is free
    pool.give_up("stuck")
    assert results_of(pool, 4) == {("free", member): member**2 for member in range(4)}
    Odd.released.set()
    assert pool.wait() == []  # what was given up brings nothing any more
    pool.close(wait=True)


def test_of_a_group_that_is_given_up_nothing_more_begins(tmp_path):
    """A worker that is freed by ending its first call does not take up the second."""
    pool = pool_of(1, "processes")
    put(pool, "late", 0, partial(time.sleep, FOREVER))
    put(pool, "late", 1, partial(os.mkdir, tmp_path / "begun"))
    while pool.seconds("late") == 0.0:
        pool.wait(0.0)
    pool.give_up("late")
    put(pool, "free", 0, partial(int, "7"))
    assert results_of(pool, 1) == {("free", 0): 7}
    assert not (tmp_path / "begun").exists()
    pool.close(wait=True)


def test_time_is_counted_by_group():
    pool, began = pool_of(1, "threads"), time.perf_counter()
    for member in range(2):
        put(pool, "a", member, partial(time.sleep, 0.05))
    put(pool, "b", 0, int)
    results_of(pool, 3)
    assert pool.seconds("a") >= 0.1
    assert 0 < pool.seconds("b") <= time.perf_counter() - began - pool.seconds("a")
    assert pool.seconds("c") == 0
    pool.close(wait=True)
