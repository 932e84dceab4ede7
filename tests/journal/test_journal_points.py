"""Whatever is read back from a run, by a report or a resumed run, is what was evaluated."""

import enum
import json
import os
import re
import sys
import tempfile
import threading
import warnings
from fractions import Fraction
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.stats._distr_params import distcont, distdiscrete
from sklearn.base import BaseEstimator
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold
from sklearn.tree import DecisionTreeClassifier

from skbo_silbo import SILBOSearchCV, Space, minimize
from skbo_silbo.inspection import report
from skbo_silbo.inspection._evaluations import read_evaluations
from skbo_silbo.inspection._from_journal import read_journal
from skbo_silbo.space import parameter_domains
from skbo_silbo.space.any_space import as_space
from skbo_silbo.space.descriptions import Label, describe_space, space_from_description
from skbo_silbo.space.values import format_value, same

X = np.zeros((4, 1))
SECTION = re.compile("<section><h2>(.*?)</h2>(.*?)</section>", re.DOTALL)


class Size(enum.IntEnum):
    SMALL = 1
    LARGE = 2


class Draws:
    """Has nothing but `rvs`."""

    def rvs(self, random_state=None):
        return int(random_state.randint(1, 5))


class Halved:
    """A distribution of a library of its own."""

    ppf = staticmethod(lambda q: np.square(q))
    cdf = staticmethod(lambda x: np.sqrt(np.clip(x, 0.0, 1.0)))
    support = staticmethod(lambda: (0.0, 1.0))


class Locked:
    """A learner that cannot be described."""

    def __init__(self):
        self.lock = threading.Lock()

    def learn(self, X, y, unlabeled):
        raise NotImplementedError


def double(x):
    return 2 * x


DISTRIBUTIONS = [
    stats.uniform(-3, 8),
    stats.loguniform(1e-5, 1e3),
    stats.norm(2, 3),
    stats.expon(scale=4),
    stats.gamma(2.3),
    stats.beta(a=2, b=0.7),
    stats.truncnorm(-np.inf, 2.0),
    stats.lognorm(0.9),
    stats.t(3),
    stats.triang(c=0.2),
    stats.randint(1, high=9),
    stats.randint(0, 10**9),
    stats.geom(0.05),
    stats.poisson(3.3),
    stats.binom(20, 0.4),
    stats.nbinom(3, 0.2),
    stats.zipf(4.0),
    stats.rv_discrete(values=([1, 2, 7], [0.25, 0.5, 0.25])),
    stats.rv_histogram(np.histogram([1.0, 2.0, 2.5, 4.0], bins=3)),
    Draws(),
    Halved(),
]
PLAIN = [None, True, False, 0, 1, 1.0, 2, 0.1, "a", "1", "é\n", "", np.int64(3), np.float32(0.3)]
OBJECTS = [np.nan, np.inf, (1, 2), (1, 2.0), b"x", 1j, Fraction(1, 3), Size.SMALL, Size.LARGE]
OBJECTS += [Ridge(), Ridge(alpha=2), PCA(2), double, len, lambda x: x, lambda x: -x, np.arange(3)]
VALUES = st.sampled_from(PLAIN) | st.sampled_from(OBJECTS)
LISTS = st.lists(VALUES, min_size=1, max_size=5)
PARAMETERS = LISTS | st.sampled_from(DISTRIBUTIONS)
BRANCHES = st.dictionaries(st.sampled_from("abc"), PARAMETERS, min_size=1, max_size=3)
SPACES = BRANCHES | st.lists(BRANCHES, min_size=2, max_size=3)
few, many = settings(max_examples=15, deadline=None), settings(max_examples=3000, deadline=None)


class Any(BaseEstimator):
    """Has parameters of any kind, on which its score does not depend."""

    def __init__(self, a=None, b=None, c=None):
        self.a, self.b, self.c = a, b, c

    def fit(self, X, y=None):
        return self

    def score(self, X, y=None):
        return 0.5


