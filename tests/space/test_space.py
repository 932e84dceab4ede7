"""The search spaces: what is decoded, that round trips are exact, and every refusal."""

import math
import tracemalloc
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from numpy.testing import assert_array_equal
from scipy import stats
from scipy.optimize import Bounds
from sklearn.base import clone
from sklearn.model_selection import ParameterSampler
from sklearn.svm import SVC

from skbo_silbo.space import Box, Space
from skbo_silbo.space.any_space import as_space
from skbo_silbo.space.values import Positions, alike, is_number, same

pytestmark = pytest.mark.quick

LISTS = st.one_of(
    st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=6, unique=True),
    st.lists(st.integers(-50, 50), min_size=1, max_size=6).map(sorted),
    st.sets(st.integers(-50, 50), min_size=2, max_size=6).map(lambda s: [*sorted(s), None]),
    st.lists(st.sampled_from(["a", "b", None, 1, 1.0, True, (1,), (1, 2), math.nan]), min_size=1),
)
DISTRIBUTIONS = st.one_of(
    st.tuples(st.floats(-1e3, 1e3), st.floats(1e-3, 1e3)).map(lambda p: stats.uniform(*p)),
    st.tuples(st.floats(1e-8, 1), st.floats(2, 1e8)).map(lambda p: stats.loguniform(*p)),
    st.tuples(st.floats(-1e3, 1e3), st.floats(1e-3, 1e3)).map(lambda p: stats.norm(*p)),
    st.tuples(st.floats(0.3, 5), st.floats(0.3, 5)).map(lambda p: stats.beta(*p)),
    st.tuples(st.integers(-9, 9), st.integers(1, 10**12)).map(
        lambda p: stats.randint(p[0], p[0] + p[1])
    ),
    st.floats(0.1, 500).map(stats.poisson),
    st.tuples(st.integers(1, 200), st.floats(0.01, 0.99)).map(lambda p: stats.binom(*p)),
)
NAMES = st.sampled_from([*"abcde", "max_depth"])
SPACES = st.dictionaries(NAMES, st.one_of(LISTS, DISTRIBUTIONS), min_size=1).map(Space)


class OnlyRvs:
    """A distribution of one's own, as scikit-learn accepts it."""

    def __init__(self, draw):
        self.draw = draw

    def rvs(self, random_state=None):
        return self.draw(random_state)


def cube(n_features, n=20, seed=0):
    """Uniform points of the cube, and its corners."""
    X = np.random.RandomState(seed).uniform(-1, 1, (n, n_features))
    return np.vstack([X, np.ones(n_features), -np.ones(n_features), np.zeros(n_features)])


def same_points(a, b):
    return all(
        x.keys() == y.keys()
        and all(type(x[k]) is type(y[k]) and (x[k] is y[k] or x[k] == y[k]) for k in x)
        for x, y in zip(a, b, strict=True)
    )


@settings(max_examples=25)
@given(SPACES, st.integers(0, 2**31))
def test_space_round_trips_are_exact(space, seed):
    raw = cube(space.n_features_, seed=seed)
    points = space.decode(raw)
    X = space.encode(points)
    np.testing.assert_array_equal(space.round(raw), X)
    assert X.shape == (23, space.n_features_)
    assert X.dtype == np.float64
    assert np.abs(X).max(initial=0) <= 1
    again = space.decode(X)
    assert same_points(points, again)
    np.testing.assert_array_equal(space.encode(again), X)


@settings(max_examples=25)
@given(
    st.lists(
        st.tuples(st.floats(-1e9, 1e9), st.floats(0, 1e9)).map(lambda p: (p[0], p[0] + p[1])),
        min_size=1,
        max_size=5,
    ),
    st.integers(0, 2**31),
)
def test_box_round_trips_are_exact(bounds, seed):
    box = Box(bounds)
    points = box.decode(cube(box.n_features_, seed=seed))
    lower, upper = np.transpose(bounds)
    assert np.all((points >= lower) & (points <= upper))
    np.testing.assert_array_equal(points[20], upper)
    np.testing.assert_array_equal(points[21], lower)
    X = box.encode(points)
    np.testing.assert_array_equal(box.decode(X), points)
    np.testing.assert_array_equal(box.round(X), X)


