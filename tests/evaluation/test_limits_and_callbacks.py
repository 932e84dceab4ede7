"""Limits and callbacks are the same for `minimize` and `SILBOSearchCV`."""

import math
from dataclasses import fields

import numpy as np
import pytest
from scipy.stats import uniform
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import FitFailedWarning

from skbo_silbo import SILBOSearchCV, minimize
from skbo_silbo.evaluation import Progress

SPACE = {"a": uniform(), "b": uniform()}
N = 12


class Hill(BaseEstimator):
    """Has its best score at a = 0.3, b = 0; counts its fits, and fails where b is high."""

    n_fits, highest = 0, 1.0

    def __init__(self, a=0.0, b=0.0):
        self.a, self.b = a, b

    def fit(self, X, y=None):
        Hill.n_fits += 1
        return self

    def score(self, X, y=None):
        return np.nan if self.b > Hill.highest else -((self.a - 0.3) ** 2) - self.b


def by_minimize(n=N, **options):
    """Return the values and why the run stopped."""

    def func(point):
        return Hill(**point).fit(None).score(None)

    options = {"n_initial": N, "random_state": 0, "maximize": True, **options}
    result = minimize(func, SPACE, n_calls=n, **options)
    return result.func_vals, result.stop_reason


def by_search(n=N, **options):
    options = {"n_initial": N, "random_state": 0, "initial_params": None, "refit": False, **options}
    splits = [(np.arange(2), np.arange(2))]
    search = SILBOSearchCV(Hill(), SPACE, n_iter=n, cv=splits, **options).fit(np.zeros((2, 1)))
    return search.cv_results_["mean_test_score"], search.stop_reason_


doors = pytest.mark.parametrize("door", [by_minimize, by_search])
fail_often = pytest.mark.filterwarnings("ignore:One or more of the test scores are non-finite")


@pytest.fixture
def failing(monkeypatch):
    """Have a candidate fail in about half of the space."""
    monkeypatch.setattr(Hill, "highest", 0.5)


@doors
def test_patience_stops_after_evaluations_without_improvement(door):
    whole, reason = door()
    assert reason == "budget"
    values, reason = door(patience=2)
    assert reason == "patience"
    np.testing.assert_array_equal(values, whole[: len(values)])
    assert len(values) == np.argmax(values) + 3 < N


@doors
@fail_often
def test_failures_count_for_patience_not_target(door, failing):
    whole, _ = door()
    assert np.isnan(whole).any()
    values, reason = door(target=-1e9)
    assert reason == "target"
    assert np.isfinite(values[-1])
    assert not np.isfinite(values[:-1]).any()
    values, _ = door(patience=2)
    assert len(values) == np.nanargmax(values) + 3


@doors
def test_target_stops_at_first_value_that_reaches_it(door):
    whole, _ = door()
    target = np.sort(whole)[-2]
    first = int(np.argmax(whole >= target))
    values, reason = door(target=target)
    assert (len(values), reason) == (first + 1, "target")
    np.testing.assert_array_equal(values, whole[: first + 1])


@doors
@pytest.mark.parametrize("limits", [{"target": -1e9}, {"patience": 1}, {"n": 4}])
def test_stricter_limit_keeps_evaluations_of_journal(door, limits, tmp_path):
    whole, _ = door(journal=tmp_path / "run.jsonl")
    before = Hill.n_fits
    values, reason = door(journal=tmp_path / "run.jsonl", **limits)
    assert Hill.n_fits == before
    np.testing.assert_array_equal(values, whole)
    assert reason == door(**limits, n_initial=4)[1]


def test_patience_is_resumed_with_given_values(tmp_path):
    options = {"patience": 3, "x0": [{"a": 0.3, "b": 0.0}], "y0": [0.0]}
    journal = tmp_path / "run.jsonl"
    first, reason = by_minimize(journal=journal, **options)
    assert (len(first), reason) == (4, "patience")
    again, reason = by_minimize(journal=journal, **options)
    assert (len(again), reason) == (4, "patience")


def test_sources_follow_order_of_values(tmp_path):
    def run(n, **options):
        options |= {"journal": tmp_path / "run.jsonl", "random_state": 0, "n_initial": 9}
        return minimize(sum, [(0, 1)] * 2, n_calls=n, **options)

    run(2)
    for _ in range(2):
        result = run(3, x0=[[0.5, 0.25]], y0=[0.75])
        assert result.sources[:3] == ["init", "init", "given"]
        assert result.resumed[:3] == [True, True, False]
        assert result.func_vals[2] == 0.75


@pytest.fixture
def clock(monkeypatch):
    """Let every score take ten seconds."""
    now = [0.0]
    monkeypatch.setattr("skbo_silbo.evaluation.budget.time.perf_counter", lambda: now[0])

    def score(self, X, y=None, score=Hill.score):
        now[0] += 10.0
        return score(self, X, y)

    monkeypatch.setattr(Hill, "score", score)
    return now


