"""The linearity and the coverage condition: where they fail a warning says so; reweighting."""

import warnings

import numpy as np
import pytest
from drawn import rational
from levels import sets
from scipy import stats
from sklearn.base import clone

from skbo_silbo import (
    MAVE,
    DirectionalRegression,
    PrincipalHessianDirections,
    SlicedAverageVarianceEstimation,
    SlicedInverseRegression,
)
from skbo_silbo.decomposition.significance._linearity import are_skewed


def skewed(seed, law="lognormal", n=150):
    """One direction, of uneven entries, in columns of one skewed law."""
    rng = np.random.default_rng(seed)
    X = getattr(rng, law)(size=(n, 8))
    y = X @ np.array([1, -0.7, 0.5, 0.3, 0, 0, 0, 0])
    return X, y + 0.1 * y.std() * rng.normal(size=n)


def directions_and_warnings(X, y, **parameters):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        sir = SlicedInverseRegression(ridge=0, **parameters).fit(X, y)
    return sir.n_components_, any("linearity condition" in str(w.message) for w in caught)


def warned_of_several(cases, **parameters):
    """Return whether each fit with more than one direction warned."""
    fits = [directions_and_warnings(*case, **parameters) for case in cases]
    return [warned for found, warned in fits if found > 1]


@sets(6, 15)
@pytest.mark.parametrize(
    "law", ["lognormal", pytest.param("exponential", marks=pytest.mark.statistical)]
)
def test_spurious_directions_warn_and_reweighting_removes_them(law, n_sets):
    cases = [skewed(seed, law) for seed in range(n_sets)]
    warned = warned_of_several(cases)
    assert len(warned) >= 0.4 * n_sets
    assert np.mean(warned) >= 0.9
    assert len(warned_of_several(cases, reweight="elliptical")) <= 0.2 * n_sets


def fitted_and_said(estimator, X, y):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        estimator.fit(X, y)
    return estimator, " ".join(str(w.message) for w in caught)


@pytest.mark.statistical
@sets(3, 12)
@pytest.mark.parametrize("method", [SlicedAverageVarianceEstimation, DirectionalRegression])
def test_second_moments_doubt_what_is_not_normal(method, n_sets):
    """Of 40 such sets each alarms in 39 or 40; of the directions beside the one none is kept."""
    alarms, found = [], []
    for seed in range(n_sets):
        rng = np.random.default_rng(seed)
        X, noise = rng.lognormal(size=(300, 6)), 0.2 * rng.normal(size=300)
        fitted, said = fitted_and_said(method(), X, X[:, 0] + X[:, 1] + noise)
        found.append((fitted.n_components_, len(fitted.permutation_tests_["p_value"])))
        Z = rng.normal(size=(300, 5))
        Z[:, 1] *= np.exp(0.7 * Z[:, 0])
        uneven = fitted_and_said(method(), Z, Z[:, 0] + noise)[1]
        alarms.append(("The condition of" in said, "constant variance fails" in uneven))
    assert (np.mean(alarms, axis=0) >= 2 / 3).all()
    kept, tested = np.array(found).T
    assert np.mean(tested > 2) >= 1 / 4
    assert np.sum(kept > 1) <= 1


@sets(4, 40)
@pytest.mark.parametrize("method", [SlicedAverageVarianceEstimation, DirectionalRegression])
def test_second_moments_trust_normal_features(method, n_sets):
    """The level is 0.001; of 300 sets of five kinds 3 have an alarm."""
    said = []
    for seed in range(n_sets):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(200, 5)) @ (np.eye(5) + 0.3 * rng.normal(size=(5, 5)))
        even = X[:, 0] ** 2 if seed % 2 else X[:, 0] + X[:, 1]
        said.append(fitted_and_said(method(), X, even + 0.2 * rng.normal(size=200))[1])
    assert sum("The condition of" in text for text in said) <= 0.05 * n_sets


@pytest.mark.parametrize("method", [SlicedInverseRegression, DirectionalRegression])
@pytest.mark.parametrize("kind", [int, str])
def test_separated_classes_do_not_warn(method, kind):
    """Three of them bend the second score along the first, and both are there."""
    rng = np.random.default_rng(1)
    classes = np.arange(300) % 3
    for means, r in ((np.arange(3)[:, None], 1), (np.eye(3), 2)):
        X = rng.normal(size=(300, 4))
        X[:, : means.shape[1]] += 3 * means[classes]
        found, said = fitted_and_said(method(categorical=True), X, classes.astype(kind))
        assert (found.n_components_, said) == (r, "")


@pytest.mark.slow
def test_coverage_warning_names_tested_method():
    rng = np.random.default_rng(0)
    X, e = rng.normal(size=(300, 6)), rng.normal(size=300)
    mave, said = fitted_and_said(MAVE(), X, np.exp(X[:, 0]) * e)
    assert mave.n_components_ == 0
    assert "SlicedInverseRegression and DirectionalRegression detect this" in said
    assert "SlicedAverage" not in said
    held_out = "the scores predict held-out samples no better than the mean"
    for method, trend, why in (
        (PrincipalHessianDirections(), 1.0, "no curvature beyond the linear trend"),
        (MAVE(), 0.0, held_out),
        (MAVE(target="central"), 0.0, held_out),
    ):
        fits = []
        for _ in range(3):
            X = rng.normal(size=(120, 3))
            fits.append(fitted_and_said(method, X, trend * X[:, 0] + rng.normal(size=120)))
        said = [text for _, text in fits if "No direction was found" in text]
        assert said
        assert all(why in text and "slices" not in text for text in said)


