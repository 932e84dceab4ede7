"""Scores of candidates from an earlier search, in the forms that people keep them in."""

import math
import sys
from collections.abc import Mapping

import numpy as np

from skbo_silbo.model_selection._given import is_point_of
from skbo_silbo.space._union import branches_of

PREFIX = "param_"


def read_initial_results(given, refit, space):
    """Return candidates and their scores.

    Parameters
    ----------
    given : dict or list of (params, score)
        As `SILBOSearchCV` takes them: ``cv_results_``, or columns of it.
    refit : object
        Names the metric, where there are several; otherwise the first of them counts.
    space : Space or SpaceUnion
        Tells a parameter that is None from one that a candidate does not have, both of which are
        NaN in a column of a frame.

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
    if isinstance(given, (list, tuple)):
        return _read_pairs(given)
    if not isinstance(given, Mapping):
        raise ValueError(_not_results(given))
    scores = given[_score_name(given, refit)]
    scores = [math.nan if _is_empty(score) else float(score) for score in scores]
    params = _read_params(given, space)
    sources = given.get("source", [None] * len(params))
    resources = given.get("n_resources", [0] * len(params))
    most = max(resources, default=0)
    kept = [
        i
        for i, p in enumerate(params)
        if resources[i] == most
        and (sources[i] != "given" or is_point_of(p, space))  # as ``gamma="scale"`` is not
    ]
    return [params[i] for i in kept], [scores[i] for i in kept]


def _read_pairs(pairs):
    try:
        params, scores = zip(*pairs, strict=True) if pairs else ((), ())
        scores = [float(score) for score in scores]
    except (TypeError, ValueError) as error:
        raise ValueError(_not_results(pairs)) from error
    if not all(isinstance(p, Mapping) for p in params):
        raise ValueError(_not_results(pairs))
    return [dict(p) for p in params], scores


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


def _read_params(columns, space):
    params = list(columns.get("params", ()))
    if params and all(isinstance(p, Mapping) for p in params):
        return [dict(p) for p in params]
    named = {k.removeprefix(PREFIX): v for k, v in columns.items() if k.startswith(PREFIX)}
    if not named:
        raise ValueError(
            "initial_results must have a column 'params' of dicts, or a column 'param_...' for "
            f"every parameter: got {sorted(columns)}. Give cv_results_."
        )
    rows = zip(*named.values(), strict=True)
    return [_candidate(dict(zip(named, row, strict=True)), space) for row in rows]


def _candidate(cells, space):
    """Return the parameters of a row, its empty cells None where a branch of the space says so."""
    given = {name: value for name, value in cells.items() if not _is_empty(value)}
    wanted = ([n for n in b.parameter_names if n in cells] for b in branches_of(space))
    readings = ({**dict.fromkeys(names), **given} for names in wanted)
    fewest_none_first = sorted([given, *readings], key=len)
    return next((params for params in fewest_none_first if is_point_of(params, space)), given)


def _is_empty(value):
    """Whether a cell is masked, NaN, None, or what pandas has for all three."""
    if value is None or value is np.ma.masked or (isinstance(value, float) and np.isnan(value)):
        return True
    pandas = sys.modules.get("pandas")  # not imported: then no value is its NA
    return pandas is not None and value is pandas.NA


def _not_results(given):
    frame = (
        ' For a DataFrame, write frame.to_dict("list"), with polars frame.to_dict(as_series=False).'
        if hasattr(given, "columns")
        else ""
    )
    return (
        "initial_results must be cv_results_ or a list of (params, score): got "
        f"{type(given).__name__}. Write [({{'C': 1.0}}, 0.9), ...].{frame}"
    )
