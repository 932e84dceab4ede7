"""The page of findings says what the results hold, and notices when it does not."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import ttest_ind, ttest_rel

from skbo_silbo.benchmarks.search import difference, told_difference, verdict_of

SCRIPT = Path(__file__).parents[2] / "doc" / "benchmarks" / "write_findings.py"


@pytest.fixture
def findings(monkeypatch):
    monkeypatch.syspath_prepend(SCRIPT.parent)  # as when it is run
    spec = importlib.util.spec_from_file_location("write_findings", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_number_of_the_page_is_in_the_results(findings):
    assert findings.main([]) == 0


def test_a_page_that_differs_fails_and_says_where(findings, tmp_path, monkeypatch, capsys):
    page = findings.PAGE.read_text()
    changed = tmp_path / "findings.rst"
    number = page.split("± ")[1].split(" ")[0]
    changed.write_text(page.replace(number, "9.9", 1))
    monkeypatch.setattr(findings, "PAGE", changed)
    assert findings.main([]) == 1
    assert number in capsys.readouterr().err
    assert findings.main(["--write"]) == 0
    assert changed.read_text() == page


def by_seed(values):
    return dict(enumerate(values))


def test_a_difference_is_that_of_students_and_of_welchs_test():
    rng = np.random.default_rng(0)
    a, b, longer = rng.normal(0.0, 1.0, 8), rng.normal(0.5, 2.0, 8), rng.normal(1.0, 1.0, 30)
    for found, outside in (
        (difference(by_seed(a), by_seed(b)), ttest_rel(a, b)),
        (
            difference(by_seed(a), by_seed(longer), paired=False),
            ttest_ind(a, longer, equal_var=False),
        ),
    ):
        gap, error, _, sign = found
        low, high = outside.confidence_interval(0.95)
        assert gap == pytest.approx((low + high) / 2.0)
        assert gap / error == pytest.approx(outside.statistic)
        assert sign == int(low > 0.0) - int(high < 0.0)


def test_seeds_of_one_side_only_are_left_out_of_pairs():
    a, b = by_seed([1.0, 2.0, 4.0, 5.0, 6.0]), by_seed([0.0, 1.0, 2.0, 4.0, 5.0])
    gap, _, runs, _ = difference({**a, 9: 1e9}, {**b, 7: -1e9})
    assert gap == pytest.approx(6.0 / 5.0)
    assert runs == "5"


def test_a_claim_needs_runs_and_more_than_chance():
    rng = np.random.default_rng(0)
    low, high = by_seed(rng.normal(0.0, 1.0, 30)), by_seed(rng.normal(3.0, 1.0, 30))
    better, worse, level = difference(high, low), difference(low, high), difference(high, high)
    few = difference({seed: float(seed) for seed in range(4)}, low)
    assert few is None
    assert verdict_of([better]) == "stands"
    assert verdict_of([worse]) == "falls"
    assert verdict_of([better, worse]) == "stands on some, falls on others"
    assert verdict_of([better, level]) == "stands on some, undecided on others"
    assert verdict_of([worse, level]) == "falls on some, undecided on others"
    assert verdict_of([level]) == "undecided"
    assert verdict_of([level], wants_level=True) == "not refuted"
    assert verdict_of([few]) == "not decided: too few runs"
    assert verdict_of([better, few]) == "stands (1 of 2 problems)"
    assert told_difference(high, low).endswith("(30) +")
    assert told_difference(low, high).endswith("-")
    assert told_difference(high, high, paired=False).endswith("(30, 30) =")
    assert told_difference({0: 1.0}, low) == "1, 30 runs"


def test_noisy_results_are_not_taken_for_those_without_noise(findings):
    quiet = {"function": "hartmann6", "kind": "planted", "d": 100, "n": 100}
    noisy = {**quiet, "sd": 0.1}
    assert findings.fits(quiet, {"function": "hartmann6", "n": 150})
    assert not findings.fits(noisy, quiet)
    assert not findings.fits(quiet, noisy)
    assert findings.fits(noisy, noisy)
