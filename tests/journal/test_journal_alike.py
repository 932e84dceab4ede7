"""Objects that share a name and differ inside: another search's journal is refused."""

import functools
import json
import re
import types
from collections import OrderedDict, defaultdict, namedtuple
from dataclasses import dataclass
from fractions import Fraction
from typing import Generic, TypeVar

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from test_journal import X, Y, search

from skbo_silbo import SILBO, minimize
from skbo_silbo.journal._describe import describe
from skbo_silbo.journal._differences import differences

BOUNDS = [(0.0, 1.0), (0.0, 1.0)]


def plain(X):
    return X


def renamed(function):
    """Return a closure with the plain name of a function of this module, as decorators do."""

    @functools.wraps(plain)
    def wrapper(X):
        return function(X)

    return wrapper


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


def model(power):
    class Model(BaseEstimator):
        def predict(self, X):
            return X[:, 0] ** power

    return Model


def inherited(power):
    class Base:
        def __call__(self, X):
            return X**power

    return type("Child", (Base,), {})


def record(default):
    @dataclass
    class Record:
        power: int = default

    return Record


def in_property(power):
    class Holder:
        @property
        def power(self):
            return power

        @staticmethod
        def static(X):
            return X

    return Holder


def square(X):
    return X**2


def nothing(X):
    return 0 * X


def bound(function):
    return types.MethodType(function, 3)


def callable_kind(kind):
    """Return instances of two classes of a factory, which hold the same."""

    def make(power):
        class Callable(kind):
            def __call__(self, X):
                return X**power

        return Callable((1,)) if kind in (tuple, list, frozenset) else Callable()

    return make(2), make(0)


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


def reading(**names):
    """Return a lambda that reads names of its module, where they have these values."""
    return types.FunctionType((lambda X: X**power + step(X)).__code__, {"step": abs, **names})  # noqa: F821


def with_metaclass(power):
    class Meta(type):
        def __call__(cls, X):
            return X**power

    return Meta("Model", (), {})


def of_attribute(value):
    made = functools.partial(plain)
    made.power = value
    return made


def compiled(power):
    numba = pytest.importorskip("numba")
    return numba.njit(lambda x: x**power)


def with_type_variable(power):
    kind = TypeVar("kind")

    class Model(Generic[kind]):
        def predict(self, X):
            return X**power

    return Model()


def changed_attribute(value):
    @functools.wraps(plain)
    def wrapper(X):
        return X * wrapper.value

    wrapper.value = value
    return wrapper


