"""Kernel sliced inverse regression: closed forms, what it finds, and the estimator contract."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import linalg
from sklearn.metrics.pairwise import rbf_kernel

from skbo_silbo import KernelSlicedInverseRegression, SemiSlicedInverseRegression
from skbo_silbo.decomposition import slice_response


def rings(n=200, seed=0):
    """Points whose response is their distance from the middle: no linear direction has it."""
    X = np.random.default_rng(seed).uniform(-1, 1, size=(n, 2))
    return X, np.hypot(*X.T)


def swiss_sheet(n, seed, n_labeled):
    """A curled sheet in three dimensions plus noise; y is the arc length along it."""
    rng = np.random.default_rng(seed)
    t, width = 1.5 * np.pi * (1 + 2 * rng.uniform(size=n)), 20 * rng.uniform(size=n)
    X = np.column_stack([t * np.cos(t), width, t * np.sin(t)]) + 0.1 * rng.normal(size=(n, 3))
    y = np.where(np.arange(n) < n_labeled, t, np.nan)
    return (X - X.mean(axis=0)) / X.std(axis=0), y, t


# -- closed forms --------------------------------------------------------------------------------


@settings(max_examples=8)
@given(
    seed=st.integers(0, 10**6),
    n_unlabeled=st.sampled_from([0, 40]),
    alpha=st.sampled_from([0.0, 0.5, 5.0]),
    weighted=st.booleans(),
)
def test_the_linear_kernel_gives_the_linear_method(seed, n_unlabeled, alpha, weighted):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60 + n_unlabeled, 5))
    y = X[:, 0] + np.exp(X[:, 1]) + 0.1 * rng.normal(size=len(X))
    y[60:] = np.nan
    w = np.where(np.isnan(y), 1.0, rng.lognormal(size=len(y))) if weighted else None
    X /= np.sqrt(np.cov(X[:60].T, aweights=w[:60] if weighted else None, ddof=0).diagonal())
    # each ridge is relative to another mean: the trace of T over the features, or over the rows
    kernel = KernelSlicedInverseRegression(2, kernel="linear", alpha=alpha, ridge=0.0)
    linear = SemiSlicedInverseRegression(2, alpha=alpha, ridge=0.0, scale=False)
    Z, expected = (sir.fit(X, y, sample_weight=w).transform(X) for sir in (kernel, linear))
    np.testing.assert_allclose(kernel.eigenvalues_[:2], linear.eigenvalues_[:2], rtol=1e-7)
    np.testing.assert_allclose(np.abs(Z), np.abs(expected), atol=1e-6)


def test_directions_solve_the_pencil_in_feature_space():
    """K_c written out: (K O O' K) c = lambda (K K + rho K) c, on labelled rows alone."""
    X, y = rings(80)
    sir = KernelSlicedInverseRegression(3, gamma=2.0, ridge=0.05).fit(X, y)
    centring = np.eye(80) - 1 / 80
    K = centring @ rbf_kernel(X / X.std(axis=0), gamma=2.0) @ centring
    omega = slice_response(y, 10).membership().toarray()
    rho = 0.05 * np.trace(K) / 80
    smoother = np.linalg.solve(K + rho * np.eye(80), K)
    expected = np.sort(linalg.eigvals(omega.T @ smoother @ omega).real)[::-1]
    np.testing.assert_allclose(sir.eigenvalues_[:6], expected[:6], rtol=1e-6)
    Z = sir.transform(X)
    np.testing.assert_allclose(Z.mean(axis=0), 0, atol=1e-10)
    c = centring @ sir.dual_coef_
    np.testing.assert_allclose(Z, K @ c, atol=1e-8)
    np.testing.assert_allclose(c.T @ (K @ K + rho * K) @ c, 80 * np.eye(3), atol=1e-5)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_interpolating_fit_loses_no_digits(seed):
    """With this ridge several eigenvalues are 1 - 3e-7, and only the order of sums differs."""
    rng = np.random.default_rng(seed)
    X, y, counts = rng.uniform(size=(15, 30)), rng.integers(0, 3, 15), rng.integers(0, 5, 15)
    order = rng.permutation(counts.sum())
    sir = KernelSlicedInverseRegression(1, ridge=1e-6, categorical=True)
    rows, labels = X.repeat(counts, 0), y.repeat(counts)
    expected = sir.fit(rows, labels).transform(X)
    found = sir.fit(rows[order], labels[order]).transform(X)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-11)


# -- what it finds -------------------------------------------------------------------------------


def test_finds_a_ring_out_of_sample():
    X, y = rings(200)
    fresh, truth = rings(400, 100)
    sir = KernelSlicedInverseRegression(gamma=1.0).fit(X, y)
    assert abs(np.corrcoef(sir.transform(fresh)[:, 0], truth)[0, 1]) > 0.95


def test_unlabelled_rows_help_on_curled_sheet():
    none, auto, weights = [], [], []
    for seed in range(2):
        X, y, t = swiss_sheet(400, seed, n_labeled=40)
        for alpha, found in ((0.0, none), ("auto", auto)):
            sir = KernelSlicedInverseRegression(1, gamma=2.0, alpha=alpha)
            Z = sir.fit(X, y).transform(X[40:])
            found.append(abs(np.corrcoef(Z[:, 0], t[40:])[0, 1]))
        weights.append(sir.alpha_)
    assert np.mean(auto) > np.mean(none)
    assert max(weights) > 0


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_every_kernel_learns_scores(kernel):
    X = np.random.default_rng(0).uniform(0.1, 1.0, size=(150, 8))
    y = X[:, 0] + 2.0 * X[:, 7]
    Z = KernelSlicedInverseRegression(1, kernel=kernel).fit_transform(X, y)
    assert abs(np.corrcoef(Z[:, 0], y)[0, 1]) > 0.9


# -- surface -------------------------------------------------------------------------------------


def test_kernel_is_accurate_far_from_origin():
    X, y = rings(120)
    sir = KernelSlicedInverseRegression(2)
    Z = sir.fit(X, y).transform(X)
    moved = X + 2.0**30
    np.testing.assert_allclose(sir.fit(moved, y).transform(moved), Z, atol=1e-4)


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_the_kernel_form_does_without(kernel):
    X, y = rings(130)
    y[::3] = np.nan
    sir = KernelSlicedInverseRegression(2, kernel=kernel)
    scores, gamma = sir.fit(X, y).transform(X), sir.gamma_
    padded = np.insert(X, 2, 98.6, axis=1)
    assert sir.fit(padded, y).gamma_ == gamma
    np.testing.assert_allclose(sir.transform(padded), scores, atol=1e-7)
