"""The initial design: how many points it has, and that it covers the levels of categories."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.stats import uniform
from sklearn.base import BaseEstimator
from sklearn.model_selection import KFold

from skbo_silbo import FirstPointsOnlyWarning, SILBOSearchCV, minimize
from skbo_silbo.optimizers import SILBO
from skbo_silbo.optimizers.configuration import sobol_points

BOUNDS = [(0.0, 1.0)] * 4  # 8 first points
X, Y = [[0.0]] * 6, [0.0] * 6


class Sum(BaseEstimator):
    def __init__(self, a=0.0, b=0.0, c=0.0, d=0.0):
        self.a, self.b, self.c, self.d = a, b, c, d

    def fit(self, X, y=None):
        return self

    def score(self, X, y=None):
        return self.a + self.b + self.c + self.d


def by_minimize(n, **options):
    minimize(sum, BOUNDS, n_calls=n, random_state=0, **options)


def searched(n, **options):
    space = {name: uniform() for name in "abcd"}
    options = {"cv": KFold(2), "random_state": 0, **options}
    return SILBOSearchCV(Sum(), space, n_iter=n, **options).fit(X, Y)


def told(search, *args, **options):
    """Return what a search warns of."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        search(*args, **options)
    return [str(w.message) for w in found if w.category is FirstPointsOnlyWarning]


def test_short_budget_warns_until_model_proposes():
    assert SILBO(BOUNDS).n_initial_ == 8
    [text] = told(by_minimize, 8)
    assert text.startswith(
        "`n_calls` must be greater than 8 for the model to propose points, got 8"
    )
    assert "reduce the design with n_initial=4, or pass n_initial=8" in text
    assert told(by_minimize, 9) == []
    assert told(by_minimize, 8, n_initial=4) == told(by_minimize, 8, n_initial=8) == []


@pytest.mark.parametrize("run", [by_minimize, searched])
def test_design_larger_than_budget_warns(run, tmp_path):
    [text] = told(run, 8, n_initial=10)
    assert "greater than 10 for the model to propose points, got 8: the first n_init" in text
    assert "n_initial=4, or pass n_initial=8 to evaluate only a design" in text
    assert told(run, 8, n_initial=8) == []
    assert told(run, 8, n_initial=10, journal=tmp_path / "run.jsonl") == []  # to be continued


def test_candidate_outside_space_may_leave_design_only():
    options = {"initial_params": dict.fromkeys("abcd", 2.0), "n_initial": 4}
    assert told(searched, 4, **options) == []


@pytest.mark.parametrize(
    ("n_iter", "n_first"), [(2, 1), (9, 4), (16, 8), pytest.param(17, 8, marks=pytest.mark.slow)]
)
def test_initial_design_is_at_most_half(n_iter, n_first):
    found = []
    assert told(lambda n: found.append(searched(n)), n_iter) == []
    [search] = found
    assert search.optimizer_.n_initial_ == n_first
    assert search.cv_results_["source"].tolist().count("model") == n_iter - n_first


def test_resumed_journal_keeps_initial_design(tmp_path):
    path = tmp_path / "run.jsonl"
    first = searched(6, journal=path)
    assert first.optimizer_.n_initial_ == 3
    more = searched(8, journal=path)
    assert more.optimizer_.n_initial_ == 3
    assert more.cv_results_["params"][:6] == first.cv_results_["params"]
    whole = searched(8, n_initial=3)
    assert more.cv_results_["params"] == whole.cv_results_["params"]


def test_known_values_replace_initial_points():
    known = {"x0": [[0.5] * 4, [0.6] * 4], "y0": [2.0, 2.4]}
    [text] = told(by_minimize, 6, **known)
    assert (
        "greater than 6 for the model to propose points, got 6: the first n_initial=8 points (2 of"
        in text
    )
    assert told(by_minimize, 7, **known) == []


def test_no_warning_without_proposals():
    assert told(by_minimize, 3, x0=[[0.1] * 4, [0.2] * 4, [0.3] * 4]) == []
    assert told(by_minimize, 5, method="random") == []


def test_resumed_journal_warns_of_whole_budget(tmp_path):
    path = tmp_path / "run.jsonl"
    assert len(told(by_minimize, 3, journal=path)) == 1
    assert len(told(by_minimize, 5, journal=path)) == 1
    assert told(by_minimize, 5, journal=path) == []  # nothing is left to do
    assert told(by_minimize, 9, journal=path) == []


MIXED = {"x": uniform(), "y": uniform(), "a": ["p", "q", "r"], "b": ["s", "t"]}


def tries(points, name):
    return np.unique([point[name] for point in points], return_counts=True)[1].tolist()


@pytest.mark.parametrize("seed", range(5))
def test_design_covers_every_level_evenly(seed):
    points = SILBO(MIXED, n_initial=8, random_state=seed).ask(8)
    assert sorted(tries(points, "a")) == [2, 3, 3]
    assert tries(points, "b") == [4, 4]


def test_design_counts_levels_of_known_points():
    optimizer = SILBO(MIXED, n_initial=10, random_state=0)
    known = [{"x": x, "y": x, "a": "q", "b": "s"} for x in (0.1, 0.2, 0.3, 0.4)]
    optimizer.tell(known, [1.0, 2.0, 3.0, 4.0])
    points = known + optimizer.ask(6)
    assert tries(points, "a") == [3, 4, 3]
    assert tries(points, "b") == [5, 5]


def test_design_covers_branches_of_conditional_space():
    space = [
        {"kernel": ["linear"], "C": uniform()},
        {"kernel": ["poly"], "C": uniform(), "degree": [2, 3, 4]},
        {"kernel": ["rbf"], "C": uniform(), "gamma": ["scale", "auto"]},
    ]
    points = SILBO(space, n_initial=9, random_state=1).ask(9)
    assert tries(points, "kernel") == [3, 3, 3]


@pytest.mark.parametrize(("d", "levels"), [(4, [0.0]), (99, [0.0]), (100, [0.0, -0.5, 0.5])])
def test_design_starts_on_the_diagonal(d, levels):
    optimizer = SILBO([(-1, 1)] * d, random_state=3)
    points = optimizer.ask(optimizer.n_initial_)
    sobol = sobol_points(len(points), d, optimizer._rng(0, 0))
    assert_array_equal(points[: len(levels)], np.outer(levels, np.ones(d)))
    assert_array_equal(points[len(levels) :], optimizer.space_.round(sobol[len(levels) :]))


@pytest.mark.parametrize("design", ["auto", "sobol"])
def test_other_points_replace_the_centre(design):
    optimizer = SILBO([(-1, 1)] * 4, design=design, random_state=3)
    sobol = optimizer.space_.round(sobol_points(8, 4, optimizer._rng(0, 0)))
    assert_array_equal(optimizer.tell(np.ones(4), 1.0).ask(7), sobol[1:])
