"""A few configurations that together do best on several data sets."""

import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import rankdata

from skbo_silbo.journal._journal import read_checked_line
from skbo_silbo.optimizers._event import values_from_data
from skbo_silbo.space._keys import first_rows
from skbo_silbo.space._values import is_number, same

N_NEIGHBOURS = 3  # from which a score that was not measured is estimated


def portfolio(results: Sequence[Any], n: int = 4) -> list[dict[str, Any]]:
    """Return the configurations that together did best on several data sets.

    They are for `initial_params` of a search on other data. Scores of a data set count from its
    median (0) to its best (1). The first has the highest mean; each next one adds most to the best
    of those before it.

    Parameters
    ----------
    results : list
        One for every data set: a fitted search, its ``cv_results_``, or the path of its journal.
    n : int, default=4
        How many.

    Returns
    -------
    params : list of dict
        At most `n`, the best first.

    Raises
    ------
    ValueError
        If there is no result, one is none of these, none of its candidates has a score, or two
        share no parameter.

    Notes
    -----
    Where a configuration was not evaluated on a data set, its score is estimated: the mean of the
    three nearest that were, weighted by the inverse distance. Numbers are compared by their ranks,
    other values are equal or not. A configuration that failed on a data set is not returned. A
    journal has numbers, words and None; candidates of other
    values are left out.

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
            "results must be a list with a search, cv_results_ or journal for every data set: got "
            f"{results!r}. Write portfolio([search_1, search_2])."
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
    """Return candidates, their shares of the gap between median and best, and their scores."""
    if isinstance(result, (str, os.PathLike)):
        params, scores = _of_journal(Path(result))
    else:
        params, scores = _of_table(getattr(result, "cv_results_", result))
    scores = np.array(scores, dtype=float)
    if not np.isfinite(scores).any():
        raise ValueError(
            f"results must have a candidate with a score each: got none in {result!r}. Leave "
            "it out."
        )
    low, high = np.median(scores[np.isfinite(scores)]), np.max(scores[np.isfinite(scores)])
    shares = np.clip((scores - low) / (high - low if high > low else 1.0), -1.0, 1.0)
    return params, np.where(np.isnan(shares), -1.0, shares), scores


def _require_one_space(read):
    names = [{name for params in candidates for name in params} for candidates, *_ in read]
    for i, of_result in enumerate(names):
        if not of_result & names[0]:
            raise ValueError(
                f"results must be of one model: result {i} has {sorted(of_result)}, and the first "
                f"has {sorted(names[0])}. Call portfolio for each model."
            )


def _of_table(table):
    is_table = hasattr(table, "keys") and "params" in table
    names = [name for name in table if name.startswith("mean_test_")] if is_table else []
    if not names:
        raise ValueError(
            "results must be fitted searches, cv_results_ or paths of journals: got "
            f"{type(table).__name__} without 'params' and 'mean_test_score'. Give "
            "search.cv_results_."
        )
    return list(table["params"]), list(table[names[0]])


def _of_journal(path):
    lines = (read_checked_line(line) for line in path.read_bytes().splitlines())
    events = [line for line in lines if line and "params" in line and "observed" in line]
    plain = [e for e in events if not any(_is_object(v) for v in e["params"].values())]
    return [e["params"] for e in plain], [-values_from_data(e["y"])[0] for e in plain]


def _is_object(value):
    """Return whether a word in a journal stands for an object, as its repr does."""
    return isinstance(value, str) and (value.endswith(")") or value.startswith("<"))


def _distances(every):
    """Return how far candidates are from each other, (n, n)."""
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
    """Return the share of every candidate on one data set, whose own are the columns."""
    nearest = np.argsort(distances, axis=1, kind="stable")[:, :N_NEIGHBOURS]
    weights = 1.0 / np.maximum(np.take_along_axis(distances, nearest, axis=1), 1e-12)
    return (weights * shares[nearest]).sum(axis=1) / weights.sum(axis=1)


def _greedy(table, n):
    """Return n columns, each adding most to the best of those before; of equal ones the better."""
    best, chosen, alone = np.full(len(table), -1.0), [], table.mean(axis=0)
    while len(chosen) < min(n, table.shape[1]):
        means = np.maximum(table, best[:, None]).mean(axis=0)
        means[chosen] = -np.inf
        chosen.append(int(np.lexsort((alone, means))[-1]))
        best = np.maximum(best, table[:, chosen[-1]])
    return chosen
