"""Experiment `seconds`: searches at equal seconds, on tasks whose candidates differ tenfold."""

from collections import defaultdict

import numpy as np

from benchmarks.engine import Experiment, Grid, Table

from ._comparisons import with_plus_minus
from .seconds import N_FULL, SEARCHES, TASKS, best_score, budget, measure_seconds

PLAIN, CHANCE = "silbo", "random"
SCALE = 10.0  # of the tables' seconds, as of data with ten times the rows
SHARES = (0.25, 0.5, 1.0)  # of the budget
HOW = (
    "Every candidate of a grid was fitted once, 20,000 rows, three folds, one thread, CPU time the "
    "clock, on all rows, a third and a ninth (doc/benchmarks/experiments/seconds/tables). Searches "
    "look fits up, between the candidates of the grid by linear interpolation; their clock is the "
    f"CPU time of the process plus {SCALE:g} times the seconds of the fits. The budget is that of "
    f"{N_FULL} candidates of mean length. A gap is (best - found) / (best - median), of the scores "
    "of the grid: 0 is the best candidate, 1 the median one. Every search begins with a candidate "
    "that it chose itself (initial_params=None). halving: HalvingRandomSearchCV with 27 candidates "
    "from a ninth of the resource on, again with another seed until the seconds are spent. Where "
    "max_iter is the resource it is not searched. silbo: SILBOSearchCV."
)


def gap_at(result, seconds):
    """Return the gap of the best full candidate after so many seconds; NaN before the first."""
    known = np.array(result["times"]) <= seconds
    if not known.any():
        return np.nan
    best, median = best_score(result["problem"])
    return (best - result["best"][int(known.sum()) - 1]) / (best - median)


def seconds_to(result, goal):
    """Return when a search was as good as a score; infinite if it never was."""
    reached = np.array(result["best"]) >= goal
    return result["times"][int(np.argmax(reached))] if reached.any() else np.inf


def report(results):
    """Return gaps by task, and gains over random and the plain search."""
    runs = defaultdict(dict)  # by problem: by method: by seed
    for r in results:
        if r["status"] == "ok":
            problem = r["problem"]["task"], r["problem"]["resource"]
            runs[problem].setdefault(r["method"], {})[r["repeat"]] = r
    return [_overall(runs), *(_gaps(runs, share) for share in SHARES), HOW] if runs else [HOW]


def _overall(runs):
    rows = []
    for method in SEARCHES:
        pairs = [
            (own[seed], methods[PLAIN][seed], methods[CHANCE][seed])
            for methods in runs.values()
            if method in methods and {PLAIN, CHANCE} <= methods.keys()
            for own in [methods[method]]
            for seed in sorted(own.keys() & methods[PLAIN].keys() & methods[CHANCE].keys())
        ]
        if not pairs:
            continue
        ends = np.array([[_end(run) for run in pair] for pair in pairs])
        faster = [_end_of(c) / seconds_to(own, c["best"][-1]) for own, _, c in pairs]
        rows.append(
            (
                *(method, str(len(pairs))),
                with_plus_minus(ends[:, 0]),
                with_plus_minus(ends[:, 0] - ends[:, 1]) if method != PLAIN else "",
                f"{np.median(faster):.2f}",
                f"{np.mean([sum(r['shares'].values()) for r, *_ in pairs]):.0f}",
                f"{np.mean([r['thinking'] for r, *_ in pairs]):.1f}",
            )
        )
    header = ("method", "runs", "gap", "less silbo's", "speed", "evaluations", "own seconds")
    note = (
        "Mean over tasks and seeds ± one standard error; a run without a full candidate counts as "
        "a gap of 1. Speed: the seconds after which random search had its last best score, by "
        "those after which the method was as good; the median (0: never)."
    )
    return Table("Over all tasks", header, rows, note)


def _gaps(runs, share):
    rows = []
    for (task, resource), methods in sorted(runs.items()):
        cells = []
        for method in SEARCHES:
            own = methods.get(method, {}).values()
            gaps = np.array([gap_at(r, share * budget(r["problem"])) for r in own])
            cells.append(with_plus_minus(gaps) if len(gaps) and not np.isnan(gaps).any() else "--")
        rows.append((task, resource, *cells))
    header = ("task", "resource", *SEARCHES)
    note = "Mean ± one standard error. --: not run, or some seed had no full candidate by then."
    return Table(f"Gap after {share:.0%} of the seconds", header, rows, note)


def _end(result):
    gap = gap_at(result, budget(result["problem"]))
    return 1.0 if np.isnan(gap) else gap


def _end_of(result):
    return result["times"][-1]


def _problem(task, resource="n_samples"):
    return {"task": task, "resource": resource, "scale": SCALE}


PROBLEMS = (
    *(_problem(task) for task in TASKS),
    *(_problem(task, "max_iter") for task in TASKS if task.startswith("boosting")),
)
SECONDS = Experiment(
    name="seconds",
    methods=dict.fromkeys(SEARCHES, ""),
    grids={
        "full": Grid(PROBLEMS, 5),
        "tuning": Grid(PROBLEMS, 3, first=100),
        "tiny": Grid(PROBLEMS[:1], 1),
    },
    measure=measure_seconds,
    report=report,
    cap_seconds=900,
    about="SILBOSearchCV, random search and halving at equal seconds",
)
