"""The scheduler, which runs calls in an executor and reports how each call ended.

The life of a call::

    submit ──> waiting ──> in flight ──> outcome "value", "error" or "late"
                  ^            │
                  ├────────────┤  the executor broke, or all its workers hang, and the call had
                  │            │  not begun
                  └────────────┘  its worker was lost: the call is repeated, alone, at most
                                  `n_retries` times; after that its outcome is "lost"

`on_begin` is called when a call is sent to the executor ("in flight"), and `on_take_back` when it
is taken back before it has begun. A call that must run alone is only sent when no other call is in
flight, and no other call is sent until it has ended.

Executors begin calls in the order of submission, but do not report when a call begins. Therefore,
the oldest calls in flight, one per worker, are assumed to be running. Only `Pool` records the
start.
"""

import math
import pickle
import queue
import time
from collections import defaultdict
from collections.abc import Callable, Hashable
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor
from contextlib import suppress
from functools import partial
from itertools import islice
from operator import attrgetter
from typing import Any

from skbo_silbo.workers import _executors as executors
from skbo_silbo.workers._pool import Pool
from skbo_silbo.workers.calls import (
    Call,
    OfFunctionError,
    Outcome,
    call_in_process,
    call_in_worker,
    is_loss,
)

FOREVER = math.inf
LONGEST_WAIT = 3600.0  # in seconds; some systems do not accept longer waits
N_AHEAD = (
    1  # calls that wait, so that no worker is idle during a proposal (doc/benchmarks/kept.rst)
)
PAUSE = 0.05  # seconds between two checks for calls that are late
BROKEN = (
    "minimize: the executor is broken, and the running evaluations are lost with it. Give executor "
    "as a callable, such as lambda: ProcessPoolExecutor(4): minimize then makes a new executor and "
    "evaluates these points again, alone, n_retries times."
)


