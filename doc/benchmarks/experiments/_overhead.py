"""Experiment `overhead`: what a proposal of the default method costs, and how that grows."""

from itertools import pairwise

import numpy as np

from benchmarks.engine import (
    Experiment,
    Grid,
    Table,
    by_method,
    peak_rss_mib,
    shape,
    spread,
)

from ._timing import slope, time_call

N_WINDOWS = 5  # parts of a run, of equal length, whose medians are compared
MOST_MIB = 500  # at 1000 inputs and 250 evaluations
# (evaluations, inputs): most seconds of the median proposal, and of the slowest
MOST_SECONDS = {
    (100, 2): (0.03, None),
    (100, 5): (0.03, None),
    (100, 10): (0.03, None),
    (100, 100): (0.1, 1.0),
    (100, 1000): (0.5, 3.0),
}
LONG = {"n": 1000, "d": 100}
MOST_AT_LAST = 1.0  # seconds of a proposal in the last part of the long run


def _optimizer(method, bounds, seed):
    from skbo_silbo import SILBO, RandomSearch

    return {"silbo": SILBO, "random": RandomSearch}[method](bounds, random_state=seed)


def measure_run(problem, method, repeat):
    """CPU seconds of every proposal (`ask` and `tell`) of a whole run, and memory."""
    from skbo_silbo.problems import branin, hartmann6, planted

    function = hartmann6() if problem["d"] >= hartmann6().n_dims else branin()
    func = planted(function, problem["d"], random_state=repeat)
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
    parts = (f"part {i + 1} ms" for i in range(N_WINDOWS))
    header = ("n x d", "method", "median s", "mean s", "slowest s", *parts)
    return [
        Table(
            "Overhead of a proposal",
            (*header, "n exponent", "peak MiB"),
            rows,
            "CPU time of one ask and tell on one thread, on planted Hartmann6 (Branin below six "
            "inputs). *Median*: over all proposals after the initial design, then over repeats "
            "(range). *Mean* and *slowest*: over all proposals. *Parts*: medians of the "
            f"{N_WINDOWS} equal parts of a run. *n exponent*: slope of log time over log n in "
            "the last three parts. *Peak*: memory of the whole process.",
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
    note = "Slope of log time over log d in the last part of the runs."
    return [Table("Growth with the inputs", ("d", "n", "exponent"), rows, note)] if rows else []


def aims(results):
    """Aims for the default: seconds of a proposal (issue 12, points 5 and 6) and memory."""
    own = {
        (problem["n"], problem["d"]): methods["silbo"]
        for problem, methods in ((dict(p), m) for p, m in by_method(results).items())
        if methods["silbo"]
    }
    found = [
        aim
        for (n, d), (median, slowest) in MOST_SECONDS.items()
        for aim in _aims_of_seconds(f"{n} x {d}", own.get((n, d), ()), median, slowest)
    ]
    n, d = LONG["n"], LONG["d"]
    if (n, d) in own:
        last = windows(own[n, d])[-1]
        aim = f"{n} x {d}: last fifth at most {MOST_AT_LAST} s a proposal"
        found.append((aim, f"{last:.3f}", bool(last <= MOST_AT_LAST)))
    if (250, 1000) in own:
        peaks = [r["peak_mib"] for r in own[250, 1000]]
        aim = f"250 x 1000: process under {MOST_MIB} MiB"
        found.append((aim, spread(peaks, 0), bool(np.median(peaks) < MOST_MIB)))
    return found


def _aims_of_seconds(size, results, most_median, most_slowest):
    """Return what is aimed at for one size, what was measured, and whether it holds."""
    if not results:
        return []
    seconds = medians(results)
    found = [
        (
            f"{size}: median at most {most_median} s a proposal",
            spread(seconds, 3),
            bool(np.median(seconds) <= most_median),
        )
    ]
    if most_slowest is not None:
        slowest = max(max(r["seconds"]) for r in results)
        aim = f"{size}: slowest proposal at most {most_slowest} s"
        found.append((aim, f"{slowest:.2f}", bool(slowest <= most_slowest)))
    return found


OVERHEAD = Experiment(
    name="overhead",
    about="time and memory of a proposal",
    methods={"silbo": "", "random": ""},
    grids={
        "full": (
            Grid(tuple({"n": 100, "d": d} for d in (2, 5, 10, 30, 100, 300, 1000)), n_repeats=3),
            Grid(tuple({"n": 250, "d": d} for d in (10, 100, 1000)), n_repeats=2),
            Grid((LONG,), n_repeats=1),
        ),
        "tiny": Grid(tuple({"n": 20, "d": d} for d in (6, 12)), n_repeats=1),
    },
    measure=measure_run,
    report=report,
    aims=aims,
    cap_seconds=3600,
)
