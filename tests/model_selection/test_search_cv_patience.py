"""Ending a search when what is still to be gained is less than the best score is uncertain by."""

import numpy as np
import pytest
from joblib import parallel_config
from scipy.optimize import NonlinearConstraint
from scipy.stats import uniform
from sklearn.base import BaseEstimator
from sklearn.model_selection import KFold

from skbo_silbo import SILBO, SILBOSearchCV

X, Y = np.arange(12.0)[:, None], np.arange(12.0)
PLANE = {"a": uniform(), "b": uniform()}


class Peak(BaseEstimator):
    """Scores a parabola; folds differ by `spread`, the same for all candidates."""

    def __init__(self, a=0.1, b=0.2, spread=0.1):
        self.a, self.b, self.spread = a, b, spread

    def fit(self, X, y=None):
        return self

    def score(self, X, y=None):
        return -((self.a - 0.6) ** 2) - (self.b - 0.6) ** 2 + self.spread * float(X[0, 0])


def fit(spread=0.1, **params):
    own = {"cv": KFold(3), "random_state": 0, "n_iter": 30, "patience": "auto", "n_initial": 6}
    return SILBOSearchCV(Peak(spread=spread), PLANE, **{**own, **params}).fit(X, Y)


def n_of(search):
    return len(search.cv_results_["params"])


@pytest.fixture(scope="module")
def wide():
    """A search whose folds differ much; to be read only."""
    return fit()


def test_noisier_folds_stop_earlier(wide):
    assert wide.stop_reason_ == "patience"
    assert wide.optimizer_.n_initial_ <= n_of(wide) < 20
    assert n_of(fit(spread=1e-9, n_iter=20)) > n_of(wide)


def test_patience_does_not_change_candidates(wide):
    whole = fit(patience=None, n_iter=n_of(wide) + 1)
    assert wide.cv_results_["params"] == whole.cv_results_["params"][: n_of(wide)]


def test_it_ends_where_the_rule_says():
    gains = []
    search = SILBOSearchCV(
        Peak(spread=0.05), PLANE, cv=KFold(3), random_state=0, n_iter=40, patience="auto"
    )
    search.callback = lambda progress: gains.append(search.optimizer_.expected_gain())
    table = search.fit(X, Y).cv_results_
    best = [table[f"split{i}_test_score"][search.best_index_] for i in range(3)]
    error, n = np.std(best, ddof=1) / np.sqrt(3), n_of(search)
    assert (40 - n) * gains[-1] < error
    assert all((40 - i) * gain >= error for i, gain in enumerate(gains[:-1], start=1))


@pytest.mark.parametrize("options", [{"batch_size": 5}, {"n_jobs": 2}])
def test_in_batches_and_with_workers(options):
    with parallel_config("threading"):
        ended = fit(**options)
    assert ended.stop_reason_ == "patience"
    assert n_of(ended) < 30
    if "batch_size" in options:
        assert (n_of(ended) - 1) % 5 == 0  # the one given is a batch of its own


def test_stopped_search_resumes_only_without_patience(tmp_path, wide):
    path = tmp_path / "search.jsonl"
    ended, again = fit(journal=path), fit(journal=path)
    assert n_of(ended) == n_of(again) == n_of(wide)
    assert again.stop_reason_ == "patience"
    assert set(again.cv_results_["source"]) == {"resumed"}
    more = fit(journal=path, patience=None, n_iter=n_of(ended) + 1)
    whole = fit(patience=None, n_iter=n_of(ended) + 1)
    assert more.cv_results_["params"] == whole.cv_results_["params"]


def test_one_split_has_no_standard_error():
    with pytest.raises(ValueError, match="`patience` must be None or an int"):
        fit(cv=[(np.arange(6), np.arange(6, 12))])


@pytest.mark.parametrize("maximize", [False, True])
def test_expected_gain_is_in_score_units(maximize):
    def gain(unit):
        optimizer = SILBO([(0, 1)] * 2, random_state=0, n_initial=5, maximize=maximize)
        points = optimizer.ask(6)
        assert optimizer.expected_gain() == np.inf
        values = np.array([unit * ((x - 0.6) ** 2).sum() for x in points])
        optimizer.tell(points, -values if maximize else values)
        first = optimizer.expected_gain()
        assert optimizer.expected_gain() == first  # reading it changes nothing
        return first

    assert gain(1000.0) == pytest.approx(1000 * gain(1.0), rel=0.05)
    assert 0 < gain(1.0) < 1


def test_without_a_success_there_is_no_end():
    optimizer = SILBO([(0, 1)] * 2, random_state=0, n_initial=3)
    optimizer.tell(optimizer.ask(4), [np.nan] * 4)
    assert optimizer.expected_gain() == np.inf


@pytest.mark.parametrize("space", [PLANE, {"a": np.linspace(0, 1, 40).tolist(), "b": [0.2, 0.6]}])
def test_what_constraints_keep_out_is_no_gain(space):
    """The score rises to where the rule ends: past it much is to be gained, before it nothing."""
    whole, optimizer = (SILBO(space, random_state=0, n_initial=5) for _ in range(2))
    optimizer.constrain(NonlinearConstraint(lambda p: p["a"], 0.0, 0.25))
    points = optimizer.ask(12)
    for o in (whole, optimizer):
        o.tell(points, [-5.0 * p["a"] for p in points])
    assert optimizer.expected_gain() < 0.2 * whole.expected_gain()
