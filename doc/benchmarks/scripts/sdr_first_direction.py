"""Few labels: ridge regression of the ranks of y as the first direction, beside sliced inversion.

``python doc/benchmarks/scripts/sdr_first_direction.py [sets]`` prints, for every cell, the mean
R^2 on 500 new rows of ten nearest neighbours along one score; the table is in
doc/benchmarks/sdr_levels.rst. Predicted before the first run: level, within 0.01, where y is
monotone in one score, since the ridge of semi-supervised inversion is chosen on the same ranks;
below it where y has two directions; both at nothing where y is even.
"""

import warnings

import numpy as np
from checkout import make_parser
from scipy.stats import rankdata
from sklearn.linear_model import RidgeCV
from sklearn.neighbors import KNeighborsRegressor

from skbo_silbo import SemiSlicedInverseRegression

N_NEIGHBORS, N_NEW = 10, 500
RESPONSES = {  # of scores of variance 1
    "linear": lambda u, v: u,
    "sigmoid": lambda u, v: np.tanh(2 * u),
    "exponential": lambda u, v: np.exp(u),
    "two directions": lambda u, v: u + np.exp(v),
    "even": lambda u, v: u**2,
}
SHAPES = ((40, 10), (40, 40), (80, 10), (80, 40))


def drawn(name, n, d, seed):
    """Rows, responses with noise of half their deviation, and new ones; columns are correlated."""
    rng = np.random.default_rng([seed, n, d])
    mix = np.linalg.cholesky(0.4 ** np.abs(np.subtract.outer(np.arange(d), np.arange(d))))
    X = rng.normal(size=(n + N_NEW, d)) @ mix.T
    scores = X @ rng.normal(size=(d, 2))
    y = RESPONSES[name](*(scores / scores.std(axis=0)).T)
    return X[:n], (y + 0.5 * y.std() * rng.normal(size=len(y)))[:n], X[n:], y[n:]


def by_ranks(X, y, new):
    """Scores of the rows, and of new ones, by a ridge regression of the ranks of y."""
    unit = X.std(axis=0)
    ridge = RidgeCV(np.logspace(-3, 4, 22)).fit(X / unit, rankdata(y))
    return ridge.predict(X / unit)[:, None], ridge.predict(new / unit)[:, None]


def by_slices(X, y, new):
    """The same by `SemiSlicedInverseRegression`, to which the new rows are unlabelled ones."""
    sir = SemiSlicedInverseRegression(1).fit(X, y, new)
    return sir.transform(X), sir.transform(new)


def main(n_sets):
    """Print a line a cell: the two means, and the gain of ranks with its standard error."""
    for n, d in SHAPES:
        for name in RESPONSES:
            found = np.empty((2, n_sets))
            for seed in range(n_sets):
                X, y, new, truth = drawn(name, n, d, seed)
                for row, scores in enumerate((by_slices, by_ranks)):
                    Z, W = scores(X, y, new)
                    model = KNeighborsRegressor(N_NEIGHBORS).fit(Z / Z.std(), y)
                    found[row, seed] = model.score(W / Z.std(), truth)
            gain = found[1] - found[0]
            error = gain.std(ddof=1) / np.sqrt(n_sets)
            means = "{:7.3f}{:7.3f}".format(*found.mean(axis=1))
            print(f"{f'{n} x {d}':9}{name:15}{means}{gain.mean():+8.3f} ± {error:.3f}", flush=True)


if __name__ == "__main__":
    parser = make_parser(__doc__)
    parser.add_argument("sets", type=int, nargs="?", default=20, help="data sets per cell")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        main(parser.parse_args().sets)
