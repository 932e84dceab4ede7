"""One call of `minimize`: what it has done, and when it must stop."""

import contextlib
from dataclasses import dataclass
from functools import partial
from time import perf_counter

import numpy as np
from sklearn.exceptions import NotFittedError

from skbo_silbo._checks import as_reals, brief, has_booleans, warn_user
from skbo_silbo.minimization._call_log import MOST_RUNS
from skbo_silbo.minimization._result import MinimizeResult
from skbo_silbo.space import SpaceExhausted
from skbo_silbo.workers import LostEvaluationWarning
from skbo_silbo.workers._calls import MOST_DEATHS, in_words, on_copies
from skbo_silbo.workers._scheduler import Call, Pace

LONGEST_SHOWN = 200  # characters of a point, in a message


@dataclass(frozen=True)
class Stop:
    """Why a run ended: a word for programs and a sentence for people."""

    reason: str
    message: str


@dataclass(frozen=True)
class Limits:
    """What ends a run, in the user's sign."""

    n_calls: int
    max_time: float | None = None  # seconds
    target: float | None = None
    callback: object = None


class Run:
    """The loop over asking, evaluating and telling.

    Parameters
    ----------
    func : callable
    optimizer : AskTellOptimizer
    workers : Scheduler
    limits : Limits
    n_pending : int or "auto"
        Points in flight at once. "auto": one for every worker, and as many ahead of time as
        evaluations end while a proposal is made.
    report : callable
        Called with (result, value) after every evaluation.
    calls : CallLog
    n_constraints : int
        How many constraints are returned with a value.
    """

    def __init__(self, func, optimizer, workers, limits, n_pending, report, calls, n_constraints=0):
        workers.on_begin, workers.on_take_back = self._note_begin, self._note_take_back
        self._func, self.optimizer, self.workers = partial(on_copies, func), optimizer, workers
        self.limits, self.calls = limits, calls
        self.n_pending, self.report = n_pending, report
        self.n_constraints = n_constraints
        self.nfev = self._n_points = 0  # calls made, and points that they were made for
        self._queue = []  # calls to be submitted before anything is asked for
        self._process_killers = []  # calls with which the process has died twice: not made
        self._repeat_failures = []  # calls that raised again, and what: failed if no other
        self.raised = (None, None)  # the exception of func that was raised, and its point
        self._exhausted = False
        self._recording = None  # the call last recorded, and how many observed before
        self._called_back = False
        self.pace = Pace()
        limit = limits.max_time
        self._time_up = float("inf") if limit is None else perf_counter() + limit

    def begin_with(self, points, n_known):
        """Put points before all that is asked for; `n_known` of earlier runs have values.

        Those with which this process has died go first, alone, or not at all.
        """
        self._queue = [Call(point, self._func, (point,)) for point in points]
        if self.workers.is_in_process:
            for call in self._queue:
                call.alone = self.calls.is_suspect(call.key)
            failed = [call for call in self._queue if self.calls.has_failed(call.key)]
            rest = [call for call in self._queue if call not in failed]
            self._process_killers = failed
            self._queue = sorted(rest, key=lambda call: not call.alone)
        self._n_points = n_known
        self._n_given = len(self.optimizer.func_vals_) - n_known  # values that no call was made for
        self.nfev = n_known + self.calls.n_without_value

    def loop(self):
        """Evaluate until something says stop; return the `Stop`."""
        self._give_up_process_killers()
        stop = self._why_stop()
        while stop is None:
            self._fill()
            if self.workers.n_calls:
                self._take(self.workers.wait(self._time_up))
            elif self._exhausted and not self._queue:
                return Stop("exhausted", "Every point of the finite space has been evaluated.")
            stop = self._why_stop()
        return stop

    def finish(self):
        """Wait for what is running, and record it; what has not begun is not called."""
        self.workers.drain()
        while self.workers.n_calls:
            self._take(self.workers.wait())

    def conclude(self):
        """Judge points that raised as in an earlier run, where there is no other left to call.

        What the first raised is raised where `func` has never returned a value.
        """
        if self._repeat_failures and len(self.optimizer.func_vals_) == self._n_given:
            call, error = self._repeat_failures[0]
            self.raised = error, call.key
            raise error
        self._give_up_repeat_failures()

    def rescue(self):
        """Record, without waiting, every evaluation that has returned."""
        for call, value in self.workers.returned():
            known = self._recording is not None and self._recording[0] is call
            if not known or len(self.optimizer.func_vals_) == self._recording[1]:
                with contextlib.suppress(Exception):  # another error is on its way
                    self._record(call, value)
        with contextlib.suppress(OSError):  # of the journal: the search ends with another error
            self.workers.drain()

    def final(self, stop):
        """Return the result at the end, with the point that the model recommends."""
        result = self.result(stop)
        if stop.reason == "n_calls" and not np.isfinite(result.func_vals).any():
            warn_user(
                f"func must return a finite number somewhere: got none at {len(result.func_vals)} "
                "points, so there is no best point. Look at its value at one point."
            )
        if result.success:
            with contextlib.suppress(NotFittedError):
                result["x_recommended"] = self.optimizer.recommended_.point
        return result

    def result(self, stop, *, interrupted=False):
        """Return the result so far."""
        values, feasible = self.optimizer.func_vals_, self.optimizer.feasible_
        found = bool((np.isfinite(values) & feasible).any())
        best = self.optimizer.best_x_ if found else None
        constrained = {"constraints": self.optimizer.constraints_} if self.n_constraints else {}
        none = " No point is feasible." if len(values) and not feasible.any() else ""
        return MinimizeResult(
            x=best,
            x_recommended=best,
            fun=self.optimizer.best_y_ if found else float("nan"),
            nfev=self.nfev,
            x_iters=self.optimizer.x_iters_,
            func_vals=values,
            optimizer=self.optimizer,
            maximize=self.optimizer.maximize,
            message=stop.message + none,
            stop_reason=stop.reason,
            success=found and not interrupted,
            **constrained,
        )

    def _why_stop(self):
        limits, values = self.limits, self.optimizer.func_vals_
        if self._called_back:
            return Stop("callback", "Stopped by the callback.")
        if limits.target is not None:
            at_least, at_most = np.greater_equal, np.less_equal
            reached = (at_least if self.optimizer.maximize else at_most)(values, limits.target)
            if np.any(reached & np.isfinite(values) & self.optimizer.feasible_):
                return Stop("target", f"Target {limits.target} reached.")
        if not self.workers.n_calls and self._n_points >= limits.n_calls:
            made = f"All {limits.n_calls} calls" if limits.n_calls > 1 else "The one call"
            return Stop("n_calls", f"{made} made.")
        if perf_counter() >= self._time_up:
            return Stop("max_time", f"Time limit of {limits.max_time} s reached.")
        if self.workers.n_usable > 0:
            return None
        return Stop(
            "workers",
            f"All {self.workers.n_workers} workers hang in calls that passed the timeout. Give "
            "executor as a callable, such as lambda: ThreadPoolExecutor(4), to get new ones.",
        )

    # --- submitting ---

    def _fill(self):
        """Submit calls as long as there is room."""
        while self._n_points < self.limits.n_calls and not self.workers.must_run_alone:
            is_over = self._called_back or perf_counter() >= self._time_up
            if is_over or self.workers.n_calls >= self._n_wanted():
                return
            call = self._next_call()
            if call is None:
                return
            self._n_points += 1
            self.workers.submit(call)

    def _note_begin(self, call):
        alone = self.workers.is_local or (self.workers.is_in_process and call.alone)
        self.calls.begin([call.key], alone=alone)
        self.nfev += 1

    def _note_take_back(self, call):
        """Count a call that had not begun as not made."""
        self.nfev -= 1
        self.calls.take_back(call.key)

    def _n_wanted(self):
        if self.n_pending != "auto":
            return self.n_pending
        n_workers = self.workers.n_usable
        return n_workers + (0 if self.workers.is_local else self.pace.n_ahead(n_workers))

    def _next_call(self):
        """Return a call that was given or is asked for; None without one."""
        if self._queue:
            return self._queue.pop(0)
        if self.workers.n_calls >= self.workers.n_usable:  # nobody waits: know all that there is
            self._take(self.workers.wait(0.0))
            if self._why_stop() is not None or self.workers.must_run_alone:
                return None
        if self._exhausted:
            return None
        began = perf_counter()
        try:
            point = self.optimizer.ask()
        except SpaceExhausted:
            self._exhausted = True
            return None
        self.pace.note_proposal(perf_counter() - began)
        return Call(point, self._func, (point,))

    # --- recording ---

    def _take(self, outcomes):
        """Record outcomes; raise, once all that are there are recorded, what a call raised."""
        raised = [o for o in outcomes if o.kind == "error" and not self._is_repeat_failure(o)]
        for outcome in outcomes:
            if outcome.kind == "value":
                self.pace.note_call(outcome.seconds)
                self._after(self._record(outcome.call, outcome.value))
                if self._repeat_failures:
                    self._give_up_repeat_failures()
            elif outcome.kind == "late":
                self._give_up(outcome.call, "took longer than the timeout")
            elif outcome.kind == "lost":
                n = outcome.call.losses
                self._give_up(outcome.call, f"was lost with its worker {n} times")
        if raised:
            self.raised = raised[0].value, raised[0].call.key
            raise raised[0].value
        for outcome in outcomes:
            if outcome.kind == "broken":
                raise outcome.value

    def _is_repeat_failure(self, outcome):
        """Return whether a call raised as in an earlier run: others tell whose fault it is."""
        try:
            again = self.calls.end_by(outcome.value, outcome.call.key) >= MOST_RUNS
        except OSError as error:  # of the journal: what func raised is shown with it
            raise error from outcome.value
        if again:
            self._repeat_failures.append((outcome.call, outcome.value))
        return again

    def _give_up_repeat_failures(self):
        while self._repeat_failures:
            call, error = self._repeat_failures.pop(0)
            raised = in_words(error)[:LONGEST_SHOWN]
            self._give_up(call, f"raised {raised} as in an earlier run")

    def _give_up_process_killers(self):
        """Count points that killed the process as failed, as far as `n_calls` reaches."""
        why = f"was under way when the process died (or a disk was full) {MOST_DEATHS} times"
        for call in self._process_killers[: max(self.limits.n_calls - self._n_points, 0)]:
            self._n_points += 1
            self._give_up(call, why)

    def _record(self, call, value):
        try:
            number, constraints = as_outcome(value, self.n_constraints)
        except TypeError as error:
            error.optimize_x = call.key
            error.add_note(f"minimize: func returned this at the point {in_short(call.key)}.")
            raise
        n_observed = len(self.optimizer.func_vals_)
        self._recording = call, n_observed
        try:
            self.optimizer.tell(call.key, number, constraints=constraints)
        finally:
            if len(self.optimizer.func_vals_) > n_observed:  # else it was refused
                self.workers.forget(call)
        self.calls.end([call.key])
        return number

    def _after(self, value):
        if self.limits.callback is None and self.report is None:
            return
        result = self.result(Stop("running", "Running."))
        if self.report is not None:
            self.report(result, value)
        if self.limits.callback is not None and not self._called_back:
            self._called_back = bool(self.limits.callback(result))

    def _give_up(self, call, why):
        n, point = len(self.optimizer.func_vals_), in_short(call.key)
        text = f"an evaluation counts as failed: it {why}. Its point, x_iters[{n}], is {point}."
        warn_user(text, LostEvaluationWarning)
        self._after(self._record(call, float("nan")))


