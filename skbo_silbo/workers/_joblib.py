"""Executors of the workers that joblib's backend stands for: loky, threads, Dask."""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from functools import partial
from itertools import chain, repeat
from typing import Any

from joblib import parallel_config
from joblib.parallel import BACKENDS, get_active_backend

from skbo_silbo.workers._executors import kill_processes
from skbo_silbo.workers._pool import PROCESSES, THREADS, Pool, end_when_orphaned
from skbo_silbo.workers._scheduler import InPlace

DASK = "DaskDistributedBackend"
LARGE = 10**6  # bytes of an argument that Dask is sent once, whatever calls it is of


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


def executor_maker(parallel: Any, n_workers: int, timeout: float | None) -> Callable[[], Executor]:
    """Return what makes the executor of calls, and another each time that one is broken.

    After a death of one of joblib's processes those of a `Pool` are used: one that dies takes no
    other's calls with it.

    Parameters
    ----------
    parallel : joblib.Parallel
        Open, as in a ``with`` statement.
    n_workers : int
    timeout : float or None
        If calls may be given up, all workers are of a `Pool`.
    """
    kind = kind_of_workers()
    if n_workers == 1 and timeout is None:
        return InPlace
    if kind == DASK:
        return partial(DaskExecutor, parallel._backend.client)
    pool = partial(Pool, n_workers, kind)
    if kind == THREADS or timeout is not None:
        return pool
    first = partial(JoblibProcesses, parallel)
    makers: Iterator[Callable[[], Executor]] = chain([first], repeat(pool))
    return lambda: next(makers)()


def nested_in(parallel: Any, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function whose own parallel calls are made in threads, as joblib's are."""
    backend, n_jobs = BACKENDS["threading"](nesting_level=1), None
    if type(parallel._backend).__name__ != DASK:
        backend, n_jobs = parallel._backend.get_nested_backend()
    return partial(_within, backend, n_jobs, function)


def _within(backend, n_jobs, function, *args):
    with parallel_config(backend=backend, n_jobs=n_jobs):
        return function(*args)


class JoblibProcesses(Executor):
    """The processes of an open `joblib.Parallel`, which share large arrays with this one.

    They are left to joblib in the end, which uses them again; but those with a call that has not
    ended are ended.
    """

    def __init__(self, parallel: Any) -> None:
        self._processes, self._id = parallel._backend._workers, parallel._id
        self._max_workers: int = self._processes._max_workers
        self._left: set[Future[Any]] = set()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Return the future of a call, as ``concurrent.futures.Executor`` does."""
        self._processes._temp_folder_manager.set_current_context(self._id)
        future = self._processes.submit(_watched, os.getpid(), fn, *args, **kwargs)
        self._left.add(future)
        future.add_done_callback(self._left.discard)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = True) -> None:
        """End the processes if a call has not ended."""
        if [future for future in list(self._left) if not future.cancel()]:
            kill_processes(self._processes)
            self._processes.shutdown(wait=True)


class DaskExecutor(Executor):
    """The workers of a Dask client; large arguments that calls share are sent once."""

    def __init__(self, client: Any) -> None:
        self._client, self._executor = client, client.get_executor(pure=False)
        self._sent: dict[int, tuple[Any, Any]] = {}  # by id: the argument and where Dask has it

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Return the future of a call, as ``concurrent.futures.Executor`` does."""
        return self._executor.submit(fn, *map(self._once, args), **kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = True) -> None:
        """Cancel what has not ended."""
        self._executor.shutdown(wait=False)

    def _once(self, arg):
        if getattr(arg, "nbytes", 0) < LARGE:
            return arg
        if id(arg) not in self._sent:
            self._sent[id(arg)] = arg, self._client.scatter(arg, broadcast=True, hash=False)
        return self._sent[id(arg)][1]


def _watched(parent, fn, *args, **kwargs):
    end_when_orphaned(parent)
    return fn(*args, **kwargs)
