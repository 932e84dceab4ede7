"""Whatever ends a search: each value is told once, no further fold is begun, and it resumes."""

import warnings

import numpy as np
import pytest
from scipy.stats import uniform
from sklearn.base import BaseEstimator, RegressorMixin

from skbo_silbo import BeyondModelWarning, SILBOSearchCV

X, Y = np.arange(20.0)[:, None], np.arange(20.0)
PRIORS = [np.array([a, 1.0 - a]) for a in (0.1, 0.3, 0.5, 0.7, 0.9)]


class Hill(RegressorMixin, BaseEstimator):
    """Counts its fits; the one that `at` says raises, and scores beyond `low_at` are tiny."""

    n_fits, at, error, low_at = 0, None, RuntimeError("no fit"), None

    def __init__(self, a=1.0, priors=None):
        self.a, self.priors = a, priors

    def fit(self, X, y):
        Hill.n_fits += 1
        if Hill.n_fits == Hill.at:
            raise Hill.error
        self.is_low_ = Hill.low_at is not None and Hill.n_fits >= Hill.low_at
        return self

    def predict(self, X):
        return np.zeros(len(X))

    def score(self, X, y):
        return -1e300 if self.is_low_ else -((self.a - 3.0) ** 2)


def search(space=None, **options):
    space = {"a": uniform(0, 5)} if space is None else space
    options = {"n_iter": 10, "cv": 2, "random_state": 0, "refit": False, **options}
    return SILBOSearchCV(Hill(), space, **options)


@pytest.fixture(autouse=True)
def _new_count(monkeypatch):
    monkeypatch.setattr(Hill, "n_fits", 0)


@pytest.mark.parametrize(("at", "batch_size"), [(1, 1), (6, 4)])
def test_error_score_raise_begins_no_further_fold(monkeypatch, at, batch_size):
    monkeypatch.setattr(Hill, "at", at)
    with pytest.raises(RuntimeError, match="no fit"):
        search(cv=5, error_score="raise", batch_size=batch_size).fit(X, Y)
    assert Hill.n_fits == at


def test_warning_as_error_records_value_once(monkeypatch):
    monkeypatch.setattr(Hill, "low_at", 9)
    ended = search(n_initial=3)
    with warnings.catch_warnings():
        warnings.simplefilter("error", BeyondModelWarning)
        with pytest.raises(BeyondModelWarning):
            ended.fit(X, Y)
    points = [point["a"] for point in ended.optimizer_.x_iters_]
    assert len(points) == len(set(points)) > 3


@pytest.mark.filterwarnings("ignore:The search was interrupted")
def test_a_batch_of_array_values_is_resumed(monkeypatch, tmp_path):
    space = {"a": uniform(0, 5), "priors": PRIORS}
    options = {"batch_size": 4, "initial_params": None, "journal": tmp_path / "run.jsonl"}
    monkeypatch.setattr(Hill, "at", 12)
    monkeypatch.setattr(Hill, "error", KeyboardInterrupt())
    first = search(space, **options).fit(X, Y)
    monkeypatch.setattr(Hill, "at", None)
    resumed = search(space, **options).fit(X, Y)
    whole = search(space, batch_size=4, initial_params=None).fit(X, Y)
    assert 0 < len(first.cv_results_["params"]) < 10
    for key in ("param_a", "mean_test_score", "iter"):
        np.testing.assert_array_equal(
            resumed.cv_results_[key].astype(float), whole.cv_results_[key].astype(float)
        )
