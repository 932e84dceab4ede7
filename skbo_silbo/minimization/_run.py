"""One call of `minimize`: what it has done, and when it must stop."""

import contextlib
import warnings
from concurrent.futures import BrokenExecutor
from dataclasses import dataclass
from math import ceil
from time import perf_counter

import numpy as np

from skbo_silbo.minimization._calls import MOST_DEATHS, MOST_RUNS
from skbo_silbo.minimization._outcome import as_outcome
from skbo_silbo.minimization._result import MinimizeResult
from skbo_silbo.optimizers._executors import Job
from skbo_silbo.space import SpaceExhausted

NEGLIGIBLE = 0.05  # evaluations that end while one proposal is made: then none is made ahead
LONGEST_SHOWN = 200  # characters of a point, in a message
MEMORY = 0.7  # of the running figures of how long proposals and evaluations take


class LostEvaluationWarning(UserWarning):
    """An evaluation was given up: its worker or process died, it took too long, or raised twice."""


@dataclass(frozen=True)
class Stop:
    """Why a run ended: a word for programs and a sentence for people."""

    reason: str
    message: str


@dataclass(frozen=True)
class Limits:
    """What ends a run, in the user's sign.

    Attributes
    ----------
    n_calls : int
    max_time : float or None
        Seconds.
    target : float or None
    callback : callable or None
    n_retries : int
        How often a point whose worker was lost is evaluated again.
    """

    n_calls: int
    max_time: float | None = None
    target: float | None = None
    callback: object = None
    n_retries: int = 1


