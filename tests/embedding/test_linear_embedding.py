"""The linear embedding, and the points of its coordinates that are nearest a centre."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from skbo_silbo.embedding import LinearEmbedding

pytestmark = pytest.mark.quick


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
    with pytest.raises(ValueError, match=r"components.*embedding"):
        LinearEmbedding.from_components(bad)


def test_identity():
    embedding = LinearEmbedding(4)
    X = np.random.default_rng(0).uniform(-1, 1, (3, 4))
    assert embedding.is_identity
    assert embedding.r == 4
    assert_allclose(embedding.project(X), X)
    assert_allclose(embedding.pull_back(X), X)


def test_box_round_the_image_is_tight():
    embedding = make_embedding(6, 2, 0)
    corners = np.array(np.meshgrid(*[[-1, 1]] * 6)).reshape(6, -1).T
    assert_allclose(embedding.project(corners).max(axis=0), embedding.half_widths)


def test_pull_back_is_the_chain_rule():
    embedding = make_embedding(5, 2, 1)
    x, g = np.random.default_rng(1).normal(size=(2, 5))
    z_gradient = embedding.project(g[None])
    assert_allclose(embedding.pull_back(z_gradient) @ x, z_gradient @ embedding.project(x))
