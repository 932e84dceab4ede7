"""The table of results of a search, ``cv_results_``."""

from contextlib import suppress

from skbo_silbo._sklearn import BaseSearchCV
from skbo_silbo.model_selection._candidates import (
    add_predictions,
    result_rows,
    searched_metric,
    unrun_folds_are_no_surprise,
    warn_of_failures,
)
from skbo_silbo.model_selection._fidelity import add_resources


def make_results(search, batches):
    """Make ``cv_results_`` of all candidates, in the dict that `BaseSearchCV` takes for it.

    Parameters
    ----------
    search : SILBOSearchCV
    batches : Batches

    Raises
    ------
    ValueError
        If no fit has succeeded.

    Warns
    -----
    FitFailedWarning
        Of candidates that failed.
    """
    if not batches.candidates:
        raise ValueError(
            "initial_results must leave a candidate to evaluate: got every one that "
            "param_distributions and constraints allow. Widen them, or leave initial_results out."
        )
    if not batches.has_results:
        raise ValueError(
            f"every fit of all {len(batches.candidates)} candidates failed: one must succeed. "
            f"Set error_score='raise' to debug. The last batch:\n{batches.candidates[-1].error}"
        )
    warn_of_failures(batches.candidates, search.error_score)
    batches.require_table()
    _tabulate(search, batches.table, batches.candidates)


def attach_results(error, search, batches):
    """Give an error the results so far, if there are any, and say so."""
    if not batches.has_results:
        return
    with suppress(Exception):  # the first error is the one to raise
        make_results(search, batches)
        error.cv_results_ = batches.table
        error.add_note(
            f"SILBOSearchCV: the results of {len(batches.candidates)} candidates are in the "
            "attribute 'cv_results_' of this exception, and can be given as initial_results."
        )


def _tabulate(search, table, candidates):
    table.clear()
    more = {
        "iter": [candidate.iteration for candidate in candidates],
        "source": [candidate.source for candidate in candidates],
    }
    params = [candidate.params for candidate in candidates]
    if search._rungs is not None:
        params = [search._rungs.set_on_estimator(p) for p in params]
    rows = result_rows(candidates, search.error_score)
    n_splits = len(rows) // len(candidates)
    with unrun_folds_are_no_surprise(candidates):
        table.update(BaseSearchCV._format_results(search, params, n_splits, rows, more))
    if search._rungs is not None:
        add_resources(table, candidates, search._rungs)
    if search.racing:
        add_predictions(table, candidates, searched_metric(rows, search.refit))
