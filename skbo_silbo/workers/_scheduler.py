"""The scheduler of calls on an executor: begun, ended, late, lost and made again alone.

Executors take their calls in the order of submission, so the first of those in flight, as many as
there are workers, are taken to be running: none of them tells when a worker began; our own `Pool`
does.
"""

import math
import pickle
import queue
import time
from collections import defaultdict
from collections.abc import Callable, Hashable
from concurrent.futures import (
    BrokenExecutor,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
)
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from skbo_silbo.workers import _executors as executors
from skbo_silbo.workers._calls import OfFunctionError, says_lost, timed, timed_elsewhere
from skbo_silbo.workers._joblib import Pool

FOREVER = float("inf")
LONGEST_WAIT = 3600.0  # seconds; some systems take no more
PAUSE = 0.05  # seconds after which it is looked for calls that are late
MEMORY = 0.7  # of the running figures of how long proposals and calls take
NEGLIGIBLE = 0.05  # calls that end while one proposal is made: then none is made ahead
SHORTEST = 1e-9  # seconds
BROKEN = (
    "the executor is broken, and what was running is lost with it. Give executor as a callable, "
    "such as lambda: ProcessPoolExecutor(4), to go on with another: the points are then evaluated "
    "again, alone, n_retries times."
)


@dataclass(eq=False)
class Call:
    """A call on its way."""

    key: Any  # what it is to who wants it
    function: Callable[..., Any]
    args: tuple = ()
    alone: bool = False  # nothing may run beside it: it may have killed a worker or the process
    group: Hashable = field(default_factory=object)  # its calls share the timeout
    losses: int = 0  # how often a worker was lost with it
    since: float | None = None  # when it began to run; None while it waits


@dataclass(frozen=True, eq=False)
class Outcome:
    """What became of a call.

    Its kind is "value" (it returned), "error" (it raised), "lost" (its worker was, more often than
    it is made again), "late" (its group took too long and is given up) or "broken" (the executor,
    which cannot be replaced, lost all calls).
    """

    call: Call | None
    kind: str
    value: Any = None  # what the function returned, or the exception
    seconds: float = 0.0  # how long it ran, where it returned


