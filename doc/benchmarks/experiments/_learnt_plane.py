"""Experiment `learnt-plane`: why the plane of semi-SIR stays at chance within a search (issue 29).

The measure is the squared trace correlation: the share of the true directions that lies in the span
learnt. A random span of r of d inputs has r / d.
"""

from collections import defaultdict

import numpy as np

from skbo_silbo import SILBO, SemiSlicedInverseRegression
from skbo_silbo.benchmarks.engine import Experiment, Grid, Table
from skbo_silbo.benchmarks.search.gap_closed import chance_means
from skbo_silbo.benchmarks.search.gap_report import error_of_mean
from skbo_silbo.mapping import TopDown

from ._learnt_report import FEWEST_RUNS
from ._learnt_subspace import make_ridge, ridges

SIZES = (11, 25, 50)  # values of which planes are kept; before the first a search has no model
SLICES = (10, 4)


class RedrawnMapping:
    """Top-down, but what the plane does not see is drawn anew for every proposal.

    Parameters
    ----------
    seed : int
    """

    def __init__(self, seed):
        self.nearest = TopDown()
        self.rng = np.random.default_rng(seed)

    def carry(self, X, embedding):
        """Return the coordinates of points."""
        return self.nearest.carry(X, embedding)

    def lift(self, Z, embedding, incumbent):
        """Return for each coordinate the point nearest a random one."""
        centres = self.rng.uniform(-1.0, 1.0, (len(Z), embedding.d))
        pairs = zip(Z, centres, strict=True)
        return np.vstack([self.nearest.lift(z[None], embedding, centre) for z, centre in pairs])


def options_of(method, r, seed):
    """Return the options of `SILBO` that a row of the table stands for."""
    options = {"embedding": "semi-sir", "n_components": r}
    if LABELLED in method:
        options["n_unlabeled"] = 0
    if FIRST in method:
        options["n_initial"] = 35
    if REDRAWN in method:
        options["mapping"] = RedrawnMapping(seed)
    return options


AS_IS, LABELLED = "semi-SIR", "no unlabelled points"
FIRST, REDRAWN = "35 points first", "the unseen redrawn"
METHODS = (
    AS_IS,
    LABELLED,
    f"{LABELLED}, {FIRST}",
    f"{LABELLED}, {REDRAWN}",
)


def measure_plane(problem, method, repeat):
    """Search, and tell how much of the true directions the planes hold."""
    function, r, n = make_ridge(problem, repeat), problem["inputs"], problem["n"]
    optimizer = SILBO(function.bounds, random_state=repeat, **options_of(method, r, repeat))
    X, y, planes = _search(function, optimizer, n)
    true, first = function.active_directions.T, optimizer.n_initial_
    uniform, unlabelled = np.random.default_rng(repeat).uniform(-1.0, 1.0, (2, *X.shape))
    values = np.array([float(function(x)) for x in uniform])
    fits = {
        "all values": (X, y),
        "the first points": (X[:first], y[:first]),
        "the proposals": (X[first:], y[first:]),
        "all values, and as many unlabelled uniform points": (X, y, unlabelled),
        "as many uniform points": (uniform, values),
        "these, and as many unlabelled uniform points": (uniform, values, unlabelled),
        "the same, with alpha='auto'": (uniform, values, unlabelled, "auto"),
    }
    chance = chance_means(function, (n,))[str(n)]
    return {
        "planes": {str(size): held(true, plane) for size, plane in planes.items()},
        "first plane": held(planes[min(planes)], planes[n]),
        "refits": {name: _refitted(true, *rows) for name, rows in fits.items()},
        "span": held(true, np.linalg.svd((X - X.mean(axis=0)).T, full_matrices=False)[0]),
        "share": round(float((chance - y.min()) / (chance - function.optimum)), 4),
    }


