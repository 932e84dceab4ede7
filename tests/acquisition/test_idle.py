"""Idle inputs drawn anew in a proposal, where that loses nothing."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from skbo_silbo import SILBO, Space
from skbo_silbo.acquisition import AcquisitionSurface
from skbo_silbo.acquisition._functions import confidence_gain, log_expected_improvement
from skbo_silbo.acquisition._idle_redraw import LARGEST_LOSS, IdleRedraw, redraw_idle
from skbo_silbo.embedding import LinearEmbedding
from skbo_silbo.space import Box
from skbo_silbo.surrogate._process import GaussianProcessSurrogate

D = 30
BOX = Box([(-1, 1)] * D)


def ucb(mean, std, best):
    return confidence_gain(mean, std, best, beta=4.0)


def make_surface(active, acquisition=log_expected_improvement, seed=0):
    """Return ranked points and the surface after 60 values of a bowl in the active inputs."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (60, D))
    y = ((X[:, active] - 0.3) ** 2).sum(axis=1)
    surrogate = GaussianProcessSurrogate(prior="sparse").fit(X, y)
    surface = AcquisitionSurface(acquisition, surrogate, LinearEmbedding(D), y.min())
    return X[np.argsort(y)], surface


@pytest.mark.parametrize("acquisition", [log_expected_improvement, ucb])
def test_idle_inputs_are_drawn_anew_and_the_others_stay(acquisition):
    active = [4, 11]
    _, surface = make_surface(active, acquisition)
    x = np.full((1, D), 0.25)
    moved = np.zeros(D, int)
    for seed in range(20):
        new = redraw_idle(x, surface, BOX, np.random.default_rng(seed))
        mean, std = surface.surrogate.predict(x)
        least = acquisition(mean + LARGEST_LOSS * std, std, surface.best)
        assert surface.values(new)[0] >= least[0]
        moved += (new != x)[0]
    idle = np.delete(moved, active)
    assert moved[active].max() < idle.min()
    assert idle.mean() > 15


def test_points_found_come_after_the_one_redrawn_and_all_are_of_the_space():
    ranked, surface = make_surface([4, 11])
    found = IdleRedraw().find(surface, ranked, BOX, np.random.default_rng(0))
    X = found.X
    assert_array_equal(found.Z, X)
    assert (np.diff(surface.values(X[1:])) <= 0).all()
    assert (X[0] != X[1]).any()
    space = Space({f"c{i}": ["a", "b", "c"] for i in range(10)})
    x = space.round(np.zeros((1, D)))
    new = redraw_idle(x, surface, space, np.random.default_rng(0))
    assert_array_equal(new, space.round(new))


def test_an_idle_input_is_not_left_where_it_is():
    optimizer = SILBO([(-1, 1)] * D, random_state=0)
    asked = []
    for _ in range(30):
        x = optimizer.ask()
        optimizer.tell(x, (x[0] - 0.3) ** 2)
        asked.append(x)
    assert np.std(asked[-8:], axis=0)[1:].min() > 0.1
    assert optimizer.best_y_ < 1e-3
