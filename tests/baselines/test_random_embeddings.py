"""REMBO and HeSBO on the properties that their papers state."""

import numpy as np
import pytest
from ask_tell import run
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from skbo_silbo.baselines import REMBO, HeSBO
from skbo_silbo.baselines._random_embeddings import Sketch

BOUNDS = [(-1, 1)] * 12


def ridge(x):
    return float((x[0] - 0.3) ** 2 + (x[1] + 0.2) ** 2 + x[2])


@pytest.mark.parametrize("cls", [REMBO, HeSBO])
@pytest.mark.parametrize("n", [0, -1, 2.5, "many"])
def test_invalid_number_of_components_is_rejected(cls, n):
    with pytest.raises(ValueError, match="n_components"):
        cls(BOUNDS, n_components=n)


def test_hesbo_stays_on_its_sketch_and_inside():
    optimizer = run(HeSBO(BOUNDS, n_components=4, random_state=0), ridge, 15)
    sketch, X = optimizer.embedding_, optimizer.x_iters_
    assert (np.abs(sketch.matrix).sum(axis=1) == 1).all()
    assert_allclose(sketch.expand(sketch.project(X)), X, atol=1e-8)
    assert np.abs(X).max() <= 1


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


def test_rembo_evaluates_clipped_images_of_its_box():
    optimizer = run(REMBO(BOUNDS, n_components=3, n_initial=6, random_state=0), ridge, 8)
    Z, sketch = optimizer._ledger.Z, optimizer.embedding_
    assert np.abs(Z).max() <= np.sqrt(3)
    images, told = np.clip(Z @ sketch.matrix.T, -1, 1), optimizer.x_iters_
    assert (np.abs(images[:, None] - told[None]).max(axis=2).min(axis=0) < 1e-8).all()
    assert (np.abs(told) == 1).any()
