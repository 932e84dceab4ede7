"""What a fitted transformer says of itself: errors, weights, categories, several responses."""

import numpy as np
import pandas as pd
import pytest

from skbo_silbo import (
    ActiveSubspace,
    SemiSlicedInverseRegression,
    SlicedInverseRegression,
    SparseSlicedInverseRegression,
)
from skbo_silbo.decomposition import slice_response
from skbo_silbo.decomposition.significance._direction_errors import direction_errors


def drawn(seed, heavy):
    rng = np.random.default_rng(seed)
    X = rng.standard_t(5, size=(500, 5)) if heavy else rng.normal(size=(500, 5))
    X[:, 1] += 0.5 * X[:, 0]
    return X, X[:, 0] + X[:, 2] + 0.5 * rng.normal(size=500)


@pytest.mark.parametrize("heavy", [False, True])
def test_errors_are_how_far_the_directions_of_new_sets_move(heavy):
    directions, errors = [], []
    for seed in range(150):
        X, y = drawn(seed, heavy)
        b = SlicedInverseRegression(1, ridge=0).fit(X, y).components_[0]
        directions.append(b * np.sign(b[0]) / np.linalg.norm(b))
        errors.append(direction_errors(X, slice_response(y, 10), 1)[0])
    seen, said = np.std(directions, axis=0), np.sqrt(np.mean(np.square(errors), axis=0))
    assert (np.abs(said / seen - 1) < (0.3 if heavy else 0.2)).all()


def test_errors_are_those_of_chen_and_li_for_normal_features():
    """(1 - lambda) / lambda / n times the inverse of the variance of X, for one direction."""
    X, y = drawn(0, heavy=False)
    sir = SlicedInverseRegression(1, ridge=0).fit(X, y)
    u = sir.components_[0] / (length := np.linalg.norm(sir.components_[0]))
    across = (np.eye(5) - np.outer(u, u)) / length
    first = sir.eigenvalues_[0]
    V = across @ np.linalg.inv(np.cov(X.T)) @ across * (1 - first) / first / len(X)
    errors = direction_errors(X, slice_response(y, 10), 1)[0]
    np.testing.assert_allclose(errors, np.sqrt(np.diag(V)), rtol=0.2)


def test_counts_are_repeated_rows():
    X, y = drawn(0, heavy=True)
    counts = np.arange(500) % 3
    sir = SlicedInverseRegression(2, ridge=0).fit(X, y, sample_weight=counts)
    again = SlicedInverseRegression(2, ridge=0).fit(np.repeat(X, counts, 0), np.repeat(y, counts))
    text = sir.summary(X, y, sample_weight=counts).replace(", using weights", "")
    assert "Standard errors:" in text
    assert text == again.summary(np.repeat(X, counts, 0), np.repeat(y, counts))


def test_chunks_have_the_same_summary_the_first_time_and_the_second():
    X, y = drawn(0, heavy=False)
    sir = SlicedInverseRegression(1, n_slices=[-1.0, 0.0, 1.0], ridge=0).partial_fit(X, y)
    assert "Standard errors:" in (first := sir.summary(X, y))
    assert sir.summary(X, y) == first


def test_errors_are_left_out_where_none_are_known():
    X, y = drawn(0, heavy=False)
    for other in (
        SlicedInverseRegression(1, ridge=0.1).fit(X, y),
        SlicedInverseRegression(1, ridge=0, reweight="elliptical").fit(X, y),
        SparseSlicedInverseRegression(1).fit(X, y),
    ):
        text = other.summary(X, y)
        assert "Standard errors" not in text
        assert "R^2(OLS|dr)" in text
    X[:, 4] = X[:, 3]
    sir = SlicedInverseRegression(1, ridge=0).fit(X, y)
    assert "Standard errors" not in sir.summary(X, y)
    assert "Standard errors" not in sir.summary(X[:400], y[:400])  # not the rows fitted


def test_categories_and_several_responses_and_names():
    X, y = drawn(0, heavy=False)
    X = pd.DataFrame(X, columns=list("abcde"))
    classes = np.where(y > 0, "high", "low").astype(object)
    text = SemiSlicedInverseRegression(1, ridge=0).fit(X, classes).summary(X, classes)
    assert "R^2" not in text
    assert "Standard errors:" in text
    Y = np.column_stack([y, np.exp(X["d"])])
    text = SemiSlicedInverseRegression(1, ridge=0).fit(X, Y).summary(X, Y)
    assert "R^2(OLS for y0|dr)" in text
    assert "R^2(OLS for y1|dr)" in text
    few = ActiveSubspace(1).fit(X[:40], y[:40]).summary(X[:40], y[:40])
    assert "ActiveSubspace, n = 40." in few
    assert all(few.count(f"\n{name} ") == 1 for name in "abcde")
