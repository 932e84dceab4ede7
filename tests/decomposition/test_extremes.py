"""Numbers at the edges of the range: an answer that is right, or a refusal in words."""

import numpy as np
import pytest

from skbo_silbo import (
    MAVE,
    DirectionalRegression,
    KernelSlicedInverseRegression,
    OuterProductGradients,
    PrincipalHessianDirections,
    SemiSlicedInverseRegression,
    SlicedAverageVarianceEstimation,
    SlicedInverseRegression,
    SparseSlicedInverseRegression,
)

LEARNERS = [
    SlicedInverseRegression(1),
    SemiSlicedInverseRegression(1),
    SlicedAverageVarianceEstimation(1),
    DirectionalRegression(1),
    PrincipalHessianDirections(1),
    OuterProductGradients(1),
    MAVE(1),
    SparseSlicedInverseRegression(1, random_state=0),
    KernelSlicedInverseRegression(1),
]


def name(learner):
    return type(learner).__name__


@pytest.fixture
def rows():
    X = np.random.default_rng(0).normal(size=(120, 4))
    return X, X[:, 0] + X[:, 1] ** 2


@pytest.mark.parametrize("learner", LEARNERS, ids=name)
@pytest.mark.parametrize(
    ("scale", "why"), [(1e300, "above 1e.140 in magnitude"), (1e-200, "spread over less than")]
)
def test_columns_whose_squares_are_no_numbers_are_refused_by_name(learner, scale, why, rows):
    X, y = rows
    with pytest.raises(ValueError, match=f"column 2 of X is {why}.*StandardScaler"):
        learner.fit(X * np.array([1, 1, scale, 1]), y)


@pytest.mark.parametrize("learner", LEARNERS, ids=name)
def test_a_response_of_any_size_is_fitted_or_refused_by_name(learner, rows):
    X, y = rows
    fitted = learner.fit(X, y).transform(X)
    if name(learner) in ("PrincipalHessianDirections", "OuterProductGradients", "MAVE"):
        with pytest.raises(ValueError, match=r"y is above 1e\+140 in magnitude"):
            learner.fit(X, 1e300 * y)
    else:
        np.testing.assert_allclose(learner.fit(X, 1e300 * y).transform(X), fitted, atol=1e-8)


@pytest.mark.parametrize("kernel", ["rbf", "poly", "laplacian", "linear"])
def test_the_kernel_form_does_not_depend_on_units(kernel, rows):
    X, y = rows
    units = np.array([1e-3, 1.0, 50.0, 1e6])
    one, other = (
        KernelSlicedInverseRegression(2, kernel=kernel, fit_inverse_transform=True)
        for _ in range(2)
    )
    Z, W = one.fit_transform(X, y), other.fit_transform(X * units, y)
    np.testing.assert_allclose(W, Z, atol=1e-7)
    np.testing.assert_allclose(
        other.inverse_transform(W) / units, one.inverse_transform(Z), atol=1e-5
    )


def test_without_scale_the_kernel_sees_the_columns_as_they_are(rows):
    X, y = rows
    spread = X.std(axis=0)
    bare = KernelSlicedInverseRegression(1, scale=False).fit(X / spread, y)
    scaled = KernelSlicedInverseRegression(1).fit(X, y)
    np.testing.assert_allclose(bare.transform(X / spread), scaled.transform(X), atol=1e-8)
    with pytest.raises(ValueError, match="scale must be True or False: got 'auto'"):
        KernelSlicedInverseRegression(1, scale="auto").fit(X, y)
