"""Public problems and the share of the gap closed."""

import json
import pickle
from collections import Counter, defaultdict
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.engine import render_rst
from benchmarks.experiments import EXPERIMENTS
from benchmarks.experiments._bocode_offline import bocode_problem
from benchmarks.experiments._public_suites import (
    EXPENSIVE,
    IN_ANY_SPACE,
    REPORTED,
    SUBSET,
)
from benchmarks.search import torch_peers
from benchmarks.search.bbob import bbob_problem
from benchmarks.search.contestants import CONTESTANTS, find_contestant
from benchmarks.search.gap_closed import chance_means, compared, gap_runs
from benchmarks.search.gap_report import error_of_mean, paired_difference
from benchmarks.search.problem_data import make_problem
from benchmarks.search.search_run import measure_gap, measure_search
from skbo_silbo.benchmarks._output_scale import yeo_johnson
from skbo_silbo.problems import Problem

pytestmark = pytest.mark.bench

PUBLIC = EXPERIMENTS["public"]
PROBLEM = {"suite": "bbob", "function": 2, "kind": "native", "d": 10, "inputs": 10, "n": 100}


def result(method, repeat, steps, problem=PROBLEM, **further):
    """A run whose chance is 10 after any number of evaluations, on a problem of optimum 0."""
    return {
        "experiment": "public",
        "problem": problem,
        "method": method,
        "repeat": repeat,
        "status": "ok",
        "steps": steps,
        "optimum": 0.0,
        "chance": {"50": 10.0, "100": 10.0, "250": 10.0},
        "values": "as told",
        **further,
    }


# -- problems ------------------------------------------------------------------------------------


@pytest.mark.parametrize("function", range(1, 25))
@pytest.mark.parametrize("kind", ["native", "planted", "rotated"])
def test_bbob_problems_have_the_optimum_that_the_suite_states(function, kind):
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


@pytest.mark.parametrize("kind", ["planted", "rotated"])
def test_every_function_and_instance_is_hidden_in_other_places(kind):
    pytest.importorskip("cocoex")
    hidden = {**PROBLEM, "kind": kind, "d": 40, "inputs": 5}
    made = [make_problem({**hidden, "function": f}, i) for f in (2, 4) for i in (4, 5)]
    spans = {np.round(p.active_directions.T @ p.active_directions, 6).tobytes() for p in made}
    assert len(spans) == len(made)
    again = make_problem({**hidden, "function": 2}, 4)
    np.testing.assert_array_equal(again.active_directions, made[0].active_directions)


def test_bbob_problems_are_those_of_the_suite():
    cocoex = pytest.importorskip("cocoex")
    suite = cocoex.Suite("bbob", "instances:5", "dimensions:10 function_indices:8")
    theirs = next(iter(suite))
    ours, X = bbob_problem(8, 10, 5), np.random.default_rng(0).uniform(-5, 5, (20, 10))
    np.testing.assert_allclose(ours.evaluate(X), [theirs(x) for x in X])
    again = pickle.loads(pickle.dumps(ours))
    np.testing.assert_allclose(again.evaluate(X), ours.evaluate(X))
    assert bbob_problem(8, 10, 6).optimum != ours.optimum


@pytest.mark.parametrize(("f", "d", "i"), [(0, 5, 1), (25, 5, 1), (1, 7, 1), (1, 5, 0)])
def test_what_bbob_does_not_have_is_refused(f, d, i):
    with pytest.raises(ValueError, match="function must be 1 to 24, d one of"):
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


@pytest.mark.parametrize("method", ["random", "cma"])
def test_a_run_knows_its_optimum_and_its_chance(method):
    pytest.importorskip("cocoex")
    problem = {**PROBLEM, "d": 2, "inputs": 2, "n": 50}
    measured = measure_gap(problem, method, 4)
    made = make_problem(problem, 4)
    assert measured["optimum"] == made.optimum
    chance = [measured["chance"][n] for n in ("50", "100", "250")]
    assert chance == sorted(chance, reverse=True)
    assert chance[-1] > made.optimum
    json.dumps(measured)


# -- the measure ---------------------------------------------------------------------------------


