"""Levels and power of coordinate tests, and errors of the linearity warning, on random designs.

``python doc/benchmarks/scripts/sdr_level_grid.py [sets] [measures]`` appends one line per cell and
measure to results/sdr_level_grid.jsonl, unless the file has the line already, and writes the tables
sdr_levels-random-*.csv. The properties of a cell are drawn at random with its number as seed. To
compare another revision on the same data, replace skbo_silbo by ``git checkout c8779a66 --
skbo_silbo`` and run the script with ``SUFFIX=-before`` and the measures power, linear, needed and
curved.
"""

import csv
import json
import os
import warnings

import numpy as np
from checkout import RESULTS, TABLES, make_parser
from scipy import stats

from skbo_silbo import SlicedInverseRegression
from skbo_silbo.inspection import coordinate_test

DATA = RESULTS / f"sdr_level_grid{os.environ.get('SUFFIX', '')}.jsonl"
KINDS = {
    "normal": lambda rng, n: rng.normal(size=n),
    "t3": lambda rng, n: rng.standard_t(3, size=n),
    "lognormal": lambda rng, n: rng.lognormal(size=n),
    "rare binary": lambda rng, n: (rng.random(n) < 0.15).astype(float),
    "Poisson": lambda rng, n: rng.poisson(0.7, size=n).astype(float),
    "negative binomial": lambda rng, n: rng.negative_binomial(1, 0.3, size=n).astype(float),
}
CURVES = {
    "square": lambda x, e: x[:, 0] ** 2 + e,
    "exponential": lambda x, e: np.exp(0.7 * x[:, 0]) + e,
    "absolute value": lambda x, e: np.abs(x[:, 0]) + e,
    "product": lambda x, e: x[:, 0] * x[:, 1] + e,
    "square, rotated": lambda x, e: x[:, 0] ** 2 + e,
}


