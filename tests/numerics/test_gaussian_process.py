"""The kernel, the Gaussian process and its fit, against closed forms and scikit-learn."""

import numpy as np
import pytest
from derivatives import assert_gradient
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.stats import lognorm, multivariate_normal
from sklearn.feature_selection import r_regression
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel
from sklearn.linear_model import LinearRegression
from sklearn.preprocessing import PolynomialFeatures

from skbo_silbo._numerics.gaussian_process import JITTER, Observations
from skbo_silbo._numerics.hyperparameters import (
    most_probable,
    negative_log_posterior,
    quadratic_r2,
    starting_log_lengths,
)
from skbo_silbo._numerics.matern import matern52, scaled_squared_distances
from skbo_silbo._numerics.priors import PRIORS, UNIFORM_WIDTH, dimension_scaled_prior, sparse_prior

problems = st.tuples(st.integers(2, 15), st.integers(1, 6), st.integers(0, 2**32 - 1))


def draw(n, d, seed):
    """Points, centred targets, weights, signal and noise variance of a random problem."""
    rng = np.random.default_rng(seed)
    weights = np.exp(rng.normal(-1.0, 1.0, size=d))
    return rng.normal(size=(n, d)), rng.normal(size=n), weights, 1.7, 0.3


def theta_of(weights, signal, noise):
    return np.r_[np.log(signal), -0.5 * np.log(weights), np.log(noise)]


def reference_gp(X, y, weights, signal, noise):
    kernel = ConstantKernel(signal) * Matern(1 / np.sqrt(weights), nu=2.5) + WhiteKernel(noise)
    return GaussianProcessRegressor(kernel, alpha=0.0, optimizer=None).fit(X, y)


@settings(max_examples=20)
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


@settings(max_examples=15)
@given(problems)
def test_likelihood_and_its_gradient_are_sklearns(problem):
    X, y, weights, signal, noise = draw(*problem)
    reference = reference_gp(X, y, weights, signal, noise)
    theta = reference.kernel_.theta  # log signal, log length scales, log noise
    expected, by_theta = reference.log_marginal_likelihood(theta, eval_gradient=True)
    value, gradient = Observations(X, y).log_likelihood(theta)
    assert value == pytest.approx(expected, rel=1e-8, abs=1e-8)
    np.testing.assert_allclose(gradient, by_theta, rtol=1e-7, atol=1e-8)


@settings(max_examples=12)
@given(problems)
def test_posterior_mean_and_its_gradient(problem):
    X, y, weights, signal, noise = draw(*problem)
    gp = Observations(X, y).condition(theta_of(weights, signal, noise - JITTER))
    points = np.random.default_rng(problem[2]).normal(size=(4, X.shape[1]))
    expected = reference_gp(X, y, weights, signal, noise).predict(points)
    np.testing.assert_allclose(gp.predict(points)[0], expected, rtol=1e-8, atol=1e-8)
    for point, gradient in zip(points, gp.mean_gradient(points), strict=True):
        assert_gradient(gradient, lambda p: gp.predict(p[None])[0][0], point, atol=1e-7)


def test_leave_one_out_is_refitting_without_each():
    X, y, weights, signal, noise = draw(11, 3, 9)
    gp = Observations(X, y).condition(theta_of(weights, signal, noise - JITTER))
    expected = []
    for i in range(11):
        kept = np.arange(11) != i
        reference = reference_gp(X[kept], y[kept], weights, signal, noise)
        mean, std = reference.predict(X[[i]], return_std=True)  # std holds the noise
        expected.append([mean[0], std[0] ** 2])
    found = np.column_stack(gp.leave_one_out())
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_dimension_scaled_prior_matches_published_density():
    lengths = np.array([0.3, 1.0, 7.0, 40.0])
    expected = lognorm(np.sqrt(3), scale=np.exp(np.sqrt(2)) * np.sqrt(50) * 2.5).logpdf(lengths)
    prior = dimension_scaled_prior(50, 2.5)
    found = []
    for length in lengths:
        theta = prior.location.copy()
        theta[7] = np.log(length)
        found.append(prior.log_density(theta)[0])
    np.testing.assert_allclose(np.diff(found), np.diff(expected))


@pytest.mark.parametrize("name", PRIORS)
def test_regression_prior_leaves_signal_and_noise_free(name):
    prior = PRIORS[name](3).for_regression()
    lengths = np.array([0.2, -1.0, 2.0])
    one, other = (prior.log_density(np.r_[a, lengths, b]) for a, b in ((0, -9), (4, 2)))
    assert one[0] == other[0]
    assert (one[1][[0, -1]] == 0).all()


