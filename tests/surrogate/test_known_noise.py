"""Noise that is known for every value: told, kept, and used by the Gaussian process."""

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel
from sklearn.linear_model import BayesianRidge

from skbo_silbo import SILBO
from skbo_silbo.surrogate import GaussianProcessSurrogate

BOUNDS = [(-1.0, 1.0)] * 3


def sphere(x):
    return float(np.sum((x - 0.2) ** 2))


def data(n=12, r=2, seed=0):
    rng = np.random.default_rng(seed)
    Z = rng.uniform(-1, 1, (n, r))
    return Z, np.sin(3 * Z[:, 0]) + Z[:, 1] + 5.0, rng.uniform(0.0, 0.6, n) ** 2


def kernel_of(theta):
    signal, *lengths, noise = np.exp(theta)
    return ConstantKernel(signal) * Matern(lengths, nu=2.5) + WhiteKernel(noise)


def run(noise_std, *, n=12):
    optimizer = SILBO(BOUNDS, n_initial=6, random_state=0)
    for i in range(n):
        x = optimizer.ask()
        optimizer.tell(x, sphere(x), noise_std=None if noise_std is None else noise_std[i])
    return optimizer


def test_posterior_matches_scikit_learn_with_alpha():
    Z, y, variance = data()
    state = {"theta": np.log([1.3, 0.5, 0.9, 1e-3])}
    ours = GaussianProcessSurrogate().fit(Z, y, variance, state=state, tune=False)
    kernel = kernel_of(ours.theta_)
    targets = (y - y.mean()) / y.std()
    alpha = variance / y.var() + 1e-10
    oracle = GaussianProcessRegressor(kernel, alpha=alpha, optimizer=None).fit(Z, targets)
    new = np.random.default_rng(1).uniform(-1, 1, (20, 2))
    mean, std = oracle.predict(new, return_std=True)
    noise_free = np.sqrt(std**2 - 1e-3)  # scikit-learn's has the kernel's own noise in it
    got = ours.predict(new)
    assert_allclose(got[0], y.mean() + y.std() * mean, rtol=1e-9)
    assert_allclose(got[1], y.std() * noise_free, rtol=1e-6)


def test_known_noise_stays_with_its_points():
    rng = np.random.default_rng(0)
    Z = rng.uniform(-1, 1, (60, 1))
    std = np.where(np.arange(60) % 2, 0.5, 0.0)
    y = np.sin(3 * Z[:, 0]) + std * rng.standard_normal(60)
    blind = GaussianProcessSurrogate().fit(Z, y)
    told = GaussianProcessSurrogate().fit(Z, y, std**2)
    assert np.exp(told.theta_[-1]) < 0.01 * np.exp(blind.theta_[-1])
    new = np.linspace(-0.9, 0.9, 50)[:, None]
    errors = [np.abs(s.predict(new)[0] - np.sin(3 * new[:, 0])).mean() for s in (blind, told)]
    assert errors[1] < 0.3 * errors[0]


S = np.sqrt(14 / 3)  # root mean square distance of the values below the median, 4


class Spy(GaussianProcessSurrogate):
    def fit(self, Z, y, noise, **options):
        Spy.seen = y, noise
        return super().fit(Z, y, noise, **options)


@pytest.mark.parametrize(
    ("warp", "values", "slopes"),
    [
        (None, [1.0, 2.0, 4.0, 7.0, 30.0, 30.0, 3.0], np.ones(7)),
        (
            "half-log",
            [-3 / S, -2 / S, 0.0, *np.log(1 + np.array([3, 26, 26]) / S), -1 / S],
            1 / np.array([S, S, S, S + 3, S + 26, S + 26, S]),
        ),
    ],
)
def test_noise_goes_through_the_warp_by_its_slope(warp, values, slopes):
    y = np.array([1.0, 2.0, 4.0, 7.0, 30.0, np.nan, 3.0])
    std = np.array([0.1, 0.0, 0.3, np.nan, 2.0, 0.5, 0.2])
    known = np.array([0.1, 0.0, 0.3, 0.0, 2.0, 0.0, 0.2])
    X = np.sort(np.random.default_rng(0).uniform(-1, 1, (7, 3)), axis=0)
    parts = {"surrogate": Spy(), "warp": warp, "embedding": "identity", "n_initial": 7}
    optimizer = SILBO(BOUNDS, random_state=0, **parts).tell(X, y, noise_std=std)
    optimizer.ask()
    seen, noise = Spy.seen
    assert_allclose(seen, values, atol=1e-12)
    assert_allclose(noise, (known * slopes) ** 2, rtol=1e-12)


