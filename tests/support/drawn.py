"""Rows that several tests of transformers draw."""

import numpy as np

from skbo_silbo.inspection import compare_subspaces


def sine(components, truth):
    """Return the largest sine between the spans of two sets of rows."""
    return np.sin(compare_subspaces(components, np.atleast_2d(truth)).largest_angle)


def unit(components):
    """Return the absolute values of rows scaled to unit length."""
    return np.abs(components / np.linalg.norm(components, axis=1, keepdims=True))


def rational(seed, n=200, d=10):
    """Rows, a response of the first two features, and their directions."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = X[:, 0] / (0.5 + (X[:, 1] + 1.5) ** 2) + 0.2 * rng.normal(size=n)
    return X, y, np.eye(d)[:2]


def noise(seed, n=60, d=10):
    """Rows, a response that they do not explain, and the generator."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)), rng.normal(size=n), rng


def two_directions(seed=0, n=200, d=5):
    """Correlated rows, and a response of the first two columns."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) @ (np.eye(d) + 0.4 * rng.normal(size=(d, d)) / np.sqrt(d))
    return X, np.exp(0.5 * X[:, 0]) + X[:, 1] + 0.5 * rng.normal(size=n)


def linear_data(seed, n, d, noise=0.5, n_more=0):
    """Rows, of which some more than are asked for, a linear response, and its direction."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n + n_more, d))
    b = np.ones(d) / np.sqrt(d)
    return X, X @ b + noise * rng.normal(size=n + n_more), b


def weighted_rows(seed, n=40, n_unlabeled=60, d=4):
    """Labelled rows, y, unlabelled rows; counts, and relative weights."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n + n_unlabeled, d)) * rng.lognormal(size=d)
    y = X[:n, 0] / X[:n, 0].std() + 0.3 * rng.normal(size=n)
    return X[:n], y, X[n:], rng.integers(1, 5, size=n), rng.lognormal(size=n)


def numbers_of_rows(weights):
    """Return weights that sum to Kish's number."""
    return weights * weights.sum() / (weights**2).sum()