class Scheduler:
    """Has calls made by the workers of an executor, and says what became of each.

    Parameters
    ----------
    executor : executor, or callable without arguments that returns one
        With `submit`, which returns a future. From a callable a new one is got when the last has
        broken or all its workers hang; what it returns is shut down in the end if it can be, its
        processes that hang are killed.
    timeout : float or None, default=None
        Seconds after which a call is given up, and its worker counted as lost if it cannot be
        ended.
    n_workers : int or None, default=None
        How many workers there are where the executor does not say.
    n_retries : int, default=1
        How often a call is made again, alone, whose worker was lost.
    func : callable or None, default=None
        What all calls are of, to be refused where it cannot be sent to the workers.
    what : str, default="func"
        What a function is called in messages.
    n_ahead : int or None, default=None
        How many calls are handed to the executor at once; the others wait here. None: all.

    Attributes
    ----------
    on_begin, on_take_back : callable or None
        To be set: called with a `Call` before it is handed to the executor, each time; and when it
        has come back without having begun.
    """

    on_begin = on_take_back = None

    def __init__(
        self,
        executor,
        *,
        timeout=None,
        n_workers=None,
        n_retries=1,
        func=None,
        what="func",
        n_ahead=None,
    ):
        self._make = None if executors.is_executor(executor) else executor
        self._timeout = FOREVER if timeout is None else timeout
        self._n_retries, self._what = n_retries, what
        self._n_ahead = math.inf if n_ahead is None else n_ahead
        self._waiting: list[Call] = []
        self._jobs: dict[Any, Call] = {}  # futures to calls, in the order handed over
        self._hung: set[Any] = set()  # futures whose workers do not come back
        self._seconds: dict[Any, float] = defaultdict(float)  # by group, of calls that have ended
        # calls to futures, until `forget`; None while it is handed over
        self._unrecorded: dict[Call, Any] = {}
        self._broken: BaseException | None = None
        self._is_ending = False
        self._done: queue.SimpleQueue = queue.SimpleQueue()
        self._have(executor if self._make is None else executors.made(executor))
        try:
            self.n_workers = executors.count_workers(self._executor, n_workers)
            executors.check_can_be_sent(func, self._executor)
        except ValueError:
            self.close(wait=False)
            raise
        # whether the one worker is the caller, or a thread of ours
        self.is_local = isinstance(self._executor, InPlace | Pool) and self.n_workers == 1

    def _have(self, executor):
        self._executor, self._is_here = executor, isinstance(executor, InPlace)
        # No executor of others tells: their threads are those of a `ThreadPoolExecutor`.
        is_threads = isinstance(executor, ThreadPoolExecutor)
        self.is_in_process: bool = getattr(executor, "is_in_process", is_threads)
        # Elsewhere exceptions are pickled by what the executor has.
        is_plain = isinstance(executor, ProcessPoolExecutor)
        self._timed: Callable = timed if self.is_in_process else timed_elsewhere
        self._how = () if self.is_in_process else (self._what, is_plain)

    @property
    def n_calls(self) -> int:
        """How many calls are in flight, or wait to be made."""
        return len(self._jobs) + len(self._waiting)

    @property
    def n_usable(self) -> int:
        """How many workers do not hang."""
        return self.n_workers - len(self._hung)

    @property
    def must_run_alone(self) -> bool:
        """Whether a call is there that nothing may run beside."""
        return any(call.alone for call in (*self._waiting, *self._jobs.values()))

    def submit(self, call: Call) -> None:
        """Have a call made, as soon as it may be."""
        self._waiting.append(call)
        self._hand_over()

    def wait(self, until: float = FOREVER) -> list[Outcome]:
        """Return the outcomes that there are, after waiting for one; none when the time is up.

        No call begins after `until`, of `time.perf_counter`.
        """
        outcomes: list[Outcome] = []
        longest, seconds = LONGEST_WAIT if self._timeout == FOREVER else PAUSE, 0.0
        while True:
            self._hand_over(until)
            outcomes += self._collect(seconds)
            hangs = self.n_usable <= 0 and (self._is_ending or self._make is not None)
            if hangs or (self._broken is not None and not self._jobs):
                outcomes += self._renew()
            now = time.perf_counter()
            is_over = outcomes or now >= until or not self.n_calls or self.n_usable <= 0
            if is_over and self._broken is None:
                return outcomes
            seconds = max(min(until - now, longest), 0.0) if self._jobs else 0.0

    def seconds(self, group: Hashable) -> float:
        """Return how long all calls of a group have run together, those that have not ended too."""
        now = time.perf_counter()
        running = (call.since for call in self._jobs.values() if call.group == group)
        return self._seconds[group] + sum(now - since for since in running if since is not None)

    def give_up(self, group: Hashable) -> None:
        """Make no more calls of a group, and end those that run, where that can be done."""
        self._waiting = [call for call in self._waiting if call.group != group]
        futures = [future for future, call in self._jobs.items() if call.group == group]
        for future in reversed(futures):  # a worker that is freed must not begin the next of them
            del self._jobs[future]
            if future.cancel():  # it had not begun: no worker is lost
                continue
            if isinstance(self._executor, Pool):
                self._executor.kill(future)
            elif not future.done():
                self._hung.add(future)

    def forget(self, call: Call) -> None:
        """Record that the outcome of a call is kept."""
        self._unrecorded.pop(call, None)

    def returned(self) -> list[tuple[Call, Any]]:
        """Return (call, value) of every call that has returned and is not recorded."""
        found = []
        for call, future in self._unrecorded.items():
            if future is None:
                value = self._executor.returned if self._is_here else None
                found += [] if value is None else [(call, value[0])]
            elif future.done() and not future.cancelled() and future.exception() is None:
                found.append((call, future.result()[0]))
        return found

    def drain(self) -> None:
        """Begin no further call, not those that are lost either."""
        self._is_ending, self._broken = True, None
        self._put_back([self._jobs.pop(future) for future in list(self._jobs) if future.cancel()])
        self._waiting.clear()

    def close(self, *, wait: bool) -> None:
        """Shut the executor down if it was made here."""
        if self._make is not None and hasattr(self._executor, "shutdown"):
            if self._hung:
                executors.end_hanging(self._executor)
            else:
                self._executor.shutdown(wait=wait)

    def _hand_over(self, until=FOREVER):
        """Hand the executor what may run: beside a call that goes alone there is nothing else."""
        while self._waiting and self._broken is None and self.n_usable > 0:
            most = 1 if self._is_here or self.must_run_alone else self._n_ahead
            if len(self._jobs) >= most or time.perf_counter() >= until:
                return
            self._begin(self._waiting.pop(0))

    def _begin(self, call):
        if self._is_here:
            self._executor.returned = None
        call.since = self._unrecorded[call] = None
        if self.on_begin is not None:
            self.on_begin(call)
        try:
            future = self._executor.submit(self._timed, call.function, *self._how, *call.args)
            executors.check_is_future(future, self._executor)
            future.add_done_callback(self._done.put)
        except Exception as error:  # no call was made, as where the executor was shut down
            self._put_back([call])
            if not isinstance(error, BrokenExecutor):
                raise
            self._broken = error
            return
        self._unrecorded[call], self._jobs[future] = future, call
        self._note_running()

    def _put_back(self, calls):
        """Have calls that had not begun wait, before all others but those that go alone."""
        for call in calls:
            self.forget(call)
            if self.on_take_back is not None:
                self.on_take_back(call)
        self._waiting = sorted([*calls, *self._waiting], key=_goes_with_others)

    def _note_running(self):
        """Note when calls began: those of others that are taken to be running, now."""
        now = time.perf_counter()
        for future, call in islice(self._jobs.items(), max(self.n_usable, 0)):
            if call.since is None:
                call.since = getattr(future, "since", now)

    def _collect(self, seconds):
        """Return the outcomes that there are, after waiting so long for one."""
        outcomes = []
        with suppress(queue.Empty):
            while True:
                future, seconds = self._done.get(timeout=seconds), 0.0
                self._hung.discard(future)
                if future in self._jobs:
                    outcomes += self._outcome(future, self._jobs.pop(future))
        self._note_running()
        for future, call in list(self._jobs.items() if self._timeout < FOREVER else ()):
            is_running = call.since is not None and future in self._jobs and not future.done()
            if is_running and self.seconds(call.group) >= self._timeout:
                self.give_up(call.group)
                outcomes.append(Outcome(call, "late"))
        return outcomes

    def _outcome(self, future, call):
        """Return the outcome in a list; none of a call that is made again."""
        call.since = getattr(future, "since", call.since)
        if call.since is not None:
            self._seconds[call.group] += getattr(future, "until", time.perf_counter()) - call.since
        try:
            return [Outcome(call, "value", *future.result())]
        except OfFunctionError as raised:
            error = raised.error
            if error.__cause__ is None and raised.__cause__ is not error:
                error.__cause__ = raised.__cause__  # the traceback in the worker
        except BaseException as raised:
            error = raised
            if says_lost(error):
                return self._lost(call, error)
            if isinstance(error, pickle.PicklingError):
                error.add_note(f"if this is of {self._what}: {executors.SENT}")
        return [Outcome(call, "error", error)]

    def _lost(self, call, error):
        """Have a call made again, alone, or give it up; with an executor that breaks all others."""
        if self._is_ending:
            return []
        if isinstance(error, BrokenExecutor):
            self._broken = error
            if call.since is None:
                self._put_back([call])
            if call.since is None or self._make is None:
                return []
        call.losses, call.alone = call.losses + 1, True
        if call.losses > self._n_retries:
            return [Outcome(call, "lost", error)]
        self._waiting = sorted([*self._waiting, call], key=_goes_with_others)
        return []

    def _renew(self):
        """Get other workers for those that hang or are broken; say so if that cannot be done."""
        error, self._broken = self._broken, None
        if error is not None and self._make is None:
            error.add_note(f"minimize: {BROKEN}")
            return [Outcome(None, "broken", error)]
        self._put_back([self._jobs.pop(future) for future in list(self._jobs)])
        if self._is_ending:
            self._waiting.clear()
        else:
            self.close(wait=False)
            self._have(executors.made(self._make))
            self._hung.clear()
        return []


