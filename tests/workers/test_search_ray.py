"""SILBOSearchCV on a real local Ray cluster of two workers (package ``ray``, where installed)."""

import os
import sys
import warnings

import numpy as np
import pytest
from joblib import parallel_config
from scipy.stats import loguniform
from sklearn.datasets import load_iris
from sklearn.svm import SVC

from skbo_silbo import SILBOSearchCV

ray = pytest.importorskip("ray")
X, Y = load_iris(return_X_y=True)
SPACE = {"C": loguniform(1e-2, 1e2), "gamma": loguniform(1e-3, 1), "kernel": ["rbf", "poly"]}


@pytest.fixture(scope="module")
def cluster():
    from ray.util.joblib import register_ray

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, configure_logging=False)
    register_ray()
    ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])  # workers cannot import it
    yield
    ray.shutdown()


class Located(SVC):
    """Says in which process it was fitted."""

    def fit(self, X, y):
        self.process_ = os.getpid()
        return super().fit(X, y)


def located_score(estimator, X, y):
    return {"accuracy": estimator.score(X, y), "process": float(estimator.process_)}


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_fits_on_the_cluster_give_the_results_of_fits_at_home(cluster):
    params = {"n_iter": 9, "batch_size": 4, "cv": 3, "random_state": 0}
    home = SILBOSearchCV(SVC(), SPACE, **params).fit(X, Y)
    with parallel_config(backend="ray", n_jobs=2), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Ray's own
        away = SILBOSearchCV(SVC(), SPACE, **params).fit(X, Y)
        where = SILBOSearchCV(Located(), SPACE, **params, scoring=located_score, refit=False)
        where.fit(X, Y)
    for key in ("params", "mean_test_score", "iter"):
        np.testing.assert_array_equal(away.cv_results_[key], home.cv_results_[key])
    splits = [where.cv_results_[f"split{i}_test_process"] for i in range(3)]
    assert os.getpid() not in np.concatenate(splits)
