"""Test functions of the benchmarks: published optima, values by hand and argument checks."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from benchmarks.search.functions import (
    ackley,
    camel,
    colville,
    colville_as_run,
    levy,
    rosenbrock,
    styblinski_tang,
    three_hump_camel,
)

pytestmark = pytest.mark.bench

FAMILIES = (ackley, levy, rosenbrock, styblinski_tang)
KNOWN = [camel(), colville(), colville_as_run(), three_hump_camel()]
KNOWN += [make(d) for make in FAMILIES for d in (2, 5)]


@pytest.mark.parametrize(
    ("problem", "optimum", "optimisers", "bounds"),
    [
        (camel(), -1.0316, [(0.0898, -0.7126), (-0.0898, 0.7126)], [(-3, 3), (-2, 2)]),
        (colville(), 0.0, [(1, 1, 1, 1)], [(-10, 10)] * 4),
        (three_hump_camel(), 0.0, [(0, 0)], [(-5, 5)] * 2),
        (ackley(3), 0.0, [(0, 0, 0)], [(-32.768, 32.768)] * 3),
        (levy(3), 0.0, [(1, 1, 1)], [(-10, 10)] * 3),
        (rosenbrock(3), 0.0, [(1, 1, 1)], [(-5, 10)] * 3),
        (styblinski_tang(3), 3 * -39.16599, [(-2.903534,) * 3], [(-5, 5)] * 3),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_published_optimum_optimisers_and_box(problem, optimum, optimisers, bounds):
    # digits as printed by the Virtual Library of Simulation Experiments, the last ones truncated
    assert_allclose(problem.optimum, optimum, atol=6e-4 if "tang" in problem.name else 5e-5)
    assert_allclose(problem.optimisers, optimisers, atol=1e-4)
    assert_array_equal(problem.bounds, bounds)


@pytest.mark.parametrize(
    ("problem", "x", "value"),
    [
        (camel(), (1, 1), 4 - 2.1 + 1 / 3 + 1),
        (colville(), (1, 2, 1, 0), 100 + 90 + 20.2 - 19.8),
        (ackley(1), (0.5,), 20 + np.e - 20 * np.exp(-0.1) - np.exp(-1)),
        (ackley(2), (1, 1), 20 - 20 * np.exp(-0.2)),
        (levy(2), (5, 5), 1 + 10 * np.sin(1) ** 2 + 1),
        (rosenbrock(3), (-1, 1, 2), 4 + 100),
        (styblinski_tang(2), (1, -2), -5 + (16 - 64 - 10) / 2),
    ],
)
def test_values_by_hand(problem, x, value):
    assert_allclose(problem(x), value, rtol=1e-12)


@pytest.mark.parametrize("problem", KNOWN, ids=lambda p: f"{p.name}-{p.n_dims}")
def test_own_optimum_rows_and_pickling(problem):
    problem.check_optimum(n_points=2000, random_state=1)
    X = problem.sample(7, 3)
    together = problem.evaluate(X)
    assert_allclose([problem(x) for x in X], together, rtol=1e-13)
    assert_array_equal(pickle.loads(pickle.dumps(problem)).evaluate(X), together)


@pytest.mark.parametrize("make", FAMILIES)
@pytest.mark.parametrize("n_dims", [0, 1.5, True, "2"])
def test_wrong_number_of_inputs(make, n_dims):
    with pytest.raises(ValueError, match=r"n_dims.*integer >="):
        make(n_dims)
