"""What a search was given is told from what it was not: values, objects, functions, data."""

import functools
import json
import os
import re
import subprocess
import sys
import types
from collections import OrderedDict, defaultdict, namedtuple
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from journal_files import describe, describe_data, format_differences
from journal_searches import X, Y, search
from scipy import sparse
from scipy.optimize import NonlinearConstraint
from scipy.stats import uniform
from sklearn.base import BaseEstimator
from sklearn.compose import ColumnTransformer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import Ridge
from sklearn.metrics import f1_score, make_scorer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skbo_silbo import SILBO, minimize
from skbo_silbo.acquisition import log_expected_improvement

BOUNDS = [(0.0, 1.0), (0.0, 1.0)]


def plain(X):
    return X


def square(X):
    return X**2


def nothing(X):
    return 0 * X


def renamed(function):
    """Return a closure with the plain name of a function of this module, as decorators do."""

    @functools.wraps(plain)
    def wrapper(X):
        return function(X)

    return wrapper


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


@dataclass
class Record:
    power: int


class Weighted(float):
    """A number with an attribute."""

    def __new__(cls, power):
        self = super().__new__(cls, 1.0)
        self.power = power
        return self


class Signal(np.ndarray):
    """An array with an attribute."""

    def __new__(cls, power):
        self = np.ones(2).view(cls)
        self.power = power
        return self


class Proxy:
    """Says that it is the function that it calls, as decorators of wrapt do."""

    __slots__ = ("factor", "function")

    def __init__(self, function, factor):
        self.function, self.factor = function, factor

    __class__ = property(lambda self: types.FunctionType)

    def __getattr__(self, name):
        return getattr(self.function, name)

    def __call__(self, X):
        return self.factor * self.function(X)


class Colour(Enum):
    RED = 1
    BLUE = 2


class Point(namedtuple("Point", "a b")):
    pass


class Model(BaseEstimator):
    """Has a parameter of any kind."""

    def __init__(self, part=None):
        self.part = part

    def fit(self, X, y=None):
        return self

    def predict(self, X):
        return np.zeros(len(X))


def with_attribute(value):
    made = functools.partial(plain)
    made.power = value
    return made


def same_name(module):
    return type("Model", (BaseEstimator,), {"__module__": module, "__qualname__": "Model"})


def columns(which):
    return ColumnTransformer([("some", "passthrough", which)])


def compiled(power):
    return pytest.importorskip("numba").njit(lambda x: x**power)


# Pairs of which the second is another.
ALIKE = {
    "whole number and float": (1, 1.0),
    "number and truth": (1, True),
    "none and its name": (None, "None"),
    "not a number and its name": (np.nan, "nan"),
    "order": ((1, 2), (2, 1)),
    "keys": ({1: "a"}, {"1": "a"}),
    "long lists": (list(range(100)), list(range(1, 101))),
    "bytes": (b"abc", b"abd"),
    "sets": (frozenset(["a", "b", "c"]), {"names": {frozenset(["a", "b"]), frozenset("cde")}}),
    "bytearray": (bytearray(b"abc"), b"abc"),
    "complex": (1 + 2j, 1 + 3j),
    "slice": (slice(1, 2), range(1, 2)),
    "ends of a slice": (columns(slice(0, 1)), columns(slice(0, 4))),
    "Enum": (Colour.RED, Colour.BLUE),
    "dates": (np.datetime64("2020-01-01"), np.datetime64("2020-01-02")),
    "span of time": (np.timedelta64(1, "D"), np.timedelta64(1, "s")),
    "dtypes": (np.dtype("f4"), np.dtype("f8")),
    "arrays": (np.arange(30), np.arange(30.0)),
    "masks": (np.ma.array([1.0, 2.0], mask=[0, 1]), np.ma.array([1.0, 2.0], mask=[0, 0])),
    "matrix": (np.matrix([[1.0, 2.0]]), np.array([[1.0, 2.0]])),
    "array with an attribute": (Signal(2), Signal(0)),
    "number with an attribute": (Weighted(2), Weighted(0)),
    "namedtuple": (Point(1, 2), Point(2, 1)),
    "OrderedDict": (OrderedDict(a=1, b=2), OrderedDict(b=2, a=1)),
    "fraction": (Fraction(1, 3), Fraction(1, 3) + Fraction(1, 10**20)),
    "regular expression": (re.compile("a"), re.compile("a", re.IGNORECASE)),
    "RandomState": (np.random.RandomState(0), np.random.RandomState(1)),
    "Generator": (np.random.default_rng(0), np.random.default_rng(1)),
    "distribution": (uniform(0, 1), uniform(0, 2)),
    "module of a class": (same_name("package.first"), same_name("package.second")),
    "its instance": (same_name("package.first")(), same_name("package.second")()),
    "parameter": (Ridge(), Ridge(alpha=1)),
    "what a frozen one learnt": (
        FrozenEstimator(Ridge().fit(X, Y)),
        FrozenEstimator(Ridge().fit(X, 1 - Y)),
    ),
    "scorer": (make_scorer(f1_score), make_scorer(f1_score, average="macro")),
    "sign of a scorer": (make_scorer(f1_score), make_scorer(f1_score, greater_is_better=False)),
    "instance": (Named(2), Named(0)),
    "instance with slots": (Slotted(2), Slotted(0)),
    "record": (Record(2), Record(0)),
    "bound method": (Named(2).__call__, Named(0).__call__),
    "method of a list": ([1].index, [2].index),
    "functions": (square, nothing),
    "value closed over": (power_of(2), power_of(0)),
    "functools.wraps": (renamed(square), renamed(nothing)),
    "default": (lambda X, *, k=1: k, lambda X, *, k=2: k),
    "partial": (partial(max, 1), partial(max, 2)),
    "partial of a closure": (partial(renamed(square), 1), partial(renamed(nothing), 1)),
    "attribute of a partial": (with_attribute(2), with_attribute(0)),
    "np.vectorize": (np.vectorize(square), np.vectorize(nothing)),
    "otypes": (np.vectorize(square, otypes="f"), np.vectorize(square, otypes="d")),
    "lru_cache": (functools.lru_cache(renamed(square)), functools.cache(renamed(nothing))),
    "proxy": (Proxy(renamed(square), 1), Proxy(renamed(square), 0)),
}


