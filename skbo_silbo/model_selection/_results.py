"""The results of a search: ``cv_results_`` from the rows of all candidates."""

import math
import warnings
from collections import Counter
from contextlib import suppress
from itertools import chain
from numbers import Number

import numpy as np
from sklearn.exceptions import FitFailedWarning

from skbo_silbo._checks import warn_user
from skbo_silbo._sklearn import adopt_rows, format_results
from skbo_silbo.model_selection._goals import pareto_front
from skbo_silbo.optimizers._frame import evaluation_status, evaluation_table

SCORES = {"test_scores", "train_scores"}  # of a row


def has_succeeded(trial):
    """Return whether a fit of a candidate has succeeded."""
    return any(row["fit_error"] is None for row in trial.observation.rows or ())


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
    scores = [row["test_scores"] for row in rows]
    if isinstance(scores[0], Number):
        return scores
    metric = refit if isinstance(refit, str) else next(iter(scores[0]))
    return [score[metric] for score in scores]


def warn_of_interruption(candidates, n_iter, error):
    """Say that the results are those of the candidates before an interruption."""
    then = "the error is raised" if isinstance(error, SystemExit) else "the best is refitted"
    warn_user(
        f"the search was interrupted after {len(candidates)} of {n_iter} candidates "
        f"({error!r}): these are its results, and {then}."
    )


def with_all_metrics(rows, error_score):
    """Return rows that all have the same metrics, a dict where any row has.

    A callable that raises, or a fit that fails, leaves one number, `error_score`.
    """
    several = (row["test_scores"] for row in rows if isinstance(row["test_scores"], dict))
    failed = dict.fromkeys(next(several, ()), error_score)
    if not failed:
        return rows
    numbers = ([k for k in SCORES & row.keys() if not isinstance(row[k], dict)] for row in rows)
    return [{**row, **dict.fromkeys(k, failed)} for row, k in zip(rows, numbers, strict=True)]


def with_floats(row, error_score):
    """Return a row whose scores are floats: what is none counts as a scorer that raised.

    Raises
    ------
    ValueError
        Instead, if `error_score` is "raise".
    """
    read = {}
    for kind in SCORES & row.keys():
        several = isinstance(row[kind], dict)
        scores = row[kind] if several else {"score": row[kind]}
        floats = {name: _as_score(score, error_score) for name, score in scores.items()}
        read[kind] = floats if several else floats["score"]
    return {**row, **read}


def _as_score(score, error_score):
    try:
        return float(score)
    except (TypeError, OverflowError) as error:
        why = f"a score must be a number that a float can hold: {error} ({type(score).__name__})"
        if error_score == "raise":
            raise ValueError(f"{why}. Give error_score a number to go on without it.") from error
        warn_user(f"Scoring failed: {why}. It counts as error_score={error_score}.")
        return float(error_score)


def _lost_row(like, error, error_score):
    """Return the row of a fit that was lost: no time is known."""
    row = dict(like, fit_error=error, fit_time=math.nan, score_time=math.nan)
    return {**row, **dict.fromkeys(SCORES & row.keys(), error_score)}


def make_results(search, candidates, evaluate_candidates):
    """Make ``cv_results_`` of all candidates, in the dict that `BaseSearchCV` takes for it.

    Parameters
    ----------
    search : SILBOSearchCV
    candidates : list of Trial
    evaluate_candidates : callable
        What `BaseSearchCV` hands to ``_run_search``.

    Returns
    -------
    table : dict

    Raises
    ------
    ValueError
        If no fit has succeeded.

    Warns
    -----
    FitFailedWarning
        Of fits that failed.
    """
    if not candidates:
        raise ValueError(
            "initial_results must leave a candidate to evaluate: got every one that "
            "param_distributions and constraints allow. Widen them, or leave initial_results out."
        )
    if not any(has_succeeded(candidate) for candidate in candidates):
        error = _last_error(candidates[-1].observation)
        raise ValueError(
            f"every fit of all {len(candidates)} candidates failed: one must succeed. "
            f"Set error_score='raise' to debug. The last:\n{error}"
        )
    rows = _all_rows(candidates, search.error_score)
    _warn_of_failures(rows, search.error_score)
    params = [candidate.point for candidate in candidates]
    more = {"iter": [c.batch for c in candidates], "source": [c.source for c in candidates]}
    table = adopt_rows(evaluate_candidates, rows)
    table.update(format_results(search, params, len(rows) // len(params), rows, more))
    if search._goals:
        observations = [candidate.observation for candidate in candidates]
        search.pareto_front_ = pareto_front(table, observations, search._goals)
    return table


def results_table(results, n_splits):
    """Return the columns of a table with one row per candidate, from ``cv_results_``."""
    prefix = "mean_test_"
    scores = {k.removeprefix(prefix): v for k, v in results.items() if k.startswith(prefix)}
    columns = {"value" if name == "score" else name: v.tolist() for name, v in scores.items()}
    seconds = n_splits * (results["mean_fit_time"] + results["mean_score_time"])
    columns |= {"source": list(results["source"]), "seconds": seconds.tolist()}
    status = evaluation_status(np.sum(list(scores.values()), axis=0))
    return evaluation_table(results["params"], columns, status)


def attach_results(error, search, candidates, evaluate_candidates):
    """Give an error the results so far, if there are any, and say so."""
    if not any(has_succeeded(candidate) for candidate in candidates):
        return
    with suppress(Exception), warnings.catch_warnings():  # the first error is the one to raise
        warnings.simplefilter("ignore")
        error.cv_results_ = make_results(search, candidates, evaluate_candidates)
        error.add_note(
            f"SILBOSearchCV: the results of {len(candidates)} candidates are in the "
            "attribute 'cv_results_' of this exception, and can be given as initial_results."
        )


def _last_error(observation):
    return observation.error or observation.rows[-1]["fit_error"]


def _all_rows(candidates, error_score):
    """Return the rows of all candidates, those of lost ones made up; all have the same metrics."""
    like = next(c.observation.rows for c in candidates if has_succeeded(c))
    observations = [candidate.observation for candidate in candidates]
    rows = [o.rows or [_lost_row(row, o.error, error_score) for row in like] for o in observations]
    return with_all_metrics(list(chain(*rows)), error_score)


def _warn_of_failures(rows, error_score):
    errors = Counter(row["fit_error"] for row in rows if row["fit_error"] is not None)
    if errors:
        details = "\n".join(f"{n} fits failed with:\n{error}" for error, n in errors.items())
        warn_user(
            f"{errors.total()} fits failed out of a total of {len(rows)}: their score is "
            f"error_score={error_score}. Set error_score='raise' to debug.\n{details}",
            FitFailedWarning,
        )
