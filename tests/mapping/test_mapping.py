import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import lsq_linear

from skbo_silbo.embedding import LinearEmbedding
from skbo_silbo.mapping._bottom_up import BottomUp
from skbo_silbo.mapping._top_down import TopDown


def make_embedding(d, r, seed):
    return LinearEmbedding.from_components(np.random.default_rng(seed).normal(size=(r, d)))


def test_basis_is_orthonormal_and_spans_the_components():
    components = np.random.default_rng(0).normal(size=(3, 10)) * [[1.0], [1e3], [1e-3]]
    basis = LinearEmbedding.from_components(components).basis
    assert_allclose(basis.T @ basis, np.eye(3), atol=1e-12)
    rows = components / np.linalg.norm(components, axis=1, keepdims=True)
    assert_allclose(rows @ basis @ basis.T, rows, atol=1e-12)
    assert (np.einsum("kj,jk->k", components, basis) > 0).all()  # columns keep their sense


def test_dependent_components_are_dropped():
    components = np.array([[1.0, 1, 0], [2.0, 2, 0], [0, 0, 0], [0, 0, 5.0]])
    embedding = LinearEmbedding.from_components(components)
    assert embedding.r == 2
    assert_allclose(np.abs(embedding.basis[2]), [0, 1], atol=1e-12)


@pytest.mark.parametrize("bad", [np.zeros((2, 3)), [[np.nan, 1.0]], [[np.inf, 1.0]]])
def test_components_that_say_nothing_are_refused(bad):
    with pytest.raises(ValueError, match="components of an embedding must be finite and not all"):
        LinearEmbedding.from_components(bad)


def test_identity():
    embedding = LinearEmbedding(4)
    X = np.random.default_rng(0).uniform(-1, 1, (3, 4))
    assert embedding.is_identity
    assert embedding.r == 4
    assert_allclose(embedding.project(X), X)
    assert_allclose(embedding.pull_back(X), X)
    assert_allclose(TopDown().lift(X, embedding, np.zeros(4)), X)
    assert_allclose(TopDown().lift(5 * X, embedding, np.zeros(4)), np.clip(5 * X, -1, 1))


def test_box_round_the_image_is_tight():
    embedding = make_embedding(6, 2, 0)
    corners = np.array(np.meshgrid(*[[-1, 1]] * 6)).reshape(6, -1).T
    assert_allclose(embedding.project(corners).max(axis=0), embedding.half_widths)


def test_pull_back_is_the_chain_rule():
    embedding = make_embedding(5, 2, 1)
    x, g = np.random.default_rng(1).normal(size=(2, 5))
    z_gradient = embedding.project(g[None])
    assert_allclose(embedding.pull_back(z_gradient) @ x, z_gradient @ embedding.project(x))


@settings(max_examples=40)
@given(seed=st.integers(0, 10**6), d=st.integers(2, 30), r=st.integers(1, 4))
def test_top_down_keeps_old_points_and_reaches_new_ones(seed, d, r):
    embedding = make_embedding(d, min(r, d), seed)
    rng = np.random.default_rng(seed)
    X, incumbent = rng.uniform(-1, 1, (6, d)), rng.uniform(-1, 1, d)
    Z = TopDown().carry(X, embedding)
    lifted = TopDown().lift(Z, embedding, incumbent)
    assert np.abs(lifted).max() <= 1
    assert_allclose(TopDown().carry(lifted, embedding), Z, atol=1e-6)
    nearer = (
        np.linalg.norm(lifted - incumbent, axis=1) <= np.linalg.norm(X - incumbent, axis=1) + 1e-6
    )
    assert nearer.all()


# --- the paper's preimages ------------------------------------------------------------------------


@pytest.mark.parametrize(("d", "r"), [(1, 1), (2, 1), (7, 3), (60, 2), (600, 2)])
def test_evolution_finds_a_preimage_and_leaves_the_global_generator(d, r):
    embedding, rng = make_embedding(d, r, 0), np.random.default_rng(0)
    z = embedding.project(rng.uniform(-1, 1, (1, d)))[0]
    before = np.random.get_state()  # noqa: NPY002
    x, other = (TopDown("cma").refine(None, z, embedding, rng) for _ in range(2))
    after = np.random.get_state()  # noqa: NPY002
    assert_allclose(before[1], after[1])
    assert before[2:] == after[2:]
    assert np.abs(x).max() <= 1
    size = np.linalg.norm(embedding.half_widths)
    assert np.linalg.norm(embedding.project(x[None])[0] - z) < 5e-3 * size
    if d > r:
        assert np.abs(x - other).max() > 0.05  # what B does not see is left to chance


def test_evolution_outside_the_image_comes_near_its_edge():
    embedding = make_embedding(20, 2, 3)
    z = 2 * embedding.half_widths
    x = TopDown("cma").refine(None, z, embedding, np.random.default_rng(0))
    nearest = TopDown().lift(z[None], embedding, np.zeros(20))
    distances = np.linalg.norm(embedding.project(np.vstack([x, nearest])) - z, axis=1)
    assert distances[0] < 1.02 * distances[1]


@pytest.mark.parametrize("r", [1, 3])
def test_least_squares_is_the_shortest_preimage(r):
    embedding, rng = make_embedding(9, r, 1), np.random.default_rng(1)
    Z = embedding.project(rng.uniform(-1, 1, (5, 9)))
    incumbent = rng.uniform(-1, 1, 9)
    X = TopDown("least-squares").lift(Z, embedding, incumbent)
    assert_allclose(embedding.project(X), Z, atol=1e-6)
    expected = [lsq_linear(embedding.basis.T, z, (-1, 1), tol=1e-12).x for z in Z]
    assert_allclose(embedding.project(np.array(expected)), Z, atol=1e-6)
    assert (np.linalg.norm(X, axis=1) <= np.linalg.norm(expected, axis=1) + 1e-6).all()


def test_bottom_up_is_the_clipped_pseudo_inverse():
    embedding = make_embedding(7, 2, 2)
    Z = np.random.default_rng(2).uniform(-1, 1, (20, 2)) * embedding.half_widths
    X = BottomUp().lift(Z, embedding)
    assert_allclose(X, np.clip(Z @ np.linalg.pinv(embedding.basis), -1, 1), atol=1e-12)
    assert (np.abs(X) == 1).any()


def test_an_unknown_preimage_is_refused():
    with pytest.raises(ValueError, match=r"preimage must be one of .*'cma'.*: got 'best'"):
        TopDown("best")


def test_cma_without_matplotlib_warns_of_nothing():
    code = (
        "import sys, warnings; sys.modules['matplotlib'] = None; warnings.simplefilter('error');"
        "from skbo_silbo.mapping._evolution import _import_cma; _import_cma()"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
