"""Experiment `sdr-defaults`: what ridge, alpha, dimension tests and intervals do when left alone.

A problem is one cell of one of five kinds; its seeds run in one process:

=============  ==================================================================================
kind           what is measured
=============  ==================================================================================
ridge          score of five nearest neighbours on the scores, by what chose the ridge; peers
luck           the same on either half of the held-out rows, of fixed ridges and "auto"
alpha          the same with 400 unlabelled rows, by alpha
dimension      how often each number of directions was found
intervals      share of active entries within their bootstrap interval
=============  ==================================================================================
"""

from collections import Counter

import numpy as np

from benchmarks.engine import Experiment, Grid

from ._sdr_data import SYNTHETIC, draw, draw_directions
from ._sdr_report import ALPHAS, aims, report

N_UNLABELED, N_NEIGHBORS = 400, 5
RIDGES = np.r_[1e-4, 1e-3, 10.0 ** np.arange(-2, 1.25, 0.5), 100.0]

# -- ridge and alpha -----------------------------------------------------------------------------


def neighbours_score(Z, y, Z_test, y_test):
    """R2 of five nearest neighbours; for classes the share of what guessing gets wrong."""
    from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

    if y.dtype.kind != "U":
        return KNeighborsRegressor(N_NEIGHBORS).fit(Z, y).score(Z_test, y_test)
    right = KNeighborsClassifier(N_NEIGHBORS).fit(Z, y).score(Z_test, y_test)
    guess = np.unique(y_test, return_counts=True)[1].max() / len(y_test)
    return (right - guess) / (1 - guess)


def _sir(problem, **options):
    from skbo_silbo import SemiSlicedInverseRegression

    return SemiSlicedInverseRegression(problem["r"], **options)


def _sir_score(problem, rows, **options):
    X, y, X_test, y_test, X_unlabeled = rows
    sir = _sir(problem, **options).fit(X, y, X_unlabeled if len(X_unlabeled) else None)
    return neighbours_score(sir.transform(X), y, sir.transform(X_test), y_test)


def _responses(y):
    from scipy.stats import rankdata
    from sklearn.preprocessing import LabelBinarizer

    if y.dtype.kind == "U":
        return LabelBinarizer().fit_transform(y).astype(float)
    return rankdata(y)[:, None]


def ridges_chosen(problem, rows, seed):
    """Relative ridge of every chooser but "auto"."""
    from sklearn.covariance import ledoit_wolf, oas
    from sklearn.linear_model import RidgeCV
    from sklearn.model_selection import GridSearchCV, KFold
    from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    X, y = rows[:2]
    Z = StandardScaler().fit_transform(X)
    knn = KNeighborsClassifier if y.dtype.kind == "U" else KNeighborsRegressor
    pipeline = make_pipeline(_sir(problem, alpha=0, categorical=y.dtype.kind == "U"), knn(5))
    search = GridSearchCV(
        pipeline,
        {"semislicedinverseregression__ridge": [1e-3, 1e-2, 0.1, 1.0, 10.0]},
        cv=KFold(5, shuffle=True, random_state=seed),
        scoring=None if y.dtype.kind == "U" else "neg_mean_squared_error",
    ).fit(X, y)
    shrunk = {"Ledoit-Wolf": ledoit_wolf(Z)[1], "OAS": oas(Z)[1]}
    return {
        **{name: min(share / max(1 - share, 1e-9), 1e6) for name, share in shrunk.items()},
        "5-fold CV": search.best_params_["semislicedinverseregression__ridge"],
        "leave-one-out": RidgeCV(10.0 ** np.arange(-6, 3.25, 0.5) * len(y))
        .fit(Z, _responses(y))
        .alpha_
        / len(y),
    }


