"""Experiment `failures`: regions where evaluations fail, or violate a constraint that is told."""

import numpy as np

from benchmarks.engine import Experiment, Grid, Table, by_method, spread

CORNER = 0.3  # both of the first two inputs above it: the evaluation fails
RADIUS = 3.0  # of the disc round one of Branin's minima, in its own units
MINIMUM = np.array([np.pi, 2.275])


def corner(d):
    """Return bounds, objective, constraint and optimum of a bowl whose minimum fails."""

    def value(x):
        return float(((x - 0.5) ** 2).sum())

    def constraint(x):
        return float(min(x[0], x[1]) - CORNER)

    return np.tile([-1.0, 1.0], (d, 1)), value, constraint, (0.5 - CORNER) ** 2


def disc(d):
    """Return the same of Branin's function, one of its three minima inside a disc that fails."""
    from skbo_silbo import problems

    branin = problems.branin()
    bounds = np.vstack([branin.bounds, np.tile([-1.0, 1.0], (d - 2, 1))])

    def constraint(x):
        return float(RADIUS - np.linalg.norm(x[:2] - MINIMUM))

    return bounds, lambda x: float(branin(x[:2])), constraint, float(branin.optimum)


PROBLEMS = {"corner": corner, "disc": disc}


def measure_run(problem, method, repeat):
    """Share of the proposals after the first design that fail, and the best value found."""
    from skbo_silbo.baselines import RandomSearch
    from skbo_silbo.optimizers import SILBO

    bounds, value, constraint, optimum = PROBLEMS[problem["region"]](problem["d"])
    optimizer = (RandomSearch if method == "random" else SILBO)(bounds, random_state=repeat)
    for _ in range(problem["n"]):
        x = optimizer.ask()
        c = constraint(x)
        if method == "told":
            optimizer.tell(x, value(x), constraints=c)
        else:
            optimizer.tell(x, np.nan if c > 0.0 else value(x))
    failed = np.array([constraint(x) > 0.0 for x in optimizer.x_iters_])
    n_first = SILBO(bounds).n_initial_
    return {
        "failed": round(float(failed[n_first:].mean()), 4),
        "late": round(float(failed[problem["n"] // 2 :].mean()), 4),
        "regret": float(optimizer.best_y_ - optimum),
    }


def report(results):
    """Shares and regret, a row for each problem and method."""
    rows = []
    for problem, methods in by_method(results).items():
        problem = dict(problem)
        for method, own in methods.items():
            shares = [spread([r[key] for r in own]) for key in ("failed", "late")]
            found = spread([r["regret"] for r in own], 4)
            rows.append((problem["region"], str(problem["d"]), method, *shares, found))
    note = (
        '"corner": a bowl whose minimum lies where two inputs are above .3; "disc": Branin\'s '
        "function, one of the three minima inside a disc. There the evaluation fails, NaN told, or "
        '("told") gives a value and a constraint above 0. Share of such evaluations after the '
        "first design, and in the second half of the run; best value less the best that does not "
        "fail. Median (least to most) over seeds."
    )
    columns = ("region", "d", "method", "failed", "failed, second half", "regret")
    return [Table("Failing regions", columns, rows, note)]


def _cells(n, *sizes):
    return tuple({"region": name, "d": d, "n": n} for name in PROBLEMS for d in sizes)


FAILURES = Experiment(
    name="failures",
    about="regions where evaluations fail or violate a constraint",
    methods={"silbo": "", "told": "", "random": ""},
    grids={"full": Grid(_cells(60, 6), 5), "tiny": Grid(_cells(13, 2), 1)},
    measure=measure_run,
    report=report,
    cap_seconds=600,
)
