"""Experiment on the cost of a proposal."""

import json

import pytest

from benchmarks.engine import measure_cell
from benchmarks.experiments import EXPERIMENTS

pytestmark = pytest.mark.bench

OVERHEAD = EXPERIMENTS["overhead"]


@pytest.mark.parametrize("method", ["silbo", "random"])
def test_every_proposal_is_timed(method):
    cell = next(c for c in OVERHEAD.cells("tiny") if c.method == method)
    outcome = measure_cell(OVERHEAD, cell)
    assert outcome["status"] == "ok", outcome
    assert len(outcome["seconds"]) == cell.problem["n"]
    assert min(outcome["seconds"]) >= 0
    assert outcome["peak_mib"] > outcome["imported_mib"] / 2
    json.dumps(outcome)
