"""Experiment `racing`: what stopping candidates after some folds is worth, at equal fits."""

import warnings
from collections import defaultdict

import numpy as np

from skbo_silbo.benchmarks.engine import Experiment, Grid, Table

from .tuning._tuning_searches import StampedScorer
from .tuning._tuning_tasks import TASKS

N = 40  # candidates with all their folds: the number of fits that every search may make
FACTOR, FRACTION = 3, 9  # of HalvingRandomSearchCV: it begins with a ninth of the rows
SHARES = (0.25, 0.5, 0.75, 1.0)  # of these fits
PLAIN, RACING, HALVING = "silbo", "silbo-racing", "halving"
HOW = (
    "silbo: SILBOSearchCV. silbo-racing: the same with racing=True, ended when it has made as many "
    "fits. halving: HalvingRandomSearchCV with factor=3 from a ninth of the rows on, and as many "
    "candidates as let the rows of all its fits be those of the others; a fit of a ninth of the "
    "rows counts as a ninth of one. A score is the best mean over all folds so far; splits are the "
    "same for all methods of a seed."
)


def measure_racing(problem, method, repeat):
    """Best score after every candidate, and the fits made by then, in fits of all rows."""
    task, folds = TASKS[problem["task"]], problem["folds"]
    model, space = task.make()
    scorer = StampedScorer(task.scoring)
    rest = {
        "cv": task.folds(repeat, folds),
        "scoring": scorer,
        "refit": False,
        "random_state": repeat,
    }
    search = _halving if method == HALVING else _silbo
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the models say that they have not converged
        fits, scores = search(model, space, problem, rest, task.rows(), racing=method == RACING)
    return {
        "fits": [round(float(n), 2) for n in fits],
        "scores": [float(f"{value:.6g}") for value in np.fmax.accumulate(scores)],
        "n_calls": len(scorer.stamps),
    }


def _silbo(model, space, problem, rest, data, *, racing):
    from skbo_silbo import SILBOSearchCV

    most = problem["n"] * problem["folds"]
    scorer = rest["scoring"]
    found = SILBOSearchCV(
        model,
        space,
        n_iter=problem["n"] * problem["folds"] // 2 if racing else problem["n"],
        racing=racing,
        callback=lambda progress: len(scorer.stamps) >= most,
        **rest,
    ).fit(*data)
    table = found.cv_results_
    run = [np.isfinite(table[f"split{i}_test_score"]) for i in range(problem["folds"])]
    return np.cumsum(np.sum(run, axis=0)), table["mean_test_score"]


def _halving(model, space, problem, rest, data, *, racing):
    from sklearn.experimental import enable_halving_search_cv  # noqa: F401
    from sklearn.model_selection import HalvingRandomSearchCV

    n_rows = len(data[0])
    found = HalvingRandomSearchCV(
        model,
        space,
        n_candidates=problem["n"] // FACTOR * FRACTION,  # three rounds of equal cost
        factor=FACTOR,
        min_resources=n_rows // FRACTION,
        **rest,
    ).fit(*data)
    table = found.cv_results_
    spent = np.cumsum(table["n_resources"] / n_rows) * problem["folds"]
    last = table["n_resources"] == table["n_resources"].max()
    return spent[last], table["mean_test_score"][last]


def score_at(result, n_fits):
    """Return the best score after so many fits; NaN before the first."""
    known = np.array(result["fits"]) <= n_fits + 1e-9
    return result["scores"][int(known.sum()) - 1] if known.any() else np.nan


def report(results):
    """Return the curve of every task, and how many candidates racing made of the same fits."""
    by_problem = defaultdict(lambda: defaultdict(dict))
    for r in results:
        if r["status"] == "ok":
            key = r["problem"]["task"], r["problem"]["folds"], r["problem"]["n"]
            by_problem[key][r["method"]][r["repeat"]] = r
    return [_curves(by_problem), _candidates(by_problem), HOW] if by_problem else [HOW]


def _curves(by_problem):
    rows = [
        (task, str(folds), method, *(_format(own, share * n * folds) for share in SHARES))
        for (task, folds, n), methods in by_problem.items()
        for method, own in methods.items()
    ]
    header = ("task", "folds", "method", *(f"{share:.0%} of the fits" for share in SHARES))
    note = f"Mean over seeds (standard deviation). All the fits: {N} candidates, all their folds."
    return Table("Best score against fits", header, rows, note)


def _format(own, n_fits):
    values = np.array([score_at(r, n_fits) for r in own.values()])
    if np.isnan(values).any():
        return "--"
    return f"{values.mean():.4g} ({values.std(ddof=1) if len(values) > 1 else 0.0:.2g})"


def _candidates(by_problem):
    rows = []
    for (task, folds, _n), methods in by_problem.items():
        plain, racing, halving = (methods[m] for m in (PLAIN, RACING, HALVING))
        seeds = sorted(set(plain) & set(racing))
        if not seeds:
            continue
        gains = [racing[s]["scores"][-1] - plain[s]["scores"][-1] for s in seeds]
        counts = [len(racing[s]["scores"]) for s in seeds]
        goals = {s: min(plain[s]["scores"][-1], racing[s]["scores"][-1]) for s in seeds}
        needed = [_fits_to(goals[s], racing[s]) / _fits_to(goals[s], plain[s]) for s in seeds]
        shared = sorted(set(seeds) & set(halving))
        beats = sum(racing[s]["scores"][-1] > halving[s]["scores"][-1] for s in shared)
        rows.append(
            (
                *(task, str(folds), f"{np.mean(counts):.0f}"),
                f"{np.sum(np.array(gains) > 0)} better, {np.sum(np.array(gains) < 0)} worse",
                f"{np.median(needed):.2f}",
                f"{beats} of {len(shared)}",
            )
        )
    header = ("task", "folds", "candidates", "than silbo", "fits needed", "better than halving")
    note = (
        f"Candidates that racing made of the fits of {N}; in how many seeds its score was better "
        "or worse in the end; the median, over seeds, of the fits that it needed to reach the "
        "lower of both last scores, by those that silbo needed for it."
    )
    return Table("silbo-racing", header, rows, note)


def _fits_to(goal, result):
    """Return the fits after which a score that was reached was reached."""
    return result["fits"][int(np.argmax(np.array(result["scores"]) >= goal))]


PROBLEMS = tuple(
    {"task": task, "d": TASKS[task].n_parameters, "folds": folds, "n": N}
    for task, folds in (("svc", 5), ("neighbours", 5), ("elastic-net", 5))
)

RACING_FOLDS = Experiment(
    name="racing",
    methods={PLAIN: "", RACING: "", HALVING: ""},
    grids={"full": Grid(PROBLEMS, 5), "tiny": Grid(({**PROBLEMS[0], "n": 4},), 1)},
    measure=measure_racing,
    report=report,
    cap_seconds=900,
    about="SILBOSearchCV(racing=True) at equal fits, beside halving of the rows",
)
