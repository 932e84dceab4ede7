"""Optimiser benchmarks: all evaluations are counted and the reports match the results."""

import json

import numpy as np
import pytest

from benchmarks.__main__ import main
from benchmarks.engine import MissingPeerError, Recorder, Store, curve, run_experiment
from benchmarks.experiments import EXPERIMENTS
from benchmarks.search.contestants import CONTESTANTS
from benchmarks.search.problem_data import make_problem
from benchmarks.search.search_report import incumbent_values
from benchmarks.search.search_run import measure_search

pytestmark = pytest.mark.bench

PUBLIC = EXPERIMENTS["public"]
PROBLEM = {"function": "branin", "kind": "embedded", "d": 6, "n": 14, "r": 2}


@pytest.mark.parametrize(
    "method", [name for name, who in CONTESTANTS.items() if who.package in ("", "cma")]
)
def test_every_contestant_makes_the_evaluations_of_the_problem(method):
    measured = measure_search(PROBLEM, method, 0)
    assert measured["steps"][0][0] == 1
    assert measured["steps"][-1][0] <= PROBLEM["n"]
    values = [value for _, value in measured["steps"]]
    assert values == sorted(values, reverse=True)
    assert measured["optimum"] <= values[-1]


def test_recorder_counts_calls_and_true_values():
    noisy = make_problem({**PROBLEM, "kind": "planted", "sd": 2.0}, 0)
    recorder = Recorder(noisy)
    X = np.random.default_rng(0).uniform(*noisy.bounds.T, (20, 6))
    told = [recorder(x) for x in X]
    assert told == recorder.observed
    np.testing.assert_allclose(recorder.truth, [noisy.truth(x) for x in X])
    steps = recorder.summary()["steps"]
    best = [int(np.argmin(told[:n])) for n in range(1, 21)]
    np.testing.assert_allclose(curve(steps, 20), [recorder.truth[i] for i in best], rtol=1e-5)


def test_missing_peer_stops_run_unless_excluded(tmp_path, monkeypatch):
    store = Store(tmp_path / "results.jsonl")
    missing = {"saasbo": "botorch", "cma": "cma"}
    monkeypatch.setattr(type(PUBLIC), "missing_packages", lambda self: missing)
    with pytest.raises(MissingPeerError, match=r"saasbo \(package botorch\)"):
        run_experiment(PUBLIC, store, profile="full", without=["cma"], echo=str)
    assert not store.path.exists()
    with pytest.raises(ValueError, match=r"without.*got sass"):
        run_experiment(PUBLIC, store, profile="tiny", without=["sass"], echo=str)


def test_parallel_run_gives_same_report(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    found = []
    for jobs in (1, 2):
        store = Store(tmp_path / f"{jobs}.jsonl")
        assert (
            run_experiment(EXPERIMENTS["methods"], store, profile="tiny", jobs=jobs, echo=str) == []
        )
        found.append({json.dumps([r["method"], r["repeat"], r["steps"]]) for r in store.read()})
    assert found[0] == found[1]
    assert len(found[0]) == 6
    page = tmp_path / "page.rst"
    assert main(["report", str(store.path), "--profile", "tiny", "--rst", str(page)]) == 0
    assert "figure:: pictures/methods.png" in page.read_text()
    assert (tmp_path / "pictures" / "methods.png").exists()
    assert main(["report", str(store.path)]) == 1
    assert "no result for" in capsys.readouterr().err
    assert incumbent_values(store.read()[:1]).shape == (1, 12)