def accepted(make, given):
    """Return what `make` returns, or None if it rejects a space in words."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return make(given)
    except ValueError:
        return None


def is_read_as(read, value):
    """Return whether a value in a report is the evaluated one, or its label."""
    if isinstance(read, Label):
        return read.text.partition(" (")[0] in format_value(value)
    return read == value and isinstance(read, type(value) if type(value) in (bool, str) else object)


def test_given_value_of_another_type_is_kept(path):
    space = {"a": [1, 2], "b": stats.uniform(0, 4)}
    options = {"method": "random", "x0": [{"a": 1.0, "b": 2}], "random_state": 0}
    for n_calls in (1, 2):
        result = minimize(lambda x: 0.5, space, n_calls=n_calls, journal=path, **options)
    assert repr(result.x_iters[0]) == "{'a': 1.0, 'b': 2}"


def assert_same_points(points, evaluated):
    assert len(points) == len(evaluated)
    for point, params in zip(points, evaluated, strict=True):
        assert point.keys() == params.keys()
        assert all(is_read_as(point[name], params[name]) for name in params)


def assert_identical(points, others):
    assert len(points) == len(others)
    assert all(map(partial(same, by_parts=True), points, others))


def columns_of(table, points):
    """Return the points of a table of evaluations."""
    return [{name: table[name][i] for name in point} for i, point in enumerate(points)]


def by_minimize(space, journal, n):
    result = minimize(
        lambda x: 0.5, space, method="random", n_calls=n, journal=journal, random_state=0
    )
    return result.x_iters, result


def by_search(space, journal, n):
    options = {"n_initial": 4, "cv": KFold(2), "refit": False, "random_state": 0}
    search = SILBOSearchCV(Any(), space, n_iter=n, journal=journal, **options).fit(X)
    return search.cv_results_["params"], search


def check_points(door, space, folder):
    """Compare all ways to read back the points of a run that is resumed."""
    path = Path(folder) / "run.jsonl"
    whole, _ = door(space, None, 4)
    door(space, path, 2)
    resumed, result = door(space, path, 4)
    assert_identical(resumed, whole)
    assert_identical(columns_of(result.evaluation_table(), resumed), resumed)
    assert_identical(read_evaluations(result).points, resumed)
    assert_same_points(read_journal(path).points, resumed)
    assert_same_points(columns_of(read_journal(path).table, resumed), resumed)


@pytest.mark.parametrize("door", [by_minimize, by_search])
@pytest.mark.parametrize("limit", [few, pytest.param(many, marks=pytest.mark.slow)])
def test_reports_and_resumed_runs_have_evaluated_points(door, limit, monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda file: None)

    @limit
    @given(SPACES)
    def check(space):
        if accepted(as_space, space) is None:
            return
        with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            check_points(door, space, folder)

    check()


# --- spaces -------------------------------------------------------------------------------------

SLOW_OR_BROKEN = ("studentized_range", "norminvgauss")
FAMILIES = [family for family in (*distcont, *distdiscrete) if family[0] not in SLOW_OR_BROKEN]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("step", [6, pytest.param(1, marks=pytest.mark.slow)])
def test_distributions_of_scipy_are_restored_exactly(step):
    for family, parameters in FAMILIES[::step]:
        space = Space({"a": getattr(stats, family)(*parameters)})
        again = space_from_description(json.loads(json.dumps(describe_space(space))))
        points = space.decode(np.linspace(-1.0, 1.0, 5)[:, None])
        assert again.decode(np.linspace(-1.0, 1.0, 5)[:, None]) == points, family
        np.testing.assert_array_equal(again.encode(points), space.encode(points))


@pytest.mark.parametrize("width", [10**4, 10**7, 10**18])
def test_journal_does_not_grow_with_range(path, width):
    by_minimize({"n": stats.randint(0, width)}, path, 4)
    assert path.stat().st_size < 4000
    [domain] = parameter_domains(read_journal(path).optimizer.space_).values()
    assert domain.high > 0.99 * width


@pytest.mark.slow
@pytest.mark.usefixtures("few_draws")
def test_report_equals_that_of_search(path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)  # tables in place of pictures
    params = {"cv": 3, "initial_params": None, "random_state": 0, "journal": path}
    space = {"min_samples_leaf": stats.geom(0.05), "criterion": ["gini", "entropy"]}
    search = SILBOSearchCV(DecisionTreeClassifier(random_state=0), space, n_iter=12, **params)
    pages = [report(source) for source in (search.fit(*load_iris(return_X_y=True)), path)]
    of_search, of_journal = (dict(SECTION.findall(page)) for page in pages)
    assert of_search.keys() == of_journal.keys()
    differing = {name for name, text in of_search.items() if of_journal[name] != text}
    assert differing == {"What was searched"}  # the journal has no reason for which it ended


def test_search_without_columns_is_resumed_and_reported(path):
    tree, space = DecisionTreeClassifier(random_state=0), {"criterion": ["entropy"]}
    for n_iter in (1, 2, 2):
        search = SILBOSearchCV(tree, space, n_iter=n_iter, random_state=0, journal=path)
        search.fit(*load_iris(return_X_y=True))
    assert [p["criterion"] for p in search.cv_results_["params"]] == ["entropy", "gini"]
    assert list(read_journal(path).is_inside) == [True, False]
    assert "row 1, the untuned model, lies outside the search space" in report(path)


def test_candidate_outside_space_is_restored_as_given(path):
    given = [{"a": Ridge(3.0), "b": 0.5}, {"a": Ridge(3.0), "b": 0.5}]
    params = {"initial_params": given, "cv": KFold(2), "refit": False, "random_state": 0}
    for n_iter in (2, 4):
        search = SILBOSearchCV(
            Any(), {"a": ["x", double], "b": [0.5, 1.0]}, n_iter=n_iter, journal=path, **params
        )
        with pytest.warns(UserWarning, match="outside the space"):
            search.fit(X)
    assert_identical(search.cv_results_["params"][:2], given)
    assert [repr(point["a"]) for point in read_journal(path).points[:2]] == [repr(Ridge(3.0))] * 2


# --- files ---------------------------------------------------------------------------------------


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_killed_and_resumed_run_has_ended(path):
    def run(n_before_death):
        calls = iter(range(n_before_death))

        def func(x):
            if next(calls, None) is None:
                os._exit(9)
            return float(x[0])

        options = {"method": "random", "n_calls": 6, "random_state": 0}
        return minimize(func, [(0.0, 1.0)], journal=path, **options)

    if (child := os.fork()) == 0:
        run(3)
    os.waitpid(child, 0)
    assert read_journal(path).n_open == 1
    assert run(9).nfev == 7
    assert read_journal(path).n_open == 0


@pytest.mark.parametrize("door", [by_minimize, by_search, lambda _, path, n: report(path)])
def test_null_byte_in_path_is_rejected(door):
    with pytest.raises(ValueError, match=r"must be a .*, got 'a"):
        door({"a": [1, 2]}, "a\0b", 2)


@pytest.mark.parametrize("options", [{"embedding": Locked()}, {"x0": [[0.5]], "y0": [1, 2]}])
def test_invalid_option_leaves_no_file(path, options):
    with pytest.raises(ValueError, match=r"must be|cannot be"):
        minimize(lambda x: 0.5, [(0.0, 1.0)], journal=path, **options)
    assert not path.exists()
