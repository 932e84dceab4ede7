"""Measure features of hyperparameter search against what could replace them.

- ``goals``: multi-objective search, Optuna's TPE and NSGA-II, and random search on ten tasks.
- ``nested``: default ranges that depend on the data inside nested estimators, and ranges that only
  know the data of the outer estimator.
- ``waiting``: workers in simulated time, with running means of times as at revision c8779a66, with
  one call waiting, and with none.

Runs are appended to results/kept.jsonl, and runs that it contains are skipped. ``report`` prints
the means of table kept.csv, whose decisions are written by hand::

    python doc/benchmarks/scripts/kept.py run goals 0 4
    python doc/benchmarks/scripts/kept.py run nested 0 3
    python doc/benchmarks/scripts/kept.py run waiting 0 20
    python doc/benchmarks/scripts/kept.py report
"""

import argparse
import heapq
import json
import math
import time
import warnings
from collections import defaultdict
from functools import cache

import numpy as np
from checkout import RESULTS
from scipy.stats import loguniform, randint, uniform
from sklearn.base import clone
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine, make_classification
from sklearn.decomposition import PCA
from sklearn.ensemble import (
    BaggingClassifier,
    BaggingRegressor,
    RandomForestClassifier,
    StackingClassifier,
    StackingRegressor,
)
from sklearn.feature_selection import SelectKBest, SelectPercentile
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import ElasticNet, Lasso, LogisticRegression, Ridge
from sklearn.metrics import (
    confusion_matrix,
    log_loss,
    mean_squared_error,
    precision_score,
    recall_score,
)
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeClassifier

from benchmarks.experiments._several_goals import PROBLEMS
from benchmarks.search.peers import import_quiet_optuna
from skbo_silbo import SILBOSearchCV, Space
from skbo_silbo.model_selection._goals import ParEGO
from skbo_silbo.space import default_ranges

OUT = RESULTS / "kept.jsonl"
N_GOALS, N_NESTED, N_PLACES = 50, 25, 50_000
CALLS = 400  # of a simulated run
COUNTED = (20, 35, 50)  # evaluations after which the dominated share is stored


# --- several goals --------------------------------------------------------------------------------


def _mean_goals(model, X, y, goals, splitter):
    return np.mean(
        [goals(model.fit(X[a], y[a]), X[b], y[b]) for a, b in splitter.split(X, y)], axis=0
    )


def _svc(p):
    def goals(model, X, y):
        found = model.predict(X)
        return 1 - precision_score(y, found, zero_division=0), 1 - recall_score(y, found)

    model = make_pipeline(StandardScaler(), SVC(**p))
    return _mean_goals(model, *load_breast_cancer(return_X_y=True), goals, StratifiedKFold(3))


def _tree(p):
    def goals(model, X, y):
        return log_loss(y, model.predict_proba(X), labels=[0, 1]), np.log2(model.get_n_leaves())

    model = DecisionTreeClassifier(**p, random_state=0)
    return _mean_goals(model, *load_breast_cancer(return_X_y=True), goals, StratifiedKFold(3))


def _elastic_net(p):
    def goals(model, X, y):
        return mean_squared_error(y, model.predict(X)) / 6000, np.mean(model[-1].coef_ != 0)

    features = PolynomialFeatures(2, include_bias=False)
    model = make_pipeline(features, StandardScaler(), ElasticNet(**p, max_iter=300))
    return _mean_goals(model, *load_diabetes(return_X_y=True), goals, KFold(3))


def _forest(p):
    def goals(model, X, y):
        n_nodes = sum(tree.tree_.node_count for tree in model.estimators_)
        return log_loss(y, model.predict_proba(X), labels=[0, 1, 2]), np.log2(n_nodes)

    model = RandomForestClassifier(**p, random_state=0)
    return _mean_goals(model, *load_wine(return_X_y=True), goals, StratifiedKFold(3))


def _class_weights(p):
    def goals(model, X, y):
        (tn, fp), (fn, tp) = confusion_matrix(y, model.predict(X))
        return fp / (fp + tn), fn / (fn + tp)

    options = {"n_informative": 4, "weights": [0.85], "flip_y": 0.05, "random_state": 1}
    model = LogisticRegression(C=p["C"], class_weight={0: 1.0, 1: p["weight"]})
    return _mean_goals(model, *make_classification(600, 12, **options), goals, StratifiedKFold(3))


