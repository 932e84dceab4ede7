"""Experiments `paper` and `paper-embedding`: the figures of Chen et al. (2020), section 5.

The bottom-up strategy evaluates all points again whenever it learns the embedding: its 250
iterations are 1600 evaluations, and are run as such.
"""

import numpy as np

from benchmarks.engine import Experiment, Grid, Table, by_method
from benchmarks.search.contestants import packages
from benchmarks.search.problem_data import make_problem
from benchmarks.search.search_figures import colour_of, drawn
from benchmarks.search.search_run import measure_search

from ._paper_picture import paper_figures, report_beside_published

BASELINES_AS_RUN = ("rembo-as-run", "hesbo-as-run", "sir-bo-as-run")
AS_RUN = ("silbo-td-as-run", *BASELINES_AS_RUN)
OTHERS = ("rembo", "rembo-kx", "rembo-kpsi", "hesbo", "sir-bo", "add-bo", "silbo-td", "silbo-td-ei")
BOTTOM_UP = ("silbo-bu", "silbo-bu-ei", "silbo-bu-as-run")
LOCAL = ("silbo-bu-local", "silbo-bu-local-labelled")
SEMI_SIR = ("silbo-bu-semi-sir", "silbo-bu-semi-sir-labelled")  # no localisation
LABELLED = ("silbo-bu", "silbo-bu-labelled", *LOCAL, *SEMI_SIR)
ITERATIVE = ("silbo-bu-random-20", "silbo-bu-10-and-10")
FREQUENCY = ("silbo-bu-every-10", "silbo-bu", "silbo-bu-every-40")
HONEST = ("random", "sobol", "silbo")  # not in the paper; what a reader compares with
VARIANTS = (*LABELLED, *ITERATIVE, *FREQUENCY)
METHODS = tuple(dict.fromkeys((*OTHERS, *AS_RUN, *BOTTOM_UP, *VARIANTS, *HONEST)))
# (function, r) as in the authors' files of results: Branin's are of four coordinates
RUN = {"branin": 4, "hartmann6": 6, "colville_as_run": 4}
NETWORK = {"function": "mlp_weights", "kind": "real", "d": 500, "n": 250, "r": 12}


def as_run(d, n):
    """Return the functions as the paper's authors ran them."""
    return tuple(embedded(name, d, n, r) for name, r in RUN.items())


def embedded(function, d, n, r):
    """Return a function on the first of d inputs, as data."""
    return {"function": function, "kind": "embedded", "d": d, "n": n, "r": r}


def _curves(d, n_repeats):
    """Figures 1 to 3: all methods for 250 iterations."""
    return (
        Grid(as_run(d, 250), n_repeats, methods=(*OTHERS, *AS_RUN, *HONEST)),
        Grid(as_run(d, 1600), n_repeats, methods=(*BOTTOM_UP, *HONEST[:2])),
    )


def _ablations(d, n_repeats, n):
    """Figures 7 to 9: labelled points only, random points only, how often it is learnt."""
    return (
        Grid(as_run(d, n), n_repeats, methods=tuple({*LABELLED, *FREQUENCY})),
        Grid(as_run(d, 100), n_repeats, methods=ITERATIVE),
    )


def _thirty():
    """Return the plan with 30 seeds, 10 of the expensive ones."""
    expensive = ("add-bo", "silbo", "silbo-td", "silbo-td-ei")
    cheap = ("rembo", "hesbo", "sir-bo", "sobol", *AS_RUN)
    return (
        *(
            grid
            for d in (100, 1000)
            for grid in (
                Grid(as_run(d, 1600), 30, methods=("random", *BOTTOM_UP)),
                Grid(as_run(d, 550), 30, methods=(*LOCAL, *FREQUENCY[::2])),
                Grid(as_run(d, 250), 30, methods=SEMI_SIR),
                Grid(as_run(d, 100), 30, methods=ITERATIVE),
            )
        ),
        Grid(as_run(100, 250), 30, methods=cheap),
        Grid(as_run(100, 250), 10, methods=expensive),
        Grid(as_run(1000, 250), 30, methods=("silbo-td-as-run",)),
        *(Grid(as_run(d, 250), 5, methods=("rembo-kx", "rembo-kpsi")) for d in (100, 1000)),
        Grid(as_run(1000, 250), 5, methods=("rembo", "hesbo", "sir-bo", *BASELINES_AS_RUN)),
        Grid((NETWORK,), 5, methods=(*OTHERS, *HONEST)),
        Grid(({**NETWORK, "n": 1600},), 5, methods=(*BOTTOM_UP, "random")),
    )


