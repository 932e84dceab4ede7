"""Evaluating candidates through scikit-learn."""

from contextlib import contextmanager

from skbo_silbo._checks import warn_user
from skbo_silbo._sklearn import (
    adopt_rows,
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
    """The candidates evaluated so far, all on the same splits.

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
        In the order of evaluation.
    n_batches : int
        How many batches there have been: the number of the next.
    table : dict or None
        What ``evaluate_candidates`` returned last; None if it never did.
    """

    def __init__(self, search, evaluate_candidates, callback_ctx, begun):
        self.search, self.begun = search, begun
        self.candidates, self.n_batches, self.table = [], 0, None
        self._evaluate_candidates, self._callback_ctx = evaluate_candidates, callback_ctx
        self._n_rows = 0
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
        n_fits = self.search.n_splits_
        task = {"task_name": "batch", "max_subtasks": n_fits, "sequential_subtasks": False}
        with callback_task(self.search, self._callback_ctx, **task) as ctx:
            kwargs = {} if ctx is None else {"callback_ctx": ctx}
            with _muted(self.search):
                fits = fits_of(self._evaluate_candidates, params, cv=self._cv, **kwargs)
            yield fits

    def candidate(self, params, source, results, error=None):
        """Return what became of a candidate.

        Parameters
        ----------
        params : dict
        source : str
            Where it came from.
        results : list of dict or None
            What its fits returned; None if it failed without them.
        error : str or None, default=None
            Then the reason.

        Returns
        -------
        candidate : Candidate
            With `error_score` as the score of one whose fits all failed.

        Raises
        ------
        Exception
            Whatever ``evaluate_candidates`` raises, unless it is that all fits failed.
        """
        rows = None
        if results is not None:
            rows, error = self._rows(params, results)
        # Without any success it is rated as scikit-learn would rate a failed fit.
        score = self.search.error_score if rows is None else mean_score(rows, self.search.refit)
        return Candidate(params, self.n_batches, source, rows, error, float(score))

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

    def require_table(self):
        """Have a `table` too if all successes are from the journal."""
        if self.table is None:
            rows = [row for candidate in self.candidates for row in candidate.rows or ()]
            self.table = adopt_rows(self._evaluate_candidates, rows)

    def _rows(self, params, results):
        """Return a row for each split; None and a report if every fit failed."""
        try:
            with with_results(self._evaluate_candidates, results), _muted(self.search):
                self.table = self._evaluate_candidates([params], cv=self._cv)
        except ValueError as failure:
            if not is_all_fits_failed(failure):
                raise
            return None, str(failure)
        rows = self.table["rows"][self._n_rows :]
        check_refit_names_a_metric(self.search, rows[0]["test_scores"])
        self._n_rows += len(rows)
        return rows, None


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
