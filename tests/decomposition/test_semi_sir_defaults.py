"""What SemiSlicedInverseRegression chooses by itself: ridge, alpha, dimension, and what it says."""

import warnings

import numpy as np
import pytest
from drawn import linear_data
from levels import assert_level, sets
from scipy.stats import rankdata
from sklearn.datasets import load_diabetes, load_digits, load_wine
from sklearn.linear_model import RidgeCV
from sklearn.preprocessing import StandardScaler

from skbo_silbo import DirectionalRegression, SemiSlicedInverseRegression
from skbo_silbo._numerics.graphs import neighbor_graph
from skbo_silbo.decomposition.selection._alpha import joined_at_random

NOTHING = pytest.mark.filterwarnings("ignore:No direction was found")


GRID = 10.0 ** np.arange(-6, 4.25, 0.5)  # of ridges


# -- ridge ---------------------------------------------------------------------------------------


@sets(6, 20)
def test_ridge_is_near_that_of_leave_one_out(n_sets):
    """scikit-learn's RidgeCV on rank(y), which is exact; half a decade is a step of the grid."""
    ratios = []
    for seed in range(n_sets):
        X, y, _ = linear_data(seed, 40, 20)
        Z = StandardScaler().fit_transform(X)
        exact = RidgeCV(40 * GRID).fit(Z, rankdata(y)).alpha_ / 40
        ratios.append(SemiSlicedInverseRegression(1).fit(X, y).ridge_ / exact)
    assert abs(np.median(np.log10(ratios))) <= 0.5


@pytest.mark.slow
def test_large_data_choose_defaults_on_subset():
    X, y, _ = linear_data(0, 700, 600)
    sir = SemiSlicedInverseRegression(1).fit(X, y)
    exact = RidgeCV(700 * GRID).fit(StandardScaler().fit_transform(X), rankdata(y)).alpha_ / 700
    assert abs(np.log10(sir.ridge_ / exact)) <= 1.0


# -- units ---------------------------------------------------------------------------------------


def test_scale_false_uses_X_unscaled():
    X, y, _ = linear_data(1, 30, 6)
    X = X * np.array([1, 10, 1, 0.1, 1, 1])
    sir = SemiSlicedInverseRegression(1, ridge=0.5, scale=False).fit(X, y)
    C = X - X.mean(axis=0)
    T = C.T @ C + 0.5 * np.trace(C.T @ C) / 6 * np.eye(6)
    np.testing.assert_allclose(sir.components_ @ T @ sir.components_.T, [[30.0]])
    sir = SemiSlicedInverseRegression(1, ridge=0.5).fit(X, y)
    T = C.T @ C + 0.5 * 30 * np.diag(C.var(axis=0))
    np.testing.assert_allclose(sir.components_ @ T @ sir.components_.T, [[30.0]])


# -- alpha ---------------------------------------------------------------------------------------


def waves(seed, n_labeled=20, n=520):
    """`examples/reduce/plot_unlabeled_rows.py`'s favourable case."""
    rng = np.random.default_rng(seed)
    place = rng.uniform(size=(n, 2))
    frequency, phase = rng.normal(size=(2, 50)), rng.uniform(0, 2 * np.pi, size=50)
    X = np.cos(2 * np.pi * place @ frequency + phase) + 0.1 * rng.normal(size=(n, 50))
    return X[:n_labeled], place[:n_labeled, 0], X[n_labeled:]


@sets(4, 8)
def test_alpha_finds_that_unlabelled_rows_help(n_sets):
    chosen = []
    for seed in range(n_sets):
        X, y, extra = waves(seed)
        sir = SemiSlicedInverseRegression(1, n_slices=5).fit(X, y, extra)
        chosen.append(sir.alpha_ > 0)
        if sir.alpha_:
            assert "increased the explained" in sir.alpha_scores_["verdict"]
    assert np.mean(chosen) >= 0.75


@sets(4, 12)
def test_alpha_is_zero_where_unlabelled_rows_carry_nothing(n_sets):
    """In two of three sets: of 4 sets that is coarse, of the 12 behind ``statistical`` it is 8."""
    chosen = []
    for seed in range(n_sets):
        X, y, _ = linear_data(seed, 40, 10, n_more=100)
        sir = SemiSlicedInverseRegression(1).fit(X[:40], y[:40], X[40:])
        chosen.append(sir.alpha_)
        if sir.alpha_ == 0:
            assert "did not help" in sir.alpha_scores_["verdict"]
            plain = SemiSlicedInverseRegression(1, alpha=0).fit(X[:40], y[:40])
            np.testing.assert_allclose(sir.components_, plain.components_, rtol=1e-12)
    assert chosen.count(0.0) >= 2 * n_sets // 3


