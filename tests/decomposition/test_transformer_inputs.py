"""What rows come in: float32 that stays so, and Dask collections that are never put together."""

import tracemalloc

import numpy as np
import pytest

from skbo_silbo import SemiSlicedInverseRegression, SlicedInverseRegression
from skbo_silbo.inspection import bootstrap_directions, coordinate_test


def make_data(n=120, d=4, mean=0.0):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    return X + mean, X[:, 0] + X[:, 0] ** 2 + 0.2 * rng.normal(size=n)


# -- float32 -------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_components", [1, "auto"])
def test_float32_fit_makes_no_copy(n_components):
    X, y = make_data(n=20_000, d=100)
    rows = X.astype(np.float32)
    del X
    sir = SemiSlicedInverseRegression(n_components)
    tracemalloc.start()
    try:
        sir.fit(rows, y)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < rows.nbytes


def test_float32_that_is_not_finite_is_refused():
    X, y = make_data()
    rows = X.astype(np.float32)
    rows[3, 1] = np.inf
    with pytest.raises(ValueError, match="X contains infinity"):
        SemiSlicedInverseRegression(1).fit(rows, y)
    rows[:, 1] = 3e38  # finite, but its sum is not
    SemiSlicedInverseRegression(1).fit(rows, y)


# -- Dask ----------------------------------------------------------------------------------------


@pytest.fixture
def blocks():
    array = pytest.importorskip("dask.array")
    return array.from_array(make_data()[0], chunks=(50, 3))


def refuses():
    return pytest.raises(ValueError, match=r"must be in memory, .* got a Dask .*np\.asarray")


def test_other_doors_refuse_dask_arrays_too(blocks):
    X, y = make_data()
    sir = SemiSlicedInverseRegression(1)
    for call in (
        lambda: sir.fit(X, y, X_unlabeled=blocks),
        lambda: coordinate_test(blocks, y, 0),
        lambda: bootstrap_directions(sir, blocks, y),
    ):
        with refuses():
            call()


def test_dask_frames_raise_with_conversion():
    frames = pytest.importorskip("dask.dataframe")
    pandas = pytest.importorskip("pandas")
    X, y = make_data()
    frame = frames.from_pandas(pandas.DataFrame(X, columns=list("abcd")), npartitions=3)
    with pytest.raises(ValueError, match=r"to_dask_array\(lengths=True\)"):
        SemiSlicedInverseRegression(1).fit(frame, y)


@pytest.mark.parametrize("kind", [int, float])
def test_zero_weight_dask_rows_are_dropped(blocks, kind):
    X, y = make_data()
    weights = (np.arange(120) % 3).astype(kind)
    y[weights == 0] = np.nan  # no label, but no weight either: no unlabelled row
    sir = SemiSlicedInverseRegression(1, n_slices=4)
    expected = sir.fit(X, y, sample_weight=weights).components_
    np.testing.assert_allclose(sir.fit(blocks, y, sample_weight=weights).components_, expected)
    labelled = make_data()[1]
    np.testing.assert_allclose(
        sir.fit(blocks, labelled, sample_weight=weights).components_, expected
    )
    y[1] = np.nan
    with pytest.raises(ValueError, match=r"alpha.*0"):
        sir.fit(blocks, y, sample_weight=weights)


def test_a_column_of_a_frame_is_named():
    pd = pytest.importorskip("pandas")
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 2)), columns=["age", "bmi"])
    with pytest.raises(ValueError, match="column 'bmi'"):
        SlicedInverseRegression(1).fit(X.assign(bmi=1e300 * X["bmi"]), X["age"])
