"""Experiment `learners`: fit time of the learners of directions beside plain SIR, in units.

A unit is one Gram product of the same rows; for ``alpha="auto"`` it is one fit with alpha given,
and for the Gaussian process one fit of MAVE.
"""

import numpy as np

from benchmarks.engine import Experiment, Grid, Table, by_method, shape, spread

from ._sir_speed import gram, make_data
from ._timing import alternate, milliseconds, time_call

BUDGET_SECONDS = 1.0
"""Wall seconds of repeated fits in one cell."""
N_LABELED_SHARE = 0.2
"""Share of the rows that have a label, where alpha is chosen."""
AIMS = {
    ("SAVE", 2000, 1000): (8, "Gram products"),
    ("alpha auto", 500, 50): (10, "fits with alpha given"),
    ("alpha auto", 1000, 200): (10, "fits with alpha given"),
}
"""Most units that issue 13 asks for."""


def _learner(name, unit=None):
    def fits(X, y):
        import skbo_silbo

        def fit(name):
            return getattr(skbo_silbo, name)(2).fit(X, y)

        return lambda: fit(name), lambda: gram(X) if unit is None else fit(unit)

    return fits


def _alpha(X, y):
    from skbo_silbo import SemiSlicedInverseRegression

    y = np.where(np.arange(len(y)) < N_LABELED_SHARE * len(y), y, np.nan)
    chosen, given = (SemiSlicedInverseRegression(2, alpha=alpha) for alpha in ("auto", 1.0))
    return lambda: chosen.fit(X, y), lambda: given.fit(X, y)


FITS = {
    "SAVE": _learner("SlicedAverageVarianceEstimation"),
    "directional": _learner("DirectionalRegression"),
    "Hessian": _learner("PrincipalHessianDirections"),
    "alpha auto": _alpha,
    "MAVE": _learner("MAVE"),
    "active subspace": _learner("ActiveSubspace", "MAVE"),
}
UNITS = {"alpha auto": "fit with alpha given", "active subspace": "fit of MAVE"}


KINDS = {
    "moments": ("SAVE", "directional", "Hessian"),
    "alpha": ("alpha auto",),
    "gradients": ("MAVE", "active subspace"),
}


def methods_of(experiment, problem):
    """Name the learners of a kind: shapes that suit some take others minutes."""
    return KINDS[problem["kind"]]


def measure(problem, method, repeat):
    """CPU seconds of fits and of units, in turn."""
    fits = FITS[method]
    for call in fits(*make_data(100, 5, 0)):
        call()  # imports what is imported late
    rows = make_data(problem["n"], problem["d"], repeat)
    calls = dict(zip(("fit", "unit"), fits(*rows), strict=True))
    first, wall, _ = time_call(calls["fit"])
    seconds = {"fit": [first], "unit": [time_call(calls["unit"])[0]]}
    if wall < 10 * BUDGET_SECONDS:
        seconds = alternate(calls, budget_seconds=BUDGET_SECONDS)
    return {
        "seconds": [round(value, 6) for value in seconds["fit"]],
        "unit_seconds": [round(value, 6) for value in seconds["unit"]],
    }


def _in_units(results):
    """Median fit over median unit, a value a repeat."""
    return [np.median(r["seconds"]) / np.median(r["unit_seconds"]) for r in results]


def report(results):
    """One table: milliseconds, and how many units they are."""
    rows = []
    for problem, methods in by_method(results).items():
        size = shape({name: dict(problem)[name] for name in ("n", "d")})
        for name, found in methods.items():
            if found:
                fit = milliseconds([np.median(r["seconds"]) for r in found])
                unit = UNITS.get(name, "Gram product")
                rows.append((name, size, fit, unit, spread(_in_units(found))))
    return [
        Table(
            "Fit time of other learners",
            ("learner", "n x d", "ms", "unit", "units"),
            rows,
            "CPU milliseconds, as the median over repeats of the median in a repeat. Units are "
            "medians over repeats (range), timed in turn with the fits. Two directions. If alpha "
            f"is chosen, {N_LABELED_SHARE:.0%} of the rows have a label.",
        )
    ]


def aims(results):
    """Aims of issue 13, points 2 and 7."""
    rows = []
    for problem, methods in by_method(results).items():
        n, d = dict(problem)["n"], dict(problem)["d"]
        for name, found in methods.items():
            if found and (name, n, d) in AIMS:
                most, unit = AIMS[name, n, d]
                units = _in_units(found)
                words = f"{name}, {n} x {d}: at most {most} {unit}"
                rows.append((words, spread(units), bool(np.median(units) <= most)))
    return rows


def _problems(kind, *shapes):
    return tuple({"kind": kind, "n": n, "d": d} for n, d in shapes)


LEARNERS = Experiment(
    name="learners",
    about="fit time of SAVE, directional regression, MAVE, active subspaces and alpha='auto'",
    methods=dict.fromkeys(FITS, ""),
    grids={
        "full": Grid(
            (
                *_problems("moments", (500, 20), (5000, 100), (2000, 1000)),
                *_problems("alpha", (500, 50), (1000, 200), (1000, 2000)),
                *_problems("gradients", (200, 10), (800, 10), (1600, 10)),
            ),
            n_repeats=3,
        ),
        "tiny": Grid(
            tuple(_problems(kind, (60, 6))[0] for kind in ("moments", "alpha", "gradients")),
            n_repeats=1,
        ),
    },
    measure=measure,
    methods_of=methods_of,
    report=report,
    aims=aims,
    cap_seconds=300,
)
