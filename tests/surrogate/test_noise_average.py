"""Predictions averaged over the variance of the noise, which reports read."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import BayesianRidge

from skbo_silbo import SILBO
from skbo_silbo.surrogate import GaussianProcessSurrogate
from skbo_silbo.surrogate.noise_average import averaged_over_noise
from skbo_silbo.surrogate.regressor import RegressorSurrogate

pytestmark = pytest.mark.quick


def noisy_fit(seed, *, noise=0.5, n=30, d=4):
    """Return a fit to noisy values of a bowl, its points and the values without noise."""
    rng = np.random.default_rng(seed)
    Z = rng.uniform(-1, 1, (n, d))
    truth = (Z**2).sum(axis=1)
    y = truth + noise * rng.standard_normal(n)
    return GaussianProcessSurrogate(prior="sparse").fit(Z, y), Z, truth


@pytest.mark.statistical
def test_intervals_hold_truth_where_mode_interpolates_noise():
    fits = [noisy_fit(seed) for seed in range(10)]
    of_mode = [share_held(surrogate, Z, truth) for surrogate, Z, truth in fits]
    averaged = [share_held(averaged_over_noise(s), Z, truth) for s, Z, truth in fits]
    assert np.mean(of_mode) < 0.2
    assert np.mean(averaged) > 0.85


def share_held(predictor, Z, truth):
    """Return the share of true values within three standard deviations of the mean."""
    mean, std = predictor.predict(Z)
    return np.mean(np.abs(mean - truth) < 3.0 * std)


def test_intervals_stay_narrow_without_noise():
    surrogate, Z, truth = noisy_fit(0, noise=0.0)
    mean, std = averaged_over_noise(surrogate).predict(Z)
    assert_allclose(mean, truth, atol=0.05 * truth.std())
    assert std.max() < 0.15 * truth.std()


def test_mean_and_variance_are_those_of_the_mixture():
    average = averaged_over_noise(noisy_fit(1)[0])
    new = np.random.default_rng(2).uniform(-1, 1, (3, 4))
    assert_allclose(average.weights.sum(), 1.0)
    rng, counts = np.random.default_rng(3), np.round(average.weights * 10**5).astype(int)
    draws = np.hstack([
        mean[:, None] + std[:, None] * rng.standard_normal((3, count))
        for count, (mean, std) in zip(
            counts, [s.predict(new) for s in average.surrogates], strict=True
        )
    ])  # fmt: skip
    mean, std = average.predict(new)
    assert_allclose(draws.mean(axis=1), mean, atol=0.02)
    assert_allclose(draws.std(axis=1), std, rtol=0.03)


def test_equal_targets_and_other_surrogates_are_returned():
    Z = np.random.default_rng(0).uniform(-1, 1, (8, 2))
    equal = GaussianProcessSurrogate().fit(Z, np.ones(8))
    assert averaged_over_noise(equal) is equal
    other = RegressorSurrogate(BayesianRidge()).fit(Z, Z[:, 0])
    assert averaged_over_noise(other) is other


def test_reports_do_not_change_proposals():
    def proposals(*, report):
        rng, optimizer = np.random.default_rng(0), SILBO([(-1, 1)] * 4, random_state=0)
        for _ in range(14):
            x = optimizer.ask()
            optimizer.tell(x, float(x @ x + 0.3 * rng.standard_normal()))
            if report and len(optimizer.func_vals_) > 9:
                _ = optimizer.recommended_, optimizer.predict(x)
        return optimizer.x_iters_

    np.testing.assert_array_equal(proposals(report=True), proposals(report=False))
