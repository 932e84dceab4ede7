"""Experiment `seconds`: fits that are looked up, on a clock that their seconds are added to."""

import time

import numpy as np
import pytest

from skbo_silbo.benchmarks.experiments import EXPERIMENTS, OWN_MEASUREMENTS

if not OWN_MEASUREMENTS.is_dir():
    pytest.skip("the measurements are in a checkout only", allow_module_level=True)

from skbo_silbo.benchmarks.experiments.seconds import (
    TASKS,
    _replayed_fits,
    best_score,
    budget,
    measure_seconds,
)
from skbo_silbo.benchmarks.experiments.seconds._tables_of_fits import N_FOLDS, SHARES, load_table

PROBLEM = {"task": "trees-classes", "resource": "n_samples", "scale": 10.0}


@pytest.mark.parametrize("name", TASKS)
def test_tables_have_every_candidate_and_differ_in_time(name):
    scores, seconds = load_table(name)
    assert scores.shape == seconds.shape == (len(SHARES), len(TASKS[name].candidates), N_FOLDS)
    full = seconds[0].sum(axis=1)
    assert full.max() > 5 * full.min()
    assert seconds[2].sum() < seconds[0].sum()


@pytest.mark.parametrize("share", range(len(SHARES)))
@pytest.mark.parametrize("fold", range(N_FOLDS))
def test_a_candidate_of_the_grid_has_its_own_score_and_seconds(share, fold):
    task = TASKS[PROBLEM["task"]]
    scores, seconds = load_table(PROBLEM["task"])
    rows = np.arange(1800.0)[:, None]
    train = rows[rows[:, 0] // 600 != fold][:: 3**share]
    model = _replayed_fits.ReplayedModel(PROBLEM["task"], 10.0)
    model.set_params(**dict(zip(task.names, task.candidates[7], strict=True)))
    with _replayed_fits.CLOCK.running(1e6):
        start = time.monotonic()
        assert model.fit(train).score(rows) == pytest.approx(scores[share, 7, fold])
        assert time.monotonic() - start >= 10.0 * seconds[share, 7, fold] - 1e-9


@pytest.mark.parametrize("method", ["random", "silbo", "resource"])
def test_a_search_is_within_its_budget(method):
    result = measure_seconds(PROBLEM, method, 0)
    assert result["times"] == sorted(result["times"])
    assert result["times"][-1] <= budget(PROBLEM)
    assert result["best"] == sorted(result["best"])
    assert result["best"][-1] <= best_score(PROBLEM)[0] + 1e-6
    sizes = {"1.00", "0.33"} if method == "resource" else {"1.00"}
    assert set(result["shares"]) == sizes


def test_the_report_pairs_methods():
    experiment = EXPERIMENTS["seconds"]
    results = [
        {**measure_seconds(PROBLEM, method, 0), "problem": PROBLEM, "method": method, "repeat": 0}
        for method in ("random", "silbo", "halving")
    ]
    table, *gaps, _ = experiment.report([{**r, "status": "ok"} for r in results])
    assert [row[0] for row in table.rows] == ["random", "silbo", "halving"]
    assert [row[:2] for row in gaps[0].rows] == [("trees-classes", "n_samples")]
