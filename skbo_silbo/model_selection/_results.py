"""Compute ``cv_results_`` from the fits of all candidates."""

import math
import warnings
from collections.abc import Sequence
from contextlib import suppress
from itertools import chain
from numbers import Number
from typing import Any, TypeAlias

import numpy as np

from skbo_silbo._checks import warn_user
from skbo_silbo._evaluation_table import evaluation_table
from skbo_silbo._sklearn import adopt_rows, format_results, warn_or_raise_about_fit_failures
from skbo_silbo._typing import Rows
from skbo_silbo.evaluation.trial import Trial
from skbo_silbo.model_selection._goals import TIME, pareto_front

Trials: TypeAlias = Sequence[Trial]
SCORES = {"test_scores", "train_scores"}  # keys in the result of a fit, which is called a row


def has_succeeded(trial: Trial) -> bool:
    """Return whether at least one fit of a candidate succeeded."""
    return any(row["fit_error"] is None for row in trial.observation.rows or ())


def mean_score(rows: Rows, refit: Any) -> float:
    """Return a candidate's mean score over the splits.

    This is the metric named by `refit`, or the first one if `refit` is not a string.
    """
    scores = searched_scores(rows, refit)
    if all(row["fit_error"] for row in rows):  # avoid rounding: all scores are error_score
        return float(scores[0])
    return float(np.mean(scores))


def searched_scores(rows: Rows, refit: Any) -> list[float]:
    """Return a candidate's test scores, one per split, for the metric being optimised."""
    scores = [row["test_scores"] for row in rows]
    if isinstance(scores[0], Number):
        return scores
    metric = refit if isinstance(refit, str) else next(iter(scores[0]))
    return [score[metric] for score in scores]


def warn_of_interruption(candidates: Trials, n_iter: Any, error: BaseException) -> None:
    """Warn that the results only include candidates evaluated before an interruption."""
    n_iter = "" if n_iter is None else f" of {n_iter}"
    then = "The error is raised again" if isinstance(error, SystemExit) else "The best is refitted"
    warn_user(
        f"The search was interrupted after {len(candidates)}{n_iter} candidates ({error!r}); "
        f"the results only include these. {then}."
    )


def with_all_metrics(rows: Rows, error_score: Any) -> Rows:
    """Return the results of fits with all metrics, filling missing ones by NaN.

    With several metrics, a failed fit has a single score, which is assigned to all metrics.
    """
    several = (s for row in rows if isinstance(s := row.get("test_scores"), dict))
    failed = dict.fromkeys(next(several, ()), error_score)
    if not failed:
        return rows
    numbers = ([k for k in SCORES & row.keys() if not isinstance(row[k], dict)] for row in rows)
    return [{**row, **dict.fromkeys(k, failed)} for row, k in zip(rows, numbers, strict=True)]


def with_floats(row: dict[str, Any]) -> dict[str, Any]:
    """Convert the scores of a fit to floats."""
    read: dict[str, Any] = {}
    for kind in SCORES & row.keys():
        scores = row[kind]
        is_dict = isinstance(scores, dict)
        read[kind] = {n: float(s) for n, s in scores.items()} if is_dict else float(scores)
    return {**row, **read}


def _lost_row(like: dict[str, Any], error: Any, error_score: Any) -> dict[str, Any]:
    """Return the result of a fit that was lost, with NaN as fit time."""
    row = dict(like, fit_error=error, fit_time=math.nan, score_time=math.nan)
    return {**row, **dict.fromkeys(SCORES & row.keys(), error_score)}