PAPER = Experiment(
    name="paper",
    methods=packages(METHODS),
    grids={
        "full": (
            *_curves(100, 100),
            *_curves(1000, 100),
            Grid((NETWORK,), 5, methods=(*OTHERS, *HONEST)),
            Grid(({**NETWORK, "n": 1600},), 5, methods=(*BOTTOM_UP, "random")),
            *_ablations(1000, 100, 1600),
        ),
        "thirty": _thirty(),
        "tiny": Grid(
            ({"function": "branin", "kind": "embedded", "d": 5, "n": 25, "r": 2},),
            n_repeats=2,
            methods=ITERATIVE,
        ),
    },
    measure=measure_search,
    report=report_beside_published,
    figures=paper_figures,
    cap_seconds=3600,
    about="figures, ablations and network of the SILBO paper, every evaluation counted",
)


N_POINTS = 50  # evaluated, and as many not evaluated
EMBEDDINGS = {
    "sir": {"alpha": 0.0},
    "paper-plain": {"alpha": 0.0, "solver": "paper"},
    "paper-labelled": {"alpha": 0.0, "n_local_neighbors": 7, "solver": "paper"},
    "paper": {"alpha": 1.0, "n_local_neighbors": 7, "solver": "paper"},
    "paper-k-3": {"alpha": 1.0, "n_local_neighbors": 3, "solver": "paper"},
    "exact-k-3": {"alpha": 1.0, "n_local_neighbors": 3},
}
ABOUT_EMBEDDINGS = (
    "*sir* is plain SIR. *exact-k-3* solves the paper's eigenvalue problem. The others are "
    "Algorithm 2, which does not whiten and centres on all points. *paper-plain* has no "
    "localisation and no T. *paper-labelled* has k = 7 neighbours in slices of 5. *paper* also "
    "uses the 50 unlabelled points in T. *paper-k-3* has a k smaller than the slices. "
)
DIRECTIONS = {"three_hump_camel": 1, "branin": 2}


def measure_embedding(problem, method, repeat):
    """Learn directions from 50 values, and project the 50 points on them (figures 5 and 6).

    ``stacked``: the greatest share of points within a twentieth of the range of the first
    coordinate; uniform points have about .1.
    """
    from skbo_silbo import SemiSlicedInverseRegression

    func, rng = make_problem(problem, repeat), np.random.default_rng(repeat)
    X, X_unlabeled = rng.uniform(-1.0, 1.0, (2, N_POINTS, problem["d"]))
    lower, upper = func.bounds.T
    y = np.array([func(lower + (x + 1.0) / 2.0 * (upper - lower)) for x in X])
    learner = SemiSlicedInverseRegression(
        problem["r"], n_neighbors=7, random_state=repeat, **EMBEDDINGS[method]
    )
    Z = learner.fit(X, y, X_unlabeled=X_unlabeled).transform(X)
    true, _ = np.linalg.qr(func.active_directions.T)
    found, _ = np.linalg.qr(learner.components_.T)
    cosines = np.linalg.svd(true.T @ found, compute_uv=False)
    return {
        "z": [[float(f"{value:.4g}") for value in row] for row in Z],
        "y": [float(f"{value:.5g}") for value in y],
        "stacked": round(largest_share(Z[:, 0]), 3),
        "cosine": round(float(cosines[0]), 4),
    }


