"""LearntSubspace: directions, attributes and text."""

import json
import warnings
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from ask_tell import run
from numpy.testing import assert_array_equal
from scipy.stats import loguniform
from sklearn.exceptions import NotFittedError

from skbo_silbo import SILBO, Space
from skbo_silbo.baselines import HeSBO, SILBOBottomUp
from skbo_silbo.sensitivity import LearntSubspace

pytestmark = pytest.mark.usefixtures("few_draws")


def observed_optimizer(func, d, n, seed=0, make=SILBO, **options):
    """Return an optimiser with values at random points, after one call of `ask`."""
    optimizer = make([(-1, 1)] * d, random_state=seed, **options)
    X = np.random.default_rng(seed).uniform(-1, 1, (n, d))
    optimizer.tell(X, [func(x) for x in X])
    optimizer.ask()
    return optimizer


def bowl(x):
    return float((x**2).sum())


# --- directions -----------------------------------------------------------------------------------


@cache
def subspace_of_a_ridge(embedding):
    """Return the direction of a ridge function and the subspace learnt from it."""
    direction = np.random.default_rng(1).standard_normal(4)
    direction /= np.linalg.norm(direction)
    optimizer = observed_optimizer(lambda x: np.tanh(3 * x @ direction), 4, 40, embedding=embedding)
    return direction, optimizer.subspace_


@pytest.mark.parametrize("embedding", ["auto", "semi-sir"])
def test_ridge_direction_is_found(embedding):
    direction, subspace = subspace_of_a_ridge(embedding)
    assert abs(subspace.components[0] @ direction) > 0.95
    assert subspace.importance[0] > 0.8
    assert subspace.n_directions == 1
    assert subspace.is_low_dimensional is True


def test_full_dimensional_bowl_does_not_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        subspace = observed_optimizer(bowl, 4, 40).subspace_
    assert subspace.is_low_dimensional is False
    assert subspace.n_directions == 4


@pytest.mark.parametrize(("options", "noise"), [({}, 0.3), ({"embedding": "semi-sir"}, 3.0)])
def test_held_out_values_determine_is_informative(options, noise):
    rng = np.random.default_rng(0)
    optimizer = observed_optimizer(lambda x: x[0] + noise * rng.normal(), 6, 24, 0, **options)
    assert optimizer.subspace_.shares.is_informative is (noise < 1.0)


def test_undecided_values_give_no_directions():
    subspace = observed_optimizer(lambda x: x[0], 4, 20).subspace_
    assert subspace.is_low_dimensional is True
    shares = replace(subspace.shares, together=subspace.shares.together * [1.0, 0.1, 1.0])
    unsettled = replace(subspace, shares=shares, is_low_dimensional=None)
    assert "low-dimensional" in repr(subspace)
    assert "direction" not in repr(unsettled)


# --- attributes and text ---


# one of each kind of embedding and surrogate
@pytest.mark.parametrize("make", [SILBO, SILBOBottomUp, HeSBO])
def test_subspace_survives_json_for_every_method(make):
    optimizer = observed_optimizer(bowl, 4, 12, make=make, n_initial=11)
    record = optimizer.subspace_
    assert isinstance(record, LearntSubspace)
    assert record.importance.sum() == pytest.approx(float(record.shares.is_informative))
    data = json.loads(json.dumps(optimizer.to_dict()))
    again = type(optimizer).from_dict(data).subspace_
    assert_array_equal(again.components, record.components)
    assert_array_equal(again.shares.intervals, record.shares.intervals)
    assert again.path == record.path
    assert repr(again) == repr(record)


@pytest.mark.slow
@pytest.mark.parametrize("make", [SILBO, SILBOBottomUp])
def test_reading_subspace_keeps_proposals(make):
    asked = []
    for looks in (True, False):
        optimizer = run(make([(-1, 1)] * 3, n_initial=6, random_state=0), bowl, 8)
        for shift in (0.0, 0.1):
            optimizer.tell(np.full(3, 0.2 + shift), 1.0)
            if looks:
                assert optimizer.subspace_.n_observed == len(optimizer.func_vals_)
        asked.append([optimizer.ask() for _ in range(2)])
    assert_array_equal(*asked)


def test_subspace_needs_a_model():
    optimizer = SILBO([(-1, 1)] * 5, n_initial=6, random_state=0)
    with pytest.raises(
        NotFittedError, match=r"which ask\(\) fits from 6 values on, got 0. Pass 6 more"
    ):
        optimizer.subspace_  # noqa: B018


def test_names_of_categories_and_a_frame():
    pd = pytest.importorskip("pandas")
    space = Space({"C": loguniform(1e-3, 1e3), "kind": ["a", "b", "c"], "p": [1, 2, 3]})
    optimizer = SILBO(space, n_initial=14, random_state=0)
    run(optimizer, lambda p: np.log10(p["C"]) + 3 * (p["kind"] == "b"), 15)
    subspace = optimizer.subspace_
    assert subspace.feature_names == tuple(space.feature_names_)
    frame = subspace.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert list(frame.columns) == space.feature_names_
    assert_array_equal(frame.index, subspace.importance)
    assert_array_equal(frame.to_numpy(), subspace.components)
    assert "C" in repr(subspace)


def test_equal_values():
    subspace = observed_optimizer(lambda x: 3.0, 5, 20).subspace_
    assert subspace.is_low_dimensional is None
    assert subspace.components.shape == (0, 5)
    assert "too few, or all equal" in repr(subspace)
