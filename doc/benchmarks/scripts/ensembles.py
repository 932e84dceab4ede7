"""Final models of a finished search, and what its best score promises, on rows it has not seen.

::

    python doc/benchmarks/scripts/ensembles.py run SECONDS  # of CPU time; resumes
    python doc/benchmarks/scripts/ensembles.py report       # tables/ensembles.csv
    python doc/benchmarks/scripts/ensembles.py estimates    # tables/ensembles-estimates.csv

The tasks, six families of models on five tables each, and the rule were fixed before the runs:
``ensemble`` selects greedily if greedy selection with at most five members lowers the loss on other
rows by more than the mean of the ten best candidates, by one standard error over the tables.

Each search has 25 candidates and three folds. The loss is log loss for classes and the mean squared
error for numbers, on up to 2,000 other rows. "best" is the best candidate, "n best" the mean
prediction of the n best distinct ones, as `SILBOSearchCV.ensemble` makes it. "greedy n" has at most
n members: each of 20 steps adds the candidate, perhaps again, that lowers the loss of the mean of
the predictions that cross-validation made most, and the step with the lowest loss counts (Caruana
et al., 2004). All are fitted to all training rows.

The best score is too good because it is the best of many. Bootstrap bias corrected cross-validation
(Tsamardinos et al., 2018) chooses the best candidate on the rows of a bootstrap sample of the same
predictions, and takes its loss on the rows that are not in the sample, on average over samples.
"""

import json
import time
import warnings
from collections import defaultdict
from functools import partial

import lightgbm
import numpy as np
from checkout import RESULTS, make_parser
from known_data import JUDGED, LARGER, R_DATA, REGRESSION, keel, r_data
from scipy.stats import sem
from sklearn.base import clone
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import ElasticNet, LogisticRegression
from sklearn.model_selection import KFold, StratifiedKFold, train_test_split
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR

from skbo_silbo import SILBOSearchCV
from skbo_silbo.model_selection._final_models import best_rows

FILE = RESULTS / "ensembles.jsonl"
N_ITER, N_FOLDS, MOST_OTHERS = 25, 3, 2000
N_STEPS, N_BOOTSTRAP = 20, 500
DRAWS = (0, 1)  # of the training rows
COLUMNS = REGRESSION | R_DATA["small"] | R_DATA["large"]
COLUMNS |= {
    data: columns
    for sets in (JUDGED, LARGER)
    for own in sets.values()
    for data, columns in own.items()
}
MODELS = {
    "LightGBM": (
        lightgbm.LGBMClassifier(n_jobs=1, verbose=-1, random_state=0),
        lightgbm.LGBMRegressor(n_jobs=1, verbose=-1, random_state=0),
    ),
    "histogram boosting": (
        HistGradientBoostingClassifier(random_state=0),
        HistGradientBoostingRegressor(random_state=0),
    ),
    "random forest": (
        RandomForestClassifier(50, random_state=0),
        RandomForestRegressor(50, random_state=0),
    ),
    "SVR": (None, make_pipeline(StandardScaler(), SVR(cache_size=500, max_iter=100_000))),
    "nearest neighbours": (
        make_pipeline(StandardScaler(), KNeighborsClassifier()),
        make_pipeline(StandardScaler(), KNeighborsRegressor()),
    ),
    "linear": (
        make_pipeline(StandardScaler(), LogisticRegression()),
        make_pipeline(StandardScaler(), ElasticNet()),
    ),
}
TASKS = {  # tables and training rows; the last ones are the largest
    "SVR": {
        "ISLR/Wage": 300,
        "wooldridge/card": 300,
        "plm/RiceFarms": 300,
        "Ecdat/Computers": 1000,
        "carData/SLID": 1500,
    },
    "nearest neighbours": {
        "magic": 300,
        "vowel": 500,
        "wooldridge/hprice2": 300,
        "ring": 1000,
        "modeldata/deliveries": 5000,
    },
    "linear": {
        "spambase": 300,
        "AER/CPS1985": 300,
        "Ecdat/Crime": 300,
        "penbased": 500,
        "modeldata/mlc_churn": 1000,
    },
    "LightGBM": {
        "vehicle": 300,
        "modeldata/concrete": 300,
        "modeldata/wa_churn": 1000,
        "ggplot2/diamonds": 1000,
        "phoneme": 3000,
    },
    "random forest": {
        "modeldata/cells": 300,
        "wooldridge/loanapp": 300,
        "openintro/bdims": 300,
        "satimage": 1000,
        "modeldata/hotel_rates": 3000,
    },
    "histogram boosting": {
        "german": 300,
        "ISLR/College": 300,
        "contraceptive": 500,
        "mosaicData/SaratogaHouses": 1000,
        "AER/HMDA": 1500,
    },
}
ENSEMBLES = ("best", "5 best", "10 best", "greedy 5", "greedy 10")


