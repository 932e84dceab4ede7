from decimal import Decimal, getcontext

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal
from scipy.integrate import quad
from scipy.stats import kstest, norm, truncnorm

from skbo_silbo.acquisition import log_expected_improvement
from skbo_silbo.acquisition._parzen_draws import ParzenEstimates, draw_good
from skbo_silbo.acquisition.acquisition_functions import confidence_gain, confidence_weight

pytestmark = pytest.mark.quick

getcontext().prec = 60
PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494")


def expected_improvement(mean, std, best):
    return np.exp(log_expected_improvement(mean, std, best))


def log_h_by_continued_fraction(t):
    """Log of phi(t) - t Phi(-t) for t > 0 in 60 digits: Mills' ratio by Laplace's fraction."""
    t = Decimal(t)
    rest = t
    for k in range(4000, 0, -1):
        rest = t + Decimal(k) / rest  # Phi(-t) / phi(t) = 1 / (t + 1/(t + 2/(t + 3/...)))
    h = 1 - t / rest
    return float(-t * t / 2 - (2 * PI).ln() / 2 + h.ln())


@pytest.mark.parametrize("t", [0.9999, 1.0, 1.0001, 2, 5, 10, 38, 40, 99.9, 100.1, 1e3, 1e5, 1e8])
def test_log_improvement_far_below_is_exact(t):
    value = log_expected_improvement(t, 1.0, 0.0)
    assert_allclose(value, log_h_by_continued_fraction(t), rtol=3e-13)


@pytest.mark.parametrize("mean", [-30.0, -2.0, -0.5, 0.0, 0.3, 1.5, 4.0])
@pytest.mark.parametrize("std", [0.1, 1.0, 7.0])
def test_it_is_the_expectation(mean, std):
    low = min(mean, 0.2) - 12 * std
    expected, _ = quad(
        lambda y: (0.2 - y) * norm.pdf(y, mean, std),
        low,
        0.2,
        points=[p for p in (mean - 3 * std, mean, mean + 3 * std) if low < p < 0.2],
        epsabs=0,
        limit=200,
    )
    assert_allclose(expected_improvement(mean, std, 0.2), expected, rtol=1e-7, atol=1e-300)


def test_without_uncertainty_it_is_the_improvement():
    value = expected_improvement([1.0, 2.0, 4.0], [0.0, 0.0, 0.0], 3.0)
    assert_allclose(value, [2.0, 1.0, 0.0])
    assert log_expected_improvement(4.0, 0.0, 3.0) == -np.inf


@settings(max_examples=25)
@given(
    mean=st.floats(-50, 50),
    std=st.floats(0.01, 20),
    best=st.floats(-50, 50),
)
def test_gradient_agrees_with_differences(mean, std, best):
    _, by_mean, by_std = log_expected_improvement(mean, std, best, return_gradient=True)
    h = 1e-5 * std
    f = log_expected_improvement
    scale = abs(float(f(mean, std, best))) + 1
    by_mean_fd = (f(mean + h, std, best) - f(mean - h, std, best)) / (2 * h)
    by_std_fd = (f(mean, std + h, best) - f(mean, std - h, best)) / (2 * h)
    assert_allclose(by_mean, by_mean_fd, rtol=1e-4, atol=1e-9 * scale / h)
    assert_allclose(by_std, by_std_fd, rtol=1e-4, atol=1e-9 * scale / h)


def test_confidence_gain_is_the_bound_below_the_best():
    rng = np.random.default_rng(0)
    mean, std = rng.normal(size=9), rng.uniform(0, 3, 9)
    bound = mean - 1.7 * std
    value, by_mean, by_std = confidence_gain(mean, std, 0.4, beta=1.7**2, return_gradient=True)
    assert_allclose(value, 0.4 - bound)
    assert np.argmax(value) == np.argmin(bound)
    assert_allclose(confidence_gain(mean + 1e-3, std, 0.4, beta=1.7**2) - value, 1e-3 * by_mean)
    assert_allclose(confidence_gain(mean, std + 1e-3, 0.4, beta=1.7**2) - value, 1e-3 * by_std)


def test_ucb_confidence_holds_for_all_points():
    # Srinivas et al. 2010, Lemma 5.1: |D| exp(-beta_t / 2) summed over t is delta
    weights = np.array([confidence_weight(t, 500, delta=0.1) for t in range(1, 20_000)])
    assert_allclose(np.sum(500 * np.exp(-weights / 2)), 0.1, rtol=1e-4)


COORDINATES = st.floats(-1, 1, allow_subnormal=False)


def cut_off(estimates):
    """Return scipy's truncated normal distributions of an estimate."""
    center, width = estimates.centers, estimates.widths
    return truncnorm((-1 - center) / width, (1 - center) / width, center, width)


@settings(max_examples=20)
@given(arrays(float, (6, 3), elements=COORDINATES), arrays(float, (4, 3), elements=COORDINATES))
def test_density_is_mean_of_truncated_normals(X, at):
    estimates = ParzenEstimates.near(X)
    expected = np.log(cut_off(estimates).pdf(at[:, None]).mean(axis=1))
    assert_allclose(estimates.log_density(at) - expected, 0.5 * np.log(2 * np.pi), rtol=1e-9)


def test_blocked_densities_match_single_inputs():
    rng = np.random.default_rng(0)
    X, at = rng.uniform(-1, 1, (900, 60)), rng.uniform(-1, 1, (24, 60))
    whole = ParzenEstimates.near(X).log_density(at)
    for j in (0, 45, 46, 59):
        alone = ParzenEstimates.near(X[:, [j]]).log_density(at[:, [j]])
        assert_allclose(whole[:, [j]], alone, rtol=1e-12)


def test_draws_have_that_density():
    estimates = ParzenEstimates.near(np.array([[-0.9, 0.3], [-0.85, 0.3], [0.2, 1.0]]))
    drawn = estimates.draw(2000, np.random.default_rng(0))
    assert np.abs(drawn).max() <= 1
    laws = cut_off(estimates)
    for j in range(2):
        found = kstest(drawn[:, j], lambda x, j=j: laws.cdf(x[:, None, None]).mean(axis=1)[:, j])
        assert found.pvalue > 1e-3


def test_bandwidths_reach_further_neighbour():
    estimates = ParzenEstimates.near(np.array([[-0.6], [0.5]]))
    assert_array_equal(estimates.centers.ravel(), [-0.6, 0.5, 0.0])
    assert_allclose(estimates.widths.ravel(), [0.6, 0.5, 2.0])  # clipped at 2 / 4 from below


def test_draws_are_near_good_points():
    rng = np.random.default_rng(1)
    X = rng.uniform(-1, 1, (60, 8))
    ranked = X[np.argsort(np.abs(X[:, 2] - 0.7))]
    drawn = np.array([draw_good(ranked, rng) for _ in range(60)])
    away = np.abs(drawn - 0.7).mean(axis=0)
    assert away[2] < 0.1
    to_good = np.abs(drawn[:, None] - ranked[:6]).min(axis=1)
    assert to_good.mean() < 0.1