@settings(max_examples=30)
@given(values=st.lists(st.floats(-5, 5), min_size=6, max_size=6))
def test_the_mean_of_chance_is_that_over_all_draws(values):
    table = np.array(values)
    problem = Problem("table", lambda X: table[: len(X)], [(0, 1)])
    told = chance_means(problem, counts=(1, 3, 6), n_points=6)
    for n in (1, 3, 6):
        wanted = np.mean([min(draw) for draw in combinations(values, n)])
        assert told[str(n)] == pytest.approx(wanted, rel=1e-5, abs=1e-9)


def test_shares_are_of_the_gap_and_clipped():
    results = [
        result("a", 4, [[1, 30.0], [40, 5.0], [80, 1.0]]),
        result("b", 4, [[1, 50.0]]),
        result("c", 4, [[1, 0.0]]),
    ]
    a, b, c = gap_runs(results)
    assert [a.share(n) for n in (50, 100)] == [0.5, 0.9]
    assert (b.share(100), c.share(100)) == (-1.0, 1.0)
    assert [run.is_stalled(100) for run in (a, b, c)] == [False, True, False]
    assert a.is_stalled(50) is False
    assert (a.evaluations_to(5.0), a.evaluations_to(0.5)) == (40.0, np.inf)


def test_a_run_is_stalled_only_while_something_is_left():
    near, far = gap_runs(
        [result("near", 4, [[1, 9.0], [50, 0.4]]), result("far", 4, [[1, 9.0], [50, 0.6]])]
    )
    assert (near.is_stalled(100), far.is_stalled(100)) == (False, True)


def test_the_best_value_seen_stands_for_an_unknown_optimum():
    results = [result("a", 4, [[1, 4.0]]), result("b", 4, [[1, 9.0], [2, -2.0]])]
    results += [result("a", 5, [[1, 3.0]]), result("b", 5, [[1, 7.0]])]
    for r in results:
        del r["optimum"]
    runs = gap_runs(results)
    assert [run.target for run in runs] == [-2.0] * 4  # of whatever seed
    shares = [run.share(100) for run in runs]
    assert shares == [pytest.approx(share) for share in (0.5, 1.0, 7 / 12, 0.25)]


def test_where_chance_finds_the_target_nothing_else_closes_the_gap():
    results = [result("a", 4, [[1, 1e10]]), result("b", 4, [[1, 0.0]])]
    for r in results:
        r["optimum"], r["chance"] = 0.0, dict.fromkeys(r["chance"], 0.0)
    a, b = gap_runs(results)
    assert (a.share(100), b.share(100)) == (-1.0, 1.0)


def test_a_longer_run_tells_also_what_a_shorter_one_would():
    long = {**PROBLEM, "n": 250}
    results = [
        result("a", 4, [[1, 8.0]]),
        result("a", 4, [[1, 6.0], [200, 1.0]], long),
        result("b", 4, [[1, 7.0]]),
        result("b", 5, [[1, 7.0]]),
    ]
    runs = gap_runs(results)
    assert len(runs) == 3
    at_100, at_250 = compared(runs, 100), compared(runs, 250)
    assert {m: [r.share(100) for r in own] for m, own in at_100.items()} == {
        "a": [pytest.approx(0.4)],
        "b": [pytest.approx(0.3)],
    }
    assert [r.share(250) for r in at_250["a"]] == [pytest.approx(0.9)]
    assert compared(runs, 100, {"b"})["b"][1].place[1] == 5
    assert compared(runs, 100, {"nobody"}) == {}


