"""The evaluation loop behind `minimize` and `SILBOSearchCV`.

    proposals -> workers -> observation -> log -> optimizer.tell -> budget, callback

With a journal, a run continues from the trials of earlier runs (``resume.py``). The loop is the
only writer of the journal.
"""

import math
from collections import Counter
from contextlib import ExitStack, contextmanager, suppress
from operator import attrgetter

import numpy as np

from skbo_silbo._checks import brief, warn_user
from skbo_silbo.evaluation.budget import INTERRUPTED
from skbo_silbo.evaluation.trial import Trial, format_point
from skbo_silbo.optimizers.event import observed_event
from skbo_silbo.optimizers.log import MOST_DEATHS
from skbo_silbo.workers import LostEvaluationWarning
from skbo_silbo.workers.calls import Call

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
        Log of the run, whose method `begin` has been called. It contains the events of earlier
        runs.
    proposals : Proposals
    make_workers : callable
        Function that returns the workers that run the calls: a `Scheduler` or a `DirectRunner`.
    batch_size : int or None, default=None
        Number of points proposed together. The next batch is proposed when all of them have been
        evaluated. With None, a point is proposed as soon as a worker is free.
    show : callable or None, default=None
        Function that is called with a `Progress` after each evaluation.

    Attributes
    ----------
    optimizer : AskTellOptimizer
    trials : list of Trial
        Evaluations, and observations supplied by the user, in the order in which they were passed
        to the optimiser.
    n_calls : int
        Number of evaluations that have started, including those of earlier runs.
    raised : (BaseException, point) or None
        Exception raised by a call, and the point that was being evaluated. None if there is no such
        exception.
    """

    def __init__(
        self, evaluation, budget, log, proposals, make_workers, *, batch_size=None, show=None
    ):
        self.evaluation, self.budget, self.log = evaluation, budget, log
        self.proposals, self.optimizer = proposals, proposals.optimizer
        self.batch_size, self._show = batch_size, show
        self._make_workers, self.workers = make_workers, None
        self.trials, self.n_calls, self.raised = [], log.n_calls, None
        self._running: dict[int, Trial] = {}  # by number
        self._held: list[Trial] = []  # observed, but others of their batch are not
        self._n_begun = 0
        self._n_before = None  # values the optimiser had before it is told a batch
        self._batch, self._n_left = 0, 0  # current batch, and how many of its points to begin
        self._is_withdrawn = False

    def resume(self, told, held=()):
        """Continue a run with the trials of earlier runs.

        Parameters
        ----------
        told, held : list of Trial
            Trials whose observations have been passed to the optimiser, and trials of an incomplete
            batch.
        """
        self.proposals.resume(told, held)
        self.trials, self._held = told, list(held)
        modelled = [trial for trial in told if trial.is_modelled]
        n_values = len(self.optimizer.func_vals_)
        for row, trial in enumerate(modelled, start=n_values - len(modelled)):
            trial.row = row
        evaluated = [*(trial for trial in told if trial.is_evaluated), *held]
        self._n_begun = len(evaluated)
        if held:
            self._batch = held[0].batch
            self._n_left = self._n_of_batch(self.batch_size - len(held))
        elif evaluated:
            self._batch = evaluated[-1].batch + 1
        # Count supplied values first, because they are never improvements.
        for trial in sorted(told, key=attrgetter("is_evaluated")):
            self.budget.count(trial, self.optimizer, self._show)

    def run(self):
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
        if self.budget.room(len(self._held)) <= 0:  # nothing to evaluate, so no workers are needed
            self._tell()
            self.budget.room()
            return self.budget.stop
        with self._open_workers() as workers:
            while True:
                trial, n_open = None, len(self._running) + len(self._held)
                if self._n_wanted(n_open) > 0:
                    trial = self.proposals.next(self._n_begun, self._n_open_values())
                if trial is not None:
                    self._begin(trial)
                elif not n_open:  # unless the budget is spent
                    self.budget.end("exhausted", "Every point of the finite space was evaluated.")
                    return self.budget.stop
                if self.budget.stop is not None:
                    self._withdraw_waiting()
                if self._running:
                    until = self.budget.deadline if self.budget.stop is None else math.inf
                    self._take(workers.wait(until if trial is None else 0.0))
                elif trial is None:
                    self._tell()

    @contextmanager
    def _open_workers(self):
        """Context manager that opens the workers and closes them at the end.

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
                self._rescue()
            else:  # this error is raised, rather than one that follows it
                end = self._rescue if is_exit else self._finish_running
                with suppress(Exception):
                    end()
            raise
        finally:
            self.workers.close(wait=has_ended)

    # --- begin ----------------------------------------------------------------------------------

    def _n_wanted(self, n_open):
        """Return the number of evaluations to start now."""
        room = self.budget.room(n_open)
        if self.batch_size is None:
            return min(math.ceil(self.workers.n_free / self.evaluation.n_calls), room)
        if not n_open:
            self._n_left = self._n_of_batch(self.batch_size)
        return min(self._n_left, room)

    def _n_of_batch(self, n):
        """Return the size of the next batch, at most n, without crossing the initial design."""
        return min(n, len(self.proposals.initial) or n)

    def _n_open_values(self):
        """Return the number of observations expected from evaluations that have not ended."""
        return sum(trial.is_modelled for trial in (*self._running.values(), *self._held))

    def _begin(self, trial):
        trial.number, self._n_begun = self._n_begun, self._n_begun + 1
        trial.batch = self._batch
        if self.batch_size is not None:  # an open batch may have gaps
            places = {other.place for other in (*self._running.values(), *self._held)}
            trial.place, self._n_left = min({*range(len(places) + 1)} - places), self._n_left - 1
        self._running[trial.number] = trial
        n_deaths = None  # how often the process has died while evaluating the point
        if self.log.path is not None and self.workers.is_in_process:
            n_deaths = self.log.n_deaths(trial.point)
        if n_deaths is not None and n_deaths >= MOST_DEATHS:
            why = f"was in progress {MOST_DEATHS} times when the process died"
            self._give_up(trial, why, RuntimeError(f"the evaluation {why}"))
            return
        alone = n_deaths is not None
        for i, (function, args) in enumerate(self.evaluation.calls(trial)):
            key, group = (trial.number, i), trial.number
            self.workers.submit(Call(key, function, args, alone=alone, group=group))

    def _on_begin(self, call):
        number, i = call.key
        if i == 0 and self.log.path is not None:
            is_alone = self.workers.is_in_process and (self.workers.n_workers == 1 or call.alone)
            self.log.begun(self._running[number].point, alone=is_alone)
        self.n_calls += 1
        self.budget.deadline = self.budget.time_limit  # the first evaluation always begins

    def _on_take_back(self, call):
        number, i = call.key
        if i == 0 and number in self._running:
            self.log.withdrawn(self._running[number].point)
        self.n_calls -= 1

    def _withdraw_waiting(self):
        """Withdraw the evaluations that are waiting for a worker."""
        if not self._is_withdrawn:
            self._is_withdrawn = True
            calls = self.workers.drain()
            n_withdrawn = Counter(call.key[0] for call in calls)
            for call in calls:
                if n_withdrawn[call.key[0]] < self.evaluation.n_calls:
                    self.workers.submit(call)
                else:
                    self._running.pop(call.key[0], None)
        if not self.workers.n_calls:  # a call that lost its worker has no outcome any more
            self._running = {}

    # --- end ------------------------------------------------------------------------------------

    def _take(self, outcomes):
        """Process the outcomes of function calls, then raise the first error if there is one."""
        for outcome in outcomes:  # first, since recording one may fail
            if outcome.kind == "value":
                self._keep(outcome.call, outcome.value)
        errors = [(outcome.value, None) for outcome in outcomes if outcome.kind == "broken"]
        for outcome in outcomes:
            trial = outcome.call and self._running.get(outcome.call.key[0])
            if trial is None:  # already recorded as failed
                continue
            if outcome.kind == "value":
                if len(trial.results) == self.evaluation.n_calls:
                    self._observe(trial)
                continue
            self.workers.give_up(trial.number)
            if outcome.kind == "error":
                errors.append((outcome.value, trial.point))
                del self._running[trial.number]
            else:
                self._give_up(trial, *self._why_lost(outcome))
        if errors:
            error, point = errors[0]
            self.raised = None if point is None else (error, point)
            raise error
        if self.workers.n_usable <= 0:
            self.budget.end("workers", HANGING.format(self.workers.n_workers))

    def _keep(self, call, value):
        number, i = call.key
        if number in self._running:
            self._running[number].results[i] = value

    def _why_lost(self, outcome):
        if outcome.kind == "late":
            why = f"took longer than timeout={self.workers.timeout} s"
            return why, TimeoutError(f"an evaluation {why}")
        n = outcome.call.losses
        times = "once" if n == 1 else f"{n} times"
        return f"lost its worker {times} ({brief(outcome.value)})", outcome.value

    def _give_up(self, trial, why, error):
        """Record an evaluation as failed."""
        trial.observation = self.evaluation.failure(trial, why, error)
        warn_user(
            f"The evaluation of {format_point(trial.point)} counts as failed: it {why}.",
            LostEvaluationWarning,
        )
        self._observe(trial)

    def _observe(self, trial):
        """Record the observation of a trial, and pass it to the optimiser outside of batches."""
        if trial.observation is None:
            try:
                trial.observation = self.evaluation.observation(trial)
            except Exception as error:
                self._running.pop(trial.number, None)
                self.raised = error, trial.point
                raise
        if self.batch_size is None:
            trial.batch = self._batch
        if self.log.path is not None:
            try:
                self._write(trial)
            except Exception:
                self._hold(trial)  # the log writes it as soon as it can
                raise
        self._hold(trial)
        if self.batch_size is None:
            self._tell()

    def _hold(self, trial):
        if trial not in self._held:
            self._held.append(trial)
        self._running.pop(trial.number, None)

    def _write(self, trial):
        """Write the observation of a trial to the log, unless it is already there."""
        if trial.event is None:
            observation = trial.observation
            rows = self.proposals.points.observed_rows([trial.point])
            told = {name: [values] for name, values in observation.told.items()}
            trial.event = {
                **observed_event(rows, [observation.y], **told),
                "error": observation.error,
                "source": trial.source,
                "batch": trial.batch,
                "place": trial.place,
                "in order": self.batch_size is not None,
                **self.evaluation.record(trial),
            }
        self.log.write(trial.event)
        self.log.evaluated(trial.point)

    def _tell(self):
        """Pass the observations of a batch to the optimiser and update the budget."""
        batch = sorted(self._held, key=attrgetter("place"))
        if not batch:
            return
        modelled = [trial for trial in batch if trial.is_modelled]
        n_values = len(self.optimizer.func_vals_)
        if self._n_before is None:
            self._n_before = n_values
        if new := modelled[n_values - self._n_before :]:  # an interrupted call has told the others
            observations = [trial.observation for trial in new]
            told = {k: np.array([o.told[k] for o in observations]) for k in observations[0].told}
            points = [trial.point for trial in new]
            self.optimizer.tell(points, [self.optimizer.sign * o.y for o in observations], **told)
        for row, trial in enumerate(modelled, start=self._n_before):
            trial.row = row
        # in one statement, within which Ctrl-C is not raised
        self.trials, self._held, self._n_before = [*self.trials, *batch], [], None
        self._batch = batch[-1].batch + 1
        for trial in batch:
            self.budget.count(trial, self.optimizer, self._show)

    # --- errors and interruptions ---------------------------------------------------------------

    def _finish_running(self):
        """Record the running evaluations as ended when an error stops the run."""
        self.budget.abort("error", "Stopped by an error.")
        with suppress(Exception):
            self._rescue()
        while self.workers.n_calls and self.workers.n_usable > 0:
            with suppress(Exception):
                self._take(self.workers.wait())
        self._rescue()

    def _rescue(self):
        """Record the evaluations that have already returned a value, without waiting for others.

        If recording one raises an error, the others are recorded nevertheless.
        """
        self.budget.abort(INTERRUPTED.reason, INTERRUPTED.message)
        for call, value in self.workers.returned():
            self._keep(call, value)
        # Start with the one being written, because the log recognises the last event it wrote.
        trials = sorted(self._running.values(), key=lambda trial: trial.event is None)
        with ExitStack() as steps:  # called in reverse order
            steps.callback(self.workers.drain)
            steps.callback(self._tell)
            for trial in reversed(trials):
                if trial.observation or len(trial.results) == self.evaluation.n_calls:
                    steps.callback(self._observe, trial)
