"""Descriptions of values, objects, functions and data tell them apart in every process."""

import functools
import json
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from journal_files import describe, describe_data, format_differences
from journal_searches import X, Y, search
from scipy import sparse
from scipy.stats import uniform
from sklearn.base import BaseEstimator
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import Ridge
from sklearn.metrics import f1_score, make_scorer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skbo_silbo import minimize


def plain(X):
    return X


def square(X):
    return X**2


def nothing(X):
    return 0 * X


def power_of(k):
    return lambda X: X**k


class Named:
    """An instance with a name, as some libraries give theirs."""

    def __init__(self, power):
        self.__name__, self.power = "plain", power

    def __call__(self, X):
        return X**self.power


class Slotted:
    __slots__ = ("__name__", "power")

    def __init__(self, power):
        self.__name__, self.power = "plain", power


class Model(BaseEstimator):
    """Has a parameter of any kind."""

    def __init__(self, part=None):
        self.part = part

    def fit(self, X, y=None):
        return self

    def score(self, X, y=None):
        return float(self.part or 0.0)


def same_name(module):
    return type("Model", (BaseEstimator,), {"__module__": module, "__qualname__": "Model"})


# Pairs of which the second is another.
ALIKE = {
    "whole number and float": (1, 1.0),
    "number and truth": (1, True),
    "not a number and its name": (np.nan, "nan"),
    "keys": ({1: "a"}, {"1": "a"}),
    "long lists": (list(range(100)), list(range(1, 101))),
    "bytes": (b"abc", b"abd"),
    "sets": (frozenset(["a", "b", "c"]), {"names": {frozenset(["a", "b"]), frozenset("cde")}}),
    "ends of a slice": (slice(0, 1), slice(0, 4)),
    "dates": (np.datetime64("2020-01-01"), np.datetime64("2020-01-02")),
    "arrays": (np.arange(30), np.arange(30.0)),
    "masks": (np.ma.array([1.0, 2.0], mask=[0, 1]), np.ma.array([1.0, 2.0], mask=[0, 0])),
    "RandomState": (np.random.RandomState(0), np.random.RandomState(1)),
    "distribution": (uniform(0, 1), uniform(0, 2)),
    "module of a class": (same_name("package.first"), same_name("package.second")),
    "parameter": (Ridge(), Ridge(alpha=1)),
    "frozen": [FrozenEstimator(Ridge().fit(X, y)) for y in (Y, 1 - Y)],
    "scorer": (make_scorer(f1_score), make_scorer(f1_score, average="macro")),
    "instance": (Named(2), Named(0)),
    "instance with slots": (Slotted(2), Slotted(0)),
    "bound method": (Named(2).__call__, Named(0).__call__),
    "functions": (square, nothing),
    "partial": (partial(max, 1), partial(max, 2)),
    "lru_cache": (functools.lru_cache(square), functools.cache(nothing)),
}


@pytest.mark.parametrize("name", ALIKE)
def test_similar_values_have_different_descriptions(name):
    one, other = map(describe, ALIKE[name])
    assert format_differences({"x": one}, {"x": other})
    assert json.loads(json.dumps(one, allow_nan=False)) == one == describe(ALIKE[name][0])


def describe_all():
    return json.dumps([describe(value) for pair in ALIKE.values() for value in pair])


def test_descriptions_are_the_same_in_another_process(elsewhere):
    assert elsewhere(describe_all) == describe_all()
    assert "0x" not in describe_all()


@pytest.mark.parametrize(
    "make",
    [
        lambda: {"b", "a", "c"},
        lambda: {1: "a", "b": {3, "x"}},
        lambda: power_of(2),
        lambda: make_pipeline(StandardScaler(), Model([Ridge()])),
        lambda: np.random.mtrand._rand,
        lambda: range(10**4),
    ],
)
def test_equal_objects_have_equal_descriptions(make):
    assert describe(make()) == describe(make())


def test_object_holding_itself_is_described():
    thing = Model()
    thing.part = [thing]
    assert describe(thing)["part"] == ["itself"]


TEXT = st.text('a0 é\0\n"\\𝄞')  # of all characters there is a table, which takes two seconds


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | TEXT | st.binary(),
        lambda inner: st.lists(inner) | st.dictionaries(TEXT, inner) | st.builds(slice, inner),
        max_leaves=8,
    )
)
def test_description_survives_json(value):
    assert json.loads(json.dumps(describe(value), allow_nan=False)) == describe(value)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ([["a", ["b", "c"]]], [["a", "b", "c"]]),
        ([["a"]], [["a", []]]),
        ([["0", {"class": "k"}]], [{"class": "k"}]),
        ([["a", {"class": "k"}], ["b", 1]], [["a", {"class": "k"}], ["b", 1, []]]),
        ([["a", {"x": 1}], ["a", {"x": 1}]], [["a", {"x": 1}], ["a", {"x": 2}]]),
    ],
)
def test_similar_lists_are_told_apart(one, other):
    assert format_differences({"x": one}, {"x": other})
    assert not format_differences({"x": one}, {"x": one})