def in_short(given):
    """Return a point in one line; of many inputs the first and the last."""
    if isinstance(given, np.ndarray):
        return np.array2string(given, precision=4, threshold=6, max_line_width=LONGEST_SHOWN)
    return brief(given, LONGEST_SHOWN)


def as_outcome(returned, n_constraints):
    """Return what an objective returned as a float, NaN if masked, and constraints, (m,), or None.

    Parameters
    ----------
    returned : object
        A number, or (number, m numbers) where there are constraints; NaN alone for a failure.
    n_constraints : int
        m.

    Raises
    ------
    TypeError
        When it is something else.
    """
    is_pair = n_constraints and isinstance(returned, tuple | list) and len(returned) == 2
    value, shown = returned if is_pair else (returned, None)
    number = None if isinstance(value, tuple) else as_reals(value)
    is_number = number is not None and number.size == 1
    if is_number and (not n_constraints or (not is_pair and np.isnan(number).all())):
        return float(number.item()), None
    constraints = as_reals(shown) if is_pair else None
    is_right = constraints is not None and np.atleast_1d(constraints).shape == (n_constraints,)
    is_right = is_right and is_number and not any(map(has_booleans, returned))
    if not is_right or number.ndim > constraints.ndim:  # or the other way round
        raise TypeError(_not_an_outcome(returned, n_constraints))
    return float(number.item()), np.atleast_1d(constraints)


def _not_an_outcome(returned, n_constraints):
    if n_constraints:
        return (
            "func must return (value, constraints), the latter of length n_constraints="
            f"{n_constraints}, numbers and no booleans, at most 0 where they hold: got "
            f"{returned!r}. Return by how much each is violated, or 1.0 where it is and -1.0 where "
            "it is not; float('nan') alone for a failure of which no constraint is known."
        )
    return (
        f"func must return one real number: got {returned!r}. Return float(value), or float('nan') "
        "for a failure. If the second part of a tuple are values of constraints, say how many "
        "there are: minimize(..., n_constraints=m)."
    )
