"""Evaluated candidates, and the rows they become in ``cv_results_``."""

import math
from dataclasses import dataclass
from numbers import Number

import numpy as np


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
    scores = _searched_scores(rows, refit)
    if all(row["fit_error"] for row in rows):
        return float(scores[0])
    return float(np.mean(scores))


def score_noise(rows, refit):
    """Return the standard error of `mean_score`: the deviation over the splits by root n_splits.

    NaN, not known, for a candidate without rows, for a single split and for a failed fit.
    """
    if rows is None or len(rows) < 2:
        return math.nan
    with np.errstate(over="ignore", invalid="ignore"):  # the squares of huge scores
        noise = np.std(_searched_scores(rows, refit)) / np.sqrt(len(rows))
    return float(noise) if np.isfinite(noise) else math.nan


def _searched_scores(rows, refit):
    scores = [row["test_scores"] for row in rows]
    if isinstance(scores[0], Number):
        return scores
    metric = refit if isinstance(refit, str) else next(iter(scores[0]))
    return [score[metric] for score in scores]


def result_rows(candidates, error_score):
    """Return the rows of all candidates in order, one per split, failed candidates filled in.

    A filled-in row has `error_score` for every score, as scikit-learn writes it when only some
    candidates of one call fail, and NaN for the times, which are not known.

    Parameters
    ----------
    candidates : list of Candidate
        At least one of them with rows.
    error_score : float
        The score of a failed fit.

    Returns
    -------
    rows : list of dict
    """
    template = next(c.rows for c in candidates if c.rows is not None)
    return [
        row
        for c in candidates
        for row in (c.rows or [_failed_row(row, c.error, error_score) for row in template])
    ]


def _failed_row(row, error, error_score):
    row = dict(row, fit_error=error, fit_time=math.nan, score_time=math.nan)
    for key in {"test_scores", "train_scores"} & row.keys():
        several = isinstance(row[key], dict)
        row[key] = dict.fromkeys(row[key], error_score) if several else error_score
    return row
