"""Evaluations in a journal file, which a search may still be writing."""

import os
from functools import partial

import numpy as np

from skbo_silbo._evaluation_table import evaluation_status, evaluation_table
from skbo_silbo.evaluation.resume import in_batch_order, restore_trials
from skbo_silbo.inspection._evaluations import Evaluations, score_name
from skbo_silbo.inspection._pareto_display import ParetoDisplay
from skbo_silbo.journal.header import check_header, described_branches, read_space
from skbo_silbo.journal.journal import damage_error, read_unlocked
from skbo_silbo.journal.records import UNREADABLE, AttemptCounts, PointFormat, read_records
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
    header, contents = read_unlocked(path)
    damaged = partial(damage_error, os.fsdecode(path))
    check_header(header, damaged)
    settings, space = header["search"], read_space(header["search"], damaged)
    is_search = "param_distributions" in settings
    records = read_records(contents, PointFormat(space, described_branches(settings)), damaged)
    try:
        optimizer = _make_optimizer(header, space)
        describe = _describe_search if is_search else _describe_function
        about = {"Journal": os.fsdecode(path), "Written by": settings["entry point"]}
        facts, title = describe(header, space, about)
        objectives = tuple(settings["refit"]) if isinstance(settings.get("refit"), list) else ()
        reader = FitReader(n_goals=len(objectives)) if is_search else lambda content: None
    except UNREADABLE as error:
        raise damaged(-1, error) from error
    ordered = in_batch_order(records)
    trials = restore_trials(ordered, reader, damaged)
    for record in ordered:
        if record.is_of_optimizer and record.kind != "constrained":
            optimizer.replay(record)
    y = np.array([trial.observation.y for trial in trials])
    told = [trial.observation.told for trial in trials]
    feasible = np.array([bool((t.get("constraints", np.empty(0)) <= 0.0).all()) for t in told])
    greater_is_better = is_search or optimizer.maximize
    values = -y if greater_is_better else y
    front = _read_front(objectives, trials, settings) if objectives and trials else None
    results = {"value": values.tolist()}
    if front is not None:
        results = dict(zip(front.names, front.values.T.tolist(), strict=True))
    sources = [trial.source for trial in trials]
    results["source"] = sources
    if is_search:
        results["seconds"] = [_seconds(trial) for trial in trials]
    status = [
        (trial.observation.error or text).splitlines()[-1]
        for trial, text in zip(trials, evaluation_status(y, feasible), strict=True)
    ]
    points = [trial.point for trial in trials]
    if not space.is_dict:
        points = np.reshape(points, (len(trials), len(space.lower)))
    return Evaluations(
        label="SILBO",
        optimizer=optimizer,
        points=points,
        values=np.where(feasible & np.isfinite(y), values, np.nan),
        table=evaluation_table(points, results, status),
        facts=facts,
        title=title,
        name=_score_name(settings, trials, len(objectives)) if is_search else "value",
        greater_is_better=greater_is_better,
        n_initial=sources.index("model") if "model" in sources else len(sources),
        front=front,
        n_open=sum(AttemptCounts(records).in_progress.values()),
    )


def _make_optimizer(header, space):
    """Create the default optimiser for the space of a journal."""
    settings = header["search"]
    n_initial = header["fixed"].get("n_initial", settings.get("n_initial", "auto"))
    optimizer = SILBO(space, n_initial=n_initial, random_state=RootSeed(header["seed"]))
    optimizer.maximize = bool(settings.get("maximize", False))
    return optimizer


def _describe_function(header, space, about):
    """Return the facts about a minimisation or an optimiser, and a title."""
    n = len(space.lower) if not space.is_dict else len(described_branches(header["search"]))
    return about, f"{header['fixed'].get('func', about['Written by'])}, {n} inputs"


def _describe_search(header, space, about):
    """Return the facts about a hyperparameter search, and a title."""
    settings = header["search"]
    estimator = settings["estimator"]["class"].rpartition(".")[2]
    facts = {**about, "Written by": f"{about['Written by']} of {estimator}"}
    shape = settings["X"].get("shape") if isinstance(settings["X"], dict) else None
    size = "" if shape is None else f", {' x '.join(map(str, shape))}"
    return facts, f"{facts['Written by']}{size}"


def _score_name(settings, trials, n_objectives):
    metric = settings.get("refit")
    if not isinstance(metric, str):
        scores = (row["test_scores"] for trial in trials for row in trial.observation.rows or ())
        metric = next((next(iter(s)) for s in scores if isinstance(s, dict)), "score")
    return score_name(metric, settings.get("scoring"), n_objectives)


def _read_front(names, trials, settings):
    """Return the objectives of a multi-objective search and its Pareto front so far."""
    Y = np.array([trial.observation.told["goals"] for trial in trials])
    times = [[row[TIME] for row in t.observation.rows or ()] or [np.nan] for t in trials]
    front = non_dominated_rows(Y, names, np.array(list(map(np.std, times))))
    metric = settings.get("scoring")
    metric = metric if isinstance(metric, str) else "score"
    shown = tuple(metric if name == "score" else name for name in names)
    return ParetoDisplay(Y * np.where(np.array(names) == TIME, 1.0, -1.0), front, shown)


def _seconds(trial):
    rows = trial.observation.rows
    return None if rows is None else sum(row["fit_time"] + row["score_time"] for row in rows)
