"""Scores of candidates from an earlier search, in the forms that people keep them in."""

import math
from collections.abc import Mapping

import numpy as np

PREFIX, PREDICTED = "param_", "predicted_"


def read_initial_results(given, refit):
    """Return candidates and their scores.

    Parameters
    ----------
    given : dict, DataFrame, list of (params, score) or None
        As `SILBOSearchCV` takes them: ``cv_results_``, or a frame made from it.
    refit : object
        Names the metric, where there are several; otherwise the first of them counts.

    Returns
    -------
    params : list of dict
    scores : list of float
        NaN for a failed candidate.

    Raises
    ------
    ValueError
        If it is none of these, or lacks parameters or scores.
    """
    if given is None:
        return [], []
    if isinstance(given, (list, tuple)):
        return _read_pairs(given)
    columns = _columns(given)
    if columns is None:
        raise ValueError(_not_results(given))
    name = _score_name(columns, refit)
    scores = [float(score) for score in columns[name]]
    predicted = columns.get(PREDICTED + name)
    if predicted is not None:  # of candidates that were stopped, which have no mean
        scores = [
            float(prediction) if math.isnan(score) else score
            for score, prediction in zip(scores, predicted, strict=True)
        ]
    return _read_params(columns), scores


def _read_pairs(pairs):
    try:
        params, scores = zip(*pairs, strict=True) if pairs else ((), ())
        scores = [float(score) for score in scores]
    except (TypeError, ValueError) as error:
        raise ValueError(_not_results(pairs)) from error
    if not all(isinstance(p, Mapping) for p in params):
        raise ValueError(_not_results(pairs))
    return [dict(p) for p in params], scores


def _columns(given):
    """Return a dict of name to column of a dict or frame; None if it is neither."""
    if isinstance(given, Mapping):
        return dict(given)
    if not hasattr(given, "columns"):
        return None
    return {str(name): list(given[name]) for name in given.columns}


def _score_name(columns, refit):
    prefix = "mean_test_"
    names = [name for name in columns if name.startswith(prefix)]
    if isinstance(refit, str):
        names = [name for name in names if name == prefix + refit]
    if not names:
        wanted = prefix + (refit if isinstance(refit, str) else "score")
        raise ValueError(
            f"initial_results must have a column {wanted!r}: got {sorted(columns)}. Give what a "
            "search with that metric has as cv_results_."
        )
    return names[0]


def _read_params(columns):
    params = list(columns.get("params", ()))
    if params and all(isinstance(p, Mapping) for p in params):
        return [dict(p) for p in params]
    named = {k.removeprefix(PREFIX): v for k, v in columns.items() if k.startswith(PREFIX)}
    if not named:
        raise ValueError(
            "initial_results must have a column 'params' of dicts, or a column 'param_...' for "
            f"every parameter: got {sorted(columns)}. Give cv_results_ or a frame made from it."
        )
    rows = zip(*named.values(), strict=True)
    return [
        {name: value for name, value in zip(named, row, strict=True) if not _is_absent(value)}
        for row in rows
    ]


def _is_absent(value):
    """Whether a cell says that a candidate does not have the parameter: masked, or NaN."""
    return value is np.ma.masked or (isinstance(value, float) and np.isnan(value))


def _not_results(given):
    return (
        "initial_results must be cv_results_, a DataFrame made from it or a list of "
        f"(params, score): got {type(given).__name__}. Write [({{'C': 1.0}}, 0.9), ...]."
    )
