"""What readouts and pictures ask of a space: domains, evenly spread points, other values."""

import numpy as np
import pytest
from scipy.stats import expon, lognorm, loguniform, norm, randint, uniform

from skbo_silbo.space import Box, ParameterDomain, Space, SpaceUnion, parameter_domains

pytestmark = pytest.mark.quick


@pytest.mark.parametrize(
    ("values", "logarithmic"),
    [
        (loguniform(1e-3, 1e3), True),
        (loguniform(0.01, 0.5), True),
        (lognorm(1.0), True),
        ([1, 10, 100, 1000], True),
        ([8, 4, 2, 1], True),
        (uniform(0.001, 1), False),
        (norm(5, 1), False),
        (expon(), False),
        (randint(1, 1000), False),
        ([1, 2, 3], False),
        ([8, 32], False),
        ([-1, 1, 100], False),
    ],
)
def test_what_is_even_in_logarithms(values, logarithmic):
    domain = parameter_domains(Space({"p": values}))["p"]
    assert domain.is_numeric
    assert domain.is_logarithmic == logarithmic
    assert domain.low < domain.high


def test_domains_of_a_space_and_a_box():
    domains = parameter_domains(Space({"k": ["b", "a"], "n": randint(2, 9), "c": [3.5]}))
    assert domains["k"].values == ["b", "a"]
    assert not domains["k"].is_numeric
    assert domains["n"].values == list(range(2, 9))
    assert (domains["c"].low, domains["c"].high) == (3.5, 3.5)
    domains = parameter_domains(Box([(0, 10), (3, 3)]))
    assert list(domains) == ["x0", "x1"]
    assert domains["x0"].grid(3) == [0.0, 5.0, 10.0]


def test_places_go_from_end_to_end():
    domain = parameter_domains(Space({"n": randint(1, 1001)}))["n"]
    places = domain.grid(5)
    assert (places[0], places[-1], len(places)) == (1, 1000, 5)
    assert all(isinstance(place, int) for place in places)
    huge = parameter_domains(Space({"n": randint(1, 10**9)}))["n"]
    assert huge.values is None
    assert all(isinstance(place, int) for place in huge.grid(4))


def test_words_of_values_that_are_written_alike():
    assert ParameterDomain.from_values([1, "1", "x"]).labels == ["1", "'1'", "x"]
    lists = ParameterDomain([np.zeros(2), np.zeros(2)])
    assert lists.labels == ["array([0., 0.])", "array([0., 0.]) (2)"]
    assert Space({"k": [1, "1"]}).feature_names_ == ["k='1'"]
    assert SpaceUnion([{"k": [1]}, {"k": ["1"]}]).feature_names_ == ["k='1'"]


def test_one_uniform_number_a_parameter_spreads_points_evenly():
    space = Space({"k": ["a", "b", "c"], "c": [1], "u": uniform(), "n": [1, 2]})
    assert space.coordinates() == [[0, 1, 2], [3], [4]]
    grid = (np.arange(6) + 0.5) / 6
    points = space.decode(space.spread(np.column_stack([grid, grid, grid])))
    assert [point["k"] for point in points] == list("aabbcc")
    assert [point["n"] for point in points] == [1, 1, 1, 2, 2, 2]
    np.testing.assert_allclose([point["u"] for point in points], grid, atol=1e-8)
    assert space.spread(np.ones((1, 3))).tolist() == [[-1, -1, 1, 1, 1]]
    np.testing.assert_array_equal(Box([(0, 4)] * 2).spread(np.array([[0.25, 1.0]])), [[-0.5, 1.0]])


def test_another_value_in_the_same_points():
    space = Space({"C": loguniform(1e-3, 1e3), "k": ["a", "b", "c"]})
    X = space.spread(np.random.default_rng(0).random((4, 2)))
    moved = space.decode(space.with_value(X, "k", "b"))
    assert [point["k"] for point in moved] == ["b"] * 4
    assert [point["C"] for point in moved] == [point["C"] for point in space.decode(X)]
    with pytest.raises(ValueError, match="must be one of"):
        space.with_value(X, "k", "z")
    box = Box([(0, 10), (3, 3), (2, 4)])
    assert box.decode(box.with_value(np.zeros((1, 2)), "x2", 2.5)).tolist() == [[5.0, 3.0, 2.5]]


def test_other_value_is_set_in_possible_branches():
    space = SpaceUnion(
        [{"kind": ["x"], "C": uniform()}, {"kind": ["y"], "C": uniform(1, 1)}, {"kind": ["z"]}]
    )
    assert space.coordinates() == [[0, 1, 2], [3], [4]]
    grid = (np.arange(6) + 0.5) / 6
    X = space.spread(np.column_stack([grid] * 3))
    assert [p["kind"] for p in space.decode(X)] == list("xxyyzz")
    moved = space.decode(space.with_value(X, "C", 0.25))
    assert [(p["kind"], round(p["C"], 6)) for p in moved] == [("x", 0.25)] * 2
    assert len(space.with_value(X, "C", 1.0)) == 4  # both have it
    chosen = space.decode(space.with_value(X, "kind", "y"))
    assert [p["kind"] for p in chosen] == ["y"] * 6
    np.testing.assert_allclose([p["C"] for p in chosen], 1 + grid, atol=1e-8)
    domain = parameter_domains(space)["C"]
    assert (round(domain.low, 6), round(domain.high, 6)) == (0.0, 2.0)
    assert parameter_domains(space)["kind"].values == ["x", "y", "z"]
