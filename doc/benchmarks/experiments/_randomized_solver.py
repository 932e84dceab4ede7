"""Experiment `randomized`: the randomised solver of the graph pencil, next to the others."""

from dataclasses import replace

import numpy as np
from scipy.sparse import csgraph
from sklearn.neighbors import NearestNeighbors

from benchmarks.engine import Experiment, Grid, Table, by_method, shape
from skbo_silbo._numerics.pencil import Pencil
from skbo_silbo._numerics.solvers import PENCIL_SOLVERS
from skbo_silbo.decomposition import slice_response
from skbo_silbo.decomposition.slicing._slices import local_membership

from ._solver_speed import N_NEIGHBORS, N_SLICES, N_WANTED, make_rows, sine_to_exact
from ._timing import alternate, time_call

N_LOCAL = 5
RELATIVE_RIDGE = 1e-3
BUDGET_SECONDS = 3.0
METHODS = ("dense", "randomized")
N_IN_GRAPH = 5  # features that the graph sees: the cost of a solver does not depend on which


def make_graph_pencil(problem, repeat):
    """Pencil of localised slices with a graph over all samples, a fifth of which are labelled."""
    n = problem["n"]
    X, y = make_rows({**problem, "unlabeled": n - n // 5}, repeat)
    labelled = slice(0, n // 5)
    X -= X[labelled].mean(axis=0)
    omega = local_membership(X[labelled], slice_response(y[labelled], N_SLICES), N_LOCAL)
    seen = NearestNeighbors(n_neighbors=N_NEIGHBORS, algorithm="kd_tree").fit(X[:, :N_IN_GRAPH])
    S = seen.kneighbors_graph()
    S = S.maximum(S.T)
    penalty = csgraph.laplacian(S).tocsr() * (n // 5 / (S.nnz / 2))
    return Pencil(X, n // 5, omega, penalty).with_relative_ridge(RELATIVE_RIDGE)


def measure_method(problem, method, repeat):
    """CPU seconds of one solve from the rows, and the sine to the directions of "dense"."""
    pencil = make_graph_pencil(problem, repeat)

    def solve():  # a copy, because a pencil keeps its factor of T
        return PENCIL_SOLVERS[method](replace(pencil), N_WANTED, repeat)

    first, wall, spectrum = time_call(solve)
    measured = {"seconds": [round(first, 6)]}
    if wall < BUDGET_SECONDS:
        seconds = alternate({"solve": solve}, budget_seconds=BUDGET_SECONDS)["solve"]
        measured["seconds"] = [round(value, 6) for value in seconds]
    if method != "dense":
        measured["sine"] = float(f"{sine_to_exact(pencil, spectrum.directions):.3g}")
    return measured


def report(results):
    """One table: all solvers of each shape."""
    return [
        Table(
            "The randomised solver on the graph pencil",
            ("n x d", *(f"{m} s" for m in METHODS), *(f"{m} sine" for m in METHODS[1:])),
            [_row(problem, methods) for problem, methods in by_method(results).items()],
            f"CPU seconds of one solve for {N_WANTED} directions of slices localised by {N_LOCAL} "
            "neighbours. The graph holds all samples, a fifth of which are "
            f"labelled; the relative ridge is {RELATIVE_RIDGE:g}. *Sine*: largest sine between the "
            "scores and the scores of the dense solver.",
        )
    ]


def _row(problem, methods):
    seconds = [
        np.median([np.median(r["seconds"]) for r in methods.get(m, [])] or np.nan) for m in METHODS
    ]
    sines = [max((r["sine"] for r in methods.get(m, [])), default=np.nan) for m in METHODS[1:]]
    return shape(problem), *(f"{s:.3g}" for s in seconds), *(f"{s:.0e}" for s in sines)


def _grid(*sizes):
    return tuple({"n": n, "d": d} for n, d in sizes)


RANDOMIZED = Experiment(
    name="randomized",
    about="the randomised solver on the graph pencil, next to the dense one",
    methods=dict.fromkeys(METHODS, ""),
    grids={
        "full": Grid(
            _grid((5000, 200), (5000, 500), (5000, 1000), (5000, 2000))
            + _grid((50000, 200), (50000, 500)),
            n_repeats=1,
        ),
        "tiny": Grid(_grid((60, 5)), n_repeats=1),
    },
    measure=measure_method,
    report=report,
    cap_seconds=900,
)
