"""What y is taken for: one rule for all slicing transformers, and warnings at the user's line."""

import warnings
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from skbo_silbo import (
    MAVE,
    DirectionalRegression,
    KernelSlicedInverseRegression,
    SDRRegressor,
    SemiSlicedInverseRegression,
    SlicedAverageVarianceEstimation,
    SlicedInverseRegression,
    SparseSlicedInverseRegression,
)
from skbo_silbo.decomposition import split_labelled
from skbo_silbo.inspection import coordinate_test

LOOKS_LIKE = "y holds 26 different integers .* pass categorical=True"
CODES = np.repeat(np.arange(26), 8)
X = (
    np.random.default_rng(0).normal(size=(208, 3))
    + np.random.default_rng(1).normal(size=(26, 3))[CODES]
)
CENSORED = np.zeros(208, dtype=[("event", bool), ("time", float)])
CENSORED["event"], CENSORED["time"] = CODES % 2, X[:, 0]
LEARNERS = [
    SemiSlicedInverseRegression(1, alpha=0),
    SlicedAverageVarianceEstimation(1),
    DirectionalRegression(1),
    SparseSlicedInverseRegression(1, penalty=0.01),
    KernelSlicedInverseRegression(1, alpha=0, ridge=0.1),
]


def unlabelled(kind):
    """Codes as floats, or as objects, with unlabelled rows among them."""
    y = CODES.astype(kind)
    y[::50] = np.nan if kind is float else None
    return y


@pytest.mark.filterwarnings("ignore:5 unlabelled samples were ignored")
@pytest.mark.parametrize(
    ("learner", "y"),
    [
        (LEARNERS[0], CODES),
        (LEARNERS[1], CODES.astype(float)),
        (LEARNERS[2], unlabelled(float)),
        (LEARNERS[3], unlabelled(object)),
        (LEARNERS[4], CODES),
    ],
)
def test_integer_response_is_sliced_with_warning(learner, y):
    with pytest.warns(UserWarning, match=LOOKS_LIKE) as caught:
        cut = learner.fit(X, y).n_slices_
    assert caught[0].filename == __file__
    assert cut < 26
    with warnings.catch_warnings():
        warnings.filterwarnings("error", LOOKS_LIKE)
        assert learner.set_params(categorical=False).fit(X, y).n_slices_ == cut
        assert learner.set_params(categorical=True).fit(X, y).n_slices_ == 26
    learner.set_params(categorical="auto")


def test_strings_of_numbers_are_categories_with_a_word():
    y = np.random.default_rng(2).normal(size=208).round(3).astype(str)
    with pytest.warns(UserWarning, match=r"strings.*y.astype\(float\)"):
        assert SlicedInverseRegression(1).fit(X, y).n_slices_ > 150
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SlicedInverseRegression(1, categorical=True).fit(X, y)
        SlicedInverseRegression(1).fit(X, CODES.astype(str))
    with pytest.warns(UserWarning, match=r"208 different.*208"):
        SlicedInverseRegression(1).fit(X, [f"id{i}" for i in range(208)])


@pytest.mark.parametrize("learner", LEARNERS)
def test_categories_of_any_kind(learner):
    days = np.array([pd.Timestamp(2020, 1, 1 + code) for code in CODES])
    kinds = [CODES.astype(str), *(pd.Series(v).astype("category") for v in (CODES, days))]
    for y in kinds:
        assert learner.fit(X, y).n_slices_ == 26


def test_integers_of_a_dask_array():
    array = pytest.importorskip("dask.array")
    with pytest.warns(UserWarning, match=LOOKS_LIKE):
        SemiSlicedInverseRegression(1).fit(array.from_array(X, chunks=(50, 3)), CODES * 1.0)