class Run:
    """The loop over asking, evaluating and telling.

    Parameters
    ----------
    optimizer : AskTellOptimizer
    workers : Workers
    limits : Limits
    n_pending : int or "auto"
        Points in flight at once. "auto": one for every worker, and as many ahead of time as
        evaluations end while a proposal is made.
    sign : {1, -1}
        -1 where the user maximises.
    report : callable
        Called with (result, value) after every evaluation.
    calls : Calls
    n_constraints : int
        How many constraints are returned with a value.
    """

    def __init__(self, optimizer, workers, limits, n_pending, sign, report, calls, n_constraints=0):
        self.optimizer, self.workers, self.limits, self.calls = optimizer, workers, limits, calls
        self.n_pending, self.sign, self.report = n_pending, sign, report
        self.n_constraints = n_constraints
        self.nfev = self._n_points = 0  # calls made, and points that they were made for
        self._queue = []  # jobs to be submitted before anything is asked for
        self._suspects = []  # jobs that may have killed a worker: evaluated alone
        self._deadly = []  # jobs with which the process has died twice
        self._aside = []  # jobs that raised as in an earlier run, and what: failed if others do not
        self._raised = (None, None)  # the exception of func that was raised, and its point
        self._alone = self._exhausted = False
        self._recording = None  # the job last recorded, and how many values were told before
        self._called_back = False
        self._proposing = self._evaluating = None  # seconds: of late the longest, and the mean
        self._began = perf_counter()

    def begin_with(self, points, n_known):
        """Put points before all that is asked for; `n_known` of earlier runs have values."""
        self._queue = [Job(point) for point in points]
        if self.workers.is_in_process:
            self._suspect(self._queue)
        self._n_points = n_known
        self._n_given = len(self.optimizer.func_vals_) - n_known  # values that no call was made for
        self.nfev = n_known + self.calls.n_without_value

    def _suspect(self, jobs):
        """Have those with which this process has died go first, alone, or not at all."""
        for job in jobs:
            job.alone = self.calls.was_under_way(job.point)
        self._deadly = [job for job in jobs if self.calls.has_failed(job.point)]
        rest = [job for job in jobs if job not in self._deadly]
        self._queue = sorted(rest, key=lambda job: not job.alone)

    def loop(self):
        """Evaluate until something says stop; return the `Stop`."""
        self._give_up_deadly()
        stop = self._why_stop()
        while stop is None:
            self._fill()
            if self.workers.n_jobs:
                self._take(self.workers.wait(self._time_up))
            elif self._exhausted and not self._queue and not self._suspects:
                return Stop("exhausted", "Every point of the finite space has been evaluated.")
            stop = self._why_stop()
        return stop

    def finish(self):
        """Wait for what is running, and record it; what has not begun is not called."""
        self._take_back(self.workers.cancel_waiting())
        while self.workers.n_jobs:
            self._take(self.workers.wait(), final=True)

    def conclude(self):
        """Judge points that raised as in an earlier run, where there is no other left to call.

        Raises
        ------
        Exception
            What the first raised, where `func` has never returned a value.
        """
        if self._aside and len(self.optimizer.func_vals_) == self._n_given:
            job, error = self._aside[0]
            self._raised = error, job.point
            raise error
        self._give_up_aside()

    def point_of(self, error):
        """Return the point at which `func` raised this; None where something else did."""
        raised, point = self._raised
        return point if raised is error else None

    def wind_up(self):
        """Wait for what is running, and record all that has returned, whatever else goes wrong."""
        while self.workers.n_jobs:
            with contextlib.suppress(Exception):
                self.finish()
        self.rescue()

    def rescue(self):
        """Record, without waiting, every evaluation that has returned."""
        for job, value in self.workers.returned():
            told = self._recording is not None and self._recording[0] is job
            if not told or len(self.optimizer.func_vals_) == self._recording[1]:
                with contextlib.suppress(Exception):  # another error is on its way
                    self._record(job, value)
        with contextlib.suppress(OSError):  # of the journal: the search ends with another error
            self._take_back(self.workers.cancel_waiting())

    def result(self, stop, *, interrupted=False):
        """Return the result so far."""
        values, feasible = self.sign * self.optimizer.func_vals_, self.optimizer.feasible_
        found = bool((np.isfinite(values) & feasible).any())
        constrained = {"constraints": self.optimizer.constraints_} if self.n_constraints else {}
        return MinimizeResult(
            x=self.optimizer.best_x_ if found else None,
            fun=self.sign * self.optimizer.best_y_ if found else float("nan"),
            nfev=self.nfev,
            x_iters=self.optimizer.x_iters_,
            func_vals=values,
            optimizer=self.optimizer,
            maximize=self.sign < 0,
            message=stop.message,
            stop_reason=stop.reason,
            success=found and not interrupted,
            **constrained,
        )

    @property
    def _time_up(self):
        limit = self.limits.max_time
        return float("inf") if limit is None else self._began + limit

    def _why_stop(self):
        limits, values = self.limits, self.optimizer.func_vals_
        if self._called_back:
            return Stop("callback", "Stopped by the callback.")
        if limits.target is not None:
            reached = values <= self.sign * limits.target
            if np.any(reached & np.isfinite(values) & self.optimizer.feasible_):
                return Stop("target", f"Target {limits.target} reached.")
        if not self.workers.n_jobs and not self._waits():
            return Stop("n_calls", f"All {limits.n_calls} calls made.")
        if perf_counter() >= self._time_up:
            return Stop("max_time", f"Time limit of {limits.max_time} s reached.")
        return None if self.workers.n_usable > 0 else self._without_workers()

    def _without_workers(self):
        """Get other workers for those that all hang, or say that there are none."""
        waiting = self.workers.cancel_waiting()
        self._take_back(waiting)
        self._queue = waiting + self._queue
        if self.workers.can_be_replaced:
            self.workers.replace()
            return None
        return Stop(
            "workers",
            f"All {self.workers.n_workers} workers hang in calls that passed the timeout. Give "
            "executor as a callable, such as lambda: ThreadPoolExecutor(4), to get new ones.",
        )

    # --- submitting ---

    def _fill(self):
        """Submit jobs as long as there is room."""
        while self._has_room():
            job = self._next_job()
            if job is None:
                return
            self._alone = job.alone
            alone = self.workers.is_local or (self.workers.is_in_process and job.alone)
            self.calls.begin(job.point, alone=alone)
            self.nfev += 1
            self._n_points += job.n_calls == 0
            job.n_calls += 1
            try:
                self.workers.submit(job)
            except BrokenExecutor as error:
                self._mend([job], error)
            except Exception:  # no call was made, as where the executor was shut down
                self._take_back([job])
                raise

    def _has_room(self):
        if self._called_back or perf_counter() >= self._time_up or not self._waits():
            return False
        n_jobs, n_usable = self.workers.n_jobs, self.workers.n_usable
        is_next_alone = self._suspects or (self._queue and self._queue[0].alone)
        if n_jobs and (self._alone or is_next_alone):
            return False
        return n_jobs < (n_usable + self._n_ahead() if self.n_pending == "auto" else self.n_pending)

    def _waits(self):
        """Return whether there is something to be called: again, or within `n_calls` points."""
        again = self._suspects or (self._queue and self._queue[0].n_calls)
        return bool(again) or self._n_points < self.limits.n_calls

    def _n_ahead(self):
        """Return how many points to have ready beyond those that are evaluated."""
        n_workers = self.workers.n_usable
        if self.workers.is_local:
            return 0
        if self._evaluating is None or self._proposing is None:
            return 1
        ending = n_workers * self._proposing / max(self._evaluating, 1e-9)
        return 0 if ending < NEGLIGIBLE else min(ceil(ending), n_workers)

    def _next_job(self):
        """Return a job that waits for another try, was given or is asked for; None without one."""
        if self._suspects:
            return self._suspects.pop(0)
        if self._queue:
            return self._queue.pop(0)
        if self.workers.n_jobs >= self.workers.n_usable:  # nobody waits: know all that there is
            self._take(self.workers.collect())
            if self._why_stop() is not None or self._suspects or self._queue:
                return None
        if self._exhausted:
            return None
        began = perf_counter()
        try:
            point = self.optimizer.ask()
        except SpaceExhausted:
            self._exhausted = True
            return None
        self._proposing = _running_longest(self._proposing, perf_counter() - began)
        return Job(point)

    # --- recording ---

    def _take(self, outcomes, *, final=False):
        """Record outcomes; raise, once all that are there are recorded, what a call raised."""
        lost = [o for o in outcomes if o.kind == "lost"]
        raised = [o for o in outcomes if o.kind == "error" and not self._put_aside(o)]
        for outcome in outcomes:
            if outcome.kind == "value":
                self._evaluating = _running_mean(self._evaluating, outcome.seconds)
                self._tell(outcome.job, outcome.value)
                self._give_up_aside()
            elif outcome.kind == "hung":
                self._give_up(outcome.job, "took longer than the timeout")
        if raised:
            self._raised = raised[0].value, raised[0].job.point
            raise raised[0].value
        if lost and final:
            return
        broken = [o.value for o in lost if isinstance(o.value, BrokenExecutor)]
        if broken:
            self._mend([o.job for o in lost], broken[0])
        else:
            for outcome in lost:
                self._note_loss(outcome.job)

    def _put_aside(self, outcome):
        """Return whether a call raised as in an earlier run: others tell whose fault it is."""
        try:
            again = self.calls.end_by(outcome.value, outcome.job.point) >= MOST_RUNS
        except OSError as error:  # of the journal: what func raised is shown with it
            raise error from outcome.value
        if again:
            self._aside.append((outcome.job, outcome.value))
        return again

    def _give_up_aside(self):
        aside, self._aside = self._aside, []
        for job, error in aside:
            self._give_up(job, f"raised {in_short(repr(error))} as in an earlier run")

    def _give_up_deadly(self):
        """Count points that killed the process as failed, as far as `n_calls` reaches."""
        while self._deadly and self._n_points < self.limits.n_calls:
            self._n_points += 1
            self._give_up(
                self._deadly.pop(0),
                f"was under way when the process died (or a disk was full) {MOST_DEATHS} times",
            )

    def _take_back(self, jobs):
        """Count calls that had not begun as not made."""
        self.nfev -= len(jobs)
        for job in jobs:
            self.calls.take_back(job.point)

    def _tell(self, job, value):
        self._after(self._record(job, value))

    def _record(self, job, value):
        number, constraints = as_outcome(value, self.n_constraints)
        n_told = len(self.optimizer.func_vals_)
        self._recording = job, n_told
        try:
            self.optimizer.tell(job.point, self.sign * number, constraints=constraints)
        finally:
            if len(self.optimizer.func_vals_) > n_told:  # else it could not be told
                self.workers.forget(job)
        return number

    def _after(self, value):
        if self.limits.callback is None and self.report is None:
            return
        result = self.result(Stop("running", "Running."))
        if self.report is not None:
            self.report(result, value)
        if self.limits.callback is not None and not self._called_back:
            self._called_back = bool(self.limits.callback(result))

    def _give_up(self, job, why):
        n, point = len(self.optimizer.func_vals_), in_short(job.point)
        text = f"an evaluation counts as failed: it {why}. Its point, x_iters[{n}], is {point}."
        warnings.warn(text, LostEvaluationWarning, stacklevel=2)
        self._tell(job, float("nan"))

    def _note_loss(self, job):
        """Evaluate the point of a lost worker again, alone, or give it up."""
        job.losses, job.alone = job.losses + 1, True
        if job.losses <= self.limits.n_retries:
            self._suspects.append(job)
        else:
            self._give_up(job, f"was lost with its worker {job.losses} times")

    def _mend(self, jobs, error):
        """Go on with another executor after one has broken: all its jobs come back."""
        began = [job for job in jobs if job.since is not None]
        waited = [job for job in jobs if job.since is None]
        while self.workers.n_jobs:
            for outcome in self.workers.wait():
                if outcome.kind == "lost":
                    (waited if outcome.job.since is None else began).append(outcome.job)
                else:
                    self._take([outcome])
        self._alone = False
        self._take_back(waited)
        if not self.workers.can_be_replaced:
            error.add_note(
                "minimize: the executor is broken, and what was running is lost with it. Give "
                "executor as a callable, such as lambda: ProcessPoolExecutor(4), to go on with "
                "another: the points are then evaluated again, alone, n_retries times."
            )
            raise error
        self.workers.replace()
        self._queue = waited + self._queue
        for job in began:
            self._note_loss(job)


def in_short(given):
    """Return a point, or a text, in one line; of many inputs the first and the last."""
    if isinstance(given, np.ndarray):
        return np.array2string(given, precision=4, threshold=6, max_line_width=LONGEST_SHOWN)
    text = given if isinstance(given, str) else repr(given)
    return text if len(text) <= LONGEST_SHOWN else f"{text[: LONGEST_SHOWN - 3]}..."


def _running_mean(mean, value):
    return value if mean is None else MEMORY * mean + (1.0 - MEMORY) * value


def _running_longest(longest, value):
    """Forget a long one by and by: a model that tunes itself now and then takes far longer."""
    return value if longest is None else max(value, _running_mean(longest, value))
