"""Data of experiment `sdr-defaults`: real sets, generators, and rows drawn from them."""

import numpy as np

N_TEST = 400


def _scikit_learn(name, categories=False):
    def load():
        from sklearn import datasets

        X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
        return X, y.astype(str) if categories else y

    return load


def _alcohol():
    """Wine's first column from the others."""
    X, _ = _scikit_learn("wine")()
    return X[:, 1:], X[:, 0]


def _interactions():
    from sklearn.preprocessing import PolynomialFeatures

    X, y = _scikit_learn("diabetes")()
    return PolynomialFeatures(2, include_bias=False).fit_transform(X / X.std(axis=0)), y


def _statsmodels(name):
    def load():
        from statsmodels import datasets

        data = getattr(datasets, name).load_pandas()
        y = np.asarray(data.endog, dtype=float)
        return np.asarray(data.exog, dtype=float), y[:, 0] / y.sum(axis=1) if y.ndim > 1 else y

    return load


REAL = {
    "diabetes": _scikit_learn("diabetes"),
    "interactions": _interactions,
    "alcohol": _alcohol,
    "digits": _scikit_learn("digits", categories=True),
    "wine": _scikit_learn("wine", categories=True),
    "cancer": _scikit_learn("breast_cancer", categories=True),
    "star98": _statsmodels("star98"),
    "ccard": _statsmodels("ccard"),
    "fair": _statsmodels("fair"),
}


def _of_normal(response):
    """Rows of independent normal columns; the response of rows and of as many normal numbers."""

    def draw_rows(rng, n, d):
        X = rng.normal(size=(n, d))
        return X, response(X, rng.normal(size=n))

    return draw_rows


def _along_one(X, e):
    b = np.random.default_rng(5).normal(size=X.shape[1])
    return X @ (b / np.linalg.norm(b)) + 0.5 * e


def _rational(X, e):
    return X[:, 0] / (0.5 + (X[:, 1] + 1.5) ** 2) + 0.2 * e


def _quadratic(X, e):
    return X[:, 0] + 0.5 * (X[:, 1] + 1) ** 2 + 0.3 * e


def _autoregressive(rng, n, d):
    X = rng.normal(size=(n, d)) @ np.linalg.cholesky(_decaying(d)).T
    return X, 2 * X[:, : d // 4].mean(axis=1) + 0.5 * rng.normal(size=n)


def _spectra(rng, n, d):
    """Eight overlapping peaks, a shifting base line; y is the height of a weak one."""
    place, fixed = np.linspace(0, 1, d), np.random.default_rng(7)
    centres, widths = fixed.uniform(size=8), fixed.uniform(0.03, 0.12, size=8)
    peaks = np.exp(-0.5 * ((place - centres[:, None]) / widths[:, None]) ** 2)
    heights = rng.gamma(2.0, size=(n, 8)) * np.linspace(2, 0.3, 8)
    X = heights @ peaks + 0.3 * rng.normal(size=(n, 1)) + 0.02 * rng.normal(size=(n, d))
    return X, heights[:, 5] + 0.05 * rng.normal(size=n)


def _waves(rng, n, d):
    """Draw `examples/reduce/plot_unlabeled_rows.py`'s waves."""
    place = rng.uniform(size=(n, 2))
    frequency, phase = rng.normal(size=(2, d)), rng.uniform(0, 2 * np.pi, size=d)
    X = np.cos(2 * np.pi * place @ frequency + phase) + 0.1 * rng.normal(size=(n, d))
    return X, place[:, 0] + 0.05 * rng.normal(size=n)


def _box(rng, n, d):
    X = rng.uniform(-1, 1, size=(n, d))
    return X, X[:, 0] + X[:, 1] + 0.1 * rng.normal(size=n)


def _clusters(rng, n, d):
    fixed = np.random.default_rng(3)
    centres, spread = 0.6 * fixed.normal(size=(3, d)), fixed.normal(size=(5, d))
    k = rng.integers(3, size=n)
    X = centres[k] + rng.normal(size=(n, 5)) @ spread + 0.7 * rng.normal(size=(n, d))
    return X, k.astype(str)


def _null_heavy(rng, n, d):
    return rng.standard_t(3, size=(n, d)), rng.standard_t(3, size=n)


def _null_classes(rng, n, d):
    return rng.normal(size=(n, d)), rng.integers(3, size=n).astype(str)


def _three_classes(rng, n, d):
    k = rng.integers(3, size=n)
    return rng.normal(size=(n, d)) + 3 * np.eye(3, d)[k], k.astype(str)


SYNTHETIC = {
    "iid": _of_normal(_along_one),
    "autoregressive": _autoregressive,
    "sparse": _of_normal(lambda X, e: X[:, 0] + X[:, 1] - X[:, 2] + 0.5 * e),
    "spectra": _spectra,
    "waves": _waves,
    "box": _box,
    "rational": _of_normal(_rational),
    "quadratic": _of_normal(_quadratic),
    "clusters": _clusters,
    "null": _of_normal(lambda X, e: e),
    "null-heavy": _null_heavy,
    "null-classes": _null_classes,
    "three-classes": _three_classes,
    "linear": _of_normal(lambda X, e: X[:, 0] + 0.5 * e),
    "weak": _of_normal(lambda X, e: X[:, 0] + e),
}


def draw(problem, seed, n_unlabeled=0):
    """Labelled, test and unlabelled rows: X, y, X_test, y_test, X_unlabeled."""
    rng, n, data = np.random.default_rng(seed), problem["n"], problem["data"]
    if data in SYNTHETIC:
        X, y = SYNTHETIC[data](rng, n + N_TEST + n_unlabeled, problem["d"])
        n_test = N_TEST
    else:
        X, y = REAL[data]()
        order = rng.permutation(len(y))
        X, y = X[order], y[order]
        n_test = min(N_TEST, (len(y) - n) // (2 if n_unlabeled else 1))
    test = slice(n, n + n_test)
    return X[:n], y[:n], X[test], y[test], X[n + n_test :][:n_unlabeled]


def _decaying(d, correlation=0.9):
    return correlation ** np.abs(np.subtract.outer(np.arange(d), np.arange(d)))


def draw_directions(problem, rng):
    """X, y, the directions B (r, d) that y depends on, and the covariance of X up to a factor."""
    n, d = problem["n"], problem["d"]
    covariance = _decaying(d) if problem["X"] == "AR(.9)" else np.eye(d)
    X = rng.standard_t(3, size=(n, d)) if problem["X"] == "t3" else rng.normal(size=(n, d))
    X = X @ np.linalg.cholesky(covariance).T
    noise = rng.standard_t(3, size=n) if problem["noise"] == "t3" else rng.normal(size=n)
    if problem["data"] == "linear":
        b = np.r_[1.0, -1.0, 0.5, np.zeros(d - 3)]
        return X, X @ b + 0.5 * noise, b[None], covariance
    two = {"rational": _rational, "quadratic": _quadratic}
    return X, two[problem["data"]](X, noise), np.eye(2, d), covariance
