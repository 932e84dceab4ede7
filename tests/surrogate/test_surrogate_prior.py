import json

import numpy as np
import pytest
from derivatives import assert_gradient
from numpy.testing import assert_array_equal
from scipy.optimize import minimize_scalar

from skbo_silbo._numerics._priors import PRIORS, UNIFORM_WIDTH, sparse_prior
from skbo_silbo.surrogate import GaussianProcessSurrogate


@pytest.mark.parametrize("name", PRIORS)
def test_gradient_of_the_log_density(name):
    prior = PRIORS[name](7)
    theta = prior.location + np.random.default_rng(0).normal(size=9)
    _, gradient = prior.log_density(theta)
    assert_gradient(gradient, lambda t: prior.log_density(t)[0], theta, step=0.1)


@pytest.mark.parametrize("width", [1.0, 2.0, UNIFORM_WIDTH])
def test_the_shared_scale_is_the_one_of_highest_density(width):
    log_weights = np.random.default_rng(1).normal(-3, 2, 12)
    theta = np.r_[0.0, -0.5 * log_weights, np.log(1e-4)]
    prior = sparse_prior(12, width)

    def minus(
        log_tau,
    ):  # half-Cauchy densities themselves, of w by log w: w / (tau (1 + (w/tau)^2))
        ratio = np.exp(log_weights - log_tau)
        shared = np.exp(log_tau) / (0.1 / width**2)
        each = np.log(2 * ratio / (1 + ratio**2)).sum()
        return -(each + np.log(2 * shared / (1 + shared**2)))

    best = minimize_scalar(minus, bounds=(-12, 6), method="bounded", options={"xatol": 1e-10})
    assert prior.log_density(theta)[0] == pytest.approx(-best.fun, abs=1e-9)


def test_a_sparse_prior_finds_two_inputs_among_many_and_predicts_by_them():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (120, 60))
    y = np.sin(3 * X[:, 7]) + X[:, 30] ** 2
    sparse, dense = (
        GaussianProcessSurrogate(prior=name).fit(X[:60], y[:60])
        for name in ("sparse", "dimension-scaled")
    )
    assert set(np.argsort(sparse.theta_[1:-1])[:2]) == {7, 30}
    errors = [np.abs(s.predict(X[60:])[0] - y[60:]).mean() for s in (sparse, dense)]
    assert errors[0] < 0.2 * errors[1]


def test_leave_one_out_density_is_that_of_refits():
    rng = np.random.default_rng(2)
    Z = rng.uniform(-1, 1, (15, 2))
    y = 5 + 3 * np.sin(2 * Z[:, 0]) + 0.1 * rng.standard_normal(15)
    surrogate = GaussianProcessSurrogate().fit(Z, y)
    density = surrogate.leave_one_out_log_density()
    signal, noise = np.exp(surrogate.theta_[[0, -1]])
    targets = (y - surrogate.y_mean_) / surrogate.y_scale_
    q = 5 * (((Z[:, None] - Z[None]) ** 2) * surrogate.relevance_**2).sum(axis=2)
    K = signal * (1 + np.sqrt(q) + q / 3) * np.exp(-np.sqrt(q)) + noise * np.eye(15)
    for i in range(15):
        rest = np.arange(15) != i
        solved = np.linalg.solve(K[rest][:, rest], K[rest, i])
        mean, variance = solved @ targets[rest], K[i, i] - solved @ K[rest, i]
        expected = -0.5 * (np.log(2 * np.pi * variance) + (targets[i] - mean) ** 2 / variance)
        assert density[i] == pytest.approx(expected - np.log(surrogate.y_scale_), abs=1e-6)


def test_state_of_many_hyperparameters_is_kept_to_the_last_bit():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (25, 300))
    y = np.sin(2 * X[:, 0]) + X[:, 1]
    theta = np.r_[1.3, rng.uniform(0.0, 2.0, 300), -9.0]
    fitted = GaussianProcessSurrogate().fit(X, y, state={"theta": theta}, tune=False)
    assert_array_equal(fitted.theta_, theta)
    state = json.loads(json.dumps(fitted.to_state()))
    for _ in range(3):
        again = GaussianProcessSurrogate().fit(X, y, state=state, tune=False)
        assert again.to_state() == state
        assert_array_equal(again.predict(X), fitted.predict(X))
        state = again.to_state()
