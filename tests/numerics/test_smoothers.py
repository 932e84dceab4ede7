"""Leave-one-out errors and local linear fits, against refits and weighted least squares."""

import numpy as np
import pytest
from drawn import rational, sine
from scipy import linalg
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import LeaveOneOut, cross_val_predict

from skbo_silbo._numerics.leave_one_out import leave_one_out_errors
from skbo_silbo._numerics.local_linear import local_predictions, local_slopes, mave_step


def test_leave_one_out_is_that_of_the_refits():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(25, 4)), rng.normal(size=25)
    K = rbf_kernel(X)
    squares, left = linalg.eigh(K)
    errors = leave_one_out_errors(
        left, squares, y[:, None], np.array([1e-3, 0.1, 3.0]), intercept=False, weights=np.ones(25)
    )
    for ridge, error in zip([1e-3, 0.1, 3.0], errors, strict=True):
        peer = KernelRidge(alpha=ridge, kernel="precomputed")
        expected = np.mean((y - cross_val_predict(peer, K, y, cv=LeaveOneOut())) ** 2)
        assert error == pytest.approx(expected, rel=1e-8)


def test_leave_one_out_of_interpolating_fits_keeps_digits():
    rng = np.random.default_rng(0)
    X, y, order = rng.uniform(size=(15, 30)), rng.normal(size=15), rng.permutation(15)
    centring, ridges = np.eye(15) - 1 / 15, np.logspace(-6, -4, 5)

    def errors(X, y):
        squares, left = linalg.eigh(centring @ rbf_kernel(X) @ centring)
        targets = (y - y.mean())[:, None]
        given = {"intercept": True, "weights": np.ones(15)}
        return leave_one_out_errors(left[:, 1:], squares[1:], targets, ridges, **given)

    np.testing.assert_allclose(errors(X[order], y[order]), errors(X, y), rtol=1e-12)


