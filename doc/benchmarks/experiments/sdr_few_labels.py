"""Few labels of public sets: neighbours along directions, beside ridge, PLS and LDA.

``python doc/benchmarks/experiments/sdr_few_labels.py [seeds]`` prints, for every cell, the mean
score on the rows without a label: accuracy of classes, R^2 of numbers. Directions of
`SemiSlicedInverseRegression` are learnt from the rows without a label too. Columns are standardised
by the labelled rows. The table is doc/benchmarks/sdr_few_labels.csv.
"""

import csv
import sys
import warnings

import numpy as np
from sklearn import datasets
from sklearn.cross_decomposition import PLSRegression
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import RidgeClassifierCV, RidgeCV
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.preprocessing import StandardScaler
from statsmodels.datasets import star98

from skbo_silbo import SemiSlicedInverseRegression, SlicedInverseRegression

NAMES = ("ridge", "PLS", "LDA", "neighbours", "SIR, neighbours", "semi-SIR, neighbours")
RIDGES = np.logspace(-3, 4, 15)


def schools():
    """Share of pupils above the median in 303 districts, and twelve columns on these."""
    data = star98.load_pandas()
    passed, failed = data.endog.to_numpy().T
    return data.exog.to_numpy()[:, :12], passed / (passed + failed)


def named(load):
    """Return a function that loads rows, and their classes as strings."""
    X, y = load(return_X_y=True)
    return lambda: (X, y.astype(str))


CELLS = {
    "digits, 100": (named(datasets.load_digits), 100),
    "digits, 200": (named(datasets.load_digits), 200),
    "wine, 40": (named(datasets.load_wine), 40),
    "breast cancer, 40": (named(datasets.load_breast_cancer), 40),
    "diabetes, 100": (lambda: datasets.load_diabetes(return_X_y=True), 100),
    "schools, 100": (schools, 100),
}


def by_pls(X, y, new, truth):
    """Score of PLS with two components, or as many as classes."""
    if y.dtype.kind == "f":
        return PLSRegression(2).fit(X, y).score(new, truth)
    classes = np.unique(y)
    shares = PLSRegression(len(classes)).fit(X, 1.0 * (y[:, None] == classes)).predict(new)
    return np.mean(classes[shares.argmax(axis=1)] == truth)


def near(y):
    """Five neighbours, or ten for numbers."""
    return KNeighborsRegressor(10) if y.dtype.kind == "f" else KNeighborsClassifier(5)


def along(sir, X, y, new, truth, **unlabelled):
    """Score of neighbours along the directions."""
    sir.fit(X, y, **unlabelled)
    return near(y).fit(sir.transform(X), y).score(sir.transform(new), truth)


def scores(X, y, new, truth):
    """Yield names and scores."""
    numeric = y.dtype.kind == "f"
    r = 1 if numeric else len(np.unique(y)) - 1
    ridge = RidgeCV(RIDGES) if numeric else RidgeClassifierCV(RIDGES)
    yield "ridge", ridge.fit(X, y).score(new, truth)
    yield "PLS", by_pls(X, y, new, truth)
    if not numeric:
        lda = LinearDiscriminantAnalysis(solver="eigen", shrinkage="auto")
        yield "LDA", lda.fit(X, y).score(new, truth)
    yield "neighbours", near(y).fit(X, y).score(new, truth)
    yield "SIR, neighbours", along(SlicedInverseRegression(r), X, y, new, truth)
    semi = SemiSlicedInverseRegression(r)
    yield "semi-SIR, neighbours", along(semi, X, y, new, truth, X_unlabeled=new)


def main(n_seeds):
    """Print a row a cell: mean scores, and how much semi-SIR gains on ridge."""
    table = csv.writer(sys.stdout, lineterminator="\n")
    table.writerow(["set, labels", *NAMES, f"{NAMES[-1]} less ridge"])
    for cell, (load, n) in CELLS.items():
        X, y = load()
        found = []
        for seed in range(n_seeds):
            order = np.random.default_rng(seed).permutation(len(y))
            known, new = order[:n], order[n:]
            scale = StandardScaler().fit(X[known])
            rows = scale.transform(X[known]), y[known], scale.transform(X[new]), y[new]
            found.append(dict(scores(*rows)))
        gain = np.array([f[NAMES[-1]] - f["ridge"] for f in found])
        error = gain.std(ddof=1) / np.sqrt(n_seeds)
        means = [f"{np.mean([f[k] for f in found]):.3f}" if k in found[0] else "" for k in NAMES]
        table.writerow([cell, *means, f"{gain.mean():+.3f} ± {error:.3f}"])
        sys.stdout.flush()


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 26)
