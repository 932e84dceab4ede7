"""The sparse form beside the lasso of rank(y), SIR and R's LassoSIR.

``python doc/benchmarks/scripts/sparse_sir.py LINES [sets] [folder of R packages]`` appends a
line a set to the file LINES; ``... --write LINES`` makes tables/sparse_sir.csv of them.
With a folder that has R's LassoSIR, the sets are fitted by that, on lines of their own. Sets from
1000 on were looked at while the method was chosen.
"""

import json
import subprocess
import tempfile
import warnings
from pathlib import Path

import numpy as np
from checkout import TABLES, make_parser
from scipy.stats import rankdata
from sklearn.linear_model import LassoCV
from sklearn.preprocessing import StandardScaler

from skbo_silbo import SlicedInverseRegression, SparseSlicedInverseRegression
from skbo_silbo.inspection import compare_subspaces

TABLE = TABLES / "sparse_sir.csv"
R_CODE = """
library(LassoSIR, lib.loc = "{library}")
X <- as.matrix(read.csv("{folder}/X.csv", header = FALSE))
y <- read.csv("{folder}/y.csv", header = FALSE)[, 1]
set.seed(1)
fit <- LassoSIR(X, y, H = 20, no.dim = {r})
write.table(t(fit$beta), "{folder}/B.csv", row.names = FALSE, col.names = FALSE, sep = ",")
"""


def one(n, d, active, correlation, response, heavy=False):
    """A direction of few equal entries, of scores of variance 1."""

    def draw(rng):
        X, covariance = features(rng, n, d, correlation, heavy)
        b = np.zeros(d)
        b[rng.choice(d, active, replace=False)] = rng.choice([-1, 1], active)
        b /= np.sqrt(b @ covariance @ b)
        return X, response(X @ b, rng), b[None], covariance

    return draw


def published(n, d, active, response):
    """Lin, Zhao and Liu (2019), section 4.1: the first entries are normal, X is AR(.5)."""

    def draw(rng):
        X, covariance = features(rng, n, d, 0.5)
        b = np.r_[rng.normal(size=active), np.zeros(d - active)]
        return X, response(X @ b, rng.normal(size=n)), b[None], covariance

    return draw


def two(n, d, correlation, first, second, response):
    """Two directions, each the sum of some columns."""

    def draw(rng):
        X, covariance = features(rng, n, d, correlation)
        B = np.zeros((2, d))
        B[0, first] = B[1, second] = 1
        return X, response(*(X @ B.T).T, rng.normal(size=n)), B, covariance

    return draw


def features(rng, n, d, correlation, heavy=False):
    """Draw rows, normal or t3, and their covariance up to a factor."""
    covariance = correlation ** np.abs(np.subtract.outer(np.arange(d), np.arange(d)))
    X = rng.standard_t(3, size=(n, d)) if heavy else rng.normal(size=(n, d))
    return X @ np.linalg.cholesky(covariance).T, covariance


def noisy(scale):
    """Return the identity with noise."""
    return lambda z, rng: z + scale * rng.normal(size=len(z))


CELLS = {
    "linear, 60 x 10, AR(.5)": one(60, 10, 3, 0.5, noisy(0.5)),
    "linear, 60 x 100": one(60, 100, 3, 0.0, noisy(0.5)),
    "linear, 150 x 100": one(150, 100, 3, 0.0, noisy(0.3)),
    "linear, not sparse, 100 x 20, AR(.5)": one(100, 20, 20, 0.5, noisy(0.5)),
    "cubic, 150 x 300": one(150, 300, 5, 0.0, lambda z, rng: noisy(0.3)(z**3, rng)),
    "cubic, ten features, 150 x 300": one(150, 300, 10, 0.0, lambda z, rng: noisy(1.0)(z**3, rng)),
    "exponential, 110 x 100": one(
        110, 100, 2, 0.0, lambda z, rng: np.exp(2 * z + 0.3 * rng.normal(size=len(z)))
    ),
    "tanh, 150 x 50, AR(.5)": one(150, 50, 4, 0.5, lambda z, rng: noisy(0.2)(np.tanh(4 * z), rng)),
    "sine, 200 x 50": one(200, 50, 4, 0.0, lambda z, rng: noisy(0.2)(np.sin(2 * z), rng)),
    "Poisson, 150 x 50, AR(.5)": one(
        150, 50, 4, 0.5, lambda z, rng: rng.poisson(np.exp(0.8 * z)).astype(float)
    ),
    "linear, t3, 100 x 30": one(
        100, 30, 3, 0.0, lambda z, rng: z + 0.5 * rng.standard_t(3, size=len(z)), heavy=True
    ),
    "published I, 1000 x 100": published(1000, 100, 10, lambda z, e: z + e),
    "published II, 1000 x 100": published(1000, 100, 20, lambda z, e: z**3 / 2 + e),
    "published III, 1000 x 100": published(1000, 100, 10, lambda z, e: np.sin(z) * np.exp(z) + e),
    "published IV, 1000 x 100": published(1000, 100, 50, lambda z, e: np.exp(z / 10) + e),
    "published V, 1000 x 100": published(1000, 100, 7, lambda z, e: np.exp(z + e)),
    "two: rational, 500 x 30": two(
        500, 30, 0.0, [0, 1], [2], lambda a, b, e: a / (0.5 + (b + 1.5) ** 2) + 0.1 * e
    ),
    "two: rational, 200 x 10, AR(.5)": two(
        200, 10, 0.5, [0], [5], lambda a, b, e: a / (0.5 + (b + 1.5) ** 2) + 0.2 * e
    ),
    "two: quadratic, 200 x 30": two(
        200, 30, 0.0, [0], [1], lambda a, b, e: a + 0.5 * (b + 1) ** 2 + 0.3 * e
    ),
    "two: a exp(b), 1000 x 100, AR(.5)": two(
        1000, 100, 0.5, slice(5), slice(5, 10), lambda a, b, e: a * np.exp(b) + e
    ),
    "two: a (2 + b/3)^2, 1000 x 100, AR(.5)": two(
        1000, 100, 0.5, slice(6), slice(6, 12), lambda a, b, e: a * (2 + b / 3) ** 2 + e
    ),
    "none, 100 x 20": one(100, 20, 3, 0.0, lambda z, rng: rng.normal(size=len(z))),
    "none, 100 x 200": one(100, 200, 3, 0.0, lambda z, rng: rng.normal(size=len(z))),
    "none, 400 x 30, AR(.5)": one(400, 30, 3, 0.5, lambda z, rng: rng.normal(size=len(z))),
}