@pytest.mark.parametrize(
    "distribution",
    [stats.loguniform(1e-3, 1e3), stats.norm(2, 3), stats.uniform(0, 4), stats.expon(scale=5)],
)
def test_continuous_is_linear_in_probability(distribution):
    space = Space({"p": distribution})
    x = np.linspace(-0.99, 0.99, 41)
    values = [point["p"] for point in space.decode(x[:, None])]
    np.testing.assert_allclose(distribution.cdf(values), (x + 1) / 2, atol=1e-9)
    assert {type(value) for value in values} == {float}


@pytest.mark.parametrize(
    "distribution",
    [
        stats.randint(1, 5),
        stats.binom(6, 0.3),
        stats.rv_discrete(values=([1, 2, 7], [0.2, 0.3, 0.5])),
        stats.poisson(2),
        stats.geom(0.4),
    ],
)
def test_integers_occupy_their_probability(distribution):
    space = Space({"n": distribution})
    values = [p["n"] for p in space.decode(np.linspace(-1, 1, 20001)[:, None])]
    assert all(type(v) is int for v in values)
    for value, count in Counter(values).items():
        assert count / 20001 == pytest.approx(distribution.pmf(value), abs=2e-4)
    assert len(set(values)) <= space.n_points < 100


def test_unbounded_distributions_are_searched_to_a_small_tail():
    space = Space({"a": stats.norm(), "b": stats.poisson(3)})
    assert Space({"n": stats.randint(0, 10**9)}).n_points == math.inf
    low, high = space.decode([[-1, -1], [1, 1]])
    assert high["a"] == -low["a"] == pytest.approx(stats.norm.isf(2.0**-14))
    assert (low["b"], high["b"]) == (0, 12)
    # A told value beyond that is legal and sits at the edge.
    np.testing.assert_array_equal(
        space.encode([{"a": 9.0, "b": 30}]), space.encode([{"a": high["a"], "b": 12}])
    )


def test_sorted_numbers_are_ordered_others_are_categories():
    for values in ([0.1, 1, 10], (10, 1, 0.1), np.logspace(-1, 1, 3), range(3), [1, 2.5, 9]):
        space = Space({"p": values})
        assert space.feature_names_ == ["p"]
        X = space.encode([{"p": v} for v in values])
        np.testing.assert_allclose(X[:, 0], [-2 / 3, 0, 2 / 3])
    for values in ([1, 10, 2], ["a", "b", "c"], [None, "a", 2], [1, 1.0, 2], [True, 1, 2]):
        space = Space({"p": values})
        assert space.feature_names_ == [f"p={v}" for v in values]
        np.testing.assert_array_equal(space.encode([{"p": v} for v in values]), 2 * np.eye(3) - 1)


def test_none_without_limit_comes_after_numbers():
    for listed in ([None, 2, 4, 8], [8, 4, None, 2]):
        space = Space({"tree__max_depth": listed})
        assert space.feature_names_ == ["tree__max_depth"]
        points = [{"tree__max_depth": v} for v in (2, 4, 8, None)]
        assert space.encode(points)[:, 0].tolist() == [-0.75, -0.25, 0.25, 0.75]


def test_none_elsewhere_has_its_own_column():
    space = Space({"min_frequency": [None, 0.1, 0.2]})
    assert space.feature_names_ == ["min_frequency=None", "min_frequency"]
    points = [{"min_frequency": v} for v in (0.1, 0.2, None)]
    assert space.encode(points).tolist() == [[-1.0, -0.5], [-1.0, 0.5], [1.0, 0.0]]
    X = np.random.default_rng(0).uniform(-1.0, 1.0, (3000, 2))
    counts = Counter(point["min_frequency"] for point in space.decode(X))
    assert all(abs(counts[v] / 3000 - 1 / 3) < 0.04 for v in (0.1, 0.2, None))


def test_unsorted_numbers_with_none_are_categories():
    assert Space({"max_depth": [8, None, 2, 4]}).n_features_ == 4


def test_categories_of_any_type_are_given_back_themselves():
    svc, other, array = SVC(C=2), SVC(C=2), np.array([1.0, 2.0])
    values = [svc, other, "passthrough", None, (5, 5), (5,), 1, 1.0, True, array, math.nan]
    space = Space({"step": values})
    assert space.n_features_ == space.n_points == len(values)
    back = space.decode(space.encode([{"step": v} for v in values]))
    assert all(p["step"] is v for p, v in zip(back, values, strict=True))
    [p] = space.decode(space.encode([{"step": np.array([1.0, 2.0])}]))
    assert p["step"] is array
    with pytest.raises(ValueError, match="'step' must be one of"):
        space.encode([{"step": SVC(C=3)}])
    [p] = space.decode(space.encode([{"step": clone(svc)}]))
    assert p["step"] is svc