class Scheduler:
    """Runs function calls in the workers of an executor and collects their outcomes.

    Parameters
    ----------
    executor : executor, or callable without arguments that returns one
        Executor that runs the calls, with a method `submit` that returns a future. A callable is
        called again if the executor breaks or all its workers hang. Executors that it created are
        shut down at the end if they have a method `shutdown`.
    timeout : float or None, default=None
        Time in seconds after which a call is abandoned. A `Pool` ends its worker. In other
        executors, the worker counts as hanging until the call returns.
    n_pending : int or None, default=None
        Number of calls that are waiting or in flight at the same time. It is also used as the
        number of workers if the executor does not provide it. None means one call per worker, plus
        as many calls as end while the caller prepares the next one.
    n_retries : int, default=1
        Number of times to repeat a call whose worker was lost. A repeated call runs alone.
    func : callable or None, default=None
        The function that all calls execute. If it is passed, an error is raised if it cannot be
        sent to the workers.
    what : str, default="func"
        Name of the function, used in messages.
    most_in_flight : int or None, default=None
        Largest number of calls in flight at the same time. None means no limit.

    Attributes
    ----------
    on_begin, on_take_back : callable or None
        Functions that are called with a `Call`: `on_begin` when it is sent to the executor, and
        `on_take_back` when it is taken back before it has begun. None calls nothing.
    is_in_process : bool
        Whether calls run in this process, so that they may kill it.
    """

    on_begin: Callable[[Call], None] | None = None
    on_take_back: Callable[[Call], None] | None = None

    def __init__(
        self,
        executor: Any,
        *,
        timeout: float | None = None,
        n_pending: int | None = None,
        n_retries: int = 1,
        func: Callable[..., Any] | None = None,
        what: str = "func",
        most_in_flight: int | None = None,
    ) -> None:
        self._make = None if executors.is_executor(executor) else executor
        self.timeout = timeout
        self._n_retries, self._what = n_retries, what
        self._waiting: list[Call] = []
        self._in_flight: dict[Any, Call] = {}  # future -> call, the oldest first
        self._unrecorded: dict[Call, Any] = {}  # futures of the values
        self._reported: list[Call] = []  # calls whose outcomes the last `wait` returned
        self._hanging: set[Any] = set()  # futures of abandoned calls whose workers are still busy
        self._seconds: dict[Any, float] = defaultdict(float)  # group -> time of its ended calls
        self._breakage: BaseException | None = None  # the exception with which the executor broke
        self._is_draining = False
        self._done: queue.SimpleQueue = queue.SimpleQueue()  # futures
        self._use(executor if self._make is None else executors.make_executor(self._make))
        try:
            self.n_workers = executors.count_workers(self._executor, n_pending)
            executors.check_sendable(func, self._executor)
        except ValueError:
            self.close(wait=False)
            raise
        self._n_pending = n_pending
        self._most_in_flight = math.inf if most_in_flight is None else most_in_flight

    @property
    def n_calls(self) -> int:
        """Number of calls that are waiting or have been sent to the executor."""
        return len(self._in_flight) + len(self._waiting)

    @property
    def n_usable(self) -> int:
        """Number of workers that respond."""
        return self.n_workers - len(self._hanging)

    @property
    def n_free(self) -> int:
        """Number of calls that can be submitted to keep all workers busy."""
        if self._must_run_alone:
            return 0
        if self._n_pending is not None:
            return self._n_pending - self.n_calls
        is_one_thread = isinstance(self._executor, Pool) and self.n_workers == 1
        return self.n_usable + (0 if is_one_thread else N_AHEAD) - self.n_calls

    @property
    def _must_run_alone(self) -> bool:
        """Whether a waiting or running call must not share the executor with others."""
        return any(call.alone for call in (*self._waiting, *self._in_flight.values()))

    def submit(self, call: Call, until: float = FOREVER) -> None:
        """Submit a function call, which is sent to the executor as soon as possible.

        It is not sent after the time `until`.
        """
        self._waiting.append(call)
        self._send_waiting(until)

    def wait(self, until: float = FOREVER) -> list[Outcome]:
        """Wait until a call ends, and return all outcomes available.

        Values returned by the previous `wait` count as recorded. If no call ends before the time
        `until` (of `time.perf_counter`), the list is empty. No call is sent to the executor after
        that time.
        """
        for call in self._reported:
            self._unrecorded.pop(call, None)
        outcomes: list[Outcome] = []
        pause, seconds = LONGEST_WAIT if self.timeout is None else PAUSE, 0.0
        while True:
            self._send_waiting(until)
            outcomes += self._collect(seconds)
            if self._needs_executor():
                outcomes += self._replace_executor()
            now = time.perf_counter()
            is_over = outcomes or now >= until or not self.n_calls or self.n_usable <= 0
            if is_over and self._breakage is None:
                self._reported = [o.call for o in outcomes if o.call is not None]
                return outcomes
            seconds = max(min(until - now, pause), 0.0) if self._in_flight else 0.0

    def seconds(self, group: Hashable) -> float:
        """Return the total running time of the calls in a group."""
        now = time.perf_counter()
        starts = (c.start_time for c in self._in_flight.values() if c.group == group)
        return self._seconds[group] + sum(now - start for start in starts if start is not None)

    def give_up(self, group: Hashable) -> None:
        """Abandon all calls of a group, and stop their workers if possible."""
        self._waiting = [call for call in self._waiting if call.group != group]
        futures = [future for future, call in self._in_flight.items() if call.group == group]
        for future in reversed(futures):  # last first, so that free workers do not begin them
            del self._in_flight[future]
            if future.cancel():  # the call has not begun
                continue
            if isinstance(self._executor, Pool):
                self._executor.kill(future)
            elif not future.done():
                self._hanging.add(future)

    def returned(self) -> list[tuple[Call, Any]]:
        """Return the calls that have returned but whose outcomes were not collected.

        After an interrupt, they include calls whose outcomes `wait` has not reported.
        """
        found = []
        for call, future in self._unrecorded.items():
            is_done = future.done() and not future.cancelled()
            if is_done and future.exception() is None:
                found.append((call, future.result()))
        return found

    def drain(self) -> list[Call]:
        """Remove and return the calls that have not started.

        `wait` still reports the outcomes of running calls, except those whose worker is lost.
        """
        self._is_draining, self._breakage = True, None
        cancelled = [future for future in self._in_flight if future.cancel()]
        self._take_back([self._in_flight.pop(future) for future in cancelled])
        withdrawn, self._waiting = self._waiting, []
        return withdrawn

    def close(self, *, wait: bool) -> None:
        """Shut down the executor, if the scheduler has created it."""
        if self._make is not None and hasattr(self._executor, "shutdown"):
            if self._hanging:
                executors.shut_down_hanging(self._executor)
            else:
                self._executor.shutdown(wait=wait)

    # --- from waiting to in flight, and back ---

    def _send_waiting(self, until: float = FOREVER) -> None:
        """Send waiting calls to the executor, up to the maximum number of calls in flight."""
        while self._waiting and self._breakage is None and self.n_usable > 0:
            most = 1 if self._must_run_alone else self._most_in_flight
            if len(self._in_flight) >= most or time.perf_counter() >= until:
                return
            self._send(self._waiting.pop(0))

    def _send(self, call: Call) -> None:
        kept: Future[Any] = Future()
        call.start_time, self._unrecorded[call], function = None, kept, call.function
        if self.is_in_process:  # so that the value is kept if Ctrl-C interrupts `submit`
            function = partial(_keep_value, kept, function)
        if self.on_begin is not None:
            self.on_begin(call)
        try:
            future = self._executor.submit(self._run, function, *call.args)
            executors.check_future(future, self._executor)
            future.add_done_callback(self._done.put)
        except Exception as error:  # the call was not accepted, for example after a shutdown
            self._take_back([call])
            if not isinstance(error, BrokenExecutor):
                raise
            self._breakage = error
            return
        self._unrecorded[call] = kept if self.is_in_process else future
        self._in_flight[future] = call
        self._note_starts()

    def _take_back(self, calls: list[Call]) -> None:
        """Return calls that have not started to the front of the waiting list."""
        for call in calls:
            self._unrecorded.pop(call, None)
            if self.on_take_back is not None:
                self.on_take_back(call)
        self._waiting = sorted([*calls, *self._waiting], key=attrgetter("alone"))

    def _note_starts(self) -> None:
        """Record the start time of calls that are now assumed to be running."""
        now = time.perf_counter()
        n_running = 0 if self._breakage is not None else max(self.n_usable, 0)
        for future, call in islice(self._in_flight.items(), n_running):
            if call.start_time is None:
                call.start_time = getattr(future, "start_time", now)

    # --- from in flight to an outcome ---

    def _collect(self, seconds: float) -> list[Outcome]:
        """Wait up to `seconds` for a call to end, and return all outcomes available."""
        outcomes = []
        with suppress(queue.Empty):
            while True:
                future, seconds = self._done.get(timeout=seconds), 0.0
                self._hanging.discard(future)
                if future in self._in_flight:
                    outcomes += self._outcome(future, self._in_flight.pop(future))
        self._note_starts()
        return outcomes if self.timeout is None else outcomes + self._abandon_late(self.timeout)

    def _abandon_late(self, timeout: float) -> list[Outcome]:
        """Abandon the groups of calls that have timed out, with the outcome "late"."""
        outcomes = []
        for future, call in list(self._in_flight.items()):
            is_running = call.start_time is not None and not future.done()
            if not is_running or future not in self._in_flight:  # its group was abandoned
                continue
            if self.seconds(call.group) >= timeout:
                self.give_up(call.group)
                outcomes.append(Outcome(call, "late"))
        return outcomes

    def _outcome(self, future: Any, call: Call) -> list[Outcome]:
        """Return a list with the outcome of a call, or [] if the call has to be repeated."""
        call.start_time = getattr(future, "start_time", call.start_time)
        if call.start_time is not None:
            end_time = getattr(future, "end_time", time.perf_counter())
            self._seconds[call.group] += end_time - call.start_time
        try:
            error = future.exception()
        except Exception as cancelled:
            error = cancelled
        if error is None:
            return [Outcome(call, "value", future.result())]
        if isinstance(error, OfFunctionError):
            wrapper, error = error, error.error
            if error.__cause__ is None and wrapper.__cause__ is not error:
                error.__cause__ = wrapper.__cause__  # the traceback in the worker
        elif is_loss(error):
            return self._lost(call, error)
        elif isinstance(error, pickle.PicklingError):
            error.add_note(f"If {self._what} cannot be pickled: {executors.HOW_TO_SEND}")
        return [Outcome(call, "error", error)]

    def _lost(self, call: Call, error: BaseException) -> list[Outcome]:
        """Handle the loss of a call's worker by repeating the call or reporting it as "lost"."""
        if self._is_draining:
            return []
        if isinstance(error, BrokenExecutor):
            self._breakage = error
            if call.start_time is None:  # it had not begun: another call broke the executor
                self._take_back([call])
                return []
            if self._make is None:  # `_replace_executor` returns the outcome of all calls
                return []
        call.losses, call.alone = call.losses + 1, True
        if call.losses > self._n_retries:
            return [Outcome(call, "lost", error)]
        self._waiting = sorted([*self._waiting, call], key=attrgetter("alone"))
        return []

    # --- the executor ---

    def _use(self, executor: Any) -> None:
        self._executor = executor
        self.is_in_process: bool = executors.runs_in_process(executor)
        is_plain = isinstance(executor, ProcessPoolExecutor)
        in_worker = partial(call_in_worker, self._what, is_plain)
        self._run: Callable = call_in_process if self.is_in_process else in_worker

    def _needs_executor(self) -> bool:
        """Return whether the executor has to be replaced."""
        if self._breakage is not None:
            return not self._in_flight
        return self.n_usable <= 0 and (self._is_draining or self._make is not None)

    def _replace_executor(self) -> list[Outcome]:
        """Create a new executor, or return the outcome "broken" if that fails."""
        error, self._breakage = self._breakage, None
        if error is not None and self._make is None:
            error.add_note(BROKEN)
            return [Outcome(None, "broken", error)]
        calls, self._in_flight = list(self._in_flight.values()), {}
        self._take_back(calls)
        if self._is_draining:
            self._waiting.clear()
        else:
            self.close(wait=False)
            self._use(executors.make_executor(self._make))
            self._hanging.clear()
        return []


def inline_scheduler(n_retries: int) -> Scheduler:
    """Return a scheduler that runs one call after the other in the current thread."""
    inline = executors.InlineExecutor()
    return Scheduler(inline, n_pending=1, n_retries=n_retries, most_in_flight=1)


def _keep_value(kept: Future, func: Callable[..., Any], *args: Any) -> Any:
    """Call a function, and store its value in a future before returning it."""
    kept.set_result(func(*args))
    return kept.result()
