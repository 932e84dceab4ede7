"""Whether known candidates help in hand-written search spaces: "known" against "current".

::

    python doc/benchmarks/known_own_space.py run       # resumes where it stopped
    python doc/benchmarks/known_own_space.py report

Each task is a model, a space of the kind that users write, with categories, and a data set of
``known_data.JUDGED``: 300 rows and three folds, area under the curve or R2. Known candidates are
clipped to, or completed for, these spaces.
"""

import json
import sys
import warnings
from pathlib import Path

import numpy as np
from known_data import JUDGED, r_data
from scipy.stats import loguniform, randint, uniform
from sklearn import ensemble, linear_model, neighbors, svm, tree
from sklearn.model_selection import RandomizedSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from skbo_silbo import SILBOSearchCV

RESULTS = Path(__file__).with_suffix(".jsonl")
ROWS, N_RANDOM, SEEDS, SIZES = 300, 30, (0, 1), (10, 20)
SCALERS = [StandardScaler(), MinMaxScaler(), "passthrough"]
FOREST = {"n_estimators": 25, "random_state": 0}


def _forest(weights):
    return {
        "max_depth": [None, 2, 4, 8, 16],
        "min_samples_leaf": randint(1, 20),
        "min_samples_split": randint(2, 20),
        "max_features": ["sqrt", "log2", None, 0.5],
        "bootstrap": [True, False],
        **weights,
    }


GAMMAS = ["scale", 0.001, 0.01, 0.1, 1.0]
BALANCED = {"class_weight": [None, "balanced"]}
BOOSTING = {
    "learning_rate": loguniform(0.01, 0.3),
    "max_iter": [25, 50, 100],
    "max_leaf_nodes": [7, 15, 31],
    "max_depth": [None, 3, 6],
    "l2_regularization": [0.0, 0.1, 1.0],
}
NEIGHBORS = {
    "standardscaler": SCALERS,
    "model__n_neighbors": randint(1, 51),
    "model__weights": ["uniform", "distance"],
    "model__metric": ["euclidean", "manhattan", "chebyshev"],
}
TREE = {
    "max_depth": [None, 2, 4, 8, 16],
    "min_samples_leaf": randint(1, 30),
    "max_features": ["sqrt", None],
    "splitter": ["best", "random"],
}
SPACES = {  # by kind and name: model and space
    "classification": {
        "extra trees": (
            ensemble.ExtraTreesClassifier(**FOREST),
            _forest(BALANCED) | {"criterion": ["gini", "entropy"]},
        ),
        "forest": (ensemble.RandomForestClassifier(**FOREST), _forest(BALANCED)),
        "SVC grid": (
            svm.SVC(),
            {"C": [0.1, 1, 10, 100], "gamma": GAMMAS, "kernel": ["rbf", "poly", "sigmoid"]},
        ),
        "SVC": (
            svm.SVC(),
            {
                "standardscaler": SCALERS,
                "model__C": loguniform(1e-2, 1e3),
                "model__gamma": loguniform(1e-4, 1e1),
                "model__class_weight": [None, "balanced"],
            },
        ),
        "neighbours": (neighbors.KNeighborsClassifier(), NEIGHBORS),
        "tree": (
            tree.DecisionTreeClassifier(random_state=0),
            TREE | BALANCED | {"criterion": ["gini", "entropy", "log_loss"]},
        ),
        "boosting": (
            ensemble.HistGradientBoostingClassifier(random_state=0),
            BOOSTING | BALANCED,
        ),
        "logistic": (
            linear_model.LogisticRegression(max_iter=500),
            {
                "standardscaler": SCALERS,
                "model__C": loguniform(1e-3, 1e3),
                "model__class_weight": [None, "balanced"],
                "model__fit_intercept": [True, False],
            },
        ),
        "SGD": (
            linear_model.SGDClassifier(random_state=0),
            {
                "loss": ["hinge", "log_loss", "squared_hinge", "modified_huber"],
                "penalty": ["l2", "l1", "elasticnet"],
                "alpha": loguniform(1e-6, 1e-1),
                "learning_rate": ["optimal", "adaptive"],
                "eta0": loguniform(1e-3, 1.0),
            },
        ),
    },
    "regression": {
        "extra trees": (
            ensemble.ExtraTreesRegressor(**FOREST),
            _forest({"criterion": ["squared_error", "friedman_mse"]}),
        ),
        "forest": (ensemble.RandomForestRegressor(**FOREST), _forest({})),
        "SVR grid": (
            svm.SVR(),
            {
                "C": [0.1, 1, 10, 100],
                "gamma": GAMMAS,
                "kernel": ["rbf", "poly", "sigmoid"],
                "epsilon": [0.01, 0.1, 0.5],
            },
        ),
        "SVR": (
            svm.SVR(),
            {
                "standardscaler": SCALERS,
                "model__C": loguniform(1e-2, 1e3),
                "model__gamma": loguniform(1e-4, 1e1),
                "model__shrinking": [True, False],
            },
        ),
        "neighbours": (neighbors.KNeighborsRegressor(), NEIGHBORS),
        "tree": (
            tree.DecisionTreeRegressor(random_state=0),
            TREE | {"criterion": ["squared_error", "friedman_mse"]},
        ),
        "boosting": (
            ensemble.HistGradientBoostingRegressor(random_state=0),
            BOOSTING | {"loss": ["squared_error", "absolute_error"]},
        ),
        "elastic net": (
            linear_model.ElasticNet(),
            {
                "standardscaler": SCALERS,
                "model__alpha": loguniform(1e-4, 1.0),
                "model__l1_ratio": uniform(0, 1),
                "model__selection": ["cyclic", "random"],
            },
        ),
    },
}


