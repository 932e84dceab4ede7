"""The preimages of the literature: by CMA-ES, and clipped."""

import subprocess
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose

from skbo_silbo.baselines._evolution import preimage_by_evolution
from skbo_silbo.baselines._moving_points import clipped_points
from skbo_silbo.embedding import LinearEmbedding
from skbo_silbo.optimizers._embedded import nearest_points

pytestmark = pytest.mark.quick


def make_embedding(d, r, seed):
    return LinearEmbedding.from_components(np.random.default_rng(seed).normal(size=(r, d)))


@pytest.mark.parametrize(("d", "r"), [(1, 1), (2, 1), (7, 3), (60, 2), (600, 2)])
def test_evolution_finds_a_preimage_and_leaves_the_global_generator(d, r):
    embedding, rng = make_embedding(d, r, 0), np.random.default_rng(0)
    z = embedding.project(rng.uniform(-1, 1, (1, d)))[0]
    before = np.random.get_state()  # noqa: NPY002
    x, other = (preimage_by_evolution(z, embedding, rng) for _ in range(2))
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
    x = preimage_by_evolution(z, embedding, np.random.default_rng(0))
    nearest = nearest_points(z[None], embedding, np.zeros(20))
    distances = np.linalg.norm(embedding.project(np.vstack([x, nearest])) - z, axis=1)
    assert distances[0] < 1.02 * distances[1]


def test_bottom_up_is_the_clipped_pseudo_inverse():
    embedding = make_embedding(7, 2, 2)
    Z = np.random.default_rng(2).uniform(-1, 1, (20, 2)) * embedding.half_widths
    X = clipped_points(Z, embedding)
    assert_allclose(X, np.clip(Z @ np.linalg.pinv(embedding.basis), -1, 1), atol=1e-12)
    assert (np.abs(X) == 1).any()


def test_cma_without_matplotlib_warns_of_nothing():
    code = (
        "import sys, warnings; sys.modules['matplotlib'] = None; warnings.simplefilter('error');"
        "from skbo_silbo.baselines._evolution import _import_cma; _import_cma()"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
