"""Baselines of the reproduction on the properties that their papers state."""

import json

import numpy as np
import pytest
from ask_tell import run
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import multivariate_normal

from benchmarks.engine.baselines import BOCK, KSIRBO, SIRBO, AddBO, ImageREMBO, ZonotopeREMBO
from benchmarks.engine.baselines.add_bo import (
    AdditiveProcess,
    _best_signal_and_noise,
    mean_correlation,
)
from benchmarks.engine.baselines.rembo_variants import ImageProcess, clipped_image, warped_image
from skbo_silbo import KernelSlicedInverseRegression, SemiSlicedInverseRegression, minimize
from skbo_silbo._numerics.matern import matern52, scaled_squared_distances
from skbo_silbo._numerics.preimages import nearest_preimages
from skbo_silbo.baselines._random_embeddings import Sketch
from skbo_silbo.embedding import LinearEmbedding

pytestmark = pytest.mark.bench

BOUNDS = [(-1, 1)] * 12


def ridge(x):
    return float((x[0] - 0.3) ** 2 + (x[1] + 0.2) ** 2 + x[2])


@pytest.mark.parametrize("cls", [SIRBO, AddBO, ZonotopeREMBO])
@pytest.mark.parametrize("n", [0, -1, 2.5, "many"])
def test_invalid_number_of_components_is_rejected(cls, n):
    with pytest.raises(ValueError, match="n_components"):
        cls(BOUNDS, n_components=n)


@pytest.mark.parametrize("view", [clipped_image, warped_image])
def test_equal_images_give_equal_kernels(view):
    sketch = Sketch.gaussian(6, 2, np.random.default_rng(3))
    z = np.random.default_rng(0).uniform(-1, 1, (4, 2))
    far = z * 1e4 / np.abs(sketch.expand(z)).min(axis=1, keepdims=True)  # at a corner of the cube
    assert_array_equal(clipped_image(far, sketch), clipped_image(3 * far, sketch))
    assert_allclose(view(far, sketch), view(3 * far, sketch), atol=1e-12)
    Z = np.vstack([z, far])
    process = ImageProcess(lambda Z: view(Z, sketch)).fit(Z, np.arange(8.0))
    for a, b in zip(process.predict(far), process.predict(3 * far), strict=True):
        assert_allclose(a, b)


def test_warped_distances():
    sketch = Sketch.gaussian(8, 3, np.random.default_rng(1))
    rng = np.random.default_rng(2)
    inside = 0.9 * rng.uniform(-1, 1, (5, 3))
    inside /= np.maximum(1, np.abs(sketch.expand(inside)).max(axis=1, keepdims=True))
    warped, images = warped_image(inside, sketch), sketch.expand(inside)
    assert_allclose(  # inside the cube nothing is warped
        np.linalg.norm(warped[:, None] - warped, axis=2),
        np.linalg.norm(images[:, None] - images, axis=2),
        atol=1e-10,
    )
    for z in rng.uniform(-2, 2, (20, 3)):  # the definition, one point at a time
        x = np.clip(sketch.matrix @ z, -1, 1)
        p = sketch.matrix @ np.linalg.lstsq(sketch.matrix, x, rcond=None)[0]
        pivot = p / max(1.0, np.abs(p).max())
        expected = pivot + np.linalg.norm(x - pivot) * pivot / np.linalg.norm(pivot)
        assert_allclose(warped_image(z[None], sketch)[0] @ sketch.basis.T, expected, atol=1e-10)


def test_sir_bo_learns_once_from_the_first_points():
    optimizer = SIRBO(BOUNDS, n_components=2, n_initial=30, random_state=0)
    run(optimizer, ridge, 31)
    X, y = optimizer.x_iters_[:30], optimizer.func_vals_[:30]
    sir = SemiSlicedInverseRegression(2, alpha=0.0).fit(X, y)
    expected = LinearEmbedding.from_components(sir.components_).basis
    basis = optimizer.embedding_.basis
    assert_allclose(basis @ basis.T, expected @ expected.T, atol=1e-6)
    run(optimizer, ridge, 5)
    assert optimizer.embedding_.basis is basis


@pytest.mark.parametrize("method", [SIRBO, KSIRBO])
def test_what_is_proposed_maximises_the_acquisition_over_x(method):
    optimizer = run(method(BOUNDS, n_components=2, n_initial=30, random_state=0), ridge, 30)
    x = optimizer.ask()
    optimizer._pending.clear()
    surface = optimizer._surface(None)
    others = np.random.default_rng(0).uniform(-1, 1, (5000, 12))
    assert surface.values(x[None])[0] >= surface.values(others).max()


