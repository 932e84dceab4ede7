"""Prediction along learnt directions: accuracy, intervals, scikit-learn's checks."""

import numpy as np
import pandas as pd
import pytest
from levels import sets
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsRegressor

from skbo_silbo import (
    MAVE,
    ActiveSubspace,
    RecursiveFeatureMachine,
    SDRRegressor,
    SemiSlicedInverseRegression,
    SlicedInverseRegression,
)

QUIET = pytest.mark.filterwarnings(
    "ignore:No direction was found", "ignore:Little was found", "ignore:The linearity condition"
)


def drawn(seed, n=150, uneven=0.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6))
    noise = 0.2 * np.exp(uneven * X[:, 0]) * rng.normal(size=n)
    return X, np.sin(X[:, 0] + X[:, 1]) + noise


@sets(2, 6)
def test_prediction_beats_all_features_with_valid_intervals(n_sets):
    better, inside, deviations = [], [], []
    for seed in range(n_sets):
        (X, y), (new, truth) = drawn(seed), drawn(1000 + seed, n=400)
        regressor = SDRRegressor(n_folds=3).fit(X, y)
        all_of_them = KNeighborsRegressor().fit(X, y).score(new, truth)
        better.append(regressor.score(new, truth) > all_of_them + 0.1)
        low, high = regressor.predict_interval(new, coverage=0.9).T
        inside.append(np.mean((low < truth) & (truth < high)))
        mean, std = regressor.predict(new, return_std=True)
        deviations.append(np.sqrt(np.mean(((truth - mean) / std) ** 2)))
    assert all(better)
    assert abs(np.mean(inside) - 0.9) < 0.04
    assert abs(np.mean(deviations) - 1) < 0.25


def test_intervals_widen_where_the_noise_grows():
    X, y = drawn(0, n=400, uneven=1.0)
    std = SDRRegressor(MAVE(1), n_folds=3).fit(X, y).predict(X, return_std=True)[1]
    assert std[X[:, 0] > 1].mean() > 1.3 * std[X[:, 0] < -1].mean()


@QUIET
def test_no_direction_predicts_mean():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(120, 4)), 5 + rng.normal(size=120)
    regressor = SDRRegressor(SlicedInverseRegression(ridge=0)).fit(X, y)
    assert regressor.reducer_.n_components_ == 0
    np.testing.assert_allclose(regressor.predict(X), y.mean(), atol=0.05)
    assert regressor.predict_interval(X[:1], 0.999).tolist() == [[-np.inf, np.inf]]


def test_units_do_not_matter_and_folds_are_seeded():
    X, y = drawn(0)
    regressor = SDRRegressor(MAVE(1), n_folds=2)
    one = regressor.fit(X, y).predict(X)
    other = regressor.fit(X * 1e3 + 7, 1e5 * y - 3).predict(X * 1e3 + 7)
    np.testing.assert_allclose(other, 1e5 * one - 3, rtol=1e-4, atol=1)
    np.testing.assert_array_equal(regressor.fit(X, y).predict(X), one)


@pytest.mark.slow
def test_any_reducer_does_and_its_parameters_are_searched():
    X, y = drawn(0, n=90)
    search = GridSearchCV(
        SDRRegressor(ActiveSubspace(1), n_folds=2),
        {"reducer__n_components": [1, 2]},
        cv=2,
    ).fit(X, y)
    assert search.best_score_ > 0.6
    assert SDRRegressor(PCA(6), n_folds=2).fit(X, y).score(X, y) > 0.5


def test_few_rows_and_names():
    X, y = drawn(0, n=16)
    frame = pd.DataFrame(X, columns=list("abcdef"))
    regressor = SDRRegressor().fit(frame, y)
    assert isinstance(regressor.reducer_, RecursiveFeatureMachine)
    assert regressor.feature_names_in_.tolist() == list("abcdef")
    assert regressor.residuals_.shape == regressor.std_ratios_.shape == (16,)
    assert np.abs(regressor.predict(100 * frame) - y.mean()).max() < 2 * np.ptp(y)


