"""The evaluator of candidates: their fits on whatever worker is free, for every kind of worker."""

import math
import re
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

from joblib import effective_n_jobs

from skbo_silbo._checks import warn_user
from skbo_silbo._joblib import eval_expr
from skbo_silbo._sklearn import SearchFits, check_scores
from skbo_silbo.model_selection._candidates import (
    Candidate,
    mean_score,
    with_all_metrics,
    with_floats,
)
from skbo_silbo.workers import LostEvaluationWarning
from skbo_silbo.workers._calls import MOST_DEATHS, in_words
from skbo_silbo.workers._joblib import (
    PROCESSES,
    THREADS,
    executor_maker,
    kind_of_workers,
    nested_in,
)
from skbo_silbo.workers._scheduler import Call, InPlace, Pace, Scheduler


@dataclass(eq=False)
class _RunningCandidate:
    """A candidate that is evaluated: where it came from, and the results of its splits so far.

    Its task is for scikit-learn's callbacks.
    """

    params: dict
    source: str
    task: ExitStack
    n_splits: int
    results: dict = field(default_factory=dict)

    @property
    def n_missing(self):
        """How many of its fits have not come back."""
        return self.n_splits - len(self.results)


class CandidateEvaluator:
    """Evaluates candidates, all on the same splits, each fit on whatever worker is free.

    To be used in a ``with`` statement. A fit whose worker dies is made again, alone; its candidate
    has failed if that happens too often, or if its fits take too long.

    Parameters
    ----------
    search : SILBOSearchCV
    state : SearchState
    total : int
        How many candidates there will be at most.
    begun : CallLog
        Told what is being evaluated.
    callback_ctx : CallbackContext or None, default=None
        The context of the search in scikit-learn 1.9 or newer.
    """

    def __init__(self, search, state, total, begun, callback_ctx=None):
        self.search, self.begun = search, begun
        self.n_workers = effective_n_jobs(search.n_jobs)
        self._fits, self._total, self._callback_ctx = SearchFits(state), total, callback_ctx
        self._running = {}  # candidates by number, in the order begun
        self._n_begun = 0
        self._ended = {}  # those that have ended and are not handed over
        self.pace = Pace()
        self._parallel = state.parallel
        make = executor_maker(state.parallel, self.n_workers, search.timeout)
        if self.n_workers == 1 and search.timeout is None:
            self._parallel, make = None, InPlace
        self._scheduler = Scheduler(
            make,
            timeout=search.timeout,
            n_retries=_n_retries(search),
            what="a fit",
            n_ahead=read_pre_dispatch(search.pre_dispatch, self.n_workers),
        )

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self._scheduler.close(wait=False)
        for candidate in self._running.values():
            candidate.task.close()
        self._running = {}

    @property
    def n_running(self):
        """How many candidates have begun and not ended."""
        return len(self._running)

    @property
    def n_wanted(self):
        """How many candidates to begin: 0 if every worker is busy, and will be.

        That is if those workers that will be free while a candidate is proposed have another fit,
        at least one. 0 too while fits are made again alone.
        """
        if self._scheduler.must_run_alone:
            return 0
        n_ahead = max(self.pace.n_ahead(self.n_workers), 1)
        n_waited_for = sum(candidate.n_missing for candidate in self._running.values())
        n_missing = self.n_workers + n_ahead - n_waited_for
        return max(math.ceil(n_missing / self.search.n_splits_), 0)

    def begin(self, params, source, *, alone=False):
        """Let the workers evaluate a candidate; return its number."""
        number, self._n_begun = self._n_begun, self._n_begun + 1
        task, n = ExitStack(), self.search.n_splits_
        about = {"task_name": "batch", "max_subtasks": n, "sequential_subtasks": False}
        ctx = task.enter_context(callback_task(self.search, self._callback_ctx, **about))
        fits = self._fits.of(params, (number, self._total), ctx, self.search)
        self._running[number] = _RunningCandidate(params, source, task, len(fits))
        self.begun.begin([params], alone=alone)
        for split, fit in enumerate(fits):
            function = fit if self._parallel is None else nested_in(self._parallel, fit)
            call = Call((number, split), function, self._fits.arguments(), group=number)
            self._scheduler.submit(call)
        return number

    def evaluate(self, points):
        """Evaluate pairs of parameters and source together, and return them in their order."""
        alone = len(points) == 1
        numbers = [self.begin(params, source, alone=alone) for params, source in points]
        while self.n_running:
            self.wait()
        return [self._ended.pop(number) for number in numbers]

    def wait(self):
        """Wait for fits to end; `ended` gives the candidates that have ended with them."""
        outcomes = self._scheduler.wait()
        for outcome in outcomes:
            if outcome.kind == "error":
                raise outcome.value
        for outcome in outcomes:
            self._scheduler.forget(outcome.call)
            number, split = outcome.call.key
            if number in self._running:  # else it was given up
                self._take(outcome, number, split)

    def ended(self):
        """Give the candidates that have ended, one by one; none of them twice."""
        while self._ended:
            yield self._ended.pop(next(iter(self._ended)))

    def failed_before(self, params, source):
        """Return a candidate as failed that the process has ended with twice, None if it has not.

        Warns
        -----
        LostEvaluationWarning
            Of the first.

        Raises
        ------
        RuntimeError
            Instead, if ``error_score`` of the search is "raise".
        """
        if not self.begun.has_failed(params):
            return None
        why = f"the process ended {MOST_DEATHS} times while this candidate was evaluated"
        if self.search.error_score == "raise":
            raise RuntimeError(f"{why}: {params}. Give error_score a number to go on without it.")
        warn_user(f"candidate {params} counts as failed: {why}.", LostEvaluationWarning)
        return self._candidate(params, source, None, why)

    def _take(self, outcome, number, split):
        """Take what became of a fit; its candidate ends if it was the last, or is lost."""
        if outcome.kind == "value":
            candidate, result = self._running[number], outcome.value
            candidate.results[split] = result
            self.pace.note_call(result["fit_time"] + result["score_time"])
            if not candidate.n_missing:
                rows = [candidate.results[i] for i in range(candidate.n_splits)]
                self._end(number, rows)
        elif outcome.kind == "late":
            why = f"its fits ran longer than timeout={self.search.timeout} s"
            params = self._running[number].params
            warn_user(f"candidate {params} counts as failed: {why}.", LostEvaluationWarning)
            self._fail(number, why, TimeoutError(f"a candidate was given up: {why}"))
        else:
            n, error = outcome.call.losses, outcome.value
            times = "twice" if n == 2 else f"{n} times"
            why = f"a worker died {times} with this candidate: {in_words(error)}"
            self._fail(number, why, error)

    def _end(self, number, rows, error=None):
        running = self._running.pop(number)
        running.task.close()
        self._ended[number] = self._candidate(running.params, running.source, rows, error)

    def _fail(self, number, why, error):
        self._scheduler.give_up(number)
        if self.search.error_score == "raise":
            raise error
        self._end(number, None, why)

    def _candidate(self, params, source, rows, error):
        """Return what became of a candidate, with `error_score` as the score of one without rows.

        Raises
        ------
        ValueError
            If its scores are not of the form that the search needs.
        """
        if rows is None:
            return Candidate(params, 0, source, None, error, float(self.search.error_score))
        rows = [with_floats(row, self.search.error_score) for row in rows]
        if callable(self.search.scoring):
            rows = with_all_metrics(rows, self.search.error_score)
        check_scores(self.search, rows[0]["test_scores"])
        return Candidate(params, 0, source, rows, None, mean_score(rows, self.search.refit))


