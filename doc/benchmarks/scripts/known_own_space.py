"""Whether known candidates help in hand-written search spaces: "known" against "current".

::

    python doc/benchmarks/scripts/known_own_space.py run       # resumes where it stopped
    python doc/benchmarks/scripts/known_own_space.py report

Each task is a model, a space of the kind that users write, and a data set of
``known_data.JUDGED``: 300 rows and three folds, area under the curve or R2. Up to revision b45415a1
known candidates were clipped to, or completed for, these spaces. Later ones have none.
"""

import json
import warnings

import numpy as np
from checkout import RESULTS, make_parser
from known_data import JUDGED, r_data
from scipy.stats import loguniform, randint, uniform
from sklearn import ensemble, linear_model, neighbors, svm, tree
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectPercentile
from sklearn.kernel_approximation import Nystroem
from sklearn.model_selection import RandomizedSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    KBinsDiscretizer,
    MinMaxScaler,
    QuantileTransformer,
    SplineTransformer,
    StandardScaler,
)

from skbo_silbo import SILBOSearchCV

FILE = RESULTS / "known_own_space.jsonl"
ROWS, N_RANDOM = 300, 30
RUNS = ((10, 0), (50, 0), (10, 1))  # candidates and seed
SIZES, MOST_TASKS = (10, 20, 50), 51  # MOST_TASKS of models; then all Pipelines
STARTS = ("known", "current")
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


SPACES["classification Pipeline"] = {
    "select, SVC": (
        make_pipeline(StandardScaler(), SelectPercentile(), svm.SVC()),
        {
            "selectpercentile__percentile": [20, 40, 60, 80, 100],
            "svc__C": loguniform(1e-2, 1e3),
            "svc__gamma": loguniform(1e-4, 1e1),
        },
    ),
    "PCA, neighbours": (
        make_pipeline(StandardScaler(), PCA(0.9), neighbors.KNeighborsClassifier()),
        {
            "pca__n_components": uniform(0.5, 0.49),
            "pca__whiten": [True, False],
            "kneighborsclassifier__n_neighbors": randint(1, 51),
            "kneighborsclassifier__weights": ["uniform", "distance"],
        },
    ),
    "bins, logistic": (
        make_pipeline(
            StandardScaler(),
            KBinsDiscretizer(strategy="uniform"),
            linear_model.LogisticRegression(max_iter=500),
        ),
        {
            "kbinsdiscretizer__n_bins": randint(2, 20),
            "kbinsdiscretizer__strategy": ["uniform", "kmeans"],
            "logisticregression__C": loguniform(1e-3, 1e3),
            "logisticregression__class_weight": [None, "balanced"],
        },
    ),
}
SPACES["regression Pipeline"] = {
    "splines, ridge": (
        make_pipeline(StandardScaler(), SplineTransformer(), linear_model.Ridge()),
        {
            "splinetransformer__n_knots": randint(3, 15),
            "splinetransformer__degree": [1, 2, 3],
            "splinetransformer__extrapolation": ["constant", "linear", "continue"],
            "ridge__alpha": loguniform(1e-6, 1e3),
        },
    ),
    "kernel, ridge": (
        make_pipeline(StandardScaler(), Nystroem(random_state=0), linear_model.Ridge()),
        {
            "nystroem__gamma": loguniform(1e-4, 1e1),
            "nystroem__kernel": ["rbf", "laplacian"],
            "nystroem__n_components": [20, 50, 100],
            "ridge__alpha": loguniform(1e-6, 1e3),
        },
    ),
    "quantiles, elastic net": (
        make_pipeline(QuantileTransformer(n_quantiles=100), linear_model.ElasticNet()),
        {
            "quantiletransformer__n_quantiles": randint(5, 150),
            "quantiletransformer__output_distribution": ["uniform", "normal"],
            "elasticnet__alpha": loguniform(1e-4, 1.0),
            "elasticnet__l1_ratio": uniform(0, 1),
        },
    ),
}


