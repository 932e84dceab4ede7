"""Workers: any executor in the manner of ``concurrent.futures``, seen in one way.

A job is a point on its way through a worker. Executors take their jobs in the order of submission,
so the first of those in flight, as many as there are workers, are taken to be running: none of
them tells when a worker began.
"""

import contextlib
import pickle
import queue
import threading
import time
from concurrent.futures import (
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
)
from dataclasses import dataclass
from multiprocessing.reduction import ForkingPickler

from skbo_silbo._checks import check_picklable
from skbo_silbo.optimizers._timed_call import OfFunctionError, says_lost, timed, timed_elsewhere

FOREVER = float("inf")
SENT = (
    "Define it at the top level of a module; functools.partial of such a function holds further "
    "arguments. Or take loky's processes, executor=lambda: loky.ProcessPoolExecutor(4), which are "
    "sent lambdas and nested functions too, or a ThreadPoolExecutor."
)


class LostWorkerError(RuntimeError):
    """The worker that a call ran on was lost with it, and the executor can still be used.

    For executors, and for functions that start programs: `minimize` then evaluates the point again,
    as `n_retries` says. An executor that cannot be used any more raises
    ``concurrent.futures.BrokenExecutor``.
    """


@dataclass(eq=False)
class Job:
    """A point that is evaluated.

    Attributes
    ----------
    point : ndarray of shape (d,) or dict
    n_calls : int
        How often it was handed to an executor.
    losses : int
        How often a worker was lost with it.
    since : float or None
        When it began to run; None while it waits.
    alone : bool
        Whether nothing else may run beside it, as it may have killed a worker or the process.
    """

    point: object
    n_calls: int = 0
    losses: int = 0
    since: float | None = None
    alone: bool = False


@dataclass(frozen=True, eq=False)
class Outcome:
    """What became of a job: a value, or an error of the function, or a loss, or a timeout.

    Attributes
    ----------
    job : Job
    kind : {"value", "error", "lost", "hung"}
    value : object
        What the function returned, or the exception.
    seconds : float
        How long it ran, where it returned.
    """

    job: Job
    kind: str
    value: object = None
    seconds: float = 0.0


class InPlace(Executor):
    """One worker, which is the caller: `submit` returns when the function has.

    Attributes
    ----------
    returned : object
        What the last call returned, at once: for whoever is interrupted before its future.
    """

    _max_workers = 1
    returned = None

    def submit(self, fn, /, *args, **kwargs):
        """Return a future that is done; Ctrl-C passes."""
        future = Future()
        future.set_running_or_notify_cancel()
        try:
            self.returned = fn(*args, **kwargs)
            future.set_result(self.returned)
        except (Exception, SystemExit) as error:
            future.set_exception(error)
        return future


class OneThread(Executor):
    """One worker, in a thread of its own for every call: one that hangs is left behind."""

    _max_workers = 1

    def submit(self, fn, /, *args, **kwargs):
        """Return the future of a call in a new thread, which does not keep Python from ending."""
        future = Future()
        future.set_running_or_notify_cancel()

        def call():
            try:
                future.set_result(fn(*args, **kwargs))
            except BaseException as error:
                future.set_exception(error)

        threading.Thread(target=call, daemon=True).start()
        return future