class Recorder:
    """A scorer, minus the mean loss of a row, that keeps the predictions of every call."""

    def __init__(self):
        self.predictions = []

    def __call__(self, model, X, y):
        self.predictions.append(predict(model, X))
        return -row_losses(self.predictions[-1], y).mean()


def predict(model, X):
    """Return probabilities, (n, n_classes), or numbers, (n,)."""
    return model.predict_proba(X) if hasattr(model, "predict_proba") else model.predict(X)


def row_losses(predicted, y):
    """Return log losses or squared errors, (..., n), of predictions, (..., n) or (..., n, k)."""
    if y.dtype.kind == "f":
        return (predicted - y) ** 2
    own = predicted[..., np.arange(len(y)), y] / predicted.sum(axis=-1)
    return -np.log(np.clip(own, np.finfo(float).eps, 1.0))


def measure(family, data, n_rows, draw):
    """Return losses and numbers of members of the final models, and estimates of the best one."""
    X, y = r_data(data, *COLUMNS[data]) if "/" in data else keel(data)
    is_class = y.dtype.kind != "f"
    stratify = y if is_class else None
    X, X_test, y, y_test = train_test_split(
        X, y, train_size=n_rows, random_state=draw, stratify=stratify
    )
    X_test, y_test = X_test[:MOST_OTHERS], y_test[:MOST_OTHERS]
    splitter = (StratifiedKFold if is_class else KFold)(N_FOLDS, shuffle=True, random_state=draw)
    folds, recorder = list(splitter.split(X, y)), Recorder()
    model = MODELS[family][0 if is_class else 1]
    search = SILBOSearchCV(
        model, n_iter=N_ITER, cv=folds, scoring=recorder, refit=False, random_state=draw
    ).fit(X, y)
    own = out_of_fold(recorder.predictions, folds, search, y)
    table = search.cv_results_["params"]
    rows = best_rows(search)
    test = {
        i: predict(clone(model).set_params(**clone(table[i], safe=False)).fit(X, y), X_test)
        for i in dict.fromkeys([0, *rows])
    }
    weights = {"best": {rows[0]: 1}} | {f"{n} best": dict.fromkeys(rows[:n], 1) for n in (5, 10)}
    weights |= {f"greedy {n}": greedy(own, y, rows, n) for n in (5, 10)}
    scores = search.cv_results_["mean_test_score"]
    mean_loss = {i: row_losses(test[i], y_test).mean() for i in test}
    return {
        "losses": {name: float(f"{_loss(test, y_test, w):.6g}") for name, w in weights.items()},
        "members": {name: len(w) for name, w in weights.items()},
        "estimates": {
            "best score": float(f"{-scores[rows[0]]:.6g}"),
            "corrected": float(f"{corrected(row_losses(own[rows], y)):.6g}"),
            "untuned score": float(f"{-scores[0]:.6g}"),
            "untuned, other rows": float(f"{mean_loss[0]:.6g}"),
        },
    }


