"""Censored responses: double slicing."""

import numpy as np
import pytest
from drawn import sine, unit
from sklearn.datasets import load_diabetes
from sklearn.model_selection import cross_val_score

from skbo_silbo import (
    ActiveSubspace,
    DirectionalRegression,
    SemiSlicedInverseRegression,
    SlicedAverageVarianceEstimation,
    SlicedInverseRegression,
    SparseSlicedInverseRegression,
)
from skbo_silbo.inspection import bootstrap_directions, coordinate_test


def survival(event, time, names=("event", "time")):
    y = np.empty(len(time), dtype=[(names[0], bool), (names[1], float)])
    y[names[0]], y[names[1]] = event, time
    return y


def drawn(seed, slope=1.0, n=300):
    """Survival along x0, censoring along x1: the time seen is the lesser."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    lasts = slope * X[:, 0] + 0.3 * rng.normal(size=n)
    seen = slope * X[:, 1] + 0.3 * rng.normal(size=n)
    return X, survival(lasts <= seen, np.exp(np.minimum(lasts, seen)))


@pytest.fixture(scope="module")
def of_r():
    """D$event <- rep(1:0, 221), with the diabetes data as d."""
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    X = X[["age", "bmi", "bp", "s3", "s5", "s6"]]
    return X, survival(np.arange(442) % 2 == 0, y)


def test_double_slices_are_those_of_dr(of_r):
    """dr(cbind(event, y)~age+bmi+bp+s3+s5+s6, data=d, method="sir", nslices=c(2,5))."""
    sir = SlicedInverseRegression(2, ridge=0).fit(*of_r)
    assert sorted(sir.slice_sizes_.tolist()) == [44] * 8 + [45] * 2
    expected = [0.491372466760481, 0.051160633620270, 0.034451689951695]
    np.testing.assert_allclose(sir.eigenvalues_[:3], expected, rtol=1e-10)
    first = [0.02109655878, 0.64697135186, 0.37939335761, 0.23374654102, 0.61837588243]
    np.testing.assert_allclose(unit(sir.components_)[0, :5], first, rtol=1e-8)
    np.testing.assert_allclose(sir.dimension_tests_["p_value"][1], 0.17123726542, rtol=1e-8)


@pytest.mark.filterwarnings("ignore:The condition of")
def test_variances_within_double_slices_are_those_of_dr(of_r):
    """dr(cbind(event, y)~age+bmi+bp+s3+s5+s6, data=d, method="save", nslices=c(2,2))."""
    save = SlicedAverageVarianceEstimation().fit(*of_r)
    expected = [0.1707082731773, 0.1265499837924, 0.1049016447962]
    np.testing.assert_allclose(save.eigenvalues_[:3], expected, rtol=1e-10)
    tests = save.dimension_tests_
    np.testing.assert_allclose(tests["p_value"][0], 0.000133219165483, rtol=1e-8)
    np.testing.assert_allclose(tests["p_value_normal"][1], 0.0960558718169, rtol=1e-8)


def test_double_slicing_finds_both_directions():
    sines, mixed = [], []
    for seed in range(6):
        X, y = drawn(seed)
        sir = SlicedInverseRegression(ridge=0).fit(X, y)
        assert sir.target_type_ == "censored"
        assert sir.n_components_ >= 2
        sines.append(sine(sir.components_[:2], np.eye(5)[:2]))
        mixed.append(unit(SlicedInverseRegression(1).fit(X, y["time"]).components_)[0, 1])
    assert np.mean(sines) < 0.15
    assert np.mean(mixed) > 0.5  # the time seen goes along x1 as along x0


def test_uncensored_data_give_ordinary_slices():
    X, y = drawn(0)
    y["event"] = True
    for method in (SlicedInverseRegression(2), DirectionalRegression(2)):
        plain = method.fit(X, y["time"]).components_
        np.testing.assert_allclose(method.fit(X, y).components_, plain)


def test_names_of_fields_and_unlabelled_rows():
    X, y = drawn(0)
    other = survival(y["event"], y["time"], names=("Status", "Survival_in_days"))
    other["Survival_in_days"][::3] = np.nan
    part = np.isfinite(other["Survival_in_days"])
    semi = SemiSlicedInverseRegression(2, alpha=0).fit(X, other)
    expected = SlicedInverseRegression(2).fit(X[part], y[part]).components_
    np.testing.assert_allclose(semi.components_, expected)


def test_reports_and_cross_validation_take_it():
    X, y = drawn(0)
    sir = SlicedInverseRegression(2, ridge=0).fit(X, y)
    assert coordinate_test(X, y, [0]).p_value < 1e-6
    assert coordinate_test(X, y, [3]).p_value > 0.01
    low = bootstrap_directions(sir, X, y, n_resamples=20, random_state=0).low
    assert low.shape == (2, 5)
    assert (cross_val_score(sir, X, y, scoring=spread, cv=3) > 0.5).all()


def spread(sir, X, y):
    return sir.transform(X[y["event"]])[:, 0].std()


NINE = survival([True] * 9, np.arange(9.0))


@pytest.mark.parametrize(
    ("learner", "y", "words"),
    [
        (ActiveSubspace, NINE, "censored responses are not supported"),
        (SparseSlicedInverseRegression, NINE, "censored responses are not supported"),
        (SlicedInverseRegression, survival([True] * 9, np.full(9, np.inf)), "must hold finite"),
        (SlicedInverseRegression, np.zeros(9, dtype="f8,f8"), r"boolean field \(event\)"),
        (SlicedInverseRegression, np.zeros(9, dtype=[("a", bool)]), "must be 1d with a boolean"),
    ],
)
def test_invalid_censored_response_raises(learner, y, words):
    with pytest.raises(ValueError, match=words):
        learner().fit(np.random.default_rng(0).normal(size=(9, 2)), y)


def test_single_censored_row_is_own_slice():
    X, y = drawn(0)
    y["event"] = np.arange(300) > 0
    assert SlicedInverseRegression(1).fit(X, y).slice_sizes_[-1] == 1
