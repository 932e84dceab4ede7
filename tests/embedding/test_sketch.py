import itertools
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from skbo_silbo import SILBO
from skbo_silbo.embedding._choice import IdentityLearner
from skbo_silbo.embedding._sketches import CountSketch, GaussianSketch, SketchedLearner


@settings(max_examples=60)
@given(
    seed=st.integers(0, 10**6), d=st.integers(1, 40), r=st.integers(1, 12), rounds=st.integers(1, 5)
)
def test_splitting_bins_keeps_every_old_point_exactly(seed, d, r, rounds):
    rng = np.random.default_rng(seed)
    sketch = CountSketch.draw(d, r, rng, balanced=bool(seed % 2))
    V = rng.uniform(-1, 1, (4, r))
    X = sketch.expand(V)
    for _ in range(rounds):
        finer = sketch.halved(rng)
        parents = [sketch.bins[finer.bins == b][:1] for b in range(finer.r)]
        V = np.column_stack([V[:, p[0]] if p.size else np.zeros(4) for p in parents])
        assert_array_equal(finer.expand(V), X)  # to the last bit
        assert finer.r == sketch.r + (sketch.counts >= 2).sum()
        assert finer.counts[: sketch.r].sum() + finer.counts[sketch.r :].sum() == d
        sketch = finer


def test_splitting_every_bin_ends_with_one_input_each():
    rng = np.random.default_rng(0)
    sketch, rounds = CountSketch.draw(64, 4, rng, balanced=True), 0
    while sketch.r < 64:
        sketch = sketch.halved(rng)
        rounds += 1
    assert rounds == 4  # log2(d / m)
    assert (sketch.counts == 1).all()


@pytest.mark.parametrize("balanced", [True, False])
def test_sketched_products_are_right_on_average(balanced):
    # Nayebi et al. 2019, Lemma 1 (and for balanced bins): E <Sx, Sy> = <x, y>
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((2, 12))
    products = []
    for _ in range(20_000):
        sketch = CountSketch.draw(12, 5, rng, balanced=balanced)
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


def test_balanced_bins_differ_by_one():
    counts = CountSketch.draw(100, 16, np.random.default_rng(0), balanced=True).counts
    assert set(counts) == {6, 7}


@pytest.mark.parametrize(("d", "r"), [(10, 3), (3, 3), (2, 4)])
def test_gaussian_sketch_projects_onto_its_range(d, r):
    sketch = GaussianSketch.draw(d, r, np.random.default_rng(0))
    X = np.random.default_rng(1).normal(size=(5, d))
    basis = sketch.basis
    assert_allclose(sketch.expand(sketch.project(X)), X @ basis @ basis.T, atol=1e-10)
    assert_allclose(sketch.half_widths, np.sqrt(r))


# --- on a sketch ----------------------------------------------------------------------------------


def distance_to(sketch, X):
    return np.abs(sketch.expand(sketch.project(X)) - X).max()


def test_refinements_are_nested():
    sketch = CountSketch.draw(100, 4, np.random.default_rng(0), balanced=True)
    learner = SketchedLearner(sketch, IdentityLearner(), seed=5)
    levels = [learner.refined(n) for n in (5, 23, 24, 60, 100, 5000)]
    assert [level.r for level in levels] == [4, 4, 8, 16, 32, 100]
    for coarse, fine in itertools.pairwise(levels):
        X = coarse.expand(np.random.default_rng(1).uniform(-1, 1, (3, coarse.r)))
        assert distance_to(fine, X) < 1e-14


@pytest.mark.parametrize("embedding", ["identity", "semi-sir"])
def test_silbo_on_a_count_sketch_stays_on_its_refinements(embedding):
    optimizer = SILBO(
        [(-1, 1)] * 60, sketch="count", embedding=embedding, n_initial=10, random_state=0
    )
    for _ in range(16):
        x = optimizer.ask()
        optimizer.tell(x, float((x[0] - 0.3) ** 2 + x[1]))
    sketch = optimizer._configuration.learner.refined(16)
    assert distance_to(sketch, optimizer.x_iters_) < 1e-6
    assert optimizer.embedding_.r <= sketch.r == 16
    optimizer.tell(np.zeros((90, 60)), np.arange(90.0)).ask()  # as many points allow 32 bins
    assert optimizer._configuration.learner.refined(106).r == 32
    if embedding == "identity":
        assert optimizer.embedding_.r == 32


def test_silbo_on_a_gaussian_sketch_starts_in_its_range():
    optimizer = SILBO([(-1, 1)] * 60, sketch="gaussian", random_state=0)
    X = optimizer.ask(6)
    assert np.abs(X).max() <= 1
    optimizer.tell(X, X.sum(axis=1))
    assert len(np.unique(X.round(9), axis=0)) == 6


def test_an_unknown_sketch_is_refused():
    with pytest.raises(ValueError, match=r"sketch must be None, 'auto' or one of .*: got 'hash'"):
        SILBO([(-1, 1)] * 6, sketch="hash")


@pytest.mark.parametrize("sketch", ["count", "gaussian"])
def test_json_draws_the_same_sketch_again(sketch):
    optimizer = SILBO([(-1, 1)] * 30, sketch=sketch, n_initial=8, random_state=0)
    for _ in range(12):
        x = optimizer.ask()
        optimizer.tell(x, float(x[0] + x[3] ** 2))
    other = SILBO.from_dict(json.loads(json.dumps(optimizer.to_dict())))
    assert_array_equal(other.ask(3), optimizer.ask(3))
