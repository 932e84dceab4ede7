"""Every baseline on a property that its own paper states."""

import numpy as np
import pytest
from ask_tell import run
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import multivariate_normal

from skbo_silbo import SemiSlicedInverseRegression, minimize
from skbo_silbo._numerics._matern import matern52, scaled_squared_distances
from skbo_silbo.baselines import REMBO, SIRBO, AddBO, HeSBO
from skbo_silbo.baselines._add_bo import AdditiveProcess, _likeliest, mean_correlation
from skbo_silbo.baselines._random_embeddings import ImageProcess, clipped_image, warped_image
from skbo_silbo.baselines._sketches import CountSketch, GaussianSketch
from skbo_silbo.embedding import LinearEmbedding

BOUNDS = [(-1, 1)] * 12


def ridge(x):
    return float((x[0] - 0.3) ** 2 + (x[1] + 0.2) ** 2 + x[2])


# --- REMBO ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", ["y", "x", "psi"])
def test_rembo_evaluates_clipped_images_of_its_box(kernel):
    optimizer = run(REMBO(BOUNDS, n_components=3, kernel=kernel, random_state=0), ridge, 15)
    Z, sketch = optimizer._ledger.Z, optimizer.embedding_
    assert isinstance(sketch, GaussianSketch)
    assert np.abs(Z).max() <= np.sqrt(3)
    images = np.clip(Z @ sketch.matrix.T, -1, 1)
    told = optimizer.x_iters_
    assert (np.abs(images[:, None] - told[None]).max(axis=2).min(axis=0) < 1e-8).all()
    assert (np.abs(told) == 1).any()


def test_a_random_embedding_holds_a_minimum():
    # Wang et al. 2013, Theorem 2: with r >= the active inputs some z reaches every active part
    rng = np.random.default_rng(0)
    for _ in range(20):
        sketch = GaussianSketch.draw(50, 4, rng)
        active, target = rng.choice(50, 3, replace=False), rng.uniform(-1, 1, 3)
        z = np.linalg.lstsq(sketch.matrix[active], target, rcond=None)[0]
        assert_allclose(sketch.expand(z[None])[0, active], target, atol=1e-9)


@pytest.mark.parametrize("view", [clipped_image, warped_image])
def test_equal_images_give_equal_kernels(view):
    sketch = GaussianSketch.draw(6, 2, np.random.default_rng(3))
    z = np.random.default_rng(0).uniform(-1, 1, (4, 2))
    far = z * 1e4 / np.abs(sketch.expand(z)).min(axis=1, keepdims=True)  # at a corner of the cube
    assert_array_equal(clipped_image(far, sketch), clipped_image(3 * far, sketch))
    assert_allclose(view(far, sketch), view(3 * far, sketch), atol=1e-12)
    Z = np.vstack([z, far])
    process = ImageProcess(lambda Z: view(Z, sketch)).fit(Z, np.arange(8.0))
    for a, b in zip(process.predict(far), process.predict(3 * far), strict=True):
        assert_allclose(a, b)


def test_warped_distances():
    sketch = GaussianSketch.draw(8, 3, np.random.default_rng(1))
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
    with pytest.raises(ValueError, match=r"kernel must be one of .*'psi'.*: got 'z'"):
        REMBO(BOUNDS, kernel="z")


# --- HeSBO ----------------------------------------------------------------------------------------


def test_hesbo_stays_on_its_sketch_and_inside():
    optimizer = run(HeSBO(BOUNDS, n_components=4, random_state=0), ridge, 15)
    sketch, X = optimizer.embedding_, optimizer.x_iters_
    assert isinstance(sketch, CountSketch)
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


def test_sir_bo_proposes_what_maximises_the_acquisition_over_x():
    optimizer = run(SIRBO(BOUNDS, n_components=2, n_initial=30, random_state=0), ridge, 30)
    x = optimizer.ask()
    optimizer._pending.clear()
    surface = optimizer._surface()
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


def test_likelihood_of_a_grouping_is_the_density_of_the_values():
    Z, y = additive_data()
    groups, targets = [np.array([0, 1]), np.array([2, 3, 4, 5])], (y - y.mean()) / y.std()
    value, signal, noise = _likeliest(Z, targets, groups, 0.8)
    parts = [matern52(scaled_squared_distances(*[Z[:, g]] * 2, np.full(len(g), 0.8**-2)))[0]
             for g in groups]  # fmt: skip
    K = signal * ((parts[0] + parts[1]) / 2 + noise * np.eye(30))
    density = multivariate_normal(np.zeros(30), K).logpdf(targets)
    assert_allclose(value - 0.5 * 30 * (1 + np.log(2 * np.pi)), density, rtol=1e-8)


def test_the_true_groups_are_likelier_than_others():
    Z, y = additive_data(n=80)
    targets, rng = (y - y.mean()) / y.std(), np.random.default_rng(0)
    truth = [np.array(g) for g in ([0, 1], [2, 3], [4, 5])]
    best = _likeliest(Z, targets, truth, 0.7)[0]
    for _ in range(10):
        groups = AdditiveProcess(2)._draw_groups(6, rng)
        if {tuple(g) for g in groups} != {tuple(g) for g in truth}:
            assert _likeliest(Z, targets, groups, 0.7)[0] < best


@pytest.mark.parametrize(("d", "size"), [(1, 1), (5, 2), (7, 3), (4, 4), (3, 9)])
def test_groups_are_a_partition(d, size):
    groups = AdditiveProcess(size)._draw_groups(d, np.random.default_rng(0))
    assert_array_equal(np.sort(np.concatenate(groups)), np.arange(d))
    assert max(map(len, groups)) <= size


def test_add_bo_on_an_additive_function_beats_chance():
    def func(x):
        return float(np.sum((x - 0.3) ** 2))

    found = minimize(func, BOUNDS, method="add-bo", n_calls=60, random_state=0).fun
    chance = minimize(func, BOUNDS, method="random", n_calls=60, random_state=0).fun
    assert found < 0.25 * chance


def test_points_added_are_the_same_as_conditioning_on_them():
    Z, y = additive_data()
    process = AdditiveProcess(2).fit(Z, y, rng=np.random.default_rng(0))
    new = np.random.default_rng(1).uniform(-1, 1, (4, 6))
    values = process.predict(new)[0]
    more = process.with_points(new, values)
    assert_allclose(more.predict(Z)[0], process.predict(Z)[0], atol=1e-6)
    assert (more.predict(new)[1] <= process.predict(new)[1]).all()


@pytest.mark.parametrize("cls", [REMBO, HeSBO, SIRBO, AddBO])
@pytest.mark.parametrize("n", [0, -1, 2.5, "many"])
def test_the_number_of_components_is_checked(cls, n):
    with pytest.raises(ValueError, match="n_components"):
        cls(BOUNDS, n_components=n)
