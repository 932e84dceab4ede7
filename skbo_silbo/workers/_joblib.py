"""joblib's workers as an executor."""

import time
import warnings
from collections import deque
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future
from functools import partial
from itertools import count
from threading import Lock
from typing import Any

import joblib
from joblib.parallel import BACKENDS, get_active_backend

from skbo_silbo.workers._losses import in_words, says_lost
from skbo_silbo.workers._pool import PROCESSES, THREADS

SLEEP = 0.05  # seconds that a worker sleeps when there is no task yet


def kind_of_workers() -> str:
    """Return "threads", "processes" (joblib's own), or the name of the class of another backend."""
    backend, _ = get_active_backend()
    if isinstance(backend, (BACKENDS["threading"], BACKENDS["sequential"])):
        return THREADS
    return PROCESSES if isinstance(backend, BACKENDS["loky"]) else type(backend).__name__


def dies_with_its_calls(n_workers: int, timeout: float | None) -> bool:
    """Return whether joblib's backend makes calls in this process, so that one can end it."""
    in_place = n_workers == 1 and timeout is None
    return in_place or kind_of_workers() == THREADS


class Driven(Executor):
    """Calls of `joblib.Parallel`, made, or their results taken, only while it is waited for.

    What joblib raises, be it of a call or as a worker has died, ends all that have not ended: whose
    it is, joblib hides.
    """

    is_in_process = False

    def __init__(self, n_workers: int, put: Callable[[Any], object]) -> None:
        self._max_workers, self._put, self._numbers = n_workers, put, count()
        self._futures: dict[int, Future] = {}

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Return the future of a call that is made while this is driven."""
        number = next(self._numbers)
        self._futures[number] = Future()
        self._put(joblib.delayed(_numbered)(number, partial(fn, *args, **kwargs)))
        return self._futures[number]

    def drive(self) -> None:
        """Make calls, or wait, for a moment."""
        try:
            for number, result in self._results():
                future = self._futures.pop(number)
                if future.set_running_or_notify_cancel():
                    future.set_result(result)
        except Exception as error:
            self._fail_all(error)

    def _results(self):
        raise NotImplementedError

    def _fail_all(self, error):
        if says_lost(error) and not isinstance(error, BrokenExecutor):
            broken = BrokenExecutor(in_words(error))
            broken.__cause__ = error
            error = broken
        left = list(self._futures.values())
        self._futures.clear()
        for future in left:
            if future.set_running_or_notify_cancel():
                future.set_exception(error)


class Stream(Driven):
    """An endless call of `joblib.Parallel`: calls are put at any time, results come unordered.

    joblib asks for tasks in threads of its own, whenever a worker is free, and nothing may wait
    there. So a worker is given a short sleep while there is nothing to do. A backend that returns
    no results before the last task has ended is refused with a ValueError.
    """

    def __init__(self, n_jobs: int | None) -> None:
        self._parallel = joblib.Parallel(
            n_jobs=n_jobs,
            batch_size=1,
            pre_dispatch="n_jobs",
            return_as="generator_unordered",
        )
        self._tasks = _Tasks(joblib.effective_n_jobs(n_jobs))
        super().__init__(self._tasks.n_jobs, self._tasks.put)
        self.is_in_process = kind_of_workers() == THREADS
        self._outputs: Any = None

    def _results(self):
        if self._outputs is None:
            self._outputs = self._parallel(self._tasks)
        output = next(self._outputs)
        return [] if output is None else [output]

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = True) -> None:
        """End; what has not ended is given up."""
        self._tasks.close()
        if self._outputs is None:
            return
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", ".*tasks.*", UserWarning)  # that some are given up
            if self._futures:
                self._outputs.close()
            try:
                for _ in self._outputs:  # the sleeps of the workers
                    pass
            except Exception as error:  # as where Ctrl-C of a terminal has ended a worker too
                if not says_lost(error):
                    raise


class _Tasks:
    """The iterator that joblib takes tasks from, at most `n_jobs` of them at a time.

    It gives as many to begin with, of which every one is followed by another when it has ended; so
    there are always enough of them. Later an early end means: that is all for now.
    """

    def __init__(self, n_jobs):
        self.n_jobs = n_jobs
        self._ready, self._lock = deque(), Lock()
        self._n_to_begin = n_jobs
        self._n_given = 0  # since joblib began to take
        self._closed = False

    def __iter__(self):
        return self

    def __next__(self):
        with self._lock:
            if self._closed or not (self._ready or self._n_to_begin or not self._n_given):
                self._n_given = 0
                raise StopIteration
            self._n_to_begin = max(self._n_to_begin - 1, 0)
            self._n_given = (self._n_given + 1) % self.n_jobs
            return self._ready.popleft() if self._ready else joblib.delayed(time.sleep)(SLEEP)

    def put(self, task):
        with self._lock:
            self._ready.append(task)

    def close(self):
        with self._lock:
            self._closed = True


def _numbered(number, function):
    return number, function()
