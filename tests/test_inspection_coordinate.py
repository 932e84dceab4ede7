"""Coordinate tests: level, power, closed form; and elimination."""

import numpy as np
import pandas as pd
import pytest
from scipy import linalg, stats

from skbo_silbo.decomposition import SemiSlicedInverseRegression
from skbo_silbo.inspection import backward_elimination, coordinate_test


def make_data(seed=0, n=200, d=5, slope=1.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) @ (np.eye(d) + 0.4 * rng.normal(size=(d, d)))
    return X, np.exp(0.5 * X[:, 0]) + slope * X[:, 1] + 0.5 * rng.normal(size=n)


@pytest.mark.parametrize("variance", ["general", "constant"])
@pytest.mark.parametrize("n_slices", [4, 10])
def test_level(variance, n_slices):
    """Also with more slices than features, where some weights have no eigenvalue beside them."""
    rejected = 0
    for seed in range(200):
        X, y = make_data(seed, n=300)
        test = coordinate_test(X, y, [2, 4], n_slices=n_slices, variance=variance)
        rejected += test.p_value < 0.05
    assert stats.binomtest(rejected, 200, 0.05).pvalue > 1e-3


def test_statistic_is_the_trace_of_its_definition():
    X, y = make_data()
    test = coordinate_test(X, y, [1, 3], variance="constant")
    centred = X - X.mean(axis=0)
    covariance = centred.T @ centred / len(X)
    root = linalg.sqrtm(covariance).real
    Z = centred @ np.linalg.inv(root)
    order = np.argsort(y)
    M = sum(
        len(rows) / 200 * np.outer(Z[rows].mean(axis=0), Z[rows].mean(axis=0))
        for rows in np.split(order, 10)
    )
    H = np.linalg.qr(np.linalg.inv(root)[:, [1, 3]])[0]
    assert test.statistic == pytest.approx(200 * np.trace(H.T @ M @ H))
    eigenvalues = SemiSlicedInverseRegression().fit(X, y).eigenvalues_
    expected = np.repeat(1 - np.pad(eigenvalues, (0, 9 - len(eigenvalues))), 2)
    np.testing.assert_allclose(np.sort(test.weights), np.sort(expected), atol=1e-8)


def test_power_and_units():
    X, y = make_data()
    assert coordinate_test(X, y, 1).p_value < 1e-4
    scaled = coordinate_test(X * np.geomspace(1e-3, 1e3, 5) + 7, y, 1)
    assert scaled.statistic == pytest.approx(coordinate_test(X, y, 1).statistic)


def test_names_categories_and_unlabelled_rows():
    X, y = make_data()
    frame = pd.DataFrame(X, columns=list("abcde"))
    classes = np.where(y > np.median(y), "high", "low").astype(object)
    by_name = coordinate_test(frame, classes, ["b", "d"])
    expected = coordinate_test(X, classes, [1, 3]).p_value
    assert by_name.p_value == pytest.approx(expected)
    y[:50] = np.nan
    expected = coordinate_test(X[50:], y[50:], 1).p_value
    assert coordinate_test(X, y, 1).p_value == pytest.approx(expected)


def test_elimination_keeps_what_matters():
    kept = []
    for seed in range(5):
        X, y = make_data(seed, n=400, d=8)
        result = backward_elimination(X, y, level=0.01)
        assert result.support[:2].all()
        assert len(result.dropped) == len(result.p_values) == (~result.support).sum()
        assert (result.p_values > 0.01).all()
        kept.append(result.support.sum())
    assert np.mean(kept) < 2.8


def test_elimination_on_noise_keeps_one_feature():
    rng = np.random.default_rng(3)
    result = backward_elimination(rng.normal(size=(100, 4)), rng.normal(size=100), level=1e-6)
    assert result.support.sum() == 1


@pytest.mark.parametrize("kind", [list, np.array, pd.Series])
def test_a_mask_is_a_mask(kind):
    X, y = make_data()
    mask = kind([False, False, True, False, True])
    assert coordinate_test(X, y, mask).p_value == coordinate_test(X, y, [2, 4]).p_value
    assert coordinate_test(X, y, kind([2, 4])).p_value == coordinate_test(X, y, (4, 2)).p_value


def test_what_elimination_dropped_is_not_needed():
    X, y = make_data(0, n=400, d=8)
    dropped = ~backward_elimination(X, y, level=0.01).support
    assert coordinate_test(X, y, dropped).p_value > 0.001


BAD = [
    *([], [5], [-1], range(5), "a", ["a"], [0.7], 1.0, True, [True, False], [True] * 5, [0, True]),
    *([[0, 1]], [None], None, np.zeros(5, dtype=bool), np.array([0.0, 1.0]), [0, "a"]),
]


@pytest.mark.parametrize("features", BAD)
def test_bad_features_are_refused(features):
    with pytest.raises(ValueError, match="features must be some, not all, of the 5 features"):
        coordinate_test(*make_data(), features)


def test_bad_arguments_are_refused():
    X, y = make_data()
    with pytest.raises(ValueError, match="variance must be one of"):
        coordinate_test(X, y, 1, variance="robust")
    with pytest.raises(ValueError, match=r"level must be a number in \(0, 1\): got 2"):
        backward_elimination(X, y, level=2)
    with pytest.raises(ValueError, match="more labelled rows than features"):
        coordinate_test(X[:6], y[:6], 1)
    with pytest.raises(ValueError, match="some are collinear or constant"):
        coordinate_test(np.column_stack([X, X[:, 0]]), y, 1)
