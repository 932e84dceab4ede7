import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from levels import assert_level, sets
from sklearn.linear_model import Lasso

from skbo_silbo import (
    SemiSlicedInverseRegression,
    SparseSlicedInverseRegression,
)
from skbo_silbo.decomposition import slice_response

pytestmark = pytest.mark.filterwarnings(
    "ignore:No direction was found", "ignore:Little was found", "ignore:The linearity condition"
)


def make_data(seed, n=60, d=4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * rng.lognormal(size=d) + rng.normal(size=d)
    score = (X[:, 0] - X[:, 0].mean()) / X[:, 0].std()
    y = score + score**2 + 0.3 * rng.normal(size=n)
    return X, y, rng.integers(0, 4, size=n)


@settings(max_examples=25)
@given(counts=st.lists(st.integers(1, 4), min_size=4, max_size=60), n_slices=st.integers(2, 12))
def test_slices_of_counts_are_those_of_repeated_rows(counts, n_slices):
    y = np.sin(np.arange(len(counts)))
    weighted = slice_response(y, n_slices, sample_weight=np.array(counts, dtype=float))
    repeated = slice_response(y.repeat(counts), n_slices)
    np.testing.assert_array_equal(weighted.codes.repeat(counts), repeated.codes)
    np.testing.assert_array_equal(weighted.counts, repeated.counts)


@sets(40, 200)
def test_weighted_chi_square_tests_hold_level(n_sets):
    rng, rejected = np.random.default_rng(0), 0
    for _ in range(n_sets):
        X, y = rng.normal(size=(150, 4)), rng.normal(size=150)
        sir = SemiSlicedInverseRegression(1, n_slices=5, ridge=0)
        sir.fit(X, y, sample_weight=rng.lognormal(sigma=1.0, size=150))
        rejected += sir.dimension_tests_["p_value"][0] <= 0.05
    assert_level(rejected, n_sets)  # n in place of Kish's number rejects .45


def test_sparse_fit_is_weighted_lasso():
    X, y, _ = make_data(5, n=80)
    weights = np.random.default_rng(5).uniform(0.2, 2, size=80)
    response = np.where(y >= 0.5, 1.0, 0.0)
    sparse = SparseSlicedInverseRegression(1, penalty=0.1)
    sparse.fit(X, response, sample_weight=weights)
    Z = X - np.average(X, axis=0, weights=weights)
    Z /= np.sqrt(np.average(Z**2, axis=0, weights=weights))
    response -= np.average(response, weights=weights)
    response /= np.sqrt(np.average(response**2, weights=weights))
    expected = Lasso(0.1, fit_intercept=False).fit(Z, response, sample_weight=weights).coef_
    scores = Z @ expected
    expected /= np.sqrt(np.average(scores**2, weights=weights))
    found = sparse.transform(X)[:, 0]
    sign = np.sign(found @ scores)
    np.testing.assert_allclose(found, sign * Z @ expected, atol=1e-3)