def additive_data(n=30, d=6, seed=0):
    rng = np.random.default_rng(seed)
    Z = rng.uniform(-1, 1, (n, d))
    return Z, np.sin(4 * Z[:, 0] * Z[:, 1]) + np.cos(4 * (Z[:, 2] + Z[:, 3])) - Z[:, 4] * Z[:, 5]


def test_group_posteriors_sum_to_the_additive_posterior():
    Z, y = additive_data()
    process = AdditiveProcess(2).fit(Z, y, rng=np.random.default_rng(0))
    new = np.random.default_rng(1).uniform(-1, 1, (7, 6))
    groups = process.groups_
    means = [process.predict_group(i, new[:, g])[0] for i, g in enumerate(groups)]
    mean, std = process.predict(new)
    assert_allclose(process.y_mean_ + np.sum(means, axis=0), mean, rtol=1e-9)
    # variances: with the covariances between the summands, from the joint normal distribution
    v, noise = process.signal_, process.noise_
    K = v * mean_correlation(Z, Z, groups, process.length_) + v * noise * np.eye(len(Z))
    share = v / len(groups)
    k = [share * mean_correlation(new[:, g], Z[:, g], [[0, 1]], process.length_) for g in groups]
    joint = np.array([[-a @ np.linalg.solve(K, b.T) for b in k] for a in k])
    for i in range(len(groups)):
        joint[i, i] += share * np.eye(7)
        expected = process.y_scale_ * np.sqrt(np.diag(joint[i, i]))
        assert_allclose(process.predict_group(i, new[:, groups[i]])[1], expected, rtol=1e-6)
    total = np.diag(joint.sum(axis=(0, 1)))
    assert_allclose(std, process.y_scale_ * np.sqrt(total), rtol=1e-6)


def test_grouping_likelihood_is_density_of_values():
    Z, y = additive_data()
    groups, targets = [np.array([0, 1]), np.array([2, 3, 4, 5])], (y - y.mean()) / y.std()
    value, signal, noise = _best_signal_and_noise(Z, targets, groups, 0.8)
    parts = [matern52(scaled_squared_distances(*[Z[:, g]] * 2, np.full(len(g), 0.8**-2)))[0]
             for g in groups]  # fmt: skip
    K = signal * ((parts[0] + parts[1]) / 2 + noise * np.eye(30))
    density = multivariate_normal(np.zeros(30), K).logpdf(targets)
    assert_allclose(value - 0.5 * 30 * (1 + np.log(2 * np.pi)), density, rtol=1e-8)


@pytest.mark.parametrize(("method", "n_calls"), [(AddBO, 60), (BOCK, 15)])
def test_a_bowl_is_searched_better_than_by_chance(method, n_calls):
    def func(x):
        return float(np.sum((x - 0.1) ** 2))

    options = {"n_calls": n_calls, "random_state": 0}
    found, chance = (minimize(func, BOUNDS, method=m, **options).fun for m in (method, "random"))
    assert found < 0.25 * chance


def test_points_are_the_shortest_ones_with_their_coordinates():
    # gamma(z) of Binois et al. (2017) is the shortest x of the cube with x B = z
    optimizer = run(ZonotopeREMBO(BOUNDS, n_components=3, random_state=0), ridge, 15)
    X, B = optimizer.x_iters_, optimizer.embedding_.basis
    assert_allclose(B.T @ B, np.eye(3), atol=1e-12)
    assert_allclose(nearest_preimages(X @ B, B, np.zeros(12)), X, atol=1e-6)


def test_initial_design_covers_zonotope():
    optimizer = ZonotopeREMBO([(-1, 1)] * 40, n_components=2, n_initial=400, random_state=1)
    B = optimizer._configuration.learner.embedding.basis
    Z = optimizer._configuration.design(400, 40, np.random.default_rng(0)) @ B
    angles = np.linspace(0.0, np.pi, 60)
    across = np.column_stack([np.cos(angles), np.sin(angles)])
    support = np.abs(across @ B.T).sum(axis=1)  # of a zonotope, along each direction
    reach = (np.abs(Z @ across.T) / support).max(axis=1)
    assert (reach <= 1 + 1e-6).all()
    assert np.mean(reach < 0.5) == pytest.approx(0.25, abs=0.1)  # in a plane: even in area


def test_ksir_bo_learns_once_from_initial_design():
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
    again = KSIRBO.from_dict(json.loads(json.dumps(optimizer.to_dict())))
    assert_allclose(again.embedding_.project(new), learnt.project(new), atol=1e-9)
    assert_allclose(again.ask(), optimizer.ask())


def test_unknown_kernel_is_rejected():
    with pytest.raises(ValueError, match=r"kernel.*got 'z'"):
        ImageREMBO(BOUNDS, kernel="z")