def trace_correlation(W, B, covariance):
    """Mean squared canonical correlation of the scores along W and B, in the population."""
    W = np.atleast_2d(W)
    W = W[W.any(axis=1)]
    if not len(W):
        return 0.0
    root = np.linalg.cholesky(covariance).T
    return compare_subspaces(B @ root.T, W @ root.T).trace_correlation


def lasso_of_ranks(X, y):
    """Fit scikit-learn's lasso, for standardised columns and five shuffled folds."""
    scaler = StandardScaler().fit(X)
    order = np.random.default_rng(0).permutation(len(y))
    lasso = LassoCV(alphas=100).fit(scaler.transform(X)[order], rankdata(y)[order])
    return lasso.coef_ / scaler.scale_


def by_r(X, y, r, library):
    """Directions of R's LassoSIR; none where it stops with an error."""
    with tempfile.TemporaryDirectory() as folder:
        np.savetxt(f"{folder}/X.csv", X, delimiter=",")
        np.savetxt(f"{folder}/y.csv", y, delimiter=",")
        code = R_CODE.format(folder=folder, library=library, r=r)
        ran = subprocess.run(["Rscript", "-e", code], capture_output=True, check=False)
        if ran.returncode:
            return None
        return np.loadtxt(f"{folder}/B.csv", delimiter=",", ndmin=2)


def run(cell, seed, library):
    """Fit one set, by R's package or by all others; a record."""
    X, y, B, covariance = CELLS[cell](np.random.default_rng(seed))
    r, n_true = len(B), 0 if cell.startswith("none") else len(B)

    def quality(W):
        return None if W is None else trace_correlation(W, B, covariance)

    record = {"cell": cell, "seed": seed, "directions": n_true, "by R": bool(library)}
    if library:
        return record | {"R": quality(by_r(X, y, r, library) if n_true else None)}
    record["number"] = SparseSlicedInverseRegression().fit(X, y).n_components_
    if n_true:
        record["sparse"] = quality(SparseSlicedInverseRegression(r).fit(X, y).components_)
        record["lasso"] = quality(lasso_of_ranks(X, y))
        record["SIR"] = quality(SlicedInverseRegression(r).fit(X, y).components_)
    return record


def write(lines):
    """Make the table of the file of lines."""
    import pandas as pd

    frame = pd.DataFrame([json.loads(line) for line in lines.read_text().splitlines()])
    rows = []
    for cell in [cell for cell in CELLS if cell in set(frame["cell"])]:
        part = frame[frame["cell"] == cell]
        ours, by_r = part[~part["by R"]], part[part["by R"]]
        row = {"cell": cell, "sets": len(ours)}
        for name in ("sparse", "lasso", "SIR"):
            row[name] = shown(ours[name].dropna())
        row["sparse less lasso"] = shown((ours["sparse"] - ours["lasso"]).dropna(), "+")
        row["R's LassoSIR"] = shown(by_r["R"].dropna())
        row["sets by R"] = by_r["R"].notna().sum()
        row["number right"] = f"{(ours['number'] == ours['directions']).sum()} of {len(ours)}"
        rows.append(row)
    pd.DataFrame(rows).to_csv(TABLE, index=False)


def shown(values, sign=""):
    """Mean and standard error."""
    if len(values) < 2:
        return "--"
    return f"{values.mean():{sign}.3f} ({values.std() / np.sqrt(len(values)):.3f})"


def main(lines, n_sets, library):
    """Append a line for every set that the file does not have."""
    done = lines.read_text().splitlines() if lines.exists() else []
    done = {(record["cell"], record["seed"], record["by R"]) for record in map(json.loads, done)}
    warnings.simplefilter("ignore")
    for seed in range(n_sets):
        for cell in CELLS:
            if (cell, seed, bool(library)) not in done:
                with lines.open("a") as file:
                    print(json.dumps(run(cell, seed, library)), file=file)


if __name__ == "__main__":
    parser = make_parser(__doc__)
    parser.add_argument("lines", type=Path, help="results, appended to")
    parser.add_argument("sets", type=int, nargs="?", default=20)
    parser.add_argument("library", nargs="?", help="folder of R packages")
    parser.add_argument("--write", action="store_true", help="write the table of the results")
    options = parser.parse_args()
    if options.write:
        write(options.lines)
    else:
        main(options.lines, options.sets, options.library)
