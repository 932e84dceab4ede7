"""What is of the workers of `minimize`, and what is of the function, as a pool of its own."""

from concurrent.futures import (
    BrokenExecutor,
    CancelledError,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
)
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context

import pytest

from skbo_silbo import minimize

BOUNDS = [(-1.0, 2.0), (0.0, 3.0)]


def bowl(x):
    return float((x[0] - 0.5) ** 2 + (x[1] - 1.0) ** 2)


def own_pool_breaks(x):
    if x[0] == 1.5:
        raise BrokenProcessPool("a pool of the function itself")
    return bowl(x)


def own_future_is_cancelled(x):
    if x[0] == 1.5:
        future = Future()
        future.cancel()
        future.result()
    return bowl(x)


def processes():
    return ProcessPoolExecutor(1, mp_context=get_context("forkserver"))


@pytest.mark.parametrize(
    ("func", "error", "executor"),
    [
        (own_pool_breaks, BrokenExecutor, None),
        (own_pool_breaks, BrokenExecutor, lambda: ThreadPoolExecutor(1)),
        (own_pool_breaks, BrokenExecutor, processes),
        (own_future_is_cancelled, CancelledError, None),
    ],
    ids=["here", "threads", "processes", "cancelled"],
)
def test_broken_nested_pool_is_not_lost_worker(func, error, executor):
    """It is raised as anything else is, at once: no point is tried again, no executor replaced."""
    x0 = [[0.0, 0.0], [1.5, 1.0]]
    with pytest.raises(error) as caught:
        minimize(func, BOUNDS, x0=x0, n_calls=5, n_pending=_pending(executor), executor=executor)
    assert caught.value.optimize_x.tolist() == x0[1]
    assert caught.value.optimize_result.func_vals.tolist() == [bowl([0.0, 0.0])]
    assert caught.value.optimize_result.nfev == 2


def _pending(executor):
    return "auto" if executor is None else 1


def test_rejected_submission_counts_no_call(tmp_path):
    executor = ThreadPoolExecutor(1)
    executor.shutdown()
    path = tmp_path / "run.jsonl"
    with pytest.raises(RuntimeError, match="after shutdown") as caught:
        minimize(bowl, BOUNDS, method="random", executor=executor, journal=path)
    assert caught.value.optimize_result.nfev == 0
    assert minimize(bowl, BOUNDS, n_calls=3, journal=path, method="random").nfev == 3
