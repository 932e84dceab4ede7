import json
from functools import partial

import numpy as np
import pytest
from derivatives import assert_gradient, directional
from global_generator import global_generator_unchanged
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import norm
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel

from skbo_silbo.surrogate import GaussianProcessSurrogate

pytestmark = pytest.mark.quick


def make_data(n=30, r=3, seed=0, noise=0.05):
    rng = np.random.default_rng(seed)
    Z = rng.uniform(-1, 1, (n, r))
    return Z, 5 + 3 * np.sin(2 * Z[:, 0]) + Z[:, -1] ** 2 + noise * rng.standard_normal(n)


def test_tuning_reaches_posterior_mode_of_scikit_learn():
    Z, y = make_data()
    surrogate = GaussianProcessSurrogate().fit(Z, y)
    theta, prior = surrogate.theta_, surrogate.prior_
    kernel = ConstantKernel(1.0) * Matern(np.ones(3), nu=2.5) + WhiteKernel(1.0)
    model = GaussianProcessRegressor(kernel, alpha=1e-10, optimizer=None)
    model.fit(Z, (y - y.mean()) / y.std())

    def log_posterior(t):
        return model.log_marginal_likelihood(t) + prior.log_density(t)[0]

    slopes = [directional(log_posterior, theta, e, 0.1)[0] for e in np.eye(5)]
    assert_allclose(slopes, 0.0, atol=2e-2)
    rng = np.random.default_rng(2)
    around = [log_posterior(theta + 0.1 * rng.standard_normal(5)) for _ in range(30)]
    assert log_posterior(theta) > max(around)


def predict_one(surrogate, which, z):
    return surrogate.predict(z[None])[which][0]


@settings(max_examples=15)
@given(seed=st.integers(0, 10**6), r=st.integers(1, 6), n=st.integers(2, 25))
def test_gradient_of_the_prediction(seed, r, n):
    Z, y = make_data(n, r, seed)
    surrogate = GaussianProcessSurrogate().fit(Z, y, tune=False)
    z = np.random.default_rng(seed).uniform(-1, 1, r)
    mean, std, by_mean, by_std = surrogate.predict_gradient(z[None])
    assert_allclose((mean, std), surrogate.predict(z[None]), rtol=1e-7)
    for which, gradient in ((0, by_mean), (1, by_std)):
        assert_gradient(gradient[0], partial(predict_one, surrogate, which), z, atol=1e-5)


@settings(max_examples=6)
@given(shift=st.floats(-1e3, 1e3), scale=st.floats(1e-3, 1e3))
def test_units_of_the_targets_do_not_matter(shift, scale):
    Z, y = make_data()
    new = np.random.default_rng(1).uniform(-1, 1, (5, 3))
    mean, std = GaussianProcessSurrogate().fit(Z, y).predict(new)
    moved_mean, moved_std = GaussianProcessSurrogate().fit(Z, shift + scale * y).predict(new)
    assert_allclose(moved_mean, shift + scale * mean, rtol=1e-3, atol=1e-3 * scale)
    assert_allclose(moved_std, scale * std, rtol=5e-2)


def test_held_out_values_are_covered():
    Z, y = make_data(n=200, noise=0.3)
    surrogate = GaussianProcessSurrogate().fit(Z[:80], y[:80])
    mean, std = surrogate.predict(Z[80:])
    density = surrogate.log_predictive_density(Z[80:], y[80:])
    spread = np.sqrt(std**2 + surrogate.y_scale_**2 * np.exp(surrogate.theta_[-1]))
    assert_allclose(density, norm.logpdf(y[80:], mean, spread))
    assert 0.85 < np.mean(np.abs(y[80:] - mean) < 1.96 * spread) <= 1.0


@pytest.mark.parametrize("n", [1, 2, 7])
def test_constant_targets(n):
    Z, _ = make_data(n)
    surrogate = GaussianProcessSurrogate().fit(Z, np.full(n, 4.25))
    mean, std = surrogate.predict(np.vstack([Z, np.ones((1, 3))]))
    assert_allclose(mean, 4.25)
    assert (std[:n] < 0.1 * std[-1]).all()
    assert_allclose(surrogate.theta_, surrogate.prior_.location)


def test_pending_points_change_only_deviation():
    Z, y = make_data(noise=0.0)
    surrogate = GaussianProcessSurrogate().fit(Z, y)
    new = np.random.default_rng(1).uniform(-1, 1, (10, 3))
    believer = surrogate.with_points(new[:1], surrogate.predict(new[:1])[0])
    assert_allclose(believer.predict(new)[0], surrogate.predict(new)[0], rtol=1e-5)
    noise = np.exp(0.5 * surrogate.theta_[-1]) * surrogate.y_scale_
    certain = 0.1 * noise  # the objective itself is believed, not a noisy value of it
    assert believer.predict(new[:1])[1] < certain < surrogate.predict(new[:1])[1]
    assert_allclose(believer.theta_, surrogate.theta_)
    assert surrogate.predict(new)[1].shape == (10,)


def test_inputs_are_not_changed_nor_the_global_generator():
    Z, y = make_data()
    before = Z.copy(), y.copy()
    with global_generator_unchanged():
        surrogate = GaussianProcessSurrogate().fit(Z, y)
        surrogate.with_points(Z[:1], y[:1]).predict(Z)
    np.testing.assert_equal((Z, y), before)


# --- state ------------------------------------------------------------------


@pytest.mark.parametrize("tune", [True, False])
def test_state_restores_every_bit(tune):
    rng = np.random.default_rng(3)
    Z, new = rng.uniform(-1, 1, (20, 3)), rng.uniform(-1, 1, (5, 3))
    y = np.sin(3 * Z[:, 0]) + Z[:, 1]
    surrogate = GaussianProcessSurrogate().fit(Z, y, tune=tune)
    state = json.loads(json.dumps(surrogate.to_state()))
    restored = GaussianProcessSurrogate().fit(Z, y, state=state, tune=False)
    assert_array_equal(restored.theta_, surrogate.theta_)
    assert_array_equal(restored.predict(new), surrogate.predict(new))
    more = [s.with_points(new, np.zeros(5)).predict(Z) for s in (restored, surrogate)]
    assert_array_equal(*more)


def test_many_values_tune_on_subset():
    Z, y = make_data(n=700, r=2)
    surrogate = GaussianProcessSurrogate().fit(Z, y)
    rows = np.random.default_rng(0).choice(700, 60, replace=False)
    mean, std = surrogate.predict(Z[rows])
    assert np.abs(mean - y[rows]).mean() < 2 * 0.05  # the noise
    few = GaussianProcessSurrogate().fit(
        Z[:100], y[:100], state={"theta": surrogate.theta_}, tune=False
    )
    assert std.mean() < 0.6 * few.predict(Z[rows])[1].mean()