def run():
    """Write the missing tasks: the n-th model gets the n-th data set, twice."""
    done = {(r["kind"], r["model"], r["data"]) for r in read()}
    pairs = []
    for kind, models in SPACES.items():
        sets = list(JUDGED[kind])
        pairs += [(i, kind, m, sets[i % len(sets)]) for i, m in enumerate([*models, *models])]
    for _, kind, model, data in sorted(pairs, key=lambda pair: pair[0]):
        if (kind, model, data) not in done:
            row = {"kind": kind, "model": model, "data": data} | _measure(kind, model, data)
            with RESULTS.open("a") as file:
                file.write(json.dumps(row, separators=(",", ":")) + "\n")


def _measure(kind, name, data):
    model, space = SPACES[kind][name]
    X, y = r_data(data, *JUDGED[kind][data])
    rows = np.random.default_rng(0).permutation(len(y))[:ROWS]
    steps = make_pipeline(StandardScaler(), model)
    steps.steps[-1] = ("model", model)
    is_full = any(name.startswith("model__") for name in space)
    space = space if is_full else {f"model__{n}": values for n, values in space.items()}
    options = {"scoring": "roc_auc" if kind == "classification" else "r2", "cv": 3, "refit": False}
    found = {}
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        random = RandomizedSearchCV(steps, space, n_iter=N_RANDOM, random_state=7, **options)
        found["random"] = _scores(random.fit(X[rows], y[rows]))
        for n in SIZES:
            for seed in SEEDS:
                for first in ("known", "current"):
                    search = SILBOSearchCV(
                        steps, space, n_iter=n, random_state=seed, initial_params=first, **options
                    ).fit(X[rows], y[rows])
                    found[f"{first} {n} {seed}"] = _scores(search)
                    if first == "known":
                        found["n_known"] = search.cv_results_["source"].tolist().count("known")
    return found


def _scores(search):
    scores = np.nan_to_num(search.cv_results_["mean_test_score"], nan=-1.0)
    return [float(f"{v:.5g}") for v in scores]


def read():
    return [json.loads(line) for line in RESULTS.open()] if RESULTS.exists() else []


def report():
    """Print the paired difference of the shares of the gap: random median to best score seen."""
    rows = [r for r in read() if r["n_known"]]
    print(f"candidates,known,current,known - current,won,lost  # {len(rows)} tasks")
    gains = []
    for n in SIZES:
        shares = np.array([_pair(row, n) for row in rows])
        differences = shares[:, 0] - shares[:, 1]
        error = differences.std(ddof=1) / np.sqrt(len(rows))
        won, lost = (differences > 1e-3).sum(), (differences < -1e-3).sum()
        cells = [f"{v:.3f}" for v in shares.mean(axis=0)]
        print(n, *cells, f"{differences.mean():+.3f} ({error:.3f})", won, lost, sep=",")
        gains.append(differences)
    for row, *own in zip(rows, *gains, strict=True):
        words = (row[column] for column in ("kind", "model", "data", "n_known"))
        print("#", *words, *np.round(own, 2), sep=",")


def _pair(row, n):
    """Return the mean share over seeds of "known" and "current"."""
    scores = [v for name, v in row.items() if isinstance(v, list) for v in v]
    low, high = np.median(row["random"]), max(scores)
    best = [[max(row[f"{first} {n} {seed}"]) for seed in SEEDS] for first in ("known", "current")]
    return np.maximum((np.mean(best, axis=1) - low) / (high - low), -1.0)


if __name__ == "__main__":
    {"run": run, "report": report}[sys.argv[1]]()
