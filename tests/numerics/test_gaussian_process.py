"""The kernel, the Gaussian process and its fit, against closed forms and scikit-learn."""

import numpy as np
import pytest
from derivatives import assert_gradient
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import multivariate_normal
from sklearn.feature_selection import r_regression
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel
from sklearn.linear_model import LinearRegression
from sklearn.preprocessing import PolynomialFeatures

from skbo_silbo._numerics._gaussian_process import (
    condition,
    log_marginal_likelihood,
    profiled_log_marginal_likelihood,
)
from skbo_silbo._numerics._map_fit import (
    log_weight_starts,
    negative_log_posterior,
    process_at,
    search_map,
)
from skbo_silbo._numerics._matern import (
    gradient_by_weights,
    matern52,
    scaled_squared_distances,
)
from skbo_silbo._numerics._priors import DimensionScaledPrior, SparsePrior, quadratic_r2

problems = st.tuples(st.integers(2, 15), st.integers(1, 6), st.integers(0, 2**32 - 1))


def draw(n, d, seed):
    """Points, centred targets, weights, signal and noise variance of a random problem."""
    rng = np.random.default_rng(seed)
    weights = np.exp(rng.normal(-1.0, 1.0, size=d))
    return rng.normal(size=(n, d)), rng.normal(size=n), weights, 1.7, 0.3


def reference_gp(X, y, weights, signal, noise):
    kernel = ConstantKernel(signal) * Matern(1 / np.sqrt(weights), nu=2.5) + WhiteKernel(noise)
    return GaussianProcessRegressor(kernel, alpha=0.0, optimizer=None).fit(X, y)


