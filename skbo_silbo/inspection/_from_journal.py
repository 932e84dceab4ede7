"""Evaluations in a journal file, which a search may still be writing."""

import os
from functools import partial
from typing import Any

import numpy as np

from skbo_silbo._checks import check_flag
from skbo_silbo._evaluation_table import evaluation_table
from skbo_silbo.evaluation.resume import in_batch_order, restore_trials
from skbo_silbo.inspection._evaluations import Evaluations, n_inputs, score_name
from skbo_silbo.inspection._pareto_display import ParetoDisplay
from skbo_silbo.journal.header import check_header, read_format
from skbo_silbo.journal.journal import damage_error, read_unlocked
from skbo_silbo.journal.records import UNREADABLE, AttemptCounts, read_records
from skbo_silbo.journal.state import RootSeed
from skbo_silbo.model_selection._cross_validation import FitReader
from skbo_silbo.model_selection._goals import TIME, non_dominated_rows
from skbo_silbo.optimizers import SILBO


def read_journal(path: str | os.PathLike[str]) -> Evaluations:
    """Read the evaluations in a journal file without locking it.

    Raises
    ------
    OSError
        If the file cannot be read.
    ValueError
        If the file is not a journal, has another version or is damaged before its last line.
    """
    path = os.fsdecode(path)
    header, contents = read_unlocked(path)
    damaged = partial(damage_error, path)
    check_header(header, damaged)
    settings, points = header["search"], read_format(header["search"], damaged)
    records = read_records(contents, points, damaged)
    try:
        optimizer = _make_optimizer(header, points.space)
        facts, title = _describe(header, optimizer)
        objectives = _read_objectives(settings)
    except UNREADABLE as error:
        raise damaged(-1, error) from error
    is_search = "estimator" in settings
    reader = FitReader(n_goals=len(objectives)) if is_search else lambda content: None
    ordered = in_batch_order(records)
    trials = restore_trials(ordered, reader, damaged)
    for record in ordered:
        if record.is_of_optimizer and record.kind != "constrained":
            optimizer.replay(record)
    observations: list[Any] = [trial.observation for trial in trials]
    sign = -1.0 if is_search or optimizer.maximize else 1.0
    values = sign * np.array([observation.y for observation in observations])
    feasible = np.array([_is_feasible(observation) for observation in observations], dtype=bool)
    front = _read_front(objectives, trials, settings) if objectives and trials else None
    results = {"value": values.tolist()}
    if front is not None:
        results = dict(zip(front.names, front.values.T.tolist(), strict=True))
    results["source"] = sources = [trial.source for trial in trials]
    constraints = [observation.others.get("constraints", ()) for observation in observations]
    for i in range(max(map(len, constraints), default=0)):
        results[f"constraint_{i}"] = [float(c[i]) if len(c) else np.nan for c in constraints]
    if is_search:
        results["seconds"] = [_seconds(observation.rows) for observation in observations]
    errors = [o.error and o.error.splitlines()[-1] for o in observations]
    evaluated: Any = [trial.point for trial in trials]
    if not points.space.is_dict:
        evaluated = np.reshape(evaluated, (len(trials), len(points.space.lower)))
    return Evaluations(
        label=settings["entry point"] if is_search else type(optimizer).__name__,
        optimizer=optimizer,
        points=evaluated,
        values=np.where(feasible & np.isfinite(values), values, np.nan),
        table=evaluation_table(evaluated, results, values, feasible, errors),
        facts={"Journal": path, **facts},
        title=title,
        name=_score_name(settings, observations, len(objectives)) if is_search else "value",
        greater_is_better=sign < 0.0,
        initial_params=settings.get("initial_params"),
        n_initial=sources.index("model") if "model" in sources else len(sources),
        front=front,
        n_open=sum(AttemptCounts(records).in_progress.values()),
    )


def _make_optimizer(header, space):
    """Create the default optimiser for the space of a journal."""
    settings = header["search"]
    n_initial = header["fixed"].get("n_initial", settings.get("n_initial", "auto"))
    optimizer = SILBO(space, n_initial=n_initial, random_state=RootSeed(header["seed"]))
    optimizer.maximize = check_flag("maximize", settings.get("maximize", False))
    return optimizer


def _describe(header, optimizer):
    """Return a summary of the search that wrote a journal, and a title."""
    settings, author = header["search"], header["search"]["entry point"]
    if "estimator" not in settings:
        name = header["fixed"].get("func", author)
        return {"Written by": author}, f"{name}, {n_inputs(optimizer)}"
    author += f" of {settings['estimator']['class'].rpartition('.')[2]}"
    shape = settings["X"].get("shape", ()) if isinstance(settings["X"], dict) else ()
    size = f", data of shape {tuple(shape)}" if shape else ""
    return {"Written by": author}, author + size


def _read_objectives(settings):
    """Return the names of the objectives of a multi-objective search, otherwise ()."""
    refit = settings.get("refit")
    if not isinstance(refit, list):
        return ()
    if not all(isinstance(name, str) for name in refit):
        raise TypeError(f"'refit' must be names, got {refit!r}")
    return tuple(refit)


def _is_feasible(observation):
    return bool(np.all(observation.others.get("constraints", -1.0) <= 0.0))


def _score_name(settings, observations, n_objectives):
    metric = settings.get("refit")
    if not isinstance(metric, str):
        scores = (row["test_scores"] for o in observations for row in o.rows or ())
        metric = next((next(iter(s)) for s in scores if isinstance(s, dict)), "score")
    return score_name(metric, settings.get("scoring"), n_objectives)


def _read_front(names, trials, settings):
    """Return the objectives of a multi-objective search and its Pareto front so far."""
    Y = np.array([trial.observation.others["goals"] for trial in trials])
    times = [[row[TIME] for row in t.observation.rows or ()] or [np.nan] for t in trials]
    front = non_dominated_rows(Y, names, np.array(list(map(np.std, times))))
    metric = settings.get("scoring")
    metric = metric if isinstance(metric, str) else "score"
    shown = tuple(metric if name == "score" else name for name in names)
    return ParetoDisplay(Y * np.where(np.array(names) == TIME, 1.0, -1.0), front, shown)


def _seconds(rows):
    """Return the total time of all fits."""
    if rows is None:
        return None
    means = (np.mean([row[name] for row in rows]) for name in ("fit_time", "score_time"))
    return float(len(rows) * sum(means))