def peer_scores(problem, rows):
    """PLS and PCA to as many directions, then five neighbours; LassoCV predicts by itself."""
    from sklearn.cross_decomposition import PLSRegression
    from sklearn.decomposition import PCA
    from sklearn.linear_model import LassoCV
    from sklearn.preprocessing import StandardScaler

    X, y, X_test, y_test, _ = rows
    scaler = StandardScaler().fit(X)
    Z, Z_test = scaler.transform(X), scaler.transform(X_test)
    pls = PLSRegression(problem["r"]).fit(Z, _responses(y))
    pca = PCA(problem["r"], random_state=0).fit(Z)
    scores = {
        name: neighbours_score(peer.transform(Z), y, peer.transform(Z_test), y_test)
        for name, peer in (("PLS", pls), ("PCA", pca))
    }
    if y.dtype.kind != "U":
        scores["LassoCV"] = LassoCV(max_iter=3000).fit(Z, y).score(Z_test, y_test)
    return scores


def measure_ridge(problem, seeds):
    """Scores by chooser and peer, a value a seed, and those of every fixed ridge."""
    found = {"fixed": []}
    for seed in seeds:
        rows = draw(problem, seed)
        wide = problem["n"] <= rows[0].shape[1] + 1
        ridges = {**ridges_chosen(problem, rows, seed), "none": 1e-12 if wide else 0.0}
        scores = {name: _sir_score(problem, rows, ridge=value) for name, value in ridges.items()}
        scores |= {"auto": _sir_score(problem, rows), **peer_scores(problem, rows)}
        for name, value in scores.items():
            found.setdefault(name, []).append(round(value, 5))
        found["fixed"].append([round(_sir_score(problem, rows, ridge=r), 5) for r in RIDGES])
    return found


def measure_luck(problem, seeds):
    """Scores on two halves of the held-out rows, a pair a seed: of "auto", and of fixed ridges."""
    found = {"auto": [], "fixed": []}
    for seed in seeds:
        rows = draw(problem, seed)
        order = np.random.default_rng(seed).permutation(len(rows[3]))
        halves = [(*rows[:2], rows[2][h], rows[3][h], rows[4]) for h in np.array_split(order, 2)]
        found["auto"].append([round(_sir_score(problem, half), 5) for half in halves])
        found["fixed"].append(
            [[round(_sir_score(problem, half, ridge=r), 5) for half in halves] for r in RIDGES]
        )
    return found


def measure_alpha(problem, seeds):
    """Scores by alpha, a value a seed, and the alpha that was chosen."""
    found = {"auto": [], "alpha": [], **{f"{alpha:g}": [] for alpha in ALPHAS}}
    for seed in seeds:
        rows = draw(problem, seed, N_UNLABELED)
        X, y, X_test, y_test, X_unlabeled = rows
        auto = _sir(problem).fit(X, y, X_unlabeled)
        score = neighbours_score(auto.transform(X), y, auto.transform(X_test), y_test)
        found["auto"].append(round(score, 5))
        found["alpha"].append(auto.alpha_)
        for alpha in ALPHAS:
            found[f"{alpha:g}"].append(round(_sir_score(problem, rows, alpha=alpha), 5))
    return found


# -- dimension and intervals ---------------------------------------------------------------------


def _dimension_learner(name):
    from skbo_silbo import (
        DirectionalRegression,
        SemiSlicedInverseRegression,
        SlicedAverageVarianceEstimation,
    )

    return {
        "SIR": SemiSlicedInverseRegression(),
        "SIR, ridge .1": SemiSlicedInverseRegression(ridge=0.1),
        "SIR with graph": SemiSlicedInverseRegression(alpha=1.0),
        "SIR, rows shuffled": SemiSlicedInverseRegression("permutation"),
        "localised": SemiSlicedInverseRegression(n_local_neighbors=5),
        "SAVE": SlicedAverageVarianceEstimation(n_slices=5),
        "DR": DirectionalRegression(n_slices=5),
    }[name]


def measure_dimension(problem, seeds):
    """How often each number of directions was found."""
    import warnings

    found = Counter()
    for seed in seeds:
        X, y = SYNTHETIC[problem["data"]](np.random.default_rng(seed), problem["n"], problem["d"])
        extra = {}
        if problem["learner"] == "SIR with graph":
            extra["X_unlabeled"] = np.random.default_rng(10**6 + seed).normal(
                size=(100, X.shape[1])
            )
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "No direction was found")
            learner = _dimension_learner(problem["learner"])
            found[learner.fit(X, y, **extra).n_components_] += 1
    return {"found": {str(k): count for k, count in sorted(found.items())}}