@pytest.mark.statistical
def test_slowly_detected_trend_does_not_warn():
    found = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(80, 6))
        y = X[:, 0] + rng.normal(size=80)
        save, said = fitted_and_said(SlicedAverageVarianceEstimation(), X, y)
        if not save.n_components_ and "Little was found" in said:
            found.append("SlicedInverseRegression and DirectionalRegression detect" in said)
    assert len(found) >= 5
    assert all(found)


def bernoulli(rng, n):
    return (rng.random((n, 6)) < 0.15).astype(float)


def one_hot(rng, n, shares=(0.7, 0.1, 0.1, 0.1)):
    draws = rng.choice(4, size=(2, n), p=shares)
    return np.hstack([np.equal.outer(row, [1, 2, 3]).astype(float) for row in draws])


@sets(20, 200)
@pytest.mark.parametrize("draw", [bernoulli, one_hot])
def test_independent_discrete_features_do_not_warn(draw, n_sets):
    """Scores with the feature itself would warn of more than half of these sets.

    Sets with a second direction, which is found by chance, do warn (sdr_levels.rst).
    """
    found = []
    for seed in range(n_sets):
        rng = np.random.default_rng(seed)
        X = draw(rng, 150)
        found.append(directions_and_warnings(X, X[:, 0] + 0.2 * rng.normal(size=150)))
    warned = [is_warned for n_directions, is_warned in found if n_directions == 1]
    assert len(warned) >= 0.8 * n_sets
    assert stats.binomtest(sum(warned), len(warned), 0.05, "greater").pvalue > 1e-3


def test_indicators_of_one_category_do_not_warn():
    """An indicator is curved along scores that contain other indicators of its category."""
    for seed in (25, 28, 59, 60):
        rng = np.random.default_rng(seed)
        X = one_hot(rng, 300, [0.4, 0.3, 0.2, 0.1])
        found = directions_and_warnings(X, 2 * X[:, 0] + rng.normal(size=300))
        assert found == (1, False)


def test_discrete_curve_warns():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 5))
    X[:, 1] = np.round(X[:, 0] ** 2)
    with pytest.warns(UserWarning, match=r"The linearity condition fails: .*column 1 of X with"):
        SlicedInverseRegression().fit(X, X[:, 0] + 0.2 * rng.normal(size=200))


def test_two_true_directions_do_not_warn():
    said = warned_of_several(rational(seed, 400, 6)[:2] for seed in range(20))
    assert len(said) >= 10
    assert np.mean(said) <= 0.2


def test_reweighting_is_unit_free_and_uses_weights():
    X, y = skewed(0)
    sir = SlicedInverseRegression(1, reweight="elliptical")
    one, kept = clone(sir).fit(X, y), clone(sir).fit(X[20:], y[20:])
    other = clone(sir).fit(X, y, sample_weight=np.r_[np.zeros(20), np.ones(130)])
    np.testing.assert_allclose(other.components_, kept.components_, rtol=1e-8)
    units = 10.0 ** np.array([6, 0, 0, -6, 0, 8, 3, 0])
    scaled = sir.fit(X * units, y)
    np.testing.assert_allclose(scaled.components_ * units, one.components_, rtol=1e-6)


def test_even_response_warns_with_fixed_n_components():
    X = np.random.default_rng(0).normal(size=(200, 5))
    with pytest.warns(UserWarning, match="coverage condition.*SlicedAverageVariance"):
        SlicedInverseRegression(1).fit(X, X[:, 0] ** 2)
    with pytest.warns(UserWarning, match="coverage condition.*SlicedAverageVariance"):
        assert SlicedInverseRegression().fit(X, X[:, 0] ** 2).n_components_ == 0


@pytest.mark.parametrize("ridge", [0.0, 1e-10])
@pytest.mark.parametrize("shape", [(200, 10), (60, 40)])
def test_dual_solver_matches_dense_with_many_rows(shape, ridge):
    rng, (n, d) = np.random.default_rng(0), shape
    Q = np.linalg.qr(rng.normal(size=(d, d)))[0]
    X = rng.normal(size=(n, d)) @ (Q * np.geomspace(1, 1e-7, d)) @ Q.T
    y = X[:, 0] + rng.normal(size=n)
    dense, dual = (
        SlicedInverseRegression(1, ridge=ridge, solver=solver).fit(X, y)
        for solver in ("dense", "dual")
    )
    assert dual.solver_ == "dense"
    np.testing.assert_allclose(dual.transform(X), dense.transform(X), rtol=1e-9)


@pytest.mark.statistical
@pytest.mark.parametrize("kind", [float, pytest.param(str, marks=pytest.mark.slow)])
def test_spurious_directions_of_uneven_classes_are_warned_of(kind):
    cases = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X = rng.exponential(size=(300, 8))
        y = X[:, :3] @ [1, 1, 0.5] + 0.3 * rng.normal(size=300)
        cases.append((X, np.round(y / 1.5).astype(kind)))
    said = warned_of_several(cases)
    assert len(said) >= 4
    assert all(said)


def test_needed_directions_beside_skewed_features_are_not_warned_of():
    rng = np.random.default_rng(0)
    classes = np.arange(300) % 3
    X = np.hstack([rng.normal(size=(300, 2)), rng.exponential(size=(300, 2))])
    X[:, :2] += 2 * np.eye(3)[classes, :2]
    found, warned = directions_and_warnings(X, classes.astype(str))
    assert (found, warned) == (2, False)


@pytest.mark.parametrize("law", ["normal", "student"])
def test_elliptical_features_are_not_skewed(law):
    skewed = []
    for seed in range(100):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(200, 6))
        if law == "student":
            X /= np.sqrt(rng.chisquare(3, size=(200, 1)) / 3)
        skewed.append(are_skewed(X).any())
    assert np.mean(skewed) <= 0.05
    assert are_skewed(rng.exponential(size=(200, 6))).all()
