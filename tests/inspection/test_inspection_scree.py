"""ScreeDisplay: what is drawn is what resampling and shuffling gave."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from skbo_silbo.decomposition import (
    PrincipalHessianDirections,
    SemiSlicedInverseRegression,
    SlicedAverageVarianceEstimation,
    SlicedInverseRegression,
)
from skbo_silbo.inspection import ScreeDisplay, SubspaceDisplay

pytest.importorskip("matplotlib").use("Agg")


@pytest.fixture
def plt():
    import matplotlib.pyplot as plt

    yield plt
    plt.close("all")


def make_data(seed=0, n=300):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    return X, X[:, 0] / (0.5 + (X[:, 1] + 1.5) ** 2) + 0.2 * rng.normal(size=n)


@pytest.mark.quick
def test_two_directions_stand_out_of_chance(plt):
    X, y = make_data()
    sir = SemiSlicedInverseRegression(2).fit(X, y)
    display = ScreeDisplay.from_estimator(sir, X, y, n_resamples=40, random_state=0)
    np.testing.assert_array_equal(display.eigenvalues, sir.eigenvalues_)
    assert (display.intervals[0, :2] > display.chance[:2]).all()
    assert (display.intervals[0, 2:] < display.chance[2:]).all()
    assert (display.intervals[0] <= display.intervals[1]).all()
    fitted, dots, chance = display.ax_.get_lines()
    np.testing.assert_array_equal(fitted.get_ydata(), sir.eigenvalues_)
    low, high = display.intervals
    assert ((low <= dots.get_ydata()) & (dots.get_ydata() <= high)).all()
    np.testing.assert_array_equal(chance.get_ydata(), display.chance)
    assert display.ax_.get_xlabel() == "direction"


@pytest.mark.statistical
def test_chance_is_the_level_of_unrelated_responses(plt):
    X, _ = make_data()
    above = 0
    for seed in range(20):
        y = np.random.default_rng(seed).normal(size=300)
        sir = SemiSlicedInverseRegression(1).fit(X, y)
        display = ScreeDisplay.from_estimator(sir, X, y, n_resamples=39, random_state=seed)
        above += display.eigenvalues[0] > display.chance[0]
        plt.close(display.figure_)
    assert above <= 5  # 1 expected; 6 or more has probability 3e-4


@pytest.mark.quick
def test_other_methods_unlabelled_rows_given_axes_and_seeds(plt):
    X, y = make_data(n=120)
    save = SlicedAverageVarianceEstimation(1, n_slices=4).fit(X, y)
    _, ax = plt.subplots()
    display = ScreeDisplay.from_estimator(save, X, y, n_resamples=5, random_state=1, ax=ax)
    assert display.ax_ is ax
    again = ScreeDisplay.from_estimator(save, X, y, n_resamples=5, random_state=1)
    np.testing.assert_array_equal(display.intervals, again.intervals)
    y[80:] = np.nan
    semi = SemiSlicedInverseRegression(1, alpha=1.0).fit(X, y)
    assert len(ScreeDisplay.from_estimator(semi, X, y, n_resamples=3).eigenvalues) >= 1


@pytest.mark.quick
def test_bad_arguments_are_refused():
    X, y = make_data()
    with pytest.raises(NotFittedError):
        ScreeDisplay.from_estimator(SemiSlicedInverseRegression(), X, y)
    sir = SemiSlicedInverseRegression(1).fit(X, y)
    with pytest.raises(ValueError, match="n_resamples must be an integer >= 2: got 1"):
        ScreeDisplay.from_estimator(sir, X, y, n_resamples=1)
    with pytest.raises(ValueError, match=r"confidence_level must be a number in \(0, 1\): got 1"):
        ScreeDisplay.from_estimator(sir, X, y, confidence_level=1)


@pytest.mark.quick
def test_the_signs_of_hessian_directions_are_left_out(plt):
    X, _ = make_data(n=150)
    y = -(X[:, 0] ** 2)
    hessian = PrincipalHessianDirections().fit(X, y)
    assert hessian.eigenvalues_[0] < 0
    display = ScreeDisplay.from_estimator(hessian, X, y, n_resamples=20, random_state=0)
    np.testing.assert_array_equal(display.eigenvalues, np.abs(hessian.eigenvalues_))
    assert display.intervals[0, 0] > display.chance[0]


@pytest.mark.quick
def test_a_censored_response_is_drawn(plt):
    X, y = make_data(n=150)
    rows = np.empty(150, dtype=[("event", bool), ("time", float)])
    rows["event"], rows["time"] = np.arange(150) % 3 > 0, np.exp(y)
    sir = SlicedInverseRegression(1).fit(X, rows)
    display = ScreeDisplay.from_estimator(sir, X, rows, n_resamples=3, random_state=0)
    np.testing.assert_array_equal(display.eigenvalues, sir.eigenvalues_)
    scatter = SubspaceDisplay.from_estimator(sir, X, rows, kind="summary")
    np.testing.assert_array_equal(scatter.response, np.exp(y))
