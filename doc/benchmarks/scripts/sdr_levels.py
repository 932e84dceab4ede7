"""Levels of the tests of dimension reduction off the normal.

``python doc/benchmarks/scripts/sdr_levels.py [sets]`` appends to results/sdr-levels.jsonl,
a line a cell and test that is not there yet: in how many sets a true hypothesis is rejected
at level .05. It then writes the tables of sdr_levels.rst, sdr_levels-*.csv, with 99.9 % intervals.
"""

import csv
import json
import warnings

import numpy as np
from checkout import RESULTS, TABLES, make_parser
from scipy import stats

from skbo_silbo import (
    DirectionalRegression,
    PrincipalHessianDirections,
    SlicedAverageVarianceEstimation,
    SlicedInverseRegression,
)

DATA = RESULTS / "sdr-levels.jsonl"
LAWS = {
    "normal": lambda rng, shape: rng.normal(size=shape),
    "exponential": lambda rng, shape: rng.exponential(size=shape),
    "t5": lambda rng, shape: rng.standard_t(5, size=shape),
    "lognormal": lambda rng, shape: rng.lognormal(size=shape),
    "t3": lambda rng, shape: rng.standard_t(3, size=shape),
    "Poisson": lambda rng, shape: rng.poisson(1.0, size=shape).astype(float),
    "binary": lambda rng, shape: (rng.random(shape) < 0.3).astype(float),
}
LAWS["mixed"] = lambda rng, shape: np.column_stack(  # the last of five is lognormal
    [
        LAWS[("normal", "lognormal", "binary", "normal", "lognormal")[j % 5]](rng, shape[0])
        for j in range(shape[1])
    ]
)
CONTINUOUS = ("normal", "exponential", "t5", "lognormal", "t3")


def correlated(rng, shape):
    """Normal columns whose correlation falls by half from one to the next."""
    root = np.linalg.cholesky(0.5 ** np.abs(np.subtract.outer(*2 * [np.arange(shape[1])])))
    return rng.normal(size=shape) @ root.T


LAWS |= {
    "gamma": lambda rng, shape: rng.gamma(2.0, size=shape),
    "correlated lognormal": lambda rng, shape: np.exp(correlated(rng, shape)),
    "negative binomial": lambda rng, shape: rng.negative_binomial(2, 0.3, size=shape).astype(float),
    "inverse Gaussian": lambda rng, shape: rng.wald(1.0, 2.0, size=shape),
    "geometric": lambda rng, shape: rng.geometric(0.3, size=shape).astype(float),
    "correlated normal": correlated,
    "elliptical t5": lambda rng, shape: (
        correlated(rng, shape) / np.sqrt(rng.chisquare(5, size=(shape[0], 1)) / 5)
    ),
}


def linear(law, seed, n, d, uneven):
    """Rows and a response linear in the first; `uneven` lets its noise grow with it."""
    rng = np.random.default_rng(seed)
    X, noise = LAWS[law](rng, (n, d)), rng.normal(size=n)
    return X, X[:, 0] + noise * np.exp(0.5 * np.clip(X[:, 0], -3, 3) * uneven)


def hessian(law, seed, n, d, uneven):
    """P-values that no direction bends, of which there is none."""
    phd = PrincipalHessianDirections().fit(*linear(law, seed, n, d, uneven))
    tests = phd.dimension_tests_
    return {
        "wild bootstrap": phd.bootstrap_tests_["p_value"][0],
        "general": tests["p_value"][0],
        "normal": tests["p_value_normal"][0],
    }


def variances(law, seed, n, d):
    """P-values that y does not move the variance of X, where it is noise."""
    rng = np.random.default_rng(seed)
    save = SlicedAverageVarianceEstimation().fit(LAWS[law](rng, (n, d)), rng.normal(size=n))
    return {
        "permutation": save.permutation_tests_["p_value"][0],
        "general": save.dimension_tests_["p_value"][0],
        "normal": save.dimension_tests_["p_value_normal"][0],
    }


