"""Both doors on a real Dask cluster (extra ``dask``); of two processes behind ``slow``."""

import warnings

import numpy as np
import pytest
from joblib import parallel_config
from scipy.stats import uniform
from sklearn.base import BaseEstimator

from skbo_silbo import SILBOSearchCV, minimize

distributed = pytest.importorskip("distributed")
X, Y = np.arange(12.0)[:, None], np.arange(12.0)
SPACE = {"a": uniform(), "b": uniform()}


@pytest.fixture(params=[False, pytest.param(True, marks=pytest.mark.slow)])
def client(request):
    with (
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=request.param,
            dashboard_address="127.0.0.1:0",  # None is port 8787, and a warning if it is taken
            **({"host": "127.0.0.1"} if request.param else {}),
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def bowl(x):
    return float((x**2).sum())


class Located(BaseEstimator):
    """Says where it was fitted; no worker ends its first fit before the other has begun one."""

    def __init__(self, a=0.0, b=0.0):
        self.a, self.b = a, b

    def fit(self, X, y):
        try:
            self.worker_ = float(distributed.get_worker().name)
        except ValueError:
            self.worker_ = -1.0
            return self
        distributed.Event(f"worker {self.worker_}").set()
        assert distributed.Event(f"worker {1.0 - self.worker_}").wait(300)
        return self

    def score(self, X, y):
        return -((self.a - 0.7) ** 2) - (self.b - 0.2) ** 2 + 0.01 * float(np.mean(X))


def score_and_place(estimator, X, y):
    return {"score": estimator.score(X, y), "worker": estimator.worker_}


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")
def test_on_the_cluster_all_is_as_at_home(client, tmp_path):
    own = {"cv": 3, "random_state": 0, "scoring": score_and_place, "refit": False}
    params = {"n_iter": 6, "n_initial": 4, "batch_size": 4, **own}
    path = tmp_path / "search.jsonl"
    home = SILBOSearchCV(Located(), SPACE, **params).fit(X, Y)
    with parallel_config(backend="dask"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Dask's own, of large graphs and the like
        SILBOSearchCV(Located(), SPACE, **{**params, "n_iter": 4}, journal=path).fit(X, Y)
        away = SILBOSearchCV(Located(), SPACE, **params, journal=path).fit(X, Y)
        found = minimize(
            bowl, [(-1, 1)] * 2, executor=client.get_executor(), n_calls=5, method="random"
        )
    for key in ("params", "mean_test_score", "iter"):
        np.testing.assert_array_equal(away.cv_results_[key], home.cv_results_[key])
    assert away.cv_results_["resumed"].sum() == 4
    splits = [away.cv_results_[f"split{i}_test_worker"] for i in range(3)]
    assert set(np.concatenate(splits)) == {0.0, 1.0}  # both workers were used, and no other place
    assert found.nfev == 5
    np.testing.assert_array_equal(found.func_vals, [bowl(x) for x in found.x_iters])
