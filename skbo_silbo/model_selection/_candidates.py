"""Evaluated candidates, and the rows they become in ``cv_results_``."""

import math
import warnings
from contextlib import contextmanager
from dataclasses import dataclass
from numbers import Number

import numpy as np
from sklearn.exceptions import FitFailedWarning

from skbo_silbo._checks import warn_user


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
        Mean test score over the splits, of the metric that is searched; NaN if it failed. For a
        candidate that was stopped, what it would have been by prediction.
    is_in_order : bool
        Whether all candidates before it had been told when it was proposed, but those of its batch:
        then the same proposals can be made again.
    noise : float or None
        Standard deviation of the predicted score of a candidate that was stopped; None for others.
    """

    params: dict
    iteration: int
    source: str
    rows: list | None
    error: str | None
    score: float
    is_in_order: bool = True
    noise: float | None = None

    @property
    def is_stopped(self):
        """Whether not all folds were run, as it surely loses."""
        return self.noise is not None


def mean_score(rows, refit):
    """Return the mean over splits of the metric that the search is after.

    With several metrics that is the one named by `refit`; when `refit` is False or callable, the
    first metric. If every fit failed it is the score of one, which their mean may miss by rounding.
    """
    scores = searched_scores(rows, refit)
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
        noise = np.std(searched_scores(rows, refit)) / np.sqrt(len(rows))
    return float(noise) if np.isfinite(noise) else math.nan


def mean_error(rows, refit):
    """Return the standard error of `mean_score`, splits taken for a sample; NaN if not known."""
    n = 0 if rows is None else len(rows)
    return score_noise(rows, refit) * math.sqrt(n / (n - 1)) if n > 1 else math.nan


def searched_scores(rows, refit):
    """Return the scores of rows, a list: those of the metric that the search is after."""
    metric = searched_metric(rows, refit)
    scores = [row["test_scores"] for row in rows]
    return scores if metric is None else [score[metric] for score in scores]


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


def with_unrun_folds(results, n_folds):
    """Return the results of the first folds, and rows of NaN for the others.

    If every fit has failed the others count as failed too, so that scikit-learn says so.
    """
    like = next((row for row in results if not row["fit_error"]), results[0])
    unrun = _failed_row(like, like["fit_error"], math.nan)
    return [*results, *(dict(unrun) for _ in range(n_folds - len(results)))]


def add_predictions(table, candidates, metric):
    """Add to ``cv_results_`` what is known of candidates that were stopped.

    That is the column ``predicted_mean_test_<metric>``, NaN for all others, and the mean and
    deviation of their times, over the folds that were run.
    """
    stopped = [i for i, candidate in enumerate(candidates) if candidate.is_stopped]
    predicted = np.full(len(candidates), np.nan)
    for i in stopped:
        predicted[i] = candidates[i].score
        for name in ("fit_time", "score_time"):
            times = [row[name] for row in candidates[i].rows]
            table[f"mean_{name}"][i], table[f"std_{name}"][i] = np.nanmean(times), np.nanstd(times)
    table[f"predicted_mean_test_{metric or 'score'}"] = predicted


@contextmanager
def unrun_folds_are_no_surprise(candidates):
    """Mute scikit-learn's warning of scores that are not finite where racing left them out."""
    others = [candidate.score for candidate in candidates if not candidate.is_stopped]
    with warnings.catch_warnings():
        if len(others) < len(candidates) and np.isfinite(others).all():
            message = "One or more of the (test|train) scores are non-finite"
            warnings.filterwarnings("ignore", message, UserWarning)
        yield


def warn_of_interruption(candidates, n_iter, error):
    """Say that the results are those of the candidates before an interruption."""
    then = "the error is raised" if isinstance(error, SystemExit) else "the best is refitted"
    warn_user(
        f"the search was interrupted after {len(candidates)} of {n_iter} candidates "
        f"({error!r}): these are its results, and {then}."
    )


def warn_of_failures(candidates, error_score):
    """Say how many candidates failed, if any, and why the last did."""
    errors = [candidate.error for candidate in candidates if candidate.error is not None]
    if errors:
        warn_user(
            f"{len(errors)} of {len(candidates)} candidates failed and have "
            f"error_score={error_score} in cv_results_. The last:\n{errors[-1]}",
            FitFailedWarning,
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
