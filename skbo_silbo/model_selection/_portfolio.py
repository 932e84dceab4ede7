"""Select a few configurations that perform well on several data sets."""

import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import rankdata

from skbo_silbo._checks import brief
from skbo_silbo.journal.journal import read_unlocked
from skbo_silbo.optimizers.event import values_from_data
from skbo_silbo.space.keys import first_rows
from skbo_silbo.space.values import is_number, same

N_NEIGHBOURS = 3  # used to estimate a missing score


def portfolio(results: Sequence[Any], n: int = 4) -> list[dict[str, Any]]:
    """Select a few configurations of which at least one performs well on each data set.

    Pass them as `initial_params` to a search on new data. The scores on each data set are scaled
    from its median (0) to its best score (1). The first configuration has the highest mean score;
    each further one adds most to the mean of the best scores so far.

    Parameters
    ----------
    results : list
        One entry per data set: a fitted search, its ``cv_results_``, or the path of its journal.
    n : int, default=4
        Number of configurations to select.

    Returns
    -------
    params : list of dict
        The selected configurations, at most `n`, in the order of selection.

    Raises
    ------
    ValueError
        If `results` is empty or invalid, a data set has no scores, or the searches do not have
        parameters in common.

    Notes
    -----
    If a configuration was not evaluated on a data set, its score is estimated from the three
    nearest configurations, weighted by the inverse distance. Distances use the ranks of numbers;
    other values are equal or not. Configurations that failed on a data set are not selected.
    Candidates in a journal are ignored if they contain objects other than numbers, strings and
    None.

    Examples
    --------
    >>> from skbo_silbo import portfolio
    >>> one = {"params": [{"C": 1}, {"C": 10}, {"C": 100}], "mean_test_score": [0.5, 0.9, 0.6]}
    >>> two = {"params": [{"C": 1}, {"C": 10}, {"C": 100}], "mean_test_score": [0.3, 0.6, 0.7]}
    >>> portfolio([one, two], n=2)
    [{'C': 100}, {'C': 10}]
    """
    if not isinstance(results, (list, tuple)) or not results:
        raise ValueError(
            "`results` must be a non-empty list with a search, cv_results_ or journal per data set,"
            f" got {brief(results)}. Write portfolio([search_1, search_2])."
        )
    read = [_read(result) for result in results]
    _require_one_space(read)
    every = [params for candidates, *_ in read for params in candidates]
    distances = _distances(every)
    worked = [np.isfinite(score) for _, _, scores in read for score in scores]
    same_as = distances == 0
    first = [i for i in first_rows(same_as.astype(float)) if np.all(worked, where=same_as[i])]
    starts = np.cumsum([0, *(len(candidates) for candidates, *_ in read)])
    table = [
        _estimates(distances[:, start:end], shares)
        for start, end, (_, shares, _) in zip(starts[:-1], starts[1:], read, strict=True)
    ]
    chosen = _greedy(np.array(table)[:, first], n)
    return [dict(every[first[i]]) for i in chosen]


def _read(result):
    """Return the candidates evaluated on one data set, with scaled and original scores."""
    if isinstance(result, (str, os.PathLike)):
        params, scores = _read_journal(Path(result))
    else:
        params, scores = _read_table(getattr(result, "cv_results_", result))
    scores = np.array(scores, dtype=float)
    if not np.isfinite(scores).any():
        raise ValueError(
            "Each entry of `results` must have a candidate with a score, got none in "
            f"{brief(result)}. Remove this entry."
        )
    low, high = np.median(scores[np.isfinite(scores)]), np.max(scores[np.isfinite(scores)])
    shares = np.clip((scores - low) / (high - low if high > low else 1.0), -1.0, 1.0)
    return params, np.where(np.isnan(shares), -1.0, shares), scores


def _require_one_space(read):
    names = [{name for params in candidates for name in params} for candidates, *_ in read]
    for i, own in enumerate(names):
        if not own & names[0]:
            raise ValueError(
                "All entries of `results` must have parameters in common, got "
                f"{sorted(own)} in entry {i} and {sorted(names[0])} in entry 0. Call portfolio "
                "separately for each model."
            )


def _read_table(table):
    is_table = hasattr(table, "keys") and "params" in table
    names = [name for name in table if name.startswith("mean_test_")] if is_table else []
    if not names:
        raise ValueError(
            "`results` must contain fitted searches, cv_results_ or paths of journals, got "
            f"{type(table).__name__} without 'params' and 'mean_test_score'. Pass "
            "search.cv_results_."
        )
    return list(table["params"]), list(table[names[0]])


def _read_journal(path):
    events = [event for event in read_unlocked(path)[1] if "params" in event]
    plain = [e for e in events if not any(_is_object(v) for v in e["params"].values())]
    return [e["params"] for e in plain], [-values_from_data(e["y"])[0] for e in plain]


def _is_object(value):
    """Return whether a value read from a journal is the repr of an object."""
    return isinstance(value, str) and (value.endswith(")") or value.startswith("<"))


def _distances(every):
    """Return the matrix of distances between all pairs of candidates."""
    total = np.zeros((len(every), len(every)))
    for name in sorted({name for params in every for name in params}):
        values = [params.get(name, _ABSENT) for params in every]
        numbers = np.array([v if is_number(v) else math.nan for v in values], dtype=float)
        ranks = rankdata(numbers, method="dense", nan_policy="omit")
        widest = max(len(np.unique(numbers[np.isfinite(numbers)])) - 1, 1)
        apart = np.abs(ranks[:, None] - ranks[None, :]) / widest
        other = np.array([[not same(a, b) for b in values] for a in values], dtype=float)
        total += np.where(np.isfinite(apart), apart, other)
    return total


_ABSENT = object()


def _estimates(distances, shares):
    """Estimate the scaled scores on one data set of candidates evaluated on others.

    Parameters
    ----------
    distances : ndarray of shape (n_candidates, n_evaluated)
        Distances of all candidates to the candidates that were evaluated on this data set.
    shares : ndarray of shape (n_evaluated,)
        Scores of the evaluated candidates, scaled to be comparable between data sets.

    Returns
    -------
    estimates : ndarray of shape (n_candidates,)
    """
    nearest = np.argsort(distances, axis=1, kind="stable")[:, :N_NEIGHBOURS]
    weights = 1.0 / np.maximum(np.take_along_axis(distances, nearest, axis=1), 1e-12)
    return (weights * shares[nearest]).sum(axis=1) / weights.sum(axis=1)


def _greedy(table, n):
    """Select n candidates greedily by the mean over data sets of their best score."""
    best, chosen, alone = np.full(len(table), -1.0), [], table.mean(axis=0)
    while len(chosen) < min(n, table.shape[1]):
        means = np.maximum(table, best[:, None]).mean(axis=0)
        means[chosen] = -np.inf
        chosen.append(int(np.lexsort((alone, means))[-1]))
        best = np.maximum(best, table[:, chosen[-1]])
    return chosen
