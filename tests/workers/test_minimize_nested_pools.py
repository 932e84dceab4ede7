"""What is of the workers of `minimize`, and what is of the function, as a pool of its own."""

import threading
from concurrent.futures import (
    BrokenExecutor,
    CancelledError,
    Executor,
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


class OwnThreads(Executor):
    """Threads, by a class that does not say so."""

    _max_workers = 1

    def __init__(self):
        self.n_made, self.threads = 0, []

    def submit(self, fn, /, *args):
        future = Future()
        future.set_running_or_notify_cancel()  # a cancelled one takes no result

        def call():
            try:
                future.set_result(fn(*args))
            except BaseException as error:
                future.set_exception(error)

        self.threads.append(threading.Thread(target=call))
        self.threads[-1].start()
        return future

    def shutdown(self, wait=True):
        for thread in self.threads:
            thread.join()


@pytest.mark.parametrize(
    ("func", "error", "executor"),
    [
        (own_pool_breaks, BrokenExecutor, None),
        (own_pool_breaks, BrokenExecutor, lambda: ThreadPoolExecutor(1)),
        (own_pool_breaks, BrokenExecutor, OwnThreads),
        (own_pool_breaks, BrokenExecutor, processes),
        (own_future_is_cancelled, CancelledError, None),
    ],
    ids=["here", "threads", "own threads", "processes", "cancelled"],
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


class Unsendable(Exception):
    """Holds what no pickler takes."""

    def __init__(self):
        super().__init__("out of licences")
        self.lock = threading.Lock()


def out_of_licences(x):
    raise Unsendable


class DerivedThreads(ThreadPoolExecutor):
    """Threads of one's own, by a class that says so."""

    def submit(self, fn, /, *args):
        return OwnThreads().submit(fn, *args)


def test_thread_pool_subclass_is_recognised():
    """Nothing is sent there; of others the error is put into words, whether it is or not."""
    with pytest.raises(Unsendable, match="out of licences"):
        minimize(out_of_licences, BOUNDS, executor=DerivedThreads(1))
    executor = OwnThreads()
    with pytest.raises(RuntimeError, match=r"Unsendable.*sent"):
        minimize(out_of_licences, BOUNDS, n_calls=2, executor=executor)
    executor.shutdown()


def test_rejected_submission_counts_no_call(tmp_path):
    executor = ThreadPoolExecutor(1)
    executor.shutdown()
    path = tmp_path / "run.jsonl"
    with pytest.raises(RuntimeError, match="after shutdown") as caught:
        minimize(bowl, BOUNDS, method="random", executor=executor, journal=path)
    assert caught.value.optimize_result.nfev == 0
    assert minimize(bowl, BOUNDS, n_calls=3, journal=path, method="random").nfev == 3
