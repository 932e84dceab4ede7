"""The scheduler of calls on an executor: begun, ended, late, lost and made again alone.

Executors take their calls in the order of submission, so the first of those in flight, as many as
there are workers, are taken to be running: none of them tells when a worker began; our own `Pool`
does.
"""

import math
import pickle
import queue
import time
from collections import defaultdict, deque
from collections.abc import Callable, Hashable
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from skbo_silbo.workers._executors import (
    SENT,
    InPlace,
    check_can_be_sent,
    check_is_future,
    count_workers,
    end_hanging,
    is_executor,
    made,
)
from skbo_silbo.workers._losses import says_lost
from skbo_silbo.workers._pool import Pool, PoolFuture
from skbo_silbo.workers._timed_call import OfFunctionError, timed, timed_elsewhere

FOREVER = float("inf")
LONGEST_WAIT = 3600.0  # seconds; some systems take no more
PAUSE = 0.05  # seconds after which it is looked for calls that are late
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
        self._make = None if is_executor(executor) else executor
        self._executor = executor if self._make is None else made(executor)
        self._timeout = FOREVER if timeout is None else timeout
        self._n_retries, self._what = n_retries, what
        self._n_ahead = math.inf if n_ahead is None else n_ahead
        self._waiting: deque[Call] = deque()
        self._jobs: dict[Any, Call] = {}  # futures to calls, in the order handed over
        self._hung: set[Any] = set()  # futures whose workers do not come back
        self._seconds: dict[Any, float] = defaultdict(float)  # by group, of calls that have ended
        self._unrecorded: dict[Call, Any] = {}  # calls to futures, until `forget`
        self._submitting: Call | None = None
        self._broken: BaseException | None = None
        self._is_ending = False
        self._done: queue.SimpleQueue = queue.SimpleQueue()
        try:
            self.n_workers = count_workers(self._executor, n_workers)
            check_can_be_sent(func, self._executor)
        except ValueError:
            self.close(wait=False)
            raise

    @property
    def n_calls(self) -> int:
        """How many calls are in flight, or wait to be made."""
        return len(self._jobs) + len(self._waiting)

    @property
    def n_usable(self) -> int:
        """How many workers do not hang."""
        return self.n_workers - len(self._hung)

    @property
    def is_local(self) -> bool:
        """Whether the one worker is the caller, or a thread of ours."""
        return isinstance(self._executor, InPlace | Pool) and self.n_workers == 1

    @property
    def is_in_process(self) -> bool:
        """Whether the workers are of this process, which dies with any of them.

        No executor of others tells: their threads are those of a `ThreadPoolExecutor`.
        """
        is_threads = isinstance(self._executor, ThreadPoolExecutor)
        return getattr(self._executor, "is_in_process", is_threads)

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
        while True:
            self._hand_over(until)
            outcomes += self._collect()
            if self.n_usable <= 0 and (self._is_ending or self._make is not None):
                self._leave_hanging()
            elif self._broken is not None and not self._jobs:
                outcomes += self._mend()
            now = time.perf_counter()
            is_over = outcomes or now >= until or not self.n_calls or self.n_usable <= 0
            if is_over and self._broken is None:
                return outcomes
            if self._jobs:
                self._wait_for_any(until - now)

    def seconds(self, group: Hashable) -> float:
        """Return how long all calls of a group have run together, those that have not ended too."""
        now = time.perf_counter()
        running = (call.since for call in self._jobs.values() if call.group == group)
        return self._seconds[group] + sum(now - since for since in running if since is not None)

    def give_up(self, group: Hashable) -> None:
        """Make no more calls of a group, and end those that run, where that can be done."""
        self._waiting = deque(call for call in self._waiting if call.group != group)
        futures = [future for future, call in self._jobs.items() if call.group == group]
        for future in reversed(futures):  # a worker that is freed must not begin the next of them
            self._abandon(future)

    def forget(self, call: Call) -> None:
        """Record that the outcome of a call is kept."""
        self._unrecorded.pop(call, None)

    def returned(self) -> list[tuple[Call, Any]]:
        """Return (call, value) of every call that has returned and is not recorded."""
        found = []
        for call, future in self._unrecorded.items():
            if future.done() and not future.cancelled() and future.exception() is None:
                found.append((call, future.result()[0]))
        if self._submitting is not None and self._submitting not in self._unrecorded:
            value = self._executor.returned if isinstance(self._executor, InPlace) else None
            found += [] if value is None else [(self._submitting, value[0])]
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
                end_hanging(self._executor)
            else:
                self._executor.shutdown(wait=wait)

    # --- handing over ---

    def _hand_over(self, until=FOREVER):
        """Hand the executor what may run: beside a call that goes alone there is nothing else."""
        while self._waiting and self._broken is None and self.n_usable > 0:
            alone = self.must_run_alone or isinstance(self._executor, InPlace)
            is_full = len(self._jobs) >= (1 if alone else self._n_ahead)
            if is_full or time.perf_counter() >= until:
                return
            self._begin(self._waiting.popleft())

    def _begin(self, call):
        if isinstance(self._executor, InPlace):
            self._executor.returned = None
        call.since, self._submitting = None, call
        if self.on_begin is not None:
            self.on_begin(call)
        try:
            future = self._executor.submit(*self._sent(call), *call.args)
            check_is_future(future, self._executor)
        except BrokenExecutor as error:
            self._put_back([call])
            self._broken = error
            return
        except Exception:  # no call was made, as where the executor was shut down
            self._put_back([call])
            raise
        self._unrecorded[call] = future
        self._jobs[future], self._submitting = call, None
        future.add_done_callback(self._done.put)
        self._note_running()

    def _sent(self, call):
        """Return what is submitted: elsewhere, with what its exceptions are pickled by."""
        if self.is_in_process:
            return timed, call.function
        is_plain = isinstance(self._executor, ProcessPoolExecutor)
        return timed_elsewhere, call.function, self._what, is_plain

    def _put_back(self, calls):
        """Have calls that had not begun wait, before all others but those that go alone."""
        for call in calls:
            self._submitting = None
            if self.on_take_back is not None:
                self.on_take_back(call)
        self._waiting.extendleft(reversed(calls))
        self._waiting = deque(sorted(self._waiting, key=lambda call: not call.alone))

    # --- what becomes of calls ---

    def _wait_for_any(self, seconds):
        longest = LONGEST_WAIT if self._timeout == FOREVER else PAUSE
        with suppress(queue.Empty):
            future = self._done.get(timeout=max(min(seconds, longest), 0.0))
            self._done.put(future)  # for `_collect`

    def _collect(self):
        """Return the outcomes that there are, without waiting."""
        outcomes = []
        with suppress(queue.Empty):
            while True:
                future = self._done.get_nowait()
                self._hung.discard(future)
                if future in self._jobs:
                    outcomes += self._outcome(future, self._jobs.pop(future))
        self._note_running()
        return outcomes + self._give_up_late()

    def _outcome(self, future, call):
        """Return the outcome in a list; none of a call that is made again."""
        call.since, until = _times(future, call.since)
        if call.since is not None:
            self._seconds[call.group] += until - call.since
        try:
            value, seconds = future.result()
        except OfFunctionError as raised:
            error = raised.error
            if error.__cause__ is None and raised.__cause__ is not error:
                error.__cause__ = raised.__cause__  # the traceback in the worker
            return [Outcome(call, "error", error)]
        except BaseException as error:
            if says_lost(error):
                return self._lost(call, error)
            if isinstance(error, pickle.PicklingError):
                error.add_note(f"if this is of {self._what}: {SENT}")
            return [Outcome(call, "error", error)]
        return [Outcome(call, "value", value, seconds)]

    def _lost(self, call, error):
        """Have a call made again, alone, or give it up; with an executor that breaks all others."""
        if self._is_ending:
            return []
        if isinstance(error, BrokenExecutor):
            self._broken = error
            if call.since is None:
                self._put_back([call])
                return []
            if self._make is None:
                return []
        call.losses, call.alone = call.losses + 1, True
        if call.losses > self._n_retries:
            return [Outcome(call, "lost", error)]
        n_alone = sum(waiting.alone for waiting in self._waiting)
        self._waiting.insert(n_alone, call)
        return []

    def _give_up_late(self):
        if self._timeout == FOREVER:
            return []
        outcomes = []
        for future, call in list(self._jobs.items()):
            is_late = call.since is not None and self.seconds(call.group) >= self._timeout
            if is_late and future in self._jobs and not future.done():
                self.give_up(call.group)
                outcomes.append(Outcome(call, "late"))
        return outcomes

    def _abandon(self, future):
        """Hear no more of a call; its worker is ended, or lost until it returns."""
        del self._jobs[future]
        if future.cancel():  # it had not begun: no worker is lost
            return
        if isinstance(self._executor, Pool):
            self._executor.kill(future)
        elif not future.done():
            self._hung.add(future)

    def _leave_hanging(self):
        """Take all calls from workers that hang, and get others."""
        calls = list(self._jobs.values())
        self._jobs.clear()
        self._put_back(calls)
        if self._is_ending:
            self._waiting.clear()
        else:
            self._replace()

    def _mend(self):
        """Get another executor for one that is broken."""
        error, self._broken = self._broken, None
        if self._make is None:
            error.add_note(f"minimize: {BROKEN}")
            return [Outcome(None, "broken", error)]
        self._replace()
        return []

    def _replace(self):
        self.close(wait=False)
        self._executor = made(self._make)
        self._hung.clear()

    def _note_running(self):
        now = time.perf_counter()
        for future, call in islice(self._jobs.items(), max(self.n_usable, 0)):
            call.since, _ = _times(future, now if call.since is None else call.since)


def _times(future, since):
    """Return when a call began, by all that is known, and when it ended, now at the latest."""
    if isinstance(future, PoolFuture):
        return future.since, future.until or time.perf_counter()
    return since, time.perf_counter()
