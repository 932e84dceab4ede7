"""Experiment `solvers`: which solver of the pencil is fastest at which shape, and how exact."""

from dataclasses import replace

import numpy as np
from scipy import linalg
from scipy.sparse import csgraph

from benchmarks.engine import (
    Experiment,
    Grid,
    Table,
    by_method,
    peak_rss_mib,
    shape,
    spread,
)
from skbo_silbo._numerics.graphs import neighbor_graph
from skbo_silbo._numerics.pencil import Pencil
from skbo_silbo._numerics.solvers import PENCIL_SOLVERS, solve_dense, solve_dual
from skbo_silbo.decomposition import SemiSlicedInverseRegression, slice_response
from skbo_silbo.decomposition.slicing._slices import local_membership

from ._timing import alternate, milliseconds, time_call

N_WANTED = 2
N_SLICES = 10
BUDGET_SECONDS = 0.5
RELATIVE_RIDGE = 1e-3
N_NEIGHBORS = 7
MOST_OVER_BEST = 1.25
HEADER = (
    *("n x d", "exact", "exact ms", "other", "other ms"),
    *("exact / other", "auto", "MiB", "sine"),
)


def make_rows(problem, seed):
    """Rows X (n, d) of a problem, and their y (n,), NaN where unlabelled.

    Keys besides "n" and "d": "columns", "independent" (default) or "duplicated" (each twice); "y",
    "signal" (default) or "flat" (pure noise, so close eigenvalues); "local", neighbours of
    localised slices; "unlabeled", how many of the rows only the graph sees; "ridge", relative.
    """
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((problem["n"], problem["d"]))
    if problem.get("columns") == "duplicated":
        X[:, 1::2] = X[:, ::2]
    y = rng.standard_normal(len(X))
    if problem.get("y") != "flat":
        y = np.exp(X[:, 0]) + X[:, -1] ** 3 + 0.1 * y
    y[len(X) - problem.get("unlabeled", 0) :] = np.nan
    return X, y


def make_pencil(problem, X, y):
    """Pencil of the rows of a problem."""
    n_labeled = len(X) - problem.get("unlabeled", 0)
    X = X - X[:n_labeled].mean(axis=0)
    slices = slice_response(y[:n_labeled], N_SLICES)
    local = problem.get("local")
    omega = local_membership(X[:n_labeled], slices, local) if local else slices.membership()
    penalty = None
    if n_labeled < len(X):
        S = neighbor_graph(X, N_NEIGHBORS)
        penalty = csgraph.laplacian(S).tocsr() * (n_labeled / (S.nnz / 2))
    return Pencil(X, n_labeled, omega, penalty).with_relative_ridge(relative_ridge(problem))


def solver_of_auto(problem, X, y):
    """Name of what `SemiSlicedInverseRegression` takes by itself."""
    return (
        SemiSlicedInverseRegression(
            N_WANTED,
            n_slices=N_SLICES,
            n_local_neighbors=problem.get("local"),
            alpha=1.0,
            n_neighbors=N_NEIGHBORS,
            ridge=relative_ridge(problem),
            random_state=0,
        )
        .fit(X, y)
        .solver_
    )


def relative_ridge(problem):
    """Ridge of a problem: none where there are more rows than columns, unless it says."""
    return problem.get("ridge", 0.0 if problem["n"] - 1 > problem["d"] else RELATIVE_RIDGE)


def measure_solver(problem, method, repeat):
    """CPU seconds of ``solve``, memory beyond the pencil, and the sine to the exact directions."""
    X, y = make_rows(problem, repeat)
    pencil = make_pencil(problem, X, y)

    def solve():  # on a copy, because a pencil keeps its whitening transformation
        return PENCIL_SOLVERS[method](replace(pencil), N_WANTED, repeat)

    built = peak_rss_mib()
    first, wall, spectrum = time_call(solve)
    measured = {"memory_mib": round(peak_rss_mib() - built, 1), "seconds": [round(first, 6)]}
    if wall < BUDGET_SECONDS:
        seconds = alternate({"solve": solve}, budget_seconds=BUDGET_SECONDS)["solve"]
        measured["seconds"] = [round(value, 6) for value in seconds]
    if method == "randomized":
        measured["sine"] = float(f"{sine_to_exact(pencil, spectrum.directions):.3g}")
    measured["auto"] = solver_of_auto(problem, X, y)
    return measured


