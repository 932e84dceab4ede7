"""Executors on the workers of joblib's backends: loky, threads, Dask; and a pool of our own.

A call can be taken from a worker of the pool when it runs too long.
"""

import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future
from contextlib import suppress
from functools import cache, partial
from itertools import chain, repeat
from typing import Any

from joblib import parallel_config
from joblib.externals.loky import ProcessPoolExecutor
from joblib.parallel import BACKENDS, get_active_backend

from skbo_silbo.workers._calls import LostWorkerError
from skbo_silbo.workers._executors import kill_processes

THREADS, PROCESSES = "threads", "processes"
THREAD_NAME = "skbo_silbo worker"
ORPHANED = 1.0  # seconds after which a process looks whether the one that began it is gone
INIT = 1  # the process that takes over those whose parent has ended


class PoolFuture(Future):
    """A future that knows, of `time.perf_counter`, when its call began at its worker, and ended."""

    since: float | None = None
    until: float | None = None


class Pool(Executor):
    """Executor of as many workers as `n_workers`, each with one call at a time.

    A worker is a process of its own, which is ended with a call that is killed, and replaced; or
    a thread, which is left behind. With a process that dies no other call is lost: its own ends
    with a `LostWorkerError`.

    Parameters
    ----------
    n_workers : int
    kind : {"processes", "threads"}
    """

    def __init__(self, n_workers: int, kind: str) -> None:
        # as joblib's processes have it: not more threads in all than processors
        env = BACKENDS["loky"]()._prepare_worker_env(n_workers)
        made: dict[str, Any] = {PROCESSES: partial(_Process, env), THREADS: _Thread}
        self._make = made[kind]
        self._max_workers, self.is_in_process = n_workers, kind == THREADS
        self._free = [self._make() for _ in range(n_workers)]
        self._waiting: deque[tuple[PoolFuture, Any]] = deque()  # futures and functions
        self._running: dict[PoolFuture, Any] = {}  # futures to workers
        # Each call has a thread of its own, which in the end lets its worker have another.
        self._lock = threading.RLock()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Return the future of a call, as ``concurrent.futures.Executor`` does."""
        future = PoolFuture()
        with self._lock:
            self._waiting.append((future, partial(fn, *args, **kwargs)))
            self._hand_out()
        return future

    def kill(self, future: PoolFuture) -> None:
        """End the worker of a call, whatever it does; its result is discarded."""
        with self._lock:
            worker = self._running.pop(future, None)
        if worker is not None:
            worker.end()
            self._release(worker)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = True) -> None:
        """End all workers, whatever they do."""
        with self._lock:
            workers = [*self._free, *self._running.values()]
            self._free, self._running, self._waiting = [], {}, deque()
        for worker in workers:
            worker.end()

    def _hand_out(self):
        while self._free and self._waiting:
            future, function = self._waiting.popleft()
            if future.set_running_or_notify_cancel():
                self._running[future] = worker = self._free.pop()
                try:
                    how = {"args": (future, worker.begin(function, future)), "name": THREAD_NAME}
                    threading.Thread(target=self._end, **how, daemon=True).start()
                except Exception as error:  # there is no memory for another process or thread
                    with suppress(Exception):
                        worker.end()
                    del self._running[future]
                    self._free.append(self._make())
                    future.until = time.perf_counter()
                    future.set_exception(_lost("a worker could not begin", error))

    def _end(self, future, result):
        """Pass on how a call ends, in a thread of its own; let its worker have another."""
        value = error = None
        try:
            value = result()
        except BaseException as raised:
            error = raised
        future.until = time.perf_counter()
        with self._lock:
            if (worker := self._running.pop(future, None)) is None:
                return  # killed
            if isinstance(error, BrokenExecutor):
                worker, error = self._make(), _lost("a process died", error)
            self._release(worker)
        if error is None:
            future.set_result(value)
        else:
            future.set_exception(error)

    def _release(self, worker):
        with self._lock:
            self._free.append(worker)
            self._hand_out()


class _Thread:
    """A thread for every call, which does not keep Python from ending."""

    def begin(self, function, future):
        """Return what makes the call."""
        future.since = time.perf_counter()
        return function

    def end(self):
        """Leave the call alone."""


class _Process:
    """A process, started when there is something to do.

    The time in which it starts, and imports what the first call needs, is not counted as the
    call's: that is sent to it twice, at first only to be unpickled.
    """

    def __init__(self, env):
        self._env, self._executor = env, None

    def begin(self, function, future):
        """Begin a call; return what waits for its result."""
        try:
            return self._submit(function, future).result
        except BrokenExecutor:  # the process has died since its last call
            self._executor = None
            return self._submit(function, future).result

    def end(self):
        """End the process, whatever it does."""
        if self._executor is not None:
            kill_processes(self._executor)
            self._executor.shutdown(wait=True)
            self._executor = None

    def _submit(self, function, future):
        if self._executor is None:
            self._executor = ProcessPoolExecutor(
                1, env=self._env, initializer=end_when_orphaned, initargs=(os.getpid(),)
            )
            arrived = self._executor.submit(callable, function)
            arrived.add_done_callback(partial(_note_arrival, future))
            return self._executor.submit(function)
        submitted = self._executor.submit(function)  # refused, if the process has died
        _note_arrival(future)
        return submitted


def _lost(why, error):
    lost = LostWorkerError(f"{why}: {error}")
    lost.__cause__ = error
    return lost


def _note_arrival(future, arrived=None):
    future.since = time.perf_counter()


@cache  # once in a process
def end_when_orphaned(parent: int) -> None:
    """Have this process end soon after the one that began it, be that killed before this call."""
    if os.name != "nt":  # where no process is told that its parent is gone
        threading.Thread(target=_watch, args=(parent,), daemon=True).start()


def _watch(parent):
    while os.getppid() == parent or _is_alive(parent):
        time.sleep(ORPHANED)
    os._exit(1)


def _is_alive(parent):
    """Whether a process runs that is not the parent itself: something stands between the two."""
    try:
        os.kill(parent, 0)
    except ProcessLookupError:
        return False
    return os.getppid() != INIT  # else it was killed, and waits to be noticed by its own parent


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