def test_bad_arguments_are_refused():
    X, y = drawn(0)
    for regressor, labels, weights, words in (
        (SDRRegressor(n_folds=1), y, None, "The 'n_folds' parameter of"),
        (SDRRegressor(PCA(2)), y, np.arange(150), "unexpected keyword argument 'sample_weight'"),
        (SDRRegressor("mave"), y, None, "The 'reducer' parameter of .* Got 'mave' instead"),
        (SDRRegressor(PCA), y, None, r"got the class PCA. Pass reducer=PCA\(\)"),
        (SDRRegressor(), np.where(np.arange(150) < 3, y, np.nan), None, "at least 4 labels"),
    ):
        with pytest.raises((ValueError, TypeError), match=words):
            regressor.fit(X, labels, sample_weight=weights)


@QUIET
@pytest.mark.filterwarnings("ignore:30 unlabelled samples were ignored")
def test_unlabelled_rows_reach_reducer():
    X, y = drawn(0, n=60)
    known = np.arange(60) % 2 == 0
    for reducer in (SemiSlicedInverseRegression(1, alpha=10.0), MAVE(1)):
        marked = np.where(known, y, np.nan)
        one = SDRRegressor(reducer, n_folds=2).fit(X, marked)
        assert one.score(X, marked) == pytest.approx(one.score(X[known], y[known]))
        with pytest.raises(ValueError, match=r"\by\b.*label"):
            one.score(X, np.full(60, np.nan))
        with pytest.raises(ValueError, match="sample_weight"):
            one.score(X, marked, sample_weight=np.ones(59))
        other = SDRRegressor(reducer, n_folds=2).fit(X[known], y[known], X_unlabeled=X[~known])
        np.testing.assert_allclose(one.predict(X), other.predict(X), rtol=1e-6)
        alone = clone(reducer).fit(X[known], y[known]).components_
        is_used = not np.allclose(one.reducer_.components_, alone)
        assert is_used == isinstance(reducer, SemiSlicedInverseRegression)


def test_default_uses_unlabelled_samples():
    rng = np.random.default_rng(0)
    place = rng.uniform(size=(330, 2))
    X = np.cos(6 * place @ rng.normal(size=(2, 40)) + rng.uniform(0, 6, size=40))
    y = place[:, 0] + 0.05 * rng.normal(size=330)
    alone = SDRRegressor(n_folds=3).fit(X[:30], y[:30])
    both = SDRRegressor(n_folds=3).fit(X[:30], y[:30], X_unlabeled=X[30:])
    importance = [regressor.reducer_.importance_ for regressor in (alone, both)]
    assert not np.allclose(*importance, rtol=1e-3)
    assert both.score(X[30:], y[30:]) > 0.8


def test_default_finds_an_even_response():
    (X, _), (new, _) = drawn(0, n=120), drawn(1, n=400)
    regressor = SDRRegressor(n_folds=2).fit(X, X[:, 0] ** 2 + 0.1 * X[:, 1])
    assert regressor.score(new, new[:, 0] ** 2 + 0.1 * new[:, 1]) > 0.7
    std = regressor.predict(np.vstack([new, 10 * new[:1]]), return_std=True)[1]
    assert std[-1] > 2 * np.median(std[:-1])


def test_reducer_without_use_for_unlabelled_samples_warns():
    X, y = drawn(0, n=60)
    y[40:] = np.nan
    with pytest.warns(UserWarning, match="20 unlabelled samples were ignored: PCA does not"):
        SDRRegressor(PCA(2), n_folds=2).fit(X, y)


def test_default_uses_linear_part_where_columns_are_dependent():
    rng = np.random.default_rng(0)
    heights, place = rng.gamma(2.0, size=(160, 4)), np.linspace(0, 1, 40)
    peaks = np.exp(-0.5 * ((place - np.array([0.2, 0.4, 0.6, 0.7])[:, None]) / 0.1) ** 2)
    X = heights * [3, 2, 2, 0.1] @ peaks + 0.01 * rng.normal(size=(160, 40))
    regressor = SDRRegressor(n_folds=3).fit(X[:60], heights[:60, 3])
    assert regressor.linear_share_ > 0.8
    assert regressor.score(X[60:], heights[60:, 3]) > 0.8


def test_default_shrinks_predictions_from_noise_to_the_mean():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 15)), rng.normal(size=80)
    assert SDRRegressor(n_folds=3).fit(X, y).predict(rng.normal(size=(50, 15))).std() < 0.4


