"""Exceptions of the function that cannot be sent back from a worker."""

import pickle
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from functools import partial
from multiprocessing import get_all_start_methods, get_context

import pytest

from skbo_silbo import minimize

BOUNDS = [(0.0, 1.0), (0.0, 2.0)]


class NeedsTwo(Exception):
    """Pickled with its one argument, of two that it needs."""

    def __init__(self, code, where):
        super().__init__(f"licence {code} of {where}")


class HoldsALock(Exception):
    def __reduce__(self):
        raise TypeError("cannot pickle a lock")


def raise_needs_two(x):
    raise NeedsTwo(7, "solver")


def raise_lock(x):
    raise HoldsALock("held")


def raise_plain(x):
    raise KeyError("plain")


class Sending(Executor):
    """Sends what comes back as a process pool does, in this process."""

    _max_workers = 1

    def submit(self, fn, /, *args):
        future = Future()
        try:
            future.set_result(pickle.loads(pickle.dumps(fn(*args))))
        except Exception as error:
            future.set_exception(pickle.loads(pickle.dumps(error)))
        return future


@pytest.mark.parametrize(
    ("func", "words"),
    [
        (raise_needs_two, "licence 7 of solver"),
        (raise_lock, "HoldsALock: held"),
    ],
)
@pytest.mark.parametrize("make", [Sending(), Sending])
def test_the_real_error_is_seen(func, words, make):
    sent = RuntimeError, NeedsTwo  # itself where tblib, which Dask loads, makes it sendable
    with pytest.raises(sent, match=words) as caught:
        minimize(func, BOUNDS, method="random", executor=make, random_state=0)
    if isinstance(caught.value, RuntimeError):
        assert "func raised" in str(caught.value)
        assert func.__name__ in str(caught.value)
    assert caught.value.optimize_result.nfev == 1
    assert len(caught.value.optimize_x) == 2


@pytest.mark.parametrize(
    ("func", "error", "executor"),
    [(raise_plain, KeyError, Sending()), (raise_needs_two, NeedsTwo, None)],
)
def test_what_need_not_or_can_be_sent_is_raised_itself(func, error, executor):
    with pytest.raises(error):
        minimize(func, BOUNDS, method="random", executor=executor, random_state=0)


@pytest.mark.skipif("forkserver" not in get_all_start_methods(), reason="Windows has none")
def test_a_real_pool_is_not_broken():
    context = get_context("forkserver")
    make = partial(ProcessPoolExecutor, 1, mp_context=context)
    with pytest.raises(RuntimeError, match=r"NeedsTwo.*7"):
        minimize(raise_needs_two, BOUNDS, method="random", executor=make, random_state=0)