def test_standard_errors_and_paired_differences():
    results = [
        result(method, seed, [[1, 10.0 - 10 * share]])
        for method, shares in {"silbo": (0.9, 0.5, 0.7), "optuna-tpe": (0.8, 0.5, 0.3)}.items()
        for seed, share in enumerate(shares, 4)
    ]
    by_method = compared(gap_runs(results), 100)
    differences = paired_difference(by_method, "optuna-tpe", 100)
    np.testing.assert_allclose(differences, [0.1, 0.0, 0.4], atol=1e-12)
    assert error_of_mean(differences) == pytest.approx(np.std([0.1, 0, 0.4], ddof=1) / 3**0.5)
    blocks = PUBLIC.report(results)
    tables = {b.title: b for b in blocks if not isinstance(b, str)}
    [row] = [r for r in tables["Paired differences"].rows if r[:2] == ("all", "100")]
    assert row[2:] == ("optuna-tpe", "3", "0.167 (0.120)", "+1.4")
    every = tables["Share of the gap closed"].rows
    rows = [row[2:] for row in every if row[:2] == ("bbob, native, d = 10 and 20", "100")]
    assert [r[:3] for r in rows] == [
        ("silbo", "3", "0.70 (0.12)"),
        ("optuna-tpe", "3", "0.53 (0.15)"),
    ]
    assert rows[0][4:6] == ("0.50", "1.17 (0.17)")
    assert rows[0][6].endswith("100%")
    assert rows[1][6].endswith("100%")
    render_rst("Page", blocks)


def test_dear_peers_are_compared_on_their_subset_only():
    results = [
        result(method, seed, [[1, 5.0]]) for method in ("silbo", "cma") for seed in range(4, 16)
    ]
    results += [result("saasbo", seed, [[1, 1.0]]) for seed in range(4, 14)]
    results += [result("turbo", seed, [[1, 1.0]]) for seed in range(4, 13)]
    cheap, costly, *_ = [b for b in PUBLIC.report(results) if not isinstance(b, str)]
    title = "bbob, native, d = 10 and 20"
    told = [{row[2]: row[3] for row in t.rows if row[1] == "100"} for t in (cheap, costly)]
    assert told == [
        {"silbo": "12", "cma": "12"},
        {"saasbo": "10", "silbo": "10", "cma": "10"},
    ]
    assert {row[0] for row in (*cheap.rows, *costly.rows)} == {title}
    assert costly.note == f"Fewer than 10 runs, so left out: {title}: turbo (9)."


@pytest.mark.parametrize(("ours", "holds"), [(1.0, True), (4.0, False)])
def test_aims_are_of_every_group_and_peer(ours, holds):
    planted = {**PROBLEM, "kind": "planted", "d": 100, "inputs": 5}
    results = [
        result(method, seed, [[1, value + 5.0], [90, value]], planted)
        for method, value in {"silbo": ours, "optuna-tpe": 3.0}.items()
        for seed in range(4, 14)
    ]
    aims = PUBLIC.aims(results)
    assert [bool(met) for *_, met in aims] == [holds, holds, True]
    assert all(aim.startswith("bbob, planted, 5 of 100 inputs active: ") for aim, *_ in aims)
    assert PUBLIC.aims(results[10:]) == []  # none of ours
    assert PUBLIC.aims(results[:-1]) == []  # nine runs of the peer decide nothing


def test_real_problems_are_judged_by_mean_rank():
    problem = {"suite": "bocode", "function": "Wing", "kind": "small", "d": 10, "n": 100}
    results = [
        result(method, seed, [[1, value]], problem)
        for seed, values in {4: (1.0, 2.0, 3.0), 5: (2.0, 1.0, 3.0), 6: (1.0, 3.0, 2.0)}.items()
        for method, value in zip(("silbo", "optuna-tpe", "random"), values, strict=True)
    ]
    bocode = EXPERIMENTS["bocode"]
    [aim] = bocode.aims(results)
    assert aim == (
        "BOCoDe, d = 5 to 10: first by mean rank at 100",
        "1.33; optuna-tpe 2.00 (3 runs)",
        True,
    )
    assert bocode.aims([r for r in results if r["method"] != "silbo"]) == []
    for r in results:
        del r["optimum"]
    table, *_ = [b for b in bocode.report(results) if not isinstance(b, str)]
    assert {row[3] for row in table.rows} == {"3"}


def test_the_picture_of_shares_is_drawn(tmp_path):
    pytest.importorskip("matplotlib")
    results = [result(m, 4, [[1, 4.0], [30, 1.0]]) for m in ("silbo", "random")]
    [(name, _)] = PUBLIC.figures(results, tmp_path)
    assert name == "public.png"
    assert (tmp_path / name).stat().st_size > 1000


# -- contestants ---------------------------------------------------------------------------------


def test_variants_run_wherever_the_method_runs_that_they_vary():
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
    with pytest.raises(ValueError, match="method must be one of random, sobol, silbo"):
        find_contestant(name)


