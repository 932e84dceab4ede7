"""bootstrap_directions: coverage, alignment, equivariance, failed resamples, weights."""

import numpy as np
import pytest
from global_generator import global_generator_unchanged
from hypothesis import given, settings
from hypothesis import strategies as st
from joblib import parallel_config
from scipy.linalg import orthogonal_procrustes
from scipy.stats import binom
from sklearn.base import BaseEstimator
from sklearn.decomposition import PCA
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline

from skbo_silbo.decomposition import (
    MAVE,
    SemiSlicedInverseRegression,
    SlicedInverseRegression,
    SparseSlicedInverseRegression,
)
from skbo_silbo.inspection import SubspaceDisplay, bootstrap_directions


def linear_problem(seed, n=200, noise=0.5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    b = np.array([1.0, -1.0, 0.5, 0.0]) / 1.5
    return X, X @ b + noise * rng.normal(size=n), b


def two_direction_problem(seed, n=300):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    return X, X[:, 0] / (0.5 + (X[:, 1] + 1.5) ** 2) + 0.05 * rng.normal(size=n)


def assert_covers(hits, level):
    """Check that each column of hits agrees with the nominal level, between .0005 tails."""
    n = len(hits)
    low, high = binom.ppf([0.0005, 0.9995], n, level)
    assert (hits.sum(axis=0) >= low).all(), (hits.mean(axis=0), low / n)
    assert (hits.sum(axis=0) <= high).all(), (hits.mean(axis=0), high / n)


# Coverage is also checked at .8, where the binomial tails bound it from above as well. The ends of
# that interval are the 4th of 39 resamples from either end: a 40th draw from the same distribution
# lies between them with probability 32/40.


@pytest.mark.statistical
def test_intervals_cover_a_known_direction():
    sir, hits95, hits80 = SemiSlicedInverseRegression(1), [], []
    for seed in range(30):
        X, y, b = linear_problem(seed)
        result = bootstrap_directions(sir, X, y, n_resamples=39, random_state=seed)
        truth = b * np.sign(result.components[0] @ b)
        hits95.append((result.low[0] <= truth) & (truth <= result.high[0]))
        low, high = np.sort(result.resampled_components[:, 0], axis=0)[[3, 35]]
        hits80.append((low <= truth) & (truth <= high))
    assert_covers(np.array(hits95), 0.95)
    assert_covers(np.array(hits80), 0.8)


def test_record_is_consistent():
    X, y = two_direction_problem(0)
    result = bootstrap_directions(
        SemiSlicedInverseRegression(2), X, y, n_resamples=40, confidence_level=0.9, random_state=0
    )
    resampled = result.resampled_components
    assert resampled.shape == (40, 2, 5)
    np.testing.assert_allclose(result.standard_errors, resampled.std(axis=0, ddof=1))
    reach = 1.6448536269514722 * result.standard_errors
    np.testing.assert_allclose(result.low, result.components - reach, rtol=1e-12)
    np.testing.assert_allclose(result.high, result.components + reach, rtol=1e-12)
    Z = (X - X.mean(0)) @ result.components.T
    for components, stability in zip(resampled, result.stability, strict=True):
        W = (X - X.mean(0)) @ components.T
        np.testing.assert_allclose(orthogonal_procrustes(W, Z)[0], np.eye(2), atol=1e-8)
        shared = np.linalg.solve(Z.T @ Z, Z.T @ W) @ np.linalg.solve(W.T @ W, W.T @ Z)
        assert stability == pytest.approx(np.trace(shared) / 2)
    assert result.n_redrawn == 0
    fitted = SemiSlicedInverseRegression(2).fit(X, y).components_
    np.testing.assert_array_equal(result.components, fitted)
    with pytest.raises(AttributeError, match="cannot assign"):
        result.low = result.high


def test_ridge_and_alpha_are_chosen_once():
    """Duplicated rows in a resample would make cross-validation choose a smaller ridge."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 5))
    y = X[:30, 0] + 0.5 * rng.normal(size=30)
    rows = {"X": X[:30], "y": y, "X_unlabeled": X[30:]}
    chosen = SemiSlicedInverseRegression(1).fit(**rows)
    assert chosen.ridge_ > 0
    options = {"n_resamples": 4, "random_state": 0}
    auto = bootstrap_directions(SemiSlicedInverseRegression(1), **rows, **options)
    given = SemiSlicedInverseRegression(1, ridge=chosen.ridge_, alpha=chosen.alpha_)
    fixed = bootstrap_directions(given, **rows, **options)
    np.testing.assert_allclose(auto.resampled_components, fixed.resampled_components, rtol=1e-9)


def test_nan_rows_are_dropped_from_supervised_fits():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = np.where(np.arange(60) < 40, X[:, 0], np.nan)
    own = {"n_resamples": 3, "random_state": 0}
    with pytest.warns(UserWarning, match="20 unlabelled samples were ignored"):
        marked = bootstrap_directions(SlicedInverseRegression(1), X, y, **own)
    labelled = bootstrap_directions(SlicedInverseRegression(1), X[:40], y[:40], **own)
    np.testing.assert_allclose(marked.standard_errors, labelled.standard_errors, atol=1e-8)


def test_few_rows_warn_and_fewer_raise():
    X, y, _ = linear_problem(0, n=12)
    sir, options = SemiSlicedInverseRegression(1), {"n_resamples": 2, "random_state": 0}
    bootstrap_directions(sir, X, y, **options)
    with pytest.warns(UserWarning, match="fewer than 3 labelled rows per feature"):
        bootstrap_directions(sir, X[:11], y[:11], **options)
    with pytest.raises(ValueError, match=r"2 labelled rows per feature .* got 7 "):
        bootstrap_directions(sir, X[:7], y[:7])
    weights = np.append(np.ones(5), np.full(7, 1e-3))  # the effective sample size must suffice
    with pytest.raises(ValueError, match=r"2 labelled rows per feature .* got 5\.\d+ labelled"):
        bootstrap_directions(sir, X, y, sample_weight=weights)


@settings(max_examples=5)
@given(st.lists(st.floats(-6, 6), min_size=5, max_size=5), st.integers(0, 100))
def test_intervals_follow_the_units_of_the_features(exponents, seed):
    X, y = two_direction_problem(seed, n=100)
    scale = 2.0 ** np.array(exponents)
    sir = SemiSlicedInverseRegression(2)
    result = bootstrap_directions(sir, X, y, n_resamples=6, random_state=0)
    scaled = bootstrap_directions(sir, X * scale + 3.0, y, n_resamples=6, random_state=0)
    turn, _ = orthogonal_procrustes(
        (X - X.mean(0)) @ result.components.T,
        (X * scale - (X * scale).mean(0)) @ scaled.components.T,
    )
    np.testing.assert_allclose(np.abs(turn), np.eye(2), atol=1e-6)  # signs may flip with units
    expected = turn.T @ result.resampled_components
    np.testing.assert_allclose(scaled.resampled_components * scale, expected, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(scaled.stability, result.stability, rtol=1e-8)
    np.testing.assert_allclose(
        (scaled.high - scaled.low) * scale, result.high - result.low, rtol=1e-6, atol=1e-8
    )


def test_same_seed_same_result_whatever_n_jobs():
    X, y = two_direction_problem(0, n=100)
    local = SemiSlicedInverseRegression(2, n_local_neighbors=6, solver="randomized")
    first = bootstrap_directions(local, X, y, n_resamples=6, random_state=7, n_jobs=1)
    with parallel_config("threading"):  # starts faster than processes
        second = bootstrap_directions(
            local, X, y, n_resamples=6, random_state=np.random.RandomState(7), n_jobs=2
        )
    np.testing.assert_array_equal(first.resampled_components, second.resampled_components)
    other = bootstrap_directions(local, X, y, n_resamples=6, random_state=8)
    assert not np.array_equal(first.resampled_components, other.resampled_components)


def test_estimator_and_global_generator_are_left_alone():
    X, y = two_direction_problem(0, n=100)
    sir = SemiSlicedInverseRegression()
    before = sir.get_params()
    with global_generator_unchanged():
        bootstrap_directions(sir, X, y, n_resamples=3, random_state=0)
    assert sir.get_params() == before
    assert not hasattr(sir, "components_")


def test_constant_resamples_are_redrawn_and_counted():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(8, 2))
    y = np.r_[np.zeros(7), 1.0]  # a third of the resamples miss the only 1
    with pytest.warns(UserWarning, match=r"fitted.*drawn") as caught:
        result = bootstrap_directions(
            SemiSlicedInverseRegression(1, ridge=0.1), X, y, n_resamples=100, random_state=0
        )
    assert len(caught) == 1
    assert result.resampled_components.shape == (100, 1, 2)
    assert np.isfinite(result.resampled_components).all()
    p = (7 / 8) ** 8  # failures before each success: geometric, mean p / (1 - p)
    sd = np.sqrt(100 * p) / (1 - p)
    assert abs(result.n_redrawn - 100 * p / (1 - p)) < 4 * sd


class FitsOnce(BaseEstimator):
    """Estimator that rejects duplicated rows, so that every resample fails."""

    def __init__(self, n_components=1):
        self.n_components = n_components

    def fit(self, X, y):
        if len(np.unique(X, axis=0)) < len(X):
            raise ValueError("repeated rows.")
        self.components_ = np.eye(1, X.shape[1])
        return self


def test_estimator_failing_every_resample_raises():
    X, y, _ = linear_problem(0)
    with pytest.raises(ValueError, match=r"\b20\b draws"):
        bootstrap_directions(FitsOnce(), X, y, n_resamples=2, random_state=0)


@pytest.mark.parametrize(
    ("name", "value"),
    [("n_resamples", 1), ("n_resamples", 2.5), ("confidence_level", 0), ("confidence_level", 95)],
)
def test_parameters_outside_their_range(name, value):
    X, y, _ = linear_problem(0)
    with pytest.raises(ValueError, match=f"{name}.*got {value}"):
        bootstrap_directions(SemiSlicedInverseRegression(1), X, y, **{name: value})


def test_estimators_without_directions():
    X, y, _ = linear_problem(0)
    with pytest.raises(TypeError, match=r"LinearRegression has none.*reducer"):
        bootstrap_directions(LinearRegression(), X, y)


def test_weight_scale_is_irrelevant():
    X, y, _ = linear_problem(0, n=60)
    sir, options = SemiSlicedInverseRegression(1), {"n_resamples": 5, "random_state": 0}
    weights = np.random.default_rng(0).lognormal(size=60)
    one = bootstrap_directions(sir, X, y, sample_weight=weights, **options)
    other = bootstrap_directions(sir, X, y, sample_weight=1e9 * weights, **options)
    np.testing.assert_allclose(one.resampled_components, other.resampled_components, rtol=1e-7)
    np.testing.assert_allclose(one.stability, other.stability, rtol=1e-7)
    plain = bootstrap_directions(sir, X, y, **options)
    same = bootstrap_directions(sir, X, y, sample_weight=np.full(60, 0.3), **options)
    np.testing.assert_allclose(same.low, plain.low, rtol=1e-9)
    assert not np.allclose(one.low, plain.low, rtol=1e-3)


def test_a_frame_names_every_entry():
    pd = pytest.importorskip("pandas")
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(100, 3)), columns=["age", "bmi", "sex"])
    y = X["age"] + 0.5 * X["bmi"] ** 3
    options = {"n_resamples": 5, "random_state": 0}
    result = bootstrap_directions(SemiSlicedInverseRegression(2), X, y, **options)
    frame = result.to_frame()
    assert frame.index.names == ["direction", "feature"]
    assert frame.loc[(1, "bmi"), "high"] == result.high[1, 1]
    assert frame.loc[(0, "age"), "standard_error"] == result.standard_errors[0, 0]
    assert "resampled_components" not in repr(result)
    bare = bootstrap_directions(SemiSlicedInverseRegression(1), X.to_numpy(), y, **options)
    assert bare.feature_names == ["x0", "x1", "x2"]


@pytest.mark.parametrize("report", [bootstrap_directions, SubspaceDisplay.from_estimator])
def test_pipeline_raises_with_remedy(report):
    model, X = make_pipeline(PCA(2), SemiSlicedInverseRegression(1)), np.eye(3)
    with pytest.raises(TypeError, match=r"must be a transformer, got a Pipeline.*model\["):
        report(model, X, X[:, 0])


def test_lasso_and_unsupported_group_raise():
    X = np.random.default_rng(0).normal(size=(60, 3))
    y, group = X[:, 0] + X[:, 1] ** 3, np.arange(60) % 2
    with pytest.raises(ValueError, match=r"bootstrap.*lasso"):
        bootstrap_directions(SparseSlicedInverseRegression(1), X, y)
    with pytest.raises(TypeError, match="unexpected keyword argument 'group'"):
        bootstrap_directions(MAVE(1), X, y, group=group)
