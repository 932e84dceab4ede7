"""Voting ensembles of the best candidates next to the best candidate, on held-out rows.

``PYTHONPATH=.:doc python doc/benchmarks/experiments/ensembles.py FILE`` appends a CSV line per
task, seed and ensemble size to FILE, and prints the mean relative reduction of the loss with its
standard error, clustered by data set. A line that FILE has already is not computed again.
``ensembles.csv`` has all runs with nearest neighbours, and the first few with trees and boosting.

The data sets and models were fixed before any of these ensembles was fitted, and no default was
chosen on them. The search sees 250 training rows; the loss is log loss for classes and the mean
squared error for numbers, on up to 1,000 other rows.
"""

import csv
import sys
import warnings
from pathlib import Path

import numpy as np
from sklearn import datasets
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from sklearn.metrics import log_loss, mean_squared_error
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skbo_silbo import SILBOSearchCV

SIZES, SEEDS, N_ITER, N_TRAIN, N_TEST = (3, 5, 10), (0, 1), 20, 250, 1000
FIELDS = ["data", "model", "seed", "n", "loss_best", "loss_ensemble"]


def classification(seed, **kind):
    return datasets.make_classification(1500, random_state=seed, **kind)


CLASSES = {
    "breast_cancer": lambda: datasets.load_breast_cancer(return_X_y=True),
    "digits": lambda: datasets.load_digits(return_X_y=True),
    "hastie": lambda: datasets.make_hastie_10_2(1500, random_state=1),
    "moons": lambda: datasets.make_moons(1500, noise=0.3, random_state=1),
    "planted_20": lambda: classification(3, n_features=20, n_informative=8, flip_y=0.1),
    "planted_60": lambda: classification(4, n_features=60, n_informative=6, n_classes=3),
    "quantiles": lambda: datasets.make_gaussian_quantiles(
        n_samples=1500, n_features=6, n_classes=3, random_state=1
    ),
}
NUMBERS = {
    "diabetes": lambda: datasets.load_diabetes(return_X_y=True),
    "friedman1": lambda: datasets.make_friedman1(1500, noise=1.0, random_state=1),
    "friedman2": lambda: datasets.make_friedman2(1500, noise=100.0, random_state=1),
    "friedman3": lambda: datasets.make_friedman3(1500, noise=0.1, random_state=1),
    "sparse": lambda: datasets.make_sparse_uncorrelated(1500, random_state=1),
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


def losses(data, model, seed):
    """Return the loss of the best candidate, and of the ensemble of every size."""
    is_class = data in CLASSES
    X, y = (CLASSES if is_class else NUMBERS)[data]()
    parts = train_test_split(
        X,
        y,
        train_size=min(N_TRAIN, len(y) // 2),
        random_state=seed,
        stratify=y if is_class else None,
    )
    X, X_test, y, y_test = parts[0], parts[1][:N_TEST], parts[2], parts[3][:N_TEST]
    estimator = MODELS[model][0 if is_class else 1]
    search = SILBOSearchCV(
        estimator,
        n_iter=N_ITER,
        cv=3,
        scoring="neg_log_loss" if is_class else "neg_mean_squared_error",
        random_state=seed,
    ).fit(X, y)

    def loss(fitted):
        if is_class:
            return log_loss(y_test, fitted.predict_proba(X_test), labels=fitted.classes_)
        return mean_squared_error(y_test, fitted.predict(X_test))

    return loss(search.best_estimator_), {n: loss(search.ensemble(X, y, n=n)) for n in SIZES}


def run(path):
    """Append the lines that are missing."""
    done = {(r["data"], r["model"], r["seed"]) for r in read(path)}
    for seed in SEEDS:
        for model in MODELS:
            for data in [*CLASSES, *NUMBERS]:
                if (data, model, str(seed)) in done:
                    continue
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    best, ensembles = losses(data, model, seed)
                is_new = not path.exists()
                with path.open("a", newline="") as file:
                    writer = csv.writer(file, lineterminator="\n")
                    if is_new:
                        writer.writerow(FIELDS)
                    for n, value in ensembles.items():
                        writer.writerow([data, model, seed, n, f"{best:.6g}", f"{value:.6g}"])


def read(path):
    """Return the lines of the file, dicts."""
    return list(csv.DictReader(path.open())) if path.exists() else []


def report(rows):
    """Print the reduction of the loss in per cent for every size, over all models and for each."""
    for model in ["all", *MODELS]:
        for n in SIZES:
            mine = [r for r in rows if int(r["n"]) == n and model in ("all", r["model"])]
            if not mine:
                continue
            gains = [100 * (1 - float(r["loss_ensemble"]) / float(r["loss_best"])) for r in mine]
            by_data = {}
            for row, gain in zip(mine, gains, strict=True):
                by_data.setdefault(row["data"], []).append(gain)
            means = np.array([np.mean(values) for values in by_data.values()])
            error = means.std(ddof=1) / np.sqrt(len(means)) if len(means) > 1 else np.nan
            wins = sum(gain > 0 for gain in gains)
            print(
                f"{model:10} n={n:2}: {means.mean():.2f} % ({error:.2f}) less loss, "
                f"lower in {wins} of {len(gains)}, {len(means)} data sets"
            )


if __name__ == "__main__":
    target = Path(sys.argv[1])
    run(target)
    report(read(target))
