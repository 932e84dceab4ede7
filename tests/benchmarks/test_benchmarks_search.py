"""Benchmarks of optimisers: every call counts, the reports say what the results hold."""

import json

import numpy as np
import pytest
from scipy.linalg import subspace_angles

from benchmarks.__main__ import main
from benchmarks.engine import (
    Grid,
    MissingPeerError,
    Recorder,
    Store,
    curve,
    render_rst,
    run_experiment,
)
from benchmarks.experiments import EXPERIMENTS
from benchmarks.experiments._paper_figures import largest_share
from benchmarks.experiments._published import compare_published, read_published
from benchmarks.search.contestants import CONTESTANTS
from benchmarks.search.problem_data import make_problem
from benchmarks.search.search_figures import mean_band, search_figures
from benchmarks.search.search_report import (
    at_main_budgets,
    evaluations_within,
    search_report,
    values_of,
)
from benchmarks.search.search_run import measure_search, regrets
from skbo_silbo import SemiSlicedInverseRegression

pytestmark = pytest.mark.bench

DEFAULT = EXPERIMENTS["default"]
PROBLEM = {"function": "branin", "kind": "embedded", "d": 6, "n": 14, "r": 2}


def played(method, repeat, steps, problem=PROBLEM, **further):
    return {
        "experiment": "methods",
        "problem": problem,
        "method": method,
        "repeat": repeat,
        "status": "ok",
        "steps": steps,
        "optimum": 0.0,
        "scale": 10.0,
        "median_seconds": 0.01,
        "seconds": [[1, 0.01], [problem["n"], 0.01 * problem["n"]]],
        "values": "as told",
        **further,
    }


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


def test_a_recorder_counts_every_call_and_knows_the_truth():
    noisy = make_problem({**PROBLEM, "kind": "planted", "sd": 2.0}, 0)
    recorder = Recorder(noisy)
    X = np.random.default_rng(0).uniform(*noisy.bounds.T, (20, 6))
    told = [recorder(x) for x in X]
    assert told == recorder.observed
    np.testing.assert_allclose(recorder.truth, [noisy.truth(x) for x in X])
    steps = recorder.summary()["steps"]
    best = [int(np.argmin(told[:n])) for n in range(1, 21)]
    np.testing.assert_allclose(curve(steps, 20), [recorder.truth[i] for i in best], rtol=1e-5)


def test_seeds_make_problems_and_the_same_seed_the_same_one():
    problem = {"function": "levy", "kind": "rotated", "d": 9, "inputs": 3}
    x = np.full(9, 0.3)
    assert make_problem(problem, 1)(x) == make_problem(problem, 1)(x)
    assert make_problem(problem, 1)(x) != make_problem(problem, 2)(x)


def test_evaluations_within_one_percent():
    result = played("random", 0, [[1, 5.0], [4, 0.2], [9, 0.1]])
    assert evaluations_within(result) == 9
    np.testing.assert_allclose(regrets(result)[[0, 2, 3, 13]], [0.5, 0.5, 0.02, 0.01])
    assert evaluations_within(played("random", 0, [[1, 5.0]])) is None
    assert regrets({"problem": PROBLEM, "steps": []}) is None


def test_the_report_holds_means_and_what_was_not_reached():
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
    assert over_all.note.endswith("Of fewer than 5 runs, so without a claim: all of them.")
    render_rst("Page", search_report(results))


def test_a_problem_counts_once_among_ranks_whatever_its_budgets():
    longer = {**PROBLEM, "n": 2 * PROBLEM["n"]}
    other = {**PROBLEM, "d": 7}
    results = [
        played(method, k, [[1, 3.0 - (method == "silbo")]], problem)
        for method in ("random", "silbo")
        for problem in (PROBLEM, other)
        for k in range(5 if method == "silbo" else 2)
    ]
    alone = [played("silbo", k, [[1, 2.0]], longer) for k in range(9)]
    kept = at_main_budgets([*results, *alone])
    assert kept == results
    over_all = search_report([*results, *alone])[0]
    assert over_all.note.startswith("Over 2 of 2 problems.")
    assert [row[:3] for row in over_all.rows] == [("silbo", "5", "1.00"), ("random", "2", "2.00")]
    assert over_all.note.endswith("Of fewer than 5 runs, so without a claim: random.")


