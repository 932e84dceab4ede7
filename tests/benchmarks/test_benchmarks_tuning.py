"""The experiment that compares hyperparameter searches."""

import json
import warnings

import numpy as np
import pytest
from scipy.stats import beta, loguniform, randint, uniform
from sklearn.model_selection import RandomizedSearchCV, cross_val_score

from benchmarks.experiments import EXPERIMENTS
from benchmarks.experiments.tuning._tuning_report import (
    FEW,
    LONG,
    MANY,
    complete,
    curves,
    mean_ranks,
    tuning_report,
)
from benchmarks.experiments.tuning._tuning_searches import (
    PACKAGES,
    measure_tuning,
    range_of,
    suggest,
)
from benchmarks.experiments.tuning._tuning_tasks import N_FOLDS, TASKS

pytestmark = pytest.mark.bench

TUNING = EXPERIMENTS["tuning"]
SHORT = {"task": "svc-2", "n": 6, "d": 2}


def result(task, method, seed, scores, overhead=0.01):
    return {
        "experiment": "tuning",
        "problem": {"task": task, "n": len(scores), "d": 2},
        "method": method,
        "repeat": seed,
        "status": "ok",
        "scores": list(scores),
        "overhead": [overhead] * len(scores),
    }


def rising(last, at=0):
    """Scores that are 0 before candidate `at` and `last` from there on."""
    return np.where(np.arange(MANY) >= at, last, 0.0)


def test_the_published_grid_is_what_was_promised():
    cells = TUNING.cells("full")
    assert {c.repeat for c in cells} == set(range(20, 25))
    per_task = {
        t: sum(c.problem["task"] == t and c.problem["n"] == MANY for c in cells) for t in TASKS
    }
    assert len(TASKS) >= 8
    assert set(per_task.values()) == {5 * len(PACKAGES)}
    sizes = {task.n_parameters for task in TASKS.values()}
    assert (min(sizes), max(sizes)) == (2, 25)


@pytest.mark.parametrize("name", TASKS)
def test_no_candidate_of_a_task_fails(name):
    task = TASKS[name]
    model, space = task.make()
    search = RandomizedSearchCV(
        model, space, n_iter=4, cv=task.splits(0), scoring=task.scoring, refit=False, random_state=1
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # models that have not converged
        search.fit(*task.rows())
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_splits_are_the_same_for_a_seed_only():
    task = TASKS["boosting"]
    first, again, other = (np.concatenate([t for _, t in task.splits(s)]) for s in (3, 3, 4))
    assert first.tolist() == again.tolist() != other.tolist()
    assert sorted(first) == list(range(task.n_rows))


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


def test_a_search_with_another_number_of_fits_is_refused(monkeypatch):
    monkeypatch.setitem(TASKS["svc-2"].make.__globals__, "N_FOLDS", N_FOLDS - 1)
    with pytest.raises(RuntimeError, match="must make 6 candidates and 18 fits: got 6 and 12"):
        measure_tuning(SHORT, "random", 0)


@pytest.mark.parametrize(
    ("distribution", "wanted"),
    [
        (uniform(-1, 2), ("uniform", -1.0, 1.0)),
        (loguniform(1e-3, 10), ("log", 1e-3, 10.0)),
        (randint(2, 5), ("integer", 2, 4)),
    ],
)
def test_ranges_are_translated_exactly(distribution, wanted):
    assert range_of(distribution) == wanted


def test_other_distributions_are_not_translated_silently():
    with pytest.raises(ValueError, match=r"distribution must be one of uniform.*got beta"):
        range_of(beta(1, 2))


class Trial:
    """An Optuna trial that takes the last category and the lower end, and remembers names."""

    def __init__(self):
        self.asked = {}

    def suggest_categorical(self, name, choices):
        self.asked[name] = list(choices)
        return list(choices)[-1]

    def suggest_float(self, name, low, high, *, log):
        self.asked[name] = (low, high, log)
        return low


def test_branches_are_asked_for_after_their_choice():
    trial = Trial()
    space = [{"a": ["x"]}, {"b": ["y", "z"], "c": loguniform(1e-2, 1.0)}]
    assert suggest(trial, space) == {"b": "z", "c": 1e-2}
    assert trial.asked == {"branch": [0, 1], "1/b": [0, 1], "1/c": (1e-2, 1.0, True)}


def test_ranks_share_equals_and_compare_the_same_seeds():
    results = [
        result("svc", "random", 20, rising(1.0)),
        result("svc", "silbo", 20, rising(1.0)),
        result("svc", "optuna-tpe", 20, rising(0.5)),
        result("svc", "random", 21, rising(9.0)),  # alone, so of no use
        result("mlp", "random", 20, rising(1.0)),  # silbo is missing
    ]
    matrices = complete(curves(results))
    assert list(matrices) == ["svc"]
    assert {m: r.tolist() for m, r in mean_ranks(matrices, MANY).items()} == {
        "random": [1.5],
        "silbo": [1.5],
        "optuna-tpe": [3.0],
    }


def test_report_says_when_the_goal_is_reached():
    results = [
        r
        for seed in (20, 21)
        for r in (
            result("svc", "random", seed, rising(1.0, at=30)),
            result("svc", "silbo", seed, rising(2.0, at=FEW - 1 + 4 * (seed - 20))),
            result("svc", "optuna-gp", seed, rising(0.9)),
        )
    ]
    ranks, reaches, few, many, overhead, *_ = tuning_report(results)
    assert [row[0] for row in ranks.rows] == ["silbo", "random", "optuna-gp"]
    assert reaches.rows == [("svc", f"1 of 2; {FEW + 2}", f"0 of 2; > {MANY}")]
    assert few.rows == [("svc", "0 (0)", "1 (1.4)", "0.9 (0)")]
    assert many.rows == [("svc", "1 (0)", "2 (0)", "0.9 (0)")]
    assert overhead.rows[0] == ("random", "0.010 (0.010 to 0.010)", "--")


def test_ranks_of_the_others_before_ours_has_run():
    ranks, *_ = tuning_report([result("svc", "random", 20, rising(1.0))])
    assert ranks.rows == [("random", "1.00", "1.00", "1.0")]


def test_without_results_the_tasks_are_told():
    table, _ = tuning_report([])
    assert [row[0] for row in table.rows] == list(TASKS)


@pytest.mark.parametrize("ours", [2.0, 0.5])
def test_aims(ours):
    results = [
        result("svc", "random", 20, rising(1.0)),
        result("svc", "silbo", 20, rising(ours)),
        result("svc", "silbo", 20, np.ones(LONG), overhead=0.2 / ours),
    ]
    assert [bool(holds) for _, _, holds in TUNING.aims(results)] == [ours > 1] * 3
    assert TUNING.aims([]) == []
