"""Candidates under way on workers, each told when its own last fit has ended."""

import math
import warnings
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial

from joblib import effective_n_jobs

from skbo_silbo.model_selection._backend import kind_of_workers
from skbo_silbo.model_selection._candidates import with_unrun_folds
from skbo_silbo.model_selection._pool import Pool, WorkerLost
from skbo_silbo.model_selection._stream import Rounds, Stream
from skbo_silbo.model_selection._worker_death import died_twice, is_worker_death
from skbo_silbo.optimizers import LostEvaluationWarning

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
        self._make_engine = _engine_maker(batches.search, n_workers, in_batches)
        self._under_way, self._n_begun = {}, 0
        self._proposing, self._fitting = 0.0, math.inf  # seconds, running means
        self._engine = self._make_engine()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self._give_up()

    @property
    def n_under_way(self):
        """How many candidates have begun and not ended."""
        return len(self._under_way)

    @property
    def n_wanted(self):
        """How many candidates to begin: 0 if every worker is busy, and will be.

        That is if those workers that will be free while a candidate is proposed have another fit,
        by the running means of how long a proposal and a fit take. At least one fit is ready, and
        at most one for every worker.
        """
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
        task = ExitStack()
        fits = task.enter_context(self._batches.fits_of(params))
        number, self._n_begun = self._n_begun, self._n_begun + 1
        self._under_way[number] = _UnderWay(params, source, fits, task)
        self._batches.begun.begin([c.params for c in self._under_way.values()])
        self._put(number, self._n_fits_at_first())
        return number

    def evaluate(self, points, sources):
        """Evaluate candidates together, and return them in their order."""
        numbers = [self.begin(p, s) for p, s in zip(points, sources, strict=True)]
        ended = {}
        while self._under_way:
            ended.update(self._wait())
        return [ended[number] for number in numbers]

    def wait(self):
        """Return the candidates that have ended, at least after a moment: a list, often empty.

        If a worker dies, all that are under way are evaluated once more, one by one; or, if it is
        known with which fit it died, that one is made once more.
        """
        return [candidate for _, candidate in self._wait()]

    def _wait(self):
        """Return numbers and candidates."""
        try:
            outcomes = self._engine.wait()
        except Exception as error:
            if not (is_worker_death(error) and self._batches.search.error_score != "raise"):
                raise
            return self._retry()
        ended = [self._note(number, split, result) for (number, split), result in outcomes]
        if self._timeout is not None:
            ended += [self._end_late(number) for number in list(self._under_way)]
        return [pair for pair in ended if pair is not None]

    def _note(self, number, split, result):
        """Take the result of a fit; return number and candidate if it was the last."""
        candidate = self._under_way.get(number)
        if candidate is None:
            return None  # given up
        if isinstance(result, WorkerLost):
            return self._fail(number, died_twice(result.error), result.error)
        candidate.results[split] = result
        self._fitting = _running_mean(self._fitting, result["fit_time"] + result["score_time"])
        if candidate.n_waited_for:
            return None
        if len(candidate.results) == len(candidate.fits):
            return self._end(number)
        prediction = self._race.judge(candidate.in_order())
        if prediction is not None:
            return self._end(number, prediction)
        self._put(number, 1)
        return None

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
        return number, candidate

    def _end_late(self, number):
        """Return number and candidate, failed, if its fits have run too long."""
        if self._engine.seconds(number) < self._timeout:
            return None
        why = f"its fits ran longer than timeout={self._timeout} s"
        warnings.warn(
            f"candidate {self._under_way[number].params} counts as failed: {why}.",
            LostEvaluationWarning,
            stacklevel=2,
        )
        return self._fail(number, why, TimeoutError(f"a candidate was given up: {why}"))

    def _fail(self, number, why, error):
        under_way = self._under_way.pop(number)
        self._engine.give_up(number)
        under_way.task.close()
        if self._batches.search.error_score == "raise":
            raise error
        return number, self._batches.failed(under_way.params, under_way.source, why)

    def _retry(self):
        lost = self._give_up()
        self._engine = self._make_engine()
        return [
            (number, candidate)
            for number, c in lost.items()
            for candidate in self._batches.evaluate([c.params], [c.source], is_second_try=True)
        ]

    def _give_up(self):
        """End what is under way, and return it."""
        self._engine.close()
        lost, self._under_way = self._under_way, {}
        for candidate in lost.values():
            candidate.task.close()
        return lost


def _running_mean(mean, value):
    return MEMORY * mean + (1.0 - MEMORY) * value if 0.0 < mean < math.inf else value


def _engine_maker(search, n_workers, in_batches):
    """Return how to make what the fits are handed to."""
    if search.timeout is None:
        return partial(Rounds if in_batches else Stream, search.n_jobs)
    return partial(Pool, n_workers, kind_of_workers())


def read_batch_size(search):
    """Return the size of the batches of a search, None for none, and the number of workers.

    Warns
    -----
    UserWarning
        If there are batches though the search asks for none.
    """
    n_workers = effective_n_jobs(search.n_jobs)
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