@pytest.mark.parametrize("repeat", range(8))
def test_rounding_error_does_not_choose_alpha(repeat):
    """With one feature every alpha gives the same scores, up to their scale."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 1)), rng.normal(size=200)
    y[:60] += X[:60, 0]
    y[60:] = np.nan
    X *= 1 + 2e-16 * np.random.default_rng(repeat).choice([-1, 0, 1], size=X.shape)
    assert SemiSlicedInverseRegression(1).fit(X, y).alpha_ == 0


def test_what_is_said_of_alpha():
    X, y, extra = waves(0)
    sir = SemiSlicedInverseRegression(1, n_slices=5).fit(X, y, extra)
    scores = sir.alpha_scores_
    assert scores["alpha"][0] == 0 < min(np.diff(scores["alpha"]))
    assert scores["gain"][0] == scores["standard_error"][0] == 0
    np.testing.assert_allclose(scores["gain"], scores["error"][0] - scores["error"])
    best = scores["alpha"].tolist().index(sir.alpha_)
    assert best == 0 or scores["gain"][best] > scores["standard_error"][best]
    assert not hasattr(sir.fit(X, y), "alpha_scores_")
    assert sir.alpha_ == 0.0
    assert sir.set_params(alpha=2.0).fit(X, y, extra).alpha_ == 2.0


# -- dimension -----------------------------------------------------------------------------------


@NOTHING
@pytest.mark.parametrize("parameters", [{}, {"ridge": 0.1}, {"alpha": 1.0}])
@sets(15, 100)
def test_permutation_tests_hold_their_level(parameters, n_sets):
    rejected = 0
    for seed in range(n_sets):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(70, 12)), rng.normal(size=70)
        y[40:] = np.nan
        sir = SemiSlicedInverseRegression(**{"alpha": 0, **parameters}).fit(X, y)
        rejected += sir.n_components_ > 0
    assert_level(rejected, n_sets)


@pytest.mark.parametrize("method", [SemiSlicedInverseRegression, DirectionalRegression])
def test_none_is_an_answer(method):
    learner = method()
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(200, 4)), rng.normal(size=200)
    with pytest.warns(UserWarning, match="No direction was found") as caught:
        learner.fit(X, y)
    assert len(caught) == 1
    assert learner.n_components_ == 0
    assert learner.transform(X).shape == (200, 1)


def test_zero_spectrum_gives_one_direction():
    """Found by the fuzz of transformers: slices whose means are equal to the last bit."""
    X = np.repeat([[0.0], [-1.0], [1.0]], 6, axis=0)
    y = np.tile([0.0, 1.0], 9)
    learner = SemiSlicedInverseRegression("criterion", alpha="auto")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        learner.fit(X, y, X_unlabeled=X[:4] + 0.5)
    assert learner.n_components_ == 1
    assert np.isfinite(learner.components_).all()


# -- linearity -----------------------------------------------------------------------------------


def curved(seed, n=300):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    X[:, 1] = X[:, 0] ** 2 + 0.5 * rng.normal(size=n)
    return X, X[:, 0] + 0.2 * rng.normal(size=n)


def test_a_feature_that_bends_is_named():
    X, y = curved(0)
    with pytest.warns(UserWarning, match=r"linearity.*1"):
        sir = SemiSlicedInverseRegression().fit(X, y)
    assert sir.n_components_ > 1  # the direction that is not there
    assert np.argmax(sir.curvature_) == 1
    assert sir.curvature_[1] > 0.25


def test_curvature_needs_three_rows_a_feature():
    X, y, _ = linear_data(0, 40, 20)
    assert np.isnan(SemiSlicedInverseRegression().fit(X, y).curvature_).all()


# -- words ---------------------------------------------------------------------------------------


def test_real_data_give_no_false_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert SemiSlicedInverseRegression().fit(*load_diabetes(return_X_y=True)).n_components_ == 1
    for load, n in ((load_wine, 2), (load_digits, 5)):  # they bend within classes too
        X, y = load(return_X_y=True)
        with pytest.warns(UserWarning, match=r"classifier.*want|curved"):
            assert SemiSlicedInverseRegression().fit(X[:300], y[:300]).n_components_ >= n


@pytest.mark.parametrize("spread", [1e-3, 3e-4, 1e-4])
def test_alpha_of_rows_that_lie_close_together(spread):
    """Where rows held out are fitted exactly, rounding takes their leverage past 1."""
    for seed in range(2):
        rng = np.random.default_rng(seed)
        X = rng.uniform(-1, 1, (100, 80))
        X[20:60] = X[0] + spread * X[20:60]
        y = X[:60, 0] + spread * rng.normal(size=60)
        sir = SemiSlicedInverseRegression(1, ridge=0.0).fit(X[:60], y, X[60:])
        assert np.isfinite(sir.alpha_scores_["error"]).all()


# -- samples that lie apart ----------------------------------------------------------------------


def test_unlabelled_samples_apart_warn():
    X, y, _ = linear_data(3, 160, 6)
    semi = SemiSlicedInverseRegression(1)
    with pytest.warns(UserWarning, match="lie apart from the labelled ones: 0 edges"):
        semi.fit(X[:40], y[:40], X[40:] + 20)
    for seed in range(10):  # warnings are errors
        order = np.random.default_rng(seed).permutation(160)
        semi.fit(X[order[:40]], y[order[:40]], X[order[40:]])
    semi.set_params(alpha=0).fit(X[:40], y[:40], X[40:] + 20)


def test_joined_edges_match_simulation():
    rng = np.random.default_rng(0)
    S = neighbor_graph(rng.normal(size=(30, 2)), 3)
    edges, joined = S.toarray() != 0, []
    for _ in range(4000):
        order = rng.permutation(30)
        joined.append(edges[np.ix_(order[:8], order[8:])].sum())
    mean, deviation = joined_at_random(S.sum(axis=1), 8)
    assert np.mean(joined) == pytest.approx(mean, abs=4 * deviation / np.sqrt(4000))
    assert np.std(joined) == pytest.approx(deviation, rel=0.05)
