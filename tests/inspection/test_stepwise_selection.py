"""Stepwise selection: known active features, closed forms, more features than rows."""

import numpy as np
import pandas as pd
import pytest
from drawn import two_directions as make_data
from scipy import stats

from skbo_silbo.decomposition import SemiSlicedInverseRegression
from skbo_silbo.inspection import coordinate_test, stepwise_selection


@pytest.mark.parametrize("direction", ["backward", "forward"])
def test_selection_finds_relevant_features(direction):
    chosen = []
    for seed in range(5):
        X, y = make_data(seed, n=400, d=8)
        result = stepwise_selection(X, y, direction=direction, level=0.01)
        assert result.support[:2].all()
        selected = result.support if direction == "forward" else ~result.support
        assert sorted(result.order) == np.flatnonzero(selected).tolist()
        assert len(result.order) == len(result.p_values)
        assert ((result.p_values <= 0.01) == (direction == "forward")).all()
        chosen.append(result.support.sum())
    assert np.mean(chosen) < 2.8


def test_forward_selection_finds_planted_features():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 130))
    X[:, 7] = X[:, 3]  # a copy adds nothing
    X[:, 9] = 1.0
    y = 2 * X[:, 3] + np.exp(X[:, 50]) + 0.2 * rng.normal(size=100)
    result = stepwise_selection(X, y, direction="forward", n_slices=5)
    assert sorted(result.order[:2]) == [3, 50]
    assert len(result.order) == 2
    assert not result.support[[7, 9]].any()
    with pytest.raises(ValueError, match="labelled rows"):
        stepwise_selection(X, y)


def test_noise_selects_no_feature_forward():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(100, 4)), rng.normal(size=100)
    assert stepwise_selection(X, y, level=1e-6).support.sum() == 1
    none = stepwise_selection(X, y, level=1e-6, direction="forward")
    assert not none.support.any()
    assert none.order.shape == none.p_values.shape == (0,)
    assert str(none).endswith("in this order:\nnone")


@pytest.mark.parametrize("direction", ["backward", "forward"])
def test_selection_prints_its_steps(direction):
    result = stepwise_selection(*make_data(0, n=300), direction=direction, level=0.01)
    lines = str(result).splitlines()
    assert lines[1] == ", ".join(np.array(result.names)[result.support])
    steps = {line.split()[0]: float(line.split()[-1]) for line in lines[5:]}
    assert list(steps) == [result.names[j] for j in result.order]
    np.testing.assert_allclose(list(steps.values()), result.p_values, rtol=1e-4)
    assert [test.features for test in result.tests] == [[name] for name in steps]


def test_choices_have_names():
    X, y = make_data(0, n=300)
    frame = pd.DataFrame(X, columns=["length", "b", "c", "d", "e"])
    backward = stepwise_selection(frame, y, level=0.01)
    assert backward.names[backward.order[0]] == "e"
    assert list(frame.columns[backward.support]) == ["length", "b"]
    assert coordinate_test(frame, y, ["d", "e"]).features == ["d", "e"]
    assert stepwise_selection(X, y, direction="forward").names == ["x0", "x1", "x2", "x3", "x4"]


@pytest.mark.parametrize(("n", "d", "n_sets"), [(120, 4, 60), (150, 60, 10)])
def test_forward_selection_error_rate_matches_documentation(n, d, n_sets):
    """Without the correction, 2 to 5 of 60 irrelevant features are selected every time."""
    admitted = 0
    for seed in range(n_sets):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(n, d)), rng.normal(size=n)
        result = stepwise_selection(X, y, direction="forward", n_slices=4)
        admitted += result.support.any()
    assert admitted <= stats.binom.isf(1e-3, n_sets, 0.05)


def trace(X, y, n_slices):
    """Return the trace of the covariance of the whitened slice means."""
    sir = SemiSlicedInverseRegression(1, n_slices=n_slices, ridge=0, alpha=0)
    return sir.fit(X, y).eigenvalues_.sum()


def test_statistic_is_increase_of_trace():
    """Compare with the closed form of trace pursuit, which uses no coordinate test."""
    X, y = make_data()
    with_it, without = trace(X, y, 6), trace(X[:, [0, 1, 3, 4]], y, 6)
    found = coordinate_test(X, y, [2], n_slices=6).statistic
    assert found == pytest.approx(len(y) * (with_it - without))
    first = stepwise_selection(X, y, direction="forward", n_slices=6, level=0.999).order[:2]
    added = [trace(X[:, [first[0], j]], y, 6) if j != first[0] else 0 for j in range(5)]
    assert first[1] == np.argmax(added)


def test_p_value_matches_permutation_test():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(150, 2))
    y = X[:, 0] + 0.5 * rng.normal(size=150)
    X[:, 1] -= np.polyval(np.polyfit(X[:, 0], X[:, 1], 1), X[:, 0])  # uncorrelated with feature 0
    test = coordinate_test(X, y, [1], n_slices=4)
    drawn = [
        coordinate_test(np.c_[X[:, 0], rng.permutation(X[:, 1])], y, [1], n_slices=4).statistic
        for _ in range(250)
    ]
    assert np.mean(np.array(drawn) >= test.statistic) == pytest.approx(test.p_value, abs=0.1)


@pytest.mark.parametrize("direction", ["backward", "forward"])
def test_counts_are_repeated_rows(direction):
    X, y = make_data(4, n=80)
    counts = np.random.default_rng(0).integers(0, 4, size=80)
    weighted = stepwise_selection(X, y, direction=direction, sample_weight=counts)
    repeated = stepwise_selection(X.repeat(counts, 0), y.repeat(counts), direction=direction)
    np.testing.assert_array_equal(weighted.order, repeated.order)
    np.testing.assert_allclose(weighted.p_values, repeated.p_values, rtol=1e-6)


def test_invalid_arguments_raise():
    X, y = make_data()
    with pytest.raises(ValueError, match=r"level.*got 2"):
        stepwise_selection(X, y, level=2)
    with pytest.raises(ValueError, match=r"direction.*'backward'"):
        stepwise_selection(X, y, direction="both")
