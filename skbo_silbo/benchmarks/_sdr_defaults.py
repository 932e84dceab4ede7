"""Experiment `sdr-defaults`: what ridge, alpha, dimension tests and intervals do when left alone.

A problem is one cell of one of four kinds; its seeds run in one process:

=============  ==================================================================================
kind           what is measured
=============  ==================================================================================
ridge          score of five nearest neighbours on the scores, by what chose the ridge; peers
alpha          the same with 400 unlabelled rows, by alpha
dimension      how often each number of directions was found
intervals      share of active entries within their bootstrap interval
=============  ==================================================================================
"""

from collections import Counter

import numpy as np

from ._experiment import Experiment, Grid
from ._report import Table
from ._telling import by_method

N_TEST, N_UNLABELED, N_NEIGHBORS = 400, 400, 5
RIDGES = np.r_[1e-4, 1e-3, 10.0 ** np.arange(-2, 1.25, 0.5), 100.0]
ALPHAS = (0.0, 0.1, 1.0, 10.0)
CHOOSERS = ("auto", "Ledoit-Wolf", "OAS", "5-fold CV", "leave-one-out", "none")
PEERS = ("PLS", "LassoCV", "PCA")

# -- data ----------------------------------------------------------------------------------------


def _scikit_learn(name, categories=False):
    def load():
        from sklearn import datasets

        X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
        return X, y.astype(str) if categories else y

    return load


def _alcohol():
    """Wine's first column from the others."""
    X, _ = _scikit_learn("wine")()
    return X[:, 1:], X[:, 0]


def _interactions():
    from sklearn.preprocessing import PolynomialFeatures

    X, y = _scikit_learn("diabetes")()
    return PolynomialFeatures(2, include_bias=False).fit_transform(X / X.std(axis=0)), y


def _statsmodels(name):
    def load():
        from statsmodels import datasets

        data = getattr(datasets, name).load_pandas()
        y = np.asarray(data.endog, dtype=float)
        return np.asarray(data.exog, dtype=float), y[:, 0] / y.sum(axis=1) if y.ndim > 1 else y

    return load


REAL = {
    "diabetes": _scikit_learn("diabetes"),
    "interactions": _interactions,
    "alcohol": _alcohol,
    "digits": _scikit_learn("digits", categories=True),
    "wine": _scikit_learn("wine", categories=True),
    "cancer": _scikit_learn("breast_cancer", categories=True),
    "star98": _statsmodels("star98"),
    "ccard": _statsmodels("ccard"),
    "fair": _statsmodels("fair"),
}


def _iid(rng, n, d):
    b = np.random.default_rng(5).normal(size=d)
    X = rng.normal(size=(n, d))
    return X, X @ (b / np.linalg.norm(b)) + 0.5 * rng.normal(size=n)


