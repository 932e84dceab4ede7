"""Candidates under way on workers, each ended when its own last fit has."""

import math
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, repeat

from skbo_silbo._checks import warn_user
from skbo_silbo.workers import LostEvaluationWarning
from skbo_silbo.workers._executors import InPlace
from skbo_silbo.workers._joblib import Stream, kind_of_workers
from skbo_silbo.workers._losses import in_words
from skbo_silbo.workers._pace import Pace
from skbo_silbo.workers._pool import PROCESSES, THREADS, Pool
from skbo_silbo.workers._workers import Call, Workers


@dataclass(eq=False)
class _UnderWay:
    """A candidate under way: where it came from, its fits, their results by split.

    Its task is for scikit-learn's callbacks.
    """

    params: dict
    source: str
    fits: list
    task: ExitStack
    results: dict = field(default_factory=dict)

    @property
    def n_waited_for(self):
        """How many of its fits have not come back."""
        return len(self.fits) - len(self.results)

    def in_order(self):
        """Return the results of its splits."""
        return [self.results[split] for split in range(len(self.fits))]


class CandidatesUnderWay:
    """Evaluates candidates, each fit on whatever worker is free.

    To be used in a ``with`` statement. A fit whose worker dies is made again, alone; its candidate
    has failed if that happens too often, or if its fits take too long.

    Parameters
    ----------
    batches : Batches
        Makes the fits of a candidate, and a `Candidate` of their results.
    n_workers : int
    """

    def __init__(self, batches, n_workers):
        self._batches, self.n_workers = batches, n_workers
        self._under_way, self._n_begun = {}, 0  # candidates by number, in the order begun
        self._is_alone = False  # whether the candidate begun next is the only one
        self._ended = {}  # those that have ended and are not handed over
        self._pace = Pace()
        self._workers = Workers(
            _executor_maker(batches.search, n_workers),
            timeout=batches.search.timeout,
            n_retries=_n_retries(batches.search),
            what="a fit",
        )

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self._workers.close(wait=False)
        for candidate in self._under_way.values():
            candidate.task.close()
        self._under_way = {}

    @property
    def n_under_way(self):
        """How many candidates have begun and not ended."""
        return len(self._under_way)

    @property
    def n_wanted(self):
        """How many candidates to begin: 0 if every worker is busy, and will be.

        That is if those workers that will be free while a candidate is proposed have another fit,
        at least one. 0 too while fits are made again alone.
        """
        if self._workers.is_single_file:
            return 0
        n_ahead = max(self._pace.n_ahead(self.n_workers), 1)
        waited_for = sum(c.n_waited_for for c in self._under_way.values())
        n_missing = self.n_workers + n_ahead - waited_for
        return max(math.ceil(n_missing / self._batches.search.n_splits_), 0)

    def note_proposal(self, seconds):
        """Take notice of how long the candidates begun next took to be proposed."""
        self._pace.note_proposal(seconds)

    def begin(self, params, source):
        """Let the workers evaluate a candidate; return its number."""
        number, self._n_begun = self._n_begun, self._n_begun + 1
        task = ExitStack()
        fits = task.enter_context(self._batches.fits_of(params))
        self._under_way[number] = _UnderWay(params, source, fits, task)
        self._batches.begun.begin([params], alone=self._is_alone)
        for split, (function, args, kwargs) in enumerate(fits):
            fit = partial(function, *args, **kwargs)
            self._workers.submit(Call((number, split), fit, group=number))
        return number

    def evaluate(self, points, sources):
        """Evaluate candidates together, and return them in their order."""
        self._is_alone = len(points) == 1
        numbers = [self.begin(p, s) for p, s in zip(points, sources, strict=True)]
        while self.n_under_way:
            self.wait()
        self._is_alone = False
        return [self._ended.pop(number) for number in numbers]

    def wait(self):
        """Wait for fits to end; `ended` gives the candidates that have ended with them."""
        outcomes = self._workers.wait()
        for outcome in outcomes:
            if outcome.kind == "error":
                raise outcome.value
        for outcome in outcomes:
            self._workers.forget(outcome.call)
            number, split = outcome.call.key
            if number not in self._under_way:
                continue  # given up
            if outcome.kind == "value":
                self._note(number, split, outcome.value)
            elif outcome.kind == "late":
                self._fail_late(number)
            else:
                error, n = outcome.value, outcome.call.losses
                times = "twice" if n == 2 else f"{n} times"
                why = f"a worker died {times} with this candidate: {in_words(error)}"
                self._fail(number, why, error)

    def ended(self):
        """Give the candidates that have ended, one by one; none of them twice."""
        while self._ended:
            yield self._ended.pop(next(iter(self._ended)))

    def _note(self, number, split, result):
        """Take the result of a fit; its candidate ends if it was the last."""
        candidate = self._under_way[number]
        candidate.results[split] = result
        self._pace.note_call(result["fit_time"] + result["score_time"])
        if not candidate.n_waited_for:
            self._end(number)

    def _end(self, number):
        under_way = self._under_way.pop(number)
        under_way.task.close()
        results = under_way.in_order()
        self._ended[number] = self._batches.candidate(under_way.params, under_way.source, results)

    def _fail_late(self, number):
        why = f"its fits ran longer than timeout={self._batches.search.timeout} s"
        warn_user(
            f"candidate {self._under_way[number].params} counts as failed: {why}.",
            LostEvaluationWarning,
        )
        self._fail(number, why, TimeoutError(f"a candidate was given up: {why}"))

    def _fail(self, number, why, error):
        under_way = self._under_way.pop(number)
        self._workers.give_up(number)
        under_way.task.close()
        if self._batches.search.error_score == "raise":
            raise error
        self._ended[number] = self._batches.candidate(under_way.params, under_way.source, None, why)


def _executor_maker(search, n_workers):
    """Return what makes the executor of the fits, and another each time that one is broken.

    No `joblib.Parallel` with an aborted call is used again: tasks of it can be left, and would be
    made with those of the next. Instead of joblib's processes, those of a `Pool` are used then:
    one that dies takes no other's fits with it.
    """
    kind = kind_of_workers()
    if search.timeout is not None:
        return partial(Pool, n_workers, kind)
    if n_workers == 1:
        return InPlace
    first = later = partial(Stream, search.n_jobs)
    if kind == PROCESSES:
        later = partial(Pool, n_workers, PROCESSES)
    makers = chain([first], repeat(later))
    return lambda: next(makers)()


def _n_retries(search):
    """Return how often a fit is made again: on workers of others a death can be another's fault.

    A task that was given up there may be left, and kill the worker of the next.
    """
    if search.error_score == "raise":
        return 0
    return 1 if kind_of_workers() in (THREADS, PROCESSES) else 2
