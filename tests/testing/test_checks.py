"""Checks for user-defined components: valid ones pass, and violations are reported."""

from functools import partial

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.linear_model import BayesianRidge

from skbo_silbo import SILBO
from skbo_silbo.acquisition import Climb, Found, log_expected_improvement
from skbo_silbo.acquisition.acquisition_functions import confidence_gain, no_improvement
from skbo_silbo.embedding import LinearEmbedding
from skbo_silbo.embedding.choice import IdentityLearner
from skbo_silbo.embedding.learners import TransformerLearner
from skbo_silbo.surrogate import GaussianProcessSurrogate
from skbo_silbo.surrogate.regressor import RegressorSurrogate
from skbo_silbo.testing import check_acquisition, check_learner, check_optimizer, check_surrogate

pytestmark = pytest.mark.quick


@pytest.mark.parametrize(
    ("check", "part"),
    [
        (check_acquisition, log_expected_improvement),
        (check_acquisition, no_improvement),
        (check_acquisition, partial(confidence_gain, beta=3.0)),
        (check_learner, IdentityLearner()),
        (check_learner, TransformerLearner("pca", PCA(2))),
        (check_learner, PCA(2)),
        (check_surrogate, GaussianProcessSurrogate()),
        (check_surrogate, RegressorSurrogate(BayesianRidge())),
    ],
)
def test_components_of_library_pass(check, part):
    check(part)


def improvement(mean, std, best, *, return_gradient=False, sign=1.0, by_mean=-1.0, by_std=0.0):
    value = sign * (best - mean)
    slopes = np.full_like(mean, by_mean), np.full_like(std, by_std)
    return (value, *slopes) if return_gradient else value


def crowded(mean, std, best, *, return_gradient=False):
    value = best - mean - 0.1 * mean.mean()
    slopes = -np.ones_like(mean), np.zeros_like(std)
    return (value, *slopes) if return_gradient else value


def naive(mean, std, best, *, return_gradient=False):
    with np.errstate(all="ignore"):
        value = np.log(np.maximum(best - mean, 0.0))
        return (value, 1.0 / (mean - best), 0.0 * std) if return_gradient else value


class Coordinates:
    name = "first two"

    def learn(self, X, y, X_unlabeled):
        return LinearEmbedding.from_components(np.eye(X.shape[1])[:2])


class Whimsical(Coordinates):
    rng = np.random.default_rng(0)

    def learn(self, X, y, X_unlabeled):
        return LinearEmbedding.from_components(self.rng.standard_normal((2, X.shape[1])))


def returning(part, method, made):
    """Return a component of the same class with one method replaced."""
    return type(type(part).__name__, (type(part),), {method: made})()


def too_wide(self, X, y, X_unlabeled):
    return LinearEmbedding(X.shape[1] + 1)


STORED = returning(GaussianProcessSurrogate(), "to_state", lambda self: {"array": np.ones(2)})
AS_ARRAY = returning(Coordinates(), "learn", lambda self, X, y, X_unlabeled: np.eye(len(X.T))[:2])


class ThroughNaN(LinearEmbedding):
    def expand(self, Z):
        return np.nan * super().expand(Z)


class Expanding(Coordinates):
    def learn(self, X, y, X_unlabeled):
        return ThroughNaN(X.shape[1], np.eye(X.shape[1])[:, :2])


class Standardising(Coordinates):
    def learn(self, X, y, X_unlabeled):
        if np.ptp(y) == 0.0:
            return LinearEmbedding(X.shape[1])
        rows = ((X - X.mean(axis=0)) / X.std(axis=0)).T @ y
        return LinearEmbedding.from_components(rows[None])


class Silent(GaussianProcessSurrogate):
    def fit(self, Z, y, noise, *, state, tune, rng):
        super().fit(Z, y, noise, state=state, tune=tune)


def test_user_defined_components_pass_checks():
    check_acquisition(improvement)
    check_learner(Coordinates())


@pytest.mark.parametrize(
    ("check", "part", "message"),
    [
        (check_acquisition, partial(improvement, by_mean=-1.1), r"derivative.*mean"),
        (check_acquisition, partial(improvement, by_std=0.1), r"derivative.*std"),
        (check_acquisition, partial(improvement, sign=-1.0, by_mean=1.0), "larger must be better"),
        (check_acquisition, crowded, "must not depend on other points"),
        (check_acquisition, naive, r"values.*derivatives"),
        (check_learner, Whimsical(), "same data"),
        (check_learner, returning(Coordinates(), "learn", too_wide), "got d = 7 and r = 7"),
        (check_surrogate, STORED, r"state.*JSON"),
        (check_learner, Expanding(), r"expand.*finite"),
        (check_learner, Standardising(), r"column.*vary"),
        (check_surrogate, Silent(), r"fit.*got None"),
    ],
)
def test_broken_components_fail_checks(check, part, message):
    with pytest.raises(AssertionError, match=message):
        check(part)


def test_array_is_rejected_as_embedding():
    with pytest.raises(ValueError, match=r"returns.*got array"):
        check_learner(AS_ARRAY)


@pytest.mark.parametrize(
    ("name", "cls"),
    [("embedding", Coordinates), ("surrogate", GaussianProcessSurrogate)],
)
def test_class_instead_of_instance_raises_before_evaluation(name, cls):
    message = rf"{name} must be an object, got the class {cls.__name__}. Write {cls.__name__}\(\)."
    with pytest.raises(ValueError, match=message):
        SILBO([(0, 1)] * 5, **{name: cls})


