"""Candidates under way on workers, each told when its own last fit has ended."""

import math
import warnings
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial

import joblib

from skbo_silbo.minimization import LostEvaluationWarning
from skbo_silbo.model_selection._backend import PROCESSES, kind_of_workers
from skbo_silbo.model_selection._candidates import with_unrun_folds
from skbo_silbo.model_selection._pool import N_TRIES, Pool, WorkerLost
from skbo_silbo.model_selection._stream import Rounds, Stream
from skbo_silbo.model_selection._worker_death import died_twice, is_worker_death

MEMORY = 0.7  # of the running means
SHORTEST_FIT = 1e-9  # seconds


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
    n_put: int = 0

    @property
    def n_waited_for(self):
        """How many of its fits have been handed out and not come back."""
        return self.n_put - len(self.results)

    def in_order(self):
        """Return the results of its splits."""
        return [self.results[split] for split in range(len(self.results))]


class Workers:
    """Evaluates candidates, each fit on whatever worker is free.

    To be used in a ``with`` statement.

    Parameters
    ----------
    batches : Batches
        Makes the fits of a candidate, and a `Candidate` of their results.
    n_workers : int
    race : Race or None
        Says when a candidate is stopped.
    in_batches : bool
        Whether candidates are only evaluated together, by `evaluate`.
    """

    def __init__(self, batches, n_workers, *, race=None, in_batches=False):
        self._batches, self._n_workers, self._race = batches, n_workers, race
        self._timeout = batches.search.timeout
        self._make_engine = _engine_maker(batches, n_workers, in_batches)
        self._in_batches = in_batches
        self._under_way, self._n_begun = {}, 0  # candidates by number, in the order begun
        self._is_alone = False  # whether the candidate begun next is the only one
        self._lost = {}  # those that were under way when a worker died: evaluated alone
        self._ended = {}  # those that have ended and are not handed over
        self._proposing, self._fitting = 0.0, math.inf  # seconds, running means
        self._engine = self._make_engine()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self._give_up()

    @property
    def n_under_way(self):
        """How many candidates have begun and not ended."""
        return len(self._under_way) + len(self._lost)

    @property
    def n_wanted(self):
        """How many candidates to begin: 0 if every worker is busy, and will be.

        That is if those workers that will be free while a candidate is proposed have another fit,
        by the running means of how long a proposal and a fit take. At least one fit is ready, and
        at most one for every worker. After the death of a worker none, until all that were under
        way have been evaluated again.
        """
        if self._lost:
            return 0
        n_ahead = math.ceil(self._n_workers * self._proposing / max(self._fitting, SHORTEST_FIT))
        n_ahead = min(max(n_ahead, 1), self._n_workers)
        waited_for = sum(c.n_waited_for for c in self._under_way.values())
        n_missing = self._n_workers + n_ahead - waited_for
        return max(math.ceil(n_missing / self._n_fits_at_first()), 0)

    def note_proposal(self, seconds):
        """Take notice of how long the candidates begun next took to be proposed."""
        self._proposing = _running_mean(self._proposing, seconds)

    def begin(self, params, source):
        """Let the workers evaluate a candidate; return its number."""
        number, self._n_begun = self._n_begun, self._n_begun + 1
        self._begin(number, params, source)
        return number

    def _begin(self, number, params, source):
        task = ExitStack()
        fits = task.enter_context(self._batches.fits_of(params))
        self._under_way[number] = _UnderWay(params, source, fits, task)
        self._batches.begun.begin([params], alone=self._is_alone)
        self._put(number, self._n_fits_at_first())

    def evaluate(self, points, sources):
        """Evaluate candidates together, and return them in their order."""
        self._is_alone = len(points) == 1
        numbers = [self.begin(p, s) for p, s in zip(points, sources, strict=True)]
        while self.n_under_way:
            self.wait()
        self._is_alone = False
        return [self._ended.pop(number) for number in numbers]

    def wait(self):
        """Wait for candidates to end, for a moment; `ended` gives them.

        If a worker dies, all that are under way are evaluated once more, one by one; or, if it is
        known with which fit it died, that one is made once more.
        """
        if self._lost:
            self._retry()
            return
        try:
            self._take()
        except Exception as error:
            if not self._may_be_retried(error):
                raise
            self._prepare_retries()

    def ended(self):
        """Give the candidates that have ended, one by one; none of them twice."""
        while self._ended:
            yield self._ended.pop(next(iter(self._ended)))

    def _may_be_retried(self, error):
        return is_worker_death(error) and self._batches.search.error_score != "raise"

    def _take(self):
        """Take the results of fits that there are, and what has ended with them."""
        for (number, split), result in self._engine.wait():
            self._note(number, split, result)
        if self._timeout is not None:
            for number in list(self._under_way):
                self._end_late(number)

    def _note(self, number, split, result):
        """Take the result of a fit; its candidate ends if it was the last."""
        candidate = self._under_way.get(number)
        if candidate is None:
            return  # given up
        if isinstance(result, WorkerLost):
            self._fail(number, died_twice(result.error), result.error)
            return
        candidate.results[split] = result
        self._fitting = _running_mean(self._fitting, result["fit_time"] + result["score_time"])
        if candidate.n_waited_for:
            return
        if len(candidate.results) == len(candidate.fits):
            self._end(number)
            return
        prediction = self._race.judge(candidate.in_order())
        if prediction is None:
            self._put(number, 1)
        else:
            self._end(number, prediction)

    def _n_fits_at_first(self):
        n_splits = self._batches.search.n_splits_
        return n_splits if self._race is None else self._race.n_folds_at_first()

    def _put(self, number, n):
        candidate = self._under_way[number]
        splits = range(candidate.n_put, candidate.n_put + n)
        candidate.n_put += n
        for split in splits:
            function, args, kwargs = candidate.fits[split]
            self._engine.put((number, split), partial(function, *args, **kwargs))

    def _end(self, number, prediction=None):
        under_way = self._under_way.pop(number)
        under_way.task.close()
        results = with_unrun_folds(under_way.in_order(), len(under_way.fits))
        [candidate] = self._batches.evaluate([under_way.params], [under_way.source], results)
        if prediction is not None and candidate.rows is not None:
            candidate = replace(candidate, score=prediction.mean, noise=prediction.noise)
        self._ended[number] = candidate

    def _end_late(self, number):
        """Count a candidate as failed if its fits have run too long."""
        if self._engine.seconds(number) < self._timeout:
            return
        why = f"its fits ran longer than timeout={self._timeout} s"
        warnings.warn(
            f"candidate {self._under_way[number].params} counts as failed: {why}.",
            LostEvaluationWarning,
            stacklevel=2,
        )
        self._fail(number, why, TimeoutError(f"a candidate was given up: {why}"))

    def _fail(self, number, why, error):
        under_way = self._under_way.pop(number)
        self._engine.give_up(number)
        under_way.task.close()
        if self._batches.search.error_score == "raise":
            raise error
        self._ended[number] = self._batches.failed(under_way.params, under_way.source, why)

    def _prepare_retries(self):
        """Have all that were under way when a worker died evaluated again, one by one.

        With which of them it did is not known.
        """
        self._lost = self._give_up()
        self._make_engine = _engine_after_death(
            self._batches.search, self._n_workers, self._in_batches
        )
        self._engine = self._make_engine()

    def _retry(self):
        """Evaluate the next of them; it has failed if a worker dies twice.

        Twice, as the first may be one that another candidate had left about to die.
        """
        number, lost = next(iter(self._lost.items()))
        del self._lost[number]
        for _ in range(N_TRIES):
            self._begin(number, lost.params, lost.source)
            try:
                while number in self._under_way:
                    self._take()
                return
            except Exception as error:
                if not self._may_be_retried(error):
                    raise
                death = error
            self._give_up()
            self._engine = self._make_engine()
        self._ended[number] = self._batches.failed(lost.params, lost.source, died_twice(death))

    def _give_up(self):
        """End what is under way, and return it."""
        self._engine.close()
        lost, self._under_way = self._under_way, {}
        for candidate in lost.values():
            candidate.task.close()
        return lost


