"""Compare ways to adapt the default search to noise, with and without noise.

A surrogate fits its hyperparameters a second time, with a noise variance of at least 0.2 of that of
the values and a flat prior on it. It keeps this fit if its posterior density exceeds that of the
usual fit, under the flat prior, by a factor of e^1.5: always (evidence), or from 20 values on
(late). Append the runs that the results lack, then write the table::

    python doc/benchmarks/scripts/noise_by_evidence.py --run functions 5 10
    python doc/benchmarks/scripts/noise_by_evidence.py --run tuning 5 10
    python doc/benchmarks/scripts/noise_by_evidence.py --run clean 1 2
    python doc/benchmarks/scripts/noise_by_evidence.py --table

``--support`` prints how much the initial designs of noise-free functions support noise. The
arguments of ``--run`` are the kind of problem, the first seed, and one more than the last seed:

- functions: the ten functions of ``noisy_functions.py``.
- tuning: five models, scored on 80 rows with two folds that are drawn again for each candidate, and
  judged by the score on up to 1,000 other rows.
- clean: the 24 functions of bbob with 10 and 20 inputs, and five hidden among 100 inputs.

A change is kept if, on the functions, its mean difference from the default is at least two standard
errors above zero, if it is not below zero by more than one on the tuning tasks, and if at most 5 %
of the noise-free searches change and lose less than one. Predicted before the runs: 0.05 of the gap
for "evidence", whose proposals lie on bounds more often, and no noise-free search changed. With 10
values, however, noise-free functions support noise, too. "late" was added after 17 pairs of
"evidence", of which 10 were worse. Prediction for it: no gain.
"""

import hashlib
import json
from collections import defaultdict
from dataclasses import replace

import numpy as np
from checkout import RESULTS, TABLES, make_parser
from noisy_functions import FUNCTIONS, REACH, D, make_problem, read_revision, true_value

from skbo_silbo import SILBO, minimize
from skbo_silbo._numerics.hyperparameters import climb, negative_log_posterior
from skbo_silbo._numerics.priors import LEAST_SPARSE_DIMENSION
from skbo_silbo.problems import planted
from skbo_silbo.surrogate.process import MOST_ROWS, GaussianProcessSurrogate
from skbo_silbo.surrogate.warps import HalfLog

FILE = RESULTS / "noise_by_evidence.jsonl"
PEERS, PEER_NAMES = RESULTS / "noisy_functions.jsonl", ("random", "optuna-tpe")
METHODS = ("default", "evidence", "late")
POINTS = ("recommended", "observed", "averaged", "refitted")
# A search and the point that it recommends, each compared with the default's recommended point.
CHANGES = [
    *((kind, method, p) for kind in ("functions", "tuning") for method in METHODS for p in POINTS),
    *(("clean", method, "observed") for method in METHODS[1:]),
]
LEAST_NOISE, MARGIN = 0.2, 1.5  # fixed before the runs, from states of seed 0
HIDDEN = (2, 6, 10, 15, 20)  # functions of 5 inputs among 100
N_TRAIN, MOST_JUDGED, N_CHANCE = 80, 1000, 30


class NoiseByEvidence(GaussianProcessSurrogate):
    """Process that adopts a large noise variance if the values support it."""

    n_least = 0

    def _most_probable(self):
        theta, prior = super()._most_probable(), self.prior_
        if len(self.observations_.y) < self.n_least:
            return theta
        log_likelihood = self.observations_.spread(MOST_ROWS).log_likelihood
        bounds = prior.bounds.copy()
        bounds[-1, 0] = np.log(LEAST_NOISE)
        flat = replace(prior, spread=np.append(prior.spread[:-1], np.inf), bounds=bounds)
        starts = [np.append(start[:-1], np.log(0.5)) for start in (prior.location, theta)]
        noisy = min((climb(log_likelihood, flat, s) for s in starts), key=lambda end: end.fun)
        self.support_ = negative_log_posterior(theta, log_likelihood, flat)[0] - noisy.fun
        return noisy.x if self.support_ > MARGIN else theta


class LateNoiseByEvidence(NoiseByEvidence):
    """Process that adopts a large noise variance from 20 values on."""

    n_least = 20


def make_options(method, d):
    """Return the options of `minimize` for a method."""
    if method == "default":
        return {}
    prior = "sparse" if d >= LEAST_SPARSE_DIMENSION else "dimension-scaled"
    surrogate = {"evidence": NoiseByEvidence, "late": LateNoiseByEvidence}[method]
    return {"surrogate": surrogate(prior=prior)}


