"""Digits that R 4.2.2 and ``dr`` 3.0.11 print, each with the call that printed them."""

import numpy as np
import pytest
from sklearn.datasets import load_diabetes

from skbo_silbo import (
    PrincipalHessianDirections,
    SlicedAverageVarianceEstimation,
    SlicedInverseRegression,
)
from skbo_silbo.inspection import coordinate_test

pytestmark = pytest.mark.filterwarnings("ignore:The condition of")


@pytest.fixture(scope="module")
def diabetes():
    """Scikit-learn's diabetes data, written as CSV with y as the last column for R."""
    return load_diabetes(return_X_y=True, as_frame=True)


def test_general_and_normal_tests_of_principal_hessian_directions(diabetes):
    """d$y <- 1000*d$bmi^2 + d$y/100; dr.test(dr(y~., data=d, method="phdres"), numdir=4)."""
    X, y = diabetes
    bent = 1000 * X["bmi"] ** 2 + y / 100
    tests = PrincipalHessianDirections().fit(X, bent).dimension_tests_
    np.testing.assert_allclose(tests["statistic"], [427.9497794, 32.1959031], rtol=2e-9)
    np.testing.assert_allclose(tests["p_value"], [4.50299707e-05, 7.15735589e-01], rtol=1e-8)
    np.testing.assert_allclose(tests["p_value_normal"][1], 0.923947948, rtol=1e-8)


def test_general_and_normal_tests_of_variances(diabetes):
    """dr.test(dr(y~., data=d, method="save", nslices=4), numdir=4)."""
    save = SlicedAverageVarianceEstimation(n_slices=4).fit(*diabetes)
    tests = save.dimension_tests_
    expected = [443.596172, 268.538459, 181.450426, 127.016831]
    np.testing.assert_allclose(tests["statistic"][:4], expected, rtol=4e-9)
    assert tests["df"][:4].tolist() == [165, 135, 108, 84]
    general = [3.14216022e-07, 7.12811061e-07, 7.93029321e-04, 8.69858489e-03]
    np.testing.assert_allclose(tests["p_value"][:4], general, rtol=1e-7)
    normal = [6.93389790e-11, 1.24171036e-05, 1.70844939e-03]
    np.testing.assert_allclose(tests["p_value_normal"][1:4], normal, rtol=1e-5)


@pytest.mark.parametrize(
    ("features", "k", "statistic"),
    [
        ("age", 1, 0.0134471905477),
        ("bmi", 1, 28.0502279268),
        (["age", "s3"], 1, 0.0140157387472),
        ("age", 2, 1.49530657688),
        (["age", "s3"], 2, 1.90121672735),
        ("bmi", 3, 34.2768807382),
        ("age", None, 9.69131794577),
    ],
)
def test_statistics_of_coordinate_tests(diabetes, features, k, statistic):
    """m <- dr(y~., data=d, nslices=10); dr.coordinate.test(m, y~.-age, d=1), and so on."""
    test = coordinate_test(*diabetes, features, n_components=k)
    np.testing.assert_allclose(test.statistic, statistic, rtol=1e-9)


def test_directions_and_tests_of_sliced_inverse_regression(diabetes):
    """summary(dr(y~., data=d, method="sir", nslices=10))."""
    sir = SlicedInverseRegression(4, ridge=0).fit(*diabetes)
    assert sir.slice_sizes_.tolist() == [46, 45, 45, 44, 44, 46, 44, 45, 45, 38]
    values = [0.518612, 0.0952484, 0.0443076, 0.0201967]
    np.testing.assert_allclose(sir.eigenvalues_[:4], values, rtol=1e-5)
    tests = sir.dimension_tests_
    np.testing.assert_allclose(tests["statistic"][:3], [316.877, 87.6501, 45.5503], rtol=1e-5)
    assert tests["df"][:3].tolist() == [90, 72, 56]
    np.testing.assert_allclose(tests["p_value"][1:3], [0.101198, 0.839507], rtol=1e-5)
    of_sex = sir.components_[:, 1] / np.linalg.norm(sir.components_, axis=1)
    assert np.abs(of_sex) == pytest.approx([0.218579, 0.034466, 0.082016, 0.039511], rel=1e-4)
