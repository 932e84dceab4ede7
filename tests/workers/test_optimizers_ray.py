"""`minimize` on a real local Ray cluster of two workers (package ``ray``, where installed)."""

import os
import sys
import time
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from skbo_silbo import minimize
from skbo_silbo.integrations import RayExecutor
from skbo_silbo.workers import LostEvaluationWarning, LostWorkerError

BOUNDS = [(-1.0, 2.0), (0.0, 3.0)]
POISON = [1.5, 1.0]


def bowl(x):
    return float((x[0] - 0.5) ** 2 + (x[1] - 1.0) ** 2)


def kill_at_poison(x):
    if x[0] == POISON[0]:
        os._exit(1)
    return bowl(x)


def test_without_ray_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ImportError, match=r"pip install skbo_silbo\[ray\]"):
        RayExecutor(2)


@pytest.fixture(scope="module")
def cluster():
    ray = pytest.importorskip("ray")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, configure_logging=False)
    ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])  # workers cannot import it
    yield
    ray.shutdown()


pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
]


def test_values_come_from_the_cluster_and_none_is_lost(cluster):
    def func(x):
        return bowl(x) + 0.0 * (os.getpid() == here)

    here = os.getpid()
    with RayExecutor() as executor:
        result = minimize(func, BOUNDS, n_calls=12, executor=executor, random_state=0)
        assert executor.submit(os.getpid).result() != here
    assert result.nfev == len(result.func_vals) == 12
    assert_array_equal(result.func_vals, [bowl(x) for x in result.x_iters])
    assert len(np.unique(result.x_iters, axis=0)) == 12


def test_a_point_that_kills_its_worker_fails_after_a_retry(cluster):
    with RayExecutor(2) as executor, pytest.warns(LostEvaluationWarning, match="worker 2 times"):
        result = minimize(
            kill_at_poison,
            BOUNDS,
            n_calls=5,
            x0=[[0.0, 0.0], POISON, [1.0, 1.0]],
            method="random",
            executor=executor,
            random_state=0,
        )
    assert result.nfev == 6
    assert_array_equal(np.isnan(result.func_vals), result.x_iters[:, 0] == POISON[0])


def test_what_a_function_raises_is_its_own_and_a_loss_is_named(cluster):
    with RayExecutor(1) as executor:
        with pytest.raises(ZeroDivisionError):
            executor.submit(lambda: 1 / 0).result()
        with pytest.raises(LostWorkerError, match="Ray"):
            executor.submit(os._exit, 1).result()
        assert executor.submit(lambda a, b: a + b, 1, b=2).result() == 3


def test_no_more_calls_run_than_workers_were_asked_for(cluster):
    def span():
        began = time.monotonic()
        time.sleep(0.1)
        return began, time.monotonic()

    with RayExecutor(1, num_cpus=0.5) as executor:
        spans = sorted(future.result() for future in [executor.submit(span) for _ in range(3)])
        assert all(a[1] <= b[0] for a, b in pairwise(spans))
    with pytest.raises(RuntimeError, match="after shutdown"):
        executor.submit(span)
    with pytest.raises(ValueError, match="max_workers must be"):
        RayExecutor(0)
