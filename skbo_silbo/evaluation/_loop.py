"""The evaluation loop behind `minimize` and `SILBOSearchCV`.

    proposals -> workers -> observation -> log -> optimizer.tell -> budget, callback

With a journal, a run starts from the events of earlier runs. The loop is the only writer of the
journal.
"""

import math
from contextlib import suppress
from itertools import groupby
from operator import attrgetter
from time import perf_counter

import numpy as np

from skbo_silbo._checks import brief, warn_user
from skbo_silbo.evaluation._trial import Observation, Trial
from skbo_silbo.optimizers._event import UNREADABLE, values_to_data
from skbo_silbo.optimizers._log import MOST_DEATHS
from skbo_silbo.space import SpaceExhausted
from skbo_silbo.workers import LostEvaluationWarning
from skbo_silbo.workers._calls import Call
from skbo_silbo.workers._pace import Pace

LONGEST_SHOWN = 200  # characters of a point in a message
HANGING = (
    "All {} workers hang in calls that exceeded the timeout. Pass executor as a callable, such as "
    "lambda: ThreadPoolExecutor(4), so that they can be replaced."
)


class EvaluationLoop:
    """Evaluate what an optimiser proposes until the budget is spent.

    Parameters
    ----------
    optimizer : AskTellOptimizer
    evaluation : Evaluation
    budget : Budget
    log : EventLog or NoLog
        Begun: its events are those of earlier runs of the same search.
    proposals : Proposals
    points : Points
        How points are written to the log.
    make_workers : callable
        Returns what makes the calls, a `Scheduler` or `DirectRunner`.
    batch_size : int or None, default=None
        So many points are proposed together, and the next ones when all are evaluated. None: a
        point is proposed as soon as a worker is free.
    n_pending : int or "auto", default="auto"
        Without batches, how many points are evaluated or ready to be at once. "auto": one for every
        worker, and as many ahead as evaluations end while a proposal is made.
    show : callable or None, default=None
        Called with a `Progress` after every evaluation.

    Attributes
    ----------
    trials : list of Trial
        Evaluated points, in the order in which the optimiser was told.
    n_calls : int
        Calls begun, those of earlier runs included.
    raised : (BaseException, point) or None
        What a call raised, and at which point.
    """

    def __init__(
        self,
        optimizer,
        evaluation,
        budget,
        log,
        proposals,
        points,
        make_workers,
        *,
        batch_size=None,
        n_pending="auto",
        show=None,
    ):
        self.optimizer, self.evaluation, self.budget = optimizer, evaluation, budget
        self.log, self.proposals, self.points = log, proposals, points
        self.batch_size, self.n_pending, self._show = batch_size, n_pending, show
        self._make_workers, self.workers = make_workers, None
        self.trials, self.n_calls, self.raised = [], log.n_calls, None
        self._running: dict[int, Trial] = {}
        self._held: list[Trial] = []  # observed, but others of their batch are not
        self._n_values = None  # how many values the optimiser had before a batch is told
        self._batch, self._n_begun = 0, 0
        self._pace = Pace()

    def run(self):
        """Evaluate points until a limit, a callback, an error or Ctrl-C ends the run.

        Returns
        -------
        stop : Stop

        Raises
        ------
        BaseException
            What an evaluation or a callback raised, after the evaluations that were running have
            ended and been recorded. After KeyboardInterrupt and SystemExit only those that had
            returned are recorded.
        """
        if not self.budget.room():
            return self.budget.stop
        has_ended = False
        self.workers = self._make_workers()
        self.workers.on_begin, self.workers.on_take_back = self._on_begin, self._on_take_back
        try:
            self._evaluate()
            has_ended = True
        except BaseException as error:
            has_raised = self.raised is not None and self.raised[0] is error
            is_exit = isinstance(error, SystemExit) and not has_raised  # of a signal handler
            if is_exit or isinstance(error, KeyboardInterrupt):
                self._rescue()
            else:
                self._finish_running()
            raise
        finally:
            self.workers.close(wait=has_ended)
        return self.budget.stop

    def _evaluate(self):
        self._fill()
        while self._running or self._held:
            if self._running:
                until = math.inf if self.budget.stop else self.budget.deadline
                self._take(self.workers.wait(until))
            if not self._running:
                self._tell_batch()
            if self.workers.n_usable <= 0:
                self.budget.end("workers", HANGING.format(self.workers.n_workers))
            self._fill()
            if self.budget.stop:
                self._withdraw_waiting()
                if not self.workers.n_calls:  # a call that lost its worker has no outcome any more
                    self._running = {}

    # --- earlier runs ---------------------------------------------------------------------------

    def resume(self):
        """Take over the events of earlier runs, as far as the budget has room for them."""
        events = self.log.events
        is_trial = [e.kind == "observed" and "batch" in e.content for e in events]
        observed = np.flatnonzero(is_trial).tolist()
        trials = {i: self._restored(events[i]) for i in observed}
        in_order = sorted(trials, key=lambda i: (trials[i].batch, trials[i].place))
        taken = []
        for _, batch in groupby(in_order, key=lambda i: trials[i].batch):
            self._take_over(self._held)
            batch = list(batch)[: self.budget.room()]
            taken += batch
            self._held = [trials[i] for i in batch]
        if not self._is_last_batch_open():
            self._take_over(self._held)
        self._replay(trials, set(taken))

    def _restored(self, event):
        """Return the trial of an observation in the log."""
        try:
            [point], [y] = event.points, event.y
            told = {name: getattr(event, name)[0] for name in ("constraints", "goals")}
            told = {name: values for name, values in told.items() if values.size}
            observation = Observation(float(y), told)
            observation = self.evaluation.from_record(event.content, observation)
            batch, place = (int(event.content[name]) for name in ("batch", "place"))
        except UNREADABLE as error:
            raise self.log.damaged(event, error) from error
        number, self._n_begun = self._n_begun, self._n_begun + 1
        is_modelled = not np.isnan(event.X).any()
        trial = Trial(point, number, "resumed", batch, place, is_modelled)
        trial.observation, trial.event = observation, event.content
        return trial

    def _is_last_batch_open(self):
        """Return whether the last batch was cut short, by an interruption or a smaller budget."""
        last = self._held
        if self.batch_size is None or not last or not last[0].event["in order"]:
            return False
        n_given = sum(self.points.number(trial.point) > 0 for trial in (*self.trials, *last))
        ends_given = self.points.number(last[0].point) and n_given >= len(self.proposals.initial)
        return len(last) < self.batch_size and not ends_given

    def _replay(self, trials, taken):
        """Have the optimiser follow the events before the first observation that is not taken."""
        events, open_places = self.log.events, {trial.number for trial in self._held}
        first_left = min((i for i in trials if i not in taken), default=len(events))
        followed = []
        for i, event in enumerate(events):
            is_open = i in trials and trials[i].number in open_places
            if (i < first_left or i in taken) and event.is_of_optimizer and not is_open:
                followed.append(i)
        told = [i for i in followed if i in trials]
        in_order = iter(sorted(told, key=lambda i: (trials[i].batch, trials[i].place)))
        followed = [next(in_order) if i in trials else i for i in followed]
        self.log.replay(self.optimizer, [events[i] for i in followed])
        done = [trials[i].point for i in sorted(taken)]
        self.proposals.resume(done, [trial.point for trial in self._held])
        if self.trials and not self._held:
            self._stop_if_gain_is_negligible()

    # --- begin ----------------------------------------------------------------------------------

    def _fill(self):
        """Begin evaluations while workers are free and the budget has room."""
        while (n := self._n_wanted()) > 0:
            if self.batch_size is None and self.workers.n_calls >= self.workers.n_usable:
                self._take(self.workers.wait(0.0))  # a proposal ahead of time uses all results
                if self._n_wanted() <= 0:
                    return
            n = min(n, len(self.proposals.initial) or n) if self.batch_size else 1
            for _ in range(n):
                if not self._begin_next():
                    return

    def _n_wanted(self):
        """Return how many evaluations to begin now."""
        if self.workers.must_run_alone:
            return 0
        room = self.budget.room(len(self._running) + len(self._held))
        if self.batch_size is not None:
            return 0 if self._running else min(self.batch_size - len(self._held), room)
        n_calls = self.evaluation.n_calls
        n_busy = sum(n_calls - len(trial.results) for trial in self._running.values())
        if self.n_pending != "auto":
            n_free = self.n_pending - n_busy
        else:
            n_workers = self.workers.n_usable
            n_ahead = 0 if self.workers.is_local else self._pace.n_ahead(n_workers)
            n_free = n_workers + n_ahead - n_busy
        return min(math.ceil(n_free / n_calls), room)

    def _begin_next(self):
        """Begin the next evaluation; return False if there is no other point."""
        open_trials = [*self._running.values(), *self._held]
        n_running = sum(trial.is_modelled for trial in open_trials)
        began = perf_counter()
        try:
            point, source = self.proposals.next(len(self.trials) + len(open_trials), n_running)
        except SpaceExhausted:
            if not self._running:
                self._tell_batch()
                self.budget.end("exhausted", "Every point of the finite space was evaluated.")
            return False
        self._pace.note_proposal(perf_counter() - began)
        self._begin(point, source)
        return True

    def _first_free_place(self):
        """Return the first position in the current batch that no trial has."""
        taken = {trial.place for trial in (*self._running.values(), *self._held)}
        return next(i for i in range(len(taken) + 1) if i not in taken)

    def _begin(self, point, source):
        number, self._n_begun = self._n_begun, self._n_begun + 1
        place = 0 if self.batch_size is None else self._first_free_place()
        is_modelled = self.points.is_inside(point)
        trial = Trial(point, number, source, self._batch, place, is_modelled)
        self._running[number] = trial
        if self.workers.is_in_process and self.log.n_deaths(trial.point) >= MOST_DEATHS:
            why = f"was in progress {MOST_DEATHS} times when the process died"
            self._give_up(trial, why, RuntimeError(f"the evaluation {why}"))
            return
        alone = self.workers.is_in_process and self.log.was_under_way(trial.point)
        for i, (function, args) in enumerate(self.evaluation.calls(trial)):
            key, group = (trial.number, i), trial.number
            self.workers.submit(Call(key, function, args, alone=alone, group=group))

    def _on_begin(self, call):
        number, i = call.key
        if i == 0:
            is_alone = self.workers.is_in_process and (self.workers.n_workers == 1 or call.alone)
            self.log.begun(self._running[number].point, alone=is_alone)
        self.n_calls += 1

    def _on_take_back(self, call):
        number, i = call.key
        if i == 0 and number in self._running:
            self.log.ended(self._running[number].point, called=False)
        self.n_calls -= 1

    def _withdraw_waiting(self):
        """Withdraw evaluations that have not begun, where each is a single call."""
        if self.evaluation.n_calls == 1:
            for call in self.workers.drain():
                self._running.pop(call.key[0], None)

    # --- end ------------------------------------------------------------------------------------

    def _take(self, outcomes):
        """Take what became of calls; raise what one raised when all others are recorded."""
        errors = []
        for outcome in outcomes:
            if outcome.kind == "broken":
                errors.append((outcome.value, None))
                continue
            number, i = outcome.call.key
            trial = self._running.get(number)
            if trial is None:  # given up already
                continue
            if outcome.kind == "value":
                self._pace.note_call(outcome.seconds)
                trial.results[i] = outcome.value
                self.workers.forget(outcome.call)
                if len(trial.results) == self.evaluation.n_calls:
                    self._observe(trial)
            elif outcome.kind == "error":
                errors.append((outcome.value, trial))
                del self._running[number]
                self.workers.give_up(number)
            else:
                self.workers.give_up(number)
                self._give_up(trial, *self._why_lost(outcome))
        if errors:
            error, trial = errors[0]
            self.raised = None if trial is None else (error, trial.point)
            raise error

    def _why_lost(self, outcome):
        if outcome.kind == "late":
            why = f"took longer than timeout={self.workers.timeout} s"
            return why, TimeoutError(f"an evaluation {why}")
        n = outcome.call.losses
        times = "once" if n == 1 else f"{n} times"
        return f"lost its worker {times} ({brief(outcome.value, LONGEST_SHOWN)})", outcome.value

    def _give_up(self, trial, why, error):
        """Record an evaluation as failed."""
        trial.observation = self.evaluation.failure(trial, why, error)
        warn_user(
            f"The evaluation of {in_short(trial.point)} counts as failed: it {why}.",
            LostEvaluationWarning,
        )
        self._observe(trial)

    def _observe(self, trial):
        """Record the observation of a trial, and tell the optimiser when its batch is complete."""
        if trial.observation is None:
            try:
                trial.observation = self.evaluation.observation(trial)
            except Exception as error:
                self._running.pop(trial.number, None)
                self.raised = error, trial.point
                raise
        if self.batch_size is None:
            trial.batch, trial.place = self._batch, 0
        if self.log.path is not None:
            self._write(trial)
        self._hold(trial)
        if self.batch_size is None:
            self._tell_batch()

    def _hold(self, trial):
        if trial not in self._held:
            self._held.append(trial)
        self._running.pop(trial.number, None)

    def _write(self, trial):
        """Write the observation of a trial to the log, once."""
        if trial.event is None:
            observation = trial.observation
            told = {name: [values_to_data(v)] for name, v in observation.told.items()}
            trial.event = {
                "observed": self.points.observed_rows([trial.point]),
                "y": values_to_data([observation.y]),
                "noise_std": [None],
                **told,
                "batch": trial.batch,
                "place": trial.place,
                "in order": self.batch_size is not None,
                **self.evaluation.record(trial),
            }
        self.log.write(trial.event)
        self.log.evaluated(trial.point)

    def _tell_batch(self):
        """Tell the optimiser the observations of a batch, and count them."""
        batch = sorted(self._held, key=attrgetter("place"))
        if batch:
            self._tell([trial for trial in batch if trial.is_modelled])
            self._take_over(batch)
            self._stop_if_gain_is_negligible()

    def _tell(self, trials):
        n_values = len(self.optimizer.func_vals_)
        if self._n_values is None:
            self._n_values = n_values
        trials = trials[n_values - self._n_values :]  # an interrupted call has told the others
        if not trials:
            return
        sign = -1.0 if self.optimizer.maximize else 1.0
        observations = [trial.observation for trial in trials]
        names = observations[0].told
        told = {name: np.array([o.told[name] for o in observations]) for name in names}
        points = [trial.point for trial in trials]
        self.optimizer.tell(points, [sign * o.y for o in observations], **told)

    def _take_over(self, batch):
        """Add a batch that the optimiser knows to the results, and show it to the user."""
        self.trials, self._held, self._n_values = [*self.trials, *batch], [], None
        if not batch:
            return
        self._batch = batch[-1].batch + 1
        for trial in batch:
            c = trial.observation.told.get("constraints")
            is_feasible = c is None or bool(np.all(c <= 0.0))
            self.budget.count(trial, self.optimizer, is_feasible=is_feasible, show=self._show)

    def _stop_if_gain_is_negligible(self):
        if self.budget.watches_gain and not self.budget.stop:
            error = self.evaluation.standard_error(self.budget.best)
            self.budget.stop_if_gain_is_negligible(self.optimizer.expected_gain(), error)

    # --- errors and interruptions ---------------------------------------------------------------

    def _finish_running(self):
        """Record the evaluations that are running when an error ends the run."""
        self.budget.abort("error", "Stopped by an error.")
        with suppress(Exception):
            self.workers.drain()
        while self.workers.n_calls:
            with suppress(Exception):
                self._take(self.workers.wait())
        self._rescue()

    def _rescue(self):
        """Record, without waiting, the evaluations that have returned."""
        self.budget.abort("interrupted", "Interrupted (Ctrl-C): these are the results so far.")
        for call, value in self.workers.returned():
            number, i = call.key
            if number in self._running:
                self._running[number].results[i] = value
        for trial in list(self._running.values()):
            if trial.observation or len(trial.results) == self.evaluation.n_calls:
                with suppress(Exception):  # another error is on its way
                    self._observe(trial)
                if trial.observation and trial.number in self._running:  # not written, as yet
                    self._hold(trial)
        with suppress(Exception):
            self._tell_batch()
        with suppress(OSError):
            self.workers.drain()


def in_short(point):
    """Return a point as one line of text, abbreviated if it has many inputs."""
    if isinstance(point, np.ndarray):
        return np.array2string(point, precision=4, threshold=6, max_line_width=LONGEST_SHOWN)
    return brief(point, LONGEST_SHOWN)