def test_surrogate_overwriting_input_keeps_history():
    class Careless(GaussianProcessSurrogate):
        def fit(self, Z, y, noise, *, state, tune, rng):
            super().fit(Z.copy(), y, noise, state=state, tune=tune)
            Z *= 0.5
            return self

    optimizer = SILBO([(-1, 1)] * 3, embedding="identity", surrogate=Careless(), random_state=0)
    points = np.random.default_rng(0).uniform(-1, 1, (20, 3))
    optimizer.tell(points, points[:, 0])
    optimizer.ask()
    np.testing.assert_array_equal(optimizer.x_iters_, points)
    np.testing.assert_allclose(optimizer._history.canonical.X, np.unique(points, axis=0))


def learning(learn):
    return returning(Coordinates(), "learn", learn)


NO_RANDOMNESS = returning(
    GaussianProcessSurrogate(), "fit", lambda self, Z, y, noise, *, state, tune: self
)
NO_SPACE = returning(Climb(), "find", lambda self, surface, ranked: Found(ranked))


class WordAsFlag:
    is_log = "yes"

    def __call__(self, mean, std, best, *, return_gradient=False):
        return log_expected_improvement(mean, std, best, return_gradient=return_gradient)


class Blr:
    def fit(self, Z, y, noise, *, state, tune, rng):
        return self

    def predict(self, Z):
        return np.zeros(len(Z)), np.ones(len(Z))


class Flat:
    name = "flat"

    def __call__(self, y):
        return y

    def log_slope(self):
        return 0.0


@pytest.mark.parametrize(
    ("option", "part", "message"),
    [
        ("embedding", learning(lambda self, X, y: None), r"embedding.*got \(X, y\)"),
        ("embedding", learning(lambda self, *, X, y, X_unlabeled: None), r"got \(\*, X, y, X_unl"),
        ("embedding", learning(None), r"learn.*embedding"),
        ("surrogate", NO_RANDOMNESS, r"take \(Z, y, noise, \*, state, tune, rng\)"),
        ("search", NO_SPACE, r"search.*\(surface, ranked, space, rng\)"),
        ("warp", Flat(), r"log_slope.*warp"),
        ("design", lambda n, d: np.zeros((n, d)), r"design.*\(n, d, rng\)"),
        ("acquisition", lambda mean, std: -mean, r"acquisition must take \(mean, std, best"),
        ("acquisition", 5, r"acquisition.*__call__"),
        ("surrogate", Blr(), r"surrogate.*relevance_"),
    ],
)
def test_part_with_wrong_signature_raises_at_construction(option, part, message):
    with pytest.raises(ValueError, match=message):
        SILBO([(0, 1)] * 4, **{option: part})


@pytest.mark.parametrize(
    ("basis", "message"),
    [
        (np.eye(3)[:2], r"basis.*\(3, r\)"),
        (np.full((3, 2), np.nan), "got array.*nan"),
        (2.0 * np.eye(3)[:, :2], r"Use LinearEmbedding\.from_components\(rows\)"),
    ],
)
def test_invalid_basis_raises(basis, message):
    with pytest.raises(ValueError, match=message):
        LinearEmbedding(3, basis)


def far_away(self, surface, ranked, space, rng):
    return Found(surface.embedding.project(3.0 * ranked), 3.0 * ranked)


def short(mean, std, best, *, return_gradient=False):
    value = best - mean[:-1]
    return (value, value, value) if return_gradient else value


@pytest.mark.parametrize(
    ("option", "part"),
    [
        ("embedding", AS_ARRAY),
        ("search", returning(Climb(), "find", far_away)),
        ("acquisition", short),
        ("design", lambda n, d, rng: np.zeros((n, d + 1))),
        ("design", lambda n, d, rng: np.full((n, d), 3.0)),
    ],
)
def test_wrong_return_value_raises_and_keeps_history(option, part):
    parts = {"n_initial": 5, "random_state": 0, option: part}
    optimizer = SILBO([(-1, 1)] * 4, **parts)
    if option != "design":
        points = np.random.default_rng(0).uniform(-1, 1, (8, 4))
        optimizer.tell(points, points[:, 0])
    with pytest.raises((ValueError, AttributeError, IndexError)):
        optimizer.ask()
    assert len(optimizer.func_vals_) == (0 if option == "design" else 8)


def test_acquisition_may_return_minus_infinity():
    def only_left(mean, std, best, *, return_gradient=False):
        value = np.where(mean > 1.0, -np.inf, std - mean)
        slope = np.where(mean > 1.0, np.nan, 1.0)
        return (value, -slope, slope) if return_gradient else value

    optimizer = SILBO([(-1.0, 1.0)] * 3, acquisition=only_left, n_initial=4, random_state=0)
    for _ in range(8):
        x = optimizer.ask()
        optimizer.tell(x, 2.0 * float(((x - 0.3) ** 2).sum()))
    assert len(optimizer.func_vals_) == 8


@pytest.mark.parametrize(
    ("make", "got"),
    [
        ("silbo", "'str' object is not callable"),
        (SILBO([(0.0, 1.0)]), "not callable"),
        (BayesianRidge, "BayesianRidge'> raised TypeError"),
        (lambda bounds, random_state: 3, "returned 3"),
    ],
)
def test_optimizer_check_rejects_invalid_factory(make, got):
    with pytest.raises(ValueError, match=f"^make must return .*AskTellOptimizer.*{got}"):
        check_optimizer(make)
    with pytest.raises(ValueError, match="n_calls must be an integer >= 2, got 0"):
        check_optimizer(SILBO, n_calls=0)
