"""OPG and MAVE: closed forms, what they find, and the estimator contract."""

import numpy as np
import pytest
from drawn import rational, sine

from skbo_silbo import MAVE, OuterProductGradients


def even(seed, n=200, d=10):
    rng = np.random.default_rng(seed)
    X, direction = rng.normal(size=(n, d)), np.r_[np.ones(4), np.zeros(d - 4)] / 2
    return X, (X @ direction) ** 2 + 0.2 * rng.normal(size=n), direction


# -- closed forms --------------------------------------------------------------------------------


def test_a_linear_function_gives_its_coefficients():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(100, 5)) * np.geomspace(0.01, 100, 5)
    coefficients = rng.normal(size=5) / np.geomspace(0.01, 100, 5)
    opg = MAVE().fit(X, X @ coefficients)
    assert opg.n_components_ == 1
    scale = X.std(axis=0)
    assert sine(opg.components_ * scale, coefficients * scale) < 0.01
    assert opg.eigenvalues_[0] == pytest.approx(np.sum((coefficients * scale) ** 2), rel=0.02)


# -- what they find ------------------------------------------------------------------------------


@pytest.mark.parametrize(("draw", "most"), [(rational, 0.22), (even, 0.12)])
@pytest.mark.parametrize("method", [MAVE, OuterProductGradients])
def test_finds_directions_and_mave_their_number(method, draw, most):
    sines = []
    for seed in range(5):
        X, y, truth = draw(seed)
        opg = method(len(np.atleast_2d(truth))).fit(X, y)
        sines.append(sine(opg.components_, truth))
    assert np.mean(sines) < most
    assert method is not MAVE or MAVE().fit(X, y).n_components_ == opg.n_components_


@pytest.mark.parametrize("method", [MAVE, OuterProductGradients])
def test_central_target_finds_scale_directions(method):
    found, missed = [], []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(200, 5))
        y = np.exp(X[:, 0]) * rng.normal(size=200)
        found.append(sine(method(1, target="central").fit(X, y).components_, np.eye(5)[:1]))
        missed.append(sine(method(1).fit(X, y).components_, np.eye(5)[:1]))
    assert np.median(found) < 0.35 < np.median(missed)


def test_central_target_is_robust_to_monotone_maps():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 5))
    y = X[:, 0] + 0.5 * rng.standard_cauchy(200)
    one, other = (MAVE(1, target="central").fit(X, values) for values in (y, np.arctan(y)))
    np.testing.assert_allclose(one.components_, other.components_, atol=1e-8)
    assert sine(one.components_, np.eye(5)[:1]) < 0.35
    assert sine(MAVE(1).fit(X, y).components_, np.eye(5)[:1]) > 0.35
