"""Experiment `growth`: how the fit time of plain SIR grows with rows and with columns."""

from collections import defaultdict

import numpy as np

from benchmarks.engine import Experiment, Grid, Table

from ._sir_speed import excuse, measure_fit
from ._timing import milliseconds, slope

SERIES = {
    "n, at d = 100": [{"n": n, "d": 100} for n in (5000, 10_000, 20_000, 40_000, 80_000)],
    "d, at n = 10000": [{"n": 10_000, "d": d} for d in (50, 100, 200, 400, 800)],
    "n, at d = 20000": [{"n": n, "d": 20_000} for n in (100, 200, 400, 800)],
    "d, at n = 100": [{"n": 100, "d": d} for d in (12_500, 25_000, 50_000, 100_000)],
}
TINY_SERIES = {"n, tiny": [{"n": n, "d": 12} for n in (50, 100)]}
WHAT = {"sir": "SIR", "gram": "Gram product"}


def report(results):
    """Exponents, then the times from which they come."""
    times = defaultdict(dict)
    for r in results:
        if r["status"] == "ok":
            size = (r["problem"]["n"], r["problem"]["d"])
            times[r["method"]].setdefault(size, []).append(np.median(r["seconds"]))
            times["gram"].setdefault(size, []).append(np.median(r["gram_seconds"]))
    medians = {
        method: {size: np.median(values) for size, values in sizes.items()}
        for method, sizes in times.items()
    }
    rows = [
        row
        for name, problems in (SERIES | TINY_SERIES).items()
        if (row := _row(name, problems, medians))
    ]
    return [
        Table(
            "Growth",
            ("in", *(f"{WHAT[m]} exponent" for m in WHAT), *(f"{WHAT[m]} ms" for m in WHAT)),
            rows,
            "Exponents are least-squares slopes of log CPU time against log size. Milliseconds are "
            "given for the smallest and the largest size. One Gram product costs n d min(n, d).",
        )
    ]


def _row(name, problems, medians):
    sizes = [(p["n"], p["d"]) for p in problems]
    if any(size not in medians.get(method, ()) for method in WHAT for size in sizes):
        return None
    axis = [size[0] if name.startswith("n") else size[1] for size in sizes]
    curves = {m: [medians[m][size] for size in sizes] for m in WHAT}
    exponents = [f"{slope(axis, curves[m]):.2f}" for m in WHAT]
    ends = [f"{milliseconds(curves[m][0])} to {milliseconds(curves[m][-1])}" for m in WHAT]
    return (name, *exponents, *ends)


def _problems(series):
    unique = {(p["n"], p["d"]): p for problems in series.values() for p in problems}
    return tuple(unique.values())


GROWTH = Experiment(
    name="growth",
    about="how the fit time of sliced inverse regression grows",
    methods={"sir": ""},
    grids={
        "full": Grid(_problems(SERIES), n_repeats=1),
        "tiny": Grid(_problems(TINY_SERIES), n_repeats=1),
    },
    measure=measure_fit,
    report=report,
    excuse=excuse,
)