def _running_mean(mean, value):
    return MEMORY * mean + (1.0 - MEMORY) * value if 0.0 < mean < math.inf else value


def _engine_maker(batches, n_workers, in_batches):
    """Return how to make what the fits are handed to."""
    search, kind = batches.search, kind_of_workers()
    if search.timeout is not None:
        return partial(Pool, n_workers, kind)
    if not in_batches:
        return partial(Stream, search.n_jobs)
    # joblib's processes outlive the call, those of other backends only scikit-learn's search.
    return partial(_fresh_rounds, search) if kind == PROCESSES else partial(Rounds, batches.call)


def _engine_after_death(search, n_workers, in_batches):
    """Return how to make an engine, after a worker of joblib's has died.

    No `joblib.Parallel` with an aborted call is used again: tasks of it can be left, and would be
    made with those of the next. Instead of joblib's processes those of a `Pool` are used from now
    on: one that dies takes no other's fits with it, and which fit it had is known.
    """
    if kind_of_workers() == PROCESSES:
        return partial(Pool, n_workers, PROCESSES)
    return partial(_fresh_rounds, search) if in_batches else partial(Stream, search.n_jobs)


def _fresh_rounds(search):
    return Rounds(joblib.Parallel(n_jobs=search.n_jobs, pre_dispatch=search.pre_dispatch))


def read_batch_size(search):
    """Return the size of the batches of a search, None for none, and the number of workers.

    Warns
    -----
    UserWarning
        If there are batches though the search asks for none.
    """
    n_workers = joblib.effective_n_jobs(search.n_jobs)
    if search.batch_size != "auto" or n_workers == 1:
        return (1 if search.batch_size == "auto" else search.batch_size), n_workers
    if search.timeout is not None:  # the workers are our own
        return None, n_workers
    try:
        Stream(search.n_jobs)
    except ValueError as error:
        size = math.ceil(n_workers / search.n_splits_)
        warnings.warn(
            f"candidates are evaluated in batches of {size}, each waiting for its slowest fit, "
            f"because joblib's backend gives no results before that: {error} Give batch_size an "
            "int, or use another backend.",
            UserWarning,
            stacklevel=2,
        )
        return size, n_workers
    return None, n_workers