def run():
    """Write the missing searches: the n-th model gets the n-th data set, and two later ones."""
    done = {(r["kind"], r["model"], r["data"], r["n"], r["seed"]): r["n_known"] for r in read()}
    for n, seed in RUNS:
        for kind, model, data in [*space_tasks("", MOST_TASKS), *space_tasks(" Pipeline")]:
            row = {"kind": kind, "model": model, "data": data, "n": n, "seed": seed}
            if tuple(row.values()) not in done and done.get((kind, model, data, *RUNS[0])) != 0:
                row |= _measure(**row)
                done[tuple(row.values())[:5]] = row["n_known"]
                with FILE.open("a") as file:
                    file.write(json.dumps(row, separators=(",", ":")) + "\n")


def space_tasks(suffix, most=None):
    """Return kind, model and data set of tasks, in turns for classification and regression."""
    tasks = []
    for kind, sets in JUDGED.items():
        models = [*SPACES[kind + suffix]] * 3
        tasks += [(i, kind + suffix, *own) for i, own in enumerate(zip(models, sets))]  # noqa: B905
    return [own for _, *own in sorted(tasks, key=lambda task: task[0])[:most]]


def _measure(kind, model, data, n, seed):
    """Return the scores of a search from either start, and of random search for seed 0."""
    steps, space = SPACES[kind][model]
    is_classification = kind.startswith("classification")
    X, y = r_data(data, *JUDGED[kind.removesuffix(" Pipeline")][data])
    rows = np.random.default_rng(0).permutation(len(y))[:ROWS]
    X, y = X[rows], y[rows]
    steps, space = after_scaler(steps, space)
    options = {"scoring": "roc_auc" if is_classification else "r2", "cv": 3, "refit": False}
    found = {}
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        if (n, seed) == RUNS[0]:
            random = RandomizedSearchCV(steps, space, n_iter=N_RANDOM, random_state=7, **options)
            found["random"] = scores_of(random.fit(X, y))
        for first in STARTS:
            search = SILBOSearchCV(
                steps, space, n_iter=n, random_state=seed, initial_params=first, **options
            ).fit(X, y)
            found[first] = scores_of(search)
            if first == "known":
                found["n_known"] = search.cv_results_["source"].tolist().count("known")
    return found


def after_scaler(model, space):
    """Return a Pipeline that scales the features first, and the space with its parameter names."""
    if isinstance(model, Pipeline):
        return model, space
    is_full = any(name.startswith("model__") for name in space)
    space = space if is_full else {f"model__{n}": values for n, values in space.items()}
    return Pipeline([("standardscaler", StandardScaler()), ("model", model)]), space


def scores_of(search):
    """Return the scores in the order of evaluation, -1 for failed candidates."""
    scores = np.nan_to_num(search.cv_results_["mean_test_score"], nan=-1.0)
    return [float(f"{v:.5g}") for v in scores]


def read():
    return [json.loads(line) for line in FILE.open()] if FILE.exists() else []


def report():
    """Print the paired difference of the shares of the gap: random median to best score seen."""
    print("candidates,tasks,known,current,known - current,won,lost")
    tasks = {}
    for row in read():
        if row["n_known"]:
            tasks.setdefault((row["kind"], row["model"], row["data"]), []).append(row)
    for size in SIZES:
        names = [t for t, rows in tasks.items() if any(r["n"] == _run_of(size) for r in rows)]
        shares = np.array([_pair(tasks[name], size) for name in names])
        differences = shares[:, 0] - shares[:, 1]
        error = differences.std(ddof=1) / np.sqrt(len(names))
        won, lost = (differences > 1e-3).sum(), (differences < -1e-3).sum()
        cells = [f"{v:.3f}" for v in shares.mean(axis=0)]
        print(
            size, len(names), *cells, f"{differences.mean():+.3f} ({error:.3f})", won, lost, sep=","
        )


def _pair(rows, size):
    """Return the mean share over seeds of "known" and "current"."""
    scores = [v for row in rows for key in ("random", *STARTS) for v in row.get(key, ())]
    low, high = np.median(rows[0]["random"]), max(scores)
    rows = [row for row in rows if row["n"] == _run_of(size)]
    best = [[max(row[first][:size]) for row in rows] for first in STARTS]
    return np.maximum((np.mean(best, axis=1) - low) / (high - low), -1.0)


def _run_of(size):
    """Return the smallest number of candidates of a run with this many: 50 for 20."""
    return min(n for n, _ in RUNS if n >= size)


if __name__ == "__main__":
    parser = make_parser(__doc__)
    parser.add_argument("command", choices=["run", "report"])
    {"run": run, "report": report}[parser.parse_args().command]()
