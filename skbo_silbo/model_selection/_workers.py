"""Candidates under way on joblib's workers, each told when its own last fit has ended."""

from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial

from skbo_silbo.model_selection._stream import Stream
from skbo_silbo.model_selection._worker_death import is_worker_death


@dataclass(eq=False)
class _UnderWay:
    """A candidate under way: where it came from, its results by split, its task for callbacks."""

    params: dict
    source: str
    n_fits: int
    task: ExitStack
    results: dict = field(default_factory=dict)


class Workers:
    """Evaluates candidates as workers are free.

    To be used in a ``with`` statement.

    Parameters
    ----------
    batches : Batches
        Makes the fits of a candidate, and a `Candidate` of their results.
    n_jobs : int or None
    n_workers : int
        How many that is.
    """

    def __init__(self, batches, n_jobs, n_workers):
        self._batches, self._n_jobs, self._n_workers = batches, n_jobs, n_workers
        self._under_way, self._n_begun = {}, 0
        self._stream = Stream(n_jobs)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self._give_up()

    @property
    def n_under_way(self):
        """How many candidates have begun and not ended."""
        return len(self._under_way)

    @property
    def are_busy(self):
        """Whether every worker has a fit, and one fit is ready for the next that is free."""
        left = (c.n_fits - len(c.results) for c in self._under_way.values())
        return sum(left) > self._n_workers

    def begin(self, params, source):
        """Let the workers evaluate a candidate."""
        task = ExitStack()
        fits = task.enter_context(self._batches.fits_of(params))
        number, self._n_begun = self._n_begun, self._n_begun + 1
        self._under_way[number] = _UnderWay(params, source, len(fits), task)
        for split, (function, args, kwargs) in enumerate(fits):
            self._stream.put((number, split), partial(function, *args, **kwargs))

    def wait(self):
        """Return the candidates that have ended, at least after a moment: a list, often empty.

        If a worker dies, all that are under way are evaluated once more, one by one.
        """
        try:
            ended = self._stream.wait()
        except Exception as error:
            if not (is_worker_death(error) and self._batches.search.error_score != "raise"):
                raise
            return self._retry()
        if ended is None:
            return []
        (number, split), result = ended
        candidate = self._under_way[number]
        candidate.results[split] = result
        if len(candidate.results) < candidate.n_fits:
            return []
        self._under_way.pop(number).task.close()
        results = [candidate.results[split] for split in range(candidate.n_fits)]
        return self._batches.evaluate([candidate.params], [candidate.source], results=results)

    def _retry(self):
        lost = self._give_up()
        self._stream = Stream(self._n_jobs)
        return [
            candidate
            for c in lost
            for candidate in self._batches.evaluate([c.params], [c.source], is_second_try=True)
        ]

    def _give_up(self):
        """End what is under way, and return it."""
        self._stream.close()
        lost, self._under_way = list(self._under_way.values()), {}
        for candidate in lost:
            candidate.task.close()
        return lost
