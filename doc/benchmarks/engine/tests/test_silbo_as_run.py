"""SILBO as its authors ran it: what differs from the paper, part by part."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import approx_fprime

from benchmarks.engine.baselines import SILBOBottomUpAsRun, SILBOTopDownAsRun
from benchmarks.engine.baselines.silbo_as_run import (
    AsRunLearner,
    HypercubeSearch,
    confidence_weight_as_run,
    variance_gain,
)
from skbo_silbo import SemiSlicedInverseRegression, minimize
from skbo_silbo.baselines._silbo_as_printed import preimage_by_evolution
from skbo_silbo.embedding import LinearEmbedding

pytestmark = pytest.mark.bench


def ridge(x):
    return float((x[0] - 0.3) ** 2 + (x[1] + 0.2) ** 2 + x[2])


def test_the_weight_is_their_formula():
    expected = np.sqrt(2 * np.log(50 ** (4 / 2 + 2) * np.pi**2 / (3 * 0.1)))
    assert confidence_weight_as_run(50, 4) == pytest.approx(expected)
    assert np.isfinite(confidence_weight_as_run(50, 900))


def test_the_variance_weighs_and_its_gradient_is_right():
    def gain(v):
        return float(variance_gain(v[0], v[1], 0.5, kappa=2.0))

    point = np.array([0.3, 1.2])
    value, by_mean, by_std = variance_gain(*point, 0.5, kappa=2.0, return_gradient=True)
    assert value == pytest.approx(0.5 - 0.3 + 2.0 * 1.2**2)
    assert_allclose([by_mean, by_std], approx_fprime(point, gain, 1e-6), rtol=1e-4)


class Bowl:
    def __init__(self, basis):
        self.embedding = LinearEmbedding(len(basis), basis)

    def values_at(self, Z):
        return -((Z - 0.1) ** 2).sum(axis=1)


def orthonormal(d, r, seed):
    return np.linalg.qr(np.random.default_rng(seed).normal(size=(d, r)))[0]


@pytest.mark.parametrize("upward", [True, False])
def test_candidates_fill_small_box(upward):
    surface = Bowl(orthonormal(30, 3, 0))
    found = HypercubeSearch(upward).find(surface, None, None, np.random.default_rng(1))
    assert found.X is None
    Z = found.Z
    assert Z.shape == (2000, 3)
    m = np.abs(surface.embedding.basis.sum(axis=0 if upward else 1)).max()
    strata = np.sort(np.floor((Z / m + 1.0) * 1000.0), axis=0)
    assert_array_equal(strata, np.tile(np.arange(2000.0)[:, None], 3))  # a Latin hypercube
    assert np.all(np.diff(surface.values_at(Z)) <= 0)
    assert m < surface.embedding.half_widths.max()


def test_candidates_are_drawn_per_basis_or_anew():
    first, other = Bowl(orthonormal(9, 2, 0)), Bowl(orthonormal(9, 2, 1))

    def draw(surface, upward, seed):
        rng = np.random.default_rng(seed)
        return HypercubeSearch(upward).find(surface, None, None, rng).Z

    assert_array_equal(draw(first, False, 1), draw(first, False, 2))
    assert not np.array_equal(draw(first, False, 1), draw(other, False, 1))
    assert not np.array_equal(draw(first, True, 1), draw(first, True, 2))


def test_only_the_best_labels_are_learnt_from():
    rng = np.random.default_rng(0)
    X, y, U = rng.uniform(-1, 1, (80, 8)), rng.normal(size=80), rng.uniform(-1, 1, (20, 8))
    learner = AsRunLearner(2, 50)
    best = np.argsort(y)[:50]
    worse = y.copy()
    worse[np.argsort(y)[50:]] += 7.0
    assert_array_equal(learner.learn(X, worse, U).basis, learner.learn(X, y, U).basis)
    estimator = SemiSlicedInverseRegression(
        2,
        n_slices=3,
        n_local_neighbors=3,
        n_neighbors=3,
        alpha=0.1,
        ridge=0.01,
        solver="paper",
        random_state=0,
    )
    B = estimator.fit(X[np.sort(best)], y[np.sort(best)], X_unlabeled=U).components_.T
    own = learner.learn(X, y, U).basis
    assert_allclose(own @ own.T, B @ np.linalg.pinv(B), atol=1e-9)


def test_two_generations_stay_near_centre():
    embedding = LinearEmbedding(100, orthonormal(100, 3, 0))
    z = embedding.half_widths  # a corner far outside what two generations reach
    rng = np.random.default_rng(0)
    found = preimage_by_evolution(z, embedding, rng, centred=True, generations=2)
    assert np.abs(found).max() <= 1.0
    assert 0.3 < found.std() < 0.65  # sigma .5 about 0, folded at the sides
    random = np.random.default_rng(1).normal(scale=0.5, size=(300, 100))
    gaps = np.linalg.norm(embedding.project(np.clip(random, -1, 1)) - z, axis=1)
    assert np.linalg.norm(embedding.project(found[None])[0] - z) < np.median(gaps)


def test_only_bottom_up_reevaluates():
    bounds = [(-1, 1)] * 6
    counts = {}
    for cls in (SILBOBottomUpAsRun, SILBOTopDownAsRun):
        optimizer = cls(
            bounds,
            n_components=2,
            acquisition="ei",
            n_initial=8,
            update_every=4,
            random_state=0,
        )
        for _ in range(30):
            x = optimizer.ask()
            optimizer.tell(x, ridge(x))
        counts[cls] = optimizer._model.learnt_at
    assert counts[SILBOTopDownAsRun] == 8 + 5 * 4  # the labels are all 30 values
    assert (
        counts[SILBOBottomUpAsRun] < counts[SILBOTopDownAsRun]
    )  # they are those of the embedding in use


def test_what_is_asked_for_is_checked_first():
    for option in ({"acquisition": "pi"}, {"n_components": 0}):
        [(name, _)] = option.items()
        with pytest.raises(ValueError, match=name):
            minimize(ridge, [(-1, 1)] * 5, method=SILBOBottomUpAsRun, **option)
