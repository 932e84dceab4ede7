"""Evaluations in a journal file, which a search may still be writing."""

import json
import os
from itertools import compress

import numpy as np
from scipy.stats import loguniform, rv_histogram, uniform

from skbo_silbo._evaluation_table import evaluation_status, evaluation_table
from skbo_silbo.inspection._evaluations import Evaluations, score_name
from skbo_silbo.inspection._pareto_display import ParetoDisplay
from skbo_silbo.journal.journal import read_unlocked
from skbo_silbo.model_selection._goals import TIME, non_dominated_rows
from skbo_silbo.optimizers import SILBO
from skbo_silbo.optimizers.event import values_from_data
from skbo_silbo.optimizers.state import box_from_data
from skbo_silbo.space.any_space import as_space

EVEN = 1e-3  # quantiles count as evenly spaced up to this relative difference
LISTED = {"observed", "y", "constraints", "goals"}  # entries of a record with one item per point


def read_journal(path: str | os.PathLike[str]) -> Evaluations:
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
    space = _read_space(settings)
    rows = [
        {**record, **{name: record[name][i] for name in LISTED & record.keys()}}
        for record in records
        for i in range(len(record.get("y", ())))
    ]
    is_search = "param_distributions" in settings
    greater_is_better = is_search or bool(settings["maximize"])
    sign = -1.0 if greater_is_better else 1.0
    points = [_point(row, space, settings.get("initial candidates")) for row in rows]
    y = values_from_data([row["y"] for row in rows])
    unknown = [None] * max((len(row.get("constraints", ())) for row in rows), default=0)
    constraints = [values_from_data(row.get("constraints", unknown)) for row in rows]
    feasible = np.array([np.all(c <= 0.0) for c in constraints], dtype=bool)
    names = tuple(settings["refit"]) if isinstance(settings.get("refit"), list) else ()
    front = _read_front(names, rows, settings.get("scoring")) if names and rows else None
    results = {"value": (sign * y).tolist()}
    if front is not None:
        results = dict(zip(front.names, front.values.T.tolist(), strict=True))
    results["source"] = ["given" if "given" in row else row.get("source") for row in rows]
    facts = {"Journal": os.fsdecode(path), "Written by": settings["entry point"]}
    if is_search:
        results["seconds"] = [_seconds(row) for row in rows]
        facts["Written by"] += f" of {settings['estimator']['class'].rpartition('.')[2]}"
    status = [
        (row.get("error") or text).splitlines()[-1]
        for row, text in zip(rows, evaluation_status(y, feasible), strict=True)
    ]
    observed = points if space.is_dict else np.reshape(points, (len(rows), -1))
    evaluations = Evaluations(
        label="SILBO",
        optimizer=SILBO(space, random_state=int(header["seed"])),
        points=observed,
        values=np.where(feasible & np.isfinite(y), sign * y, np.nan),
        table=evaluation_table(observed, results, status),
        facts=facts,
        name=_score_name(settings, rows, len(names)) if is_search else "value",
        greater_is_better=greater_is_better,
        front=front,
        n_open=_count_open(records),
    )
    is_inside = np.isfinite(evaluations.X).all(axis=1)  # initial candidates may lie outside
    if is_inside.any():
        told = {"constraints": np.array(constraints)[is_inside]} if unknown else {}
        evaluations.optimizer.tell(list(compress(points, is_inside)), y[is_inside], **told)
    return evaluations


def _score_name(settings, rows, n_objectives):
    metric = settings.get("refit")
    if not isinstance(metric, str):
        scores = (fit["test_scores"] for row in rows for fit in row.get("rows") or ())
        metric = next((next(iter(s)) for s in scores if isinstance(s, dict)), "score")
    return score_name(metric, settings.get("scoring"), n_objectives)


def _read_front(names, rows, scoring):
    """Return the objectives of a multi-objective search and its Pareto front so far."""
    Y = np.array([values_from_data(row["goals"]) for row in rows], dtype=float)
    times = [[fit[TIME] for fit in row.get("rows") or ()] or [np.nan] for row in rows]
    front = non_dominated_rows(Y, names, np.array(list(map(np.std, times))))
    metric = scoring if isinstance(scoring, str) else "score"
    shown = tuple(metric if name == "score" else name for name in names)
    return ParetoDisplay(Y * np.where(np.array(names) == TIME, 1.0, -1.0), front, shown)


def _point(row, space, given):
    """Read the evaluated point of a row, which is the number of an initial candidate if it has one.

    The settings of the search describe its initial candidates, unless there are too many.
    """
    point = row["observed"]
    if isinstance(point, int):
        is_described = isinstance(given, list) and point <= len(given)
        described = given[point - 1] if is_described else row["params"]
        return {name: _value(value) for name, value in described.items()}
    return space.decode([point])[0] if space.is_dict else np.array(point, dtype=float)


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
    if not kind.startswith("quantiles"):
        return list(map(_value, [values] if kind == "value" else values))
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


def _seconds(row):
    fits = row.get("rows") or []
    times = [float(fit[name]) for fit in fits for name in ("fit_time", "score_time")]
    return sum(times) if times else None


def _count_open(records):
    n = 0
    for record in records:
        n += len(record.get("begun", ())) - len(record.get("ended", ()))
        n -= len(record.get("y", ())) * ("given" not in record)
    return n
