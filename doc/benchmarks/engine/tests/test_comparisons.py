"""Paired and unpaired comparisons of methods, and Holm's correction, by other libraries."""

from unittest.mock import patch

import numpy as np
import pytest
import write_findings as findings
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import mannwhitneyu, ttest_ind, ttest_rel, wilcoxon

from benchmarks.experiments import _comparisons

pytestmark = pytest.mark.bench


def by_seed(values):
    return dict(enumerate(values))


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


@settings(deadline=None)
@given(p_values=st.lists(st.floats(0.0, 1.0), min_size=1, max_size=20))
def test_holms_correction_is_that_of_statsmodels(p_values):
    multitest = pytest.importorskip("statsmodels.stats.multitest")
    with patch("gc.collect"):  # called in every run and slow
        outside = multitest.multipletests(p_values, method="holm")
    assert _comparisons.holm(p_values) == pytest.approx(outside[1])
    assert _comparisons.holm([None, *p_values])[1:] == pytest.approx(outside[1])


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
