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


def test_save_summary_matches_dr_columns(diabetes):
    """summary(dr(y~., data=d, method="save", nslices=4))."""
    text = SlicedAverageVarianceEstimation(n_slices=4).fit(*diabetes).summary()
    lines = [line.split() for line in text.splitlines()]
    assert ["Stat", "df", "p.value(Nor)", "p.value"] in lines
    assert ["2D", "vs", ">=", "3D", "181.45", "108", "1.24171e-05", "0.000793029"] in lines


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


def test_the_summary_says_what_that_of_dr_says(diabetes):
    """summary(dr(y~., data=d, method="sir", nslices=10))."""
    X, y = diabetes
    text = SlicedInverseRegression(4, ridge=0).fit(X, y).summary(X, y)
    assert repr(text) == str(text)
    lines = [line.split() for line in text.splitlines()]
    for line in SUMMARY.strip().splitlines():
        words = line.split()
        assert words in [shown[: len(words)] for shown in lines], line
    sizes = [[line[0], *(abs(float(v)) for v in line[1:])] for line in lines if line[:1] == ["sex"]]
    assert sizes[0][1:] == pytest.approx([0.218579, 0.034466, 0.082016, 0.039511], rel=1e-4)
    assert len(sizes) == 2  # with standard errors, which dr has not


SUMMARY = """
SlicedInverseRegression
46 45 45 44 44 46 44 45 45 38
Eigenvalues 0.518612 0.0952484 0.0443076 0.0201967
0D vs >= 1D 316.877 90
1D vs >= 2D 87.6501 72 0.101198
2D vs >= 3D 45.5503 56 0.839507
"""