@settings(max_examples=40)
@given(problems)
def test_distances_are_those_of_the_definition(problem):
    A, _, weights, _, _ = draw(*problem)
    B = 0.5 - A[: (len(A) + 1) // 2]
    expected = (weights * (A[:, None] - B[None]) ** 2).sum(axis=2)
    np.testing.assert_allclose(scaled_squared_distances(A, B, weights), expected, atol=1e-12)
    itself = scaled_squared_distances(A, A, weights)
    assert (np.diag(itself) == 0).all()
    np.testing.assert_allclose(itself, itself.T, atol=1e-13)


def test_distances_keep_their_digits_far_from_the_origin():
    A = 1e6 + np.random.default_rng(0).normal(size=(20, 3))
    expected = ((A[:, None] - A[None]) ** 2).sum(axis=2)
    np.testing.assert_allclose(scaled_squared_distances(A, A, np.ones(3)), expected, atol=1e-12)


def test_kernel_is_sklearns_matern():
    X, _, weights, _, _ = draw(30, 4, 0)
    correlation, _ = matern52(scaled_squared_distances(X, X, weights))
    expected = Matern(1 / np.sqrt(weights), nu=2.5)(X)
    np.testing.assert_allclose(correlation, expected, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("q", [1e-3, 0.1, 1.0, 7.0, 50.0])
def test_kernel_derivative(q):
    _, derivative = matern52(np.array([q]))
    assert_gradient(derivative, lambda v: matern52(v)[0][0], np.array([q]), step=0.3 * q)


def test_weight_gradient_is_the_double_sum():
    X, *_ = draw(12, 5, 3)
    P = np.random.default_rng(4).normal(size=(12, 12))
    P += P.T
    expected = np.einsum("ij,ijk->k", P, (X[:, None] - X[None]) ** 2)
    np.testing.assert_allclose(gradient_by_weights(P, X), expected, rtol=1e-12)


@settings(max_examples=30)
@given(problems)
def test_likelihood_and_its_gradient_are_sklearns(problem):
    X, y, weights, signal, noise = draw(*problem)
    reference = reference_gp(X, y, weights, signal, noise)
    theta = reference.kernel_.theta  # log signal, log length scales, log noise
    expected, by_theta = reference.log_marginal_likelihood(theta, eval_gradient=True)
    value, gradient = log_marginal_likelihood(X, y, weights, signal, noise)
    assert value == pytest.approx(expected, rel=1e-8, abs=1e-8)
    by_log_weight = -0.5 * by_theta[1:-1]  # w = length_scale^-2
    expected_gradient = np.append(by_log_weight, by_theta[[0, -1]])
    np.testing.assert_allclose(gradient, expected_gradient, rtol=1e-7, atol=1e-8)


def test_likelihood_is_a_normal_density():
    X, y, weights, signal, noise = draw(9, 2, 5)
    K = signal * Matern(1 / np.sqrt(weights), nu=2.5)(X) + noise * np.eye(9)
    expected = multivariate_normal(np.zeros(9), K).logpdf(y)
    gp = condition(X, y, weights, signal, noise)
    assert gp.log_marginal_likelihood == pytest.approx(expected, rel=1e-10)
    assert log_marginal_likelihood(X, y, weights, signal, noise)[0] == pytest.approx(expected)


@settings(max_examples=20)
@given(problems)
def test_likelihood_gradient_by_finite_differences(problem):
    X, y, weights, signal, noise = draw(*problem)
    d = weights.size

    def value(theta):
        w, v, noise_variance = np.exp(theta[:d]), np.exp(theta[d]), np.exp(theta[-1])
        return log_marginal_likelihood(X, y, w, v, noise_variance)[0]

    theta = np.log(np.append(weights, [signal, noise]))
    _, gradient = log_marginal_likelihood(X, y, weights, signal, noise)
    assert_gradient(gradient, value, theta, step=0.1)


@settings(max_examples=20)
@given(problems)
def test_profile_gradient_by_finite_differences(problem):
    X, y, weights, *_ = draw(*problem)

    def value(theta):
        return profiled_log_marginal_likelihood(X, y, np.exp(theta[:-1]), np.exp(theta[-1]))[0]

    theta = np.append(np.log(weights), np.log(0.2))
    _, gradient, _ = profiled_log_marginal_likelihood(X, y, weights, 0.2)
    assert_gradient(gradient, value, theta, step=0.1)


def test_profile_is_the_maximum_over_the_signal_variance():
    X, y, weights, *_ = draw(14, 3, 6)
    value, _, v = profiled_log_marginal_likelihood(X, y, weights, 0.2)
    others = [
        log_marginal_likelihood(X, y, weights, v * f, 0.2 * v * f)[0] for f in (0.9, 1.0, 1.1)
    ]
    assert value == pytest.approx(others[1], rel=1e-12)
    assert others[1] > max(others[0], others[2])


@settings(max_examples=25)
@given(problems)
def test_posterior_mean_and_its_gradient(problem):
    X, y, weights, signal, noise = draw(*problem)
    gp = condition(X, y, weights, signal, noise)
    points = np.random.default_rng(problem[2]).normal(size=(4, X.shape[1]))
    expected = reference_gp(X, y, weights, signal, noise).predict(points)
    np.testing.assert_allclose(gp.mean(points), expected, rtol=1e-8, atol=1e-8)
    for point, gradient in zip(points, gp.mean_gradient(points), strict=True):
        assert_gradient(gradient, lambda p: gp.mean(p[None])[0], point, atol=1e-7)


def test_mean_gradient_is_finite_at_the_training_points():
    X, y, weights, signal, noise = draw(10, 3, 8)
    gp = condition(X, y, weights, signal, noise)
    for point, gradient in zip(X, gp.mean_gradient(X), strict=True):
        assert_gradient(gradient, lambda p: gp.mean(p[None])[0], point, atol=1e-6)


def test_leave_one_out_is_refitting_without_each():
    X, y, weights, signal, noise = draw(11, 3, 9)
    gp = condition(X, y, weights, signal, noise)
    expected = []
    for i in range(11):
        kept = np.arange(11) != i
        reference = reference_gp(X[kept], y[kept], weights, signal, noise)
        mean, std = reference.predict(X[[i]], return_std=True)  # std holds the noise
        density = multivariate_normal(mean, std**2).logpdf(y[i])
        expected.append([mean[0], std[0] ** 2, density])
    found = np.column_stack([*gp.leave_one_out(), gp.leave_one_out_log_density()])
    np.testing.assert_allclose(found, expected, rtol=1e-9)


@pytest.mark.parametrize("prior", [SparsePrior(), DimensionScaledPrior(4)])
def test_prior_gradient_by_finite_differences(prior):
    phi = np.random.default_rng(0).normal(-3.0, 2.0, size=4 + prior.n_extra)
    _, gradient = prior.log_density(phi)
    assert_gradient(gradient, lambda p: prior.log_density(p)[0], phi, step=0.1)


def test_dimension_scaled_prior_integrates_to_one_and_has_the_published_moments():
    prior = DimensionScaledPrior(1)

    def moment(function):
        density = lambda u: function(u) * np.exp(prior.log_density(np.array([u]))[0])  # noqa: E731
        return quad(density, -40, 40, limit=200)[0]

    def cube_length_scale(log_weight):  # back to the unit cube
        return -0.5 * log_weight - 0.5 * np.log(12)

    assert moment(lambda u: 1.0) == pytest.approx(1.0)
    assert moment(cube_length_scale) == pytest.approx(np.sqrt(2))
    variance = moment(lambda u: (cube_length_scale(u) - np.sqrt(2)) ** 2)
    assert variance == pytest.approx(3.0, rel=1e-6)
    shift = DimensionScaledPrior(50).centre - prior.centre
    assert shift == pytest.approx(-np.log(50))  # length scale grows as sqrt(d)


@pytest.mark.parametrize("log_tau", [-6.0, -2.0])
def test_sparse_prior_is_half_cauchy(log_tau):
    log_weights = np.array([-5.0, -1.0])

    def half_cauchy(w, scale):
        return 2 / (np.pi * scale * (1 + (w / scale) ** 2))

    w, tau = np.exp(log_weights), np.exp(log_tau)
    on_log_scale = half_cauchy(w, tau) * w  # dw = w d(log w)
    hyper = half_cauchy(tau, 0.1 / 12) * tau
    expected = np.log(on_log_scale).sum() + np.log(hyper)
    value, _ = SparsePrior().log_density(np.append(log_weights, log_tau))
    assert value == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("prior", [SparsePrior(), DimensionScaledPrior(3)])
def test_posterior_gradient_by_finite_differences(prior):
    X, y, *_ = draw(20, 3, 10)
    theta = np.random.default_rng(1).normal(-2.0, 1.0, size=3 + prior.n_extra + 1)
    _, gradient = negative_log_posterior(theta, X, y, prior)
    assert_gradient(gradient, lambda t: negative_log_posterior(t, X, y, prior)[0], theta, step=0.1)


def test_fit_ends_where_the_posterior_is_flat_or_at_a_bound():
    X, y, *_ = draw(30, 2, 11)
    y = np.sin(2 * X[:, 0]) + 0.1 * y
    y -= y.mean()
    prior = DimensionScaledPrior(2)
    theta = search_map(X, y, prior, log_weight_starts(X, y, 0, np.random.RandomState(0)))
    gp = process_at(theta, X, y)
    noise_ratio = gp.noise_variance / gp.signal_variance
    theta = np.append(np.log(gp.weights), np.log(noise_ratio))
    value, gradient = negative_log_posterior(theta, X, y, prior)
    assert np.abs(gradient).max() < 1e-2
    for start in log_weight_starts(X, y, 0, np.random.RandomState(0)):
        assert value <= negative_log_posterior(np.append(start, np.log(0.1)), X, y, prior)[0]
    assert gp.noise_variance == pytest.approx(0.01, rel=1.0)


def test_quadratic_r2_is_that_of_least_squares():
    rng = np.random.default_rng(12)
    X = rng.normal(size=(25, 4))
    X[:, 3] = rng.integers(0, 2, size=25)  # two values: the square adds nothing
    y = X[:, 0] ** 2 + X[:, 1] + rng.normal(size=25)
    expected = []
    for column in X.T[:3]:
        powers = PolynomialFeatures(2).fit_transform(column[:, None])
        expected.append(LinearRegression(fit_intercept=False).fit(powers, y).score(powers, y))
    expected.append(r_regression(X[:, 3:], y)[0] ** 2)
    np.testing.assert_allclose(quadratic_r2(X, y), expected, rtol=1e-9)


def test_the_screened_start_finds_what_equal_weights_miss():
    rng = np.random.default_rng(1)
    X = rng.uniform(-1, 1, size=(60, 50))
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    y = X[:, 3] ** 2 + np.sin(2 * X[:, 17])
    y -= y.mean()
    starts = log_weight_starts(X, y, 0, np.random.RandomState(0))
    assert set(np.argsort(starts[2])[-2:]) == {3, 17}
    gp = process_at(search_map(X, y, SparsePrior(), starts), X, y)
    assert set(np.argsort(gp.weights)[-2:]) == {3, 17}


def test_random_starts_differ_and_follow_the_seed():
    X, y, *_ = draw(20, 4, 13)
    starts = log_weight_starts(X, y, 2, np.random.RandomState(0))
    assert len({tuple(start) for start in starts}) == 5
    again = log_weight_starts(X, y, 2, np.random.RandomState(0))
    np.testing.assert_array_equal(starts, again)
