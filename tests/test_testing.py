"""Checks for parts of one's own: they pass what keeps its protocol, and say what does not."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.linear_model import BayesianRidge

from skbo_silbo import SILBO
from skbo_silbo.acquisition import (
    confidence_gain,
    log_expected_improvement,
    no_improvement,
    variance_gain,
)
from skbo_silbo.embedding import IdentityLearner, LinearEmbedding, TransformerLearner
from skbo_silbo.mapping import BottomUp, TopDown
from skbo_silbo.optimizers import SIRBO
from skbo_silbo.surrogate import AdditiveMaker, ProcessMaker, RegressorMaker
from skbo_silbo.testing import (
    check_acquisition,
    check_learner,
    check_mapping,
    check_optimizer,
    check_surrogate,
)


@pytest.mark.parametrize(
    ("check", "part"),
    [
        (check_acquisition, log_expected_improvement),
        (check_acquisition, no_improvement),
        (check_acquisition, partial(confidence_gain, beta=3.0)),
        (check_acquisition, partial(variance_gain, kappa=2.0)),
        (check_learner, IdentityLearner()),
        (check_learner, TransformerLearner("pca", PCA(2))),
        (check_mapping, TopDown()),
        (check_mapping, TopDown("least-squares")),
        (check_mapping, BottomUp()),
        (check_surrogate, ProcessMaker()),
        (check_surrogate, AdditiveMaker(2)),
        (check_surrogate, RegressorMaker(BayesianRidge())),
    ],
)
def test_parts_of_this_library_pass(check, part):
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


class AsArray(Coordinates):
    def learn(self, X, y, X_unlabeled):
        return np.eye(X.shape[1])[:2]


class Whimsical(Coordinates):
    rng = np.random.default_rng(0)

    def learn(self, X, y, X_unlabeled):
        return LinearEmbedding.from_components(self.rng.standard_normal((2, X.shape[1])))


class Widening(TopDown):
    def lift(self, Z, embedding, incumbent):
        return 2.0 * super().lift(Z, embedding, incumbent)


class Stored(ProcessMaker):
    def fit(self, state, Z, y, noise, *, moved, rng):
        surrogate, state = super().fit(state, Z, y, noise, moved=moved, rng=rng)
        return surrogate, {**state, "array": np.ones(2)}


def test_what_is_broken_in_the_next_test_is_all_that_is():
    check_acquisition(improvement)
    check_learner(Coordinates())


def test_a_mapping_of_two_methods_is_part_of_a_configuration():
    class FromTheCentre:
        def lift(self, Z, embedding, incumbent):
            return np.clip(embedding.expand(Z), -1.0, 1.0)

        def carry(self, X, embedding):
            return embedding.project(X)

    class Baseline(SIRBO):
        def _configure(self, d):
            return replace(super()._configure(d), mapping=self.mapping)

    Baseline.mapping = FromTheCentre()
    check_optimizer(partial(Baseline, n_initial=6))
    Baseline.mapping = FromTheCentre
    with pytest.raises(ValueError, match="mapping must be an object: got the class FromTheCentre"):
        Baseline([(0, 1)] * 4)
    Baseline.mapping = 3
    with pytest.raises(ValueError, match=r"mapping must have carry, lift, as .*: got 3"):
        Baseline([(0, 1)] * 4)


@pytest.mark.parametrize(
    ("check", "part", "message"),
    [
        (check_acquisition, partial(improvement, by_mean=-1.1), "the derivative by mean must"),
        (check_acquisition, partial(improvement, by_std=0.1), "the derivative by std must"),
        (check_acquisition, partial(improvement, sign=-1.0, by_mean=1.0), "larger must be better"),
        (check_acquisition, crowded, "points must not meet"),
        (check_acquisition, naive, "values and derivatives must be finite"),
        (check_learner, Whimsical(), "the same data must give the same"),
        (check_mapping, Widening(), "points must be in the cube"),
        (check_surrogate, Stored(), "the state must be plain data for JSON: Object of type nd"),
    ],
)
def test_broken_parts_are_found(check, part, message):
    with pytest.raises(AssertionError, match=message):
        check(part)


def test_an_array_is_no_embedding():
    with pytest.raises(ValueError, match=r"embedding must have basis, d, expand, .*: got array"):
        check_learner(AsArray())


@pytest.mark.parametrize(
    ("name", "cls"),
    [("embedding", Coordinates), ("mapping", Widening), ("surrogate", ProcessMaker)],
)
def test_a_class_in_place_of_an_object_is_refused_before_anything_is_evaluated(name, cls):
    message = rf"{name} must be an object: got the class {cls.__name__}. Write {cls.__name__}\(\)."
    with pytest.raises(ValueError, match=message):
        SILBO([(0, 1)] * 5, **{name: cls})


def test_what_is_learnt_and_is_no_embedding_is_named():
    class Matrix(IdentityLearner):
        def learn(self, X, y, X_unlabeled):
            return np.eye(X.shape[1])[:, :2]

    optimizer = SILBO([(-1, 1)] * 3, embedding=Matrix("matrix"), random_state=0)
    points = np.random.default_rng(0).uniform(-1, 1, (20, 3))
    optimizer.tell(points, points[:, 0])
    with pytest.raises(ValueError, match=r"what matrix\.learn returns must have basis, .*project"):
        optimizer.ask()
    assert len(optimizer.func_vals_) == 20


def test_a_surrogate_that_overwrites_its_points_leaves_the_history_alone():
    class Careless(ProcessMaker):
        def fit(self, state, Z, y, noise, *, moved, rng):
            made = super().fit(state, Z.copy(), y, noise, moved=moved, rng=rng)
            Z *= 0.5
            return made

    optimizer = SILBO([(-1, 1)] * 3, embedding="identity", surrogate=Careless(), random_state=0)
    points = np.random.default_rng(0).uniform(-1, 1, (20, 3))
    optimizer.tell(points, points[:, 0])
    optimizer.ask()
    np.testing.assert_array_equal(optimizer.x_iters_, points)
    np.testing.assert_allclose(optimizer._history.canonical.X, np.unique(points, axis=0))