# --- what cannot be looked into -------------------------------------------------------------------


class Sealed:
    """Can be copied, as `clone` does, but not looked into."""

    def __deepcopy__(self, memo):
        return self

    def __reduce_ex__(self, protocol):
        raise TypeError("sealed")


UNSEEN = {
    "sealed": Sealed(),
    "generator": (x for x in [1]),
    "np.frompyfunc": np.frompyfunc(lambda x: x**2, 1, 1),
    "text of a class that no module has": type("Word", (str,), {"__module__": __name__})("a"),
}


@pytest.mark.parametrize("name", UNSEEN)
def test_unpicklable_part_is_rejected_before_first_call(name, path):
    called = []

    def scorer(unseen, estimator, X, y):
        called.append(estimator)
        return 0.0

    with pytest.raises(ValueError, match="cannot be pickled"):
        search(path, scoring=partial(scorer, UNSEEN[name]), n_iter=1).fit(X, Y)
    assert called == []
    assert not path.exists()


# --- functions ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "wrap", [lambda f: f, functools.cache, np.vectorize, lambda f: partial(f, 1)]
)
def test_function_is_described_by_its_name(wrap):
    assert describe(wrap(power_of(2))) == describe(wrap(power_of(3)))
    assert format_differences({"f": describe(wrap(plain))}, {"f": describe(wrap(square))})


def plain_sum(x):
    return float(sum(x))


def other_sum(x):
    return float(sum(x)) + 1.0


def test_other_objective_name_warns_and_resumes(path):
    options = {"method": "random", "random_state": 0, "journal": path}
    first = minimize(plain_sum, [(0.0, 1.0)], n_calls=2, **options)
    with pytest.warns(UserWarning, match="started with the objective .*plain_sum, but .*other_sum"):
        second = minimize(other_sum, [(0.0, 1.0)], n_calls=3, **options)
    np.testing.assert_array_equal(second.func_vals[:2], first.func_vals)


# --- data -----------------------------------------------------------------------------------------


def test_data_of_every_kind_has_digest(tmp_path):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]})
    others = [frame.rename(columns=str.upper), frame.astype({"a": np.float32})]
    kinds = [X, X.tolist(), frame, frame["b"], sparse.csr_array(X), np.array(["a", "b"]), *others]
    assert len({json.dumps(describe_data(data)) for data in kinds}) == len(kinds)
    assert describe_data(frame)["columns"] == ["a", "b"]
    assert describe_data(np.asfortranarray(X)) == describe_data(X)
    assert describe_data(X[::-1][::-1]) == describe_data(X)
    assert describe_data(sparse.csc_array(X)) == describe_data(sparse.csr_array(X))
    assert describe_data(None) is None
    mapped = np.memmap(tmp_path / "X", dtype=float, mode="w+", shape=X.shape)
    mapped[:] = X
    assert describe_data(mapped) == describe(mapped) == describe_data(X)


DAYS = np.arange("2020-01-01", "2020-01-31", dtype="M8[D]")
WORDS = [f"word {i}" for i in range(30)]


def odd_data():
    """Return data that are not plain numbers, by name."""
    pd = pytest.importorskip("pandas")
    frames = {
        "dates": {"day": DAYS, "other": DAYS},
        "zone": {"day": pd.to_datetime(DAYS, utc=True)},
        "mixed": {"day": DAYS, "x": np.arange(30.0)},
        "periods": {"day": pd.period_range("2020-01-01", periods=30)},
    }
    return {
        "days": DAYS,
        "spans": DAYS - DAYS[0],
        "not a date": np.where(np.arange(30) < 29, DAYS, np.datetime64("NaT", "D")),
        "words": np.array(WORDS),
        "strings": np.array(WORDS, dtype=getattr(np.dtypes, "StringDType", lambda: "U")()),
        "bytes": np.array(WORDS).astype("S"),
        "complex": np.arange(30) * 1j,
        "records": np.array([(i, "a") for i in range(30)], dtype=[("n", int), ("s", "U1")]),
        **{name: pd.DataFrame(columns) for name, columns in frames.items()},
    }


def test_odd_data_are_described_and_told_apart():
    for name, data in odd_data().items():
        assert describe_data(data) == describe_data(data.copy()), name
        assert describe_data(data) != describe_data(data[::-1]), name


@pytest.mark.parametrize("name", ["mixed", "records"])
def test_search_over_odd_data_resumes(path, name):
    data = odd_data()[name]
    options = {"estimator": Model(), "space": {"part": uniform()}, "n_iter": 3}
    first, again = (search(path, **options).fit(data) for _ in range(2))
    assert first.cv_results_["params"] == again.cv_results_["params"]
    with pytest.raises(ValueError, match=r"X has other values"):
        search(path, **options).fit(data[::-1])
