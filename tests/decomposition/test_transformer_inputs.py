"""What rows come in: float32 that stays so, and Dask collections that are never put together."""

import tracemalloc

import numpy as np
import pytest
from sklearn.base import clone

from skbo_silbo import (
    MAVE,
    ActiveSubspace,
    DirectionalRegression,
    KernelSlicedInverseRegression,
    PrincipalHessianDirections,
    SemiSlicedInverseRegression,
    SlicedAverageVarianceEstimation,
    SparseSlicedInverseRegression,
)
from skbo_silbo.inspection import bootstrap_directions, coordinate_test

IN_MEMORY = [
    SemiSlicedInverseRegression(1, n_slices=4, ridge=0.1),
    SemiSlicedInverseRegression(1, n_slices=4, n_local_neighbors=5),
    SemiSlicedInverseRegression(1, n_slices=4, solver="paper"),
    SlicedAverageVarianceEstimation(1, n_slices=4),
    DirectionalRegression(1, n_slices=4),
    PrincipalHessianDirections(1),
    SparseSlicedInverseRegression(1, n_slices=4, penalty=0.05),
    KernelSlicedInverseRegression(1, n_slices=4, gamma=0.2, fit_inverse_transform=True),
    MAVE(1, max_iter=2),
    ActiveSubspace(1, n_refinements=0),
]
NEVER_STREAM = IN_MEMORY[3:]


def make_data(n=120, d=4, mean=0.0):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    return X + mean, X[:, 0] + X[:, 0] ** 2 + 0.2 * rng.normal(size=n)


def name_of(estimator):
    return type(estimator).__name__


# -- float32 -------------------------------------------------------------------------------------


@pytest.mark.parametrize("estimator", [SemiSlicedInverseRegression(1), *IN_MEMORY], ids=name_of)
def test_float32_rows_have_float32_scores_from_a_fit_in_double_precision(estimator):
    X, y = make_data(mean=30.0)
    rows = X.astype(np.float32)
    single = clone(estimator).fit(rows, y)
    double = clone(estimator).fit(rows.astype(np.float64), y)
    Z = single.transform(rows)
    assert Z.dtype == np.float32
    assert single.transform(X).dtype == np.float64
    assert getattr(single, "components_", Z).dtype == np.float32
    np.testing.assert_allclose(Z, double.transform(rows.astype(np.float64)), atol=2e-4)
    back = single.inverse_transform(Z)
    assert back.dtype == np.float32
    np.testing.assert_allclose(back, double.inverse_transform(Z.astype(np.float64)), rtol=1e-4)
    if hasattr(double, "components_"):
        np.testing.assert_allclose(single.components_, double.components_, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
def test_float32_rows_beside_unlabelled_ones(weighted):
    X, y = make_data(mean=30.0)
    rows = X.astype(np.float32)
    weights = np.linspace(0.5, 2, 80) if weighted else None
    sir = SemiSlicedInverseRegression(1, n_slices=4, alpha=1.0)
    single = sir.fit(rows[:80], y[:80], rows[80:], weights).components_
    mixed = sir.fit(rows[:80], y[:80], rows[80:].astype(np.float64), weights).components_
    double = sir.fit(*(rows.astype(np.float64)[:80], y[:80]), rows[80:], weights).components_
    np.testing.assert_allclose(single, double, rtol=1e-6)
    np.testing.assert_allclose(mixed, double, rtol=1e-6)


@pytest.mark.parametrize("n_components", [1, "auto"])
def test_plain_slices_of_many_float32_rows_make_no_copy_of_them(n_components):
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
    return pytest.raises(ValueError, match=r"must be in memory here.* got dask's .*np\.asarray")


@pytest.mark.parametrize("estimator", NEVER_STREAM, ids=name_of)
def test_dask_arrays_are_refused_where_all_rows_are_needed(estimator, blocks):
    with refuses():
        clone(estimator).fit(blocks, make_data()[1])


def test_other_doors_refuse_dask_arrays_too(blocks):
    X, y = make_data()
    sir = SemiSlicedInverseRegression(1)
    for call in (
        lambda: sir.fit(X, y, X_unlabeled=blocks),
        lambda: sir.partial_fit(blocks, y),
        lambda: coordinate_test(blocks, y, 0),
        lambda: bootstrap_directions(sir, blocks, y),
    ):
        with refuses():
            call()


def test_dask_frames_are_refused_with_the_way_to_an_array():
    frames = pytest.importorskip("dask.dataframe")
    pandas = pytest.importorskip("pandas")
    X, y = make_data()
    frame = frames.from_pandas(pandas.DataFrame(X, columns=list("abcd")), npartitions=3)
    with pytest.raises(ValueError, match=r"to_dask_array\(lengths=True\)"):
        SemiSlicedInverseRegression(1).fit(frame, y)


@pytest.mark.parametrize("estimator", IN_MEMORY, ids=name_of)
def test_no_other_collection_is_put_together_for_its_scores(estimator):
    bag = pytest.importorskip("dask.bag").from_sequence(make_data()[0].tolist(), npartitions=2)
    fitted = clone(estimator).fit(*make_data())
    for call in (fitted.transform, fitted.inverse_transform):
        with refuses():
            call(bag)


@pytest.mark.parametrize("estimator", IN_MEMORY, ids=name_of)
def test_scores_of_a_dask_array_and_the_way_back_are_lazy(estimator, blocks):
    X, y = make_data()
    fitted = clone(estimator).fit(X, y)
    Z = fitted.transform(blocks)
    assert Z.chunks == ((50, 50, 20), (1,))
    np.testing.assert_allclose(Z.compute(), fitted.transform(X), atol=1e-10)
    back = fitted.inverse_transform(Z)
    assert back.chunks[0] == (50, 50, 20)
    np.testing.assert_allclose(back.compute(), fitted.inverse_transform(fitted.transform(X)))
    assert fitted.transform(blocks.astype(np.float32)).dtype == np.float32
    assert SemiSlicedInverseRegression(1).fit(blocks.astype("f4"), y).components_.dtype == "f4"


@pytest.mark.parametrize("kind", [int, float])
def test_dask_rows_of_weight_zero_are_left_out_as_they_are_of_arrays(blocks, kind):
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
    with pytest.raises(ValueError, match="alpha must be 0 for a Dask array with unlabelled rows"):
        sir.fit(blocks, y, sample_weight=weights)
