"""The experiments about SILBOSearchCV itself: racing over folds, and idle workers."""

import numpy as np
import pytest

from skbo_silbo.benchmarks.experiments import EXPERIMENTS
from skbo_silbo.benchmarks.experiments._racing_folds import score_at

RACING, WORKERS = EXPERIMENTS["racing"], EXPERIMENTS["search-workers"]


@pytest.mark.parametrize("method", RACING.methods)
def test_every_method_makes_the_fits_it_may(method):
    problem = {"task": "svc-2", "folds": 3, "n": 6, "d": 2}
    measured = RACING.measure(problem, method, 0)
    fits, scores = np.array(measured["fits"]), np.array(measured["scores"])
    assert len(fits) == len(scores)
    assert (np.diff(fits) > 0).all()
    assert (np.diff(scores) >= 0).all()
    most = 18.0
    if method == "halving":
        assert fits[-1] <= most
        assert measured["n_calls"] > fits[-1]  # most of them on fewer rows
    else:
        assert measured["n_calls"] == fits[-1]
        assert most <= fits[-1] < most + 3


def result(method, repeat, fits, scores):
    problem = {"task": "svc-2", "folds": 5, "n": 40, "d": 2}
    told = {"problem": problem, "method": method, "repeat": repeat, "status": "ok"}
    return {**told, "experiment": "racing", "fits": fits, "scores": scores}


def test_the_report_of_racing():
    results = [
        result("silbo", 0, [100.0, 200.0], [0.5, 0.8]),
        result("silbo-racing", 0, [50.0, 150.0, 200.0], [0.5, 0.8, 0.9]),
        result("halving", 0, [190.0], [0.7]),
    ]
    assert np.isnan(score_at(results[0], 99))
    assert [score_at(results[1], n) for n in (50, 149, 150, 1000)] == [0.5, 0.5, 0.8, 0.9]
    curves, summary, _ = RACING.report(results)
    told = {row[2]: row[3:] for row in curves.rows}
    assert told["silbo"] == ("--", "0.5 (0)", "0.5 (0)", "0.8 (0)")
    assert told["halving"][:3] == ("--", "--", "--")
    [row] = summary.rows
    assert row[2:] == ("3", "1 better, 0 worse", "0.75", "1 of 1")
    assert len(RACING.report([])) == 1


def test_idle_workers_are_measured():
    problem = {"n": 2, "d": 12, "engine": "threading", "scale": 0.02}
    measured = WORKERS.measure(problem, "auto", 0)
    assert measured["n_fits"] == 6
    assert 0.0 < measured["idle"] < 1.0
    [table] = WORKERS.report([result_of_workers(measured)])
    assert table.rows[0][:3] == ("threading", "1", "auto")
    [(aim, _, holds)] = WORKERS.aims([result_of_workers({**measured, "idle": 0.1})])
    assert "threading, sleeps times 1: idle at most 0.15" in aim
    assert holds


def result_of_workers(measured):
    problem = {"n": 40, "d": 12, "engine": "threading", "scale": 1}
    told = {"problem": problem, "method": "auto", "repeat": 0, "status": "ok"}
    return {**told, "experiment": "search-workers", **measured}