@contextmanager
def callback_task(search, parent, **task):
    """Open a task below `parent` for scikit-learn's callbacks; without `parent`, give None."""
    if parent is None:
        yield None
        return
    ctx = parent.subcontext(**task).call_on_fit_task_begin(estimator=search)
    try:
        yield ctx
    finally:
        ctx.call_on_fit_task_end(estimator=search)


def read_pre_dispatch(given, n_workers):
    """Return how many fits may be handed to workers at once, as `pre_dispatch` says; None: all.

    Raises
    ------
    ValueError
        If it is none of "all", a number, "n_jobs" and "2*n_jobs" with some number.
    """
    if given == "all":
        return None
    try:
        n = int(eval_expr(re.sub(r"\bn_jobs\b", str(n_workers), str(given))))  # as joblib reads it
    except (ArithmeticError, LookupError, SyntaxError, TypeError, ValueError):
        n = 0
    if n < 1 or isinstance(given, bool):
        raise ValueError(
            f"pre_dispatch must be 'all', a positive number of fits, or a multiple of n_jobs: got "
            f"{given!r}. Write '2*n_jobs'."
        )
    return n


def _n_retries(search):
    """Return how often a fit is made again: on workers of others a death can be another's fault.

    A task that was given up there may be left, and kill the worker of the next.
    """
    if search.error_score == "raise":
        return 0
    return 1 if kind_of_workers() in (THREADS, PROCESSES) else 2
