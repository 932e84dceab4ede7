"""The evaluation loop behind `minimize` and `SILBOSearchCV`.

The loop sends proposals to workers, combines the results of a point into an observation, writes it
to the log, passes it to the optimiser, and then checks the budget and calls the callback.

With a journal, a run continues from the trials of earlier runs (``resume.py``). The loop is the
only writer of the journal.
"""

import math
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from operator import attrgetter
from typing import Any

import numpy as np

from skbo_silbo._checks import brief, warn_user
from skbo_silbo.evaluation.budget import INTERRUPTED, Budget, Show
from skbo_silbo.evaluation.proposals import Proposals
from skbo_silbo.evaluation.trial import Trial, format_point
from skbo_silbo.journal.log import EventLog, NoLog
from skbo_silbo.workers import LostEvaluationWarning
from skbo_silbo.workers.calls import Call
from skbo_silbo.workers.scheduler import Scheduler

MOST_ATTEMPTS = 2  # number of times that an evaluation may be in progress when the process dies
HANGING = (
    "All {} workers hang in calls that exceeded the timeout. Pass executor as a callable, such as "
    "lambda: ThreadPoolExecutor(4), so that they can be replaced."
)


class EvaluationLoop:
    """Loop that evaluates the proposals of an optimiser until the budget is spent.

    Parameters
    ----------
    evaluation : Evaluation
    budget : Budget
    log : EventLog or NoLog
        Log of the run, after a call of its method `begin`. It contains the events of earlier runs.
    proposals : Proposals
    make_workers : callable
        Function that creates the `Scheduler`, which runs the calls.
    batch_size : int or None, default=None
        Number of points proposed together. The next batch is proposed when all points of a batch
        have been evaluated. With None, a point is proposed as soon as a worker is free.
    show : callable or None, default=None
        Function that is called with a `Progress` after each evaluation.

    Attributes
    ----------
    optimizer : AskTellOptimizer
    trials : list of Trial
        Evaluations, and observations supplied by the user, in the order in which they were passed
        to the optimiser.
    n_calls : int
        Number of evaluations that have started in this and earlier runs.
    raised : (BaseException, point) or None
        Exception raised by a call, and the point that was being evaluated. None if there is no such
        exception.
    """

    def __init__(
        self,
        evaluation: Any,
        budget: Budget,
        log: EventLog | NoLog,
        proposals: Proposals,
        make_workers: Callable[[], Scheduler],
        *,
        batch_size: int | None = None,
        show: Show = None,
    ) -> None:
        self.evaluation, self.budget, self.log = evaluation, budget, log
        self.proposals, self.optimizer = proposals, proposals.optimizer
        self.batch_size: Any = batch_size
        self._show = show
        self.trials: list[Trial] = []
        self.workers: Any = None
        self.raised: Any = None
        self._make_workers, self.n_calls = make_workers, log.n_calls
        self._running: dict[int, Trial] = {}  # by number
        self._observed: list[Trial] = []  # trials to pass to the optimiser with their batch
        self._n_begun = 0
        self._batch, self._n_left = 0, 0  # current batch, and how many of its points to begin
        self._is_withdrawn = False

    def resume(self, trials: list[Trial], open_batch: Sequence[Trial] = ()) -> None:
        """Continue a run with the trials of earlier runs.

        Parameters
        ----------
        trials, open_batch : list of Trial
            Trials whose observations have been passed to the optimiser, and trials of an incomplete
            batch.
        """
        evaluated = [trial for trial in trials if trial.is_evaluated]
        self.proposals.resume(evaluated, open_batch)
        self.trials, self._observed = trials, list(open_batch)
        modelled = [trial for trial in trials if trial.is_modelled]
        self._assign_rows(modelled, len(self.optimizer.func_vals_) - len(modelled))
        self._n_begun = len(evaluated) + len(open_batch)
        if open_batch:
            self._batch = open_batch[0].batch
            self._n_left = self._n_of_batch(self.batch_size - len(open_batch))
        elif evaluated:
            self._batch = evaluated[-1].batch + 1
        # Count supplied values first, because they are never improvements.
        for trial in sorted(trials, key=attrgetter("is_evaluated")):
            self.budget.count(trial, self.optimizer, self._show)

    def run(self) -> Any:
        """Evaluate points until a limit, a callback, an error or Ctrl-C stops the run.

        Returns
        -------
        stop : Stop

        Raises
        ------
        BaseException
            Any exception raised by an evaluation or a callback, after all running evaluations have
            ended and been recorded. After KeyboardInterrupt and SystemExit, only evaluations that
            had returned are recorded.
        """
        self.budget.start_clock()
        if self.budget.room(len(self._observed)) <= 0:  # no workers are needed
            self._update_optimizer()
            self.budget.room()
            return self.budget.stop
        with self._open_workers() as workers:
            while True:
                trial, n_open = None, len(self._running) + len(self._observed)
                if self._n_wanted(n_open) > 0:
                    start = time.perf_counter()
                    trial = self.proposals.next(self._n_begun, self._n_open_values())
                if trial is not None:
                    trial.proposal_time = time.perf_counter() - start
                    self._begin(trial)
                elif not n_open:  # unless the budget is spent
                    self.budget.end("exhausted", "Every point of the finite space was evaluated.")
                    return self.budget.stop
                if self.budget.stop is not None:
                    self._withdraw_waiting()
                if self._running:
                    until = self.budget.deadline if self.budget.stop is None else math.inf
                    self._process(workers.wait(until if trial is None else 0.0))
                elif trial is None:
                    self._update_optimizer()

    @contextmanager
    def _open_workers(self) -> Iterator[Scheduler]:
        """Context manager that creates the workers and closes them at the end.

        If an error or Ctrl-C ends the run, running evaluations are recorded.
        """
        has_ended = False
        self.workers = self._make_workers()
        self.workers.on_begin, self.workers.on_take_back = self._on_begin, self._on_take_back
        try:
            yield self.workers
            has_ended = True
        except BaseException as error:
            has_raised = self.raised is not None and self.raised[0] is error
            is_exit = isinstance(error, SystemExit) and not has_raised  # of a signal handler
            if isinstance(error, KeyboardInterrupt):
                self._record_returned()
            else:  # this error is raised, rather than one that follows it
                end = self._record_returned if is_exit else self._finish_running
                with suppress(Exception):
                    end()
            raise
        finally:
            self.workers.close(wait=has_ended)

    # --- begin ----------------------------------------------------------------------------------

    def _n_wanted(self, n_open: int) -> float:
        """Return the number of evaluations to start now."""
        room = self.budget.room(n_open)
        if self.batch_size is None:
            return min(math.ceil(self.workers.n_free / self.evaluation.n_calls), room)
        if not n_open:
            self._n_left = self._n_of_batch(self.batch_size)
        return min(self._n_left, room)

    def _n_of_batch(self, n: int) -> int:
        """Return the size of the next batch, at most n, without crossing the initial design."""
        return min(n, len(self.proposals.initial) or n)

    def _n_open_values(self) -> int:
        """Return how many observations the open evaluations before the next one will give.

        An interrupted batch may have evaluations after the next one.
        """
        trials = [*self._running.values(), *self._observed]
        if self.batch_size is not None:
            position = self._next_position()
            trials = [trial for trial in trials if trial.position < position]
        return sum(trial.is_modelled for trial in trials)

    def _next_position(self) -> int:
        """Return the first free position in the open batch."""
        taken = {trial.position for trial in (*self._running.values(), *self._observed)}
        return min({*range(len(taken) + 1)} - taken)

    def _begin(self, trial: Trial) -> None:
        trial.number, self._n_begun = self._n_begun, self._n_begun + 1
        trial.batch = self._batch
        if self.batch_size is not None:
            trial.position = self._next_position()
            self._n_left -= 1
        self._running[trial.number] = trial
        trial.attempts = self.log.n_earlier_attempts(trial.point)
        if trial.attempts >= MOST_ATTEMPTS and self.workers.is_in_process:
            why = f"was in progress {MOST_ATTEMPTS} times when the process died"
            self._record_failure(trial, why, RuntimeError(f"the evaluation {why}"))
            return
        alone = trial.attempts > 0 and self.workers.is_in_process
        for i, (function, args) in enumerate(self.evaluation.calls(trial)):
            key, group = (trial.number, i), trial.number
            call = Call(key, function, args, alone=alone, group=group)
            self.workers.submit(call, self.budget.deadline)

    def _on_begin(self, call: Call) -> None:
        number, i = call.key
        if i == 0:
            trial = self._running[number]
            self.log.record_begin(trial)
            trial.attempts += 1
        self.n_calls += 1
        self.budget.deadline = self.budget.time_limit  # the first evaluation always begins

    def _on_take_back(self, call: Call) -> None:
        number, i = call.key
        if i == 0 and number in self._running:
            trial = self._running[number]
            trial.attempts -= 1
            self.log.record_withdrawal(trial)
        self.n_calls -= 1

    def _withdraw_waiting(self) -> None:
        """Withdraw the evaluations that are waiting for a worker.

        If some calls of an evaluation have begun, its other calls are still run. After `max_time`,
        they are withdrawn as well, unless this run has not recorded an evaluation yet.
        """
        if not self._is_withdrawn:
            self._is_withdrawn = True
            n_recorded = self.budget.n_new + sum(not t.is_resumed for t in self._observed)
            is_late = self.budget.stop.reason == "max_time" and n_recorded
            calls = self.workers.drain()
            n_withdrawn = Counter(call.key[0] for call in calls)
            for call in calls:
                has_begun = n_withdrawn[call.key[0]] < self.evaluation.n_calls
                if has_begun and not is_late:
                    self.workers.submit(call)
                elif (trial := self._running.pop(call.key[0], None)) and has_begun:
                    self.log.record_withdrawal(trial)
        if not self.workers.n_calls:  # a call that lost its worker has no outcome any more
            self._running = {}

    # --- end ------------------------------------------------------------------------------------

    def _process(self, outcomes: Iterable[Any]) -> None:
        """Record the outcomes of function calls, then raise the first error if there is one."""
        for outcome in outcomes:  # store all values first, since recording one may fail
            if outcome.kind == "value":
                self._store_value(outcome.call, outcome.value)
        errors = [(o.value, None) for o in outcomes if o.kind == "broken"]
        for outcome in outcomes:
            trial = outcome.call and self._running.get(outcome.call.key[0])
            if trial is None:  # already recorded as failed
                continue
            if outcome.kind == "value":
                self._record_if_complete(trial)
            elif outcome.kind == "error":
                self.workers.give_up(trial.number)
                del self._running[trial.number]
                errors.append((outcome.value, trial.point))
            else:
                self.workers.give_up(trial.number)
                self._record_failure(trial, *self._why_lost(outcome))
        if errors:
            error, point = errors[0]
            self.raised = None if point is None else (error, point)
            raise error
        if self.workers.n_usable <= 0:
            self.budget.end("workers", HANGING.format(self.workers.n_workers))

    def _store_value(self, call: Call, value: Any) -> None:
        number, i = call.key
        if number in self._running:
            self._running[number].results[i] = value

    def _why_lost(self, outcome: Any) -> tuple[str, Any]:
        if outcome.kind == "late":
            why = f"took longer than timeout={self.workers.timeout} s"
            return why, TimeoutError(f"an evaluation {why}")
        n = outcome.call.losses
        times = "once" if n == 1 else f"{n} times"
        return f"lost its worker {times} ({brief(outcome.value)})", outcome.value

    def _record_failure(self, trial: Trial, why: str, error: BaseException) -> None:
        """Record an evaluation as failed."""
        trial.observation = self.evaluation.failure(trial, why, error)
        warn_user(
            f"The evaluation of {format_point(trial.point)} counts as failed: it {why}.",
            LostEvaluationWarning,
        )
        self._record(trial)

    def _record_if_complete(self, trial: Trial) -> None:
        """Compute and record the observation of a trial if all its calls have returned."""
        if trial.observation is None:
            if len(trial.results) < self.evaluation.n_calls:
                return
            try:
                trial.observation = self.evaluation.observation(trial)
            except Exception as error:
                self._running.pop(trial.number, None)
                self.raised = error, trial.point
                raise
        self._record(trial)

    def _record(self, trial: Trial) -> None:
        """Record the observation of a trial; without batches, also pass it to the optimiser."""
        if self.batch_size is None:
            trial.batch = self._batch
        try:
            if self.log.path is not None:
                in_order = {"in order": self.batch_size is not None}
                self.log.record_evaluation(trial, **in_order, **self.evaluation.record(trial))
        except Exception:  # the log writes it as soon as it can
            self._move_to_observed(trial)
            raise
        self._move_to_observed(trial)
        if self.batch_size is None:
            self._update_optimizer()

    def _move_to_observed(self, trial: Trial) -> None:
        if trial not in self._observed:
            self._observed.append(trial)
        self._running.pop(trial.number, None)

    def _update_optimizer(self) -> None:
        """Pass the observations of a batch to the optimiser and update the budget.

        Ctrl-C may interrupt this method between any two lines. It is then called again.
        """
        batch = sorted(self._observed, key=attrgetter("position"))
        if not batch:
            return
        n_values = len(self.optimizer.func_vals_)
        # The optimiser has the values of the trials whose rows it has.
        new = [t for t in batch if t.is_modelled and not (t.row is not None and t.row < n_values)]
        self._assign_rows(new, n_values)
        if new:
            observations = [trial.observation for trial in new]
            others = {
                k: np.array([o.others[k] for o in observations]) for k in observations[0].others
            }
            points = [trial.point for trial in new]
            self.optimizer.tell(points, [self.optimizer.sign * o.y for o in observations], **others)
        # in one statement, within which Ctrl-C is not raised
        self.trials, self._observed = [*self.trials, *batch], []
        self._batch = batch[-1].batch + 1
        for trial in batch:
            self.budget.count(trial, self.optimizer, self._show)

    def _assign_rows(self, trials: list[Trial], first: int) -> None:
        """Store with each trial the row that its observation will have in the optimiser."""
        for row, trial in enumerate(trials, start=first):
            trial.row = row

    # --- errors and interruptions ---------------------------------------------------------------

    def _finish_running(self) -> None:
        """Record the running evaluations as ended when an error stops the run."""
        self.budget.abort("error", "Stopped by an error.")
        with suppress(Exception):
            self._record_returned()
        while self.workers.n_calls and self.workers.n_usable > 0:
            with suppress(Exception):
                self._process(self.workers.wait())
        self._record_returned()

    def _record_returned(self) -> None:
        """Record the evaluations that have already returned a value, without waiting for others.

        If recording one raises an error, the others are recorded nevertheless.
        """
        self.budget.abort(INTERRUPTED.reason, INTERRUPTED.message)
        for call, value in self.workers.returned():
            self._store_value(call, value)
        # Start with the one being written, because the log recognises the last event it wrote.
        trials = sorted(self._running.values(), key=lambda trial: trial.record is None)
        with ExitStack() as steps:  # called in reverse order
            steps.callback(self.workers.drain)
            steps.callback(self._update_optimizer)
            for trial in reversed(trials):
                steps.callback(self._record_if_complete, trial)
