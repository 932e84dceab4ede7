"""Whether to evaluate the untuned estimator inside a search space that excludes some of its values.

::

    python doc/benchmarks/scripts/untuned_start.py run       # resumes where it stopped
    python doc/benchmarks/scripts/untuned_start.py report

With ``initial_params="known"``, values outside the space are replaced by the middle of their range,
and this candidate is evaluated after the untuned estimator. With "current" it is not. Tasks are the
spaces of
``hand_written_spaces.py`` and four more Pipelines, on data sets of ``known_data.JUDGED``: 300 rows,
three folds and 30 candidates. The stored runs are of 3d8a9250.
"""

import json
import warnings

import numpy as np
from checkout import RESULTS, make_parser
from hand_written_spaces import SPACES, after_scaler, scores_of, space_tasks
from known_data import JUDGED, r_data
from scipy.stats import loguniform, randint, uniform
from sklearn import linear_model, svm
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectPercentile, f_regression
from sklearn.kernel_approximation import Nystroem
from sklearn.model_selection import RandomizedSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer, StandardScaler

from skbo_silbo import SILBOSearchCV

FILE = RESULTS / "untuned_start.jsonl"
ROWS, N_ITER, SIZES, N_SETS = 300, 30, (10, 20, 30), 6
STARTS = ("known", "current")
MOST_STEPS = 100_000  # of libsvm, which takes minutes for a few parameters
SLOW = "SVR grid"  # left out, because some of its fits take minutes
SCORING = {"classification": "roc_auc", "regression": "r2"}
PIPELINE_NAMES = {  # whose ranges exclude a value of the untuned Pipeline
    "select, SVC",
    "kernel, ridge",
    "PCA, SVC",
    "kernel, SGD",
    "splines, SVR",
    "kernel, elastic net",
}
SVM = {"svc__C": loguniform(1e-2, 1e3), "svc__gamma": loguniform(1e-4, 1e1)}
PIPELINES = {
    "classification": {
        "PCA, SVC": (
            make_pipeline(StandardScaler(), PCA(), svm.SVC(max_iter=MOST_STEPS)),
            {
                "pca__n_components": uniform(0.5, 0.49),
                "pca__whiten": [True, False],
                "svc__class_weight": [None, "balanced"],
                "svc__kernel": ["rbf", "poly"],
                "svc__coef0": uniform(0, 2),
            }
            | SVM,
        ),
        "kernel, SGD": (
            make_pipeline(
                StandardScaler(),
                Nystroem(random_state=0),
                linear_model.SGDClassifier(random_state=0),
            ),
            {
                "nystroem__gamma": loguniform(1e-4, 1e1),
                "nystroem__n_components": randint(20, 101),
                "sgdclassifier__alpha": loguniform(1e-6, 1e-1),
                "sgdclassifier__loss": ["hinge", "log_loss", "modified_huber"],
                "sgdclassifier__penalty": ["l2", "l1", "elasticnet"],
                "sgdclassifier__l1_ratio": uniform(0, 1),
                "sgdclassifier__average": [True, False],
            },
        ),
    },
    "regression": {
        "splines, SVR": (
            make_pipeline(
                StandardScaler(),
                SplineTransformer(),
                SelectPercentile(f_regression),
                svm.SVR(max_iter=MOST_STEPS),
            ),
            {
                "splinetransformer__n_knots": randint(3, 10),
                "splinetransformer__degree": [1, 2, 3],
                "selectpercentile__percentile": randint(20, 101),
                "svr__C": loguniform(1e-2, 1e3),
                "svr__gamma": loguniform(1e-4, 1e1),
                "svr__epsilon": loguniform(1e-3, 1),
            },
        ),
        "kernel, elastic net": (
            make_pipeline(StandardScaler(), Nystroem(random_state=0), linear_model.ElasticNet()),
            {
                "nystroem__gamma": loguniform(1e-4, 1e1),
                "nystroem__kernel": ["rbf", "laplacian", "sigmoid"],
                "nystroem__n_components": randint(20, 101),
                "elasticnet__alpha": loguniform(1e-5, 1),
                "elasticnet__l1_ratio": uniform(0, 1),
            },
        ),
    },
}


def tasks():
    """Return kind, name, model, space and data set of every task."""
    found = []
    for kind, name, data in [*space_tasks(""), *space_tasks(" Pipeline")]:
        found.append((kind.removesuffix(" Pipeline"), name, *SPACES[kind][name], data))
    for kind, sets in JUDGED.items():
        more = SPACES[f"{kind} Pipeline"] | PIPELINES[kind]
        for name in [name for name in more if name in PIPELINE_NAMES]:
            chosen = [list(sets)[(2 * j + len(name)) % len(sets)] for j in range(N_SETS)]
            found += [(kind, name, *more[name], data) for data in chosen]
    return list({(task[1], task[-1]): task for task in found if task[1] != SLOW}.values())


def run():
    """Write the scores of the missing tasks."""
    done = {(row["model"], row["data"]) for row in read()}
    for kind, name, model, space, data in tasks():
        if (name, data) not in done:
            row = {"model": name, "data": data} | measure(kind, model, space, data)
            with FILE.open("a") as file:
                file.write(json.dumps(row, separators=(",", ":")) + "\n")


def measure(kind, model, space, data):
    """Return the scores of both searches and of random search, in the order of evaluation."""
    X, y = r_data(data, *JUDGED[kind][data])
    rows = np.random.default_rng(0).permutation(len(y))[:ROWS]
    model, space = after_scaler(model, space)
    options = {"n_iter": N_ITER, "scoring": SCORING[kind], "cv": 3, "refit": False}
    found = {}
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for start in STARTS:
            search = SILBOSearchCV(model, space, initial_params=start, random_state=0, **options)
            found[start] = scores_of(search.fit(X[rows], y[rows]))
            if start == "known":
                found["n_known"] = search.cv_results_["source"].tolist().count("known")
                if not found["n_known"]:
                    return found
        random = RandomizedSearchCV(model, space, random_state=7, **options)
        return found | {"random": scores_of(random.fit(X[rows], y[rows]))}


def read():
    """Return the rows of the results."""
    return [json.loads(line) for line in FILE.open()] if FILE.exists() else []


def report():
    """Print the share of the gap from the random median to the best score seen, by size."""
    print("candidates,tasks,moved,not moved,random,moved - not moved,won,lost")
    rows = [row for row in read() if row["n_known"]]
    for size in SIZES:
        shares = np.array([_shares(row, size) for row in rows])
        differences = shares[:, 0] - shares[:, 1]
        error = differences.std(ddof=1) / np.sqrt(len(rows))
        won, lost = (differences > 1e-3).sum(), (differences < -1e-3).sum()
        means = ",".join(f"{v:.3f}" for v in shares.mean(axis=0))
        print(f"{size},{len(rows)},{means},{differences.mean():+.3f} ({error:.3f}),{won},{lost}")


def _shares(row, size):
    names = (*STARTS, "random")
    low, high = np.median(row["random"]), max(max(row[name]) for name in names)
    return [max((max(row[name][:size]) - low) / (high - low), -1.0) for name in names]


if __name__ == "__main__":
    parser = make_parser(__doc__)
    parser.add_argument("command", choices=["run", "report"])
    {"run": run, "report": report}[parser.parse_args().command]()
