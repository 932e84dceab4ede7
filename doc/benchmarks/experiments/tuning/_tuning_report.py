"""Tables of hyperparameter searches beside one another, at equal numbers of fits."""

from collections import defaultdict

import numpy as np
from scipy.stats import rankdata

from benchmarks.engine import Table, spread

from ._tuning_searches import SEARCHES
from ._tuning_tasks import N_FOLDS, TASKS

FEW, MANY = 17, 50  # candidates; with three folds 51 and 150 fits
LONG = 100  # candidates of the runs in which overhead is measured
OURS, CHANCE = "silbo", "random"
HOW = (
    "*random* is RandomizedSearchCV, *silbo* SILBOSearchCV and *bayes-search-cv* that of "
    "scikit-optimize, all with their defaults and one candidate at a time. *optuna-tpe* and "
    "*optuna-gp* are studies with TPESampler or GPSampler around ``cross_validate``. For "
    "Optuna, a list of dicts is a category followed by the parameters of that branch. "
    "BayesSearchCV searches every branch separately with an equal share of the candidates. One "
    "default of SILBOSearchCV was changed after a first run on seeds 20 to 22, by comparisons on "
    "other tasks (:doc:`/search_log`)."
)


def curves(results):
    """Best mean score so far: {task: {method: {seed: ndarray of shape (MANY,)}}}."""
    found = defaultdict(lambda: defaultdict(dict))
    for r in results:
        if r["status"] == "ok" and r["problem"]["n"] == MANY:
            best = np.fmax.accumulate(r["scores"])
            found[r["problem"]["task"]][r["method"]][r["repeat"]] = best
    return found


def complete(found):
    """Keep the seeds of a task that every method has been run with: tables compare like with like.

    Returns
    -------
    matrices : dict
        Task to {method: ndarray of shape (n_seeds, MANY)}; tasks without such a seed are left out.
    """
    methods = [m for m in SEARCHES if any(m in by_method for by_method in found.values())]
    matrices = {}
    for task in TASKS:
        seeds = set.intersection(*(set(found[task][m]) for m in methods)) if methods else set()
        if seeds:
            matrices[task] = {
                m: np.array([found[task][m][seed] for seed in sorted(seeds)]) for m in methods
            }
    return matrices


def mean_ranks(matrices, n):
    """Rank after n candidates, 1 is best and equals share theirs: {method: (n_tasks,)}."""
    ranks = defaultdict(list)
    for by_method in matrices.values():
        values = np.array([curve[:, n - 1] for curve in by_method.values()])
        for method, own in zip(by_method, rankdata(-values, axis=0), strict=True):
            ranks[method].append(own.mean())
    return {method: np.array(own) for method, own in ranks.items()}


def tasks_table():
    """`Table` of the tasks."""
    rows = [
        (name, task.about, str(task.n_rows), str(task.n_parameters), task.scoring)
        for name, task in TASKS.items()
    ]
    note = (
        "The tasks were chosen before any search was run, and none was replaced. Splits: "
        f"{N_FOLDS} shuffled folds, different for every seed and equal for all methods."
    )
    return Table("Tasks", ("task", "data and model", "rows", "parameters", "score"), rows, note)


def scores_table(matrices, n):
    """`Table` of the best mean score after n candidates."""
    methods = list(next(iter(matrices.values())))
    rows = [
        (task, *(_mean_and_sd(by_method[m][:, n - 1]) for m in methods))
        for task, by_method in matrices.items()
    ]
    title = f"Best score after {n} candidates ({n * N_FOLDS} fits)"
    note = "Mean over seeds (standard deviation). Higher is better."
    return Table(title, ("task", *methods), rows, note)


def _mean_and_sd(values):
    return f"{values.mean():.4g} ({values.std(ddof=1) if len(values) > 1 else 0.0:.2g})"


def ranks_table(matrices):
    """`Table` of mean ranks."""
    few, many = mean_ranks(matrices, FEW), mean_ranks(matrices, MANY)
    rows = [
        (m, f"{few[m].mean():.2f}", f"{many[m].mean():.2f}", *(f"{r:.1f}" for r in many[m]))
        for m in sorted(many, key=lambda m: many[m].mean())
    ]
    header = ("method", f"after {FEW}", f"after {MANY}", *matrices)
    fewest = min(len(curve) for by_method in matrices.values() for curve in by_method.values())
    note = (
        f"1 is best. The columns of tasks are after {MANY} candidates. Every method was run with "
        f"{fewest} or more seeds per task."
    )
    return Table("Mean rank", header, rows, note)


def reaches_table(matrices):
    """`Table` of how far every method is after FEW candidates of what chance has after MANY."""
    methods = [m for m in next(iter(matrices.values())) if m != CHANCE]
    rows = []
    for task, by_method in matrices.items():
        goal = by_method[CHANCE][:, -1]
        reached = [by_method[m][:, FEW - 1] >= goal for m in methods]
        when = [_first_reaching(by_method[m], goal) for m in methods]
        words = zip(reached, when, strict=True)
        rows.append((task, *(f"{r.sum()} of {r.size}; {w}" for r, w in words)))
    title = f"{FEW} candidates against {MANY} of random search"
    note = (
        f"Number of seeds in which the best of {FEW} candidates is at least as good as the best "
        f"of {MANY} random ones; then the median number of candidates needed for this."
    )
    return Table(title, ("task", *methods), rows, note)


def _first_reaching(curve, goal):
    reached = curve >= goal[:, None]
    first = np.where(reached.any(axis=1), reached.argmax(axis=1) + 1.0, np.inf)
    middle = np.median(first)
    return f"{middle:.0f}" if np.isfinite(middle) else f"> {MANY}"


def overheads(results, n):
    """Median overhead of a candidate, seconds: {method: [one a run of n candidates]}."""
    found = defaultdict(list)
    for r in results:
        if r["status"] == "ok" and r["problem"]["n"] == n:
            found[r["method"]].append(np.median(r["overhead"]))
    return found


def overhead_table(results):
    """`Table` of overheads."""
    short, long = overheads(results, MANY), overheads(results, LONG)
    rows = [
        (m, *(spread(own[m], 3) if own[m] else "--" for own in (short, long)))
        for m in SEARCHES
        if short[m] or long[m]
    ]
    header = ("method", f"{MANY} candidates", f"{LONG} candidates")
    note = (
        "Wall seconds between the fits of consecutive candidates, on a machine with other work: "
        f"median over the candidates of a run, then over runs (range). Runs with {LONG} "
        "candidates are of one task."
    )
    return Table("Overhead of a candidate", header, rows, note)


def tuning_report(results):
    """Tasks; then, with results, ranks, scores, what random search needs, and overheads."""
    matrices = complete(curves(results))
    if not matrices:
        return [tasks_table(), HOW]
    return [
        ranks_table(matrices),
        reaches_table(matrices),
        scores_table(matrices, FEW),
        scores_table(matrices, MANY),
        overhead_table(results),
        tasks_table(),
        HOW,
    ]
