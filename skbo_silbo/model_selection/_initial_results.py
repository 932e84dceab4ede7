"""Read the `initial_results` of a search: results of an earlier search on similar data."""

import math
import sys
from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np

from skbo_silbo._checks import brief
from skbo_silbo.model_selection._initial_candidates import is_point_of
from skbo_silbo.space.any_space import NamedSpace, branches_of

Results: TypeAlias = tuple[list[dict[str, Any]], list[float]]
PREFIX = "param_"


def read_initial_results(given: Any, refit: Any, space: NamedSpace) -> Results:
    """Read the parameter `initial_results` of a search.

    Parameters
    ----------
    given : dict, list of (params, score) or None
        The parameter `initial_results` of `SILBOSearchCV`: ``cv_results_``, some of its columns, or
        pairs of parameters and score.
    refit : object
        The parameter `refit` of the search. If it is a string, it is the name of the metric to
        read. Otherwise the first metric is read.
    space : Space or SpaceUnion
        The search space. It determines whether an empty cell means None or that the candidate lacks
        the parameter.

    Returns
    -------
    params : list of dict
    scores : list of float
        Score of each candidate, or NaN if it failed.

    Raises
    ------
    ValueError
        If `given` has none of these types, or if parameters or scores are missing.
    """
    if given is None:
        return [], []
    if isinstance(given, (list, tuple)):
        return _read_pairs(given)
    if not isinstance(given, Mapping):
        raise ValueError(_not_results(given))
    scores = list(map(_as_score, given[_score_name(given, refit)]))
    params = _read_params(given, space)
    resources = given.get("n_resources", [0] * len(params))
    kept = [i for i in range(len(params)) if resources[i] == max(resources)]
    if "source" in given:  # given candidates may be outside the space, such as gamma="scale"
        may_be_outside = np.asarray(given["source"]) == "given"
        kept = [i for i in kept if not may_be_outside[i] or is_point_of(params[i], space)]
    return [params[i] for i in kept], [scores[i] for i in kept]


def _read_pairs(pairs: Any) -> Results:
    try:
        return [dict(params) for params, _ in pairs], [_as_score(score) for _, score in pairs]
    except (TypeError, ValueError) as error:
        raise ValueError(_not_results(pairs)) from error


def _as_score(score: Any) -> float:
    return math.nan if _is_empty(score) else float(score)


def _score_name(columns: Mapping[str, Any], refit: Any) -> str:
    prefix = "mean_test_"
    names = [name for name in columns if name.startswith(prefix)]
    if isinstance(refit, str):
        names = [name for name in names if name == prefix + refit]
    if not names:
        raise _no_column(prefix + (refit if isinstance(refit, str) else "score"), columns)
    return names[0]


def _no_column(wanted: str, columns: Mapping[str, Any]) -> ValueError:
    return ValueError(
        f"`initial_results` must have a column {wanted!r}, got {brief(sorted(columns))}. Pass the "
        "cv_results_ of a search with this metric, with a column 'param_...' per parameter."
    )


def _read_params(columns: Mapping[str, Any], space: NamedSpace) -> list[dict[str, Any]]:
    params = list(columns.get("params", ()))
    if params and all(isinstance(p, Mapping) for p in params):
        return [dict(p) for p in params]
    named = {k.removeprefix(PREFIX): v for k, v in columns.items() if k.startswith(PREFIX)}
    if not named:
        raise _no_column("params", columns)
    rows = zip(*named.values(), strict=True)
    return [_candidate(dict(zip(named, row, strict=True)), space) for row in rows]


def _candidate(cells: dict[str, Any], space: NamedSpace) -> dict[str, Any]:
    """Return the parameters in a row of a results table; empty cells are None or left out."""
    given = {name: value for name, value in cells.items() if not _is_empty(value)}
    wanted = ([n for n in b.parameter_names if n in cells] for b in branches_of(space))
    readings = ({**dict.fromkeys(names), **given} for names in wanted)
    fewest_none_first = sorted([given, *readings], key=len)
    return next((params for params in fewest_none_first if is_point_of(params, space)), given)


def _is_empty(value: Any) -> bool:
    """Return whether a table cell is masked, NaN, None or pandas.NA."""
    if value is None or value is np.ma.masked or (isinstance(value, float) and np.isnan(value)):
        return True
    pandas = sys.modules.get("pandas")  # if pandas is not imported, no value can be pandas.NA
    return pandas is not None and value is pandas.NA


def _not_results(given: Any) -> str:
    frame = (
        " Pass search.cv_results_ rather than search.to_frame(). Convert a DataFrame of it by "
        'frame.to_dict("list"), or to_dict(as_series=False) with polars.'
        if hasattr(given, "columns")
        else ""
    )
    return (
        "`initial_results` must be cv_results_ or a list of (params, score), got "
        f"{type(given).__name__}. Write [({{'C': 1.0}}, 0.9), ...].{frame}"
    )
