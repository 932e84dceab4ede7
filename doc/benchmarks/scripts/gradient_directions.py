"""Directions of RecursiveFeatureMachine and their number, next to SIR and MAVE.

``python doc/benchmarks/scripts/gradient_directions.py run [seeds]`` appends one JSON line per
model, size and seed to results/gradient_directions.jsonl, leaving out those that are there. ``...
table`` writes tables/gradient_directions.csv.

The features are independent and normal. The measure is the squared trace correlation between true
and estimated directions, whose number is given, from 0 to 1. "Number right" is the share of data
sets in which ``n_components="auto"`` is the true number.
"""

import csv
import json
import warnings

import numpy as np
from checkout import RESULTS, TABLES, make_parser

from skbo_silbo import MAVE, RecursiveFeatureMachine, SlicedInverseRegression
from skbo_silbo.inspection import compare_subspaces

LINES, TABLE = RESULTS / "gradient_directions.jsonl", TABLES / "gradient_directions.csv"
SIZES = (60, 5), (100, 10), (60, 20), (200, 10)
# y of features X and normal noise, and the directions in the first features
MODELS = {
    "x0 + x1": (lambda X, e: X[:, 0] + X[:, 1] + 0.5 * e, [[1, 1]]),
    "sin(x0 + x1)": (lambda X, e: np.sin(X[:, 0] + X[:, 1]) + 0.2 * e, [[1, 1]]),
    "(x0 - x1)²": (lambda X, e: (X[:, 0] - X[:, 1]) ** 2 + 0.5 * e, [[1, -1]]),
    "x0 (x0 + x1 + 1)": (lambda X, e: X[:, 0] * (X[:, 0] + X[:, 1] + 1) + 0.5 * e, np.eye(2)),
    "x0 / (0.5 + (x1 + 1.5)²)": (
        lambda X, e: X[:, 0] / (0.5 + (X[:, 1] + 1.5) ** 2) + 0.2 * e,
        np.eye(2),
    ),
    "x0 + (x1 + 1)² / 2": (lambda X, e: X[:, 0] + (X[:, 1] + 1) ** 2 / 2 + 0.3 * e, np.eye(2)),
    "x0 + x1 x2": (lambda X, e: X[:, 0] + X[:, 1] * X[:, 2] + 0.3 * e, np.eye(3)),
    "tanh(x0 + x1 + x2 + x3)": (
        lambda X, e: np.tanh(X[:, :4].sum(axis=1)) + 0.2 * e,
        [[1, 1, 1, 1]],
    ),
}
METHODS = {
    "SIR": SlicedInverseRegression,
    "MAVE": MAVE,
    "RecursiveFeatureMachine": RecursiveFeatureMachine,
}


def run(n_seeds):
    """Append what is missing, all models and sizes of a seed before the next seed."""
    lines = LINES.read_text().splitlines() if LINES.exists() else []
    done = {tuple(json.loads(line)[k] for k in ("model", "n", "d", "seed")) for line in lines}
    for seed in range(n_seeds):
        for n, d in SIZES:
            for name, (draw, directions) in MODELS.items():
                if (name, n, d, seed) in done:
                    continue
                rng = np.random.default_rng([seed, n, d])
                X = rng.normal(size=(n, d))
                y = draw(X, rng.normal(size=n))
                r, width = np.shape(directions)
                truth = np.pad(directions, ((0, 0), (0, d - width)))
                line = {"model": name, "n": n, "d": d, "seed": seed}
                for method, make in METHODS.items():
                    found = compare_subspaces(make(r).fit(X, y).components_, truth)
                    number = make().fit(X, y).n_components_
                    line[method] = [round(float(found.trace_correlation), 4), int(number == r)]
                with LINES.open("a") as file:
                    file.write(json.dumps(line) + "\n")


def table():
    """Write mean trace correlations and shares of right numbers by size and by model."""
    lines = [json.loads(line) for line in LINES.read_text().splitlines()]
    groups = {f"{n} x {d}": [c for c in lines if (c["n"], c["d"]) == (n, d)] for n, d in SIZES}
    groups |= {name: [c for c in lines if c["model"] == name] for name in MODELS}
    with TABLE.open("w") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["", *METHODS, *(f"number right, {method}" for method in METHODS)])
        for name, cells in groups.items():
            means = np.mean([[c[method] for method in METHODS] for c in cells], axis=0)
            numbers = (f"{value:.2f}" for value in means.T.ravel())
            writer.writerow([name, *numbers])


if __name__ == "__main__":
    parser = make_parser(__doc__)
    parser.add_argument("command", choices=["run", "table"])
    parser.add_argument("seeds", type=int, nargs="?", default=12, help="for run")
    options = parser.parse_args()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table() if options.command == "table" else run(options.seeds)
