"""Levels of the tests of dimension reduction off the normal.

``python doc/benchmarks/experiments/sdr_levels.py [sets]`` appends to sdr-levels.jsonl, beside this
file, a line a cell and test that is not there yet: in how many sets a true hypothesis is rejected
at level .05. It then writes the tables of sdr_levels.rst, with 99.9 % intervals.
"""

import json
import sys
import warnings
from pathlib import Path

import numpy as np
from scipy import stats

from skbo_silbo import (
    PrincipalHessianDirections,
    SlicedAverageVarianceEstimation,
    SlicedInverseRegression,
)
from skbo_silbo.inspection import coordinate_test

PAGE = Path(__file__).parents[1] / "sdr_levels.rst"
DATA = Path(__file__).with_name("sdr-levels.jsonl")
LAWS = {
    "normal": lambda rng, shape: rng.normal(size=shape),
    "exponential": lambda rng, shape: rng.exponential(size=shape),
    "t5": lambda rng, shape: rng.standard_t(5, size=shape),
    "lognormal": lambda rng, shape: rng.lognormal(size=shape),
    "t3": lambda rng, shape: rng.standard_t(3, size=shape),
    "Poisson": lambda rng, shape: rng.poisson(1.0, size=shape).astype(float),
    "binary": lambda rng, shape: (rng.random(shape) < 0.3).astype(float),
}
CONTINUOUS = ("normal", "exponential", "t5", "lognormal", "t3")


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


def coordinates(law, seed, n, d):
    """P-values that the last feature is needed, which it is not, also given one direction."""
    X, y = linear(law, seed, n, d, 0)
    return {
        f"{kind}{'' if k is None else ', one direction known'}": coordinate_test(
            X, y, [d - 1], variance=kind, n_components=k
        ).p_value
        for k in (None, 1)
        for kind in ("general", "constant")
    }


def linearity(law, seed, n, d):
    """Whether more than the one direction is found (p 0), and whether that is without a word."""
    rng = np.random.default_rng(seed)
    X = LAWS[law](rng, (n, d))
    y = X @ np.r_[1, -0.7, 0.5, 0.3, np.zeros(d - 4)]
    y += 0.1 * y.std() * rng.normal(size=n)
    found = {}
    for name, reweight in (("plain", None), ("reweighted", "elliptical")):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            sir = SlicedInverseRegression(ridge=0, reweight=reweight).fit(X, y)
        warned = any("linearity condition" in str(warning.message) for warning in caught)
        found[f"{name}: more than one"] = float(sir.n_components_ <= 1)
        found[f"{name}: and no warning"] = float(sir.n_components_ <= 1 or warned)
    return found


CELLS = [
    *((coordinates, law, (100, 8)) for law in CONTINUOUS),
    *((hessian, law, (100, 5, uneven)) for uneven in (0, 1) for law in CONTINUOUS),
    *((variances, law, (100, 5)) for law in CONTINUOUS),
    *((linearity, law, (150, 8)) for law in LAWS),
]


def run(n_sets, done):
    """Append a line a cell that is not done."""
    warnings.simplefilter("ignore")
    for measure, law, cell in CELLS:
        key = [measure.__name__, law, list(cell)]
        if any(row["cell"] == key for row in done):
            continue
        p_values = [measure(law, seed, *cell) for seed in range(n_sets)]
        rejected = {name: int(sum(p[name] <= 0.05 for p in p_values)) for name in p_values[0]}
        with DATA.open("a") as lines:
            lines.write(json.dumps({"cell": key, "sets": n_sets, "rejected": rejected}) + "\n")


def table(rows):
    """Lines of a table of the cells of one kind, a row a law of X."""
    names = list(rows[0]["rejected"])
    lines = [".. list-table::", "   :header-rows: 1", ""]
    for head, *entries in [["columns of X", *names], *map(shares, rows)]:
        lines += [f"   * - {head}", *(f"     - {entry}" for entry in entries)]
    return lines


def shares(row):
    """Law of X, and the share of sets rejected by each test with its interval."""
    yield row["cell"][1]
    for rejected in row["rejected"].values():
        low, high = stats.binomtest(rejected, row["sets"]).proportion_ci(0.999)
        yield f"{rejected / row['sets']:.3f} ({low:.3f} to {high:.3f})"


def write(rows):
    """Put the table of every kind that there are rows of in place of the one after its mark."""
    lines, page = [], iter(PAGE.read_text().splitlines())
    for line in page:
        lines.append(line)
        if line.startswith(".. levels: "):
            kind = json.loads(line.removeprefix(".. levels: "))
            found = [row for row in rows if [row["cell"][0], row["cell"][2]] == kind]
            old = [next(page)]
            while not old[-1] or old[-1].startswith((" ", "..")):
                old.append(next(page))
            lines += ["", *table(found), "", old[-1]] if found else old
    PAGE.write_text("\n".join(lines) + "\n")


def read():
    """Rows written so far."""
    return list(map(json.loads, DATA.read_text().splitlines())) if DATA.exists() else []


if __name__ == "__main__":
    run(int(sys.argv[1]) if len(sys.argv) > 1 else 2000, read())
    write(read())