def test_repeated_categories_count_once():
    space = Space({"k": ["rbf", "poly", "rbf"], "b": [True, False], "c": [1, 1, 2]})
    assert space.feature_names_ == ["k=poly", "b=False", "c"]
    assert space.n_points == 8


def test_constants_have_no_column():
    space = Space({"a": [7], "b": stats.uniform(), "c": stats.randint(3, 4), "d": [None]})
    assert space.n_features_ == 1
    [p] = space.decode([[0.0]])
    assert p == {"a": 7, "b": 0.5, "c": 3, "d": None}
    assert Space({"a": ["x"]}).n_points == 1
    assert Space({"a": ["x"]}).decode(np.empty((2, 0))) == [{"a": "x"}, {"a": "x"}]
    assert Box([(2, 2)]).n_points == 1
    np.testing.assert_array_equal(Box([(2, 2)]).decode(np.empty((1, 0))), [[2.0]])


def test_object_with_rvs_is_sampled():
    numbers = Space({"p": OnlyRvs(lambda rng: 10 ** rng.uniform(-3, 3))})
    values = [p["p"] for p in numbers.decode(np.linspace(-0.9, 0.9, 7)[:, None])]
    np.testing.assert_allclose(np.log10(values), np.linspace(-2.7, 2.7, 7), atol=0.2)
    integers = Space({"p": OnlyRvs(lambda rng: int(rng.randint(3)))})
    assert integers.n_points == 3
    assert {type(p["p"]) for p in integers.decode(cube(1))} == {int}
    layers = Space({"p": OnlyRvs(lambda rng: (8,) * rng.randint(1, 4))})
    assert {p["p"] for p in layers.decode(cube(3))} == {(8,), (8, 8), (8, 8, 8)}
    assert layers.n_points == 3


def test_as_space_reads_all_forms():
    assert as_space([(2, 2), (0, 1)]).feature_names_ == ["x1"]
    box = as_space(Bounds([0, 0], 1.0))
    np.testing.assert_array_equal(box.decode([[1, -1]]), [[1, 0]])
    assert as_space(box) is box
    assert not box.is_dict
    space = as_space({"a": [1, 2]})
    assert as_space(space) is space
    assert space.is_dict


@pytest.mark.parametrize(
    ("bounds", "message"),
    [
        (np.empty((0, 2)), r"shape \(d, 2\).*got shape \(0, 2\)"),
        (np.zeros((2, 5)), r"got shape \(2, 5\)"),
        ([(0, 1), (1, 0)], r"bounds.*1.*got \[1.0, 0.0\]"),
        ([(0, np.inf)], r"\b0\b.*got \[0.0, inf\]"),
        ([(-1e308, 1e308)], "finite range"),
        ([(0, "a")], r"numbers.*shape"),
        ([(b"0", 1)], "`bounds` must"),
        ([(0, 1), (0,)], r"numbers.*shape"),
        (None, "`bounds` must"),
        (Bounds(-np.inf, [1, 2]), "must be finite"),
        (
            [[-1, -1], [1, 1]],
            r"one input free.* got \[\[-1, -1\], \[1, 1\]\]. Pass one \(low, high\)",
        ),
        (Bounds([1, 2], [1, 2]), "one input free"),
    ],
)
def test_bad_bounds_are_refused(bounds, message):
    with pytest.raises(ValueError, match=message):
        as_space(bounds)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({}, "must be a non-empty dict.* got {}. Name at least one parameter"),
        ([{"a": [1, 2]}], r"dict.*SpaceUnion"),
        ({"a": {"b": [1, 2]}}, "conditional.*list"),
        ({1: [1, 2]}, r"dict of names"),
        ({"a": []}, r"'a'.*got \[\].*List"),
        ({"a": 3}, r"'a'.*list.*got 3"),
        ({"a": "rbf"}, r"'a'.*\['rbf'\]"),
        ({"a": {1, 2}}, r"'a'.*list\(...\)"),
        ({"a": stats.loguniform}, r"'a'.*frozen"),
        ({"a": stats.uniform(0, scale=-1)}, r"finite.* got uniform\(0, scale=-1\)"),
        ({"a": stats.uniform([0, 1], 1)}, r"distribution with finite"),
        ({"a": stats.dirichlet([1, 2])}, r"'a'.*draws single values, got array"),
        ({"a": OnlyRvs(lambda rng: [rng.uniform()])}, r"'a'.*draws single values, got \["),
        ({"a": np.ma.array([1, 2], mask=[0, 1])}, r"(?s)'a'.*masked values.*compressed"),
        ({"a": [1, np.ma.masked]}, r"'a'.*masked values, got \[1, masked\]"),
        ({"a": range(10**30)}, r"'a'.*at most 65536 values.*randint"),
    ],
)
def test_bad_parameters_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        Space(parameters)