ALIKE = {
    "functools.wraps": (renamed(square), renamed(nothing)),
    "wraps of lambdas": (renamed(lambda X: X**2), renamed(lambda X: 0 * X)),
    "attribute of a closure": (changed_attribute(1), changed_attribute(2)),
    "np.vectorize": (np.vectorize(lambda x: x**2), np.vectorize(lambda x: 0 * x)),
    "np.vectorize, otypes": (np.vectorize(square, otypes="f"), np.vectorize(square, otypes="d")),
    "lru_cache": (functools.lru_cache(lambda x: x**2), functools.lru_cache(lambda x: 0 * x)),
    "lru_cache of wraps": (functools.lru_cache(renamed(square)), functools.cache(renamed(nothing))),
    "instance": (Named(2), Named(0)),
    "instance with slots": (Slotted(2), Slotted(0)),
    "classes of one factory": (model(2), model(0)),
    "their instances": (model(2)(), model(0)()),
    "method of a class of a factory": (model(2)().predict, model(0)().predict),
    "class that inherits": (inherited(2), inherited(0)),
    "dataclass": (record(2), record(0)),
    "property": (in_property(2), in_property(0)),
    "method made by hand": (bound(lambda x, y: x + y), bound(lambda x, y: x - y)),
    "names of arguments": (lambda a, b: a, lambda b, a: b),
    "star": (lambda a: a, lambda *a: a),
    "keyword-only": (lambda a, *, k=1: a, lambda a, k=1: a),
    "partial of a closure": (
        functools.partial(renamed(square), 1),
        functools.partial(renamed(nothing), 1),
    ),
    "attribute of a partial": (of_attribute(2), of_attribute(0)),
    "tuple that is called": callable_kind(tuple),
    "list that is called": callable_kind(list),
    "dict that is called": callable_kind(dict),
    "set that is called": callable_kind(frozenset),
    "text that is called": callable_kind(str),
    "whole number that is called": callable_kind(int),
    "number with an attribute": (Weighted(2), Weighted(0)),
    "array with an attribute": (Signal(2), Signal(0)),
    "matrix": (np.matrix([[1.0, 2.0]]), np.array([[1.0, 2.0]])),
    "defaultdict": (defaultdict(lambda: 2), defaultdict(lambda: 0)),
    "OrderedDict": (OrderedDict(a=1, b=2), OrderedDict(b=2, a=1)),
    "namedtuple": (namedtuple("P", "a b")(1, 2), namedtuple("P", "b a")(1, 2)),
    "fraction": (Fraction(1, 3), Fraction(1, 3) + Fraction(1, 10**20)),
    "proxy": (Proxy(renamed(square), 1), Proxy(renamed(square), 0)),
    "metaclass": (with_metaclass(2), with_metaclass(0)),
    "regular expression": (re.compile("a"), re.compile("a", re.IGNORECASE)),
    "span of time": (np.timedelta64(1, "D"), np.timedelta64(1, "s")),
    "number read from the module": (reading(power=2), reading(power=0)),
    "array read from the module": (reading(power=np.ones(2)), reading(power=np.zeros(2))),
    "lambda read from the module": (
        reading(power=2, step=lambda X: X),
        reading(power=2, step=lambda X: 0 * X),
    ),
}


@pytest.mark.parametrize("name", ALIKE)
def test_what_shares_a_name_is_told_apart(name):
    one, other = ALIKE[name]
    assert list(differences(describe(one), describe(other)))
    assert json.dumps(describe(one)) == json.dumps(describe(one))


@pytest.mark.parametrize(
    "make",
    [
        lambda: renamed(square),
        lambda: renamed(lambda X: X**2),
        lambda: np.vectorize(lambda x: x**2),
        lambda: functools.lru_cache(lambda x: x**2),
        lambda: Named(2),
        lambda: model(2),
        lambda: model(2)(),
        lambda: record(2),
        lambda: in_property(2),
        lambda: compiled(2),
        lambda: callable_kind(dict)[0],
        lambda: reading(power=2, step=abs),
        lambda: with_type_variable(2),
    ],
)
def test_what_is_made_the_same_way_is_described_the_same(make):
    assert describe(make()) == describe(make())


@pytest.mark.parametrize("make", [compiled, with_type_variable])
def test_what_once_could_not_be_seen_is_told_apart(make):
    assert describe(make(2)) != describe(make(0))


def test_what_a_function_of_a_module_keeps_there_is_not_what_it_is():
    kept = {"calls": []}
    function = types.FunctionType((lambda x: calls.append(x)).__code__, kept)  # noqa: F821
    before = describe(function)
    function(1.0)
    assert describe(function) == before


def test_arrays_of_the_same_content_in_a_file_are_the_same(tmp_path):
    mapped = np.memmap(tmp_path / "X", dtype=float, mode="w+", shape=3)
    mapped[:] = 1.0
    assert describe(mapped) == describe(np.ones(3))


def test_use_does_not_change_what_remembers_its_results():
    for function in (functools.lru_cache(lambda x: x), np.vectorize(lambda x: x, otypes="d")):
        before = describe(function)
        function(3.0)
        assert describe(function) == before


