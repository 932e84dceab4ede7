"""Conditional spaces: round trips, shared columns, overlaps, counts, and searching them."""

import itertools
import json
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.datasets import load_iris
from sklearn.model_selection import RandomizedSearchCV
from sklearn.svm import SVC

from skbo_silbo import SILBO, SILBOSearchCV
from skbo_silbo.space import Space, SpaceUnion

C = stats.loguniform(1e-3, 1e3)
KERNELS = [
    {"kernel": ["linear"], "C": C},
    {"kernel": ["poly"], "C": C, "degree": [2, 3, 4], "gamma": stats.loguniform(1e-3, 1)},
    {"kernel": ["rbf"], "C": stats.loguniform(1, 10), "gamma": stats.loguniform(1e-3, 1)},
]
VALUES = st.sampled_from(
    [
        [1, 2, 3],
        [2, 3],
        [1.0, 2.0],
        np.array([1.0, 5.0]),
        ["a", "b", "c"],
        ["b", None],
        [7],
        stats.randint(1, 4),
        stats.uniform(0, 2),
        stats.uniform(1, 5),
        stats.randint(0, 10**9),
        [True, 1, "a"],
        [(1,), (1, 2)],
    ]
)
BRANCHES = st.lists(
    st.dictionaries(st.sampled_from("ab"), VALUES, min_size=1), min_size=2, max_size=4
)
FINITE = VALUES.filter(lambda v: isinstance(v, (list, np.ndarray)))
FINITE_BRANCHES = st.lists(
    st.dictionaries(st.sampled_from("ab"), FINITE, min_size=1), min_size=2, max_size=5
)


def cube(n_features, n=30, seed=0):
    return np.random.RandomState(seed).uniform(-1, 1, (n, n_features))


def key(point):
    """Tell settings apart: by name, and by kind and value."""
    return tuple(sorted((k, _kind(v), repr(_plain(v))) for k, v in point.items()))


def _plain(value):
    return value.item() if isinstance(value, np.generic) else value


def _kind(value):
    return type(_plain(value)).__name__


@settings(max_examples=25)
@given(BRANCHES, st.integers(0, 2**31))
def test_round_trips_are_exact(branches, seed):
    space = SpaceUnion(branches)
    raw = cube(space.n_features_, seed=seed)
    points, X = space.decode(raw), space.round(raw)
    np.testing.assert_array_equal(space.encode(points), X)
    np.testing.assert_array_equal(space.round(X), X)
    assert list(map(key, space.decode(X))) == list(map(key, points))
    assert np.abs(X).max() <= 1
    for point in points:
        assert any(branch.holds(point) for branch in space.branches)


@settings(max_examples=25)
@given(FINITE_BRANCHES)
def test_points_of_finite_unions_are_counted_once(branches):
    space = SpaceUnion(branches)
    all_points = [
        dict(zip(branch, values, strict=True))
        for branch in branches
        for values in itertools.product(*branch.values())
    ]
    assert space.n_points == len(set(map(key, all_points)))
    X = space.encode(all_points)
    assert len(np.unique(X, axis=0)) == space.n_points  # one place for every setting


@settings(max_examples=8)
@given(FINITE_BRANCHES)
def test_finite_union_is_exhausted_without_repeats(branches):
    optimizer = SILBO(SpaceUnion(branches), n_initial=1000, random_state=0)
    points = optimizer.ask(optimizer.space_.n_points)
    assert len(set(map(key, points))) == len(points)


def test_equal_parameters_share_columns():
    space = SpaceUnion(KERNELS)
    assert space.feature_names_ == [
        *("kernel=linear", "kernel=poly", "kernel=rbf", "C", "degree", "gamma", "C (branch 2)")
    ]
    linear, poly, rbf = space.encode(
        [
            {"kernel": "linear", "C": 1.0},
            {"kernel": "poly", "C": 1.0, "degree": 3, "gamma": 1.0},
            {"kernel": "rbf", "C": 1.0, "gamma": 1.0},
        ]
    )
    edge = 1 - 2.0**-29
    np.testing.assert_allclose(linear, [1, -1, -1, 0, 0, 0, 0])
    np.testing.assert_allclose(poly, [-1, 1, -1, 0, 0, edge, 0])
    np.testing.assert_allclose(rbf, [-1, -1, 1, 0, 0, edge, -edge])


