"""Evaluations in a journal file, which a search may still be writing."""

import json
import os
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import loguniform, rv_histogram, uniform

from skbo_silbo.inspection._evaluations import Evaluations, score_name
from skbo_silbo.inspection._pareto_display import ParetoDisplay
from skbo_silbo.journal.journal import read_unlocked
from skbo_silbo.model_selection._goals import TIME, non_dominated_rows
from skbo_silbo.optimizers import SILBO
from skbo_silbo.optimizers.event import values_from_data
from skbo_silbo.optimizers.frame import evaluation_status, evaluation_table
from skbo_silbo.optimizers.state import box_from_data
from skbo_silbo.space.any_space import as_space
from skbo_silbo.space.values import is_number

EVEN = 1e-3  # quantiles count as evenly spaced up to this relative difference


class ReportData(NamedTuple):
    """Content of a report: a summary of the search and its evaluations.

    `n_open` is the number of evaluations that have begun but not ended. `front` holds the
    objectives and the Pareto front of a multi-objective search.
    """

    facts: dict[str, str]
    evaluations: Evaluations
    table: dict[str, list[Any]]
    n_open: int = 0
    front: ParetoDisplay | None = None


def read_journal(path: str | os.PathLike[str]) -> ReportData:
    """Read the evaluations in a journal file without locking it.

    A journal describes a distribution by its quantiles. Points between them are exact for uniform
    and log-uniform distributions, and interpolated for others.

    Raises
    ------
    OSError, ValueError
        If `read_unlocked` raises one of these errors.
    """
    header, records = read_unlocked(path)
    settings = header["search"]
    observed = [record for record in records if "observed" in record]
    space = _read_space(settings)
    is_search = "param_distributions" in settings
    maximize = is_search or bool(settings["maximize"])
    sign = -1.0 if maximize else 1.0
    optimizer = SILBO(space, random_state=int(header["seed"]))
    rows = [(record, i) for record in observed for i in range(len(record["y"]))]
    given = settings.get("initial candidates", [])
    points = [_point(record, i, space, given) for record, i in rows]
    y = np.array([values_from_data(record["y"])[i] for record, i in rows], dtype=float)
    told = [values_from_data(r["constraints"][i]) if "constraints" in r else None for r, i in rows]
    for point, value, constraints in zip(points, y, told, strict=True):
        with suppress(ValueError):  # initial candidates may lie outside the space
            optimizer.tell(point, value, constraints=constraints)
    feasible = np.array([c is None or bool(np.all(c <= 0.0)) for c in told], dtype=bool)
    values = np.where(feasible & np.isfinite(y), sign * y, np.nan)
    names = tuple(settings["refit"]) if isinstance(settings.get("refit"), list) else ()
    name = _score_name(settings, rows, len(names)) if is_search else "value"
    observed_points = points if space.is_dict else np.reshape(points, (len(rows), -1))
    evaluations = Evaluations("SILBO", optimizer, observed_points, values, name, maximize, 0)
    errors = [record.get("error") for record, _ in rows]
    status = zip(errors, evaluation_status(y, feasible), strict=True)
    front = _read_front(names, rows, settings.get("scoring")) if names and rows else None
    results = {"value": (sign * y).tolist()}
    if front is not None:
        results = dict(zip(front.names, front.values.T.tolist(), strict=True))
    results["source"] = ["given" if "given" in r else r.get("source") for r, _ in rows]
    if is_search:
        results["seconds"] = [_seconds(record) for record, _ in rows]
    table = evaluation_table(observed_points, results, [_last_line(e) or s for e, s in status])
    facts = {"Journal": os.fsdecode(path), "Written by": settings["entry point"]}
    if is_search:
        facts["Written by"] += f" of {settings['estimator']['class'].rpartition('.')[2]}"
    return ReportData(facts, evaluations, table, _count_open(records), front)


def _score_name(settings, rows, n_objectives):
    metric = settings.get("refit")
    if not isinstance(metric, str):
        scores = (row["test_scores"] for record, _ in rows for row in record.get("rows") or ())
        metric = next((next(iter(s)) for s in scores if isinstance(s, dict)), "score")
    return score_name(metric, settings.get("scoring"), n_objectives)


def _read_front(names, rows, scoring):
    """Return the objectives of a multi-objective search and its Pareto front so far."""
    Y = np.array([values_from_data(record["goals"][i]) for record, i in rows], dtype=float)
    times = [[row[TIME] for row in record.get("rows") or ()] or [np.nan] for record, _ in rows]
    front = non_dominated_rows(Y, names, np.array(list(map(np.std, times))))
    metric = scoring if isinstance(scoring, str) else "score"
    shown = tuple(metric if name == "score" else name for name in names)
    return ParetoDisplay(Y * np.where(np.array(names) == TIME, 1.0, -1.0), front, shown)


def _point(record, i, space, given):
    """Read an evaluated point from a journal event.

    Initial candidates have a number, and are described in the settings of the search.
    """
    row = record["observed"][i]
    if not space.is_dict:
        return np.array(row, dtype=float)
    if isinstance(row, int):
        described = given[row - 1] if row <= len(given) else record["params"]
        return {name: _value(value) for name, value in described.items()}
    return space.decode(np.array([row], dtype=float))[0]


def _read_space(settings):
    described = settings.get("space", {})
    if "bounds" in described:
        return box_from_data(described["bounds"])
    branches = settings.get("param_distributions") or described["parameters"]
    return as_space([{name: _parameter(kind) for name, kind in branch} for branch in branches])


def _parameter(described):
    """Restore a parameter's list of values or distribution from its description in a journal."""
    own = [item for item in described.items() if item[0] not in ("centres", "text")]
    [(kind, values)] = own
    if kind == "levels" and all(map(is_number, values)):
        return sorted(values)
    if not kind.startswith("quantiles"):
        values = values if kind == "categories" or kind == "levels" else [values]
        return list(map(_value, values))
    low, high = values[0], values[-1]
    if kind.endswith("integer"):
        return list(range(round(low), round(high) + 1))
    if low > 0 and np.ptp(np.diff(np.log(values))) < EVEN * np.log(high / low):
        return loguniform(low, high)
    if np.ptp(np.diff(values)) < EVEN * (high - low):
        return uniform(low, high - low)
    edges = np.unique(values)
    return rv_histogram((np.ones(len(edges) - 1), edges), density=False)


def _value(described):
    """Return a number, text or None as it is, and the description of another value as text."""
    if described is None or isinstance(described, str | int | float):
        return described
    is_float = isinstance(described, dict) and described.keys() == {"float"}
    return float(described["float"]) if is_float else json.dumps(described)


def _seconds(record):
    rows = record.get("rows") or []
    times = [row[name] for row in rows for name in ("fit_time", "score_time")]
    return sum(map(float, times)) if times else None


def _last_line(error):
    return error.splitlines()[-1] if error else None


def _count_open(records):
    n = 0
    for record in records:
        n += len(record.get("begun", ()))
        n -= len(record["ended"]) if "ended" in record else 0
        n -= len(record["y"]) if "y" in record and not record.get("given") else 0
    return n