def tuning_tasks():
    """Return, by data set: response, columns left out, model, metric, ranges, has column weights.

    No data set was used for another decision. Ranges are in log units, and column weights, which
    follow the other parameters, multiply the standardised columns.
    """
    from sklearn.ensemble import ExtraTreesClassifier
    from sklearn.kernel_ridge import KernelRidge
    from sklearn.neighbors import KNeighborsRegressor
    from sklearn.svm import SVC, SVR

    def svr(x, seed):
        return SVR(C=10 ** x[0], gamma=10 ** x[1], epsilon=10 ** x[2], max_iter=20_000)

    def svc(x, seed):
        return SVC(C=10 ** x[0], gamma=10 ** x[1], max_iter=20_000)

    def ridge(x, seed):
        return KernelRidge(alpha=10 ** x[0], kernel="rbf", gamma=10 ** x[1])

    def neighbours(x, seed):
        return KNeighborsRegressor(7, weights="distance")

    def trees(x, seed):
        shares = {"max_features": x[0], "min_samples_leaf": x[1], "max_samples": x[2]}
        return ExtraTreesClassifier(20, bootstrap=True, random_state=seed, **shares)

    C_gamma, left_out = [(-2, 3), (-4, 1)], "name AVG SLG OPS"
    shares = [(0.1, 1), (0.01, 0.3), (0.4, 1)]
    return {
        "wooldridge/cps78_85": ("lwage", "", svr, "r2", [*C_gamma, (-3, 0)], False),
        "Stat2Data/MathPlacement": (
            "CourseSuccess",
            "Student Grade",
            svc,
            "roc_auc",
            C_gamma,
            True,
        ),
        "wooldridge/meap00_01": ("math4", "dcode bcode read4", ridge, "r2", C_gamma, True),
        "openintro/mlb_players_18": ("OBP", left_out, neighbours, "r2", [], True),
        "survival/nwtco": ("rel", "seqno edrel", trees, "roc_auc", shares, False),
    }


def make_tuning(name, seed):
    """Return the noisy loss of a tuning task, the loss on other rows, and the bounds."""
    from known_data import r_data
    from sklearn.base import is_classifier
    from sklearn.metrics import get_scorer
    from sklearn.model_selection import KFold, StratifiedKFold

    response, left_out, make_model, metric, ranges, is_weighted = tuning_tasks()[name]
    X, y = r_data(name, response, left_out)
    rng, score = np.random.default_rng(seed), get_scorer(metric)
    order = rng.permutation(len(y))
    own, others = order[:N_TRAIN], order[N_TRAIN:][:MOST_JUDGED]
    X = (X - X[own].mean(axis=0)) / (X[own].std(axis=0) + 1e-9)
    n_base = len(ranges)

    def loss(x, train, test, seed):
        weights = 10.0 ** np.asarray(x)[n_base:] if is_weighted else 1.0
        model = make_model(x, seed).fit(X[train] * weights, y[train])
        return 1.0 - float(score(model, X[test] * weights, y[test]))

    def noisy_loss(x):
        drawn = int(rng.integers(2**31))
        split = StratifiedKFold if is_classifier(make_model(np.ones(3), 0)) else KFold
        folds = split(2, shuffle=True, random_state=drawn).split(own, y[own])
        return float(np.mean([loss(x, own[a], own[b], drawn) for a, b in folds]))

    bounds = [*ranges, *([(-2, 1)] * X.shape[1] if is_weighted else [])]
    return noisy_loss, lambda x: loss(x, own, others, 0), bounds


def make_clean(name, seed):
    """Return a noise-free function, the same for its true values, and the bounds."""
    from benchmarks.search.bbob import bbob_problem

    function, d = map(int, name.split("/"))
    problem = bbob_problem(function, min(d, 20) if d < 100 else 5, seed)
    if d == 100:
        problem = planted(problem, d, random_state=function)

    def func(x):
        return float(problem.function(np.atleast_2d(x))[0]) - problem.optimum

    return func, func, problem.bounds


def make_noisy(name, seed):
    """Return a noisy function, its true values, and the bounds."""
    function = int(name)
    func = make_problem(function, seed, 100 + 37 * (function - 100) + 997 * seed)
    return func, lambda x: true_value(function, seed, x), [(-REACH, REACH)] * D


KINDS = {  # problems, what makes one, and the number of evaluations
    "functions": ([str(f) for f in FUNCTIONS], make_noisy, 50),
    "tuning": (
        ["wooldridge/cps78_85", "Stat2Data/MathPlacement", "wooldridge/meap00_01",
         "openintro/mlb_players_18", "survival/nwtco"],
        make_tuning,
        30,
    ),
    "clean": (
        [*(f"{f}/{d}" for d in (10, 20) for f in range(1, 25)), *(f"{f}/100" for f in HIDDEN)],
        make_clean,
        50,
    ),
}  # fmt: skip


def run(kind, first, end, methods):
    """Append the runs that the results lack."""
    columns = ("kind", "problem", "seed", "method")
    done = {tuple(r[c] for c in columns) for r in read_results()}
    problems, make, n_calls = KINDS[kind]
    for seed in range(int(first), int(end)):
        for problem in problems:
            for method in methods:
                place = (kind, problem, seed, method)
                if place not in done:
                    result = measure(method, *make(problem, seed), n_calls, seed)
                    row = dict(zip(columns, place, strict=True)) | result
                    row["environment"] = {"revision": read_revision()}
                    with FILE.open("a", encoding="utf-8") as file:
                        file.write(json.dumps(row) + "\n")


