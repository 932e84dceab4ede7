import numpy as np
import pytest
from drawn import sine
from scipy import linalg

from skbo_silbo import DirectionalRegression, SlicedAverageVarianceEstimation
from skbo_silbo.decomposition import slice_response

BOTH = (SlicedAverageVarianceEstimation, DirectionalRegression)


def make_data(seed=0, n=400):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5)) @ (np.eye(5) + 0.3 * rng.normal(size=(5, 5)))
    return X, rng.normal(size=n)


def whitened(X):
    centred = X - X.mean(axis=0)
    return centred @ np.linalg.inv(linalg.sqrtm(centred.T @ centred / len(X)))


def test_directional_regression_matches_pairwise_definition():
    X, noise = make_data(n=120)
    y = X[:, 0] + X[:, 1] ** 2 + 0.1 * noise
    directional = DirectionalRegression(2, n_slices=4).fit(X, y)
    Z = whitened(X)
    slices = np.array_split(np.argsort(y), 4)
    kernel = np.zeros((5, 5))
    for a in slices:
        for b in slices:
            gaps = (Z[a][:, None] - Z[b]).reshape(-1, 5)
            deviation = 2 * np.eye(5) - gaps.T @ gaps / len(gaps)
            kernel += deviation @ deviation / 16
    expected = np.linalg.eigvalsh(kernel)[::-1]
    np.testing.assert_allclose(directional.eigenvalues_, expected, rtol=1e-8)


@pytest.mark.parametrize("method", BOTH)
def test_symmetric_responses_that_sir_cannot_see(method):
    X, noise = make_data()
    y = X[:, 0] ** 2 + 0.1 * noise
    truth = np.eye(5)[0]
    assert sine(method(1, n_slices=5).fit(X, y).components_, truth) < 0.15


def test_shuffled_kernel_matches_pairwise_average():
    """Rows that are not white, as shuffling leaves them."""
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(90, 3)) @ (np.eye(3) + 0.2 * rng.normal(size=(3, 3)))
    Z -= Z.mean(axis=0)
    slices = slice_response(rng.normal(size=90), 3)
    expected = np.zeros((3, 3))
    for one in range(3):
        for other in range(3):
            gaps = Z[slices.codes == one][:, None] - Z[slices.codes == other]
            A = np.einsum("ijk,ijl->kl", gaps, gaps) / gaps[..., 0].size
            share = slices.counts[one] * slices.counts[other] / 90**2
            expected += share * (2 * np.eye(3) - A) @ (2 * np.eye(3) - A)
    kernel = DirectionalRegression()._kernel_of_rows(Z, slices, Z.T @ Z / 90)
    np.testing.assert_allclose(kernel, expected, atol=1e-12)
