from dataclasses import replace

import numpy as np
import pytest
from ask_tell import run
from numpy.testing import assert_allclose
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.decomposition import PCA
from sklearn.linear_model import BayesianRidge

from skbo_silbo import SILBO, SemiSlicedInverseRegression
from skbo_silbo.embedding.choice import choose_embedding
from skbo_silbo.embedding.learners import LEARNERS, N_TRIAL
from skbo_silbo.surrogate import GaussianProcessSurrogate


class Recorder(TransformerMixin, BaseEstimator):
    """Least squares as an embedding; keeps what it was given."""

    calls = ()

    def fit(self, X, y, X_unlabeled=None):
        type(self).calls = (*type(self).calls, (X, y, X_unlabeled))
        self.components_ = np.linalg.lstsq(X - X.mean(0), y - y.mean(), rcond=None)[0][None]
        return self


@pytest.fixture
def recorder():
    Recorder.calls = ()
    return Recorder()


def calls():
    """What it was given, but for the trial when an optimiser is made."""
    return [call for call in Recorder.calls if len(call[1]) != N_TRIAL]


def ridge_data(n, d, seed, noise=0.02):
    rng = np.random.default_rng(seed)
    direction = rng.normal(size=d)
    direction /= np.linalg.norm(direction)
    X = rng.uniform(-1, 1, (n, d))
    return X, np.tanh(4 * X @ direction) + noise * rng.standard_normal(n), direction


# --- what the option stands for -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("embedding", "n_components", "d", "name", "prior"),
    [
        ("auto", "auto", 30, "sparse", "sparse"),
        ("auto", "auto", 4, "identity", "dimension-scaled"),
        ("auto", 2, 30, "semi-sir", "dimension-scaled"),
        ("identity", "auto", 30, "identity", "dimension-scaled"),
        ("sparse", 30, 30, "sparse", "sparse"),
        ("sir", 3, 30, "sir", "dimension-scaled"),
        ("semi-sir-local", "auto", 30, "semi-sir-local", "dimension-scaled"),
        ("semi-sir-paper", "auto", 30, "semi-sir-paper", "dimension-scaled"),
        (PCA(2), "auto", 30, "PCA", "dimension-scaled"),
    ],
)
def test_names_say_what_is_learnt_and_believed(embedding, n_components, d, name, prior):
    assert choose_embedding(embedding, n_components, d).name == name
    optimizer = SILBO([(0, 1)] * d, embedding=embedding, n_components=n_components)
    assert optimizer._configuration.surrogate.prior == prior


@pytest.mark.parametrize("embedding", ["identity", "sparse"])
def test_all_inputs_cannot_be_some(embedding):
    with pytest.raises(
        ValueError, match=f"`n_components` must be 'auto' or 6 .*{embedding}.*got 2"
    ):
        SILBO([(0, 1)] * 6, embedding=embedding, n_components=2)


def test_a_prior_cannot_be_had_from_a_regressor():
    with pytest.raises(ValueError, match=r"surrogate.*'auto'"):
        SILBO([(0, 1)] * 6, embedding="sparse", surrogate=BayesianRidge())
    SILBO([(0, 1)] * 6, embedding="auto", surrogate=BayesianRidge())


class Counting(BayesianRidge):
    fits = 0

    def fit(self, X, y):
        type(self).fits += 1
        return super().fit(X, y)


def test_a_regressor_is_all_that_is_fitted(monkeypatch):
    """Evidence fitted Gaussian processes beside a regressor that was asked for."""

    def refuse(*args, **kwargs):
        raise AssertionError("a Gaussian process was fitted")

    monkeypatch.setattr(GaussianProcessSurrogate, "fit", refuse)
    Counting.fits = 0
    optimizer = SILBO([(-1, 1)] * 6, surrogate=Counting(), random_state=0)
    run(optimizer, lambda x: float(x.sum()), 14)
    assert Counting.fits > 0
    assert optimizer.embedding_.is_identity


def test_acquisition_maximum_is_proposed():
    """A learnt embedding lifted z anew, and what the search had chosen off it was lost."""
    optimizer = SILBO([(-1, 1)] * 6, embedding="semi-sir", random_state=0)
    run(optimizer, lambda x: float(np.tanh(x[0] - x[3])), 12)
    found = []
    search = optimizer._configuration.search

    class Recording:
        def find(self, *args):
            found.append(search.find(*args))
            return found[-1]

    optimizer._configuration = replace(optimizer._configuration, search=Recording())
    assert_allclose(optimizer.ask(), found[0].X[0], atol=1e-8)


# --- the loop -------------------------------------------------------------------------------------


@pytest.mark.statistical
def test_semi_sir_finds_the_bottom_of_a_ridge():
    direction = np.array([3.0, -4.0] + [0.0] * 8) / 5

    def func(x):
        return float(np.tanh(x @ direction))

    optimizer = SILBO([(-1, 1)] * 10, embedding="semi-sir", n_components=1, random_state=0)
    run(optimizer, func, 30)
    assert optimizer.best_y_ < np.tanh(-1.3)  # the minimum is tanh(-1.4); at random about -.97 max
    X = optimizer.x_iters_
    assert np.abs(X).max() <= 1
    assert len(np.unique(X, axis=0)) == 30
    assert optimizer.embedding_.r == 1


def test_more_components_than_a_short_design_identifies():
    optimizer = SILBO(
        [(-1, 1)] * 9, embedding="semi-sir", n_components=7, n_initial=5, random_state=0
    )
    run(optimizer, lambda x: float(x.sum()), 8)
    assert 2 <= optimizer.embedding_.r < 7