def out_of_fold(predictions, folds, search, y):
    """Return predictions of all rows by every candidate, (n_candidates, n) or (..., n_classes)."""
    found = []
    for i in range(0, len(predictions), N_FOLDS):
        every = np.empty((len(y), *predictions[i].shape[1:]))
        for j, (_, rows) in enumerate(folds):
            every[rows] = predictions[i + j]
            score = search.cv_results_[f"split{j}_test_score"][i // N_FOLDS]
            if not np.isclose(score, -row_losses(predictions[i + j], y[rows]).mean()):
                raise ValueError("The predictions are not in the order of the candidates.")
        found.append(every)
    return np.array(found)


def greedy(own, y, rows, most):
    """Return the weights of a greedy selection, a dict by candidate."""
    chosen, losses = [], []
    for _ in range(N_STEPS):
        open_to = rows if len(set(chosen)) < most else list(dict.fromkeys(chosen))
        total = own[chosen].sum(axis=0)
        means = (total + own[open_to]) / (len(chosen) + 1)
        found = row_losses(means, y).mean(axis=1)
        chosen.append(open_to[int(np.argmin(found))])
        losses.append(found.min())
    kept = chosen[: int(np.argmin(losses)) + 1]
    return {i: kept.count(i) for i in dict.fromkeys(kept)}


def _loss(test, y_test, weights):
    mean = sum(w * test[i] for i, w in weights.items()) / sum(weights.values())
    return row_losses(mean, y_test).mean()


def corrected(losses):
    """Return the loss of the best candidate, corrected for the choice; `losses` is (m, n)."""
    rng, found, n = np.random.default_rng(0), [], losses.shape[1]
    for _ in range(N_BOOTSTRAP):
        counts = np.bincount(rng.integers(n, size=n), minlength=n)
        best = int(np.argmin(losses @ counts))
        found.append(losses[best, counts == 0].mean())
    return np.mean(found)


def run(seconds):
    """Measure what is missing until so many seconds of CPU are used."""
    end = time.process_time() + seconds
    done = {(r["family"], r["data"], r["draw"]) for r in read()}
    for draw in DRAWS:
        for family, tables in TASKS.items():
            for data, n_rows in tables.items():
                if (family, data, draw) in done or time.process_time() > end:
                    continue
                start = time.process_time()
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    found = measure(family, data, n_rows, draw)
                row = {"family": family, "data": data, "draw": draw, "rows": n_rows, **found}
                row["seconds"] = round(time.process_time() - start)
                with FILE.open("a") as file:
                    file.write(json.dumps(row, separators=(",", ":")) + "\n")


def read():
    return [json.loads(line) for line in FILE.open()] if FILE.exists() else []


# --- report --------------------------------------------------------------------------------------


def parts(rows):
    """Return the rows of all tasks, of every family, and of small and larger tables."""
    found = {"all": rows} | {f: [r for r in rows if r["family"] == f] for f in MODELS}
    found["300 to 500 samples"] = [r for r in rows if r["rows"] <= 500]
    found["1,000 to 5,000 samples"] = [r for r in rows if r["rows"] > 500]
    return {part: own for part, own in found.items() if own}


def by_table(rows, value):
    """Return the mean of a value over the draws of every table, (n_tables,)."""
    found = defaultdict(list)
    for row in rows:
        found[row["data"]].append(value(row))
    return np.array([np.mean(values) for values in found.values()])


def reduction(name, other="best"):
    """Return a function of a row: per cent less loss than the best candidate, less another's."""

    def value(row):
        losses = row["losses"]
        return 100.0 * (losses[other] - losses[name]) / losses["best"]

    return value


def report():
    """Print the reduction of the loss by every final model, and greedy selection against ten."""
    names = ",".join(ENSEMBLES[1:])
    print(f"tasks,tables,{names},greedy 5 - 10 best,its median,won,lost,members of greedy 5")
    for part, rows in parts(read()).items():
        cells = [_cell(by_table(rows, reduction(name))) for name in ENSEMBLES[1:]]
        ahead = by_table(rows, reduction("greedy 5", "10 best"))
        members = by_table(rows, lambda row: row["members"]["greedy 5"]).mean()
        cells += [_cell(ahead), f"{np.median(ahead):+.2f}", (ahead > 0).sum(), (ahead < 0).sum()]
        print(part, len(ahead), *cells, f"{members:.1f}", sep=",")


def _cell(values):
    return f"{values.mean():+.2f} ({sem(values):.2f})"


def estimates():
    """Print by how much estimates of the loss are below the loss on other rows, in per cent."""
    columns = {
        "untuned model": lambda e, losses: (e["untuned score"], e["untuned, other rows"]),
        "best score": lambda e, losses: (e["best score"], losses["best"]),
        "corrected": lambda e, losses: (e["corrected"], losses["best"]),
    }
    print("tasks,tables", *columns, *(f"{name}: median" for name in columns), sep=",")
    for part, rows in parts(read()).items():
        found = [by_table(rows, partial(_optimism, of)) for of in columns.values()]
        cells = [_cell(own) for own in found] + [f"{np.median(own):+.2f}" for own in found]
        print(part, len(found[0]), *cells, sep=",")


def _optimism(of, row):
    estimate, actual = of(row["estimates"], row["losses"])
    return 100.0 * (1.0 - estimate / actual)


if __name__ == "__main__":
    parser = make_parser(__doc__)
    parser.add_argument("command", choices=["run", "report", "estimates"])
    parser.add_argument("seconds", type=float, nargs="?", default=0, help="for run")
    options = parser.parse_args()
    commands = {"report": report, "estimates": estimates}
    run(options.seconds) if options.command == "run" else commands[options.command]()