def few_rows(law, seed, kind, n, d):
    """P-values that y, noise of few values, moves the mean of X: Li's, and (0, 1) of "auto"."""
    rng = np.random.default_rng(seed)
    X = LAWS[law](rng, (n, d))
    y = rng.poisson(1.5, size=n) if kind == "Poisson" else (np.arange(n) < n // 50).astype(int)
    sir = SlicedInverseRegression(categorical=False).fit(X, y)
    chi_square = sir.dimension_tests_["p_value"][0]
    return {"auto": float(not sir.n_components_), "chi-square": chi_square}


def linearity(law, seed, n, d):
    """Whether more than the one direction is found (p 0), and whether that is without a word."""
    X, y = one_direction(law, seed, n, d)
    plain, reweighted = (SlicedInverseRegression(ridge=0, reweight=w) for w in (None, "elliptical"))
    return more_than_one("plain", plain, X, y) | more_than_one("reweighted", reweighted, X, y)


def one_direction(law, seed, n, d):
    """Rows, and a response linear in four uneven columns."""
    rng = np.random.default_rng(seed)
    X = LAWS[law](rng, (n, d))
    y = X @ np.r_[1, -0.7, 0.5, 0.3, np.zeros(d - 4)]
    return X, y + 0.1 * y.std() * rng.normal(size=n)


def more_than_one(name, learner, X, y):
    """Whether more than one direction is kept (p 0), and whether that is without a word."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        few = learner.fit(X, y).n_components_ <= 1
    words = ("The linearity condition", "The condition of")
    warned = any(str(warning.message).startswith(words) for warning in caught)
    return {f"{name}: more than one": float(few), f"{name}: and no warning": float(few or warned)}


def rounded(law, seed, n, d):
    """As `linearity`, of y as it is, and of the same slices as five values and as five strings."""
    X, y = one_direction(law, seed, n, d)
    fifths = np.argsort(np.argsort(y)) * 5 // n
    responses = {"y": y, "five values": fifths.astype(float), "five strings": fifths.astype(str)}
    sir = SlicedInverseRegression(ridge=0, n_slices=5)
    found = [more_than_one(name, sir, X, t) for name, t in responses.items()]
    return found[0] | found[1] | found[2]


def grid(law, seed, n_values, n, d):
    """As `rounded`, of values cut at even distances, so that some classes have few rows."""
    rng = np.random.default_rng(seed)
    X = LAWS[law](rng, (n, d))
    y = X[:, :3] @ [1, 1, 0.5] + 0.3 * rng.normal(size=n)
    classes = np.minimum((y - y.min()) / np.ptp(y) * n_values, n_values - 1) // 1
    found = {"values": classes, "strings": classes.astype(str)}
    found = [more_than_one(k, SlicedInverseRegression(), X, t) for k, t in found.items()]
    return found[0] | found[1]


def moments(law, seed, n, d):
    """As `linearity`, of methods that take second moments."""
    X, y = one_direction(law, seed, n, d)
    save = more_than_one("SAVE", SlicedAverageVarianceEstimation(), X, y)
    dr = more_than_one("DR", DirectionalRegression(), X, y)
    return save | dr | more_than_one("pHd", PrincipalHessianDirections(), X, y)


CELLS_OF_FEW_ROWS = (("Poisson", 100, 5), ("Poisson", 400, 10), ("rare", 400, 10))
CELLS_OF_GRID = (
    ("exponential", 6, 300, 8),
    ("gamma", 6, 400, 6),
    ("correlated lognormal", 3, 400, 6),
    ("negative binomial", 6, 500, 8),
    ("inverse Gaussian", 5, 400, 7),
    ("geometric", 5, 450, 8),
    ("correlated normal", 6, 400, 6),
    ("elliptical t5", 4, 400, 6),
)
MOST_SETS = {"rounded": 300, "grid": 200, "moments": 100}
BESIDE_SIZES = {  # what else a cell has: name, place, words
    "hessian": ("noise", 2, {0: "of one variance", 1: "grows with x0"}),
    "few_rows": ("y", 0, {"rare": "a class of 2 %"}),
    "grid": ("values of y", 0, {}),
}
CELLS = [
    *((few_rows, law, cell) for law in ("lognormal", "exponential") for cell in CELLS_OF_FEW_ROWS),
    *((hessian, law, (100, 5, uneven)) for uneven in (0, 1) for law in CONTINUOUS),
    *((variances, law, (100, 5)) for law in CONTINUOUS),
    *((linearity, law, (150, 8)) for law in (*CONTINUOUS, "Poisson", "binary")),
    (rounded, "mixed", (300, 8)),
    *((grid, law, (k, n, d)) for law, k, n, d in CELLS_OF_GRID),
    (moments, "exponential", (300, 6)),
]


def run(n_sets, done):
    """Append a line a cell that is not done."""
    warnings.simplefilter("ignore")
    for measure, law, cell in CELLS:
        key = [measure.__name__, law, list(cell)]
        if any(row["cell"] == key for row in done):
            continue
        n = min(n_sets, MOST_SETS.get(measure.__name__, n_sets))
        p_values = [measure(law, seed, *cell) for seed in range(n)]
        rejected = {name: int(sum(p[name] <= 0.05 for p in p_values)) for name in p_values[0]}
        with DATA.open("a") as lines:
            lines.write(json.dumps({"cell": key, "sets": n, "rejected": rejected}) + "\n")


def shares(row):
    """Cells of a table, {column: text}: law and size, then rejected shares with their intervals."""
    kind, law, size = row["cell"]
    name, place, words = BESIDE_SIZES.get(kind, (None, None, None))
    beside = {} if name is None else {name: words.get(size[place], size[place])}
    sizes = [number for at, number in enumerate(size) if at != place]
    cells = {"columns of X": law, "n x d": " x ".join(map(str, sizes)), **beside}
    for test, rejected in row["rejected"].items():
        low, high = stats.binomtest(rejected, row["sets"]).proportion_ci(0.999)
        cells[test] = f"{rejected / row['sets']:.3f} ({low:.3f} to {high:.3f})"
    return cells


def write(rows):
    """Write a table of every kind that there are rows of."""
    for kind in dict.fromkeys(row["cell"][0] for row in rows):
        cells = [shares(row) for row in rows if row["cell"][0] == kind]
        with (TABLES / f"sdr_levels-{kind}.csv").open("w", newline="", encoding="utf-8") as file:
            columns = dict.fromkeys(name for row in cells for name in row)
            table = csv.DictWriter(file, columns, lineterminator="\n")
            table.writeheader()
            table.writerows(cells)


def read():
    """Rows written so far."""
    return list(map(json.loads, DATA.read_text().splitlines())) if DATA.exists() else []


if __name__ == "__main__":
    parser = make_parser(__doc__)
    parser.add_argument("sets", type=int, nargs="?", default=2000, help="data sets per cell")
    run(parser.parse_args().sets, read())
    write(read())