def measure(method, func, truth, bounds, n_calls, seed):
    """Return the true values at points that a search may recommend, and of random points."""
    low, high = np.transpose(bounds).astype(float)
    options = make_options(method, len(low))
    result = minimize(func, bounds, n_calls=n_calls, random_state=seed, **options)
    X, y = np.array(result.x_iters), np.array(result.func_vals)
    averaged = X[np.argmin(result.optimizer.predict(X).mean)]
    surrogate = make_options("evidence", len(low))["surrogate"]
    Z = 2.0 * (X - low) / (high - low) - 1.0
    refitted = X[np.argmin(surrogate.fit(Z, HalfLog()(y)).predict(Z)[0])]
    chance = [truth(x) for x in np.random.default_rng(99).uniform(low, high, (N_CHANCE, len(low)))]
    return {
        "recommended": truth(result.x_recommended),
        "observed": truth(result.x),
        "averaged": truth(averaged),
        "refitted": truth(refitted),
        "noise": round(float(np.exp(surrogate.theta_[-1])), 5),
        "chance": [float(np.mean(chance)), float(np.std(chance))],
        "digest": hashlib.sha256(X.tobytes()).hexdigest()[:16],
    }


def print_support():
    """Print how much the initial designs of noise-free functions support noise, in log units."""
    for d in (10, 20):
        support = []
        for name in (f"{f}/{d}" for f in range(1, 25)):
            func, _, bounds = make_clean(name, 1)
            optimizer = SILBO(bounds, random_state=1)
            X = optimizer.ask(optimizer.n_initial_)
            y = np.array([func(x) for x in X])
            surrogate = make_options("evidence", d)["surrogate"]
            surrogate.fit(optimizer.space_.encode(X), HalfLog()(y))
            support.append(float(surrogate.support_))
        print(d, f"{np.sum(np.array(support) > MARGIN)} of 24 above {MARGIN}", np.round(support, 1))


def read_results():
    """Return the stored results."""
    return [json.loads(line) for line in FILE.read_text().splitlines()] if FILE.exists() else []


def write_table():
    """Write the differences from the default, with standard errors clustered by problem."""
    import pandas as pd

    runs = defaultdict(dict)
    for r in read_results():
        runs[r["kind"], r["problem"], r["seed"]][r["method"]] = r
    peers = defaultdict(dict)
    for r in map(json.loads, PEERS.read_text().splitlines()):
        peers[r["method"]]["functions", str(r["function"]), r["seed"]] = r["value"]
    table = []
    for kind, method, point in CHANGES:
        pairs = {k: r for k, r in runs.items() if k[0] == kind and {"default", method} <= r.keys()}
        if not pairs:
            continue
        usual = "observed" if kind == "clean" else "recommended"
        gains = {
            k: share_of(kind, r, method, point) - share_of(kind, r, "default", usual)
            for k, r in pairs.items()
        }
        every = np.array(list(gains.values()))
        row = {"problems": kind, "search": method, "point": point, "runs": len(every)}
        row["difference"] = clustered(gains)
        row["better, worse"] = f"{(every > 0.0).sum()}, {(every < 0.0).sum()}"
        for peer in PEER_NAMES:
            won = {
                k: 0.5 + 0.5 * np.sign(peers[peer][k] - r[method][point])
                for k, r in pairs.items()
                if k in peers[peer]
            }
            row[f"share of {peer} beaten"] = clustered(won) if won else ""
        table.append(row)
    pd.DataFrame(table).to_csv(TABLES / "noise_by_evidence.csv", index=False)


def share_of(kind, runs, method, point):
    """Return the share of the gap that a search closes, at least -1.

    The gap is between the mean of random points and the best point of all searches, or the optimum.
    On tuning tasks, it is the standard deviation of random points.
    """
    mean, std = runs["default"]["chance"]
    least = 0.0 if kind == "clean" else min(r[p] for r in runs.values() for p in POINTS)
    gap = std if kind == "tuning" else mean - least
    return max((mean - runs[method][point]) / gap, -1.0)


def clustered(values):
    """Return the mean with a standard error clustered by problem, as text."""
    mean, sums = np.mean(list(values.values())), defaultdict(float)
    for (kind, problem, _), value in values.items():
        sums[problem.split("/")[0] if kind == "clean" else problem] += value - mean
    n = len(sums)
    error = np.sqrt(n / (n - 1) * sum(s**2 for s in sums.values())) / len(values)
    return f"{mean:.3f} ± {error:.3f}"


if __name__ == "__main__":
    parser = make_parser(__doc__)
    parser.add_argument("--run", nargs=3, metavar=("KIND", "FIRST", "END"))
    parser.add_argument("--methods", nargs="+", default=list(METHODS))
    parser.add_argument("--support", action="store_true")
    parser.add_argument("--table", action="store_true")
    given = parser.parse_args()
    if given.run:
        run(*given.run, given.methods)
    if given.support:
        print_support()
    if given.table:
        write_table()