@pytest.mark.parametrize("name", PRIORS)
def test_posterior_gradient_by_finite_differences(name):
    X, y, *_ = draw(20, 3, 10)
    rng = np.random.default_rng(1)
    data = Observations(X, y, rng.uniform(0, 0.3, 20), rng.uniform(0.3, 3, 20))
    posterior = data.log_likelihood, PRIORS[name](3)
    theta = np.random.default_rng(1).normal(0.0, 1.0, size=5)
    _, gradient = negative_log_posterior(theta, *posterior)
    assert_gradient(gradient, lambda t: negative_log_posterior(t, *posterior)[0], theta, step=0.1)


def test_singular_covariance_has_no_density():
    prior = dimension_scaled_prior(1)
    data = Observations(np.zeros((40, 1)), np.ones(40))
    value, gradient = negative_log_posterior(np.array([9.0, 0, -60]), data.log_likelihood, prior)
    assert value == np.inf
    assert (gradient == 0).all()


def test_the_better_of_two_ends_is_returned():
    X, y = screened_problem()
    data, prior = Observations(X, y), sparse_prior(50, UNIFORM_WIDTH).for_regression()
    starts = np.tile(prior.location, (2, 1))
    starts[:, 1:-1] = starting_log_lengths(X, y, np.ones(60))
    theta = most_probable(data.log_likelihood, prior, *starts)
    assert set(np.argsort(theta[1:-1])[:2]) == {3, 17}
    loss = negative_log_posterior(theta, data.log_likelihood, prior)[0]
    for start in starts:
        alone = most_probable(data.log_likelihood, prior, start)
        assert loss <= negative_log_posterior(alone, data.log_likelihood, prior)[0]


def test_quadratic_r2_is_that_of_least_squares():
    rng = np.random.default_rng(12)
    X, counts = rng.normal(size=(25, 4)), rng.integers(1, 5, size=25)
    X[:, 3] = rng.integers(0, 2, size=25)  # two values: the square adds nothing
    y = X[:, 0] ** 2 + X[:, 1] + rng.normal(size=25)
    expected, rows, values = [], X.repeat(counts, 0), y.repeat(counts)
    for column in rows.T[:3]:
        powers = PolynomialFeatures(2).fit_transform(column[:, None])
        model = LinearRegression(fit_intercept=False).fit(powers, values)
        expected.append(model.score(powers, values))
    expected.append(r_regression(rows[:, 3:], values)[0] ** 2)
    np.testing.assert_allclose(quadratic_r2(X, y, counts), expected, rtol=1e-9)


def screened_problem():
    rng = np.random.default_rng(1)
    X = rng.uniform(-1, 1, size=(60, 50))
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    y = X[:, 3] ** 2 + np.sin(2 * X[:, 17])
    return X, (y - y.mean()) / y.std()


def test_screened_lengths_are_short_where_an_input_matters():
    X, y = screened_problem()
    _, lengths = starting_log_lengths(X, y, np.ones(60))
    assert set(np.argsort(lengths)[:2]) == {3, 17}
    # counted, as if seen so often
    counts = np.random.default_rng(0).integers(1, 4, size=60)
    repeated = starting_log_lengths(X.repeat(counts, 0), y.repeat(counts), np.ones(counts.sum()))
    np.testing.assert_allclose(starting_log_lengths(X, y, counts), repeated)


def test_rows_searched_are_those_of_repeated_rows():
    X, y, known = np.arange(50.0)[:, None], np.arange(50.0) ** 2, np.arange(50.0) / 7
    counts = np.random.default_rng(1).integers(1, 9, size=50)
    some = Observations(X, y, known, counts).spread(40)
    repeated = Observations(*(a.repeat(counts, 0) for a in (X, y, known))).spread(40)
    for name in ("X", "y", "known"):
        rows = getattr(some, name).repeat(some.copies.astype(int), 0)
        np.testing.assert_array_equal(rows, getattr(repeated, name))
    assert some.n_rows == repeated.n_rows == 40


def test_likelihood_of_copies_equals_all_rows():
    rng = np.random.default_rng(0)
    X, y, counts = rng.normal(size=(9, 2)), rng.normal(size=9), rng.integers(1, 5, size=9)
    weights, known = np.array([0.5, 0.1]), rng.uniform(0, 0.3, size=9)
    rows, values, noise = X.repeat(counts, 0), y.repeat(counts), known.repeat(counts) + 0.2
    K = 1.7 * matern52(scaled_squared_distances(rows, rows, weights))[0] + np.diag(noise)
    expected = multivariate_normal(np.zeros(len(values)), K).logpdf(values)
    theta = theta_of(weights, 1.7, 0.2)
    assert Observations(X, y, known, counts).log_likelihood(theta)[0] == pytest.approx(expected)
    gp, of_all = (
        Observations(*data).condition(theta)
        for data in ((X, y, known, counts), (rows, values, known.repeat(counts)))
    )
    new = rng.normal(size=(4, 2))
    np.testing.assert_allclose(gp.predict(new), of_all.predict(new), rtol=1e-7)


@pytest.mark.parametrize("width", [1.0, 2.0, UNIFORM_WIDTH])
def test_shared_scale_maximises_density(width):
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