@pytest.mark.parametrize("scale", [1.0, 1e-9, 1e12])
def test_a_peer_sees_a_rising_function_of_the_values(scale):
    y = scale * np.exp(4 * np.random.default_rng(0).normal(size=60))
    seen = yeo_johnson(y)
    assert np.all(np.diff(seen[np.argsort(y)]) >= 0)
    assert len(np.unique(seen)) > 30
    np.testing.assert_allclose([seen.mean(), seen.std()], [0, 1], atol=1e-8)
    np.testing.assert_allclose(yeo_johnson(np.full(5, scale)), 0, atol=1e-6 * scale)
    assert yeo_johnson(y[:0]).size == 0


def test_problems_of_bocode_are_minimised_and_snapped():
    bocode = pytest.importorskip("bocode")
    import torch

    ours = bocode_problem("PortfolioPort2")
    theirs = bocode.get_problem("PortfolioPort2")()
    X = ours.sample(5, 0)
    values, _ = theirs.evaluate(theirs.enforce_variable_types(torch.as_tensor(X)))
    np.testing.assert_allclose(ours.evaluate(X), -values[:, 0].numpy())
    with pytest.raises(ValueError, match="name must be that of a problem with one objective and"):
        bocode_problem("CEC2020_p1")


@pytest.mark.parametrize(
    "method", [*IN_ANY_SPACE, "saas", pytest.param("saasbo", marks=pytest.mark.slow)]
)
def test_peers_with_a_process_see_their_own_scale(method):
    pytest.importorskip(find_contestant(method).package.replace("scikit-optimize", "skopt"))
    problem = {"function": "colville", "kind": "planted", "d": 6, "n": 12}
    measured = measure_search(problem, method, 0)
    assert measured["values"].startswith("Yeo-Johnson")
    assert measured["steps"][-1][0] <= 12


def test_saasbo_keeps_its_samples_for_five_evaluations_and_sees_every_value(monkeypatch):
    pytest.importorskip("numpyro")
    pytest.importorskip("botorch")
    import botorch.fit
    import torch

    fits, seen = [], []

    def fit(model, *, seed, **_):
        fits.append((len(model.train_targets), seed))
        real = {"dtype": torch.double, "device": torch.device("cpu")}
        samples = model.pyro_model.get_dummy_mcmc_samples(num_mcmc_samples=2, **real)
        model.load_mcmc_samples({**samples, "noise": torch.full_like(samples["noise"], 1e-5)})

    def first_unused(model, t):
        mean = model.posterior(torch.as_tensor(peer.U)).mixture_mean
        seen.append((len(peer.U), float((mean - t).detach().abs().max())))
        return torch.as_tensor(points[len(t)])

    monkeypatch.setattr(botorch.fit, "fit_fully_bayesian_model_nuts", fit)
    monkeypatch.setattr(torch_peers, "best_improvement", first_unused)
    points = np.random.default_rng(0).random((22, 3))
    peer = torch_peers.SAASBO(3, 1)
    for _ in range(21):
        u = peer.ask()
        peer.tell(u, float(np.sum((u - 0.3) ** 2)))
    assert [n for n, _ in fits] == [10, 15, 20]
    assert len({seed for _, seed in fits}) == 3
    assert [n for n, _ in seen] == list(range(10, 21))
    assert max(error for _, error in seen) < 0.01  # of deviation 1: the newest value is there


def test_dear_peers_have_ten_runs_of_every_kind_and_the_closest_run_on_all_functions():
    ran = defaultdict(list)
    for cell in PUBLIC.cells("report"):
        if cell.method in EXPENSIVE:
            ran[cell.method, cell.problem["kind"]].append(cell.problem["function"])
    kinds = ("native", "planted", "rotated")
    expected = {(m, k) for m in EXPENSIVE for k in kinds} - {("saasbo", "native")}
    assert set(ran) == expected
    on_all = {("turbo", "native"), *(("botorch-gp", kind) for kind in kinds)}
    for who, functions in ran.items():
        assert Counter(functions) == {
            f: 2 if f in SUBSET else 1 for f in (REPORTED if who in on_all else SUBSET)
        }