def sine_to_exact(pencil, B):
    """Largest sine between the spans of scores, which is what T measures without ridge."""
    n, d = pencil.X.shape
    exact = (solve_dual if d > n else solve_dense)(pencil, N_WANTED).directions
    return np.sin(linalg.subspace_angles(pencil.X @ exact, pencil.X @ B)).max()


def methods_of(experiment, problem):
    """Name the exact solver of the shape, and the randomised or the other exact one."""
    exact = "dual" if problem["d"] > problem["n"] else "dense"
    return ("dual", "dense") if problem.get("unlabeled") else (exact, "randomized")


def report(results):
    """One table: the exact solver of each shape and its rival."""
    grouped = by_method(results)
    return [
        Table(
            "Solvers",
            HEADER,
            [_row(problem, methods) for problem, methods in grouped.items() if len(methods) > 1],
            f"CPU time of the solver alone, for {N_WANTED} directions. *Exact / other*: ratio of "
            "times; above 1, the other solver is faster. *Auto*: solver that solver='auto' "
            "chooses. *MiB*: peak memory of the exact and of the other solver, without the rows. "
            "*Sine*: largest sine between the scores of both solvers, over repeats.",
        )
    ]


def _pair(methods):
    exact = "dual" if "dual" in methods else "dense"
    other = next(name for name in methods if name != exact)
    return exact, other


def _gain(methods):
    exact, other = _pair(methods)
    return [
        np.median(a["seconds"]) / np.median(b["seconds"])
        for a, b in zip(methods[exact], methods[other], strict=True)
    ]


def _row(problem, methods):
    exact, other = _pair(methods)
    times = {m: milliseconds([np.median(r["seconds"]) for r in methods[m]]) for m in (exact, other)}
    memory = [f"{np.median([r['memory_mib'] for r in methods[m]]):.0f}" for m in (exact, other)]
    sines = [r["sine"] for r in methods[other] if "sine" in r]
    return (
        shape(problem),
        exact,
        times[exact],
        other,
        times[other],
        spread(_gain(methods)),
        methods[exact][0].get("auto", "--"),
        ", ".join(memory),
        f"{max(sines):.0e}" if sines else "--",
    )


def aims(results):
    """Aims for the randomised solver, exact and faster where slices are many; and for "auto"."""
    aims = []
    for problem, methods in by_method(results).items():
        aims.extend(_aim_of_auto(problem, methods))
        if "randomized" not in methods:
            continue
        sine = max(r["sine"] for r in methods["randomized"])
        aims.append((f"{shape(problem)}: sine below 1e-3", f"{sine:.0e}", sine < 1e-3))
        if dict(problem)["n"] > 1000 and len(methods) > 1:
            gain = _gain(methods)
            faster = bool(np.median(gain) > 1)
            aims.append((f"{shape(problem)}: randomized faster than exact", spread(gain), faster))
    return aims


def _aim_of_auto(problem, methods):
    """Yield what "auto" takes over the best measured, where that was recorded."""
    taken = next(iter(methods.values()))[0].get("auto")
    if len(methods) < 2 or taken not in methods:
        return
    seconds = {m: min(min(r["seconds"]) for r in results) for m, results in methods.items()}
    over_best = seconds[taken] / min(seconds.values())
    aim = f"{shape(problem)}: auto at most {MOST_OVER_BEST} times the best"
    yield aim, f"{over_best:.2f} ({taken})", bool(over_best <= MOST_OVER_BEST)


def _grid(sizes, **further):
    return tuple({"n": n, "d": d, **further} for n, d in sizes)


SOLVERS = Experiment(
    name="solvers",
    about="solvers of the eigenproblem, by shape",
    methods=dict.fromkeys(("dense", "dual", "randomized"), ""),
    grids={
        "full": Grid(
            _grid([(500, 50), (1000, 200), (2000, 50), (2000, 500), (4000, 1000)], local=5)
            + _grid([(2000, 200), (4000, 500), (1500, 3000)], local=5, y="flat")
            + _grid([(200, 50), (1000, 50), (400, 200), (1500, 200), (600, 500)], local=5)
            + _grid([(150, 300), (250, 600), (600, 1500), (900, 1000)], local=5)
            + _grid([(900, 1000), (900, 1500), (900, 2200)], unlabeled=450)
            + _grid([(900, 1000), (900, 1500)], unlabeled=450, ridge=1e-6),
            n_repeats=1,
        ),
        "tiny": Grid(
            _grid([(60, 5), (20, 40)], local=3) + _grid([(60, 5)], local=3, y="flat"), n_repeats=1
        ),
    },
    measure=measure_solver,
    report=report,
    aims=aims,
    methods_of=methods_of,
)
