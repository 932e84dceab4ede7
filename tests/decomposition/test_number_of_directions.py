"""How many directions, whatever the rows come in: arrays, blocks, with weights."""

import numpy as np
import pytest
from drawn import noise
from levels import assert_level

from skbo_silbo import (
    DirectionalRegression,
    PrincipalHessianDirections,
    SemiSlicedInverseRegression,
    SlicedAverageVarianceEstimation,
)

pytestmark = pytest.mark.filterwarnings(
    "ignore:No direction was found",
    "ignore:Little was found",
    "ignore:The linearity condition",
    "ignore:The condition of",
)


@pytest.mark.parametrize(
    ("y", "tested"),
    [
        (np.repeat([0, 1, 2, 3], [40, 40, 16, 4]), "permutation_tests_"),  # a slice of 4 rows
        (np.repeat(["a", "b"], [88, 12]), "permutation_tests_"),  # one of few beside one of many
        (np.repeat([0, 1, 2, 3], [30, 30, 20, 20]), "dimension_tests_"),
        (np.arange(100), "dimension_tests_"),
    ],
)
def test_small_slices_do_not_use_chi_square(y, tested):
    X = np.random.default_rng(1).lognormal(size=(100, 5))
    sir = SemiSlicedInverseRegression(ridge=0, categorical=y.dtype.kind == "U").fit(X, y)
    assert hasattr(sir, "permutation_tests_") == (tested == "permutation_tests_")


# -- blocks --------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ridge", "weights"),
    [
        ("auto", None),
        (0.0, None),
        pytest.param(0.3, "relative", marks=pytest.mark.slow),
        ("auto", "relative"),
    ],
)
def test_dask_tests_match_numpy_tests(ridge, weights):
    array = pytest.importorskip("dask.array")
    X, y, rng = noise(3, 80, 20)
    y += 2 * X[:, 0]
    w = None if weights is None else rng.lognormal(sigma=0.7, size=80)
    blocks = array.from_array(X, chunks=(17, 6))
    whole = SemiSlicedInverseRegression(ridge=ridge, alpha=0).fit(X, y, sample_weight=w)
    streamed = SemiSlicedInverseRegression(ridge=ridge, alpha=0).fit(blocks, y, sample_weight=w)
    np.testing.assert_allclose(streamed.components_, whole.components_, rtol=1e-6)
    for kind in {"dimension_tests_", "permutation_tests_"} & vars(whole).keys():
        for name, column in getattr(whole, kind).items():
            np.testing.assert_allclose(getattr(streamed, kind)[name], column, rtol=1e-6, atol=1e-9)
    assert np.isfinite(whole.curvature_).all() == (weights is None)
    np.testing.assert_allclose(streamed.curvature_, whole.curvature_, atol=1e-6)


@pytest.mark.parametrize("weights", [None, "relative"])
def test_permutations_do_not_depend_on_chunks(weights):
    """Of more rows than are kept; how the statistic is of as many labels, in memory or not."""
    array = pytest.importorskip("dask.array")
    X, y, rng = noise(0, 2600, 6)
    w = None if weights is None else rng.lognormal(size=2600)
    sir = SemiSlicedInverseRegression("permutation", alpha=0)
    tests = [
        sir.fit(array.from_array(X, chunks=chunks), y, sample_weight=w).permutation_tests_
        for chunks in ((700, 6), (900, 3))
    ]
    for name, column in tests[0].items():
        np.testing.assert_allclose(tests[1][name], column, rtol=1e-6)
    whole = sir.fit(X, y, sample_weight=w).permutation_tests_
    assert whole["p_value"][0] > 0.05
    assert tests[0]["p_value"][0] > 0.05


# -- relative weights ----------------------------------------------------------------------------

WEIGHTS = {
    "of nothing": lambda X, y, rng: rng.lognormal(size=len(y)),
    "of y": lambda X, y, rng: np.where(y > 1, 5.0, 0.5),
    "of X": lambda X, y, rng: np.exp(X[:, 0]),
}


