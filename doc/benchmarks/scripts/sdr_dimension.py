"""Rules for the number of directions: tests, criterion, ladle and bootstrap variability.

``python doc/benchmarks/scripts/sdr_dimension.py [sets]`` draws data sets of every model, 40 by
default, and prints the share in which each rule finds the right number of directions. The table is
in doc/benchmarks/sdr_levels.rst. The ladle is that of Luo and Li (Biometrika 103, 2016). Bootstrap
variability (Ye and Weiss, JASA 98, 2003) has no rule; here it is the number of directions whose
subspace varies least.
"""

import warnings

import numpy as np
from checkout import make_parser
from sdr_levels import CELLS_OF_GRID, LAWS, one_direction
from sdr_published import LI
from sdr_slices import RESPONSES, SHAPES

from skbo_silbo import (
    DirectionalRegression,
    SlicedAverageVarianceEstimation,
    SlicedInverseRegression,
)
from skbo_silbo.decomposition import slice_response

METHODS = {
    "SIR": SlicedInverseRegression(n_slices=10, ridge=0),
    "SAVE": SlicedAverageVarianceEstimation(),
    "DR": DirectionalRegression(),
}
N_RESAMPLES = 100


def whitened(X):
    """Rows of mean 0 and covariance I, by the symmetric root."""
    X = X - X.mean(axis=0)
    eigenvalues, V = np.linalg.eigh(X.T @ X / len(X))
    return X @ (V / np.sqrt(np.maximum(eigenvalues, 1e-12 * eigenvalues[-1]))) @ V.T


def kernel(method, Z, codes):
    """Return the matrix whose leading eigenvectors are the directions of whitened rows."""
    one = np.eye(Z.shape[1])
    slices = [Z[codes == h] for h in np.unique(codes) if np.sum(codes == h) > 1]
    shares = [len(part) / len(Z) for part in slices]
    means = [np.outer(part.mean(axis=0), part.mean(axis=0)) for part in slices]
    between = sum(p * M for p, M in zip(shares, means, strict=True))
    if method == "SIR":
        return between
    seconds = [part.T @ part / len(part) for part in slices]
    if method == "SAVE":
        moved = [one - S + M for S, M in zip(seconds, means, strict=True)]
        return sum(p * A @ A for p, A in zip(shares, moved, strict=True))
    squares = sum(p * S @ S for p, S in zip(shares, seconds, strict=True))
    return 2 * (squares + between @ between + np.trace(between) * between - one)


def by_bootstrap(method, X, codes, rng):
    """Return the numbers of directions of the ladle and of the least variability."""
    n, d = X.shape
    eigenvalues, V = np.linalg.eigh(kernel(method, whitened(X), codes))
    most = d - 1 if d <= 10 else int(d / np.log(d))
    ladle, variability = np.zeros(most + 1), np.zeros(most + 1)
    for _ in range(N_RESAMPLES):
        rows = rng.integers(n, size=n)
        resampled = np.linalg.eigh(kernel(method, whitened(X[rows]), codes[rows]))[1]
        inner = V[:, ::-1].T @ resampled[:, ::-1]
        for k in range(1, most + 1):
            ladle[k] += (1 - abs(np.linalg.det(inner[:k, :k]))) / N_RESAMPLES
            variability[k] += 1 - np.sum(inner[:k, :k] ** 2) / k
    spectrum = eigenvalues[::-1][: most + 1]
    ladle = ladle / (1 + ladle.sum()) + spectrum / (1 + spectrum.sum())
    return {"ladle": np.argmin(ladle), "variability": 1 + np.argmin(variability[1:])}


def noise(rng, n, d):
    """Rows and a response that does not depend on them."""
    return rng.normal(size=(n, d)), rng.normal(size=n)


def of_li(rng, response, n):
    """Rows and a response of Li (1991)."""
    X = rng.normal(size=(n, 10))
    return X, response(X[:, 0], X[:, 1], rng.normal(size=n))


def of_li_and_wang(rng, response, B, n):
    """Rows and a response of Li and Wang (2007)."""
    X = rng.normal(size=(n, B.shape[1]))
    return X, response(*(X @ B.T).T, rng.normal(size=n))


def of_grid(rng, law, n_values, n, d):
    """Rows, and classes that are cut at even distances from a linear response."""
    X = LAWS[law](rng, (n, d))
    y = X[:, :3] @ [1, 1, 0.5] + 0.3 * rng.normal(size=n)
    classes = np.minimum((y - y.min()) / np.ptp(y) * n_values, n_values - 1) // 1
    return X, classes.astype(str)


def cells():
    """Yield the name of a group of models, the method, the true number, and draws of a model."""
    for method in METHODS:
        for shape in ((200, 8), (400, 10)):
            yield "noise", method, 0, lambda s, a=shape: noise(np.random.default_rng(s), *a)
    for response in LI.values():
        for n in (200, 400):
            given = response, n
            yield "Li", "SIR", 2, lambda s, a=given: of_li(np.random.default_rng(s), *a)
    for n, d in SHAPES[:1]:
        for response, directions in RESPONSES.values():
            given = response, np.pad(directions, ((0, 0), (0, d - 6))), n
            for method in ("SAVE", "DR"):
                r = len(given[1])
                yield (
                    "Li and Wang",
                    method,
                    r,
                    lambda s, a=given: of_li_and_wang(np.random.default_rng(s), *a),
                )
    for law in ("normal", "elliptical t5", "exponential", "lognormal"):
        yield "linear", "SIR", 1, lambda s, law=law: one_direction(law, s, 150, 8)
    for cell in CELLS_OF_GRID:
        yield "classes", "SIR", 1, lambda s, a=cell: of_grid(np.random.default_rng(s), *a)


def right(method, r, draw, n_sets):
    """Return the share of data sets in which each rule finds r directions."""
    counts = dict.fromkeys(("auto", "criterion", "ladle", "variability"), 0.0)
    for seed in range(n_sets):
        X, y = draw(seed)
        sir = METHODS[method]
        found = {
            word: sir.set_params(n_components=word).fit(X, y).n_components_
            for word in ("auto", "criterion")
        }
        codes = slice_response(y, sir.n_slices).codes
        found |= by_bootstrap(method, X, codes, np.random.default_rng(seed))
        for rule in counts:
            counts[rule] += (found[rule] == r) / n_sets
    return counts


def main(n_sets):
    """Print the mean shares of every group of models."""
    groups = {}
    for group, method, r, draw in cells():
        groups.setdefault((group, method), []).append(right(method, r, draw, n_sets))
    for (group, method), shares in groups.items():
        means = {rule: f"{np.mean([s[rule] for s in shares]):.2f}" for rule in shares[0]}
        print(group, method, len(shares), means, flush=True)


if __name__ == "__main__":
    parser = make_parser(__doc__)
    parser.add_argument("sets", type=int, nargs="?", default=40, help="data sets per cell")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        main(parser.parse_args().sets)