def _autoregressive(rng, n, d):
    X = rng.normal(size=(n, d)) @ np.linalg.cholesky(_decaying(d)).T
    return X, 2 * X[:, : d // 4].mean(axis=1) + 0.5 * rng.normal(size=n)


def _sparse(rng, n, d):
    X = rng.normal(size=(n, d))
    return X, X[:, 0] + X[:, 1] - X[:, 2] + 0.5 * rng.normal(size=n)


def _spectra(rng, n, d):
    """Eight overlapping peaks, a shifting base line; y is the height of a weak one."""
    place, fixed = np.linspace(0, 1, d), np.random.default_rng(7)
    centres, widths = fixed.uniform(size=8), fixed.uniform(0.03, 0.12, size=8)
    peaks = np.exp(-0.5 * ((place - centres[:, None]) / widths[:, None]) ** 2)
    heights = rng.gamma(2.0, size=(n, 8)) * np.linspace(2, 0.3, 8)
    X = heights @ peaks + 0.3 * rng.normal(size=(n, 1)) + 0.02 * rng.normal(size=(n, d))
    return X, heights[:, 5] + 0.05 * rng.normal(size=n)


def _waves(rng, n, d):
    """Draw `examples/plot_unlabeled_rows.py`'s waves."""
    place = rng.uniform(size=(n, 2))
    frequency, phase = rng.normal(size=(2, d)), rng.uniform(0, 2 * np.pi, size=d)
    X = np.cos(2 * np.pi * place @ frequency + phase) + 0.1 * rng.normal(size=(n, d))
    return X, place[:, 0] + 0.05 * rng.normal(size=n)


def _box(rng, n, d):
    X = rng.uniform(-1, 1, size=(n, d))
    return X, X[:, 0] + X[:, 1] + 0.1 * rng.normal(size=n)


def _rational(rng, n, d):
    X = rng.normal(size=(n, d))
    return X, X[:, 0] / (0.5 + (X[:, 1] + 1.5) ** 2) + 0.2 * rng.normal(size=n)


def _quadratic(rng, n, d):
    X = rng.normal(size=(n, d))
    return X, X[:, 0] + 0.5 * (X[:, 1] + 1) ** 2 + 0.3 * rng.normal(size=n)


def _clusters(rng, n, d):
    fixed = np.random.default_rng(3)
    centres, spread = 0.6 * fixed.normal(size=(3, d)), fixed.normal(size=(5, d))
    k = rng.integers(3, size=n)
    X = centres[k] + rng.normal(size=(n, 5)) @ spread + 0.7 * rng.normal(size=(n, d))
    return X, k.astype(str)


def _null(rng, n, d):
    return rng.normal(size=(n, d)), rng.normal(size=n)


def _null_heavy(rng, n, d):
    return rng.standard_t(3, size=(n, d)), rng.standard_t(3, size=n)


def _null_classes(rng, n, d):
    return rng.normal(size=(n, d)), rng.integers(3, size=n).astype(str)


def _three_classes(rng, n, d):
    k = rng.integers(3, size=n)
    return rng.normal(size=(n, d)) + 3 * np.eye(3, d)[k], k.astype(str)


def _linear(rng, n, d):
    X = rng.normal(size=(n, d))
    return X, X[:, 0] + 0.5 * rng.normal(size=n)


SYNTHETIC = {
    function.__name__[1:].replace("_", "-"): function
    for function in (
        _iid,
        _autoregressive,
        _sparse,
        _spectra,
        _waves,
        _box,
        _rational,
        _quadratic,
        _clusters,
        _null,
        _null_heavy,
        _null_classes,
        _three_classes,
        _linear,
    )
}


def draw(problem, seed, n_unlabeled=0):
    """Labelled, test and unlabelled rows: X, y, X_test, y_test, X_unlabeled."""
    rng, n, data = np.random.default_rng(seed), problem["n"], problem["data"]
    if data in SYNTHETIC:
        X, y = SYNTHETIC[data](rng, n + N_TEST + n_unlabeled, problem["d"])
        n_test = N_TEST
    else:
        X, y = REAL[data]()
        order = rng.permutation(len(y))
        X, y = X[order], y[order]
        n_test = min(N_TEST, (len(y) - n) // (2 if n_unlabeled else 1))
    test = slice(n, n + n_test)
    return X[:n], y[:n], X[test], y[test], X[n + n_test :][:n_unlabeled]


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
            learner = _dimension_learner(problem["learner"]).fit(X, y, **extra)
        found[learner.n_components_] += 1
    return {"found": {str(k): count for k, count in sorted(found.items())}}


def _decaying(d, correlation=0.9):
    return correlation ** np.abs(np.subtract.outer(np.arange(d), np.arange(d)))


def draw_directions(problem, rng):
    """X, y, the directions B (r, d) that y depends on, and the covariance of X up to a factor."""
    n, d = problem["n"], problem["d"]
    covariance = _decaying(d) if problem["X"] == "AR(.9)" else np.eye(d)
    X = rng.standard_t(3, size=(n, d)) if problem["X"] == "t3" else rng.normal(size=(n, d))
    X = X @ np.linalg.cholesky(covariance).T
    noise = rng.standard_t(3, size=n) if problem["noise"] == "t3" else rng.normal(size=n)
    if problem["data"] == "linear":
        b = np.r_[1.0, -1.0, 0.5, np.zeros(d - 3)]
        return X, X @ b + 0.5 * noise, b[None], covariance
    two = {
        "rational": X[:, 0] / (0.5 + (X[:, 1] + 1.5) ** 2) + 0.2 * noise,
        "quadratic": X[:, 0] + 0.5 * (X[:, 1] + 1) ** 2 + 0.3 * noise,
    }
    return X, two[problem["data"]], np.eye(2, d), covariance


def measure_intervals(problem, seeds):
    """Share of the entries of active features within normal and percentile intervals.

    The truth is the basis of the true subspace with scores of unit variance in the population,
    turned to lie nearest the fitted one.
    """
    from skbo_silbo.inspection import bootstrap_directions

    covered = {"normal": [], "percentile": []}
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
    "alpha": measure_alpha,
    "dimension": measure_dimension,
    "intervals": measure_intervals,
}


def measure(problem, method, repeat):
    """Measure one cell over its seeds."""
    seeds = range(1000 + repeat * problem["seeds"], 1000 + (repeat + 1) * problem["seeds"])
    return KINDS[problem["kind"]](problem, seeds)


# -- report --------------------------------------------------------------------------------------


def _cells(results, kind):
    grouped = by_method(results)
    return [
        (dict(problem), methods["sir"][0])
        for problem, methods in grouped.items()
        if dict(problem)["kind"] == kind
    ]


def _place(problem):
    return f"{problem['data']}, {problem['n']} x {problem['d']}"


def _mean(values):
    return float(np.mean(values))


def ridge_summary(results):
    """Rows of mean scores: {cell: {name: score}}, with the oracles'."""
    rows = {}
    for problem, found in _cells(results, "ridge"):
        scores = {name: _mean(found[name]) for name in (*CHOOSERS, *PEERS) if name in found}
        fixed = np.array(found["fixed"])
        scores["best fixed"] = float(fixed.mean(axis=0).max())
        scores["best a seed"] = float(fixed.max(axis=1).mean())
        rows[_place(problem)] = scores
    return rows


def _ridge_table(rows):
    names = ("best a seed", "best fixed", *CHOOSERS, *PEERS)
    told = [
        (place, *(f"{scores[n]:.3f}" if n in scores else "--" for n in names))
        for place, scores in rows.items()
    ]
    means = [[s[n] for s in rows.values() if n in s] for n in names]
    told.append(("mean", *(f"{_mean(values):.3f}" for values in means)))
    return Table(
        "Ridge",
        ("cell", *names),
        told,
        "Mean over seeds of the score on held-out rows. Best: of a grid of fixed ridges, known "
        "only afterwards, one for each seed or one for all. LassoCV: regressions only.",
    )


def gains(found):
    """Mean over seeds of auto less alpha = 0, and its standard error."""
    difference = np.subtract(found["auto"], found["0"])
    return difference.mean(), difference.std(ddof=1) / np.sqrt(len(difference))


def _alpha_table(cells):
    header = ("cell", *(f"alpha {a:g}" for a in ALPHAS), "auto", "auto less 0 (se)", "chose 0")
    rows = []
    for problem, found in cells:
        gain, error = gains(found)
        scores = (f"{_mean(found[f'{alpha:g}']):.3f}" for alpha in ALPHAS)
        zero = f"{found['alpha'].count(0.0)} of {len(found['alpha'])}"
        told = (f"{_mean(found['auto']):.3f}", f"{gain:+.3f} ({error:.3f})", zero)
        rows.append((_place(problem), *scores, *told))
    return Table("Unlabelled rows", header, rows, "Every fit with the ridge that auto chooses.")


def _dimension_table(cells):
    rows = []
    for problem, found in cells:
        told = ", ".join(f"{k}: {count}" for k, count in found["found"].items())
        rows.append((problem["learner"], _place(problem), str(problem["truth"]), told))
    return Table("Number of directions", ("learner", "cell", "truth", "found: times"), rows)


def _intervals_table(cells):
    rows = [
        (
            _place(problem),
            problem["X"],
            problem["noise"],
            *(f"{_mean(found[method]):.3f}" for method in ("normal", "percentile")),
        )
        for problem, found in cells
    ]
    return Table(
        "Coverage at a nominal .95",
        ("cell", "X", "noise", "normal", "percentile"),
        rows,
        "Share of the active features' entries, each seed a data set, 100 resamples.",
    )


def report(results):
    """Tables of the four kinds that were measured."""
    tables = []
    if rows := ridge_summary(results):
        tables.append(_ridge_table(rows))
    makers = {"alpha": _alpha_table, "dimension": _dimension_table, "intervals": _intervals_table}
    for kind, make in makers.items():
        if cells := _cells(results, kind):
            tables.append(make(cells))
    return tables


def aims(results):
    """Aims of issue 13, points 1 to 4."""
    return [*_ridge_aims(results), *_alpha_aims(results), *_test_aims(results)]


def _ridge_aims(results):
    rows = ridge_summary(results)
    if not rows:
        return []
    mean = {n: _mean([s[n] for s in rows.values()]) for n in ("auto", "best fixed", "best a seed")}
    short = {p: max(s[n] for n in CHOOSERS[1:]) - s["auto"] for p, s in rows.items()}
    worst = max(short, key=short.get)
    shares = {name: mean["auto"] / mean[name] for name in ("best fixed", "best a seed")}
    return [
        *(
            (f"ridge: at least .94 of the {name} ridge's mean", f"{share:.3f}", share >= 0.94)
            for name, share in shares.items()
        ),
        (
            "ridge: never .06 below the best of five choosers",
            f"{short[worst]:.3f} ({worst})",
            short[worst] < 0.06,
        ),
    ]


def _alpha_aims(results):
    told = []
    for problem, found in _cells(results, "alpha"):
        gain, error = gains(found)
        words = f"alpha: {_place(problem)} not two errors below alpha = 0"
        told.append((words, f"{gain:+.3f} ({error:.3f})", bool(gain >= -2 * error)))
    return told


def _test_aims(results):
    told = []
    for problem, found in _cells(results, "dimension"):
        right = found["found"].get(str(problem["truth"]), 0) / problem["seeds"]
        place = f"{problem['learner']}, {_place(problem)}"
        if problem["truth"] == 0:
            aim = (f"null size .03 to .07: {place}", f"{1 - right:.3f}", 0.03 <= 1 - right <= 0.07)
        else:
            aim = (f"right in 90 %: {place}", f"{right:.3f}", right >= 0.9)
        told.append(aim)
    for problem, found in _cells(results, "intervals"):
        if problem["X"] != "t3":
            share = _mean(found["normal"])
            words = f"coverage at least .93: {_place(problem)}, X {problem['X']}, noise"
            told.append((f"{words} {problem['noise']}", f"{share:.3f}", share >= 0.93))
    return told


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
SLOW_CELLS = (
    ("localised", "null", 60, 15, 0),
    ("localised", "linear", 100, 8, 1),
    ("SAVE", "null", 100, 5, 0),
    ("SAVE", "quadratic", 400, 4, 2),
    ("DR", "null", 100, 5, 0),
    ("DR", "quadratic", 400, 4, 2),
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

SDR_DEFAULTS = Experiment(
    name="sdr-defaults",
    methods={"sir": "statsmodels"},
    grids={
        "full": Grid(
            (
                *_of_kind("ridge", 20, ("data", "n", "d", "r"), *RIDGE_CELLS),
                *_of_kind("alpha", 20, ("data", "n", "d", "r"), *ALPHA_CELLS),
                *_of_kind("dimension", 300, _DIMENSION, *SIR_CELLS),
                *_of_kind("dimension", 100, _DIMENSION, *POWER_CELLS),
                *_of_kind("dimension", 40, _DIMENSION, *SLOW_CELLS),
                *_of_kind("intervals", 20, ("data", "n", "d", "X", "noise"), *INTERVAL_CELLS),
            ),
            n_repeats=1,
        ),
        "tiny": Grid(
            (
                *_of_kind("ridge", 2, ("data", "n", "d", "r"), ("iid", 22, 20, 1)),
                *_of_kind("alpha", 2, ("data", "n", "d", "r"), ("diabetes", 20, 10, 1)),
                *_of_kind("dimension", 2, _DIMENSION, ("SIR", "null", 60, 15, 0)),
                *_of_kind(
                    "intervals",
                    2,
                    ("data", "n", "d", "X", "noise"),
                    ("linear", 30, 5, "normal", "normal"),
                ),
            ),
            n_repeats=1,
        ),
    },
    measure=measure,
    report=report,
    aims=aims,
    cap_seconds=600,
)