def test_max_time_cuts_batch_that_resumes(clock, tmp_path):
    """A batch of four takes two runs, and is the batch of an uninterrupted search."""
    options = {"batch_size": 4, "n_initial": 4, "n": 8}
    whole, _ = by_search(**options)
    options |= {"journal": tmp_path / "run.jsonl", "max_time": 15.0}
    for n in (2, 4, 6, 8):
        values, _ = by_search(**options)
        np.testing.assert_array_equal(values, whole[:n])


def test_candidate_without_time_for_all_splits_is_dropped(clock, tmp_path):
    X = np.zeros((6, 1))
    search = SILBOSearchCV(Hill(), SPACE, n_iter=4, cv=3, random_state=0, initial_params=None)
    whole = clone(search).fit(X)
    search.set_params(journal=tmp_path / "run.jsonl", max_time=45.0)
    for n in (1, 2, 3, 4):  # a second candidate begins each time, but two splits are in time
        fitted = clone(search).fit(X)
        assert fitted.cv_results_["params"] == whole.cv_results_["params"][:n]
        assert fitted.stop_reason_ == ("budget" if n == 4 else "max_time")


def test_time_alone_limits_search_without_n_iter(clock, capsys):
    options = {"cv": 2, "random_state": 0, "initial_params": None}
    search = SILBOSearchCV(Hill(), SPACE, n_iter=None, max_time=100.0, verbose=2, **options)
    fitted = search.fit(np.zeros((6, 1)))
    assert fitted.stop_reason_ == "max_time"
    assert len(fitted.cv_results_["params"]) == 5
    assert "[SILBOSearchCV 5] value" in capsys.readouterr().out
    assert np.isfinite(fitted.cv_results_["proposal_time"]).all()
    with pytest.raises(ValueError, match="`max_time` must be a number of seconds if `n_iter` is"):
        search.set_params(max_time=None).fit(np.zeros((6, 1)))
    assert by_minimize(None, max_time=100.0)[1] == "max_time"
    with pytest.raises(ValueError, match="`max_time` must be a number of seconds if `n_calls` is"):
        by_minimize(None)


@pytest.mark.quick
@fail_often
def test_callbacks_receive_the_same_progress(failing):
    seen = {by_minimize: [], by_search: []}
    for door, progresses in seen.items():
        values, reason = door(callback=progresses.append)
        assert reason == "budget"
        assert all(type(progress) is Progress for progress in progresses)
        np.testing.assert_array_equal([p.value for p in progresses], values)
        assert [p.n_evaluations for p in progresses] == list(range(1, N + 1))
        best = None
        for p in progresses:
            assert p.n_total == N
            assert p.is_best == (math.isfinite(p.value) and (best is None or p.value > best.value))
            best = p if p.is_best else best
            assert p.best_point == (None if best is None else best.point)
            np.testing.assert_equal(p.best_value, math.nan if best is None else best.value)
            assert set(p.point) == set(SPACE)
            assert p.elapsed >= 0.0
            assert p.seconds_left >= 0.0
            assert hasattr(p.optimizer, "ask")
    timed = {"elapsed", "seconds_left", "optimizer"}
    names = [field.name for field in fields(Progress) if field.name not in timed]
    for one, other in zip(*seen.values(), strict=True):
        for name in names:
            np.testing.assert_equal(getattr(one, name), getattr(other, name), err_msg=name)


@doors
def test_true_callback_stops_the_run(door):
    values, reason = door(callback=lambda progress: progress.n_evaluations == 3)
    assert (len(values), reason) == (3, "callback")


@doors
@pytest.mark.parametrize("limit", [{"target": -1e9}, {"patience": 1}])
def test_callback_sees_evaluation_that_reaches_limit(door, limit):
    seen = []
    values, _ = door(callback=seen.append, **limit)
    np.testing.assert_array_equal([progress.value for progress in seen], values)


@doors
def test_stopping_rule_sees_values_of_journal(door, tmp_path):
    """The rule of doc/how_to.rst, which does not know whether high or low values are better."""

    def stalled(progress, k=4, tol=0.01):
        best = progress.best_values
        return len(best) > k and abs(best[-1] - best[-1 - k]) < tol

    values, reason = door(callback=stalled)
    assert reason == "callback"
    best = np.maximum.accumulate(values)
    n = len(values)
    assert best[-1] - best[-5] < 0.01 <= best[-2] - best[-6] or n == 5
    door(n=3, journal=tmp_path / "run.jsonl")
    resumed, reason = door(callback=stalled, journal=tmp_path / "run.jsonl")
    np.testing.assert_array_equal(resumed, values)


@doors
def test_callback_does_not_see_journal(door, tmp_path):
    seen = []
    door(n=3, journal=tmp_path / "run.jsonl")
    door(n=5, journal=tmp_path / "run.jsonl", callback=seen.append)
    assert [progress.n_evaluations for progress in seen] == [4, 5]


def test_failed_candidate_reaches_no_target(monkeypatch):
    def fit(self, X, y=None):
        if self.b > 0.5:
            raise ValueError("no fit")
        return self

    monkeypatch.setattr(Hill, "fit", fit)
    with pytest.warns(FitFailedWarning):
        values, reason = by_search(target=-1e-9, error_score=0.0)
    assert reason == "budget"
    assert (values == 0.0).any()
