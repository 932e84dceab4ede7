"""Candidates that end the worker that fits them: all are in the results, every score is right."""

from concurrent.futures import BrokenExecutor

import numpy as np
import pytest
from joblib import parallel_config
from joblib.parallel import BACKENDS, ThreadingBackend
from odd_estimator import Odd
from scipy.stats import uniform
from sklearn.model_selection import KFold

from skbo_silbo.model_selection import SILBOSearchCV

X, Y = np.arange(24.0).reshape(12, 2), np.arange(12.0)
SPACE = {"a": uniform(), "kind": ["good", "dies"]}

pytestmark = pytest.mark.filterwarnings(
    "ignore::sklearn.exceptions.FitFailedWarning",
    "ignore:.*non-finite",
    "ignore:A worker stopped",
    "ignore:.*tasks which were still being processed",
    "ignore:.*tasks have been successfully executed",
)


class Death(BaseException):
    """The end of a worker that is a thread."""


class Mortal(Odd):
    """Ends a worker of `MortalThreads` as `Odd` ends a process; its folds have other scores."""

    def fit(self, X, y=None):
        if self.kind == "dies":
            raise Death
        return self

    def score(self, X, y=None):
        return super().score(X, y) + 0.01 * float(np.mean(X))


class MortalThreads(ThreadingBackend):
    """Threads of which joblib learns what it does of processes that end."""

    def retrieve_result_callback(self, out):
        try:
            return super().retrieve_result_callback(out)
        except Death as death:
            raise BrokenExecutor("a worker was lost") from death


@pytest.fixture
def mortal_threads(monkeypatch):
    monkeypatch.setitem(BACKENDS, "mortal", MortalThreads)
    with parallel_config("mortal"):
        yield


def search(estimator, **params):
    params = {"n_iter": 12, "cv": KFold(3), "random_state": 0, "n_jobs": 2, **params}
    return SILBOSearchCV(estimator, SPACE, **params).fit(X, Y)


def check(fitted, n_iter, n_splits=3):
    """Compare every row with the score of its candidate and fold, NaN for what dies."""
    results = fitted.cv_results_
    candidates = results["params"]
    dies = np.array([params["kind"] == "dies" for params in candidates])
    assert len(candidates) == n_iter
    assert 1 < dies.sum() < n_iter
    folds = [X[test] for _, test in KFold(n_splits).split(X)]
    right = [
        [type(fitted.estimator)(**params).score(fold) for fold in folds] for params in candidates
    ]
    rows = np.transpose([results[f"split{i}_test_score"] for i in range(n_splits)])
    expected = np.where(dies[:, None], np.nan, right)
    run = ~np.isnan(rows) if fitted.racing else ~np.isnan(expected)
    np.testing.assert_allclose(rows[run], expected[run])
    assert not run[dies].any()
    assert run[~dies, 0].all()
    assert fitted.best_params_["kind"] == "good"
    assert fitted.stop_reason_ == "n_iter"


ROADS = {
    "as workers are free": {},
    "racing": {"racing": True},
    "batches": {"batch_size": 3},
    "racing in batches": {"batch_size": 3, "racing": True},
}


@pytest.mark.usefixtures("mortal_threads")
@pytest.mark.parametrize("options", ROADS.values(), ids=ROADS)
def test_several_candidates_each_end_their_workers(options):
    check(search(Mortal(), n_jobs=3, **options), 12)


def test_in_processes():
    check(search(Odd(), n_iter=4, cv=KFold(2)), 4, n_splits=2)


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [*ROADS.values(), {"timeout": 600.0}, {"timeout": 600.0, "batch_size": 3}],
    ids=[*ROADS, "timeout", "timeout in batches"],
)
@pytest.mark.parametrize("n_jobs", ["of the search", "of the context"])
def test_in_processes_on_every_road(options, n_jobs):
    if n_jobs == "of the context":  # whose backend all joblib.Parallel share
        with parallel_config("loky", n_jobs=2):
            check(search(Odd(), **{**options, "n_jobs": None}), 12)
    else:
        check(search(Odd(), **options), 12)
