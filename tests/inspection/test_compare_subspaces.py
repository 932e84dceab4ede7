"""Distances between subspaces."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.cross_decomposition import CCA

from skbo_silbo.inspection import compare_subspaces


@given(angle=st.floats(0.01, np.pi / 2), seed=st.integers(0, 99))
def test_planes_turned_by_a_known_angle(angle, seed):
    rng = np.random.default_rng(seed)
    U = np.linalg.qr(rng.normal(size=(6, 3)))[0].T
    turned = np.array([U[0], np.cos(angle) * U[1] + np.sin(angle) * U[2]])
    mixed = (np.eye(2) + 0.3 * rng.uniform(-1, 1, (2, 2))) @ turned
    found = compare_subspaces(U[:2], mixed)
    assert found.largest_angle == pytest.approx(angle, abs=1e-7)
    assert found.trace_correlation == pytest.approx((1 + np.cos(angle) ** 2) / 2)


def test_scores_are_compared_by_canonical_correlations():
    rng = np.random.default_rng(0)
    X = 5 + rng.normal(size=(200, 4)) @ rng.normal(size=(4, 4))
    A, B = rng.normal(size=(2, 2, 4))
    Z, W = CCA(2, max_iter=5000, tol=1e-12).fit_transform(X @ A.T, X @ B.T)
    squared = [np.corrcoef(Z[:, i], W[:, i])[0, 1] ** 2 for i in range(2)]
    found = compare_subspaces(A, B, X)
    assert found.trace_correlation == pytest.approx(np.mean(squared))
    assert np.cos(found.largest_angle) ** 2 == pytest.approx(min(squared))


def test_share_refers_to_the_first_set():
    few, many = np.eye(5)[:1], np.eye(5)[:3]
    assert compare_subspaces(few, many).trace_correlation == pytest.approx(1)
    assert compare_subspaces(many, few).trace_correlation == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[1, 0]], [[1, 0, 0]]), "reference must have as many columns .* 3 and 2"),
        (([[0, 0]], [[1, 0]]), "a direction that is not 0"),
        (([[1, 0]], [[0, 1]], [[1, 2], [3, 2]]), "differ between the rows of X"),
        (([1, 0], [[1, 0]]), "Expected 2D array"),
        (([[1, 0]], CCA()), "reference must be an array, .* components_, got CCA"),
    ],
)
def test_invalid_directions_raise(arguments, message):
    with pytest.raises(ValueError, match=message):
        compare_subspaces(*arguments)