def _goes_with_others(call):
    return not call.alone


class InPlace(Executor):
    """One worker, which is the caller: `submit` returns when the function has."""

    _max_workers = 1
    is_in_process = True
    returned = None  # what the last call did, for whoever is interrupted before its future

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Return a future that is done; Ctrl-C passes."""
        future: Future[Any] = Future()
        try:
            self.returned = fn(*args, **kwargs)
            future.set_result(self.returned)
        except (Exception, SystemExit) as error:
            future.set_exception(error)
        return future


class Pace:
    """Of late: how long the longest proposal took, and a call in the mean; in seconds."""

    def __init__(self) -> None:
        self._proposing: float | None = None
        self._calling: float | None = None

    def note_proposal(self, seconds: float) -> None:
        """Record how long a proposal took: a decaying maximum.

        A model that tunes itself now and then takes far longer than one that does not.
        """
        recent = _running_mean(self._proposing, seconds)
        self._proposing = seconds if self._proposing is None else max(seconds, recent)

    def note_call(self, seconds: float) -> None:
        """Record how long a call took."""
        self._calling = _running_mean(self._calling, seconds)

    def n_ahead(self, n_workers: int) -> int:
        """Return how many calls to have ready beyond those that run.

        As many as end while a proposal is made, at most one for every worker; one while nothing
        is known.
        """
        if self._calling is None or self._proposing is None:
            return 1
        n_ending = n_workers * self._proposing / max(self._calling, SHORTEST)
        return 0 if n_ending < NEGLIGIBLE else min(math.ceil(n_ending), n_workers)


def _running_mean(mean, value):
    return value if mean is None else MEMORY * mean + (1.0 - MEMORY) * value