def test_column_groups_gather_the_columns_of_a_parameter():
    groups = SpaceUnion(KERNELS).column_groups()
    assert groups == {"kernel": [0, 1, 2], "C": [3, 6], "degree": [4], "gamma": [5]}
    space = Space({"a": ["x", "y", "z"], "b": [1], "c": [True, False], "d": C})
    assert space.column_groups() == {"a": [0, 1, 2], "b": [], "c": [3], "d": [4]}


@pytest.mark.parametrize(
    ("branches", "name", "columns"),
    [
        ([{"a": ["x"], "b": C}, {"a": ["y"], "b": C}], "a", ["a=y"]),
        ([{"b": C, "a": [1]}, {"a": [True], "b": C}, {"b": C, "a": [2]}], "a", 3),
        ([{"a": [None], "c": [1]}, {"a": [()], "c": [2]}], "a", ["a=()"]),
        ([{"a": ["x"], "c": [1]}, {"a": ["x"], "c": [2]}], "c", ["c=2"]),
        ([{"a": ["x", "z"], "b": C}, {"a": ["y"], "b": C}], "branch", ["branch=1"]),
        ([{"a": ["x"]}, {"b": ["y"]}], "branch", ["branch=1"]),
        ([{"a": [1]}, {"a": [2]}, {"a": [1], "b": [3]}], "branch", 3),
        ([{"a": [1]}, {"branch": [1, 2]}], "branch (2)", ["branch (2)=1"]),
    ],
)
def test_the_choice_is_called_as_the_user_does(branches, name, columns):
    space = SpaceUnion(branches)
    assert space.choice_name == name
    n = columns if isinstance(columns, int) else len(columns)
    assert all(column.startswith(f"{name}=") for column in space.feature_names_[:n])
    if not isinstance(columns, int):
        assert space.feature_names_[:n] == columns
    assert next(iter(space.column_groups().items())) == (name, list(range(n)))


@pytest.mark.usefixtures("few_draws")
def test_no_two_columns_have_one_name():
    """What is told of columns is told by name: a frame's columns, the keys of a dict."""
    assert Space({"a": ["1", 1, 1.5]}).feature_names_ == ["a='1'", "a=1", "a=1.5"]
    one = {"a": ["b=c", "d", "e"], "a=b": ["c", "f", "g"], "a=d": C}
    assert Space(one).feature_names_[3:] == ["a=b=c (2)", "a=b=f", "a=b=g", "a=d (2)"]
    assert Space({"a": [SVC(), SVC(), "c"]}).feature_names_ == ["a=SVC()", "a=SVC() (2)", "a='c'"]
    branches = [one, {"branch": ["x", "y", "z"], "b": C}, {"branch": [1.0, 2.0], "b (branch 3)": C}]
    union = SpaceUnion([*branches, {"b": stats.uniform(), "branch (2)": ["c", "d"]}])
    assert len(set(union.feature_names_)) == union.n_features_
    assert union.choice_name == "branch (3)"
    taken = [set(columns) for columns in union.column_groups().values()]
    assert sum(map(len, taken)) == union.n_features_ == len(set.union(*taken))
    optimizer = SILBO(union, n_initial=5, random_state=0)
    for value in range(12):
        optimizer.tell(optimizer.ask(), float(value))
    assert list(optimizer.subspace_.feature_names) == union.feature_names_


def test_every_branch_has_an_equal_share():
    for k in (2, 3, 5):
        space = SpaceUnion([{"n": [i], "x": stats.uniform()} for i in range(k)])
        drawn = [p["n"] for p in space.decode(cube(space.n_features_, 6000))]
        np.testing.assert_allclose(np.bincount(drawn) / 6000, 1 / k, atol=0.03)