@pytest.mark.parametrize("name", ALIKE)
def test_what_looks_alike_is_told_apart(name):
    one, other = map(describe, ALIKE[name])
    assert format_differences({"x": one}, {"x": other})
    assert json.loads(json.dumps(one, allow_nan=False)) == one == describe(ALIKE[name][0])


def test_what_looks_alike_is_the_same_in_another_process():
    code = (
        "import json, sys; sys.path[:0] = sys.argv[1:]; import test_descriptions as t\n"
        "print(json.dumps([t.describe(value) for pair in t.ALIKE.values() for value in pair]))"
    )
    folder = Path(__file__).parent
    env = {**os.environ, "PYTHONHASHSEED": "11", "PYTHONPATH": os.pathsep.join(sys.path)}
    other = subprocess.run(
        [sys.executable, "-c", code, folder], capture_output=True, text=True, check=True, env=env
    )
    here = [describe(value) for pair in ALIKE.values() for value in pair]
    assert json.loads(other.stdout) == json.loads(json.dumps(here))
    assert "0x" not in other.stdout


@pytest.mark.parametrize(
    "make",
    [
        lambda: {"b", "a", "c"},
        lambda: {1: "a", "b": {3, "x"}},
        lambda: compiled(2),
        lambda: functools.lru_cache(power_of(2)),
        lambda: make_pipeline(StandardScaler(), Model([Ridge()])),
        lambda: np.random.mtrand._rand,
        lambda: range(10**4),
    ],
)
def test_what_is_made_the_same_way_is_described_the_same(make):
    assert describe(make()) == describe(make())


def test_use_does_not_change_what_remembers_its_results():
    for function in (functools.lru_cache(plain), np.vectorize(plain), np.vectorize(plain, "d")):
        before = describe(function)
        function(3.0)
        assert describe(function) == before


def test_an_object_that_holds_itself_is_described():
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
def test_any_value_has_a_description_that_json_can_hold(value):
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
def test_parts_of_a_list_that_look_alike_are_told_apart(one, other):
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
    "np.frompyfunc of a name": np.frompyfunc(plain, 1, 1),
    "frame": sys._getframe(),
    "open file": open(__file__),  # noqa: SIM115
    "defaultdict of a lambda": defaultdict(lambda: 2),
    "text of a class that no module has": type("Word", (str,), {"__module__": __name__})("a"),
}


@pytest.mark.parametrize("name", UNSEEN)
def test_what_cannot_be_looked_into_is_refused_before_the_first_call(name, path):
    called = []

    def scorer(unseen, estimator, X, y):
        called.append(estimator)
        return 0.0

    with pytest.raises(ValueError, match=r"two cannot be told apart.*can be pickled"):
        search(path, scoring=partial(scorer, UNSEEN[name]), n_iter=1).fit(X, Y)
    assert called == []
    assert not path.exists()


# --- functions ------------------------------------------------------------------------------------


def with_text(text, **names):
    """Return the function `f` of a text, which is there to be read, as that of a file is."""
    import linecache

    name = f"<text {text}>"
    linecache.cache[name] = len(text), None, text.splitlines(True), name
    exec(compile(text, name, "exec"), scope := {"__name__": __name__, **names})
    return scope["f"]


FIRST, SECOND = "def f(x):\n    return float(x[0])\n", "def f(x):\n    return float(x[1])\n"


def in_rule(path, f):
    known = NonlinearConstraint(f, -5.0, 5.0)
    options = {"method": "random", "random_state": 0, "journal": path}
    return minimize(square_sum, BOUNDS, n_calls=2, constraints=known, **options).nfev


def in_acquisition(path, f):
    def acquisition(mean, std, best, return_gradient=False):
        return log_expected_improvement(mean, std, best, return_gradient=return_gradient)

    acquisition.f = f
    optimizer = SILBO(BOUNDS, journal=path, random_state=0, acquisition=acquisition)
    n_told = len(optimizer.func_vals_)
    if not n_told:
        optimizer.tell(optimizer.ask(), 0.0)
    optimizer.close_journal()
    return 1


def square_sum(x):
    return float(x[0] ** 2 + x[1])


@pytest.mark.parametrize("door", [in_rule, in_acquisition])
def test_a_function_of_the_same_name_with_another_text_is_warned_of(path, door):
    n = door(path, with_text(FIRST))
    assert door(path, with_text(FIRST)) == n
    with pytest.warns(UserWarning, match=r"other functions of these names.*Nothing is lost"):
        assert door(path, with_text(SECOND)) == n


# --- data -----------------------------------------------------------------------------------------


def test_data_of_every_kind_has_a_shape_and_a_digest(tmp_path):
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
