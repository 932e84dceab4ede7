import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import linalg
from sklearn import config_context
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import Pipeline, make_pipeline

from skbo_silbo import (
    DirectionalRegression,
    PrincipalHessianDirections,
    SemiSlicedInverseRegression,
    SlicedAverageVarianceEstimation,
)
from skbo_silbo.decomposition import slice_response
from skbo_silbo.decomposition.rows._weights import rows_by_weight

pytestmark = pytest.mark.filterwarnings(
    "ignore:No direction was found", "ignore:Little was found", "ignore:The linearity condition"
)

SECOND_MOMENTS = [
    SlicedAverageVarianceEstimation(1, n_slices=4),
    DirectionalRegression(1, n_slices=4),
    PrincipalHessianDirections(1),
]
ALL = [SemiSlicedInverseRegression(1), *SECOND_MOMENTS]


def make_data(seed, n=60, d=4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * rng.lognormal(size=d) + rng.normal(size=d)
    score = (X[:, 0] - X[:, 0].mean()) / X[:, 0].std()
    y = score + score**2 + 0.3 * rng.normal(size=n)
    return X, y, rng.integers(0, 4, size=n)


def assert_same_fit(one, other):
    np.testing.assert_allclose(one.mean_, other.mean_, atol=1e-10)
    known = min(len(one.eigenvalues_), len(other.eigenvalues_))  # solvers may differ
    np.testing.assert_allclose(one.eigenvalues_[:known], other.eigenvalues_[:known], atol=1e-8)
    scale = np.abs(other.components_).max()
    fall = other.eigenvalues_[0] - max(other.eigenvalues_[1:2], default=0.0)
    turned = 1e-6 + 1e-9 / max(fall, 1e-9)  # by rounding, where the next eigenvalue is near
    np.testing.assert_allclose(one.components_, other.components_, atol=turned * scale)
    for name in ("dimension_tests_", "permutation_tests_"):
        if hasattr(other, name):
            np.testing.assert_allclose(
                getattr(one, name)["statistic"], getattr(other, name)["statistic"], rtol=1e-6
            )


# -- counts are rows -----------------------------------------------------------------------------


@settings(max_examples=60)
@given(
    seed=st.integers(0, 10**6),
    d=st.sampled_from([3, 8, 70]),
    parameters=st.sampled_from(
        [
            {},
            {"ridge": 0.1, "solver": "dense"},
            {"ridge": 0.1, "solver": "dual"},
            {"n_slices": [-1.0, 0.0, 1.0]},
            {"scale": True, "solver": "randomized", "random_state": 0},
        ]
    ),
)
def test_counts_are_repeated_rows(seed, d, parameters):
    X, y, counts = make_data(seed, d=d)
    sir = SemiSlicedInverseRegression(1, **parameters)
    repeated = SemiSlicedInverseRegression(1, **parameters).fit(
        X.repeat(counts, 0), y.repeat(counts)
    )
    assert_same_fit(sir.fit(X, y, sample_weight=counts), repeated)
    assert sir.ridge_ == pytest.approx(repeated.ridge_)
    assert sir.n_slices_ == repeated.n_slices_


@settings(max_examples=20)
@given(seed=st.integers(0, 10**6), which=st.integers(0, 2))
def test_counts_are_repeated_rows_for_second_moments(seed, which):
    X, y, counts = make_data(seed)
    weighted = SECOND_MOMENTS[which].fit(X, y, counts)
    eigenvalues, components = weighted.eigenvalues_, weighted.components_
    repeated = SECOND_MOMENTS[which].fit(X.repeat(counts, 0), y.repeat(counts))
    np.testing.assert_allclose(eigenvalues, repeated.eigenvalues_, atol=1e-8)
    np.testing.assert_allclose(components, repeated.components_, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("n", [25, 60])
@pytest.mark.parametrize("learner", [SemiSlicedInverseRegression, SlicedAverageVarianceEstimation])
def test_counts_are_repeated_rows_for_the_choice_of_dimension(learner, n):
    X, y, counts = make_data(3, n=n, d=8)
    weighted = learner().fit(X, y, sample_weight=counts)
    repeated = learner().fit(X.repeat(counts, 0), y.repeat(counts))
    assert_same_fit(weighted, repeated)
    if hasattr(repeated, "permutation_tests_"):
        np.testing.assert_array_equal(
            weighted.permutation_tests_["p_value"], repeated.permutation_tests_["p_value"]
        )


@settings(max_examples=100)
@given(counts=st.lists(st.integers(1, 4), min_size=4, max_size=60), n_slices=st.integers(2, 12))
def test_slices_of_counts_are_those_of_repeated_rows(counts, n_slices):
    y = np.sin(np.arange(len(counts)))
    weighted = slice_response(y, n_slices, sample_weight=np.array(counts, dtype=float))
    repeated = slice_response(y.repeat(counts), n_slices)
    np.testing.assert_array_equal(weighted.codes.repeat(counts), repeated.codes)
    np.testing.assert_array_equal(weighted.counts, repeated.counts)


# -- other weights are relative ------------------------------------------------------------------


@settings(max_examples=20)
@given(
    seed=st.integers(0, 10**6),
    scale=st.sampled_from([1e-9, 0.37, 3.1, 1.7e12]),
    which=st.integers(0, len(ALL) - 1),
)
def test_the_scale_of_relative_weights_is_irrelevant(seed, scale, which):
    X, y, _ = make_data(seed)
    weights = np.random.default_rng(seed).uniform(0.2, 2, size=len(y))
    one = ALL[which].fit(X, y, sample_weight=weights)
    eigenvalues, components = one.eigenvalues_, one.components_
    other = ALL[which].fit(X, y, sample_weight=scale * weights)
    np.testing.assert_allclose(other.eigenvalues_, eigenvalues, atol=1e-9)
    np.testing.assert_allclose(other.components_, components, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("estimator", ALL)
@pytest.mark.parametrize("value", [1, 0.3])
def test_weights_that_are_all_the_same_are_none(estimator, value):
    X, y, _ = make_data(0)
    components = estimator.fit(X, y).components_
    weighted = estimator.fit(X, y, sample_weight=np.full(len(y), value))
    np.testing.assert_allclose(weighted.components_, components, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("scale", [1e-300, 1e-170, 1e-10])
def test_the_scale_of_relative_weights_of_chunks_is_irrelevant(scale):
    X, y, counts = make_data(0)
    weights, edges = counts + 0.5, np.quantile(y, [0.25, 0.5, 0.75])
    chunked = SemiSlicedInverseRegression(1, n_slices=edges)
    for rows in (slice(0, 25), slice(25, None)):
        chunked.partial_fit(X[rows], y[rows], sample_weight=scale * weights[rows])
    whole = SemiSlicedInverseRegression(1, n_slices=edges).fit(X, y, sample_weight=weights)
    assert_same_fit(chunked, whole)
    np.testing.assert_allclose(chunked.components_, whole.components_, atol=1e-8)
    np.testing.assert_allclose(chunked.slice_sizes_, whole.slice_sizes_)


def test_weighted_moments_are_those_of_numpy():
    X, y, _ = make_data(1, n=200)
    weights = np.random.default_rng(1).exponential(size=200)
    edges = [0.0, 1.0, 3.0]
    sir = SemiSlicedInverseRegression(2, n_slices=edges, ridge=0).fit(X, y, sample_weight=weights)
    mean = np.average(X, axis=0, weights=weights)
    codes, T = np.searchsorted(edges, y, side="right"), np.cov(X.T, aweights=weights, ddof=0)
    between = np.zeros_like(T)
    for h in range(4):
        gap = np.average(X[codes == h], axis=0, weights=weights[codes == h]) - mean
        between += weights[codes == h].sum() / weights.sum() * np.outer(gap, gap)
    eigenvalues, B = linalg.eigh(between, T)
    np.testing.assert_allclose(sir.mean_, mean)
    np.testing.assert_allclose(sir.eigenvalues_, eigenvalues[::-1][:3], atol=1e-10)
    np.testing.assert_allclose(np.abs(sir.components_), np.abs(B.T[::-1][:2]), rtol=1e-6)


def test_weights_undo_a_biased_sample():
    """Rows taken with known probabilities, weighted by their inverses, speak of the population."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6000, 2))
    X[:, 1] += 0.8 * X[:, 0] ** 2  # where the linearity condition fails, the sample's law matters
    y = X[:, 0] + 0.3 * X[:, 1]
    taken = rng.uniform(size=6000) < np.clip(0.05 + 0.4 * X[:, 0] ** 2, 0, 1)
    inverse = 1 / np.clip(0.05 + 0.4 * X[:, 0] ** 2, 0, 1)
    whole = SemiSlicedInverseRegression(1).fit(X, y).components_
    biased = SemiSlicedInverseRegression(1).fit(X[taken], y[taken]).components_
    mended = SemiSlicedInverseRegression(1).fit(X[taken], y[taken], sample_weight=inverse[taken])
    assert np.linalg.norm(mended.components_ - whole) < 0.5 * np.linalg.norm(biased - whole)


def test_chi_square_tests_hold_their_level_with_relative_weights():
    rng, rejected = np.random.default_rng(0), 0
    for _ in range(200):
        X, y = rng.normal(size=(150, 4)), rng.normal(size=150)
        sir = SemiSlicedInverseRegression(1, n_slices=5, ridge=0)
        sir.fit(X, y, sample_weight=rng.lognormal(sigma=1.0, size=150))
        rejected += sir.dimension_tests_["p_value"][0] <= 0.05
    assert rejected <= 20  # P(more) is .002 at level .05; n in place of Kish's number rejects 90


def test_rows_of_weight_zero_are_left_out_and_unlabelled_rows_need_no_weight():
    X, y, _ = make_data(0)
    weights = np.random.default_rng(0).uniform(0.2, 2, size=len(y))
    unlabelled = y.copy()
    unlabelled[:10] = np.nan
    gone = np.where(np.arange(len(y)) < 20, 0.0, weights)
    sir = SemiSlicedInverseRegression(1, alpha=0)
    expected = sir.fit(X[20:], y[20:], sample_weight=weights[20:]).components_
    np.testing.assert_allclose(sir.fit(X, y, sample_weight=gone).components_, expected)
    np.testing.assert_allclose(sir.fit(X, unlabelled, sample_weight=gone).components_, expected)


def test_rows_by_weight_are_as_many_as_the_weights_say():
    counts = np.array([3.0, 1.0, 2.0])
    assert rows_by_weight(counts, 100).tolist() == [0, 0, 0, 1, 2, 2]
    assert len(rows_by_weight(1000 * counts, 100)) == 100
    drawn = np.bincount(rows_by_weight(1000 * counts, 600), minlength=3)
    np.testing.assert_allclose(drawn, [300, 100, 200], atol=1)


# -- how weights arrive, and where they are refused -----------------------------------------------


def test_weights_travel_through_a_pipeline():
    X, y, counts = make_data(0)
    expected = SemiSlicedInverseRegression(1).fit(X.repeat(counts, 0), y.repeat(counts))
    plain = make_pipeline(SemiSlicedInverseRegression(1), LinearRegression())
    plain.fit(X, y, semislicedinverseregression__sample_weight=counts)
    np.testing.assert_allclose(plain[0].components_, expected.components_, rtol=1e-6)
    with config_context(enable_metadata_routing=True):
        sir = SemiSlicedInverseRegression(1).set_fit_request(sample_weight=True)
        regression = LinearRegression().set_fit_request(sample_weight=True)
        routed = Pipeline([("sir", sir), ("regression", regression)])
        routed.fit(X, y, sample_weight=counts)
    np.testing.assert_allclose(routed[0].components_, expected.components_, rtol=1e-6)
    repeated = LinearRegression().fit(expected.transform(X.repeat(counts, 0)), y.repeat(counts))
    np.testing.assert_allclose(routed[1].coef_, repeated.coef_)


@pytest.mark.parametrize(
    ("parameters", "unlabelled", "message"),
    [
        ({"n_local_neighbors": 5}, False, "with n_local_neighbors"),
        ({"solver": "paper"}, False, "with solver='paper'"),
        ({"n_local_neighbors": 5}, True, "with n_local_neighbors"),
    ],
)
def test_weights_that_cannot_be_honoured_are_refused(parameters, unlabelled, message):
    X, y, counts = make_data(0)
    sir = SemiSlicedInverseRegression(1, **parameters)
    rest = X[:5] if unlabelled else None
    with pytest.raises(ValueError, match=message):
        sir.fit(X, y, X_unlabeled=rest, sample_weight=counts)
    sir.fit(X, y, X_unlabeled=rest, sample_weight=np.ones(len(y)))  # no weights at all


@pytest.mark.parametrize("estimator", ALL)
@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.ones(7), r"sample_weight must have shape \(60,\)"),
        (np.ones((60, 1)), r"sample_weight must have shape \(60,\)"),
        (-np.ones(60), "sample_weight must be at least 0"),
        (np.zeros(60), "sample_weight must be positive for some row"),
        (np.full(60, np.nan), "sample_weight contains NaN"),
        (np.r_[1.0, np.zeros(59)], "at least 2 labels"),
    ],
)
def test_bad_weights_are_refused(estimator, weights, message):
    X, y, _ = make_data(0)
    with pytest.raises(ValueError, match=message):
        estimator.fit(X, y, sample_weight=weights)
