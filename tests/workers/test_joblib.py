"""joblib's workers as executors."""

import threading
from concurrent.futures import BrokenExecutor
from contextlib import suppress

import pytest
from joblib import parallel_config
from worker_outcomes import outcomes_of

from skbo_silbo.workers import LostWorkerError
from skbo_silbo.workers._joblib import Stream, dies_with_its_calls, kind_of_workers
from skbo_silbo.workers._workers import Call, Workers


def test_a_worker_that_is_lost_takes_all_with_it_that_runs_and_each_is_made_again():
    lost, lock = set(), threading.Lock()

    def run(key):
        with lock:
            is_lost = key in (1, 4) and key not in lost
            lost.add(key)
        if is_lost:
            raise LostWorkerError
        return key**2

    with parallel_config("threading"):
        workers = Workers(lambda: Stream(2), n_retries=4)
        for key in range(6):
            workers.submit(Call(key, run, (key,)))
        outcomes = outcomes_of(workers)
        workers.close(wait=True)
    assert {key: o.value for key, o in outcomes.items()} == {key: key**2 for key in range(6)}
    assert not any(o.call.alone for o in outcomes.values()) or lost >= {1, 4}


def test_a_broken_pool_of_the_functions_own_is_no_loss():
    def broken():
        raise BrokenExecutor("of the function")

    with parallel_config("threading"):
        workers = Workers(lambda: Stream(2))
        workers.submit(Call(0, broken))
        [outcome] = outcomes_of(workers).values()
        workers.close(wait=True)
    assert outcome.kind == "error"
    assert isinstance(outcome.value, BrokenExecutor)


def test_kinds_of_workers():
    kinds = {}
    for name in ("threading", "loky", "multiprocessing", "sequential"):
        with parallel_config(name), suppress(ValueError):
            kinds[name] = kind_of_workers()
    assert kinds == {
        "threading": "threads",
        "loky": "processes",
        "multiprocessing": "MultiprocessingBackend",
        "sequential": "threads",
    }
    assert dies_with_its_calls(1, None)
    assert not dies_with_its_calls(1, 3.0)
    with parallel_config("threading"):
        assert dies_with_its_calls(4, 3.0)


def ending_with(error):
    """A stream whose workers give this error when it is shut down."""

    def results():
        raise error
        yield

    stream = Stream(2)
    stream._outputs = results()
    return stream


def test_a_worker_lost_while_a_stream_is_shut_down_ends_nothing():
    """Ctrl-C of a terminal reaches workers that wait for a call, too."""
    ending_with(BrokenExecutor("a worker has died")).shutdown()
    with pytest.raises(ValueError, match="a fault"):
        ending_with(ValueError("a fault")).shutdown()
