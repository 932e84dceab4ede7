"""A column that does not vary changes nothing: it has no weight, and the others are as without it.

The mean of n times 0.1 is not 0.1, so that about its mean such a column is rounding, which slices
of y explain perfectly.
"""

import numpy as np
import pytest

from skbo_silbo import SlicedInverseRegression
from skbo_silbo.inspection import bootstrap_directions, coordinate_test

CONSTANTS = (0.0, 0.1, 36.6, 98.6, 1.0, 2024.0, -1e9 / 3, 1.7e18)


def make_rows(n=130, d=4):
    rng = np.random.default_rng(n)
    X = np.array([0.0, 1, 10, -3]) + rng.normal(size=(n, d))
    return X, X[:, 0] + 0.5 * X[:, 1] ** 2 + 0.3 * rng.normal(size=n)


def with_constant(X, value, place=2):
    return np.insert(X, place, np.asarray(value, dtype=X.dtype), axis=1)


@pytest.mark.parametrize(
    ("n", "dtype", "values"),
    [(100, np.float32, CONSTANTS[::2]), (100_000, np.float64, CONSTANTS[1::2])],
)
def test_constant_column_has_no_weight_by_every_door(n, dtype, values):
    da = pytest.importorskip("dask.array")
    X, y = make_rows(n)
    X = X.astype(dtype)

    def fits(X):
        return [SlicedInverseRegression(1).fit(r, y) for r in (X, da.from_array(X, (n // 3, -1)))]

    without = fits(X)[-1].components_
    for value in values:
        padded = with_constant(X, value)
        for fitted in fits(padded):
            assert fitted.components_[0, 2] == 0
            assert fitted.mean_[2] == padded[0, 2]
            assert fitted.components_.dtype == dtype
            found = np.delete(fitted.components_, 2, axis=1)
            np.testing.assert_allclose(found, without, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("door", "value", "spread"),
    [
        *(("fit", value, spread) for value in (0.1, 1e15) for spread in (2e-16, 1e-15, 1e-12)),
        *(("dask", value, spread) for value in (36.6, -1e9 / 3) for spread in (1e-14, 1e-8)),
    ],
)
@pytest.mark.filterwarnings("ignore:column 2 of X varies only within the rounding")
def test_nearly_constant_column_is_used(value, spread, door):
    """It is the column less its place, which floating point gives exactly, or it is constant."""
    X, y = make_rows(2000)
    noise = np.random.default_rng(1).normal(size=len(y))
    column = value * (1 + spread * noise)
    digits = column - value
    rows = with_constant(X, column)
    if door == "dask":
        rows = pytest.importorskip("dask.array").from_array(rows, (500, -1))
    fitted = SlicedInverseRegression(1, ridge=0).fit(rows, y)
    if digits.std() <= 2 * np.finfo(float).eps * abs(value):
        expected, weight = SlicedInverseRegression(1, ridge=0).fit(X, y), 0.0
    else:
        expected = SlicedInverseRegression(1, ridge=0).fit(with_constant(X, digits), y)
        weight = expected.components_[0, 2]
    np.testing.assert_allclose(fitted.components_[0, 2], weight, rtol=1e-6)
    np.testing.assert_allclose(fitted.eigenvalues_, expected.eigenvalues_, rtol=1e-6)


def test_dask_blocks_keep_digits_of_large_offset():
    da = pytest.importorskip("dask.array")
    X, y = make_rows(900)
    moved = X + 1e15
    expected = SlicedInverseRegression(1).fit(moved - 1e15, y).components_
    found = SlicedInverseRegression(1).fit(da.from_array(moved, (250, -1)), y).components_
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-8)


def test_a_group_is_no_direction_within_itself():
    X, y = make_rows()
    group = np.arange(len(y)) % 3
    padded = with_constant(X, np.array([0.1, 0.7, 36.6])[group])
    sir = SlicedInverseRegression(1).fit(padded, y, group=group)
    assert sir.components_[0, 2] == 0
    without = SlicedInverseRegression(1).fit(X, y, group=group).components_
    np.testing.assert_allclose(np.delete(sir.components_, 2, axis=1), without)


def test_what_is_said_of_the_fit_does_without():
    X, y = make_rows()
    padded, sir = with_constant(X, 0.1), SlicedInverseRegression(1, ridge=0)
    intervals = bootstrap_directions(sir, padded, y, n_resamples=20, random_state=0)
    assert (intervals.components[:, 2] == 0).all()
    with pytest.raises(ValueError, match="x2 is constant"):
        coordinate_test(padded, y, [2])
    test = coordinate_test(X, y, [3])
    assert test.p_value == coordinate_test(np.delete(padded, 2, axis=1), y, [3]).p_value