def test_the_caption_says_why_a_curve_with_noise_rises(tmp_path):
    pytest.importorskip("matplotlib")
    for sd, told in (({}, False), ({"sd": 0.1}, True)):
        run = played("random", 0, [[1, 4.0], [3, 5.0]], {**PROBLEM, **sd})
        [(_, caption), _] = search_figures([{**run, "seconds": [[14, 1.0]]}], tmp_path)
        assert ("With noise: the true value at the point" in caption) is told


def test_the_picture_is_drawn(tmp_path):
    pytest.importorskip("matplotlib")
    results = [played(m, 0, [[1, 4.0], [3, 1.0]]) for m in ("random", "silbo")]
    results = [{**r, "seconds": [[7, 0.5], [14, 1.25]]} for r in results]
    pictures = search_figures(results, tmp_path)
    assert [name for name, _ in pictures] == ["methods.png", "methods-time.png"]
    assert all((tmp_path / name).stat().st_size > 1000 for name, _ in pictures)


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


def test_curves_of_another_problem_are_not_compared(tmp_path):
    path = tmp_path / "published.csv"
    path.write_text(PUBLISHED + PUBLISHED.replace("branin", "colville").split("\n", 1)[1])
    steps = [[1, 4.0], [60, 2.5]]

    def compared(function, r, method="silbo-bu"):
        problem = {"function": function, "kind": "embedded", "d": 100, "n": 100, "r": r}
        return compare_published([played(method, 0, steps, problem)], path)

    assert compared("branin", 2) == [] == compared("colville", 4)
    assert len(compared("branin", 4)) == len(compared("colville_as_run", 4)) == 1
    path.write_text(PUBLISHED.replace("SILBO-BU", "SILBO-TD"))
    assert compared("branin", 2, "silbo-td") == []  # top-down had four coordinates too
    assert len(compared("branin", 4, "silbo-td")) == 1
    path.write_text(PUBLISHED.replace("SILBO-BU", "ADD-BO").replace("UCB", ""))
    assert len(compared("branin", 2, "add-bo")) == 1  # no embedding


def test_aims_compare_with_the_best_peer():
    problem = {"function": "branin", "kind": "planted", "d": 100, "n": 100}
    results = [
        played(method, 0, [[1, 4.0], [90, last]], problem)
        for method, last in (("silbo", 0.5), ("random", 3.0), ("cma", 0.45))
    ]
    [(mark, got, holds), (_, beside, ahead)] = DEFAULT.aims(results)
    assert "at most 0.4" in mark
    assert (got, holds, ahead) == ("0.5 (1 run)", False, False)
    assert beside == "0.5; cma 0.45; of one run, so by chance or not"
    again = [{**r, "repeat": 1, "steps": [[1, r["steps"][-1][1] - 0.2]]} for r in results]
    [_, (_, beside, _)] = DEFAULT.aims([*results, *again])
    assert beside == "0.4; cma 0.35; standard error of the difference 0.14"
    assert DEFAULT.aims(results[1:]) == []


def test_seeds_reported_are_not_those_tuned_on():
    for profile in ("stage1", "full"):
        assert min(cell.repeat for cell in DEFAULT.cells(profile)) >= 100


def test_a_grid_can_be_of_some_methods_and_a_cell_is_measured_once():
    grids = Grid(({"d": 2},), 2, 5, methods=("random",)), Grid(({"d": 2},), 3, 5)
    cells = DEFAULT.__class__(
        "name", {"random": "", "silbo": ""}, {"full": grids}, measure_search, search_report
    ).cells("full")
    assert [(c.method, c.repeat) for c in cells] == [
        *(("random", 5), ("random", 6), ("silbo", 5), ("silbo", 6)),
        *(("random", 7), ("silbo", 7)),
    ]


def test_a_peer_that_is_missing_stops_the_run_unless_left_out(tmp_path, monkeypatch):
    store = Store(tmp_path / "results.jsonl")
    missing = {"saas": "botorch", "cma": "cma"}
    monkeypatch.setattr(type(DEFAULT), "missing_packages", lambda self: missing)
    with pytest.raises(MissingPeerError, match=r"saas \(package botorch\)"):
        run_experiment(DEFAULT, store, profile="stage1", without=["cma"], echo=str)
    assert not store.path.exists()
    with pytest.raises(ValueError, match=r"without must name methods of 'default'.* got sass"):
        run_experiment(DEFAULT, store, profile="tiny", without=["sass"], echo=str)