@pytest.mark.parametrize(
    ("point", "message"),
    [
        ({"a": 1.0}, r"point 0.*\['b', 'c', 'n'\]"),
        ({"a": 0.5, "b": "x", "c": 1, "n": 1, "z": 0}, r"\['z'\] are missing or unknown"),
        ({"a": np.nan, "b": "x", "c": 1, "n": 1}, r"'a'.*got nan"),
        ({"a": "1", "b": "x", "c": 1, "n": 1}, r"'a'.*number.*got '1'"),
        ({"a": 0.5, "b": "y", "c": 1, "n": 1}, r"'b'.*None.*got 'y'"),
        ({"a": 0.5, "b": "x", "c": 3, "n": 1}, r"'c'.*got 3"),
        ({"a": 0.5, "b": "x", "c": 1, "n": 5}, r"'n'.*got 5"),
        ({"a": 0.5, "b": "x", "c": 1, "n": 1.5}, r"'n'.*got 1.5"),
    ],
)
def test_points_outside_are_refused(point, message):
    space = Space(
        {"a": stats.uniform(), "b": ["x", None, "z"], "c": [1, 2, 4], "n": stats.randint(1, 5)}
    )
    with pytest.raises(ValueError, match=message):
        space.encode([point])


def test_wrong_shapes_are_refused():
    space, box = Space({"a": stats.uniform()}), Box([(0, 1), (0, 1)])
    with pytest.raises(ValueError, match=r"\[point\].*point"):
        space.encode({"a": 0.5})
    for points in ([0.5, 0.5], [[0.5]], [[0.1, 0.2, 0.3]]):
        with pytest.raises(ValueError, match=r"points.*\(n, 2\)"):
            box.encode(points)
    with pytest.raises(ValueError, match=r"bounds \[0.0, 1.0\] of input 1, got 1.5 in row 1"):
        box.encode([[0, 0], [0, 1.5]])
    with pytest.raises(ValueError, match=r"0.*got nan"):
        box.encode([[np.nan, 0]])
    for decode, X in ((space.decode, [[0, 0]]), (box.decode, [0, 0])):
        with pytest.raises(ValueError, match="X must have shape"):
            decode(X)
    with pytest.raises(ValueError, match=r"values in \[-1, 1\]"):
        box.decode([[0, 1.1]])
    with pytest.raises(ValueError, match=r"values in \[-1, 1\]"):
        space.decode([[np.nan]])


# --- many categories ------------------------------------------------------------------------------


class Compared:
    """A value that counts how often it is compared with another."""

    n_compared = 0

    def __init__(self, number):
        self.number = number

    def __eq__(self, other):
        Compared.n_compared += 1
        return self.number == other.number

    def __hash__(self):
        return hash(self.number)

    def __repr__(self):
        return "Compared"  # all alike, so that columns are numbered


def pair_of(number):
    return (Compared(number), "x")


def day(number):
    return np.datetime64(number, "D")


N_MANY = 2000


@pytest.mark.slow
@pytest.mark.parametrize("make", [Compared, pair_of, str, day])
def test_category_lookup_is_linear(make):
    values = [make(number) for number in range(N_MANY)]
    points = [{"p": make(number)} for number in range(N_MANY)]
    Compared.n_compared = 0
    tracemalloc.start()
    space = Space({"p": [*values, values[0]]})
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert held < 10_000 * N_MANY  # a table of them all: 24,000 a value
    X = space.encode(points)
    assert_array_equal(X, 2.0 * np.eye(N_MANY) - 1.0)
    assert all(space.holds(point) for point in points)
    assert Compared.n_compared < 20 * N_MANY
    assert space.decode(X[-2:]) == points[-2:]
    assert len(set(space.feature_names_)) == N_MANY