def columns(rng, kind, n, p):
    """Return p columns of one kind, or of all kinds in turn."""
    if kind == "one-hot":
        groups = [one_hot(rng, n) for _ in range(-(-p // 3))]
        return np.hstack(groups)[:, :p]
    kinds = list(KINDS) if kind == "mixed" else [kind]
    return np.column_stack([KINDS[kinds[j % len(kinds)]](rng, n) for j in range(p)])


def one_hot(rng, n):
    """Return three indicator columns of a category of four uneven levels."""
    shares = np.array([0.4, 0.3, 0.2, 0.1])
    return np.equal.outer(rng.choice(4, size=n, p=shares), np.arange(1, 4)).astype(float)


def design(cell):
    """Draw the properties of a cell."""
    rng = np.random.default_rng([7, cell])
    kind = kind_of(cell)
    n = int(rng.choice([60, 100, 150, 300]))
    p = max(6, int(n * rng.uniform(0.03, 0.5)))
    n_tested = int(rng.choice([1, 3] if kind == "one-hot" else [1, 1, 2, 3]))
    return {
        "kind": kind,
        "n": n,
        "p": p,
        "tested": n_tested,
        "slices": int(rng.choice([2, 3, 5, 10])),
        "correlation": float(rng.choice([0.0, 0.5, 0.9])),
        "spread": bool(rng.random() < 0.25),
        "y": str(rng.choice(["noise", "one", "one", "two"])),
        "noise": float(rng.choice([0.3, 1.0, 2.0])),
    }


def null_set(rng, cell, effect=0.0):
    """Return rows, a response, and features that it needs only if `effect` is not 0.

    The tested features, the last ones, are a linear function of the others plus independent noise,
    whose spread may depend on the first feature. Their mean given the others is therefore linear.
    A single tested indicator belongs to a category whose other indicators are among the others,
    in which its mean is linear as well.
    """
    n, p, a, rho = cell["n"], cell["p"], cell["tested"], cell["correlation"]
    free = columns(rng, cell["kind"], n, p - a)
    Z = (free - free.mean(axis=0)) / (free.std(axis=0) + 1e-9)
    if rho and p - a > 1:  # each column depends on the one before
        for j in range(1, p - a):
            Z[:, j] = rho * Z[:, j - 1] + np.sqrt(1 - rho**2) * Z[:, j]
    extra = columns(rng, cell["kind"], n, a)
    extra = (extra - extra.mean(axis=0)) / (extra.std(axis=0) + 1e-9)
    own = extra * (np.exp(0.5 * np.clip(Z[:, [0]], -3, 3)) if cell["spread"] else 1.0)
    tested = rho * Z[:, [-1]] + np.sqrt(1 - rho**2) * own
    if cell["kind"] == "one-hot" and a == 1:
        Z[:, -2:], tested = np.split(one_hot(rng, n), [2], axis=1)
        own = tested
    signal = {
        "noise": lambda: 0.0,
        "one": lambda: Z[:, 0] + (Z[:, -1] if p - a > 1 else 0.0),
        "two": lambda: Z[:, 0] / (0.5 + (Z[:, 1] + 1.5) ** 2),
    }[cell["y"]]()
    y = signal + effect * own.sum(axis=1) + cell["noise"] * rng.normal(size=n)
    return np.hstack([Z, tested]), y, list(range(p - a, p))


def has_exact_fit(X):
    """Return whether a column is redundant, or 1 in a single row."""
    Q, R = np.linalg.qr(np.column_stack([np.ones(len(X)), X]))
    return np.abs(np.diag(R)).min() < 1e-8 or np.sum(Q**2, axis=1).max() > 1 - 1e-8


def rejections(rng, cell, effect=0.0):
    """Return whether the marginal test rejects, and the conditional one if y has directions."""
    X, y, features = null_set(rng, cell, effect)
    while has_exact_fit(X):
        X, y, features = null_set(rng, cell, effect)
    slices = cell["slices"]
    k = {"noise": 0, "one": 1, "two": 2}[cell["y"]]
    found = {"marginal": coordinate_test(X, y, features, n_slices=slices).p_value}
    if 0 < k < slices - 1:
        test = coordinate_test(X, y, features, n_slices=slices, n_components=k)
        found["conditional"] = test.p_value
    return {name: p <= 0.05 for name, p in found.items()}


def level(seed, index):
    """Whether the tests reject a true hypothesis."""
    return rejections(np.random.default_rng([index, seed]), design(index))


def power(seed, index):
    """Whether the tests reject a false hypothesis about normal features."""
    cell = design(index) | {"kind": "normal", "spread": False, "y": "one"}
    effect = np.random.default_rng([8, index]).uniform(0.2, 0.8)
    return rejections(np.random.default_rng([index, seed, 1]), cell, effect)


def linear(seed, index):
    """Whether SIR warns although the linearity condition holds, and whether it finds too much.

    The columns are independent, and y depends on one column or on a sum of exchangeable columns.
    """
    kind = kind_of(index)
    rng = np.random.default_rng([9, index])
    n, p = int(rng.choice([100, 150, 300, 500])), int(rng.integers(5, 13))
    noise, n_used = float(rng.choice([0.1, 0.5, 1.0])), int(rng.choice([0, 1, 1, 2]))
    n_used = min(n_used, 1) if kind in ("one-hot", "mixed") else n_used
    rng = np.random.default_rng([9, index, seed])
    X = columns(rng, kind, n, p)
    y = X[:, :n_used].sum(axis=1) / (X[:, 0].std() + 1e-9) + noise * rng.normal(size=n)
    return warned(X, y)


def needed(seed, index):
    """Whether SIR warns if three classes need two of several independent columns."""
    rng = np.random.default_rng([11, index])
    n, p = int(rng.choice([150, 300, 500])), int(rng.integers(5, 13))
    rng = np.random.default_rng([11, index, seed])
    X = columns(rng, kind_of(index), n, p)
    Z = (X - X.mean(axis=0)) / (X.std(axis=0) + 1e-9)
    utility = np.column_stack([2 * Z[:, 0], 2 * Z[:, 3], np.zeros(n)]) + rng.gumbel(size=(n, 3))
    return warned(X, np.array(["a", "b", "c"])[utility.argmax(axis=1)])


def curved(seed, index):
    """Whether SIR warns if one normal feature is a curved function of others."""
    curve = list(CURVES)[index % len(CURVES)]
    rng = np.random.default_rng([10, index])
    n, p = int(rng.choice([60, 100, 150, 300])), int(rng.integers(4, 11))
    scale, noise = float(rng.choice([0.3, 1.0, 2.0])), float(rng.choice([0.1, 0.5, 1.0]))
    rng = np.random.default_rng([10, index, seed])
    X, x0 = rng.normal(size=(n, p)), rng.normal(size=n)
    X[:, 0] = x0
    X[:, -1] = CURVES[curve](X, scale * rng.normal(size=n))
    signal = x0 + X[:, 1] * (curve == "product")
    if curve.endswith("rotated"):
        X = X @ np.linalg.qr(rng.normal(size=(p, p)))[0]
    return warned(X, signal + noise * rng.normal(size=n))


def warned(X, y):
    """Return whether SIR warns of the linearity condition, and whether it finds two directions."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        sir = SlicedInverseRegression().fit(X, y)
    words = " ".join(str(warning.message) for warning in caught)
    return {"warned": "linearity condition" in words, "two or more": sir.n_components_ > 1}


MEASURES = {level: 64, power: 24, linear: 72, needed: 16, curved: 45}


def run(n_sets, names):
    """Append a line for each cell that is missing."""
    done = {(row["measure"], row["cell"]) for row in read()}
    for measure, n_cells in MEASURES.items():
        for index in range(n_cells):
            if (measure.__name__, index) in done or measure.__name__ not in names:
                continue
            sets = [measure(seed, index) for seed in range(n_sets)]
            counts = {name: int(sum(found[name] for found in sets)) for name in sets[0]}
            row = {"measure": measure.__name__, "cell": index, "sets": n_sets, "counts": counts}
            with DATA.open("a") as lines:
                lines.write(json.dumps(row) + "\n")


def read(path=None):
    """Return the lines of a file, by default those written so far."""
    path = path or DATA
    return list(map(json.loads, path.read_text().splitlines())) if path.exists() else []


def share(count, n_sets):
    """Format a share with its 99.9 % interval."""
    low, high = stats.binomtest(count, n_sets).proportion_ci(0.999)
    return f"{count / n_sets:.3f} ({low:.3f} to {high:.3f})"


def write_table(name, rows):
    """Write dictionaries with the same keys as a table of the page."""
    with (TABLES / f"sdr_levels-random-{name}.csv").open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(
            file, dict.fromkeys(k for row in rows for k in row), lineterminator="\n"
        )
        table.writeheader()
        table.writerows(rows)


def pooled(rows, group_of):
    """Return the counts and numbers of sets of groups of cells, {group: {name: (count, sets)}}."""
    groups = {}
    for row in rows:
        group = groups.setdefault(group_of(row["cell"]), {})
        for name, count in row["counts"].items():
            count_before, sets_before = group.get(name, (0, 0))
            group[name] = count_before + count, sets_before + row["sets"]
    return groups


def kind_of(cell):
    """Return the kind of columns of a cell."""
    return [*KINDS, "one-hot", "mixed"][cell % (len(KINDS) + 2)]


def write():
    """Write the tables of the page."""
    rows, before = read(), read(RESULTS / "sdr_level_grid-before.jsonl")
    levels = [row for row in rows if row["measure"] == "level"]
    cells = []
    for row in levels:
        counts = {name: share(count, row["sets"]) for name, count in row["counts"].items()}
        cells.append(design(row["cell"]) | counts)
    write_table("cells", cells)
    summary = []
    for kind, group in pooled(levels, kind_of).items():
        entry = {"columns of X": kind}
        for name, counts in group.items():
            same = [row for row in levels if kind_of(row["cell"]) == kind]
            rates = [row["counts"][name] / row["sets"] for row in same if name in row["counts"]]
            entry |= {
                name: share(*counts),
                f"{name}, cells": f"{min(rates):.3f} to {max(rates):.3f}",
            }
        summary.append(entry)
    write_table("levels", summary)
    for measure, group_of, heading in (
        ("power", lambda cell: "normal", "columns of X"),
        ("linear", kind_of, "columns of X"),
        ("needed", kind_of, "columns of X"),
        ("curved", lambda cell: list(CURVES)[cell % len(CURVES)], "curve"),
    ):
        table = {}
        for when, some in (("", rows), ("before: ", before)):
            some = [row for row in some if row["measure"] == measure]
            for group, counts in pooled(some, group_of).items():
                entry = table.setdefault(group, {heading: group})
                entry |= {f"{when}{name}": share(*counts[name]) for name in counts}
        write_table(measure, list(table.values()))


if __name__ == "__main__":
    every = [measure.__name__ for measure in MEASURES]
    parser = make_parser(__doc__)
    parser.add_argument("sets", type=int, nargs="?", default=300, help="data sets per cell")
    parser.add_argument("measures", nargs="*", choices=every, default=every)
    options = parser.parse_args()
    run(options.sets, options.measures)
    write()