def test_integers_of_coordinate_tests():
    with pytest.warns(UserWarning, match=LOOKS_LIKE):
        coordinate_test(X, CODES * 1.0, [0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        coordinate_test(X, CODES * 1.0, [0], categorical=True)
        coordinate_test(X, CODES * 1.0, [0], categorical=False)


def test_warnings_point_to_user_line():
    rng = np.random.default_rng(0)
    noise, y = rng.normal(size=(60, 4)), rng.normal(size=60)
    for learner in (SemiSlicedInverseRegression(), SlicedAverageVarianceEstimation(n_slices=4)):
        for call in (learner.fit, learner.fit_transform):
            with pytest.warns(UserWarning, match="No direction was found") as caught:
                call(noise, y)
            assert caught[0].filename == __file__
    with pytest.warns(UserWarning, match="do not identify directions") as caught:
        SemiSlicedInverseRegression(1, ridge=0).fit(noise[:4], y[:4])
    assert caught[0].filename == __file__


@pytest.mark.filterwarnings("ignore:2 unlabelled samples were ignored")
@pytest.mark.parametrize("learner", LEARNERS[::2])
@pytest.mark.parametrize("kind", [lambda value: Decimal(repr(value)), Fraction])
def test_numbers_of_databases_are_numbers(learner, kind):
    y = X[:, 0].round(3)
    exact = np.array([kind(value) for value in y.tolist()], dtype=object)
    expected = learner.fit(X, y).transform(X)
    np.testing.assert_allclose(learner.fit(X, exact).transform(X), expected)
    exact[3], exact[4], y[3:5] = None, Decimal("NaN"), np.nan
    expected = learner.fit(X, y).transform(X)
    np.testing.assert_allclose(learner.fit(X, exact).transform(X), expected)


class NeedsGradient(list):
    """What torch's tensors are where they need a gradient: NumPy cannot read them."""

    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("Use tensor.detach().numpy() instead.")


@pytest.mark.parametrize("learner", [*LEARNERS, MAVE(1), SDRRegressor()])
def test_unreadable_response_keeps_numpy_error(learner):
    y = NeedsGradient(X[:, 0])
    with pytest.raises(RuntimeError, match=r"Use tensor\.detach\(\)"):
        learner.fit(X, y)


@pytest.mark.filterwarnings("ignore:Little was found")
@pytest.mark.parametrize("kind", [int, float])
def test_minus_one_labels_warn(kind):
    y = np.where(np.arange(208) % 3 > 0, -1, CODES % 3).astype(kind)
    sir = SemiSlicedInverseRegression(1, alpha=0)
    with pytest.warns(UserWarning, match="y is -1 for 138 of 208 samples.* Use NaN"):
        sir.fit(X, y)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "y is -1")
        SemiSlicedInverseRegression(1, alpha=0, categorical=True).fit(X, y)
        sir.fit(X, np.where(y == -1, np.nan, y))
        sir.fit(X, y - (np.arange(208) % 5 == 0))  # other negative values: numbers


def test_censored_responses_by_every_door():
    array = pytest.importorskip("dask.array")
    whole = SlicedInverseRegression(1).fit(X, CENSORED)
    blocks = SlicedInverseRegression(1).fit(array.from_array(X, (50, 3)), CENSORED)
    np.testing.assert_allclose(blocks.components_, whole.components_)


DAYS = np.datetime64("2020-01-01") + (1000 * X[:, 0]).astype(int)
MISSING = np.arange(208) % 5 == 0


def with_mark(values, mark):
    """A copy of values with this mark in place of those that are missing."""
    values = values.copy()
    values[MISSING] = mark
    return values


@pytest.mark.parametrize("learner", [SemiSlicedInverseRegression(1), MAVE(1)])
@pytest.mark.parametrize(
    "y",
    [
        with_mark(DAYS, np.datetime64("NaT")),
        with_mark(DAYS - DAYS[0], np.timedelta64("NaT")),
        pd.Series(with_mark(DAYS, np.datetime64("NaT"))),
        pd.Series(with_mark(DAYS, np.datetime64("NaT"))).dt.tz_localize("Europe/Paris"),
        pd.Series(with_mark(DAYS - DAYS[0], np.timedelta64("NaT"))),
        np.ma.masked_array(DAYS, MISSING),
        np.ma.masked_array((1000 * X[:, 0]).astype(int), MISSING),
        np.ma.masked_array(X[:, 0], MISSING),
        with_mark(X[:, 0].astype(object), pd.NaT),
    ],
)
def test_nat_and_masked_entries_are_unlabelled(learner, y):
    data = split_labelled(learner, X, y, takes=learner._takes)
    np.testing.assert_array_equal(data.is_labeled, ~MISSING)
    np.testing.assert_array_equal(data.X_unlabeled, X[MISSING])
    order = np.argsort(X[~MISSING, 0])
    assert (np.diff(data.y[order]) >= 0).all()


@pytest.mark.parametrize("values", [CODES > 12, CODES.astype(str), X[:, :2], CENSORED])
def test_masked_entries_of_any_kind_are_unlabelled(values):
    y = np.ma.masked_array(values)
    y[MISSING] = np.ma.masked
    takes = ("censored", *SemiSlicedInverseRegression._takes)
    data = split_labelled(SemiSlicedInverseRegression(), X, y, takes=takes)
    np.testing.assert_array_equal(data.is_labeled, ~MISSING)
    if values.dtype.names is None:
        np.testing.assert_array_equal(data.y, values[~MISSING].astype(data.y.dtype))
    np.testing.assert_array_equal(data.X_unlabeled, X[MISSING])


def test_masks_of_dask_labels_are_kept():
    array = pytest.importorskip("dask.array")
    y = np.ma.masked_array(X[:, 0], MISSING)
    blocks = SemiSlicedInverseRegression(1, alpha=0)
    blocks.fit(array.from_array(X, (50, 3)), array.from_array(y, 50))
    whole = SemiSlicedInverseRegression(1, alpha=0).fit(X[~MISSING], X[~MISSING, 0])
    np.testing.assert_allclose(blocks.components_, whole.components_)


@pytest.mark.parametrize("learner", [SemiSlicedInverseRegression(1), MAVE(1), SDRRegressor()])
@pytest.mark.parametrize(
    ("y", "name"),
    [
        (pd.Series(pd.PeriodIndex(DAYS, freq="D")), "Period"),
        (DAYS.astype(object), "date"),
        (pd.Series(DAYS).astype(object), "Timestamp"),
        (pd.IntervalIndex.from_breaks(np.arange(209)), "Interval"),
    ],
)
def test_dates_periods_and_intervals_are_rejected_by_name(learner, y, name):
    with pytest.raises(ValueError, match=f"y must hold numbers.* object of type {name}. Convert"):
        learner.fit(X, y)


def test_intervals_as_categories_are_accepted():
    y = pd.cut(X[:, 0], 5)
    assert SlicedInverseRegression(1).fit(X, y).n_slices_ == 5
    assert SlicedInverseRegression(1, categorical=True).fit(X, y.astype(object)).n_slices_ == 5
