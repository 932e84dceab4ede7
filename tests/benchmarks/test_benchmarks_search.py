"""Optimiser benchmarks: all evaluations are counted and the reports match the results."""

import json

import numpy as np
import pytest
from measured import measured

from benchmarks.__main__ import main
from benchmarks.engine import (
    MissingPeerError,
    Recorder,
    Store,
    curve,
    render_rst,
    run_experiment,
)
from benchmarks.experiments import EXPERIMENTS
from benchmarks.experiments._published import compare_published, read_published
from benchmarks.search.contestants import CONTESTANTS
from benchmarks.search.problem_data import make_problem
from benchmarks.search.search_report import (
    evaluations_within,
    incumbent_values,
    search_report,
)
from benchmarks.search.search_run import measure_search, regrets

pytestmark = pytest.mark.bench

PUBLIC = EXPERIMENTS["public"]
PROBLEM = {"function": "branin", "kind": "embedded", "d": 6, "n": 14, "r": 2}


def played(method, repeat, steps, problem=PROBLEM):
    times = {"median_seconds": 0.01, "seconds": [[1, 0.01], [problem["n"], 0.01 * problem["n"]]]}
    goal = {"optimum": 0.0, "scale": 10.0, "values": "as told"}
    return measured("methods", problem, method, repeat, steps=steps, **goal, **times)


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


def test_evaluations_within_one_percent():
    result = played("random", 0, [[1, 5.0], [4, 0.2], [9, 0.1]])
    assert evaluations_within(result) == 9
    np.testing.assert_allclose(regrets(result)[[0, 2, 3, 13]], [0.5, 0.5, 0.02, 0.01])
    assert evaluations_within(played("random", 0, [[1, 5.0]])) is None
    assert regrets({"problem": PROBLEM, "steps": []}) is None


def test_report_has_means_and_unreached_targets():
    results = [
        played("random", 0, [[1, 4.0], [8, 2.0]]),
        played("random", 1, [[1, 4.0]]),
        played("silbo", 0, [[1, 4.0], [2, 0.1]]),
    ]
    table, settings = search_report(results)
    best, worst = table.rows
    assert best[:5] == ("embedded branin, d = 6, r = 2, 14 evaluations", "silbo", "1", "0.1", "")
    assert best[7] == "2 (1/1)"
    assert worst[1:6] == ("random", "2", "3", "1.4", "3")
    assert worst[7] == "never (0/2)"
    assert [row[0] for row in settings.rows] == ["random", "silbo"]
    other = {**PROBLEM, "d": 7}
    results += [played("silbo", 0, [[1, 3.0]], other), played("random", 0, [[1, 2.0]], other)]
    over_all = search_report(results)[0]
    assert [row[:3] for row in over_all.rows] == [("random", "1", "1.50"), ("silbo", "1", "1.50")]
    assert over_all.rows[1][4] == f"{np.sqrt(0.01 * 0.3):.4f}"
    assert over_all.note.endswith(
        "With fewer than 5 runs, so no conclusion is possible: all of them."
    )
    render_rst("Page", search_report(results))


PUBLISHED = """method,problem,dim,acquisition,repeats,\
plotted_evaluations,true_evaluations,mean_best,sd_best
SILBO-BU,branin,100,UCB,100,50,50,-4,1
SILBO-BU,branin,100,UCB,100,150,550,-1,1
"""


def test_published_means_stand_beside_ours_by_both_counts(tmp_path):
    path = tmp_path / "published.csv"
    path.write_text(PUBLISHED)
    problem = {"function": "branin", "kind": "embedded", "d": 100, "n": 150, "r": 4}
    results = [played("silbo-bu", k, [[1, 4.0], [60, 2.4 + 0.1 * k]], problem) for k in range(5)]
    [table] = compare_published(results, path)
    assert [row[2] for row in table.rows] == ["50", "150"]
    first, second = (row[1:] for row in table.rows)
    assert (first[4], first[5], first[6], first[7]) == ("-4", "=", "-4", "=")
    assert (second[2], second[4], second[6]) == ("-2.6", "-1", "-3.4")
    assert (second[5], second[7]) == ("-", "+")
    path.write_text("method,problem\na,b\n")
    with pytest.raises(ValueError, match="lacks dim, acquisition"):
        read_published(path)


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
    assert "figure:: methods.png" in page.read_text()
    assert (tmp_path / "methods.png").exists()
    assert main(["report", str(store.path)]) == 1
    assert "no result for" in capsys.readouterr().err
    assert incumbent_values(store.read()[:1]).shape == (1, 12)