def test_points_liked_but_not_chosen_are_unlabelled(recorder):
    optimizer = SILBO([(-1, 1)] * 3, embedding=recorder, n_initial=5, n_unlabeled=7, random_state=0)
    run(optimizer, lambda x: float(x[0]), 7)
    first, second = calls()
    assert first[2] is None
    told = {tuple(x.round(8)) for x in optimizer.x_iters_[:6]}
    unlabelled = {tuple(x.round(8)) for x in second[2]}
    assert 5 <= len(unlabelled) == len(second[2]) <= 7
    assert told.isdisjoint(unlabelled)


def test_failures_are_unlabelled_for_the_embedding(recorder):
    optimizer = SILBO(
        [(-1, 1)] * 3, embedding=recorder, n_initial=5, n_unlabeled=0, warp=None, random_state=0
    )
    X = np.random.default_rng(0).uniform(-1, 1, (8, 3))
    optimizer.tell(X, [1.0, 2, np.nan, 4, 5, np.inf, 7, 8]).ask()
    [(labelled, y, unlabelled)] = calls()
    assert sorted(y) == [1, 2, 4, 5, 7, 8]
    assert_allclose(np.sort(unlabelled, axis=0), np.sort(X[[2, 5]], axis=0), atol=1e-8)
    assert len(labelled) == 6


def test_the_embedding_is_learnt_again_at_the_period(recorder):
    optimizer = SILBO(
        [(-1, 1)] * 3, embedding=recorder, n_initial=5, update_every=4, random_state=0
    )
    run(optimizer, lambda x: float(x[0]), 18)
    assert [len(y) for _, y, _ in calls()] == [5, 9, 13, 17]


def test_the_history_comes_sorted(recorder):
    optimizer = SILBO([(-1, 1)] * 3, embedding=recorder, n_initial=5, random_state=0)
    optimizer.tell(np.random.default_rng(0).uniform(-1, 1, (9, 3)), np.arange(9.0)).ask()
    [(X, _, _)] = calls()
    assert (np.diff(X[:, 0]) > 0).all()


def test_equal_values_identify_nothing(recorder):
    optimizer = run(SILBO([(-1, 1)] * 3, embedding=recorder, random_state=0), lambda x: 1.0, 10)
    assert optimizer.embedding_.is_identity
    assert calls() == []


def test_the_given_transformer_is_not_fitted(recorder):
    optimizer = SILBO([(-1, 1)] * 3, embedding=recorder, n_initial=3, random_state=0)
    run(optimizer, lambda x: float(x[0]), 5)
    assert not hasattr(recorder, "components_")
    assert optimizer.embedding is recorder


def test_failing_transformer_is_retried_later():
    few = SemiSlicedInverseRegression(2, n_slices=4, alpha=1.0)
    optimizer = SILBO([(0, 1)] * 6, embedding=few, n_initial=4, random_state=0)
    told = [(x, float(i // 2)) for i, x in enumerate(optimizer.ask(4))]  # two different values
    optimizer.tell(*zip(*told, strict=True))
    with pytest.warns(UserWarning, match="could not be fitted.*at most 1"):
        points = optimizer.ask(5)
    assert optimizer.embedding_.is_identity
    for x in points:
        optimizer.tell(x, float(x[0] - x[1]))
    optimizer.ask()
    assert optimizer.embedding_.r == 2


class Degenerate(PCA):
    """Components of `value` where fewer rows are given than in the trial of a transformer."""

    def __init__(self, n_components=2, value=np.nan, fewest=150):
        super().__init__(n_components)
        self.value, self.fewest = value, fewest

    def fit(self, X, y=None):
        super().fit(X)
        if len(X) < self.fewest:
            self.components_ = np.full_like(self.components_, self.value)
        return self


@pytest.mark.parametrize("value", [np.nan, 0.0])
def test_unusable_components_keep_all_inputs(value):
    optimizer = SILBO([(0, 1)] * 6, embedding=Degenerate(value=value), n_initial=4, random_state=0)
    with pytest.warns(
        UserWarning, match="Degenerate.* could not be fitted .*finite.* not all zero"
    ):
        run(optimizer, lambda x: float(x[0]), 5)
    assert optimizer.embedding_.is_identity


def test_transformer_with_nan_components_is_rejected():
    with pytest.raises(ValueError, match=r"`embedding` must be .*components_ must be finite"):
        SILBO([(0, 1)] * 3, embedding=Degenerate(fewest=1000))


# --- active subspace ------------------------------------------------------------------------------


def test_the_active_subspace_has_even_directions_too():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (80, 8))
    direction = np.r_[3.0, -4.0, np.zeros(6)] / 5
    learner = choose_embedding("active-subspace", 1, 8)
    embedding = learner.learn(X, (X @ direction) ** 2, X[:0])
    assert np.abs(embedding.basis.T @ direction).item() > 0.95
    assert learner.learn(X, np.ones(80), X[:0]).is_identity
    wide = choose_embedding("active-subspace", 8, 8)
    assert wide.learn(X[:5], X[:5, 0], X[:0]).r <= 5


def test_paper_learner_stops_at_slice_sum_rank():
    rng = np.random.default_rng(0)
    centres, offsets = np.zeros((2, 6, 5))
    centres[:, :2], offsets[:, 2:] = rng.normal(size=(6, 2)), rng.normal(size=(6, 3))
    X, y = np.vstack([centres + offsets, centres - offsets]), np.tile(np.arange(6.0), 2)
    assert np.linalg.matrix_rank(X - X.mean(axis=0)) == 5
    assert LEARNERS["semi-sir-paper"](4).learn(X, y, np.empty((0, 5))).r == 2