def test_overlaps_belong_to_the_first_branch():
    space = SpaceUnion([{"x": stats.uniform(0, 1)}, {"x": stats.uniform(0.5, 1)}])
    X = space.encode([{"x": 0.75}, {"x": 1.25}])
    np.testing.assert_allclose(X, [[-1, 0.5, 0], [1, 0, 0.5]], atol=1e-8)
    np.testing.assert_allclose(space.round([[1, 0.3, -0.5]]), X[:1], atol=1e-8)
    assert space.decode([[1, 0.3, -0.5]])[0]["x"] == pytest.approx(0.75)


def test_integer_and_float_values_are_distinguished():
    space = SpaceUnion([{"n": [1, 2]}, {"n": [1.0, 0.5]}])
    assert space.n_points == 4
    assert [type(p["n"]) for p in space.decode(space.encode([{"n": 1}, {"n": 1.0}]))] == [
        *(int, float)
    ]
    assert space.decode(space.encode([{"n": np.float64(0.5)}, {"n": 2.0}])) == [
        *({"n": 0.5}, {"n": 2})
    ]


def test_bounds_are_read_from_lists_of_dicts():
    def as_space(bounds):
        return SILBO(bounds).space_

    assert isinstance(as_space(KERNELS), SpaceUnion)
    assert isinstance(as_space(KERNELS[:1]), Space)
    union = as_space([Space(KERNELS[0]), KERNELS[1]])
    assert as_space(union) is union
    assert repr(union) == f"SpaceUnion({Space(KERNELS[0])!r}, {Space(KERNELS[1])!r})"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: SpaceUnion([]), r"spaces.*got 0"),
        (lambda: SpaceUnion(KERNELS[:1]), r"spaces.*got 1"),
        (lambda: SILBO([KERNELS[0], 3]), r"parameters.*got 3"),
        (lambda: SpaceUnion(KERNELS).encode([{"C": 1.0}]), r"parameters.*got \['C'\]"),
        (
            lambda: SpaceUnion(KERNELS).encode([{"kernel": "tanh", "C": 1.0}]),
            "^Branch 0: .*'kernel'.*value,",
        ),
        (lambda: SpaceUnion(KERNELS).round([[2.0] * 7]), r"values in \[-1, 1\]"),
    ],
)
def test_refusals(make, message):
    with pytest.raises(ValueError, match=message):
        make()


# Searching.

X, Y = load_iris(return_X_y=True)
svc_search = partial(SILBOSearchCV, SVC(), random_state=0, cv=3, initial_params=None, n_initial=4)


def test_union_search_shares_one_budget():
    ours = svc_search(KERNELS, n_iter=9).fit(X, Y)
    theirs = RandomizedSearchCV(SVC(), KERNELS, n_iter=9, cv=3, random_state=0).fit(X, Y)
    results = ours.cv_results_
    assert len(results["params"]) == 9
    assert {p["kernel"] for p in results["params"]} == {"linear", "poly", "rbf"}
    assert set(theirs.cv_results_) == set(results) - {"iter", "source", "proposal_time", "resumed"}
    linear = np.array([p["kernel"] == "linear" for p in results["params"]])
    np.testing.assert_array_equal(np.ma.getmaskarray(results["param_gamma"]), linear)
    assert ours.best_score_ > 0.95


def test_a_journal_of_conditional_parameters(tmp_path):
    path = tmp_path / "search.jsonl"
    whole = svc_search(KERNELS, n_iter=7).fit(X, Y).cv_results_
    svc_search(KERNELS, n_iter=5, journal=path).fit(X, Y)
    resumed = svc_search(KERNELS, n_iter=7, journal=path).fit(X, Y).cv_results_
    assert resumed["params"] == whole["params"]
    events = [json.loads(line) for line in path.read_text().splitlines()]
    observed = [event["observed"] for event in events if "observed" in event]
    assert list(itertools.chain(*observed)) == whole["params"]
    changed = [KERNELS[0], {**KERNELS[1], "degree": [2, 3]}, KERNELS[2]]
    with pytest.raises(ValueError, match=r"param_distributions\.1\.degree"):
        svc_search(changed, n_iter=9, journal=path).fit(X, Y)
    with pytest.raises(ValueError, match=r"param_distributions\.2 was"):
        svc_search(KERNELS[:2], n_iter=9, journal=path).fit(X, Y)