@pytest.mark.parametrize("prior", ["sparse", "dimension-scaled"])
def test_noise_is_not_fitted_among_close_points(prior):
    """As they do round the best point: both priors have a mode that interpolates the values."""
    best, found = np.array([0.3, 0.0, -0.2, 0.0, 0.0]), []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        near = np.clip(best + 0.1 * rng.normal(size=(30, 5)), -1.0, 1.0)
        X = np.vstack([rng.uniform(-1.0, 1.0, (10, 5)), near])
        y = (X[:, 0] - 0.3) ** 2 + (X[:, 2] + 0.2) ** 2 + 0.1 * rng.normal(size=40)
        surrogate = GaussianProcessSurrogate(prior=prior).fit(X, y)
        found.append(np.exp(0.5 * surrogate.theta_[-1]) * surrogate.y_scale_)
    assert_allclose(np.median(found), 0.1, rtol=0.4)


def test_zero_noise_equals_unknown_noise():
    unknown = run(None)
    assert run(np.zeros(12)).x_iters_.tolist() == unknown.x_iters_.tolist()
    assert run(np.full(12, np.nan)).x_iters_.tolist() == unknown.x_iters_.tolist()
    assert run(np.full(12, 0.3)).x_iters_.tolist() != unknown.x_iters_.tolist()


def test_order_of_tell_does_not_matter():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (14, 3))
    X[1] = X[0]
    y, std = rng.normal(size=14), rng.uniform(0, 1, 14)
    y[1], std[3] = y[0], np.nan
    proposals = []
    for order in (np.arange(14), rng.permutation(14), np.arange(14)[::-1]):
        optimizer = SILBO(BOUNDS, random_state=0).tell(X[order], y[order], noise_std=std[order])
        proposals.append(optimizer.ask().tolist())
    assert proposals[0] == proposals[1] == proposals[2]


def test_noise_survives_json():
    std = np.r_[np.nan, np.linspace(0, 0.5, 11)]
    optimizer = run(std)
    again = SILBO.from_dict(json.loads(json.dumps(optimizer.to_dict())))
    assert again.ask().tolist() == optimizer.ask().tolist()
    assert again.to_dict() == optimizer.to_dict()
    assert optimizer.to_dict()["events"][0]["noise_std"] == [None, *std[1:].tolist()]


@pytest.mark.parametrize(
    ("noise_std", "message"),
    [
        (-0.1, r"noise_std.*got -0.1"),
        ([0.1, np.inf], r"noise_std must be a finite"),
        ([0.1], r"2 of them.*got \[0.1\]"),
        ("0.1", r"noise_std.*got '0.1'"),
    ],
)
def test_wrong_noise_is_refused_and_nothing_recorded(noise_std, message):
    optimizer = SILBO(BOUNDS, random_state=0)
    x = optimizer.ask(2)
    with pytest.raises(ValueError, match=message):
        optimizer.tell(x, [1.0, 2.0], noise_std=noise_std)
    assert len(optimizer.func_vals_) == 0
    assert len(optimizer.to_dict()["events"][1]["asked"]) == 2


def test_regressor_cannot_use_known_noise():
    optimizer = SILBO(BOUNDS, surrogate=BayesianRidge())
    with pytest.raises(ValueError, match=r"noise_std.*None"):
        optimizer.tell(np.zeros(3), 1.0, noise_std=0.1)
    optimizer.tell(np.zeros(3), 1.0, noise_std=np.nan)
    assert len(optimizer.func_vals_) == 1