def largest_share(z, width=0.05):
    """Return the greatest share of values in an interval of `width` times their range.

    Examples
    --------
    >>> largest_share(np.array([0.0, 0.0, 0.0, 1.0]))
    0.75
    """
    z = np.sort(z)
    last = np.searchsorted(z, z + width * np.ptp(z), side="right")
    return float((last - np.arange(z.size)).max() / z.size)


def within_slices(result, n_slices=10):
    """Return the share of the first coordinate's variance that lies within slices of the values.

    Slices as sliced inverse regression takes them; under it, with more inputs than rows, all rows
    of a slice have one coordinate. Unlike ``stacked``, no few far points stretch a range here.

    Examples
    --------
    >>> round(within_slices({"z": [[0.0], [0.2], [2.0], [2.2]], "y": [1, 2, 3, 4]}, 2), 4)
    0.0099
    """
    z = np.array(result["z"])[np.argsort(result["y"], kind="stable"), 0]
    slices = np.array_split(z, n_slices)
    return float(
        sum(np.sum((part - part.mean()) ** 2) for part in slices) / np.sum((z - z.mean()) ** 2)
    )


def embedding_report(results):
    """Return how the points lie along the directions learnt by the methods."""
    rows = [
        (
            f"{dict(key)['function']}, d = {dict(key)['d']}",
            method,
            str(len(own)),
            f"{np.mean([within_slices(r) for r in own]):.3f}",
            *(f"{np.mean([r[name] for r in own]):.3f}" for name in ("stacked", "cosine")),
        )
        for key, methods in by_method(results).items()
        for method, own in methods.items()
    ]
    note = (
        f"{ABOUT_EMBEDDINGS}*Within slices*: share of the first coordinate's variance within "
        "slices of 5 values. *Stacked*: largest share of the points in a twentieth of the "
        "coordinate's range. *Cosine*: of the smallest angle between the learnt and the active "
        "subspace; a random direction in 1000 inputs has 0.03 to 0.05."
    )
    header = ("problem", "method", "runs", "within slices", "stacked", "cosine")
    return [Table("Directions from 50 values", header, rows, note)]


def embedding_figures(results, folder):
    """Draw the values against each coordinate, for the first run of each method."""
    rows = [
        (dict(key)["function"], k, methods)
        for key, methods in by_method(results).items()
        for k in range(dict(key)["r"])
    ]
    columns = list(dict.fromkeys(r["method"] for r in results))
    name, size = "paper-embedding.png", (2.9 * len(columns), 2.6 * len(rows))
    with drawn(f"{folder}/{name}", len(rows), len(columns), size, sharey="row") as axes:
        for row, (function, k, methods) in zip(axes, rows, strict=True):
            row[0].set_ylabel(f"{function.replace('_', ' ')}: value", fontsize=9)
            for ax, method in zip(row, columns, strict=True):
                run = methods[method][0]
                colour = colour_of("sir-bo" if method == "sir" else "silbo-bu")
                ax.plot(np.array(run["z"])[:, k], run["y"], "o", ms=3, color=colour)
                ax.set_title(f"{method}, 1 run (seed {run['repeat']})", fontsize=9)
                ax.set_xlabel(f"coordinate {k + 1} (inputs in [-1, 1])", fontsize=8)
    caption = (
        "Values of 50 points in 1000 inputs against the learnt directions, one run of each "
        "method (green: plain SIR, red: others). Points above one another are stacked."
    )
    return [(name, caption)]


def _cells_of(d):
    return tuple(embedded(name, d, N_POINTS, r) for name, r in DIRECTIONS.items())


PAPER_EMBEDDING = Experiment(
    name="paper-embedding",
    methods=dict.fromkeys(EMBEDDINGS, ""),
    grids={"full": Grid(_cells_of(1000), 10), "tiny": Grid(_cells_of(60), 1)},
    measure=measure_embedding,
    report=embedding_report,
    figures=embedding_figures,
    about="directions from 50 values in 1000 inputs, the SILBO paper's figures 5 and 6",
)
