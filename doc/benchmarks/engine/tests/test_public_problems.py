"""Public test problems and the proportion of the gap closed."""

from itertools import combinations

import numpy as np
import pytest
import write_coco
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.experiments import EXPERIMENTS
from benchmarks.experiments._public_suites import IN_ANY_SPACE
from benchmarks.registry import RESULTS
from benchmarks.search.bbob import bbob_problem
from benchmarks.search.contestants import CONTESTANTS, find_contestant
from benchmarks.search.gap_closed import chance_means
from benchmarks.search.problem_data import make_problem
from benchmarks.search.search_run import measure_search
from skbo_silbo.problems import Problem

pytestmark = pytest.mark.bench

PUBLIC = EXPERIMENTS["public"]
PROBLEM = {"suite": "bbob", "function": 2, "kind": "native", "d": 10, "inputs": 10, "n": 100}


@pytest.mark.parametrize("function", range(1, 25))
@pytest.mark.parametrize("kind", ["native", "planted", "rotated"])
def test_bbob_optima_match_suite(function, kind):
    pytest.importorskip("cocoex")
    inputs = 10 if kind == "native" else 5
    d = 10 if kind == "native" else 60
    data = {**PROBLEM, "function": function, "kind": kind, "d": d, "inputs": inputs}
    problem = make_problem(data, 4)
    assert problem.n_dims == d
    at_best = problem(problem.optimisers[0])
    median = np.median(problem.evaluate(problem.sample(200, 0)))
    assert abs(at_best - problem.optimum) < 1e-6 * (median - problem.optimum)
    assert problem.evaluate(problem.sample(200, 1)).min() > problem.optimum


@pytest.mark.parametrize(("f", "d", "i"), [(0, 5, 1), (25, 5, 1), (1, 7, 1), (1, 5, 0)])
def test_what_bbob_does_not_have_is_refused(f, d, i):
    with pytest.raises(ValueError, match=r"function.*1"):
        bbob_problem(f, d, i)


def test_what_is_reported_is_never_tuned_on():
    reported, tuned = (
        {(c.problem["function"], c.repeat) for e, p in plans for c in EXPERIMENTS[e].cells(p)}
        for plans in ([("public", "report"), ("public-long", "full")], [("public", "tune")])
    )
    assert {f % 2 for f, _ in reported} == {0}
    assert {f % 2 for f, _ in tuned} == {1}
    assert min(i for _, i in reported) == 4
    assert {i for _, i in tuned} == {1, 2, 3}
    cells = PUBLIC.cells("report")
    assert {c.problem["function"] for c in cells if c.method == "silbo"} == set(range(2, 25, 2))
    assert len({c.repeat for c in cells if c.method == "optuna-tpe"}) == 5
    layouts = {(c.problem["kind"], c.problem["d"]) for c in cells if c.method == "cma"}
    assert layouts == {("native", 10), ("native", 20), ("planted", 100), ("rotated", 100)}


@settings(max_examples=30, deadline=None)
@given(values=st.lists(st.floats(-5, 5), min_size=6, max_size=6))
def test_chance_mean_is_over_all_draws(values):
    table = np.array(values)
    problem = Problem("table", lambda X: table[: len(X)], [(0, 1)])
    told = chance_means(problem, counts=(1, 3, 6), n_points=6)
    for n in (1, 3, 6):
        wanted = np.mean([min(draw) for draw in combinations(values, n)])
        assert told[str(n)] == pytest.approx(wanted, rel=1e-5, abs=1e-9)


def test_variants_run_where_their_method_runs():
    name = "silbo:embedding=identity,n_initial=8"
    varied = PUBLIC.configure(PUBLIC, (name,))
    cells = varied.cells("report")
    assert sum(c.method == name for c in cells) == sum(c.method == "silbo" for c in cells)
    assert len(cells) == len(PUBLIC.cells("report")) + sum(c.method == name for c in cells)
    assert varied.methods[name] == ""
    assert PUBLIC.command_options([{"method": name}, {"method": "silbo"}]) == f" --variant {name}"
    assert dict(find_contestant(name).run.options) == {"embedding": "identity", "n_initial": 8}
    assert find_contestant("silbo") is CONTESTANTS["silbo"]


@pytest.mark.parametrize("name", ["silbo:", "nobody:a=1", "cma:a=1", "silbo:a", "nobody"])
def test_a_name_that_is_no_contestant_is_refused(name):
    with pytest.raises(ValueError, match=r"method.*random"):
        find_contestant(name)


@pytest.mark.parametrize("method", [*IN_ANY_SPACE, pytest.param("saasbo", marks=pytest.mark.slow)])
def test_peers_with_a_process_see_their_own_scale(method):
    pytest.importorskip(find_contestant(method).package.replace("scikit-optimize", "skopt"))
    problem = {"function": "colville", "kind": "planted", "d": 6, "n": 12}
    measured = measure_search(problem, method, 0)
    assert measured["values"].startswith("Yeo-Johnson")
    assert measured["steps"][-1][0] <= 12


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["lasso_bench.jsonl", "public-silbo.jsonl"])
def test_cocopp_reads_written_runs(name, tmp_path):
    cocopp = pytest.importorskip("cocopp")
    write_coco.main(RESULTS / name, tmp_path)
    [runs] = write_coco.read_runs(RESULTS / name).values()
    read = {(d.funcId, d.dim): d for d in cocopp.load(str(tmp_path / "silbo"))}
    assert len(read) == len(runs) > 3
    for (_, function, inputs), stored in runs.items():
        best = [curve[-1][1] for _, curve in sorted(stored)]
        np.testing.assert_allclose(sorted(read[function, inputs].finalfunvals), sorted(best))