@pytest.mark.parametrize("reducer", [None, SlicedInverseRegression(1)])
def test_scale_of_weights_is_irrelevant(reducer):
    X, y = drawn(0, n=40)
    counts = 1 + np.arange(40) % 3
    regressor = SDRRegressor(reducer, n_folds=2)
    halves = clone(regressor).fit(X, y, sample_weight=counts / 2).predict(X)
    threefold = clone(regressor).fit(X, y, sample_weight=3.0 * counts).predict(X)
    np.testing.assert_allclose(halves, threefold, rtol=1e-6 if reducer is None else 1e-7)


def test_non_numeric_y_raises():
    X, y = drawn(0, n=40)
    both = np.array(list(zip(y > 0, y, strict=True)), dtype=[("event", bool), ("time", float)])
    classes = np.where(y > 0, "a", "b")
    for other in (classes, classes.astype(object), y.astype(str), both):
        with pytest.raises(
            ValueError, match=r"y must (hold numbers here|not be a structured array)"
        ):
            SDRRegressor(MAVE(1), n_folds=2).fit(X, other)
    one, other = (
        SDRRegressor(MAVE(1), n_folds=2).fit(X, values) for values in (y > 0, 1.0 * (y > 0))
    )
    np.testing.assert_array_equal(one.predict(X), other.predict(X))


def test_a_coverage_that_is_no_share_is_refused():
    with pytest.raises(ValueError, match=r"coverage.*got 95"):
        SDRRegressor(MAVE(1), n_folds=2).fit(*drawn(0)).predict_interval(np.zeros((1, 6)), 95)


def test_too_few_held_out_rows_give_infinite_interval():
    X, y = drawn(0, n=9)
    regressor = SDRRegressor(PCA(1), n_folds=3).fit(X, y)
    assert np.isfinite(regressor.predict_interval(X, coverage=0.85)).all()
    assert np.isinf(regressor.predict_interval(X, coverage=0.95)).all()


@pytest.mark.parametrize("reducer", [None, "passthrough", RecursiveFeatureMachine(n_iter=1)])
def test_several_responses_are_predicted(reducer):
    (X, y), (new, truth) = drawn(0), drawn(1)
    both = np.column_stack([10 * y, X[:, 2] - X[:, 3]])
    regressor = SDRRegressor(reducer, n_folds=2).fit(X[:140], both[:140])
    mean, std = regressor.predict(new, return_std=True)
    interval = regressor.predict_interval(new, coverage=0.9)
    assert mean.shape == std.shape == (150, 2)
    assert interval.shape == (150, 2, 2)
    assert regressor.residuals_.shape == regressor.std_ratios_.shape == (140, 2)
    truth = np.column_stack([10 * truth, new[:, 2] - new[:, 3]])
    assert regressor.score(new, truth) > 0.5
    inside = (interval[..., 0] < truth) & (truth < interval[..., 1])
    assert (np.abs(inside.mean(axis=0) - 0.9) < 0.09).all()
    assert regressor.linear_share_[1] > regressor.linear_share_[0]


def test_response_constant_in_fold_keeps_other_errors():
    (X, y), regressor = drawn(0), SDRRegressor(SlicedInverseRegression(1))
    alone = regressor.fit(X, y).residuals_.std()
    joint = regressor.fit(X, np.column_stack([y, np.arange(150) == 3])).residuals_[:, 0].std()
    assert joint < 1.1 * alone


def test_response_is_rejected_if_constant_or_unsupported():
    X, y = drawn(0, n=40)
    for reducer, other, words in (
        (MAVE(1), X[:, 0], r"Pass a single response"),
        (None, np.ones(40), "response 1 is constant"),
    ):
        with pytest.raises(ValueError, match=words):
            SDRRegressor(reducer).fit(X, np.column_stack([y, other]))


@pytest.mark.parametrize("reducer", [None, SlicedInverseRegression(1)])
def test_large_data_are_subsampled(reducer, monkeypatch):
    sizes = {"FOLD_ROWS": 60, "MOST_ROWS": 90, "MOST_CENTRES": 50}
    for name, most in sizes.items():
        monkeypatch.setattr(f"skbo_silbo.decomposition._sdr_regressor.{name}", most)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 4))
    y = X[:, 0] + 0.1 * rng.normal(size=400)
    regressor = SDRRegressor(reducer).fit(X[:300], y[:300])
    assert regressor.residuals_.shape == regressor.std_ratios_.shape == (90,)
    assert regressor.score(X[300:], y[300:]) > 0.9
    low, high = regressor.predict_interval(X[300:], coverage=0.8).T
    assert 0.6 < np.mean((low < y[300:]) & (y[300:] < high)) < 0.95