def test_two_at_a_time_give_what_one_gives_and_the_report_is_rebuilt(tmp_path, capsys):
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
    assert values_of(store.read()[:1]).shape == (1, 12)


def test_every_figure_of_the_paper_has_its_cells():
    cells = EXPERIMENTS["paper"].cells("full")
    assert {cell.problem["d"] for cell in cells} == {100, 500, 1000}
    bottom_up = [c for c in cells if c.method == "silbo-bu"]
    assert {c.problem["n"] for c in bottom_up} == {1600}  # 250 iterations, all counted
    assert max(c.repeat for c in bottom_up) == 99
    assert len({cell.key for cell in cells}) == len(cells)


def test_unlabelled_points_move_the_span_of_the_ablation_about_them():
    rng = np.random.default_rng(0)
    X, X_unlabeled = rng.uniform(-1.0, 1.0, (2, 50, 20))
    y = X[:, 0] + X[:, 1] ** 2
    pencil = CONTESTANTS["silbo-bu-local"].run.pencil
    assert pencil == CONTESTANTS["silbo-bu-local-labelled"].run.pencil
    spans = [
        SemiSlicedInverseRegression(2, **pencil).fit(X, y, X_unlabeled=extra).components_.T
        for extra in (None, X_unlabeled)
    ]
    assert np.rad2deg(subspace_angles(*spans)).max() > 10.0


def test_both_sides_of_a_claim_have_the_same_seeds():
    cells = EXPERIMENTS["paper"].cells("thirty")

    def seeds(method, function, d, at):
        return {
            c.repeat
            for c in cells
            if c.method == method
            and (c.problem["function"], c.problem["d"]) == (function, d)
            and c.problem["n"] >= at
        }

    pairs = [
        ("silbo-bu-local", "silbo-bu-local-labelled", 550),
        ("silbo-bu-10-and-10", "silbo-bu-random-20", 100),
        ("silbo-bu", "random", 550),
    ]
    for d in (100, 1000):
        for function in ("branin", "hartmann6", "colville_as_run"):
            for one, other, at in pairs:
                own = seeds(one, function, d, at)
                assert len(own) >= 3
                assert own <= seeds(other, function, d, at)


def test_directions_are_measured_and_drawn(tmp_path):
    pytest.importorskip("matplotlib")
    experiment, store = EXPERIMENTS["paper-embedding"], Store(tmp_path / "results.jsonl")
    assert run_experiment(experiment, store, profile="tiny", echo=str) == []
    results = store.read()
    assert {"sir", "paper", "exact-k-3"} < {r["method"] for r in results}
    assert all(0.0 < r["cosine"] <= 1.0 and 0.02 <= r["stacked"] <= 1.0 for r in results)
    [table] = experiment.report(results)
    assert len(table.rows) == 12
    [(name, _)] = experiment.figures(results, tmp_path)
    assert (tmp_path / name).exists()


def test_stacked_points():
    assert largest_share(np.linspace(0, 1, 101)) == pytest.approx(6 / 101)
    assert largest_share(np.array([0.0, 0.5, 0.51, 0.52, 1.0])) == 0.6


def test_the_page_says_what_is_not_measured_and_how_it_is_rebuilt(tmp_path):
    pytest.importorskip("matplotlib")
    path, page = tmp_path / "results.jsonl", tmp_path / "page.rst"
    surroundings = {"cpu": "", "cores": 1, "system": "", "python": "", "revision": "abc"}
    surroundings |= {"versions": {}, "threads": {}}
    problem = {"function": "branin", "kind": "embedded", "d": 5, "n": 12, "r": 2}
    Store(path).append(played("random", 1, [[1, 2.0]], problem, environment=surroundings, load=1.0))
    options = ["--profile", "tiny", "--rst", str(page)]
    assert main(["report", str(path), *options]) == 1
    told = page.read_text()
    assert "Not measured yet" in told
    assert "random (1), hesbo (2), silbo (2)" in told
    assert f"report {path} {' '.join(options)}" in told


def test_the_band_is_one_standard_error():
    low, mean, high = mean_band(np.array([[1.0, 4.0], [3.0, 4.0]]))
    np.testing.assert_allclose([low, mean, high], [[1.0, 4.0], [2.0, 4.0], [3.0, 4.0]])
    np.testing.assert_allclose(mean_band(np.array([[7.0]])), [[7.0]] * 3)
