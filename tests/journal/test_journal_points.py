"""Whatever is read back from a run, by a report or a resumed run, is what was evaluated."""

import enum
import tempfile
import warnings
from fractions import Fraction
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.base import BaseEstimator
from sklearn.decomposition import PCA
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold

from skbo_silbo import SILBOSearchCV, minimize
from skbo_silbo.inspection._evaluations import read_evaluations
from skbo_silbo.inspection._from_journal import read_journal
from skbo_silbo.space.any_space import as_space
from skbo_silbo.space.descriptions import Label
from skbo_silbo.space.values import format_value, same

X = np.zeros((4, 1))


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
few, many = settings(max_examples=60, deadline=None), settings(max_examples=3000, deadline=None)


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
def test_reports_and_resumed_runs_have_evaluated_points(door, limit):
    @limit
    @given(SPACES)
    def check(space):
        if accepted(as_space, space) is None:
            return
        with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            check_points(door, space, folder)

    check()