def make_data(seed, n=60, d=4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * np.geomspace(0.5, 5, d) + rng.normal(size=d)
    score = (X[:, 0] - X[:, 0].mean()) / X[:, 0].std()
    y = score + score**2 + 0.3 * rng.normal(size=n)
    return X, y, rng.integers(0, 4, size=n), rng.uniform(0.2, 2, size=n)


def test_leave_one_out_leaves_out_a_weighted_row():
    rng = np.random.default_rng(2)
    X, y, w = rng.normal(size=(20, 3)) + 1, rng.normal(size=20), rng.uniform(0.3, 3, size=20)
    errors = np.empty(20)
    for i in range(20):
        rest = np.where(np.arange(20) == i, 0.0, w)
        errors[i] = (y[i] - Ridge(2.0).fit(X, y, rest).predict(X[i : i + 1])[0]) ** 2
    root = np.sqrt(w)[:, None]
    centred, targets = X - np.average(X, axis=0, weights=w), (y - np.average(y, weights=w))[:, None]
    left, singular, _ = linalg.svd(root * centred, full_matrices=False)
    ridges = np.array([2.0])
    (error,) = leave_one_out_errors(
        left, singular**2, root * targets, ridges, intercept=True, weights=w
    )
    assert error == pytest.approx(np.average(errors, weights=w))


def test_weighted_slopes_are_those_of_weighted_least_squares():
    X, y, _, weights = make_data(0, d=2)
    slopes = local_slopes(X, y[:, None], X, 2.0, 1e-12, weights)[:, :, 0]
    for j in (0, 31):
        w = weights * np.exp(-np.sum((X - X[j]) ** 2, axis=1) / 8)
        np.testing.assert_allclose(slopes[j], weighted_fit(X, y, w)[1:], rtol=1e-6)


def test_mave_step_respects_weights():
    X, y, counts, _ = make_data(4)
    B = np.linalg.qr(np.random.default_rng(0).normal(size=(4, 2)))[0]
    weighted = mave_step(X, y[:, None], B, 3.0, 1e-3, counts.astype(float))
    repeated = mave_step(
        X.repeat(counts, 0), y.repeat(counts)[:, None], B, 3.0, 1e-3, np.ones(counts.sum())
    )
    np.testing.assert_allclose(weighted @ weighted.T, repeated @ repeated.T, atol=1e-8)


def weighted_fit(Z, y, weights):
    """Intercept and slope of a weighted least-squares line."""
    design = np.column_stack([np.ones(len(Z)), Z]) * np.sqrt(weights)[:, None]
    return np.linalg.lstsq(design, y * np.sqrt(weights), rcond=None)[0]


@pytest.mark.parametrize("gap", [1.0, 3.0, 5.0, 6.0])
@pytest.mark.parametrize("far", [0.0, 4.0])
def test_slope_between_distant_rows_is_exact(gap, far):
    """Weights of 1 and w: a variance of ``w gap^2 / (1 + w)^2``, of 4e-15 for a gap of 6."""
    X = np.array([[far, 1.0], [far + gap, 1.0]])
    slopes = local_slopes(X, np.array([[2.0], [5.0]]), X, 0.7, 1e-3, np.ones(2))[:, :, 0]
    expected = 3 / gap / (1 + 1e-3 / 2)  # half of the trace: the other feature does not vary
    np.testing.assert_allclose(slopes, [[expected, 0.0]] * 2, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("gap", [6.0, 9.0, 12.0, 15.0])
def test_slope_from_weighted_copies_is_exact(gap):
    """The rounding error of the copies' mean, squared, can be more than the far row's weight."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        near, weights = rng.normal(size=2), rng.uniform(0.1, 3, size=4)
        far = near + np.array([gap, 0.0])
        X, y = np.vstack([near, near, near, far]), rng.normal(size=4)
        slopes = local_slopes(X, y[:, None], X, 0.7, 1e-3, weights)[:, :, 0]
        level = np.average(y[:3], weights=weights[:3])
        expected = (y[3] - level) / (X[3, 0] - near[0]) / (1 + 1e-3 / 2)
        np.testing.assert_allclose(slopes[:, 0], expected, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(slopes[:, 1], 0.0, atol=1e-9)


def test_predictions_are_those_of_weighted_least_squares():
    X, y, _ = rational(1, n=50, d=2)
    at = np.array([[0.0, 0.0], [0.5, -1.0]])
    values = local_predictions(X, y[:, None], at, 0.8, 1e-12, np.ones(50))[:, 0]
    for point, value in zip(at, values, strict=True):
        weights = np.exp(-np.sum((X - point) ** 2, axis=1) / (2 * 0.8**2))
        coefficients = weighted_fit(X, y, weights)
        assert value == pytest.approx(coefficients[0] + point @ coefficients[1:], rel=1e-6)


def test_mave_step_minimises_objective():
    X, y, truth = rational(2, n=80, d=4)
    B = np.linalg.qr(truth.T + 0.3 * np.random.default_rng(0).normal(size=(4, 2)))[0]
    V = X @ B
    weights = np.exp(-((V[:, None] - V) ** 2).sum(axis=2) / (2 * 0.7**2))
    weights /= weights.sum(axis=1, keepdims=True)
    rows, targets = [], []
    for j in range(80):
        root = np.sqrt(weights[j])
        slope = weighted_fit(V, y, weights[j])[1:]
        gap = X - weights[j] @ X
        rows.append((root[:, None, None] * slope[None, :, None] * gap[:, None, :]).reshape(80, -1))
        targets.append(root * (y - weights[j] @ y))
    best = np.linalg.lstsq(np.concatenate(rows), np.concatenate(targets), rcond=None)[0]
    stepped = mave_step(X, y[:, None], B, 0.7, 1e-10, np.ones(80))
    assert sine(stepped.T, best.reshape(2, 4)) < 1e-5
