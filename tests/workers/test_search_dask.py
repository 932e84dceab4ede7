"""SILBOSearchCV on a real Dask cluster of two processes (extra ``dask``)."""

import warnings

import numpy as np
import pytest
from joblib import parallel_config
from scipy.stats import loguniform
from sklearn.datasets import load_iris
from sklearn.svm import SVC

from skbo_silbo import SILBOSearchCV

distributed = pytest.importorskip("distributed")
X, Y = load_iris(return_X_y=True)
SPACE = {"C": loguniform(1e-2, 1e2), "gamma": loguniform(1e-3, 1), "kernel": ["rbf", "poly"]}


@pytest.fixture(scope="module")
def client():
    with (
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            dashboard_address="127.0.0.1:0",  # None is port 8787, and a warning if it is taken
            host="127.0.0.1",
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


class Located(SVC):
    """Says where it was fitted."""

    def fit(self, X, y):
        self.worker_ = distributed.get_worker().name if _in_worker() else None
        return super().fit(X, y)


def _in_worker():
    try:
        distributed.get_worker()
    except ValueError:
        return False
    return True


def located_score(estimator, X, y):
    return {"accuracy": estimator.score(X, y), "worker": float(estimator.worker_)}


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")
def test_fits_on_the_cluster_give_the_results_of_fits_at_home(client, tmp_path):
    params = {"n_iter": 9, "n_initial": 4, "batch_size": 4, "cv": 3, "random_state": 0}
    path = tmp_path / "search.jsonl"
    home = SILBOSearchCV(SVC(), SPACE, **params).fit(X, Y)
    SILBOSearchCV(SVC(), SPACE, **params, journal=path).set_params(n_iter=4).fit(X, Y)
    with parallel_config(backend="dask"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Dask's own, of large graphs and the like
        away = SILBOSearchCV(SVC(), SPACE, **params).fit(X, Y)
        resumed = SILBOSearchCV(SVC(), SPACE, **params, journal=path).fit(X, Y)
        where = SILBOSearchCV(Located(), SPACE, **params, scoring=located_score, refit=False)
        where.fit(X, Y)
    for search in (away, resumed):
        for key in ("params", "mean_test_score", "iter"):
            np.testing.assert_array_equal(search.cv_results_[key], home.cv_results_[key])
    assert list(resumed.cv_results_["source"]).count("resumed") == 4
    splits = [where.cv_results_[f"split{i}_test_worker"] for i in range(3)]
    assert set(np.concatenate(splits)) == {0.0, 1.0}  # both workers were used, and no other place
