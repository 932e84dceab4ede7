"""Parzen draws, and how often they take the place of the improvement."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import loguniform, uniform
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import Matern, WhiteKernel
from sklearn.linear_model import BayesianRidge

from skbo_silbo import SILBO, Space
from skbo_silbo.acquisition import (
    AcquisitionSurface,
    Climb,
    Found,
    ParzenTurns,
    log_expected_improvement,
)
from skbo_silbo.acquisition.searches import LOSS_EACH, moved_off_bounds
from skbo_silbo.embedding import LinearEmbedding
from skbo_silbo.space import Box
from skbo_silbo.surrogate import GaussianProcessSurrogate


@dataclass(frozen=True)
class Elsewhere:
    """Another search, which is seen to have been asked."""

    def find(self, surface, ranked, space, rng):
        return Found(np.full((1, 3), 0.123), np.full((1, 3), 0.123))


class Unsure(GaussianProcessSurrogate):
    share = 1.0

    def unexplained_share(self):
        return self.share


def make_surface(share):
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (20, 3))
    surrogate = Unsure().fit(X, X[:, 0])
    surrogate.share = share
    surface = AcquisitionSurface(
        log_expected_improvement, surrogate, LinearEmbedding(3), 0.0, observed=surrogate
    )
    return surface, X[np.argsort(X[:, 0])]


@pytest.mark.parametrize(("share", "most", "expected"), [(0, 1, 0), (1, 0.5, 100), (0.5, 0.5, 50)])
def test_draw_frequency_is_unexplained_share(share, most, expected):
    surface, ranked = make_surface(share)
    search, rng, box = ParzenTurns(Elsewhere(), most), np.random.default_rng(0), Box([(0, 1)] * 3)
    drawn = [search.find(surface, ranked, box, rng).Z[0, 0] != 0.123 for _ in range(200)]
    assert abs(sum(drawn) - expected) <= 4 * np.sqrt(200 * 0.25)  # four standard deviations
    assert (sum(drawn) == 0) == (expected == 0)


def test_learned_constraints_disable_parzen_draws():
    surface, ranked = make_surface(1.0)
    surface = replace(surface, feasibility=object())
    found = ParzenTurns(Elsewhere(), most=1.0).find(
        surface, ranked, Box([(0, 1)] * 3), np.random.default_rng(0)
    )
    assert found.Z[0, 0] == 0.123


@pytest.mark.parametrize("others", [{"C": loguniform(1e-3, 1e3), "u": uniform()}, {"n": [1, 2]}])
def test_points_drawn_are_of_the_space(others):
    space = Space({"kernel": ["rbf", "poly"], **others})
    rng = np.random.default_rng(0)
    X = space.round(rng.uniform(-1, 1, (20, space.n_features_)))
    surrogate = Unsure().fit(X, X[:, 0])
    embedding = LinearEmbedding(space.n_features_)
    args = log_expected_improvement, surrogate, embedding, 0.0
    surface = AcquisitionSurface(*args, observed=surrogate)
    found = ParzenTurns(most=1.0).find(surface, X, space, rng)
    assert_array_equal(space.round(found.X), found.X)
    assert_array_equal(found.Z, found.X)


def test_unexplained_share_matches_leave_one_out():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (25, 2))
    y = np.sin(3 * X[:, 0]) + 0.3 * rng.standard_normal(25)
    process = GaussianProcessSurrogate().fit(X, y)
    signal, noise = np.exp(process.theta_[[0, -1]])
    lengths = np.exp(process.theta_[1:-1])
    kernel = signal * Matern(lengths, nu=2.5) + WhiteKernel(noise)
    lost = []
    for i in range(25):
        kept = np.arange(25) != i
        alone = GaussianProcessRegressor(kernel, alpha=1e-10, optimizer=None)
        alone.fit(X[kept], (y[kept] - process.y_mean_) / process.y_scale_)
        lost.append(y[i] - process.y_mean_ - process.y_scale_ * alone.predict(X[[i]])[0])
    expected = np.sum(np.square(lost)) / np.sum((y - y.mean()) ** 2)
    assert_allclose(process.unexplained_share(), expected, rtol=1e-6)
    assert GaussianProcessSurrogate().fit(X, np.ones(25)).unexplained_share() == 0.0


def test_pending_points_do_not_improve_unexplained_share():
    rng = np.random.default_rng(0)
    optimizer = SILBO([(-1, 1)] * 4, random_state=0, search=ParzenTurns(Elsewhere(), most=1.0))
    X = rng.uniform(-1, 1, (20, 4))
    optimizer.tell(X, rng.standard_normal(20))
    optimizer.ask()
    share = optimizer._model.surrogate.unexplained_share()
    optimizer.ask(6)
    assert optimizer._surface(None).observed.unexplained_share() == share > 0.5


def test_custom_surrogate_is_rejected_before_first_evaluation():
    with pytest.raises(ValueError, match="search='climb'"):
        SILBO([(0, 1)] * 3, surrogate=BayesianRidge(), search="parzen-turns")


def test_it_is_the_default_where_it_was_measured():
    def search_of(**options):
        return SILBO([(0, 1)] * 6, random_state=0, **options)._configuration.search

    for options in (
        {},
        {"embedding": "identity"},
        {"search": "parzen-turns", "acquisition": "ucb"},
        {"acquisition": log_expected_improvement},
        {"surrogate": GaussianProcessSurrogate(), "embedding": "identity"},
    ):
        assert isinstance(search_of(**options), ParzenTurns)
    for options in (
        {"search": "climb"},
        {"acquisition": "ucb"},
        {"n_components": 2},
        {"surrogate": BayesianRidge(), "embedding": "identity"},
    ):
        assert isinstance(search_of(**options), Climb)


def test_inputs_that_do_not_matter_leave_their_bounds():
    rng, d = np.random.default_rng(0), 50
    box = Box([(0, 1)] * d)
    X = box.round(rng.uniform(-0.9, 0.9, (60, d)))
    y = 3 * X[:, 0] + 2 * X[:, 1]
    X[np.argsort(y)[:2], 3] = 1.0
    surrogate = GaussianProcessSurrogate(prior="sparse").fit(X, y)
    surface = AcquisitionSurface(log_expected_improvement, surrogate, LinearEmbedding(d), y.min())
    ranked, corner = X[np.argsort(y)], np.r_[-1.0, -1.0, np.sign(X[0, 2:])]
    x = moved_off_bounds(surface, corner, ranked, box)
    assert_array_equal(x[:2], -1.0)
    inside = np.abs(x) < 1.0
    assert inside.sum() > 40
    assert (ranked == x).any(axis=0)[inside].all()
    before, after = surface.values(np.array([corner, x]))
    assert after >= before - LOSS_EACH * d
    assert moved_off_bounds(surface, corner, np.sign(ranked), box) is corner


def test_named_inputs_leave_their_bounds_and_categories_stay():
    rng, d = np.random.default_rng(0), 40
    space = Space({f"u{i}": uniform() for i in range(d)} | {"k": ["a", "b", "c"], "n": [0, 1]})
    X = space.round(rng.uniform(-0.9, 0.9, (60, d + 4)))
    y = 3 * X[:, 0]
    surrogate = GaussianProcessSurrogate(prior="sparse").fit(X, y)
    embedding, corner = LinearEmbedding(d + 4), space.round(np.sign(X[:1]))[0]
    surface = AcquisitionSurface(log_expected_improvement, surrogate, embedding, y.min())
    x = moved_off_bounds(surface, corner, X[np.argsort(y)], space)
    assert (np.abs(x[:d]) < 0.99).sum() > 20
    assert_array_equal(x[d:], corner[d:])
    nothing = replace(surface, acquisition=lambda mean, std, best: np.zeros(len(mean)))
    assert moved_off_bounds(nothing, corner, X, space) is corner
