"""Experiment that compares hyperparameter searches."""

import json
import warnings

import numpy as np
import pytest
from scipy.stats import beta, loguniform, randint, uniform
from sklearn.model_selection import RandomizedSearchCV, cross_val_score

from benchmarks.experiments import EXPERIMENTS
from benchmarks.experiments.tuning._tuning_searches import PACKAGES, measure_tuning, range_of
from benchmarks.experiments.tuning._tuning_tasks import N_FOLDS, TASKS

pytestmark = pytest.mark.bench

TUNING = EXPERIMENTS["tuning"]
SHORT = {"task": "svc-2", "n": 6, "d": 2}


@pytest.mark.parametrize("name", TASKS)
def test_no_candidate_of_a_task_fails(name):
    task = TASKS[name]
    model, space = task.make()
    search = RandomizedSearchCV(
        model, space, n_iter=4, cv=task.splits(0), scoring=task.scoring, refit=False, random_state=1
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # convergence warnings of the models
        search.fit(*task.rows())
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_random_scores_are_those_of_cross_validation():
    measured = measure_tuning(SHORT, "random", 5)
    task = TASKS["svc-2"]
    model, space = task.make()
    X, y = task.rows()
    search = RandomizedSearchCV(model, space, n_iter=6, cv=task.splits(5), random_state=5)
    wanted = [
        cross_val_score(model.set_params(**params), X, y, cv=task.splits(5)).mean()
        for params in search.fit(X, y).cv_results_["params"]
    ]
    np.testing.assert_allclose(measured["scores"], wanted, rtol=1e-5)
    assert np.min(measured["overhead"]) > -1e-3


@pytest.mark.parametrize("method", PACKAGES)
def test_every_search_makes_as_many_fits(method):
    if PACKAGES[method] in TUNING.missing_packages().values():
        pytest.skip(f"{PACKAGES[method]} is not installed")
    measured = measure_tuning(TUNING.cells("tiny")[-1].problem | {"n": 4}, method, 0)
    assert len(measured["scores"]) == len(measured["overhead"]) == 4
    assert 0.5 < min(measured["scores"]) <= max(measured["scores"]) <= 1
    json.dumps(measured)


def test_unexpected_number_of_fits_raises(monkeypatch):
    monkeypatch.setitem(TASKS["svc-2"].make.__globals__, "N_FOLDS", N_FOLDS - 1)
    with pytest.raises(RuntimeError, match="must make 6 candidates and 18 fits: got 6 and 12"):
        measure_tuning(SHORT, "random", 0)


def test_ranges_are_translated_exactly_or_rejected():
    assert range_of(uniform(-1, 2)) == ("uniform", -1.0, 1.0)
    assert range_of(loguniform(1e-3, 10)) == ("log", 1e-3, 10.0)
    assert range_of(randint(2, 5)) == ("integer", 2, 4)
    with pytest.raises(ValueError, match=r"distribution.*got beta"):
        range_of(beta(1, 2))
