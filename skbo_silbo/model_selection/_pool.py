"""Workers that a fit can be taken from when it runs too long."""

import os
import threading
import time
from collections import Counter, deque
from concurrent.futures import BrokenExecutor, Future
from dataclasses import dataclass
from functools import partial

import joblib
from joblib.externals.loky import ProcessPoolExecutor

from skbo_silbo.model_selection._backend import PROCESSES, THREADS
from skbo_silbo.model_selection._worker_death import is_worker_death

PAUSE = 0.05  # seconds after which `Pool.wait` returns at the latest
THREAD_NAME = "SILBOSearchCV fit"
N_TRIES = 2  # of a call whose worker dies
# As joblib's processes have them: not more threads in all than processors.
THREAD_LIMITS = (
    *("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS"),
    *("VECLIB_MAXIMUM_THREADS", "NUMBA_NUM_THREADS", "NUMEXPR_NUM_THREADS"),
)


@dataclass(frozen=True)
class WorkerLost:
    """In place of a result: a worker died with a call, as often as it was tried."""

    error: BaseException


@dataclass(eq=False)
class _Call:
    """A call on its way: its key, what to call, and the worker that has it."""

    key: tuple
    function: object
    n_tries: int = 0
    worker: object = None


class Pool:
    """As many workers as `n_workers`, each with one call at a time, results in any order.

    A worker is a process of its own, which is ended with a call that is given up, and replaced; or
    a thread, which is left behind. When a process dies, its call is made once more.

    Parameters
    ----------
    n_workers : int
    kind : {"processes", "threads"}
    """

    def __init__(self, n_workers, kind):
        make = {PROCESSES: partial(_Process, _limits(n_workers)), THREADS: _Thread}[kind]
        self._free = [make() for _ in range(n_workers)]
        self._ready, self._running, self._ended = deque(), [], []  # calls; (call, future)
        self._seconds = Counter()  # by group, of calls that have ended
        # Calls end in threads of their own, which let their worker have another: nothing is waited
        # for while this is held.
        self._changed = threading.Condition()

    def put(self, key, function):
        """Add a call, without arguments; `key` is a tuple that begins with its group."""
        with self._changed:
            self._ready.append(_Call(key, function))
            self._hand_out()

    def seconds(self, group):
        """Return how long all calls of a group have run together, those that have not ended too."""
        with self._changed:
            running = (c.worker.seconds for c in self._running if c.key[0] == group)
            return self._seconds[group] + sum(running)

    def give_up(self, group):
        """Make no more calls of a group, and end those that run."""
        with self._changed:
            lost = [call for call in self._running if call.key[0] == group]
            self._ready = deque(call for call in self._ready if call.key[0] != group)
            self._running = [call for call in self._running if call not in lost]
        self._renew([call.worker for call in lost])

    def wait(self):
        """Return (key, result) of what has ended, after a moment at the latest.

        The result is a `WorkerLost` for a call with which a worker has died twice; then its group
        is given up.

        Raises
        ------
        Exception
            What a call raised.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._ended, PAUSE)
            ended, self._ended = self._ended, []
        return [pair for call, future in ended for pair in self._results(call, future)]

    def close(self):
        """End all workers; what has not ended is given up."""
        with self._changed:
            self._ready.clear()
            failed = [call for call, future in self._ended if future.exception() is not None]
            workers = [*self._free, *(call.worker for call in [*self._running, *failed])]
            self._free, self._running, self._ended = [], [], []
        for worker in workers:
            worker.end()

    def _hand_out(self):
        while self._free and self._ready:
            call = self._ready.popleft()
            call.worker, call.n_tries = self._free.pop(), call.n_tries + 1
            self._running.append(call)
            call.worker.begin(call.function, partial(self._note, call))

    def _note(self, call, future):
        """Take notice, in whatever thread, that a call has ended; let its worker have another."""
        with self._changed:
            if call not in self._running:
                return  # given up
            self._running.remove(call)
            self._seconds[call.key[0]] += call.worker.seconds
            self._ended.append((call, future))
            if future.exception() is None:
                self._free.append(call.worker)
                self._hand_out()
            self._changed.notify_all()

    def _results(self, call, future):
        """Return key and result of a call that has ended, in a list; none if it is made again."""
        error = future.exception()
        if error is None:
            return [(call.key, future.result())]
        is_lost = is_worker_death(error)
        is_made_again = is_lost and call.n_tries < N_TRIES
        if is_made_again:
            with self._changed:
                self._ready.appendleft(call)
        else:
            self.give_up(call.key[0])
        self._renew([call.worker])
        if not is_lost:
            raise error
        return [] if is_made_again else [(call.key, WorkerLost(error))]

    def _renew(self, workers):
        for worker in workers:
            worker.end()
        with self._changed:
            self._free += workers
            self._hand_out()


class _Thread:
    """A thread for every call."""

    def begin(self, function, then):
        """Begin a call; when it has ended, `then` is called with its future."""
        self._since, future = time.monotonic(), Future()
        future.add_done_callback(then)
        threading.Thread(
            target=_settle, args=(future, function), name=THREAD_NAME, daemon=True
        ).start()

    @property
    def seconds(self):
        """How long the call has run."""
        return time.monotonic() - self._since

    def end(self):
        """Leave the call alone."""


class _Process:
    """A process, started when there is something to do.

    The time in which it starts, and imports what the first call needs, is not counted as the
    call's: that is sent to it twice, at first only to be unpickled.
    """

    def __init__(self, env):
        self._env, self._executor, self._since = env, None, None

    def begin(self, function, then):
        """Begin a call; when it has ended, `then` is called with its future."""
        try:
            future = self._submit(function)
        except BrokenExecutor as error:  # the process has died since its last call
            future = Future()
            future.set_exception(error)
        future.add_done_callback(then)

    @property
    def seconds(self):
        """How long the call has run."""
        return 0.0 if self._since is None else time.monotonic() - self._since

    def end(self):
        """End the process, whatever it does."""
        if self._executor is not None:
            self._executor.shutdown(wait=True, kill_workers=True)
            self._executor = None

    def _submit(self, function):
        if self._executor is None:
            self._since, self._executor = None, ProcessPoolExecutor(1, env=self._env)
            self._executor.submit(callable, function).add_done_callback(self._note_arrival)
        else:
            self._note_arrival()
        return self._executor.submit(function)

    def _note_arrival(self, future=None):
        self._since = time.monotonic()


def _settle(future, function):
    try:
        future.set_result(function())
    except BaseException as error:
        future.set_exception(error)


def _limits(n_workers):
    each = str(max(joblib.cpu_count() // n_workers, 1))
    return {name: os.environ.get(name, each) for name in THREAD_LIMITS}
