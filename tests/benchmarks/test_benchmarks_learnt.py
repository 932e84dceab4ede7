"""What the page of learnt subspaces says of given results."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from benchmarks.experiments import _learnt_report as report
from benchmarks.experiments._learnt_subspace import (
    RIDGES,
    make_ridge,
    ridges,
)

pytestmark = pytest.mark.bench

SEMI_SIR = "silbo:embedding=semi-sir"


@pytest.mark.parametrize("problem", ridges(20, 50), ids=list(RIDGES))
def test_a_ridge_rises_in_few_directions_from_a_known_optimum(problem):
    made = make_ridge(problem, 3)
    assert_allclose(made(made.optimisers[0]), made.optimum, atol=1e-9)
    assert made.evaluate_truth(made.sample(1000, 0)).min() >= made.optimum
    assert made.active_directions.shape == (problem["inputs"], 20)
    function, r = RIDGES[problem["function"]]
    low = np.random.default_rng(0).uniform(-1.0, -0.5, (50, r))
    assert (function(low + 0.4) > function(low)).all()


def test_clustered_errors_are_those_of_statsmodels():
    statsmodels = pytest.importorskip("statsmodels.api")
    rng = np.random.default_rng(0)
    clusters = rng.integers(6, size=40)
    values = rng.standard_normal(40) + clusters
    fit = statsmodels.OLS(values, np.ones(40)).fit(
        cov_type="cluster", cov_kwds={"groups": clusters}
    )
    mean, error, count = report.clustered(values, clusters)
    assert_allclose([mean, error, count], [fit.params[0], fit.bse[0], len(set(clusters))])


def made_result(method, function, instance, share):
    problem = {"suite": "bbob", "function": function, "kind": "planted"}
    return {
        "problem": {**problem, "d": 100, "inputs": 5, "n": 100},
        "method": method,
        "repeat": instance,
        "status": "ok",
        "steps": [[1, 1.0 - share]],
        "optimum": 0.0,
        "chance": {"50": 1.0, "100": 1.0},
        "median_seconds": 0.1,
        "environment": {"revision": "abc"},
    }


def made_results(gain, n_instances=6):
    rng = np.random.default_rng(0)
    return [
        made_result(method, function, instance, 0.5 + shift + 0.02 * rng.standard_normal())
        for function in range(2, 25, 2)
        for instance in range(n_instances)
        for method, shift in (("silbo", 0.0), (SEMI_SIR, gain))
    ]


@pytest.mark.parametrize(
    ("gain", "n_instances", "said"),
    [
        (0.3, 6, "Ahead of the default: semi-SIR on planted, 5 of 100 inputs (+0.30"),
        (-0.3, 6, "No row of the table shows a gain over the default."),
        (0.0, 6, "No row of the table shows a gain over the default."),
        (0.3, 1, "No row has enough runs"),
    ],
)
def test_the_first_line_says_where_a_subspace_wins(gain, n_instances, said):
    results = made_results(gain, n_instances)
    (line,) = report.headline(results)
    assert said in line
    assert ("Behind the default: semi-SIR on" in report.other_verdicts(results)) == (gain < 0)
