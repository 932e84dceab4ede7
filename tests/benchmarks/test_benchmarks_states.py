"""The judge that compares engines from the same states of runs."""

import numpy as np
import pytest

from benchmarks.engine import measure_cell
from benchmarks.experiments import EXPERIMENTS
from benchmarks.experiments._states import (
    LENGTH,
    SIZES,
    state,
)

pytestmark = pytest.mark.bench

STATES = EXPERIMENTS["states"]
VARIANT = "silbo:search=climb"


class Centre:
    """An engine that proposes the middle of the box."""

    def __init__(self, bounds, random_state):
        self.middle = bounds.mean(axis=1)

    def ask(self):
        return self.middle

    def tell(self, x, y):
        pass


def result(function, n, method, gain):
    problem = {"function": function, "kind": "native", "d": 10, "inputs": 10, "n": n}
    measured = {"gain": gain, "gain ahead": gain, "standing": 0.0}
    return {"problem": problem, "method": method, "repeat": 1, "status": "ok", **measured}


def test_a_state_is_a_part_of_a_kept_run():
    pytest.importorskip("cocoex")
    problem = {"suite": "bbob", "function": 1, "kind": "rotated", "d": 100, "inputs": 5}
    function, X, y = state({**problem, "n": SIZES[0]}, 1)
    _, longer, values = state({**problem, "n": LENGTH}, 1)
    assert X.shape == (SIZES[0], 100)
    assert np.array_equal(longer[: SIZES[0]], X)
    assert y.tolist() == [float(function(x)) for x in X]
    assert values[SIZES[0] :].min() < y.min()  # the search found more


def test_engines_propose_from_the_same_state():
    pytest.importorskip("cocoex")
    own = f"{__name__}:Centre"
    configured = STATES.configure(STATES, (VARIANT, own))
    [*cells] = configured.cells("tiny")
    assert [cell.method for cell in cells] == ["silbo", VARIANT, own]
    default, _, centre = [measure_cell(configured, cell) for cell in cells]
    assert default["status"] == "ok", default
    assert 0 <= default["gain"] <= default["gain ahead"]
    function, _, y = state(cells[0].problem, 1)
    unit = np.sqrt(np.mean((y[y <= np.median(y)] - np.median(y)) ** 2))
    gain = max(y.min() - function(function.bounds.mean(axis=1)), 0.0) / unit
    assert centre["gain"] == centre["gain ahead"] == pytest.approx(gain, rel=1e-5)


def test_unknown_engines_are_refused():
    with pytest.raises(ValueError, match="variant must name a module"):
        STATES.configure(STATES, ("silbo:nothing",))


def test_differences_are_of_the_same_states_and_errors_of_runs():
    results = [result(f, n, "silbo", 1.0) for f in (1, 3) for n in (25, 40)]
    results += [result(1, n, VARIANT, 2.0) for n in (25, 40)]
    results += [result(3, 25, VARIANT, 1.5), result(3, 60, VARIANT, 9.0)]
    table = STATES.report(results)[0]
    default, variant = (dict(zip(table.header, row, strict=True)) for row in table.rows)
    assert (default["states"], default["all"]) == ("4", "1.000 (0.000)")
    assert (variant["states"], variant["all"]) == ("3", "0.750 (0.250)")
    assert (variant["40 values"], variant["hidden"]) == ("1.000", "--")
    assert variant["better, worse"] == "3, 0"
