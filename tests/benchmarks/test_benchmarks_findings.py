"""The findings page agrees with the stored results."""

import re
from unittest.mock import patch

import numpy as np
import pytest
import write_findings as findings
from hypothesis import given
from hypothesis import strategies as st
from paper_claims import ALIKE
from scipy.stats import mannwhitneyu, ttest_ind, ttest_rel, wilcoxon

from benchmarks.experiments import _comparisons
from benchmarks.experiments._published import published_curves
from benchmarks.registry import FOLDER, TABLES

pytestmark = pytest.mark.bench


def test_page_numbers_are_in_results():
    """Check also that the page contains all tables and no others."""
    assert findings.main([]) == 0
    page = (FOLDER / "findings.rst").read_text()
    assert {path.name for path in TABLES.glob("findings-*.csv")} == set(
        re.findall(r":file: tables/(findings-\S+)", page)
    )
    assert page.count("csv-table::") == page.count(":file: ")


def test_a_table_that_differs_fails_and_says_where(tmp_path, monkeypatch, capsys):
    made = findings.made()
    monkeypatch.setattr(findings, "made", lambda: made)
    monkeypatch.setattr(findings, "TABLES", tmp_path)
    assert findings.main(["--write"]) == 0
    table = tmp_path / "findings-default.csv"
    written = table.read_text()
    number = written.split("± ")[1].split(" ")[0]
    table.write_text(written.replace(number, "9.9", 1))
    assert findings.main([]) == 1
    assert number in capsys.readouterr().err
    assert findings.main(["--write"]) == 0
    assert table.read_text() == written


def by_seed(values):
    return dict(enumerate(values))


Z = {  # bottom-up minus baseline for Branin, Hartmann6 and Colville with 100 and 1000 inputs
    "REMBO": (6.2, 3.5, 12.5, 10.3, 4.7, 4.0),
    "HeSBO": (3.6, 2.8, -0.6, -2.8, 2.7, 3.1),
    "SIR-BO": (-2.5, -2.6, -0.5, -5.9, 10.8, 13.0),
    "ADD-BO": (-3.4, 11.0, -19.4, -1.6, 2.1, 32.5),
}


def test_authors_curves_match_audit():
    """The reference values come from the file of all points, which is not in the repository."""
    curves = published_curves(TABLES / "published.csv")
    found = findings.authors_claims(curves, findings.AUTHORS)
    assert len(found) == len(Z)
    for claim, cells in found.items():
        z = [z for z, _ in cells]
        assert z == pytest.approx(Z[claim.second[0]], abs=0.06)


@pytest.mark.parametrize("paired", [True, False])
def test_comparison_matches_t_and_rank_tests(paired):
    rng = np.random.default_rng(0)
    a, b = rng.normal(0.0, 1.0, 8), rng.normal(0.5, 2.0, 8)
    found = _comparisons.compare(by_seed(a), by_seed(b), paired)
    t = ttest_rel(a, b) if paired else ttest_ind(a, b, equal_var=False)
    ranks = wilcoxon(a - b) if paired else mannwhitneyu(a, b)
    low, high = t.confidence_interval(0.95)
    assert found.gap == pytest.approx((low + high) / 2.0)
    assert found.gap / found.error == pytest.approx(t.statistic)
    assert (found.p, found.p_ranks) == pytest.approx((t.pvalue, ranks.pvalue))
    middle = np.median(a - b) if paired else np.median(a) - np.median(b)
    assert found.middle == pytest.approx(middle)


@given(p_values=st.lists(st.floats(0.0, 1.0), min_size=1, max_size=20))
def test_holms_correction_is_that_of_statsmodels(p_values):
    multitest = pytest.importorskip("statsmodels.stats.multitest")
    with patch("gc.collect"):  # called in every run and slow
        outside = multitest.multipletests(p_values, method="holm")
    assert _comparisons.holm(p_values) == pytest.approx(outside[1])
    assert _comparisons.holm([None, *p_values])[1:] == pytest.approx(outside[1])


def test_the_short_answer_is_what_the_data_say():
    curves = published_curves(TABLES / "published.csv")
    authors = findings.authors_claims(curves, findings.AUTHORS)
    signs = {c.second[0]: {sign for _, sign in cells} for c, cells in authors.items()}
    assert signs.pop("REMBO") == {1}
    assert all(len(found) > 1 for found in signs.values())
    more, alike = findings.authors_claims(curves, findings.AUTHORS_MORE), ALIKE
    assert {s for c, cells in more.items() if c.words == alike for _, s in cells} == {0}
    kernels = [[s for _, s in cells] for c, cells in more.items() if "kernel" in c.words]
    assert kernels == [[0, 0, 1, 1, 1, 1]] * 2  # Branin first
    results = findings.Results("paper")
    rows = [
        (claim.words, name, sign)
        for d in (100, 1000)
        for claim, _, _, name, _, _, sign in findings.our_claims(
            results, findings.CLAIMS[d], findings.FUNCTIONS, d
        )
    ]
    gains = {
        name for words, name, sign in rows if words == "bottom-up beats random search" and sign
    }
    assert gains == {"Colville"}
    ablations = ("unlabelled", "10 and 10", "learning every")
    assert {sign for words, _, sign in rows if words.startswith(ablations)} == {0}
