"""The experiment about the cost of a proposal."""

import json

import pytest
from measured import measured

from benchmarks.engine import measure_cell
from benchmarks.experiments import EXPERIMENTS

pytestmark = pytest.mark.bench

OVERHEAD = EXPERIMENTS["overhead"]


def result(n, d, repeat, seconds, peak=200.0):
    memory = {"n_initial": 0, "peak_mib": peak}
    return measured("overhead", {"n": n, "d": d}, "silbo", repeat, seconds=seconds, **memory)


@pytest.mark.parametrize("method", ["silbo", "random"])
def test_every_proposal_is_timed(method):
    cell = next(c for c in OVERHEAD.cells("tiny") if c.method == method)
    outcome = measure_cell(OVERHEAD, cell)
    assert outcome["status"] == "ok", outcome
    assert len(outcome["seconds"]) == cell.problem["n"]
    assert min(outcome["seconds"]) >= 0
    assert outcome["peak_mib"] > outcome["imported_mib"] / 2
    json.dumps(outcome)


@pytest.mark.parametrize(("cost", "peak", "holds"), [(0.1, 499, True), (1.1, 501, False)])
def test_aims(cost, peak, holds):
    results = [
        result(100, 5, 0, [0.3 * cost] * 100),
        result(100, 1000, 0, [cost] * 99 + [3 * cost]),
        result(250, 1000, 0, [9.0] * 250, peak=peak),
        result(1000, 100, 0, [9.0] * 800 + [cost] * 200),
        result(100, 30, 0, [9.0] * 100),
    ]
    found = {aim: held for aim, _, held in OVERHEAD.aims(results)}
    assert list(found) == [
        "100 x 5: median at most 0.03 s a proposal",
        "100 x 1000: median at most 0.5 s a proposal",
        "100 x 1000: slowest proposal at most 3.0 s",
        "1000 x 100: last fifth at most 1.0 s a proposal",
        "250 x 1000: process under 500 MiB",
    ]
    assert set(found.values()) == {holds}
    assert OVERHEAD.aims(results[-1:]) == []
