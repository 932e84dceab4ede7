"""Evaluating batches of candidates through scikit-learn."""

from contextlib import contextmanager, nullcontext
from itertools import groupby

from skbo_silbo._checks import warn_user
from skbo_silbo._sklearn import (
    adopt_rows,
    call_in_parallel,
    check_refit_names_a_metric,
    fits_of,
    is_all_fits_failed,
    search_state,
    with_results,
)
from skbo_silbo.model_selection._candidates import Candidate, mean_score
from skbo_silbo.workers import LostEvaluationWarning
from skbo_silbo.workers._losses import MOST_DEATHS


class Batches:
    """The batches evaluated so far, all on the same splits.

    Parameters
    ----------
    search : BaseSearchCV
        Whose ``refit`` and ``verbose`` count.
    evaluate_candidates : callable
        What `BaseSearchCV` hands to ``_run_search``. It must return a dict with all ``"rows"``
        so far.
    callback_ctx : CallbackContext or None
        The context of the search in scikit-learn 1.9 or newer.
    begun : CallLog
        Told what is being evaluated.

    Attributes
    ----------
    candidates : list of Candidate
        Those accepted, in that order.
    n_batches : int
        How many there have been: the number of the next.
    table : dict or None
        What ``evaluate_candidates`` returned last; None if it never did.
    """

    def __init__(self, search, evaluate_candidates, callback_ctx, begun):
        self.search = search
        self.callback_ctx, self.begun = callback_ctx, begun
        self.candidates, self.n_batches, self.table = [], 0, None
        self._evaluate_candidates = evaluate_candidates
        self._rungs, self._n_rows = search._rungs, 0
        self._cv = FrozenSplits(search_state(evaluate_candidates).splitter)

    @property
    def has_results(self):
        """Whether a fit of any candidate has succeeded."""
        return any(candidate.rows for candidate in self.candidates)

    @contextmanager
    def fits_of(self, params):
        """Give the fits of one candidate, as functions with arguments, to be made elsewhere.

        While they are made the context is left open: scikit-learn's callbacks see a task.
        """
        with self._callback_kwargs(1) as kwargs:
            with _muted(self.search):
                [own], cv = self._to_evaluate([params])
                fits = fits_of(self._evaluate_candidates, own, cv=cv, **kwargs)
            yield fits

    def call(self, tasks):
        """Make calls, as `joblib.delayed` gives them, on the workers of scikit-learn's search."""
        return call_in_parallel(self._evaluate_candidates, tasks)

    def evaluate(self, points, sources, results=None):
        """Evaluate a batch.

        Parameters
        ----------
        points : list of dict
            Parameters of the candidates, at least one.
        sources : list of str
            Where each came from.
        results : list, default=None
            What the fits of a single one returned, if they have been made.

        Returns
        -------
        candidates : list of Candidate
            With NaN as the score of those whose fits failed.

        Raises
        ------
        Exception
            Whatever ``evaluate_candidates`` raises, unless it is that all fits failed.
        """
        if results is None:
            alike = groupby(points, lambda p: self._rungs and self._rungs.of(p))
            outcomes = [outcome for _, group in alike for outcome in self._fit(list(group))]
        else:
            with with_results(self._evaluate_candidates, results):
                outcomes = self._fit(points, are_made=True)
        return [
            Candidate(params, self.n_batches, source, rows, error, self._score(rows))
            for params, source, (rows, error) in zip(points, sources, outcomes, strict=True)
        ]

    def failed(self, params, source, error):
        """Return a candidate that failed without the results of its fits."""
        return Candidate(params, self.n_batches, source, None, error, self._score(None))

    def why_not(self, params):
        """Return why a candidate has failed and is not evaluated again, None if it may be.

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
        return why

    def accept(self, batch):
        """Take candidates, of which all else has been seen to, among the results."""
        self.candidates += batch
        self.n_batches = 1 + max(candidate.iteration for candidate in batch)

    def require_table(self):
        """Have a `table` too if all successes are from the journal."""
        if self.table is None:
            rows = [row for candidate in self.candidates for row in candidate.rows or ()]
            self.table = adopt_rows(self._evaluate_candidates, rows)

    def _to_evaluate(self, points):
        """Return what points of one size set on the estimator, and how its rows are split."""
        if self._rungs is None:
            return points, self._cv
        own = [self._rungs.set_on_estimator(params) for params in points]
        return own, self._rungs.splitter(self._cv, points[0])

    def _fit(self, points, are_made=False):
        """Return the rows of each point, and the report of the failure if every fit failed."""
        # Fits that have been made had their task.
        task = nullcontext({}) if are_made else self._callback_kwargs(len(points))
        if not are_made:
            self.begun.begin(points, alone=len(points) == 1)
        try:
            with task as kwargs, _muted(self.search):
                own, cv = self._to_evaluate(points)
                self.table = self._evaluate_candidates(own, cv=cv, **kwargs)
        except ValueError as failure:
            if not is_all_fits_failed(failure):
                raise
            return [(None, str(failure))] * len(points)
        rows = self.table["rows"][self._n_rows :]
        check_refit_names_a_metric(self.search, rows[0]["test_scores"])
        self._n_rows += len(rows)
        size = len(rows) // len(points)
        return [(rows[i : i + size], None) for i in range(0, len(rows), size)]

    def _score(self, rows):
        # A batch without any success is rated as scikit-learn would rate a failed fit in it.
        return (
            float(self.search.error_score) if rows is None else mean_score(rows, self.search.refit)
        )

    @contextmanager
    def _callback_kwargs(self, n_points):
        n_fits = n_points * self.search.n_splits_
        task = {"task_name": "batch", "max_subtasks": n_fits, "sequential_subtasks": False}
        with callback_task(self.search, self.callback_ctx, **task) as ctx:
            yield {} if ctx is None else {"callback_ctx": ctx}


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


@contextmanager
def _muted(search):
    """Keep ``evaluate_candidates`` from announcing every batch; fits print as asked for."""
    verbose, search.verbose = search.verbose, 0
    try:
        yield
    finally:
        search.verbose = verbose


class FrozenSplits:
    """A splitter that splits when first asked, and gives the same splits ever after.

    ``evaluate_candidates`` splits anew at every call; with a shuffling splitter without a seed,
    candidates of different calls would be compared on different data.

    Parameters
    ----------
    cv : splitter
        An object with ``split``.
    """

    def __init__(self, cv):
        self.cv = cv
        self._splits = None

    def split(self, X, y=None, **params):
        """Return the (train, test) pairs of the first call."""
        if self._splits is None:
            self._splits = list(self.cv.split(X, y, **params))
        return iter(self._splits)
