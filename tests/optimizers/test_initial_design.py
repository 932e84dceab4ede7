"""First points beside the budget: a search takes fewer, `minimize` says where it ends with them."""

import warnings

import pytest
from scipy.stats import uniform
from sklearn.base import BaseEstimator
from sklearn.model_selection import KFold

from skbo_silbo import FirstPointsOnlyWarning, SILBOSearchCV, minimize
from skbo_silbo.optimizers import SILBO

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
    assert text.startswith("n_calls must be greater than 8 for the model to propose points: got 8")
    assert "Give n_calls more, or fewer first points (n_initial=4); n_initial=8 says" in text
    assert told(by_minimize, 9) == []
    assert told(by_minimize, 8, n_initial=4) == told(by_minimize, 8, n_initial=8) == []


@pytest.mark.parametrize(("n_iter", "n_first"), [(2, 1), (9, 4), (16, 8), (17, 8)])
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
        "greater than 6 for the model to propose points: got 6, and the first 8 points (2 known"
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


def test_the_warning_points_at_the_call(recwarn):
    with pytest.warns(FirstPointsOnlyWarning) as found:
        minimize(sum, BOUNDS, n_calls=2)
    assert found[0].filename == __file__
