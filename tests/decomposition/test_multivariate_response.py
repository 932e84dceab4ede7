import numpy as np
import pytest
from drawn import sine
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LinearRegression

from skbo_silbo import (
    DirectionalRegression,
    KernelSlicedInverseRegression,
    SemiSlicedInverseRegression,
    SlicedAverageVarianceEstimation,
    SparseSlicedInverseRegression,
)
from skbo_silbo.decomposition import slice_response


def two_responses(seed=0, n=300, d=8):
    """One response for each of two directions of correlated features."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) @ (np.eye(d) + 0.3 * rng.normal(size=(d, d)))
    noise = 0.3 * rng.normal(size=(n, 2))
    Y = np.column_stack([X[:, 0] + X[:, 1], np.exp(0.5 * X[:, 2])]) + noise
    B = np.zeros((2, d))
    B[0, :2], B[1, 2] = 1.0, 1.0
    return X, Y, B


def test_two_responses_need_two_directions():
    X, Y, B = two_responses()
    sir = SemiSlicedInverseRegression().fit(X, Y)
    assert (sir.n_components_, sir.target_type_) == (2, "multivariate")
    assert sine(sir.components_, B) < 0.2
    for j in range(2):
        alone = SemiSlicedInverseRegression().fit(X, Y[:, j])
        assert alone.n_components_ == 1
        assert sine(alone.components_, B[[j]]) < 0.2


def test_dependence_between_responses_is_detected():
    """Each response alone is independent of X; the sign of their product is not."""
    rng = np.random.default_rng(0)
    X, e = rng.normal(size=(400, 5)), rng.normal(size=400)
    Y = np.column_stack([e, np.sign(X[:, 3]) * e])
    sir = SemiSlicedInverseRegression(1).fit(X, Y)
    assert sine(sir.components_, np.eye(5)[[3]]) < 0.25
    assert sir.dimension_tests_["p_value"][0] < 1e-6
    for j in range(2):
        alone = SemiSlicedInverseRegression(1).fit(X, Y[:, j])
        assert alone.dimension_tests_["p_value"][0] > 1e-3


@pytest.mark.parametrize(
    ("learner", "most"),
    [
        (SlicedAverageVarianceEstimation(2, n_slices=4), 0.35),
        (DirectionalRegression(2, n_slices=6), 0.25),
        (SparseSlicedInverseRegression(2), 0.25),
    ],
)
def test_other_slice_methods_take_several_responses(learner, most):
    X, Y, B = two_responses(n=800)
    assert sine(learner.fit(X, Y).components_, B) < most


def test_the_kernel_form_takes_several_responses():
    """A curve for each; and several responses that are one are that one."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    curves = np.abs(X[:, 0]), np.sin(2 * X[:, 1])
    Y = np.column_stack(curves) + 0.1 * rng.normal(size=(300, 2))
    kernel = KernelSlicedInverseRegression(2, gamma=0.3)
    Z = kernel.fit(X, Y).transform(X)
    for curve, share in zip(curves, (0.45, 0.95), strict=True):
        assert LinearRegression().fit(Z, curve).score(Z, curve) > share
    twice = KernelSlicedInverseRegression(1, n_slices=5, ridge=0.1)
    levels = np.digitize(Y[:, 0], np.quantile(Y[:, 0], [0.3, 0.6, 0.8])).astype(float)
    one = twice.fit(X, levels).transform(X)
    np.testing.assert_allclose(twice.fit(X, np.column_stack([levels, -levels])).transform(X), one)
    Y[::5] = np.nan
    assert kernel.fit(X, Y).alpha_ >= 0


@settings(max_examples=10)
@given(seed=st.integers(0, 10**6), scale=st.sampled_from([1e-6, 1.0, 1e4]))
def test_response_units_and_row_order_are_irrelevant(seed, scale):
    rng = np.random.default_rng(seed)
    Y, order = rng.normal(size=(60, 3)), rng.permutation(60)
    slices = slice_response(Y, 6)
    other = slice_response((Y * [1.0, scale, 7.0] + [0.0, 3.0, -1.0])[order], 6)
    pairs = np.unique(np.column_stack([slices.codes[order], other.codes]), axis=0)
    assert len(pairs) == slices.n_slices == other.n_slices


def test_clusters_minimise_distance_to_means():
    """Blobs that anyone would part so; and every row is nearest the mean of its own slice."""
    rng = np.random.default_rng(0)
    centres = np.array([[0.0, 0.0], [50.0, 0.0], [0.0, 0.02], [50.0, 0.02]])
    blob = rng.integers(4, size=200)
    slices = slice_response(centres[blob] + rng.normal(size=(200, 2)) * [1.0, 4e-4], 4)
    assert len(np.unique(np.column_stack([blob, slices.codes]), axis=0)) == 4
    Y = rng.normal(size=(100, 3))
    Y = (Y - Y.mean(axis=0)) / Y.std(axis=0)
    codes = slice_response(Y, 7).codes
    means = np.array([Y[codes == h].mean(axis=0) for h in range(7)])
    nearest = np.argmin(((Y[:, None] - means) ** 2).sum(axis=2), axis=1)
    np.testing.assert_array_equal(nearest, codes)


def test_distinct_responses_become_slices():
    Y = np.array([[0, 1], [0, 0], [1, 1], [0, 1]], dtype=float)
    assert slice_response(Y, 10).codes.tolist() == [1, 0, 2, 1]
    assert slice_response(np.random.default_rng(0).normal(size=(12, 2)), 10).n_slices == 6
    constant = np.column_stack([np.arange(30.0), np.ones(30)])
    assert slice_response(constant, 5).n_slices == 5


def test_one_column_is_one_response():
    X, Y, _ = two_responses()
    expected = SemiSlicedInverseRegression(1).fit(X, Y[:, 0]).components_
    with pytest.warns(UserWarning, match="column-vector y"):
        sir = SemiSlicedInverseRegression(1).fit(X, Y[:, :1])
    np.testing.assert_array_equal(sir.components_, expected)


@pytest.mark.parametrize(
    ("change", "parameters", "message"),
    [
        (lambda Y: np.where(np.eye(300, 2), np.nan, Y), {}, "row 0 has 1 NaN"),
        (lambda Y: np.ones_like(Y), {}, "at least 2 different values"),
        (lambda Y: Y, {"categorical": True}, "1d array"),
        (lambda Y: np.full(Y.shape, "a"), {}, "1d array"),
    ],
)
def test_bad_responses_are_refused(change, parameters, message):
    X, Y, _ = two_responses()
    with pytest.raises(ValueError, match=message):
        SemiSlicedInverseRegression(1, **parameters).fit(X, change(Y))
