"""Experiment `overhead`: what a proposal of the default method costs, and how that grows."""

from itertools import pairwise

import numpy as np

from skbo_silbo.benchmarks.engine import (
    Experiment,
    Grid,
    Table,
    by_method,
    peak_rss_mib,
    shape,
    slope,
    spread,
    time_call,
)

N_WINDOWS = 5  # parts of a run, of equal length, whose medians are compared
MOST_SECONDS, MOST_MIB = 0.5, 500  # aims of issue 4, at 1000 inputs and 250 evaluations


def _optimizer(method, bounds, seed):
    from skbo_silbo import SILBO, RandomSearch

    return {"silbo": SILBO, "random": RandomSearch}[method](bounds, random_state=seed)


def measure_run(problem, method, repeat):
    """CPU seconds of every proposal (`ask` and `tell`) of a whole run, and memory."""
    from skbo_silbo.problems import hartmann6, planted

    func = planted(hartmann6(), problem["d"], random_state=repeat)
    warm = _optimizer(method, func.bounds[:2], 0)
    for _ in range(8):  # imports what is imported late, so that the baseline holds it
        _propose(warm, lambda x: float(x.sum()))
    imported = peak_rss_mib()
    optimizer = _optimizer(method, func.bounds, repeat)
    seconds = [_propose(optimizer, func) for _ in range(problem["n"])]
    return {
        "seconds": [round(value, 5) for value in seconds],
        "n_initial": optimizer.n_initial_ if method == "silbo" else 0,
        "imported_mib": round(imported, 1),
        "peak_mib": round(peak_rss_mib(), 1),
    }


def _propose(optimizer, func):
    asking, _, x = time_call(optimizer.ask)
    y = func(x)
    return asking + time_call(lambda: optimizer.tell(x, y))[0]


def medians(results):
    """Median CPU seconds of the proposals after the first points, a value a repeat."""
    return [np.median(r["seconds"][r["n_initial"] :]) for r in results]


def windows(results):
    """Median CPU seconds of a proposal in each part of the runs, over repeats, (N_WINDOWS,)."""
    runs = np.array([r["seconds"] for r in results])
    return np.array([np.median(part) for part in np.array_split(runs, N_WINDOWS, axis=1)])


def window_centres(n):
    """How many values are known in the middle of each part of a run of n."""
    return (np.arange(N_WINDOWS) + 0.5) * n / N_WINDOWS


def report(results):
    """Cost of a proposal along the runs, memory, and growth."""
    grouped = by_method(results)
    rows = [
        _row(dict(problem), method, own)
        for problem, methods in grouped.items()
        for method, own in methods.items()
    ]
    return [
        Table(
            "Overhead of a proposal",
            (
                "n x d",
                "method",
                "median s",
                "mean s",
                "slowest s",
                *(f"part {i + 1} ms" for i in range(N_WINDOWS)),
                "n exponent",
                "peak MiB",
            ),
            rows,
            "CPU seconds of one ask and tell on one thread, on planted Hartmann6. Median: over "
            f"all proposals after the first points, over repeats (least to most); mean and "
            "slowest: of all proposals, those included that tune or choose anew; parts: medians "
            f"of the {N_WINDOWS} equal parts of a run of n. Exponent a: last three parts, least "
            "squares of log time on log n. Peak: resident memory of the whole process.",
        ),
        *_growth_in_d(grouped),
    ]


def _row(problem, method, results):
    parts, n = windows(results), problem["n"]
    late = slice(N_WINDOWS - 3, None)
    return (
        shape(problem),
        method,
        spread(medians(results), 3),
        f"{np.mean([r['seconds'] for r in results]):.3f}",
        f"{np.max([r['seconds'] for r in results]):.2f}",
        *(f"{1e3 * value:.3g}" for value in parts),
        f"{slope(window_centres(n)[late], parts[late]):.2f}",
        spread([r["peak_mib"] for r in results], 0),
    )


def _growth_in_d(grouped):
    """`Table` of exponents between neighbouring d of the same n; [] with fewer than two."""
    last = {
        (dict(problem)["n"], dict(problem)["d"]): windows(methods["silbo"])[-1]
        for problem, methods in grouped.items()
        if methods["silbo"]
    }
    sizes = sorted(last)
    rows = [
        (f"{a[1]} to {b[1]}", str(a[0]), f"{slope([a[1], b[1]], [last[a], last[b]]):.2f}")
        for a, b in pairwise(sizes)
        if a[0] == b[0]
    ]
    note = "Of log time on log d, in the last part of the runs."
    return [Table("Growth with the inputs", ("d", "n", "exponent"), rows, note)] if rows else []


def aims(results):
    """Aims of issue 4 for the default at 1000 inputs and 250 evaluations."""
    own = [
        r
        for r in results
        if r["status"] == "ok" and r["problem"] == {"n": 250, "d": 1000} and r["method"] == "silbo"
    ]
    if not own:
        return []
    seconds, peaks = medians(own), [r["peak_mib"] for r in own]
    return [
        (
            f"250 x 1000: median at most {MOST_SECONDS} s a proposal",
            spread(seconds, 3),
            bool(np.median(seconds) <= MOST_SECONDS),
        ),
        (
            f"250 x 1000: process under {MOST_MIB} MiB",
            spread(peaks, 0),
            bool(np.median(peaks) < MOST_MIB),
        ),
    ]


OVERHEAD = Experiment(
    name="overhead",
    about="time and memory of a proposal",
    methods={"silbo": "", "random": ""},
    grids={
        "full": Grid(tuple({"n": 250, "d": d} for d in (10, 30, 100, 300, 1000)), n_repeats=2),
        "tiny": Grid(tuple({"n": 20, "d": d} for d in (6, 12)), n_repeats=1),
    },
    measure=measure_run,
    report=report,
    aims=aims,
    cap_seconds=900,
)
