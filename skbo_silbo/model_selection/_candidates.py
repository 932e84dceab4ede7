"""Evaluated candidates, and the rows they become in ``cv_results_``."""

import math
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from numbers import Number

import numpy as np
from sklearn.exceptions import FitFailedWarning

from skbo_silbo._checks import warn_user
from skbo_silbo._sklearn import BaseSearchCV
from skbo_silbo.model_selection._goals import pareto_front


@dataclass(frozen=True)
class Candidate:
    """One evaluated candidate.

    Parameters
    ----------
    params : dict
        Its parameters.
    iteration : int
        The batch that it was evaluated in.
    source : str
        ``"init"`` if it belongs to the initial design, ``"model"`` if the model proposed it,
        ``"resumed"`` if its rows are from a journal.
    rows : list of dict, or None
        What scikit-learn returned for each split; None if every fit of the batch failed, for which
        scikit-learn returns nothing.
    error : str or None
        Then the report of the failed fits.
    score : float
        Mean test score over the splits, of the metric that is searched; NaN if it failed.
    is_in_order : bool
        Whether all candidates before it had been told when it was proposed, but those of its batch:
        then the same proposals can be made again.
    """

    params: dict
    iteration: int
    source: str
    rows: list | None
    error: str | None
    score: float
    is_in_order: bool = True


def mean_score(rows, refit):
    """Return the mean over splits of the metric that the search is after.

    With several metrics that is the one named by `refit`; when `refit` is False or callable, the
    first metric. If every fit failed it is the score of one, which their mean may miss by rounding.
    """
    scores = searched_scores(rows, refit)
    if all(row["fit_error"] for row in rows):
        return float(scores[0])
    return float(np.mean(scores))


def mean_error(rows, refit):
    """Return the standard error of `mean_score`, the splits taken for a sample.

    NaN, not known, for a candidate without rows, for a single split and for a failed fit.
    """
    if rows is None or len(rows) < 2:
        return math.nan
    with np.errstate(over="ignore", invalid="ignore"):  # the squares of huge scores
        error = np.std(searched_scores(rows, refit), ddof=1) / np.sqrt(len(rows))
    return float(error) if np.isfinite(error) else math.nan


def searched_scores(rows, refit):
    """Return the scores of rows, a list: those of the metric that the search is after."""
    metric = searched_metric(rows, refit)
    scores = [row["test_scores"] for row in rows]
    return scores if metric is None else [score[metric] for score in scores]


def warn_of_interruption(candidates, n_iter, error):
    """Say that the results are those of the candidates before an interruption."""
    then = "the error is raised" if isinstance(error, SystemExit) else "the best is refitted"
    warn_user(
        f"the search was interrupted after {len(candidates)} of {n_iter} candidates "
        f"({error!r}): these are its results, and {then}."
    )


def searched_metric(rows, refit):
    """Return the name of the metric that the search is after, None where there is only one."""
    scores = rows[0]["test_scores"]
    if isinstance(scores, Number):
        return None
    return refit if isinstance(refit, str) else next(iter(scores))


def _failed_row(row, error, error_score):
    row = dict(row, fit_error=error, fit_time=math.nan, score_time=math.nan)
    for key in {"test_scores", "train_scores"} & row.keys():
        several = isinstance(row[key], dict)
        row[key] = dict.fromkeys(row[key], error_score) if several else error_score
    return row


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
    errors = [candidate.error for candidate in batches.candidates if candidate.error is not None]
    if errors:
        warn_user(
            f"{len(errors)} of {len(batches.candidates)} candidates failed and have "
            f"error_score={search.error_score} in cv_results_. The last:\n{errors[-1]}",
            FitFailedWarning,
        )
    batches.require_table()
    _tabulate(search, batches.table, batches.candidates)
    if search._goals:
        search.pareto_front_ = pareto_front(batches.table, batches.candidates, search._goals)


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
    """Fill the table; candidates that failed as scikit-learn does, but with no times."""
    error_score, params = search.error_score, [candidate.params for candidate in candidates]
    like = next(c.rows for c in candidates if c.rows is not None)
    rows = [c.rows or [_failed_row(r, c.error, error_score) for r in like] for c in candidates]
    more = {"iter": [c.iteration for c in candidates], "source": [c.source for c in candidates]}
    table.clear()
    table.update(BaseSearchCV._format_results(search, params, len(like), list(chain(*rows)), more))