class Workers:
    """The workers of an executor, and the jobs on their way.

    Parameters
    ----------
    executor : executor, or callable without arguments that returns one
        With `submit`. From a callable a new one is got when the last has broken.
    func : callable
        Called with a point.
    timeout : float or None
        Seconds after which a running job is given up, and its worker counted as lost.
    assumed : int or None
        How many workers there are where the executor does not say.
    """

    def __init__(self, executor, func, timeout=None, assumed=None):
        self._make = None if is_executor(executor) else executor
        self._executor = executor if self._make is None else _made(executor)
        self._func, self._timeout = func, FOREVER if timeout is None else timeout
        self._hung = set()  # futures whose workers do not come back
        try:
            _check_can_be_sent(func, self._executor)
            self.n_workers = count_workers(self._executor, assumed)
        except ValueError:
            self.close(wait=False)
            raise
        self._jobs = {}  # future -> job, in the order of submission
        self._unrecorded = {}  # job -> future, until `forget`
        self._submitting = None
        self._done = queue.SimpleQueue()

    @property
    def _call(self):
        """What is submitted with a point: elsewhere, with what its exceptions are pickled by."""
        if self.is_in_process:
            return timed, self._func
        return timed_elsewhere, self._func, isinstance(self._executor, ProcessPoolExecutor)

    @property
    def n_jobs(self):
        """How many jobs are in flight."""
        return len(self._jobs)

    @property
    def n_usable(self):
        """How many workers do not hang."""
        return 1 if self.is_local else self.n_workers - len(self._hung)

    @property
    def is_local(self):
        """Whether the one worker is the caller, or a thread of it."""
        return isinstance(self._executor, (InPlace, OneThread))

    @property
    def is_in_process(self):
        """Whether the workers are of this process, which dies with any of them.

        No executor tells: threads are those of `ThreadPoolExecutor` and of what derives from it.
        """
        return self.is_local or isinstance(self._executor, ThreadPoolExecutor)

    @property
    def can_be_replaced(self):
        """Whether a broken executor is followed by another."""
        return self._make is not None

    def submit(self, job):
        """Hand a job to the executor."""
        if isinstance(self._executor, InPlace):
            self._executor.returned = None
        job.since, self._submitting = None, job
        point = job.point.copy()  # the function may change its argument
        future = self._executor.submit(*self._call, point)
        self._unrecorded[job] = future
        self._jobs[future], self._submitting = job, None
        future.add_done_callback(self._done.put)
        self._note_running()

    def wait(self, until=FOREVER):
        """Return the outcomes that there are, after waiting for one; none when the time is up.

        Parameters
        ----------
        until : float
            Of `time.perf_counter`.
        """
        while True:
            outcomes = self.collect()
            now = time.perf_counter()
            if outcomes or now >= until or not self._jobs:
                return outcomes
            left = min(until, self._deadline()) - now
            with contextlib.suppress(queue.Empty):
                future = self._done.get(timeout=max(min(left, 3600.0), 0.0))
                self._done.put(future)  # for `collect`

    def forget(self, job):
        """Take notice that the outcome of a job is recorded."""
        self._unrecorded.pop(job, None)

    def returned(self):
        """Return (job, value) of every call that has returned and is not recorded."""
        found = []
        for job, future in self._unrecorded.items():
            if future.done() and not future.cancelled() and future.exception() is None:
                found.append((job, future.result()[0]))
        if self._submitting is not None and self._submitting not in self._unrecorded:
            value = self._executor.returned if isinstance(self._executor, InPlace) else None
            found += [] if value is None else [(self._submitting, value[0])]
        return found

    def collect(self):
        """Return the outcomes that there are, without waiting."""
        outcomes = []
        with contextlib.suppress(queue.Empty):
            while True:
                future = self._done.get_nowait()
                self._hung.discard(future)
                if future in self._jobs:
                    outcomes.append(self._outcome(future, self._jobs.pop(future)))
        self._note_running()
        return outcomes + self._give_up_hanging()

    def cancel_waiting(self):
        """Take back what no worker has begun; return the jobs."""
        futures = [future for future in self._jobs if future.cancel()]
        return [self._jobs.pop(future) for future in futures]

    def replace(self):
        """Get another executor; all jobs must have come back."""
        self.close(wait=False)
        self._executor = _made(self._make)
        self._hung.clear()

    def close(self, *, wait):
        """Shut the executor down if it was made here."""
        if self._make is not None:
            self._executor.shutdown(wait=wait and not self._hung)

    def _outcome(self, future, job):
        try:
            value, seconds = future.result()
        except OfFunctionError as raised:
            error = raised.error
            if error.__cause__ is None and raised.__cause__ is not error:
                error.__cause__ = raised.__cause__  # the traceback in the worker
            return Outcome(job, "error", error)
        except BaseException as error:
            if isinstance(error, pickle.PicklingError):
                error.add_note(f"minimize: if this is of func, {self._func!r}: {SENT}")
            is_lost = isinstance(error, LostWorkerError) or says_lost(error)
            return Outcome(job, "lost" if is_lost else "error", error)
        return Outcome(job, "value", value, seconds)

    def _note_running(self):
        now = time.perf_counter()
        for _, job in zip(range(max(self.n_usable, 0)), self._jobs.values(), strict=False):
            job.since = now if job.since is None else job.since

    def _deadline(self):
        began = [job.since for job in self._jobs.values() if job.since is not None]
        return min(began, default=FOREVER) + self._timeout

    def _give_up_hanging(self):
        now, outcomes = time.perf_counter(), []
        for future, job in list(self._jobs.items()):
            if job.since is not None and now >= job.since + self._timeout and not future.done():
                del self._jobs[future]
                if not future.cancel():  # else it had not begun: no worker is lost
                    self._hung.add(future)
                outcomes.append(Outcome(job, "hung"))
        return outcomes


def is_executor(executor):
    """Whether this is an executor itself, and not a class or another callable that makes one."""
    return hasattr(executor, "submit") and not isinstance(executor, type)


def _made(make):
    """Return the executor that a callable makes, or refuse what it makes."""
    executor = make()
    if not is_executor(executor):
        raise ValueError(
            f"executor must have submit(), or be a callable that returns such an executor: {make!r}"
            f" returned {executor!r}. Write lambda: ThreadPoolExecutor(4), say."
        )
    return executor


def count_workers(executor, assumed=None):
    """Return how many workers an executor has.

    ``concurrent.futures`` and loky keep the number in ``_max_workers``, mpi4py in
    ``num_workers``, and an executor of Dask has a client that knows its cluster.

    Raises
    ------
    ValueError
        When it does not say, and `assumed` is None.
    """
    for name in ("_max_workers", "num_workers"):
        number = getattr(executor, name, None)
        if isinstance(number, int):
            return max(number, 1)
    client = getattr(executor, "_client", None)
    if client is not None and hasattr(client, "nthreads"):
        return max(sum(client.nthreads().values()), 1)
    if assumed is not None:
        return assumed
    raise ValueError(
        f"executor must say how many workers it has: got {executor!r}, which does not. "
        "Give n_pending, the number of points to be evaluated at once."
    )


def _check_can_be_sent(func, executor):
    """Refuse, before a call is paid for, a function that the standard library cannot send.

    A subclass with a submit() of its own may send more, by cloudpickle.
    """
    is_plain = isinstance(executor, ProcessPoolExecutor)
    if is_plain and type(executor).submit is ProcessPoolExecutor.submit:
        check_picklable("func", func, ForkingPickler.dumps, "a ProcessPoolExecutor", SENT)