CRITERION = ("list", ["gini", "entropy"])
MODELS = {  # name -> goals of parameters, and their ranges
    "svc": (_svc, {"C": ("log", 1e-3, 1e3), "gamma": ("log", 1e-5, 1e1)}),
    "tree": (
        _tree,
        {
            "max_depth": ("int", 1, 15),
            "min_samples_leaf": ("int", 1, 60),
            "ccp_alpha": ("log", 1e-5, 1e-1),
            "criterion": CRITERION,
        },
    ),
    "elastic net": (_elastic_net, {"alpha": ("log", 1e-2, 1e2), "l1_ratio": ("real", 0.05, 1.0)}),
    "forest": (
        _forest,
        {
            "n_estimators": ("int", 2, 40),
            "max_depth": ("int", 1, 12),
            "min_samples_leaf": ("int", 1, 20),
            "max_features": ("real", 0.1, 1.0),
            "criterion": CRITERION,
        },
    ),
    "class weights": (_class_weights, {"C": ("log", 1e-4, 1e3), "weight": ("log", 1e-1, 1e2)}),
}


# Least values of 200 random candidates, and their 95 % quantiles
BOXES = {
    "svc": ((0.01981753948594341, 0.0), (0.37257959714100064, 0.044817927170868334)),
    "tree": ((0.20406081865607642, 1.0), (2.0737761552857408, 3.4594316186372978)),
    "elastic net": ((0.4996823922293547, 0.0), (0.9702191022848362, 1.0)),
    "forest": ((0.20139949352723985, 2.584962500721156), (0.746607364285718, 8.55004930850518)),
    "class weights": ((0.0, 0.0), (0.996060606060606, 1.0)),
}


def _distribution(kind, *ends):
    if kind == "list":
        return ends[0]
    low, high = ends
    if kind == "int":
        return randint(low, high + 1)
    return loguniform(low, high) if kind == "log" else uniform(low, high - low)


def _suggest(trial, name, kind, *ends):
    if kind == "list":
        return trial.suggest_categorical(name, ends[0])
    if kind == "int":
        return trial.suggest_int(name, *ends)
    return trial.suggest_float(name, *ends, log=kind == "log")


@cache
def goals_task(name):
    """Return the goals, the ranges, and the box of values in which the dominated share is taken."""
    if name in PROBLEMS:
        goals, d, least, reference = PROBLEMS[name]
        ranges = {f"x{i}": ("real", 0.0, 1.0) for i in range(d)}
        return lambda p: goals(np.array([p[f"x{i}"] for i in range(d)])), ranges, least, reference
    goals, ranges = MODELS[name]
    return goals, ranges, *BOXES[name]


def run_goals(name, method, seed):
    """Return the dominated share of the box after some evaluations."""
    goals, ranges, least, reference = goals_task(name)
    if method == "silbo":
        space = Space({key: _distribution(*own) for key, own in ranges.items()})
        optimizer, Y = ParEGO(space, random_state=seed), []
        for _ in range(N_GOALS):
            point = optimizer.ask()
            Y.append(np.array(goals(point), dtype=float))
            optimizer.tell(point, Y[-1][0], goals=Y[-1])
    else:
        optuna = import_quiet_optuna()
        samplers = optuna.samplers
        sampler = {
            "random": lambda: samplers.RandomSampler(seed=seed),
            "tpe": lambda: samplers.TPESampler(seed=seed),
            "nsga-ii": lambda: samplers.NSGAIISampler(population_size=10, seed=seed),
        }[method]()
        study = optuna.create_study(directions=["minimize"] * len(least), sampler=sampler)
        for _ in range(N_GOALS):
            trial = study.ask()
            point = {key: _suggest(trial, key, *own) for key, own in ranges.items()}
            study.tell(trial, [float(value) for value in goals(point)])
        Y = [np.array(trial.values) for trial in study.trials]
    places = np.random.default_rng(0).uniform(least, reference, (N_PLACES, len(least)))
    is_dominated = [np.all(y <= places, axis=1) for y in Y]
    return {str(n): float(np.any(is_dominated[:n], axis=0).mean()) for n in COUNTED}


