"""Numbers at the edges of the range: an answer that is right, or a refusal in words."""

import numpy as np
import pytest

from skbo_silbo import (
    MAVE,
    ActiveSubspace,
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
    SparseSlicedInverseRegression(1),
    KernelSlicedInverseRegression(1),
    ActiveSubspace(1),
]
READ_VALUES = ("PrincipalHessianDirections", "OuterProductGradients", "MAVE", "ActiveSubspace")


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


def test_a_column_of_a_frame_is_named():
    pd = pytest.importorskip("pandas")
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 2)), columns=["age", "bmi"])
    with pytest.raises(ValueError, match="column 'bmi' of X is above"):
        SlicedInverseRegression(1).fit(X.assign(bmi=1e300 * X["bmi"]), X["age"])


@pytest.mark.parametrize("learner", LEARNERS, ids=name)
def test_a_response_of_any_size_is_fitted_or_refused_by_name(learner, rows):
    X, y = rows
    fitted = learner.fit(X, y).transform(X)
    if name(learner) in READ_VALUES:
        with pytest.raises(ValueError, match=r"y is above 1e\+140 in magnitude"):
            learner.fit(X, 1e300 * y)
    else:
        np.testing.assert_allclose(learner.fit(X, 1e300 * y).transform(X), fitted, atol=1e-8)


@pytest.mark.parametrize("learner", LEARNERS, ids=name)
def test_a_column_lost_in_the_rounding_of_its_mean_is_said_to_be(learner, rows):
    X, y = rows
    offset = X + 1e16 * np.eye(4)[2]
    with pytest.warns(UserWarning, match="column 2 of X varies by no more than the rounding"):
        fitted = learner.fit(offset, y)
    X[:, 2] = 1e16
    Z = fitted.transform(X)
    np.testing.assert_allclose(learner.fit(X, y).transform(X), Z, atol=1e-6)  # and no warning


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


@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
def test_the_kernel_form_loses_no_digits_to_where_the_rows_lie(kernel, rows):
    X, y = rows
    sir = KernelSlicedInverseRegression(2, kernel=kernel)
    Z = sir.fit(X, y).transform(X)
    moved = X + 2.0**30 * np.ones(4)
    np.testing.assert_allclose(sir.fit(moved, y).transform(moved), Z, atol=1e-4)


@pytest.mark.parametrize(
    "learner", [SlicedInverseRegression(1), SemiSlicedInverseRegression(1, alpha=0)], ids=name
)
def test_blocks_are_looked_at_as_rows_are(learner, rows):
    array, (X, y) = pytest.importorskip("dask.array"), rows
    blocks = array.from_array(X, (50, 4))
    for scale, why in ((1e300, "above 1e.140 in magnitude"), (1e-200, "spread over less than")):
        with pytest.raises(ValueError, match=f"column 2 of X is {why}"):
            learner.fit(blocks * np.array([1, 1, scale, 1]), y)
    missing, some = X.copy(), np.where(np.arange(len(y)) < 60, y, np.nan)
    missing[100, 1] = np.nan
    with pytest.raises(ValueError, match="Input X contains NaN"):
        learner.fit(array.from_array(missing, (50, 4)), some)