def _search(function, optimizer, n):
    """Return n points, their values, and the planes learnt from `SIZES` of them, (d, r) each."""
    X, y, planes = [], [], {}
    while True:
        x = optimizer.ask()  # learns from all values
        if len(y) in SIZES and not optimizer.embedding_.is_identity:
            planes[len(y)] = optimizer.embedding_.basis
        if len(y) == n:
            return np.array(X), np.array(y), planes
        X.append(x)
        y.append(float(function(x)))
        optimizer.tell(x, y[-1])


def held(true, found):
    """Return the share of the span of the columns of `true` that lies in that of `found`.

    Examples
    --------
    >>> held(np.eye(4)[:, :2], np.array([[3.0], [0.0], [0.0], [4.0]]))
    0.18
    """
    bases = [np.linalg.qr(directions)[0] for directions in (true, found)]
    return round(float(np.sum((bases[0].T @ bases[1]) ** 2) / bases[0].shape[1]), 4)


def _refitted(true, X, y, X_unlabeled=None, alpha=1.0):
    alpha = 0.0 if X_unlabeled is None else alpha  # 1: of a search
    fits = (SemiSlicedInverseRegression(true.shape[1], n_slices=h, alpha=alpha) for h in SLICES)
    return [held(true, fit.fit(X, y, X_unlabeled=X_unlabeled).components_.T) for fit in fits]


def report(results):
    """Return the table of searches, and that of fits to the points of semi-SIR's search."""
    rows = defaultdict(list)
    for r in results:
        if r["status"] == "ok":
            rows[r["method"]].append(r)
    searches = [_searched(m, rows[m]) for m in METHODS if rows[m]]
    header = ("search", "runs", *(f"after {n}" for n in SIZES), "of the first plane", "gap closed")
    tables = [Table("How much of the true directions the plane holds", header, searches, ABOUT)]
    if len(rows[AS_IS]) >= FEWEST_RUNS:
        n = max(SIZES)
        told = [
            (name, *(_mean([r["refits"][name][k] for r in rows[AS_IS]]) for k in range(2)))
            for name in rows[AS_IS][0]["refits"]
        ]
        slices = (f"{h} slices" for h in SLICES)
        title = f"Sliced inverse regression of the {n} values of semi-SIR's search"
        span = f"{ABOUT_REFITS} {_mean([r['span'] for r in rows[AS_IS]])}."
        tables.append(Table(title, ("labelled points", *slices), told, span))
    return tables


def _searched(method, runs):
    planes = [[r["planes"][str(n)] for r in runs if str(n) in r["planes"]] for n in SIZES]
    cells = [_mean(own) for own in planes]
    cells.append(_mean([r["first plane"] for r in runs if len(r["planes"]) > 1]))
    cells.append(_mean([r["share"] for r in runs]))
    row = (method, str(len(runs)), *cells)
    return row if len(runs) >= FEWEST_RUNS else tuple(f":grey:`{c}`" if c else c for c in row)


def _mean(values):
    return f"{np.mean(values):.3f} ± {error_of_mean(values):.3f}" if len(values) > 1 else ""


ABOUT = (
    "One or two of 100 directions, 50 evaluations, their number known. Squared trace correlation "
    "of plane and true directions, mean ± one standard error over runs; a random plane has .01 "
    "(one direction) or .02. Of the first plane: the same of the last plane and the first, 1 where "
    "nothing new was learnt. Rows below the first change the search: no points without a value, "
    "35 first points in place of 11, and coordinates that the plane does not see drawn anew for "
    "every proposal, in place of the incumbent's. Gap closed: as above."
)
ABOUT_REFITS = (
    "Of the same runs, without the unlabelled points of the search. Nothing could hold more than "
    "the span of the points that were evaluated does:"
)

LEARNT_PLANE = Experiment(
    name="learnt-plane",
    methods=dict.fromkeys(METHODS, ""),
    grids={
        "sixty": Grid(ridges(100, 50), 10),
        "full": Grid(ridges(100, 50), 10),
        "tiny": Grid(ridges(20, 50)[:1], 1, methods=METHODS[::3]),
    },
    measure=measure_plane,
    report=report,
    cap_seconds=600,
    about="why semi-SIR learns little within a search: its points, its slices, unlabelled ones",
)
