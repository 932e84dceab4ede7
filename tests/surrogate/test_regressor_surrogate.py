"""Regressors of scikit-learn as surrogates."""

import json
import warnings

import numpy as np
import pytest
from ask_tell import run
from global_generator import global_generator_unchanged
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern, WhiteKernel
from sklearn.linear_model import BayesianRidge, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

from skbo_silbo import SILBO
from skbo_silbo.surrogate import GaussianProcessSurrogate
from skbo_silbo.surrogate.regressor import RegressorSurrogate

PROCESS = GaussianProcessRegressor(ConstantKernel() * Matern(nu=2.5), alpha=1e-4)
CUBIC = make_pipeline(PolynomialFeatures(3), BayesianRidge())
REGRESSORS = {"process": PROCESS, "cubic": CUBIC, "linear": BayesianRidge()}


def make_data(n=30, r=3, seed=0):
    rng = np.random.default_rng(seed)
    Z = rng.uniform(-1, 1, (n, r))
    return Z, 50 + 7 * np.sin(2 * Z[:, 0]) + Z[:, -1] ** 2


@pytest.fixture(params=REGRESSORS)
def regressor(request):
    return REGRESSORS[request.param]


class Spy(BayesianRidge):
    """Records what it is fitted to."""

    fitted = ()

    def fit(self, X, y):
        Spy.fitted = (*Spy.fitted, (X.copy(), y.copy()))
        return super().fit(X, y)


class Noisy(RegressorMixin, BaseEstimator):
    """Draws what it predicts from its random state."""

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y):
        rng = np.random.RandomState(self.random_state)  # the global one would be `None`
        self.coef_ = rng.standard_normal(X.shape[1])
        return self

    def predict(self, X, return_std=False):
        return X @ self.coef_, np.ones(len(X))


# --- the surrogate --------------------------------------------------------------------------------


def test_our_process_by_way_of_scikit_learn():
    Z, y = make_data()
    ours = GaussianProcessSurrogate(shared=[0, 0, 0]).fit(Z, y)
    signal, length, noise = np.exp(ours.theta_)
    kernel = ConstantKernel(signal) * Matern(length, nu=2.5)
    theirs = GaussianProcessRegressor(kernel, alpha=noise, optimizer=None)
    surrogate = RegressorSurrogate(theirs).fit(Z, y)
    new = np.random.default_rng(1).uniform(-1, 1, (20, 3))
    for got, expected in zip(surrogate.predict(new), ours.predict(new), strict=True):
        assert_allclose(got, expected, rtol=1e-6)
    got, expected = surrogate.predict_gradient(new), ours.predict_gradient(new)
    assert_allclose(got[2], expected[2], rtol=1e-5, atol=1e-5)
    assert_allclose(got[3], expected[3], rtol=1e-4, atol=1e-5)
    value = surrogate.predict(new[:2])[0]
    theirs, believer = surrogate.with_points(new[:2], value), ours.with_points(new[:2], value)
    # ours believes in the objective's value, a regressor sees one more value with its noise
    std, certain = theirs.predict(new)[1], believer.predict(new)[1]
    assert (certain < std).all()
    assert (std <= surrogate.predict(new)[1] * (1 + 1e-6)).all()


def test_units_of_the_targets_do_not_matter(regressor):
    Z, y = make_data()
    new = np.random.default_rng(1).uniform(-1, 1, (9, 3))
    mean, std = RegressorSurrogate(regressor).fit(Z, y).predict(new)
    moved = RegressorSurrogate(regressor).fit(Z, -3 + 1e-3 * y).predict(new)
    assert_allclose(moved[0], -3 + 1e-3 * mean, rtol=1e-5)
    assert_allclose(moved[1], 1e-3 * std, rtol=1e-2)


def test_regressor_is_cloned_with_standardised_targets():
    Spy.fitted, spy = (), Spy()
    Z, y = make_data()
    RegressorSurrogate(spy).fit(Z, y)
    assert not hasattr(spy, "coef_")
    assert_array_equal(Spy.fitted[0][0], Z)
    assert_allclose([Spy.fitted[0][1].mean(), Spy.fitted[0][1].std()], [0, 1], atol=1e-9)


def test_added_points_keep_kernel():
    Z, y = make_data()
    surrogate = RegressorSurrogate(GaussianProcessRegressor(RBF() + WhiteKernel())).fit(Z, y)
    more = surrogate.with_points(Z[:1] + 0.3, np.array([90.0]))
    assert_array_equal(more.regressor_.kernel_.theta, surrogate.regressor_.kernel_.theta)
    assert len(more.regressor_.X_train_) == 31
    linear = RegressorSurrogate(BayesianRidge()).fit(Z, y)
    far = np.array([[1.0, 1.0, 1.0]])
    assert linear.with_points(far, np.array([900.0])).predict(far)[0] > linear.predict(far)[0] + 10


