import numpy as np
import pytest
from scipy import linalg

from skbo_silbo._numerics.solvers import eigenvalues_and_leading_vectors

pytestmark = pytest.mark.quick


@pytest.mark.parametrize("k", [1, 3, 200])
@pytest.mark.parametrize("order", [1, 2, 40, 150])
def test_values_and_vectors_are_those_of_the_definition(order, k):
    rng = np.random.default_rng(order)
    A = rng.normal(size=(order, order))
    A = A + A.T
    before = A.copy()
    values, V = eigenvalues_and_leading_vectors(A, k)
    np.testing.assert_array_equal(A, before)
    k = min(k, order)
    scale = np.abs(values).max()
    assert V.shape == (order, k)
    np.testing.assert_allclose(values, linalg.eigvalsh(A)[::-1], atol=1e-12 * scale)
    np.testing.assert_allclose(V.T @ V, np.eye(k), atol=1e-12)
    np.testing.assert_allclose(A @ V, V * values[:k], atol=1e-12 * scale)


def test_a_repeated_largest_eigenvalue_has_orthonormal_vectors():
    Q = np.linalg.qr(np.random.default_rng(0).normal(size=(120, 120)))[0]
    values, V = eigenvalues_and_leading_vectors(Q * np.r_[np.ones(5), np.zeros(115)] @ Q.T, 5)
    np.testing.assert_allclose(values, np.r_[np.ones(5), np.zeros(115)], atol=1e-13)
    np.testing.assert_allclose(V @ V.T, Q[:, :5] @ Q[:, :5].T, atol=1e-12)
