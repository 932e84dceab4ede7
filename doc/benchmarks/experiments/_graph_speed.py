"""Experiment `graphs`: brute force against pynndescent, whose first graph compiles."""

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
from skbo_silbo._numerics.graphs import neighbor_indices

from ._timing import time_call

N_NEIGHBORS = 7
LATENT = 10
CHECKED_ROWS = 500


def make_rows(n, d, seed):
    """Rows (n, d) near a linear surface of 10 dimensions."""
    rng = np.random.default_rng(seed)
    surface = rng.standard_normal((n, LATENT)) @ rng.standard_normal((LATENT, d))
    return surface + 0.1 * rng.standard_normal((n, d))


def measure_graph(problem, method, repeat):
    """Seconds of the first graph of the process (imports, compilation) and of the next, recall."""
    X = make_rows(problem["n"], problem["d"], repeat)
    built = peak_rss_mib()

    def search():
        return neighbor_indices(X, N_NEIGHBORS, method=method, random_state=repeat)

    first, _, _ = time_call(search)
    again, _, found = time_call(search)
    return {
        "first_seconds": round(first, 4),
        "seconds": [round(again, 4)],
        "memory_mib": round(peak_rss_mib() - built, 1),
        "recall": round(_recall(X, found), 4),
    }


def _recall(X, found):
    """Share of the true neighbours of some rows among those found."""
    rows = np.linspace(0, len(X) - 1, min(CHECKED_ROWS, len(X))).astype(int)
    shared = 0
    for row in rows:
        distance = np.einsum("ij,ij->i", X - X[row], X - X[row])
        distance[row] = np.inf
        nearest = np.argpartition(distance, N_NEIGHBORS)[:N_NEIGHBORS]
        shared += len(np.intersect1d(nearest, found[row]))
    return shared / (len(rows) * N_NEIGHBORS)


def report(results):
    """One table: the sizes at which pynndescent wins, with its compilation and without."""
    grouped = by_method(results)
    return [
        Table(
            "Nearest neighbours: brute force against pynndescent",
            ("n x d", "brute s", "first s", "next s", "brute / first", "brute / next", "recall"),
            [_row(problem, methods) for problem, methods in grouped.items() if len(methods) == 2],
            f"CPU seconds for {N_NEIGHBORS} neighbours of every row. *First*: first graph of "
            "pynndescent in a process, with import and compilation. *Next*: its second graph. If a "
            "ratio is above 1, pynndescent is faster. *Recall*: of pynndescent, on 500 rows.",
        )
    ]


def _row(problem, methods):
    brute = [min(r["first_seconds"], *r["seconds"]) for r in methods["brute"]]
    first = [r["first_seconds"] for r in methods["pynndescent"]]
    again = [r["seconds"][0] for r in methods["pynndescent"]]
    return (
        shape(problem),
        spread(brute),
        spread(first),
        spread(again),
        f"{np.median(brute) / np.median(first):.2f}",
        f"{np.median(brute) / np.median(again):.2f}",
        spread([r["recall"] for r in methods["pynndescent"]]),
    )


GRAPHS = Experiment(
    name="graphs",
    about="nearest neighbours: brute force beside pynndescent",
    methods={"brute": "", "pynndescent": "pynndescent"},
    grids={
        "full": Grid(
            tuple({"n": 1000 * n, "d": 50} for n in (5, 10, 20, 40, 60, 80))
            + tuple({"n": 1000 * n, "d": 100} for n in (20, 60, 80)),
            n_repeats=1,
        ),
        "tiny": Grid(({"n": 200, "d": 4},), n_repeats=1),
    },
    measure=measure_graph,
    report=report,
    cap_seconds=600,
)
