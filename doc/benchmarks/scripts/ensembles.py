"""Voting ensembles of the best candidates next to the best candidate, on held-out rows.

``python doc/benchmarks/scripts/ensembles.py run`` appends a line per task,
seed, number of training rows and ensemble to ensembles.csv. ``report`` prints the mean relative
reduction of the loss with its standard error, clustered by data set. A line that the file has
already is not computed again.

The data sets and models were fixed before any of these ensembles was fitted, and no default was
chosen on them. The search sees 250 or 2,000 training rows; the loss is log loss for classes and the
mean squared error for numbers, on up to 1,000 other rows. An ensemble is the mean prediction of the
best 3, 5, 10 or 20 candidates. "greedy" has ten members of the best 20 candidates: each one lowers
the loss of cross-validated predictions most, and may be chosen again (Caruana et al., 2004).
"""

import argparse
import csv
import time
import warnings
from collections import defaultdict
from itertools import product

import numpy as np
from checkout import TABLES
from scipy.stats import sem
from sklearn import datasets
from sklearn.base import clone
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from sklearn.metrics import log_loss, mean_squared_error
from sklearn.model_selection import cross_val_predict, train_test_split
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skbo_silbo import SILBOSearchCV
from skbo_silbo.model_selection._final_models import best_rows

TABLE = TABLES / "ensembles.csv"
SIZES, N_POOL, N_GREEDY = (3, 5, 10, 20), 20, 10
N_ITER, N_TEST, N_ALL = 25, 1000, 3000
RUNS = ((250, 0), (2000, 0), (250, 1))  # training rows, seed
FIELDS = ["data", "model", "seed", "rows", "ensemble", "loss_best", "loss_ensemble"]


def classification(seed, **kind):
    return datasets.make_classification(N_ALL, random_state=seed, **kind)


CLASSES = {
    "breast_cancer": lambda: datasets.load_breast_cancer(return_X_y=True),
    "digits": lambda: datasets.load_digits(return_X_y=True),
    "hastie": lambda: datasets.make_hastie_10_2(N_ALL, random_state=1),
    "moons": lambda: datasets.make_moons(N_ALL, noise=0.3, random_state=1),
    "planted_20": lambda: classification(3, n_features=20, n_informative=8, flip_y=0.1),
    "planted_60": lambda: classification(4, n_features=60, n_informative=6, n_classes=3),
    "quantiles": lambda: datasets.make_gaussian_quantiles(
        n_samples=N_ALL, n_features=6, n_classes=3, random_state=1
    ),
}
NUMBERS = {
    "diabetes": lambda: datasets.load_diabetes(return_X_y=True),
    "friedman1": lambda: datasets.make_friedman1(N_ALL, noise=1.0, random_state=1),
    "friedman2": lambda: datasets.make_friedman2(N_ALL, noise=100.0, random_state=1),
    "friedman3": lambda: datasets.make_friedman3(N_ALL, noise=0.1, random_state=1),
    "sparse": lambda: datasets.make_sparse_uncorrelated(N_ALL, random_state=1),
}
MODELS = {
    "neighbours": (
        make_pipeline(StandardScaler(), KNeighborsClassifier()),
        make_pipeline(StandardScaler(), KNeighborsRegressor()),
    ),
    "trees": (
        ExtraTreesClassifier(50, random_state=0),
        ExtraTreesRegressor(50, random_state=0),
    ),
    "boosting": (
        HistGradientBoostingClassifier(max_iter=40, random_state=0),
        HistGradientBoostingRegressor(max_iter=40, random_state=0),
    ),
}


def losses(data, model, n_rows, seed):
    """Return the loss of the best candidate, and a dict with the loss of every ensemble."""
    is_class = data in CLASSES
    X, y = (CLASSES if is_class else NUMBERS)[data]()
    if len(y) < n_rows + N_TEST and n_rows > min(n for n, _ in RUNS):
        return None
    parts = train_test_split(
        X,
        y,
        train_size=min(n_rows, len(y) // 2),
        random_state=seed,
        stratify=y if is_class else None,
    )
    X, X_test, y, y_test = parts[0], parts[1][:N_TEST], parts[2], parts[3][:N_TEST]
    scoring = "neg_log_loss" if is_class else "neg_mean_squared_error"
    estimator = MODELS[model][0 if is_class else 1]
    search = SILBOSearchCV(estimator, n_iter=N_ITER, cv=3, scoring=scoring, random_state=seed).fit(
        X, y
    )
    n = min(N_POOL, len(best_rows(search)))
    members = search.ensemble(X, y, n=n).estimators_
    predict = "predict_proba" if is_class else "predict"
    test = np.array([getattr(member, predict)(X_test) for member in members])
    own = np.array([cross_val_predict(clone(m), X, y, cv=3, method=predict) for m in members])
    loss = log_loss if is_class else mean_squared_error
    chosen = greedy(own, y, loss)
    found = {str(size): loss(y_test, test[:size].mean(axis=0)) for size in SIZES if size <= n}
    return loss(y_test, test[0]), found | {"greedy": loss(y_test, test[chosen].mean(axis=0))}


def greedy(predictions, y, loss):
    """Return members in the order of choice: each one lowers the loss of the mean most."""
    chosen = []
    while len(chosen) < N_GREEDY:
        means = [predictions[[*chosen, i]].mean(axis=0) for i in range(len(predictions))]
        chosen.append(int(np.argmin([loss(y, mean) for mean in means])))
    return chosen


def run():
    """Append the lines that are missing."""
    done = {(r["data"], r["model"], int(r["rows"]), int(r["seed"])) for r in read()}
    for n_rows, seed in RUNS:
        for model, data in product(MODELS, [*CLASSES, *NUMBERS]):
            if (data, model, n_rows, seed) in done:
                continue
            start = time.process_time()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                result = losses(data, model, n_rows, seed)
            if result is None:
                continue
            print(data, model, n_rows, seed, round(time.process_time() - start), flush=True)
            is_new = not TABLE.exists()
            with TABLE.open("a", newline="") as file:
                writer = csv.writer(file, lineterminator="\n")
                writer.writerows([FIELDS] if is_new else [])
                for name, value in result[1].items():
                    row = [data, model, seed, n_rows, name, f"{result[0]:.6g}", f"{value:.6g}"]
                    writer.writerow(row)


def read():
    """Return the lines of the file, dicts."""
    return list(csv.DictReader(TABLE.open())) if TABLE.exists() else []


def report():
    """Print the reduction of the loss in per cent for every ensemble, in all runs and in parts."""
    rows = read()
    parts = {"all": rows}
    parts |= {model: [r for r in rows if r["model"] == model] for model in MODELS}
    sizes = sorted({n for n, _ in RUNS})
    parts |= {f"{n} rows": [r for r in rows if int(r["rows"]) == n] for n in sizes}
    for part, own in parts.items():
        for name in dict.fromkeys(r["ensemble"] for r in own):
            gains = defaultdict(list)
            for r in own:
                if r["ensemble"] == name:
                    gain = 100 * (1 - float(r["loss_ensemble"]) / float(r["loss_best"]))
                    gains[r["data"]].append(gain)
            means = [np.mean(values) for values in gains.values()]
            every = np.concatenate(list(gains.values()))
            print(
                f"{part:10} {name:6} {np.mean(means):.2f} % ({sem(means):.2f}) less loss, "
                f"lower in {(every > 0).sum()} of {len(every)}, {len(means)} data sets"
            )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("command", choices=["run", "report"])
    run() if parser.parse_args().command == "run" else report()
