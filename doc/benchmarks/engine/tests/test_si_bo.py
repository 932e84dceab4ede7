"""SI-BO: gradients recovered from differences, every one of them an evaluation."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import loguniform, randint, uniform

from benchmarks.engine.baselines import SIBO
from benchmarks.engine.baselines.si_bo import (
    STEP,
    Differences,
    recover_low_rank,
)
from skbo_silbo import minimize
from skbo_silbo.inspection import compare_subspaces

pytestmark = pytest.mark.bench


def directions(d, r, seed):
    return np.linalg.qr(np.random.default_rng(seed).normal(size=(d, r)))[0]


def test_low_rank_matrix_is_recovered():
    rng = np.random.default_rng(0)
    m, d, k = 8, 40, 30  # 240 equations for 320 entries; of rank 2 it has 92 free ones
    G = rng.normal(size=(m, 2)) @ rng.normal(size=(2, d))
    signs = rng.choice([-1.0, 1.0], size=(m, k, d))
    found = recover_low_rank([(S, S @ g) for S, g in zip(signs, G, strict=True)], d)
    assert np.linalg.norm(found - G) < 0.05 * np.linalg.norm(G)
    alone = np.array([np.linalg.pinv(S) @ (S @ g) for S, g in zip(signs, G, strict=True)])
    # row by row the shortest solution misses sqrt(1 - k / d) = .5 of G
    assert np.linalg.norm(alone - G) > 0.4 * np.linalg.norm(G)


def test_the_span_is_found():
    B = directions(30, 2, 1)

    def func(X):
        Z = X @ B
        return np.sin(Z[:, 0]) + (Z[:, 1] - 0.3) ** 2

    design = Differences.draw(140, 30, 5, 2, np.random.default_rng(0))
    order = np.random.default_rng(1).permutation(140)  # the order of tell does not matter
    X = design.points[order]
    found = design.learn(X, func(X), X[:0])
    assert compare_subspaces(B.T, found.basis.T).largest_angle < 0.1
    auto = replace(design, n_components="auto").learn(X, func(X), X[:0])
    assert auto.r <= 2


@settings(max_examples=20)
@given(n=st.integers(1, 40), d=st.integers(1, 12), m=st.integers(1, 9))
def test_design_has_requested_points_inside_cube(n, d, m):
    design = Differences.draw(n, d, m, "auto", np.random.default_rng(0))
    assert design.points.shape == (n, d)
    assert np.abs(design.points).max() <= 1.0
    assert 1 <= len(design.centres) <= max(n // 2, 1)
    gaps = np.abs(design.points[:, None] - design.centres).max(axis=2).min(axis=1)
    assert_allclose(gaps[gaps > 1e-9], STEP, rtol=1e-6)


def test_without_differences_it_stays_the_identity():
    design = Differences.draw(20, 5, 4, 1, np.random.default_rng(0))
    rng = np.random.default_rng(1)
    X = rng.uniform(-1, 1, (10, 5))
    assert design.learn(X, rng.normal(size=10), X[:0]).is_identity
    assert design.learn(design.points, np.zeros(20), X[:0]).is_identity


def test_gradient_differences_count_as_evaluations():
    calls = []
    B = directions(12, 1, 0)

    def func(x):
        calls.append(x)
        return float((x @ B[:, 0] - 0.7) ** 2)

    options = {
        "n_components": 1,
        "n_initial": 30,
        "n_centres": 3,
        "acquisition": "ei",
        "random_state": 0,
    }
    result = minimize(func, [(-1, 1)] * 12, method=SIBO, n_calls=50, **options)
    assert result.nfev == len(calls) == 50
    assert result.func_vals[30:].min() < 0.1 * result.func_vals[:30].min() + 1e-6
    optimizer = SIBO([(-1, 1)] * 12, **options)
    assert_array_equal(optimizer.ask(), calls[0])


def test_too_few_differences_are_warned_of():
    box = [(-1, 1)] * 100
    with pytest.warns(
        UserWarning, match=r"n_initial=50 gives 45 .* n_components=2 .*=211 or, better"
    ):
        SIBO(box, n_components=2)
    with pytest.warns(UserWarning, match=r"even.*100"):
        SIBO(box)
    SIBO(box, n_components=2, n_initial=211)
    SIBO([(-1, 1)] * 20)  # "auto": enough for one


def test_real_parameters_of_any_distribution_are_searched():
    space = {"C": loguniform(1e-3, 1e3), "x": uniform(0, 1), "fixed": [3], "n": randint(0, 10**5)}
    assert set(SIBO(space, random_state=0).ask()) == set(space)


@pytest.mark.parametrize("option", [{"n_centres": 0}, {"n_components": 0}, {"n_initial": 2.5}])
def test_arguments_are_checked(option):
    [name] = option
    with pytest.raises(ValueError, match=name):
        SIBO([(-1, 1)] * 4, **option)