# --- nested estimators ----------------------------------------------------------------------------


def _every(step, load):
    X, y = load(return_X_y=True)
    return X[::step], y[::step]


CANCER, WINE = _every(3, load_breast_cancer), _every(1, load_wine)
DIABETES = _every(2, load_diabetes)
MONEY = DIABETES[0], np.exp(DIABETES[1] / 30.0) * 1e3
KERNEL = {"max_iter": 100_000}  # without this limit, some fits without ranges inside do not end


def _scaled(model):
    return make_pipeline(StandardScaler(), model)


def _log_target(model):
    return TransformedTargetRegressor(_scaled(model), func=np.log, inverse_func=np.exp)


def _stack(final, classes=True):
    if classes:
        members = [("nb", GaussianNB()), ("lr", _scaled(LogisticRegression()))]
        return StackingClassifier(members, final)
    return StackingRegressor([("r", Ridge()), ("knn", KNeighborsRegressor())], final)


PARTS = [("pca", PCA(), slice(0, 20)), ("kernel", Nystroem(random_state=0), slice(20, 30))]
FEW = [("best", SelectPercentile(), slice(0, 4)), ("pca", PCA(), slice(4, 13))]
GRID = GridSearchCV(SVC(**KERNEL), {"C": [0.1, 1.0, 10.0, 100.0]}, cv=3)
NESTED = {
    "columns, logistic": (
        make_pipeline(StandardScaler(), ColumnTransformer(PARTS), LogisticRegression()),
        CANCER,
    ),
    "columns, neighbours": (
        make_pipeline(StandardScaler(), ColumnTransformer(FEW), KNeighborsClassifier()),
        WINE,
    ),
    "stack, neighbours": (_stack(KNeighborsClassifier()), WINE),
    "stack, SVC": (_stack(SVC(**KERNEL)), CANCER),
    "stack, SVR": (_stack(SVR(**KERNEL), classes=False), DIABETES),
    "log target, Ridge": (_log_target(Ridge()), MONEY),
    "log target, Lasso": (_log_target(Lasso()), MONEY),
    "log target, SVR": (_log_target(SVR(**KERNEL)), MONEY),
    "bagged neighbours": (
        BaggingClassifier(_scaled(KNeighborsClassifier()), 5, random_state=0),
        WINE,
    ),
    "bagged SVR": (BaggingRegressor(_scaled(SVR(**KERNEL)), 5, random_state=0), DIABETES),
    "grid of SVC": (make_pipeline(StandardScaler(), SelectKBest(), GRID), CANCER),
}


def run_nested(name, method, seed):
    """Return the best score and processor time of 25 candidates, ended after 8 s."""
    inside = default_ranges._data_inside
    model, (X, y) = NESTED[name]
    if method == "without":
        default_ranges._data_inside = lambda step, name: step.data.halved()
    try:
        start = time.process_time()
        options = {"n_iter": N_NESTED, "cv": 3, "random_state": seed, "max_time": 8}
        search = SILBOSearchCV(clone(model), **options).fit(X, y)
        seconds = time.process_time() - start
    finally:
        default_ranges._data_inside = inside
    scores = search.cv_results_["mean_test_score"]
    return {"best": float(np.nanmax(scores)), "n": len(scores), "seconds": seconds}


# --- waiting calls --------------------------------------------------------------------------------


class RunningMeans:
    """Number of waiting calls from running means of times, as the library had it."""

    def __init__(self):
        self.proposing = self.calling = None

    def note_proposal(self, seconds):
        """Record how long a proposal took; a slow one counts at once."""
        before = seconds if self.proposing is None else self.proposing
        self.proposing = max(seconds, 0.7 * before + 0.3 * seconds)

    def note_call(self, seconds):
        """Record how long a call took."""
        before = seconds if self.calling is None else self.calling
        self.calling = 0.7 * before + 0.3 * seconds

    def n_ahead(self, n_workers):
        """Return how many calls end during a proposal."""
        if self.calling is None or self.proposing is None:
            return 1
        n_ending = n_workers * self.proposing / self.calling
        return 0 if n_ending < 0.05 else min(math.ceil(n_ending), n_workers)


