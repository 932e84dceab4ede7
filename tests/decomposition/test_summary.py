"""Text summary of a fitted transformer and the standard errors in it."""

import numpy as np
import pandas as pd
import pytest
from scipy import linalg

from skbo_silbo import (
    ActiveSubspace,
    PrincipalHessianDirections,
    SlicedAverageVarianceEstimation,
    SlicedInverseRegression,
    SparseSlicedInverseRegression,
)
from skbo_silbo.decomposition import slice_response
from skbo_silbo.inspection import bootstrap_directions


def drawn(seed, heavy):
    rng = np.random.default_rng(seed)
    X = rng.standard_t(5, size=(500, 5)) if heavy else rng.normal(size=(500, 5))
    X[:, 1] += 0.5 * X[:, 0]
    return X, X[:, 0] + X[:, 2] + 0.5 * rng.normal(size=500)


def test_errors_are_those_of_leaving_each_row_out():
    """The jackknife, with the slice of every row as it is."""
    X, y = drawn(0, heavy=True)
    X, y = X[:120], y[:120]
    slices = slice_response(y, 6)
    left_out = []
    for i in range(120):
        kept = np.arange(120) != i
        part = slices.select_unweighted(np.flatnonzero(kept))
        centred = X[kept] - X[kept].mean(axis=0)
        means = np.array([centred[part.codes == h].mean(axis=0) for h in range(6)])
        between = (means.T * part.counts) @ means / 119
        b = linalg.eigh(between, centred.T @ centred / 119)[1][:, -1]
        left_out.append(b * np.sign(b[0]))
    jackknife = np.sqrt(119**2 / 120 * np.var(left_out, axis=0))
    sir = SlicedInverseRegression(1, n_slices=6, ridge=0).fit(X, y)
    np.testing.assert_allclose(errors_of(sir, X, y), jackknife, rtol=0.05)


def errors_of(sir, X, y):
    """Standard errors of the first component, which the summary has for unit length."""
    return columns_of(sir.summary(X, y))[1][:, 0] * np.linalg.norm(sir.components_[0])


def columns_of(text):
    """Basis vectors and their errors (d, r)."""
    parts = (text.split(title)[1].split("\n\n")[0] for title in ("vectors:", "errors:"))
    return [np.array([line.split()[1:] for line in p.split("\n")[2:]], float) for p in parts]


@pytest.mark.filterwarnings("ignore:The condition of")
@pytest.mark.parametrize("method", [SlicedAverageVarianceEstimation, PrincipalHessianDirections])
def test_summary_says_why_directions_are_dropped(method):
    X = np.random.default_rng(0).exponential(size=(300, 4))
    y = (X @ [1, -0.7, 0.5, 0.3]) ** 2
    estimator = method().fit(X, y)
    assert "condition of linearity" in estimator.summary().split("Directions dropped:")[1]
    assert "dropped" not in estimator.set_params(n_components=1).fit(X, y).summary()


def test_z_values_are_unit_free():
    X, y = drawn(0, heavy=False)
    units = np.array([1e-6, 1.0, 1e5, 1e9, 1.0])
    text = SlicedInverseRegression(1, ridge=0).fit(X * units, y).summary(X * units, y)
    b, errors = columns_of(text)
    plain, plain_errors = columns_of(SlicedInverseRegression(1, ridge=0).fit(X, y).summary(X, y))
    np.testing.assert_allclose(np.abs(b / errors), np.abs(plain / plain_errors), rtol=1e-3)


def test_a_group_is_taken_into_account():
    rng = np.random.default_rng(1)
    group, X = rng.integers(2, size=400), rng.normal(size=(400, 4))
    X[:, 0] += 4 * group
    y = X[:, 1] + 4 * group + 0.3 * rng.normal(size=400)
    sir = SlicedInverseRegression(1, n_slices=5, ridge=0).fit(X, y, group=group)
    text = sir.summary(X, y, group=group)
    resampled = bootstrap_directions(sir, X, y, group=group, n_resamples=80, random_state=0)
    resampled = resampled.standard_errors[0]
    said = columns_of(text)[1][:, 0] * np.linalg.norm(sir.components_)
    np.testing.assert_allclose(said, resampled, rtol=0.35)
    with pytest.raises(ValueError, match=r"group.*2"):
        sir.summary(X, y)
    with pytest.raises(ValueError, match=r"group.*1"):
        ActiveSubspace(1).fit(X[:40], y[:40]).summary(X[:40], y[:40], group=group[:40])


@pytest.mark.parametrize(
    "estimator",
    [
        SlicedInverseRegression(1, ridge=0.1),
        SlicedInverseRegression(1, ridge=0, reweight="elliptical"),
        SlicedInverseRegression(1, ridge=0, n_slices=[0.0]),
        SparseSlicedInverseRegression(1),
        ActiveSubspace(1),
    ],
)
def test_summary_shows_only_what_was_computed(estimator):
    X, y = drawn(0, heavy=False)
    X, y = pd.DataFrame(X[:80], columns=list("abcde")), y[:80]
    X["e"] = 3.0
    text = estimator.fit(X, y).summary(X, y)
    has_errors = estimator.get_params().get("n_slices") == [0.0]
    assert ("Standard errors:" in text) == has_errors
    assert all(text.count(f"\n{name} ") == 1 + has_errors for name in "abcd")
    assert "\ne " not in text  # constant


def test_summary_rejects_other_samples():
    X, y = drawn(0, heavy=False)
    sir = SlicedInverseRegression(1, ridge=0).fit(X, y)
    with pytest.raises(ValueError, match=r"must be the training samples: got 400 .* used 500"):
        sir.summary(X[:400], y[:400])
    X[:, 4] = X[:, 3]  # whose coefficients are not identified
    assert "Standard errors:" not in sir.fit(X, y).summary(X, y)
