"""The page of findings says what the results hold, and notices when it does not."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

SCRIPT = Path(__file__).parent.parent / "doc" / "benchmarks" / "write_findings.py"


@pytest.fixture
def findings():
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


def test_a_claim_needs_runs_and_two_standard_errors(findings):
    rng = np.random.default_rng(0)
    low, high = rng.normal(0.0, 1.0, 30), rng.normal(3.0, 1.0, 30)
    assert findings.verdict_of([(high, low)]) == "stands"
    assert findings.verdict_of([(low, high)]) == "falls"
    assert findings.verdict_of([(high, low), (low, high)]) == "stands on some, falls on others"
    assert findings.verdict_of([(high, high)]) == "undecided"
    assert findings.verdict_of([(high, high)], wants_level=True) == "not refuted"
    assert findings.verdict_of([(high[:2], low)]) == "not decided: too few runs"
    assert findings.told_difference(high, low).endswith("+")
    assert findings.told_difference(low, high).endswith("-")
    assert findings.told_difference(high, high).endswith("=")
