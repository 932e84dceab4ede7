"""Every baseline on a property that its own paper states."""

import json

import numpy as np
import pytest
from ask_tell import run
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import multivariate_normal

from skbo_silbo import KernelSlicedInverseRegression, SemiSlicedInverseRegression, minimize
from skbo_silbo._numerics.matern import matern52, scaled_squared_distances
from skbo_silbo._numerics.preimages import nearest_preimages
from skbo_silbo.baselines import REMBO, SIRBO, AddBO, HeSBO
from skbo_silbo.baselines._add_bo import (
    AdditiveProcess,
    _best_signal_and_noise,
    mean_correlation,
)
from skbo_silbo.baselines._random_embeddings import (
    ImageProcess,
    Sketch,
    ZonotopeREMBO,
    clipped_image,
    warped_image,
)
from skbo_silbo.baselines._sir_bo import KSIRBO
from skbo_silbo.embedding import LinearEmbedding

BOUNDS = [(-1, 1)] * 12


def ridge(x):
    return float((x[0] - 0.3) ** 2 + (x[1] + 0.2) ** 2 + x[2])


# --- REMBO ----------------------------------------------------------------------------------------


@pytest.mark.quick
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


def test_an_unknown_kernel_is_refused():
    with pytest.raises(ValueError, match=r"kernel.*got 'z'"):
        REMBO(BOUNDS, kernel="z")


# --- HeSBO ----------------------------------------------------------------------------------------


def test_hesbo_stays_on_its_sketch_and_inside():
    optimizer = run(HeSBO(BOUNDS, n_components=4, random_state=0), ridge, 15)
    sketch, X = optimizer.embedding_, optimizer.x_iters_
    assert (np.abs(sketch.matrix).sum(axis=1) == 1).all()
    assert_allclose(sketch.expand(sketch.project(X)), X, atol=1e-8)
    assert np.abs(X).max() <= 1


# --- SIR-BO ---------------------------------------------------------------------------------------


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


# --- ADD-BO ---------------------------------------------------------------------------------------


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


@pytest.mark.parametrize(("method", "n_calls"), [("add-bo", 60), ("bock", 15)])
def test_a_bowl_is_searched_better_than_by_chance(method, n_calls):
    def func(x):
        return float(np.sum((x - 0.1) ** 2))

    options = {"n_calls": n_calls, "random_state": 0}
    found, chance = (minimize(func, BOUNDS, method=m, **options).fun for m in (method, "random"))
    assert found < 0.25 * chance


@pytest.mark.parametrize("cls", [REMBO, HeSBO, SIRBO, AddBO])
@pytest.mark.parametrize("n", [0, -1, 2.5, "many"])
def test_the_number_of_components_is_checked(cls, n):
    with pytest.raises(ValueError, match="n_components"):
        cls(BOUNDS, n_components=n)


@pytest.mark.quick
@settings(max_examples=20)
@given(seed=st.integers(0, 10**6), d=st.integers(1, 30), r=st.integers(1, 6))
def test_count_sketch_and_its_inverse(seed, d, r):
    rng = np.random.default_rng(seed)
    sketch = Sketch.count(d, r, rng)
    V, X = rng.uniform(-1, 1, (3, r)), rng.uniform(-1, 1, (3, d))
    held = sketch.matrix.any(axis=0)
    assert np.abs(sketch.expand(V)).max() <= 1
    assert_allclose(sketch.project(sketch.expand(V))[:, held], V[:, held], atol=1e-14)
    basis = sketch.basis
    assert_allclose(basis.T @ basis, np.eye(held.sum()), atol=1e-12)
    assert_allclose(sketch.expand(sketch.project(X)), X @ basis @ basis.T, atol=1e-12)


@pytest.mark.parametrize(
    "sketch",
    [
        Sketch.count(9, 3, np.random.default_rng(1)),
        Sketch.gaussian(9, 3, np.random.default_rng(1)),
    ],
    ids=["count", "gaussian"],
)
def test_pull_back_is_the_chain_rule(sketch):
    x, step = np.random.default_rng(0).normal(size=(2, 1, 9))
    g = np.array([[1.0, -2.0, 0.5]])
    rise = g @ (sketch.project(x + step) - sketch.project(x)).T
    assert_allclose(sketch.pull_back(g) @ step.T, rise, atol=1e-12)


@pytest.mark.quick
@pytest.mark.parametrize(("d", "r"), [(10, 3), (3, 3), (2, 4)])
def test_gaussian_sketch_projects_onto_its_range(d, r):
    sketch = Sketch.gaussian(d, r, np.random.default_rng(0))
    X = np.random.default_rng(1).normal(size=(5, d))
    basis = sketch.basis
    assert_allclose(sketch.expand(sketch.project(X)), X @ basis @ basis.T, atol=1e-10)
    assert_allclose(sketch.half_widths, np.sqrt(r))


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


def test_rembo_evaluates_clipped_images_of_its_box():
    optimizer = run(REMBO(BOUNDS, n_components=3, n_initial=6, random_state=0), ridge, 8)
    Z, sketch = optimizer._ledger.Z, optimizer.embedding_
    assert np.abs(Z).max() <= np.sqrt(3)
    images, told = np.clip(Z @ sketch.matrix.T, -1, 1), optimizer.x_iters_
    assert (np.abs(images[:, None] - told[None]).max(axis=2).min(axis=0) < 1e-8).all()
    assert (np.abs(told) == 1).any()
