"""A pool of processes or threads whose workers can be ended one by one, for `timeout`.

The executors of ``concurrent.futures``, loky and joblib cannot end a single call. If one of their
processes is killed, the executor breaks and all other calls are lost. Here every process is an
executor of its own, which runs one call at a time.
"""

import os
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future
from contextlib import suppress
from functools import cache, partial
from typing import Any, NoReturn

from skbo_silbo._joblib import LokyExecutor, kill_processes, worker_environment
from skbo_silbo.workers.calls import LostWorkerError

THREADS, PROCESSES = "threads", "processes"
THREAD_NAME = "skbo_silbo worker"
ORPHAN_CHECK = 1.0  # seconds between two checks whether the parent process is still running


class PoolFuture(Future):
    """Future that also stores when its call started and ended."""

    start_time: float | None = None
    end_time: float | None = None


class Pool(Executor):
    """Executor whose running calls can be killed.

    To kill a call, its process is ended and replaced. A thread cannot be ended. It is abandoned,
    and does not prevent Python from exiting. If a process dies, only its own call is lost, with a
    `LostWorkerError`.

    Parameters
    ----------
    n_workers : int
    kind : {"processes", "threads"}
    """

    def __init__(self, n_workers: int, kind: str) -> None:
        self._max_workers, self.is_in_process = n_workers, kind == THREADS
        new_process = partial(_Process, worker_environment(n_workers))
        new_worker: Callable[[], Any] = _Thread if self.is_in_process else new_process
        self._free = [new_worker() for _ in range(n_workers)]
        self._waiting: deque[tuple[PoolFuture, Callable]] = deque()
        self._running: dict[PoolFuture, Any] = {}  # workers by future
        self._lock = threading.RLock()  # every call has a thread that waits for its end

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Submit a function call and return its future."""
        future = PoolFuture()
        with self._lock:
            self._waiting.append((future, partial(fn, *args, **kwargs)))
            self._start_waiting()
        return future

    def kill(self, future: PoolFuture) -> None:
        """Kill the worker that runs a call. The future of this call is never resolved."""
        with self._lock:
            worker = self._running.pop(future, None)
        if worker is not None:
            worker.end()
            self._release(worker)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = True) -> None:
        """Stop all workers, including those that are running a call."""
        with self._lock:
            workers = [*self._free, *self._running.values()]
            self._free, self._running, self._waiting = [], {}, deque()
        for worker in workers:
            worker.end()

    def _start_waiting(self) -> None:
        while self._free and self._waiting:
            future, function = self._waiting.popleft()
            if not future.set_running_or_notify_cancel():
                continue
            worker = self._running[future] = self._free.pop()
            try:
                args = future, worker.start(function, future)
                options: Any = {"name": THREAD_NAME, "daemon": True}
                threading.Thread(target=self._finish, args=args, **options).start()
            except Exception as error:  # for example, there is no memory for a process or thread
                with suppress(Exception):
                    worker.end()
                self._finish(future, partial(_raise_lost, "a worker could not begin", error))

    def _finish(self, future: PoolFuture, get_result: Callable[[], Any]) -> None:
        """Wait until a call ends, then release its worker and resolve its future."""
        try:
            report = partial(future.set_result, get_result())
        except BaseException as error:
            report = partial(future.set_exception, error)
        future.end_time = time.perf_counter()
        with self._lock:
            worker = self._running.pop(future, None)
        if worker is not None:  # otherwise the call was killed
            self._release(worker)
            report()

    def _release(self, worker: Any) -> None:
        with self._lock:
            self._free.append(worker)
            self._start_waiting()


class _Thread:
    """Worker that runs each call in a thread of this process."""

    def start(self, function: Callable[[], Any], future: PoolFuture) -> Callable[[], Any]:
        """Return a function that executes the call and returns its result."""
        future.start_time = time.perf_counter()
        return function

    def end(self) -> None:
        """Do nothing, because a thread cannot be stopped."""


class _Process:
    """Worker process that is started with its first call and restarted after a crash.

    A new process must import the modules that its first call needs. To exclude this time from the
    call, the process first receives the function without calling it. The call starts afterwards.
    """

    def __init__(self, env: Any) -> None:
        self._env = env
        self._executor: Any = None

    def start(self, function: Callable[[], Any], future: PoolFuture) -> Callable[[], Any]:
        """Submit a call to the process, and return a function that waits for its result."""
        try:
            return partial(_wait_for, self._submit(function, future))
        except BrokenExecutor:  # the process has died with its last call, or since then
            self._executor = None
            return partial(_wait_for, self._submit(function, future))

    def end(self) -> None:
        """Kill the worker process."""
        executor, self._executor = self._executor, None
        if executor is not None:
            kill_processes(executor)
            executor.shutdown(wait=True)

    def _submit(self, function: Callable[[], Any], future: PoolFuture) -> Any:
        if self._executor is None:
            self._executor = LokyExecutor(
                1, env=self._env, initializer=exit_when_orphaned, initargs=(os.getpid(),)
            )
            received = self._executor.submit(callable, function)
            received.add_done_callback(partial(_note_start, future))
            return self._executor.submit(function)
        submitted = self._executor.submit(function)
        _note_start(future)
        return submitted


def _wait_for(submitted: Any) -> Any:
    try:
        return submitted.result()
    except BrokenExecutor as error:
        _raise_lost("a process died", error)


def _raise_lost(text: str, error: BaseException) -> NoReturn:
    raise LostWorkerError(f"{text}: {error}") from error


def _note_start(future: PoolFuture, received: Any = None) -> None:
    future.start_time = time.perf_counter()


@cache  # start only one thread per process
def exit_when_orphaned(parent: int) -> None:
    """Make the current worker process exit soon after its parent process ends."""
    if os.name != "nt":  # on Windows, a process cannot tell that its parent has ended
        threading.Thread(target=_watch_parent, args=(parent,), daemon=True).start()


def _watch_parent(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(ORPHAN_CHECK)
    os._exit(1)
