"""Parzen draws, and how often they take the place of the improvement."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import kstest, loguniform, truncnorm, uniform
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
from skbo_silbo.acquisition._parzen_draws import ParzenEstimates, draw_good
from skbo_silbo.embedding import LinearEmbedding
from skbo_silbo.space import Box
from skbo_silbo.surrogate import GaussianProcessSurrogate

COORDINATES = st.floats(-1, 1, allow_subnormal=False)


def cut_off(estimates):
    """Return scipy's truncated normal distributions of an estimate."""
    center, width = estimates.centers, estimates.widths
    return truncnorm((-1 - center) / width, (1 - center) / width, center, width)


@given(arrays(float, (6, 3), elements=COORDINATES), arrays(float, (4, 3), elements=COORDINATES))
def test_the_density_is_the_mean_of_normal_ones_cut_off_at_the_ends(X, at):
    estimates = ParzenEstimates.near(X)
    expected = np.log(cut_off(estimates).pdf(at[:, None]).mean(axis=1))
    assert_allclose(estimates.log_density(at) - expected, 0.5 * np.log(2 * np.pi), rtol=1e-9)


def test_many_densities_in_blocks_are_those_of_every_input_alone():
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


def test_widths_reach_the_further_neighbour_and_one_density_covers_all():
    estimates = ParzenEstimates.near(np.array([[-0.6], [0.5]]))
    assert_array_equal(estimates.centers.ravel(), [-0.6, 0.5, 0.0])
    assert_allclose(estimates.widths.ravel(), [0.6, 0.5, 2.0])  # clipped at 2 / 4 from below


def test_a_draw_is_near_good_points_in_the_inputs_that_set_them_apart():
    rng = np.random.default_rng(1)
    X = rng.uniform(-1, 1, (60, 8))
    ranked = X[np.argsort(np.abs(X[:, 2] - 0.7))]
    drawn = np.array([draw_good(ranked, rng) for _ in range(60)])
    away = np.abs(drawn - 0.7).mean(axis=0)
    assert away[2] < 0.1
    to_good = np.abs(drawn[:, None] - ranked[:6]).min(axis=1)
    assert to_good.mean() < 0.1


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
def test_draws_are_as_frequent_as_the_share_that_is_not_explained(share, most, expected):
    surface, ranked = make_surface(share)
    search, rng, box = ParzenTurns(Elsewhere(), most), np.random.default_rng(0), Box([(0, 1)] * 3)
    drawn = [search.find(surface, ranked, box, rng).Z[0, 0] != 0.123 for _ in range(200)]
    assert abs(sum(drawn) - expected) <= 4 * np.sqrt(200 * 0.25)  # four standard deviations
    assert (sum(drawn) == 0) == (expected == 0)


def test_where_constraints_are_learnt_it_is_the_other_search():
    surface, ranked = make_surface(1.0)
    surface = replace(surface, feasibility=object())
    found = ParzenTurns(Elsewhere(), most=1.0).find(
        surface, ranked, Box([(0, 1)] * 3), np.random.default_rng(0)
    )
    assert found.Z[0, 0] == 0.123


def test_points_drawn_are_of_the_space():
    space = Space({"C": loguniform(1e-3, 1e3), "kernel": ["rbf", "poly"], "u": uniform(0, 1)})
    rng = np.random.default_rng(0)
    X = space.round(rng.uniform(-1, 1, (20, space.n_features_)))
    surrogate = Unsure().fit(X, X[:, 0])
    embedding = LinearEmbedding(space.n_features_)
    args = log_expected_improvement, surrogate, embedding, 0.0
    surface = AcquisitionSurface(*args, observed=surrogate)
    found = ParzenTurns(most=1.0).find(surface, X, space, rng)
    assert_array_equal(space.round(found.X), found.X)
    assert_array_equal(found.Z, found.X)


def test_the_share_not_explained_is_that_of_values_left_out():
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


def test_pending_points_do_not_make_the_model_look_better():
    rng = np.random.default_rng(0)
    optimizer = SILBO([(-1, 1)] * 4, random_state=0, search=ParzenTurns(Elsewhere(), most=1.0))
    X = rng.uniform(-1, 1, (20, 4))
    optimizer.tell(X, rng.standard_normal(20))
    optimizer.ask()
    share = optimizer._model.surrogate.unexplained_share()
    optimizer.ask(6)
    assert optimizer._surface().observed.unexplained_share() == share > 0.5


def test_a_surrogate_of_ones_own_is_refused_before_anything_is_paid():
    with pytest.raises(ValueError, match="search='climb'"):
        SILBO([(0, 1)] * 3, surrogate=BayesianRidge(), search="parzen-turns")


def test_it_is_the_default_where_it_was_measured():
    def search_of(**options):
        return SILBO([(0, 1)] * 6, random_state=0, **options)._configuration.search

    for options in (
        {},
        {"embedding": "identity"},
        {"search": "parzen-turns", "acquisition": "ucb"},
    ):
        assert isinstance(search_of(**options), ParzenTurns)
    for options in (
        {"search": "climb"},
        {"acquisition": "ucb"},
        {"n_components": 2},
        {"surrogate": BayesianRidge(), "embedding": "identity"},
    ):
        assert isinstance(search_of(**options), Climb)