def measure_intervals(problem, seeds):
    """Share of the entries of active features within normal and percentile intervals.

    The truth is the basis of the true subspace with scores of unit variance in the population,
    turned to lie nearest the fitted one.
    """
    import warnings

    from skbo_silbo.inspection import bootstrap_directions

    covered = {"normal": [], "percentile": []}
    warnings.filterwarnings("ignore", "The intervals are too narrow with fewer than 3")
    for seed in seeds:
        X, y, B, covariance = draw_directions(problem, np.random.default_rng(seed))
        variance = 3.0 if problem["X"] == "t3" else 1.0
        root = np.linalg.cholesky(np.linalg.inv(variance * B @ covariance @ B.T))
        truth, centred = root.T @ B, X - X.mean(axis=0)
        result = bootstrap_directions(_sir({"r": len(B)}), X, y, n_resamples=100, random_state=0)
        scores = centred @ result.components.T
        U, _, Vt = np.linalg.svd(scores.T @ centred @ truth.T)
        nearest = U @ Vt @ truth
        intervals = {
            "normal": (result.low, result.high),
            "percentile": np.quantile(result.resampled_components, [0.025, 0.975], axis=0),
        }
        for method, (low, high) in intervals.items():
            inside = (low <= nearest) & (nearest <= high)
            covered[method].append(round(float(inside[:, np.any(B, axis=0)].mean()), 4))
    return covered


KINDS = {
    "ridge": measure_ridge,
    "luck": measure_luck,
    "alpha": measure_alpha,
    "dimension": measure_dimension,
    "intervals": measure_intervals,
}


def measure(problem, method, repeat):
    """Measure one cell over its seeds."""
    seeds = range(1000 + repeat * problem["seeds"], 1000 + (repeat + 1) * problem["seeds"])
    return KINDS[problem["kind"]](problem, seeds)


# -- cells ---------------------------------------------------------------------------------------


def _of_kind(kind, seeds, names, *cells):
    return tuple(
        {"kind": kind, "seeds": seeds, **dict(zip(names, cell, strict=True))} for cell in cells
    )


RIDGE_CELLS = (
    ("diabetes", 40, 10, 1),
    ("alcohol", 40, 12, 1),
    ("digits", 60, 64, 6),
    ("wine", 30, 13, 2),
    ("cancer", 40, 30, 1),
    ("cancer", 150, 30, 1),
    ("star98", 40, 20, 1),
    ("ccard", 40, 4, 1),
    ("iid", 22, 20, 1),
    ("iid", 30, 20, 1),
    ("iid", 200, 20, 1),
    ("autoregressive", 60, 40, 1),
    ("autoregressive", 400, 40, 1),
    ("sparse", 60, 100, 1),
    ("sparse", 150, 100, 1),
    ("spectra", 20, 200, 1),
    ("spectra", 80, 200, 1),
    ("waves", 20, 50, 1),
    ("box", 40, 50, 1),
    ("quadratic", 80, 15, 2),
)
ALPHA_CELLS = (
    ("diabetes", 20, 10, 1),
    ("interactions", 40, 65, 1),
    ("alcohol", 30, 12, 1),
    ("digits", 40, 64, 6),
    ("wine", 20, 13, 2),
    ("cancer", 30, 30, 1),
    ("star98", 40, 20, 1),
    ("iid", 30, 20, 1),
    ("autoregressive", 40, 40, 1),
    ("spectra", 20, 200, 1),
    ("waves", 20, 50, 1),
    ("waves", 40, 50, 1),
    ("box", 40, 50, 1),
)
SIR_CELLS = (
    ("SIR", "null", 60, 15, 0),
    ("SIR", "null", 40, 60, 0),
    ("SIR", "null-heavy", 60, 15, 0),
    ("SIR", "null-classes", 60, 10, 0),
    ("SIR, ridge .1", "null", 60, 15, 0),
    ("SIR with graph", "null", 60, 15, 0),
)
POWER_CELLS = (
    ("SIR", "linear", 60, 15, 1),
    ("SIR", "rational", 200, 25, 2),
    ("SIR", "three-classes", 60, 10, 2),
    ("SIR", "three-classes", 40, 60, 2),
    ("SIR with graph", "linear", 60, 15, 1),
)
OTHER_NULL_CELLS = (
    ("localised", "null", 60, 15, 0),
    ("SAVE", "null", 100, 5, 0),
    ("DR", "null", 100, 5, 0),
)
OTHER_POWER_CELLS = (
    ("DR", "quadratic", 400, 4, 2),
    ("SAVE", "quadratic", 400, 4, 2),
    ("localised", "linear", 100, 8, 1),
)