class Constant:
    """A constant number of waiting calls."""

    def __init__(self, n):
        self.n = n

    def note_proposal(self, seconds):
        """Ignore the time."""

    def note_call(self, seconds):
        """Ignore the time."""

    def n_ahead(self, n_workers):
        """Return the constant."""
        return self.n


RULES = {"means": RunningMeans, "one": lambda: Constant(1), "none": lambda: Constant(0)}
CELLS = {f"{n} workers, {ratio}": (n, ratio) for n in (4, 16) for ratio in (0.01, 0.03, 0.1, 0.3)}


def run_waiting(name, method, seed):
    """Return the idle share of workers; calls take .4 to 1.6 s, a proposal a share of a second.

    Every tenth proposal takes five times as long as the others.
    """
    (n_workers, ratio), rule, rng = CELLS[name], RULES[method](), np.random.default_rng(seed)
    proposals = np.where(np.arange(CALLS) % 10 == 0, 5.0, 1.0)
    proposals *= ratio / proposals.mean()
    seconds = rng.uniform(0.4, 1.6, CALLS)
    now, first, busy, n_begun, n_done, running, waiting = 0.0, None, 0.0, 0, 0, [], []

    def end_one():
        nonlocal n_done, busy
        end, took = heapq.heappop(running)
        n_done += 1
        rule.note_call(took)
        if waiting:  # the worker takes it at once
            busy += waiting[0]
            heapq.heappush(running, (end + waiting[0], waiting.pop(0)))

    while n_done < CALLS:
        while running and running[0][0] <= now:
            end_one()
        n_open = len(running) + len(waiting)
        if n_begun < CALLS and n_open < n_workers + rule.n_ahead(n_workers):
            now += proposals[n_begun]
            while running and running[0][0] <= now and waiting:
                end_one()
            rule.note_proposal(proposals[n_begun])
            took, n_begun = seconds[n_begun], n_begun + 1
            if sum(end > now for end, _ in running) < n_workers:
                first = now if first is None else first
                busy += took
                heapq.heappush(running, (now + took, took))
            else:
                waiting.append(took)
        elif running:
            now = max(now, running[0][0])
    return {"idle": float(1 - busy / (n_workers * (now - first)))}


# --- command line ---------------------------------------------------------------------------------

KINDS = {
    "goals": (run_goals, [*PROBLEMS, *MODELS], ("random", "nsga-ii", "tpe", "silbo")),
    "nested": (run_nested, [*NESTED], ("with", "without")),
    "waiting": (run_waiting, [*CELLS], tuple(RULES)),
}


def read_rows():
    """Return the stored runs."""
    return [json.loads(line) for line in OUT.read_text().splitlines()] if OUT.exists() else []


def run(kind, first, end):
    """Make the missing runs of a measurement for a range of seeds."""
    measure, tasks, methods = KINDS[kind]
    done = {(r["kind"], r["task"], r["method"], r["seed"]) for r in read_rows()}
    cells = [(t, m, s) for s in range(first, end) for t in tasks for m in methods]
    for task, method, seed in cells:
        if (kind, task, method, seed) in done:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # models do not converge, and some fits fail
            found = measure(task, method, seed)
        row = {"kind": kind, "task": task, "method": method, "seed": seed, **found}
        with OUT.open("a") as file:
            file.write(json.dumps(row) + "\n")


def report():
    """Print the mean of every quantity and its standard error over seeds."""
    values = defaultdict(list)
    for row in read_rows():
        own = {k: v for k, v in row.items() if k not in ("kind", "task", "method", "seed")}
        for name, value in own.items():
            values[row["kind"], row["task"], row["method"], name].append(value)
    for key, own in values.items():
        error = np.std(own, ddof=1) / np.sqrt(len(own)) if len(own) > 1 else math.nan
        print(*key, f"{np.mean(own):.3f} ({error:.3f})", len(own), sep="  ")


def main():
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("run", help="make the missing runs")
    command.add_argument("kind", choices=KINDS)
    command.add_argument("first", type=int, help="first seed")
    command.add_argument("end", type=int, help="end of the seeds, excluded")
    commands.add_parser("report", help="print the means")
    options = parser.parse_args()
    if options.command == "run":
        run(options.kind, options.first, options.end)
    else:
        report()


if __name__ == "__main__":
    main()