@pytest.mark.statistical
@pytest.mark.parametrize("of", WEIGHTS)
def test_relative_weights_hold_the_level(of):
    rejected = 0
    for seed in range(60):
        X, y, rng = noise(seed)
        sir = SemiSlicedInverseRegression().fit(X, y, sample_weight=WEIGHTS[of](X, y, rng))
        rejected += sir.n_components_ > 0
    assert_level(rejected, 60)


@pytest.mark.parametrize(
    "learner",
    [
        SemiSlicedInverseRegression(n_slices=4, ridge=0.1),
        SlicedAverageVarianceEstimation(n_slices=4),
        DirectionalRegression(n_slices=4),
    ],
)
def test_relative_weights_find_what_there_is(learner):
    X, y, rng = noise(5, 120, 4)
    weights = rng.lognormal(sigma=0.5, size=120)
    assert learner.fit(X, X[:, 0] + 0.2 * y, sample_weight=weights).n_components_ == 1
    assert (learner.permutation_tests_["p_value"] <= 0.05).tolist() == [True, False]
    statistic = learner.permutation_tests_["statistic"][0]
    assert statistic == pytest.approx(learner.eigenvalues_[0])


# -- as a function -------------------------------------------------------------------------------


def test_permutation_where_chi_square_is_valid():
    X, y, _ = noise(4, 200, 4)
    y = np.exp(X[:, 0]) + 0.2 * y
    shuffled, chi_square = (
        SemiSlicedInverseRegression(word).fit(X, y) for word in ("permutation", "auto")
    )
    tests = shuffled.permutation_tests_
    assert not hasattr(chi_square, "permutation_tests_")
    assert shuffled.n_components_ >= 1
    assert chi_square.n_components_ >= 1
    assert tests["p_value"][0] == 1 / (1 + tests["n_permutations"][0])
    np.testing.assert_allclose(tests["statistic"][0], chi_square.eigenvalues_[0], rtol=1e-8)


@pytest.mark.parametrize("chunks", [None, (1000, 3)])
def test_permutation_test_uses_same_ridge(chunks):
    """Of 6000 rows 2000 are; a ridge for 6000 would halve the statistic."""
    X, y, _ = noise(0, 6000, 3)
    y += X[:, 0]
    rows = X if chunks is None else pytest.importorskip("dask.array").from_array(X, chunks)
    sir = SemiSlicedInverseRegression("permutation", ridge=1.0).fit(rows, y)
    statistic = sir.permutation_tests_["statistic"][0]
    np.testing.assert_allclose(statistic, sir.eigenvalues_[0], rtol=0.1)


@pytest.mark.parametrize(
    "learner",
    [
        PrincipalHessianDirections(),
        SlicedAverageVarianceEstimation(),
        DirectionalRegression(),
        SemiSlicedInverseRegression("permutation"),
    ],
)
def test_row_order_does_not_change_tests(learner):
    X, y, rng = noise(3, 150, 4)
    y = 0.3 * X[:, 0] ** 2 + 0.2 * X[:, 1] + 0.5 * y
    order = rng.permutation(150)
    found = []
    for rows in (slice(None), order):
        learner.fit(X[rows], y[rows])
        found.append(getattr(learner, "bootstrap_tests_", None) or learner.permutation_tests_)
    for name, column in found[0].items():
        np.testing.assert_allclose(found[1][name], column, rtol=1e-6)


@pytest.mark.parametrize("method", [PrincipalHessianDirections, DirectionalRegression])
def test_random_state_seeds_tests_of_second_moments(method):
    X, y, _ = noise(1, 150, 4)
    name = "bootstrap_tests_" if method is PrincipalHessianDirections else "permutation_tests_"
    p_values = [getattr(method(random_state=s).fit(X, y), name)["p_value"][0] for s in (0, 1, 0)]
    assert p_values[0] == p_values[2] != p_values[1]


# -- slices of few rows --------------------------------------------------------------------------


def test_one_row_per_slice_detects_signal():
    X, y, _ = noise(1, 40, 4)
    y = X[:, 0] + 0.1 * y
    sir = SemiSlicedInverseRegression(n_slices=40).fit(X, y)
    assert sir.n_slices_ == 19  # of two rows; R gives the last the rest
    assert sir.n_components_ == 1
    assert hasattr(sir, "permutation_tests_")
