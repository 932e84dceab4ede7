"""What the page of cited methods says of given results."""

import numpy as np
import pytest
from scipy.stats import ttest_rel

from benchmarks.experiments import _cited as cited

pytestmark = pytest.mark.bench

OK = {"status": "ok"}


def made_results(method, values):
    problem = {"function": "branin", "kind": "embedded", "d": 100, "n": 250, "r": 2}
    return [
        {"problem": problem, "method": method, "repeat": seed, "steps": [[1, float(value)]], **OK}
        for seed, value in enumerate(values)
    ]


def rows_of(results):
    _, table = cited.cited_report(results)
    return {row[1]: dict(zip(table.header, row, strict=True)) for row in table.rows}


def two_pairs(n_pairs):
    """Return a pair with many runs that barely differs, and one with `n_pairs` that does."""
    signs = np.resize([1.0, -1.0], 30)
    values = {"rembo-zonotope": signs, "rembo": np.full(30, 0.41)}
    values |= {"ksir-bo": signs[:n_pairs], "sir-bo": np.full(n_pairs, 5.0)}
    return values, [r for m, own in values.items() for r in made_results(m, own)]


def test_few_runs_are_grey_have_no_verdict_and_correct_nothing():
    values, results = two_pairs(29)
    p = ttest_rel(values["rembo-zonotope"], values["rembo"]).pvalue
    assert 0.025 < p < 0.05  # one comparison decides, two do not
    rows = rows_of(results)
    assert rows["rembo-zonotope"]["verdict"] == "better"
    few = rows[":grey:`ksir-bo`"]
    assert (few["verdict"], few["pairs"]) == ("", ":grey:`29`")


def test_a_verdict_is_corrected_for_all_rows_that_count():
    _, results = two_pairs(30)
    rows = rows_of(results)
    assert rows["rembo-zonotope"]["verdict"] == "undecided"
    assert rows["ksir-bo"]["verdict"] == "better"
