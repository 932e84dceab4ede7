"""The cylindrical kernel on the properties that its paper wants, and against definitions."""

import json
from functools import partial

import numpy as np
import pytest
from derivatives import assert_gradient
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import multivariate_normal
from sklearn.gaussian_process.kernels import Matern

from benchmarks.engine.baselines.bock import (
    PRIOR,
    CylindricalKernel,
    CylindricalProcess,
    Polar,
    _log_likelihood,
    warp,
)

pytestmark = pytest.mark.bench


def draw_theta(rng):
    low, high = PRIOR.bounds.T
    return np.clip(PRIOR.location + rng.standard_normal(8), low, high)


def make_data(n=40, d=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, d))
    return X, 3 + np.linalg.norm(X - 0.2, axis=1) + 0.2 * X[:, 0]


# --- the kernel -----------------------------------------------------------------------------------


@settings(max_examples=20)
@given(seed=st.integers(0, 10**6), d=st.integers(1, 8))
def test_kernel_is_positive_definite_at_boundary(seed, d):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (20, d))
    X[:2], X[2], X[3:6] = 0.0, 1.0, np.sign(X[3:6])
    points = Polar(X)
    K = CylindricalKernel(draw_theta(rng))(points, points)
    assert_allclose(K, K.T, rtol=1e-12)
    assert np.linalg.eigvalsh(K).min() > -1e-12 * np.trace(K)


def test_from_the_centre_all_directions_are_equal():
    rng = np.random.default_rng(0)
    kernel, directions = CylindricalKernel(draw_theta(rng)), rng.standard_normal((9, 5))
    points = Polar(0.7 * directions / np.linalg.norm(directions, axis=1, keepdims=True))
    centre = kernel(Polar(np.zeros((1, 5))), points)
    assert_allclose(centre, centre[0, 0], rtol=1e-12)
    assert np.ptp(kernel(points, points)) > 0.01


def test_the_definition_one_pair_at_a_time():
    rng = np.random.default_rng(2)
    X, kernel = rng.uniform(-1, 1, (6, 3)), CylindricalKernel(theta := draw_theta(rng))
    length, alpha, beta, *c, _ = np.exp(theta)
    radial = Matern(length, nu=2.5)
    for x in X:
        for z in X:
            radii = [np.linalg.norm(p) / np.sqrt(3) for p in (x, z)]
            warped = [[1 - (1 - r**alpha) ** beta] for r in radii]
            cosine = x @ z / np.linalg.norm(x) / np.linalg.norm(z)
            expected = radial(warped[:1], warped[1:])[0, 0] * sum(
                c[p] * cosine**p for p in range(4)
            )
            assert_allclose(kernel(Polar(x[None]), Polar(z[None]))[0, 0], expected)


@pytest.mark.parametrize(("alpha", "beta"), [(1.0, 1.0), (0.5, 2.0), (0.3, 4.0)])
def test_warp_is_increasing_and_concave(alpha, beta):
    radius = np.linspace(0, 1, 400)
    w, by_alpha, by_beta = warp(radius, alpha, beta)
    assert_allclose([w[0], w[-1]], [0, 1], atol=1e-12)
    assert (np.diff(w) > 0).all()
    assert (np.diff(w, 2) < 1e-12).all()
    inside, h = radius[20:-20], 1e-6
    for got, moved in (
        (by_alpha, [warp(inside, alpha * np.exp(s * h), beta)[0] for s in (1, -1)]),
        (by_beta, [warp(inside, alpha, beta * np.exp(s * h))[0] for s in (1, -1)]),
    ):
        assert_allclose(got[20:-20], (moved[0] - moved[1]) / (2 * h), rtol=1e-5, atol=1e-8)


# --- the process ----------------------------------------------------------------------------------


def test_likelihood_matches_normal_density_with_gradient():
    X, y = make_data()
    X[0] = 0.0
    targets, points = (y - y.mean()) / y.std(), Polar(X)
    theta = draw_theta(np.random.default_rng(1))
    log_likelihood = partial(_log_likelihood, points, targets)
    value, gradient = log_likelihood(theta)
    kernel = CylindricalKernel(theta)
    K = kernel(points, points) + kernel.noise * np.eye(40)
    density = multivariate_normal(np.zeros(40), K).logpdf(targets) + 20 * np.log(2 * np.pi)
    assert_allclose(value, density, rtol=1e-8)
    assert_gradient(gradient, lambda t: log_likelihood(t)[0], theta, step=0.05)


def test_prediction_is_the_conditional_normal():
    X, y = make_data()
    process = CylindricalProcess().fit(X, y, tune=False)  # tuned, the inverse below loses digits
    kernel, points = CylindricalKernel(process.theta_), Polar(X)
    new = np.vstack([np.zeros(4), np.random.default_rng(1).uniform(-1, 1, (8, 4))])
    inverse = np.linalg.inv(kernel(points, points) + kernel.noise * np.eye(40))
    k = kernel(Polar(new), points)
    mean, std = process.predict(new)
    assert_allclose(mean, y.mean() + k @ inverse @ (y - y.mean()), rtol=1e-6)
    variance = np.diag(kernel(Polar(new), Polar(new)) - k @ inverse @ k.T)
    assert_allclose(std, y.std() * np.sqrt(variance), rtol=1e-4)


def test_added_points_and_state():
    X, y = make_data()
    process = CylindricalProcess().fit(X, y)
    new = np.random.default_rng(1).uniform(-1, 1, (3, 4))
    more = process.with_points(new, process.predict(new)[0])
    assert_allclose(more.predict(X)[0], process.predict(X)[0], atol=1e-6)
    assert (more.predict(new)[1] < process.predict(new)[1]).all()
    state = json.loads(json.dumps(process.to_state()))
    again = CylindricalProcess().fit(X, y, state=state, tune=False)
    for a, b in zip(again.predict(new), process.predict(new), strict=True):
        assert_array_equal(a, b)


# --- the optimiser --------------------------------------------------------------------------------
