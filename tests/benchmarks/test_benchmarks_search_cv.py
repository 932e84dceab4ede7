"""The experiment about SILBOSearchCV itself: idle workers."""

import pytest

from benchmarks.experiments import EXPERIMENTS

pytestmark = pytest.mark.bench

WORKERS = EXPERIMENTS["search-workers"]


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
