"""Executors for the backends of joblib: loky, threads and Dask."""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from functools import partial
from itertools import chain, repeat
from typing import Any

from joblib import parallel_config

from skbo_silbo._joblib import (
    BACKENDS,
    dask_client,
    get_active_backend,
    kill_processes,
    nested_backend,
    open_processes,
    share_arrays,
)
from skbo_silbo._joblib import DASK as DASK
from skbo_silbo.workers._executors import count_workers
from skbo_silbo.workers._pool import PROCESSES as PROCESSES
from skbo_silbo.workers._pool import THREADS as THREADS
from skbo_silbo.workers._pool import Pool as Pool
from skbo_silbo.workers._pool import exit_when_orphaned

LARGE = 10**6  # arguments of at least this many bytes are sent to Dask only once


def kind_of_workers() -> str:
    """Return whether joblib's active backend uses threads, processes or other workers.

    It is "threads", "processes" for loky, or the class name of any other backend.
    """
    backend, _ = get_active_backend()
    if isinstance(backend, (BACKENDS["threading"], BACKENDS["sequential"])):
        return THREADS
    return PROCESSES if isinstance(backend, BACKENDS["loky"]) else type(backend).__name__


def executor_maker(parallel: Any, n_workers: int, timeout: float | None) -> Callable[[], Executor]:
    """Return a function that creates executors, to replace one that breaks.

    The first executor uses joblib's processes. Once one of these processes has died, all are
    replaced by a `Pool`, in which the death of a process affects only its own call.

    Parameters
    ----------
    parallel : joblib.Parallel
        Open `joblib.Parallel`, as inside a ``with`` statement.
    n_workers : int
    timeout : float or None
        Time limit of a call in seconds. With a timeout, a `Pool` is used, because it can end calls.
    """
    kind = kind_of_workers()
    if kind == DASK:
        return partial(DaskExecutor, dask_client(parallel))
    pool = partial(Pool, n_workers, kind)
    if kind == THREADS or timeout is not None:
        return pool
    first = partial(JoblibProcesses, parallel)
    makers: Iterator[Callable[[], Executor]] = chain([first], repeat(pool))
    return lambda: next(makers)()


def nested_in(parallel: Any, function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a function so that its own parallel calls use threads instead of processes."""
    return partial(_call_nested, *nested_backend(parallel), function)


def _call_nested(backend: Any, n_jobs: Any, function: Callable[..., Any], *args: Any) -> Any:
    with parallel_config(backend=backend, n_jobs=n_jobs):
        return function(*args)


class JoblibProcesses(Executor):
    """Executor that uses the worker processes of an open `joblib.Parallel`.

    joblib keeps the processes for later calls. `shutdown` therefore only ends them if a call is
    still running.
    """

    def __init__(self, parallel: Any) -> None:
        self._parallel, self._processes = parallel, open_processes(parallel)
        self._max_workers: int = count_workers(self._processes)
        self._unfinished: set[Future[Any]] = set()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Submit a function call and return its future."""
        share_arrays(self._processes, self._parallel)
        future = self._processes.submit(_call_watched, os.getpid(), fn, *args, **kwargs)
        self._unfinished.add(future)
        future.add_done_callback(self._unfinished.discard)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = True) -> None:
        """End the worker processes if a call is running or `wait` is False.

        Otherwise, joblib will reuse them.
        """
        is_running = [future for future in list(self._unfinished) if not future.cancel()]
        if is_running or not wait:
            kill_processes(self._processes)
            self._processes.shutdown(wait=True)


def _call_watched(parent: int, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    exit_when_orphaned(parent)
    return function(*args, **kwargs)


class DaskExecutor(Executor):
    """Executor that uses a Dask client and sends large arguments only once."""

    def __init__(self, client: Any) -> None:
        self._client, self._executor = client, client.get_executor(pure=False)
        self._scattered: dict[int, tuple[Any, Any]] = {}  # (argument, its Dask future) by id

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Submit a function call and return its future."""
        return self._executor.submit(fn, *map(self._scatter_large, args), **kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = True) -> None:
        """Cancel the function calls that have not ended."""
        self._executor.shutdown(wait=False)

    def _scatter_large(self, arg: Any) -> Any:
        if getattr(arg, "nbytes", 0) < LARGE:
            return arg
        if id(arg) not in self._scattered:
            sent = self._client.scatter(arg, broadcast=True, hash=False)
            self._scattered[id(arg)] = arg, sent
        return self._scattered[id(arg)][1]
