"""Methods that the paper cites: REMBO on the zonotope, KSIR-BO, sampled additive structure."""

from collections import Counter
from functools import partial

import numpy as np
import pytest
from ask_tell import run
from numpy.testing import assert_allclose

from skbo_silbo import KernelSlicedInverseRegression
from skbo_silbo._numerics._preimages import nearest_preimages
from skbo_silbo.baselines._add_bo import (
    SampledAdditiveProcess,
    _correlation_of,
    log_density,
    mean_correlation,
    sample_groups,
)
from skbo_silbo.baselines._random_embeddings import ZonotopeREMBO
from skbo_silbo.baselines._sir_bo import KSIRBO

BOUNDS = [(-1, 1)] * 12


def ridge(x):
    return float((x[0] - 0.3) ** 2 + (x[1] + 0.2) ** 2 + x[2])


# --- the zonotope ---------------------------------------------------------------------------------


def test_points_are_the_shortest_ones_with_their_coordinates():
    # gamma(z) of Binois et al. (2017) is the shortest x of the cube with x B = z
    optimizer = run(ZonotopeREMBO(BOUNDS, n_components=3, random_state=0), ridge, 15)
    X, B = optimizer.x_iters_, optimizer.embedding_.basis
    assert_allclose(B.T @ B, np.eye(3), atol=1e-12)
    assert_allclose(nearest_preimages(X @ B, B, np.zeros(12)), X, atol=1e-6)


def test_first_points_lie_inside_and_near_the_boundary_of_the_zonotope():
    optimizer = ZonotopeREMBO([(-1, 1)] * 40, n_components=2, n_initial=400, random_state=1)
    B = optimizer._configuration.learner.embedding.basis
    Z = optimizer._configuration.design(400, 40, np.random.default_rng(0)) @ B
    angles = np.linspace(0.0, np.pi, 60)
    across = np.column_stack([np.cos(angles), np.sin(angles)])
    support = np.abs(across @ B.T).sum(axis=1)  # of a zonotope, along each direction
    reach = (np.abs(Z @ across.T) / support).max(axis=1)
    assert (reach <= 1 + 1e-6).all()
    assert np.mean(reach < 0.5) == pytest.approx(0.25, abs=0.1)  # in a plane: even in area


# --- KSIR-BO --------------------------------------------------------------------------------------


def test_ksir_bo_learns_scores_once_and_from_the_first_points():
    optimizer = KSIRBO(BOUNDS, n_components=2, n_initial=30, random_state=0)
    run(optimizer, ridge, 31)
    X, y = optimizer.x_iters_[:30], optimizer.func_vals_[:30]
    ksir = KernelSlicedInverseRegression(2, alpha=0.0).fit(X, y)
    new = np.random.default_rng(0).uniform(-1, 1, (5, 12))
    learnt = optimizer.embedding_
    expected = ksir.transform(new) - ksir.transform(new[:1])
    assert_allclose(learnt.project(new) - learnt.project(new[:1]), expected, atol=1e-9)
    run(optimizer, ridge, 3)
    assert optimizer.embedding_ is learnt


def test_ksir_bo_proposes_what_random_points_of_the_cube_do_not_reach():
    optimizer = run(KSIRBO(BOUNDS, n_components=2, n_initial=30, random_state=0), ridge, 30)
    x = optimizer.ask()
    optimizer._pending.clear()
    surface = optimizer._surface()
    others = np.random.default_rng(0).uniform(-1, 1, (5000, 12))
    assert surface.values(x[None])[0] >= surface.values(others).max()


# --- sampled structure ----------------------------------------------------------------------------


def test_with_flat_likelihood_all_partitions_are_equally_frequent():
    def flat(R):
        return 0.0

    groups, rng, seen = [np.arange(1), np.arange(1, 4)], np.random.default_rng(0), Counter()
    for _ in range(15_000):
        groups = sample_groups(groups, lambda group: 0.0, flat, 3, rng, n_steps=3)
        seen[frozenset(tuple(sorted(group.tolist())) for group in groups)] += 1
    assert len(seen) == 14  # of 4 inputs there are 15, one of them a group of 4
    assert_allclose(np.array(list(seen.values())) * 14 / 15_000, 1.0, atol=0.25)


def test_the_chain_finds_the_true_groups():
    rng = np.random.default_rng(0)
    Z = rng.uniform(-1, 1, (80, 6))
    y = np.sin(4 * Z[:, 0] * Z[:, 1]) + np.cos(4 * (Z[:, 2] + Z[:, 3])) - Z[:, 4] * Z[:, 5]
    process = SampledAdditiveProcess(2).fit(Z, y, rng=rng)
    for _ in range(4):
        process = SampledAdditiveProcess(2).fit(Z, y, state=process.to_state(), rng=rng)
    assert {tuple(g) for g in map(sorted, process.groups_)} == {(0, 1), (2, 3), (4, 5)}


def test_density_of_a_partition_is_that_of_its_sum():
    rng = np.random.default_rng(0)
    Z, targets = rng.uniform(-1, 1, (20, 4)), rng.standard_normal(20)
    groups = [np.array([0, 2]), np.array([1, 3])]
    density = partial(log_density, targets, 0.7, 0.1)
    means = [sum(_correlation_of(Z, 0.8, g) for g in part) / len(part)
             for part in (groups, [np.arange(4)])]  # fmt: skip
    K = [0.7 * (mean_correlation(Z, Z, part, 0.8) + 0.1 * np.eye(20))
         for part in (groups, [np.arange(4)])]  # fmt: skip
    expected = [-0.5 * targets @ np.linalg.solve(k, targets) - 0.5 * np.linalg.slogdet(k)[1]
                for k in K]  # fmt: skip
    assert_allclose(density(means[0]) - density(means[1]), expected[0] - expected[1])