SHUFFLED_NULL_CELLS = tuple(
    ("SIR, rows shuffled", "null", n, d, 0) for n, d in ((40, 20), (60, 15), (200, 10))
)
SHUFFLED_POWER_CELLS = tuple(
    ("SIR, rows shuffled", "weak", n, d, 1) for n, d in ((40, 20), (60, 15))
)
NEAR_LIMIT_CELLS = tuple(
    ("linear", n, d, "normal", "normal")
    for n, d in ((10, 5), (15, 5), (20, 10), (25, 10), (30, 10))
)
INTERVAL_CELLS = (
    ("linear", 100, 5, "normal", "normal"),
    ("linear", 40, 10, "normal", "normal"),
    ("linear", 100, 5, "normal", "t3"),
    ("linear", 100, 5, "AR(.9)", "normal"),
    ("linear", 100, 5, "t3", "normal"),
    ("rational", 200, 10, "normal", "normal"),
    ("rational", 400, 10, "normal", "normal"),
    ("quadratic", 400, 10, "normal", "normal"),
)
_DIMENSION = ("learner", "data", "n", "d", "truth")
_INTERVALS = ("data", "n", "d", "X", "noise")
COVERAGE = _of_kind("intervals", 200, _INTERVALS, *INTERVAL_CELLS, *NEAR_LIMIT_CELLS)

SDR_DEFAULTS = Experiment(
    name="sdr-defaults",
    methods={"sir": "statsmodels"},
    grids={
        "full": Grid(
            (
                *_of_kind("ridge", 20, ("data", "n", "d", "r"), *RIDGE_CELLS),
                *_of_kind("luck", 20, ("data", "n", "d", "r"), *RIDGE_CELLS),
                *_of_kind("alpha", 20, ("data", "n", "d", "r"), *ALPHA_CELLS),
                *_of_kind("dimension", 100, _DIMENSION, *POWER_CELLS, *OTHER_POWER_CELLS),
                *_of_kind("dimension", 300, _DIMENSION, *SIR_CELLS, *OTHER_NULL_CELLS),
                *_of_kind("dimension", 200, _DIMENSION, *SHUFFLED_NULL_CELLS),
                *_of_kind("dimension", 100, _DIMENSION, *SHUFFLED_POWER_CELLS),
                *COVERAGE,
            ),
            n_repeats=1,
        ),
        "coverage": Grid(COVERAGE, n_repeats=1),
        "tiny": Grid(
            (
                *_of_kind("ridge", 2, ("data", "n", "d", "r"), ("iid", 22, 20, 1)),
                *_of_kind("luck", 2, ("data", "n", "d", "r"), ("iid", 22, 20, 1)),
                *_of_kind("alpha", 2, ("data", "n", "d", "r"), ("diabetes", 20, 10, 1)),
                *_of_kind("dimension", 2, _DIMENSION, ("SIR", "null", 60, 15, 0)),
                *_of_kind("intervals", 2, _INTERVALS, ("linear", 30, 5, "normal", "normal")),
            ),
            n_repeats=1,
        ),
    },
    measure=measure,
    report=report,
    aims=aims,
    cap_seconds=600,
    about="ridge='auto', alpha='auto', the tests of dimension, coverage of intervals",
)
