import numpy as np
import pytest
from derivatives import assert_gradient
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from skbo_silbo.acquisition import AcquisitionSurface, Climb, Found, log_expected_improvement
from skbo_silbo.acquisition.searches import draw_candidates, draw_moved
from skbo_silbo.embedding import LinearEmbedding
from skbo_silbo.optimizers.configuration import sobol_points
from skbo_silbo.space.any_space import as_space
from skbo_silbo.surrogate import GaussianProcessSurrogate


def make_surface(d, r=None, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (25, d))
    embedding = LinearEmbedding(d)
    if r is not None:
        embedding = LinearEmbedding.from_components(rng.normal(size=(r, d)))
    y = np.sin(3 * X[:, 0]) + X[:, 1] ** 2
    surrogate = GaussianProcessSurrogate().fit(embedding.project(X), y)
    return X, AcquisitionSurface(log_expected_improvement, surrogate, embedding, y.min())


@pytest.mark.parametrize(("d", "r"), [(2, None), (30, 4)])
def test_gradient_through_acquisition_surrogate_and_embedding(d, r):
    _, surface = make_surface(d, r)
    for x in np.random.default_rng(1).uniform(-0.9, 0.9, (5, d)):
        value, gradient = surface.value_and_gradient(x)
        assert_allclose(value, surface.values(x[None])[0], rtol=1e-6)
        atol = 1e-4 * np.abs(gradient).max()
        assert_gradient(gradient, lambda p: surface.values(p[None])[0], x, step=3e-3, atol=atol)


@pytest.mark.parametrize(("d", "r"), [(2, None), (8, 2), (300, 3)])
def test_candidates_are_inside_and_fill_the_image(d, r):
    X, surface = make_surface(d, r)
    candidates = draw_candidates(
        surface.embedding, X[:3], np.random.default_rng(0), surface.relevance
    )
    assert np.abs(candidates).max() <= 1
    Z, half_widths = surface.embedding.project(candidates), surface.embedding.half_widths
    assert (np.abs(Z).max(axis=0) > 0.75 * half_widths).all()
    at_random = np.random.default_rng(0).uniform(-1, 1, candidates.shape)
    assert (Z.std(axis=0) > 0.9 * surface.embedding.project(at_random).std(axis=0)).all()


def test_relevant_coordinates_move_more_often():
    relevance = np.r_[np.full(3, 50.0), np.ones(97)]
    moved = draw_moved(4000, relevance, np.random.default_rng(0))
    share = moved.mean(axis=0)
    assert share[:3].min() > 5 * share[3:].max()
    assert share[3:].min() > 0.01
    alike = draw_moved(4000, np.ones(100), np.random.default_rng(0)).sum(axis=1)
    assert np.quantile(alike, 0.1) < 3
    assert np.quantile(alike, 0.95) > 70  # 79 of 100 are expected there
    assert draw_moved(3, np.ones(1), np.random.default_rng(0)).all()


def test_some_candidates_are_near_the_incumbents():
    X, surface = make_surface(4)
    candidates = draw_candidates(
        surface.embedding, X[:3], np.random.default_rng(0), surface.relevance
    )
    distance = np.linalg.norm(candidates[:, None] - X[None, :3], axis=2).min(axis=0)
    assert (distance < 0.05).all()


@pytest.mark.parametrize(("d", "r"), [(3, None), (12, 3)])
def test_climbs_end_at_the_highest_acquisition(d, r):
    X, surface = make_surface(d, r)
    candidates = draw_candidates(
        surface.embedding, X[:3], np.random.default_rng(0), surface.relevance
    )
    found = Climb().find(surface, X, as_space([(-1, 1)] * d), np.random.default_rng(0)).X
    assert np.abs(found).max() <= 1
    best = surface.values(found[:1])[0]
    assert best > surface.values(candidates).max()
    dense = np.random.default_rng(1).uniform(-1, 1, (20000, d))
    assert best > surface.values(dense).max() - 1e-3


@pytest.mark.parametrize(("n", "d"), [(1, 1), (7, 3), (24, 100), (3, 30000), (4, 0)])
def test_design_fills_the_cube(n, d):
    X = sobol_points(n, d, np.random.default_rng(0))
    assert X.shape == (n, d)
    assert (np.abs(X) <= 1).all()
    assert len(np.unique(X, axis=0)) == (n if d else 1)


@given(st.lists(st.integers(0, 6), max_size=40), st.integers(1, 5))
def test_portions_keep_first_of_equal_rows(bins, size):
    Z = np.array(bins, dtype=float).reshape(-1, 1)
    found = Found(Z, np.arange(float(len(Z)))[:, None])
    portions = list(found.portions(size))
    assert [len(p.Z) for p in portions[:-1]] == [size * 2**i for i in range(len(portions[:-1]))]
    places = [int(x) for p in portions for x in p.X[:, 0]]
    assert places == [bins.index(b) for b in dict.fromkeys(bins)]
    assert [z for p in portions for z in p.Z[:, 0]] == [bins[i] for i in places]