def test_repeated_points_that_contradict_one_another():
    Z = np.repeat([[0.1, 0.2], [-0.5, 0.5], [0.5, -0.9]], 5, axis=0)
    y = np.repeat([1.0, 2.0, 4.0], 5) + 0.1 * np.arange(15)
    process = GaussianProcessRegressor(RBF(), alpha=0.0, optimizer=None)
    surrogate = RegressorSurrogate(process).fit(Z, y)
    assert 0.0 <= surrogate.regressor_.alpha < 2e-3
    assert_allclose(surrogate.predict(Z[::5])[0], y.reshape(3, 5).mean(axis=1), atol=0.02)
    assert process.alpha == 0.0


def test_process_warnings_are_suppressed():
    Z, y = make_data()
    short = GaussianProcessRegressor(RBF(1e-4, (1e-5, 1e-4)), alpha=0.0)
    before = list(warnings.filters)
    with pytest.warns(ConvergenceWarning, match=r"close.*specified"):
        short.fit(Z, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        surrogate = RegressorSurrogate(short).fit(Z, y)
        assert (surrogate.predict(Z)[1] > 0).all()
        smooth = GaussianProcessRegressor(RBF(10.0), alpha=1e-12, optimizer=None)
        RegressorSurrogate(smooth).fit(Z, y).predict(Z)
    assert warnings.filters == before


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (Ridge(), r"predict\(Z, return_std=True\).*got Ridge"),
        (make_pipeline(Ridge()), "must support predict"),
        (BayesianRidge, r"object.*got the"),
        (3, r"surrogate.*regressor"),
    ],
)
def test_what_gives_no_deviation_is_refused_at_once(bad, message):
    with pytest.raises((TypeError, ValueError), match=message):
        SILBO([(0, 1)] * 3, surrogate=bad)


def test_a_prediction_without_deviation_is_refused():
    class Liar(BayesianRidge):
        def predict(self, X, return_std=False):
            return super().predict(X)

    with pytest.raises(TypeError, match=r"return \(mean, std\)"):
        RegressorSurrogate(Liar()).fit(*make_data()).predict(np.zeros((1, 3)))


def test_kernel_of_wrong_dimension_raises():
    kernel = RBF(np.ones(4))
    with pytest.raises(ValueError, match="Anisotropic kernel") as caught:
        RegressorSurrogate(GaussianProcessRegressor(kernel)).fit(*make_data())
    assert "needs embedding='identity'" in caught.value.__notes__[0]


# --- in the optimiser -----------------------------------------------------------------------------


def bowl(x):
    return float(((x - 0.3) ** 2).sum())


def test_json_needs_the_regressor_again():
    optimizer = SILBO([(-1, 1)] * 3, surrogate=CUBIC, n_initial=6, random_state=0)
    run(optimizer, bowl, 8)
    data = json.loads(json.dumps(optimizer.to_dict()))
    with pytest.raises(ValueError, match=r"\['surrogate'\].*from_dict\(data, surrogate=...\)"):
        SILBO.from_dict(data)
    again = SILBO.from_dict(data, surrogate=CUBIC)
    assert_array_equal(again.ask(2), optimizer.ask(2))


def test_regressor_seed_comes_from_optimiser():
    asked = []
    for seed in (0, 0, 1):
        optimizer = SILBO([(-1, 1)] * 3, surrogate=Noisy(), random_state=seed, n_initial=3)
        with global_generator_unchanged():
            asked.append(run(optimizer, bowl, 5).x_iters_)
    assert_array_equal(asked[0], asked[1])
    assert (asked[0][-1] != asked[2][-1]).any()
    fixed = RegressorSurrogate(Noisy(random_state=5)).fit(
        *make_data(), state={"seed": 1, "kernel": {}}
    )
    assert fixed.regressor_.random_state == 5


def test_the_process_of_scikit_learn_by_its_name():
    """Its name was refused where all inputs are kept, for a prior that it has not."""
    options = {"embedding": "semi-sir", "n_initial": 8, "random_state": 0}
    optimizer = SILBO([(-1, 1)] * 6, surrogate="sklearn", **options)
    run(optimizer, lambda x: float(((x - 0.2) ** 2).sum()), 9)
    optimizer.ask()
    assert isinstance(optimizer._model.surrogate, RegressorSurrogate)
    with pytest.raises(ValueError, match=r"surrogate.*'auto'"):
        SILBO([(-1, 1)] * 6, surrogate="sklearn", embedding="sparse")