VALUES = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-2, 2),
        st.sampled_from([0.0, -0.0, 1.0, 2.5, math.nan, math.inf, np.float32(1), np.int64(2)]),
        st.sampled_from(["1", b"1", "", np.str_("1"), {"a": 1}, {"a": 1.0}, 1j, 1 + 0j]),
        st.builds(np.array, st.lists(st.integers(0, 1), max_size=2)),
    ),
    lambda inner: st.one_of(st.tuples(inner, inner), st.lists(inner, max_size=2)),
    max_leaves=4,
)


@settings(max_examples=40)
@given(st.lists(VALUES, max_size=12), VALUES)
def test_value_lookup_matches_comparison(values, other):
    kept = []
    for value in values:
        if not any(same(value, one) for one in kept):
            kept.append(value)
    places = Positions(values)
    assert all(a is b for a, b in zip(places.values, kept, strict=True))
    for value in [*values, other]:
        found = [i for i, one in enumerate(kept) if same(value, one)]
        if is_number(value):
            found += [i for i, one in enumerate(kept) if is_number(one) and one == value]
        assert places.find(value) == (found[0] if found else None)
        assert places.holds(value) == any(alike(value, one) for one in kept)


def test_repr_says_what_every_parameter_may_be():
    shown = repr(
        Space({
            "C": stats.loguniform(1e-3, 1e3),
            "n": stats.randint(0, 10**9),
            "depth": [2, 4, 8],
            "leaf": range(1, 100),
            "weight": [None],
        })
    )  # fmt: skip
    assert shown == (
        "Space(C: 0.001 to 1000 (loguniform); n: 0 to 1e+09 (randint); depth: 2, 4, 8; "
        "leaf: 1, 2, 3, ..., 99; weight: None)"
    )


@pytest.mark.parametrize("distribution", [stats.zipf(1.5), stats.yulesimon(alpha=0.5)])
def test_discrete_distribution_with_infinite_mean_is_rejected(distribution):
    with pytest.raises(ValueError, match=r"'a'.*an infinite mean, got .*randint"):
        Space({"a": distribution})


@pytest.mark.parametrize(
    "distribution",
    [stats.uniform(0, 4), stats.loguniform(1e-5, 10), stats.beta(0.5, 0.5), stats.truncnorm(-2, 2)],
)
def test_bounds_of_an_interval_are_points(distribution):
    space, bounds = Space({"a": distribution}), distribution.support()
    decoded = [point["a"] for point in space.decode([[-1.0], [1.0]])]
    assert decoded == list(bounds)
    assert space.decode(space.encode([{"a": b} for b in bounds])) == [{"a": b} for b in bounds]


@pytest.mark.parametrize("distribution", [stats.expon(), stats.beta(50, 50)])
def test_bounds_that_draws_never_reach_are_excluded(distribution):
    [point] = Space({"a": distribution}).decode([[-1.0]])
    assert point["a"] > 0.0


def test_numbers_of_arrays_are_plain():
    [low, high] = Space({"a": np.logspace(-3, 3, 7)}).decode([[-1.0], [1.0]])
    assert (type(low["a"]), high["a"]) == (float, 1000.0)


DTYPES = ["bool", "int8", "uint16", "int64", "float16", "float32", "float64", "longdouble", "U3"]


@given(
    st.sampled_from(DTYPES).flatmap(
        lambda dtype: arrays(
            dtype,
            array_shapes(max_dims=3, max_side=4),
            elements={"allow_nan": False} if "float" in dtype or "long" in dtype else None,
        )
    ),
    st.integers(0, 99),
)
def test_values_of_arrays_are_those_of_parameter_sampler(values, seed):
    def content(value):
        return np.asarray(value).dtype, np.shape(value), tuple(np.ravel(value))

    own = {content(value) for value in Space({"a": values}).parameters[0].values}
    drawn = ParameterSampler({"a": values, "b": stats.uniform()}, 9, random_state=seed)
    assert {content(params["a"]) for params in drawn} <= own