UNSEEN = {
    "generator": (x for x in [1]),
    "np.frompyfunc": np.frompyfunc(lambda x: x**2, 1, 1),
    "np.frompyfunc of a name": np.frompyfunc(plain, 1, 1),
    "frame": __import__("sys")._getframe(),
    "open file": open(__file__),  # noqa: SIM115
}


@pytest.mark.parametrize("name", UNSEEN)
def test_what_cannot_be_seen_is_refused_before_the_first_call(name, tmp_path):
    with pytest.raises(ValueError, match=r"two cannot be told apart.*Give"):
        describe(UNSEEN[name])
    path = tmp_path / "search.jsonl"
    called, unseen = [], UNSEEN[name]

    def transform(X):
        called.append(unseen)
        return X

    pipeline = make_pipeline(FunctionTransformer(transform), Ridge())
    with pytest.raises(ValueError, match="two cannot be told apart"):
        search(path, estimator=pipeline, space={"ridge__alpha": [1.0, 2.0]}, n_iter=1).fit(X, Y)
    assert called == []
    assert not path.exists()


def test_functions_of_c_are_known_by_name():
    named = [describe(f) for f in (np.add, max, str.upper, np.linalg.norm, len)]
    assert len({json.dumps(name) for name in named}) == 5
    assert describe(max) == "builtins.max"


@pytest.mark.parametrize("name", ["functools.wraps", "np.vectorize", "instance", "lru_cache"])
def test_a_search_with_another_step_of_the_same_name_is_refused(name, tmp_path):
    one, other = (make_pipeline(FunctionTransformer(step), Ridge()) for step in ALIKE[name])
    options = {"space": {"ridge__alpha": [1.0, 2.0]}, "n_iter": 1, "refit": False, "n_jobs": None}
    path = tmp_path / "search.jsonl"
    if name == "lru_cache":  # of arrays, which it cannot remember
        search(path, estimator=Ridge(), scoring=score(ALIKE[name][0]), **plain_space()).fit(X, Y)
        with pytest.raises(ValueError, match=r"must be of the same search.*scoring"):
            search(path, estimator=Ridge(), scoring=score(ALIKE[name][1]), **plain_space()).fit(
                X, Y
            )
        return
    search(path, estimator=one, **options).fit(X, Y)
    with pytest.raises(ValueError, match=r"must be of the same search.*estimator\.steps"):
        search(path, estimator=other, **options).fit(X, Y)


def plain_space():
    return {"space": {"alpha": [1.0, 2.0]}, "n_iter": 1}


def score(function):
    @functools.wraps(plain)
    def scorer(estimator, X, y):
        return function(estimator.alpha)

    return scorer


@pytest.mark.parametrize("sign", [-1, 1])
def test_a_known_constraint_of_the_same_name_is_another(sign, tmp_path):
    from scipy.optimize import NonlinearConstraint

    path = tmp_path / "run.jsonl"

    def run(function):
        known = NonlinearConstraint(renamed(function), -5.0, 5.0)
        options = {"method": "random", "random_state": 0, "journal": path}
        return minimize(lambda x: float(x[0]), BOUNDS, n_calls=2, constraints=known, **options)

    run(lambda x: sign * x[0])
    with pytest.raises(ValueError, match="must be of the same search"):
        run(lambda x: sign * x[1])


def test_an_acquisition_of_the_same_name_is_another(tmp_path):
    from skbo_silbo.acquisition import log_expected_improvement

    def cautious(share):
        @functools.wraps(log_expected_improvement)
        def acquisition(mean, std, best, return_gradient=False):
            return log_expected_improvement(
                mean, share * std, best, return_gradient=return_gradient
            )

        return acquisition

    path = tmp_path / "run.jsonl"
    first = SILBO(BOUNDS, journal=path, random_state=0, acquisition=cautious(1.0))
    first.tell(first.ask(), 0.0).close_journal()
    with pytest.raises(ValueError, match=r"acquisition was .* and is"):
        SILBO(BOUNDS, journal=path, random_state=0, acquisition=cautious(2.0))
