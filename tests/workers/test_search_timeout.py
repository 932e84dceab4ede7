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


KINDS = ["good", "hangs", "good", "good"]


def search(estimator=None, kinds=KINDS, **params):
    """The candidates are those given, and their limit is passed when one that hangs says so."""
    given = [{"a": i / 10, "kind": kind} for i, kind in enumerate(kinds)]
    own = {"n_iter": len(given), "initial_params": given, "cv": KFold(2), "timeout": 60.0}
    space = {"a": uniform(), "kind": ["good", "hangs", "dies"]}
    return SILBOSearchCV(estimator or Odd(), space, random_state=0, **{**own, **params})


def kinds_of(fitted):
    return [params["kind"] for params in fitted.cv_results_["params"]]


@pytest.fixture
def late(clock, monkeypatch):
    """What hangs is late as soon as it has begun."""
    monkeypatch.setattr(Odd, "begun", clock.move)


@pytest.mark.parametrize(("n_jobs", "error_score"), [(1, np.nan), (3, -3.0)])
def test_a_candidate_that_hangs_has_failed(n_jobs, error_score, clock, monkeypatch, tmp_path):
    def others_have_ended(progress):
        if progress.n_evaluations == 3:
            clock.move()

    if n_jobs == 1:
        monkeypatch.setattr(Odd, "begun", clock.move)
    options = {"n_jobs": n_jobs, "error_score": error_score, "refit": False}
    options |= {"journal": tmp_path / "search.jsonl", "callback": others_have_ended}
    with parallel_config("threading"):
        with pytest.warns(LostEvaluationWarning, match=r"counts.*timeout=60\.0") as lost:
            fitted = search(**options).fit(X, Y)
        again = search(**options).fit(X, Y)  # and does not hang again
    assert sum(warning.category is LostEvaluationWarning for warning in lost) == 1
    assert sorted(kinds_of(fitted)) == sorted(KINDS)
    right = [
        error_score if params["kind"] == "hangs" else Odd(params["a"]).score(X)
        for params in fitted.cv_results_["params"]
    ]
    np.testing.assert_array_equal(fitted.cv_results_["mean_test_score"], right)
    assert again.cv_results_["resumed"].all()
    np.testing.assert_array_equal(again.cv_results_["mean_test_score"], right)


@pytest.mark.usefixtures("late")
def test_with_error_score_raise_it_is_raised():
    with (
        parallel_config("threading"),
        pytest.raises(TimeoutError, match="took longer than timeout"),
    ):
        search(error_score="raise").fit(X, Y)


def test_the_fits_of_a_candidate_share_its_time(clock):
    """Each of them alone would be in time."""

    class Slow(Odd):
        def fit(self, X, y=None):
            if self.kind == "hangs":
                clock.move(25.0)
                if clock.now > 60.0:
                    Odd.released.wait(FOREVER)
            return self

    with parallel_config("threading"), pytest.warns(LostEvaluationWarning):
        fitted = search(Slow(), cv=KFold(3)).fit(X, Y)
    np.testing.assert_array_equal(
        np.isnan(fitted.cv_results_["mean_test_score"]), np.array(kinds_of(fitted)) == "hangs"
    )


@pytest.mark.usefixtures("late")
def test_max_time_ends_a_search_that_would_hang(clock, monkeypatch):
    real = time.monotonic
    monkeypatch.setattr(time, "monotonic", lambda: real() + clock.now)
    with parallel_config("threading"), pytest.warns(LostEvaluationWarning):
        fitted = search(n_iter=500, max_time=1e4).fit(X, Y)
    assert fitted.stop_reason_ == "max_time"
    assert kinds_of(fitted) == ["good", "hangs"]


def run_in_processes(kinds, folder):
    """Return (kind, process) of all fits."""
    log, pipe = folder / "log", folder / "pipe"
    fitted = search(Odd(log=str(log), pipe=str(pipe)), kinds, refit=False).fit(X, Y)
    calls = [json.loads(line) for line in log.read_text().splitlines()]
    assert sorted(kinds_of(fitted)) == sorted(kinds)
    assert os.getpid() not in [process for _, process in calls]
    failed = np.isnan(fitted.cv_results_["mean_test_score"])
    np.testing.assert_array_equal(failed, np.array(kinds_of(fitted)) != "good")
    return calls


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with names")
def test_processes_are_ended_and_replaced(tmp_path, clock):
    def move():
        (tmp_path / "pipe").read_text()
        clock.move()

    os.mkfifo(tmp_path / "pipe")
    threading.Thread(target=move, daemon=True).start()
    with pytest.warns(LostEvaluationWarning):
        calls = run_in_processes(["hangs", "good"], tmp_path)
    assert sorted(kind for kind, _ in calls) == ["good", "good", "hangs"]
    [hanging] = [process for kind, process in calls if kind == "hangs"]
    with pytest.raises(ProcessLookupError):
        os.kill(hanging, 0)


@pytest.mark.slow
def test_a_candidate_that_kills_its_process_has_failed(tmp_path):
    with pytest.warns(LostEvaluationWarning, match="lost its worker 2 times"):
        calls = run_in_processes(["dies", "good"], tmp_path)
    # both fits of the candidate, and the first one again
    assert sorted(kind for kind, _ in calls) == ["dies"] * 3 + ["good"] * 2


def test_timeout_with_unsupported_backend_raises(tmp_path):
    path = tmp_path / "search.jsonl"
    with (
        parallel_config("multiprocessing", n_jobs=2),
        pytest.raises(ValueError, match=r"timeout.*joblib's"),
    ):
        search(journal=path).fit(X, Y)
    assert not path.exists()


@pytest.mark.parametrize("timeout", [0, -1.0, np.nan])
def test_a_timeout_that_is_not_positive_is_refused(timeout):
    with pytest.raises(ValueError, match="timeout"):
        search(timeout=timeout).fit(X, Y)


def test_timed_out_group_starts_no_call():
    """A worker that is freed by ending its first call does not take up the second."""
    pool, begun = Scheduler(partial(Pool, 1, "threads"), timeout=FOREVER), []
    for call in (partial(Odd.released.wait, FOREVER), partial(begun.append, 1)):
        pool.submit(Call(call, call, group="late"))
    while pool.seconds("late") == 0.0:
        pool.wait(0.0)
    pool.give_up("late")
    pool.submit(Call("free", partial(int, "7"), group="free"))
    [outcome] = pool.wait()
    assert (outcome.call.key, outcome.kind, outcome.value) == ("free", "value", 7)
    assert begun == []
    pool.close(wait=True)
