import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from skbo_silbo.baselines._sketches import CountSketch, GaussianSketch

pytestmark = pytest.mark.quick


def test_sketched_products_are_right_on_average():
    # Nayebi et al. 2019, Lemma 1: E <Sx, Sy> = <x, y>
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((2, 12))
    products = []
    for _ in range(20_000):
        sketch = CountSketch.draw(12, 5, rng)
        a, b = sketch.project(np.vstack([x, y])) * sketch.counts
        products.append(a @ b)
    error = np.std(products) / np.sqrt(len(products))
    assert abs(np.mean(products) - x @ y) < 4 * error


@settings(max_examples=40)
@given(seed=st.integers(0, 10**6), d=st.integers(1, 30), r=st.integers(1, 6))
def test_count_sketch_and_its_inverse(seed, d, r):
    rng = np.random.default_rng(seed)
    sketch = CountSketch.draw(d, r, rng)
    V, X = rng.uniform(-1, 1, (3, r)), rng.uniform(-1, 1, (3, d))
    held = sketch.counts > 0
    assert np.abs(sketch.expand(V)).max() <= 1
    assert_allclose(sketch.project(sketch.expand(V))[:, held], V[:, held], atol=1e-14)
    basis = sketch.basis
    assert_allclose(basis.T @ basis, np.eye(held.sum()), atol=1e-12)
    assert_allclose(sketch.expand(sketch.project(X)), X @ basis @ basis.T, atol=1e-12)


@pytest.mark.parametrize(
    "sketch",
    [
        CountSketch.draw(9, 3, np.random.default_rng(1)),
        GaussianSketch.draw(9, 3, np.random.default_rng(1)),
    ],
    ids=["count", "gaussian"],
)
def test_pull_back_is_the_chain_rule(sketch):
    x, step = np.random.default_rng(0).normal(size=(2, 1, 9))
    g = np.array([[1.0, -2.0, 0.5]])
    rise = g @ (sketch.project(x + step) - sketch.project(x)).T
    assert_allclose(sketch.pull_back(g) @ step.T, rise, atol=1e-12)


@pytest.mark.parametrize(("d", "r"), [(10, 3), (3, 3), (2, 4)])
def test_gaussian_sketch_projects_onto_its_range(d, r):
    sketch = GaussianSketch.draw(d, r, np.random.default_rng(0))
    X = np.random.default_rng(1).normal(size=(5, d))
    basis = sketch.basis
    assert_allclose(sketch.expand(sketch.project(X)), X @ basis @ basis.T, atol=1e-10)
    assert_allclose(sketch.half_widths, np.sqrt(r))