def make_results(search: Any, candidates: Trials, evaluate_candidates: Any) -> dict[str, Any]:
    """Compute ``cv_results_`` for all candidates and store it in the running search.

    Parameters
    ----------
    search : SILBOSearchCV
    candidates : list of Trial
    evaluate_candidates : callable
        The argument of ``_run_search``.

    Returns
    -------
    table : dict
        The columns of ``cv_results_`` by name.

    Raises
    ------
    ValueError
        If no fit succeeded.

    Warns
    -----
    FitFailedWarning
        If some fits failed.
    """
    if not candidates:
        raise ValueError(
            "`initial_results` already contain all candidates that `param_distributions` and "
            "`constraints` allow. Widen the space or remove `initial_results`."
        )
    rows = _all_rows(candidates, search.error_score, search.n_splits_)
    warn_or_raise_about_fit_failures(rows, search.error_score)
    return _fill_results(search, candidates, rows, evaluate_candidates)


def _fill_results(
    search: Any, candidates: Trials, rows: Rows, evaluate_candidates: Any
) -> dict[str, Any]:
    params = [candidate.point for candidate in candidates]
    more = {"iter": [c.batch for c in candidates], "source": [c.source for c in candidates]}
    more["resumed"] = [c.is_resumed for c in candidates]
    more["proposal_time"] = [c.proposal_time for c in candidates]
    table = adopt_rows(evaluate_candidates, rows)
    table.update(format_results(search, params, len(rows) // len(params), rows, more))
    if search._goals:
        observations = [candidate.observation for candidate in candidates]
        search.pareto_front_ = pareto_front(table, observations, search._goals)
    return table


def require_success_in_space(candidates: Trials, error_score: Any, n_splits: int) -> None:
    """Raise scikit-learn's error if all candidates, or all in the search space, failed.

    A candidate outside the space, such as the untuned estimator, would otherwise be the best one
    and hide that the space is invalid.
    """
    if any(map(has_succeeded, candidates)):
        candidates = [candidate for candidate in candidates if candidate.is_modelled]
    if candidates and not any(map(has_succeeded, candidates)):
        warn_or_raise_about_fit_failures(_all_rows(candidates, error_score, n_splits), error_score)


def results_table(results: Any, n_splits: int, *, has_time: bool = False) -> dict[str, list[Any]]:
    """Return a table with one row per candidate as a dict of columns.

    If `has_time` is True, the fit time is an objective and has a column.
    """
    prefix = "mean_test_"
    scores = {k.removeprefix(prefix): v for k, v in results.items() if k.startswith(prefix)}
    columns = {"value" if name == "score" else name: v.tolist() for name, v in scores.items()}
    if has_time:
        columns[TIME] = results["mean_fit_time"].tolist()
    seconds = n_splits * (results["mean_fit_time"] + results["mean_score_time"])
    columns["source"] = list(results["source"])
    if np.any(results["resumed"]):
        columns["resumed"] = list(results["resumed"])
    columns["seconds"] = seconds.tolist()
    return evaluation_table(results["params"], columns, np.sum(list(scores.values()), axis=0))


def attach_results(error: Any, search: Any, candidates: Trials, evaluate_candidates: Any) -> None:
    """Attach the results so far to an exception that ends the search."""
    if not candidates:
        return
    with suppress(Exception), warnings.catch_warnings():  # do not hide the original error
        warnings.simplefilter("ignore")
        rows = _all_rows(candidates, search.error_score, search.n_splits_)
        error.cv_results_ = _fill_results(search, candidates, rows, evaluate_candidates)
        error.add_note(
            f"SILBOSearchCV: the attribute 'cv_results_' of this exception holds the results of "
            f"{len(candidates)} candidates. Pass them as initial_results to continue."
        )


def _all_rows(candidates: Trials, error_score: Any, n_splits: int) -> Rows:
    """Return the results of all fits of all candidates, including lost fits."""
    like: Any = next((c.observation.rows for c in candidates if has_succeeded(c)), [{}] * n_splits)
    observations = [candidate.observation for candidate in candidates]
    rows = [o.rows or [_lost_row(row, o.error, error_score) for row in like] for o in observations]
    return with_all_metrics(list(chain(*rows)), error_score)
