"""Sample weights of the sparse, the kernel and the gradient learners, and of rows in chunks."""

import warnings

import numpy as np
import pytest
from derivatives import assert_gradient
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import linalg
from scipy.stats import multivariate_normal
from sklearn.linear_model import Lasso, Ridge
from sklearn.model_selection import KFold

from skbo_silbo import (
    MAVE,
    ActiveSubspace,
    KernelSlicedInverseRegression,
    OuterProductGradients,
    SemiSlicedInverseRegression,
    SparseSlicedInverseRegression,
)
from skbo_silbo._numerics._gaussian_process import Observations, log_marginal_likelihood
from skbo_silbo._numerics._leave_one_out import leave_one_out_errors
from skbo_silbo._numerics._local_linear import local_slopes, mave_step
from skbo_silbo._numerics._matern import matern52, scaled_squared_distances
from skbo_silbo.decomposition import slice_edges
from skbo_silbo.decomposition.rows._weights import copies

MANY = settings(max_examples=12)
LEARNERS = [
    SparseSlicedInverseRegression(2, penalty=0.02),
    SparseSlicedInverseRegression(),
    KernelSlicedInverseRegression(2, gamma=0.3),
    KernelSlicedInverseRegression(kernel="poly", ridge=0.1),
    MAVE(1),
    OuterProductGradients(),
]


def make_data(seed, n=60, d=4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * np.geomspace(0.5, 5, d) + rng.normal(size=d)
    score = (X[:, 0] - X[:, 0].mean()) / X[:, 0].std()
    y = score + score**2 + 0.3 * rng.normal(size=n)
    return X, y, rng.integers(0, 4, size=n), rng.uniform(0.2, 2, size=n)


def assert_same_scores(one, other, X, rtol=1e-5):
    expected = other.transform(X)
    np.testing.assert_allclose(one.transform(X), expected, atol=rtol * np.abs(expected).max())


# -- counts are rows -----------------------------------------------------------------------------


@MANY
@given(seed=st.integers(0, 10**6), which=st.integers(0, len(LEARNERS) - 1))
def test_counts_are_repeated_rows(seed, which):
    X, y, counts, _ = make_data(seed)
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", UserWarning
        )  # the sparse form may find nothing, and says so
        weighted = LEARNERS[which].fit(X, y, sample_weight=counts)
        scores, eigenvalues = weighted.transform(X), weighted.eigenvalues_
        repeated = LEARNERS[which].fit(X.repeat(counts, 0), y.repeat(counts))
    expected = repeated.transform(X)
    np.testing.assert_allclose(scores, expected, atol=1e-4 * np.abs(expected).max())
    np.testing.assert_allclose(eigenvalues, repeated.eigenvalues_, atol=1e-6 * eigenvalues[0])


def test_counts_are_repeated_rows_for_inverse_and_ridge_of_a_kernel():
    X, y, counts, _ = make_data(1)
    kernel = KernelSlicedInverseRegression(2, fit_inverse_transform=True)
    weighted = kernel.fit(X, y, sample_weight=counts)
    Z, ridge = weighted.transform(X), weighted.ridge_
    back = weighted.inverse_transform(Z)
    repeated = kernel.fit(X.repeat(counts, 0), y.repeat(counts))
    assert ridge == pytest.approx(repeated.ridge_)
    np.testing.assert_allclose(back, repeated.inverse_transform(Z), atol=1e-4)


def test_counts_are_repeated_rows_for_a_gaussian_process():
    X, y, counts, _ = make_data(3, n=30, d=3)
    counts = np.minimum(counts, 2)
    weighted = ActiveSubspace(1, random_state=0).fit(X, y, sample_weight=counts)
    repeated = ActiveSubspace(1, random_state=0).fit(X.repeat(counts, 0), y.repeat(counts))
    cosine = abs(float(weighted.components_[0] @ repeated.components_[0]))
    assert cosine == pytest.approx(1, abs=1e-4)
    assert weighted.log_marginal_likelihood_ == pytest.approx(
        repeated.log_marginal_likelihood_, abs=0.05
    )
    np.testing.assert_allclose(weighted.mean_, repeated.mean_)


def test_rows_searched_are_those_of_repeated_rows():
    X, y, known = np.arange(50.0)[:, None], np.arange(50.0) ** 2, np.arange(50.0) / 7
    counts = np.random.default_rng(1).integers(1, 9, size=50)
    some = Observations(X, y, known, counts).spread(40)
    repeated = Observations(*(a.repeat(counts, 0) for a in (X, y, known))).spread(40)
    for name in ("X", "y", "known"):
        rows = getattr(some, name).repeat(some.copies.astype(int), 0)
        np.testing.assert_array_equal(rows, getattr(repeated, name))
    assert some.n_rows == repeated.n_rows == 40


# -- closed forms --------------------------------------------------------------------------------


def test_the_likelihood_of_copies_is_that_of_all_rows():
    rng = np.random.default_rng(0)
    X, y, counts = rng.normal(size=(9, 2)), rng.normal(size=9), rng.integers(1, 5, size=9)
    weights, known = np.array([0.5, 0.1]), rng.uniform(0, 0.3, size=9)
    rows, values, noise = X.repeat(counts, 0), y.repeat(counts), known.repeat(counts) + 0.2
    K = 1.7 * matern52(scaled_squared_distances(rows, rows, weights))[0] + np.diag(noise)
    expected = multivariate_normal(np.zeros(len(values)), K).logpdf(values)
    value, _ = log_marginal_likelihood(X, y, weights, 1.7, 0.2, known, counts)
    assert value == pytest.approx(expected)
    gp, of_all = (
        Observations(*data).condition(np.r_[np.log(1.7), -0.5 * np.log(weights), np.log(0.2)])
        for data in ((X, y, known, counts), (rows, values, known.repeat(counts)))
    )
    new = rng.normal(size=(4, 2))
    np.testing.assert_allclose(gp.predict(new), of_all.predict(new), rtol=1e-7)


def test_the_gradient_of_the_likelihood_of_copies():
    rng = np.random.default_rng(1)
    X, y, some = rng.normal(size=(15, 2)), rng.normal(size=15), rng.uniform(0.3, 3, size=15)
    known = rng.uniform(0, 0.3, size=15)

    def value(theta):
        hyperparameters = np.exp(theta[:2]), np.exp(theta[2]), np.exp(theta[3])
        return log_marginal_likelihood(X, y, *hyperparameters, known, some)

    theta = np.array([-1.0, 0.3, 0.4, -1.5])
    assert_gradient(value(theta)[1], lambda t: value(t)[0], theta, step=0.1)


def test_leave_one_out_leaves_out_a_weighted_row():
    rng = np.random.default_rng(2)
    X, y, w = rng.normal(size=(20, 3)) + 1, rng.normal(size=20), rng.uniform(0.3, 3, size=20)
    errors = np.empty(20)
    for i in range(20):
        rest = np.where(np.arange(20) == i, 0.0, w)
        errors[i] = (y[i] - Ridge(2.0).fit(X, y, rest).predict(X[i : i + 1])[0]) ** 2
    root = np.sqrt(w)[:, None]
    centred, targets = X - np.average(X, axis=0, weights=w), (y - np.average(y, weights=w))[:, None]
    left, singular, _ = linalg.svd(root * centred, full_matrices=False)
    ridges = np.array([2.0])
    (error,) = leave_one_out_errors(
        left, singular**2, root * targets, ridges, intercept=True, weights=w
    )
    assert error == pytest.approx(np.average(errors, weights=w))


def test_weighted_slopes_are_those_of_weighted_least_squares():
    X, y, _, weights = make_data(0, d=2)
    slopes = local_slopes(X, y[:, None], X, 2.0, 1e-12, row_weights=weights)[:, :, 0]
    design = np.column_stack([np.ones(len(X)), X])
    for j in (0, 31):
        w = weights * np.exp(-np.sum((X - X[j]) ** 2, axis=1) / 8)
        expected = np.linalg.lstsq(design * np.sqrt(w)[:, None], y * np.sqrt(w), rcond=None)[0]
        np.testing.assert_allclose(slopes[j], expected[1:], rtol=1e-6)


def test_a_step_of_mave_counts_rows_as_often_as_they_weigh():
    X, y, counts, _ = make_data(4)
    B = np.linalg.qr(np.random.default_rng(0).normal(size=(4, 2)))[0]
    weighted = mave_step(X, y[:, None], B, 3.0, 1e-3, row_weights=counts.astype(float))
    repeated = mave_step(X.repeat(counts, 0), y.repeat(counts)[:, None], B, 3.0, 1e-3)
    np.testing.assert_allclose(weighted @ weighted.T, repeated @ repeated.T, atol=1e-8)


def test_it_is_the_weighted_lasso_of_the_artificial_response():
    X, y, _, weights = make_data(5, n=80)
    sparse = SparseSlicedInverseRegression(1, n_slices=[0.5], penalty=0.1)
    sparse.fit(X, y, sample_weight=weights)
    Z = X - np.average(X, axis=0, weights=weights)
    Z /= np.sqrt(np.average(Z**2, axis=0, weights=weights))
    response = np.where(y >= 0.5, 1.0, 0.0)
    response -= np.average(response, weights=weights)
    response /= np.sqrt(np.average(response**2, weights=weights))
    expected = Lasso(0.1, fit_intercept=False).fit(Z, response, sample_weight=weights).coef_
    scores = Z @ expected
    expected /= np.sqrt(np.average(scores**2, weights=weights))
    found = sparse.transform(X)[:, 0]
    sign = np.sign(found @ scores)
    np.testing.assert_allclose(found, sign * Z @ expected, atol=1e-3)


# -- other weights are relative ------------------------------------------------------------------


@MANY
@given(
    seed=st.integers(0, 10**6),
    scale=st.sampled_from([1e-9, 0.37, 1.7e12]),
    which=st.sampled_from([0, 2, 4, 5]),
)
def test_the_scale_of_relative_weights_is_irrelevant(seed, scale, which):
    X, y, _, weights = make_data(seed)
    scores = LEARNERS[which].fit(X, y, sample_weight=weights).transform(X)
    other = LEARNERS[which].fit(X, y, sample_weight=scale * weights).transform(X)
    np.testing.assert_allclose(other, scores, atol=1e-4 * np.abs(scores).max())


@pytest.mark.parametrize("learner", [*LEARNERS, ActiveSubspace(1, random_state=0)])
@pytest.mark.filterwarnings("ignore:No direction was found")
def test_weights_that_are_all_the_same_are_none(learner):
    X, y, _, _ = make_data(0, n=40)
    scores = learner.fit(X, y).transform(X)
    weighted = learner.fit(X, y, sample_weight=np.full(len(y), 0.3)).transform(X)
    np.testing.assert_allclose(weighted, scores, atol=1e-3 * np.abs(scores).max())


def test_weights_undo_a_biased_sample_of_a_bent_response():
    """The average of squared slopes speaks of the rows it is taken over."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 2))
    y = np.where(X[:, 0] > 0, X[:, 0], 0) + np.where(X[:, 0] < 0, 0.5 * X[:, 1], 0)
    share = np.where(X[:, 0] > 0, 0.9, 0.15)
    taken = rng.uniform(size=600) < share
    whole, biased = (
        OuterProductGradients(2).fit(X[rows], y[rows]).eigenvalues_ for rows in (slice(None), taken)
    )
    mended = OuterProductGradients(2)
    mended.fit(X[taken], y[taken], sample_weight=1 / share[taken])
    gap = abs(mended.eigenvalues_[0] - whole[0])
    assert gap < 0.5 * abs(biased[0] - whole[0])


# -- copies and folds ----------------------------------------------------------------------------


def test_copies_are_sets_in_the_order_in_which_they_come():
    X = np.array([[3.0, 1.0], [0.0, 2.0], [3.0, 1.0], [3.0, 1.0], [-1.0, 0.0]])
    firsts, sets = copies(X, np.array(["b", "a", "b", "c", "a"]))
    assert firsts.tolist() == [0, 1, 3, 4]
    assert sets.tolist() == [0, 1, 0, 2, 3]


def test_the_sign_of_zero_tells_no_copies_apart():
    firsts, sets = copies(np.array([[0.0], [-0.0], [1.0]]), np.array([[2.0, 0.0]] * 3))
    assert (firsts.tolist(), sets.tolist()) == ([0, 2], [0, 0, 1])


def test_splits_are_of_the_rows_given():
    X, y, counts, _ = make_data(6, n=80)
    y[::7] = np.nan
    kept = ~np.isnan(y) & (counts > 0)
    sparse = SparseSlicedInverseRegression(1, cv=KFold(4)).fit(X, y, sample_weight=counts)
    place = np.cumsum(kept) - 1
    splits = [tuple(place[side[kept[side]]] for side in split) for split in KFold(4).split(X)]
    alone = SparseSlicedInverseRegression(1, cv=splits)
    alone.fit(X[kept], y[kept], sample_weight=counts[kept])
    np.testing.assert_allclose(sparse.components_, alone.components_)
    np.testing.assert_array_equal(sparse.penalties_, alone.penalties_)


# -- chunks --------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["counts", "relative"])
def test_weighted_chunks_agree_with_fit(kind):
    X, y, counts, relative = make_data(7, n=157)
    weights = counts if kind == "counts" else relative
    sir = SemiSlicedInverseRegression(2).fit(X, y, sample_weight=weights)
    edges = slice_edges(y, 10, sample_weight=weights)
    chunked = SemiSlicedInverseRegression(2, n_slices=edges)
    for rows in np.array_split(np.arange(157), 8):
        chunked.partial_fit(X[rows], y[rows], sample_weight=weights[rows])
    np.testing.assert_allclose(chunked.components_, sir.components_, rtol=1e-7)
    np.testing.assert_allclose(chunked.eigenvalues_, sir.eigenvalues_, rtol=1e-7)
    for name in ("statistic", "p_value"):
        np.testing.assert_allclose(
            chunked.dimension_tests_[name], sir.dimension_tests_[name], rtol=1e-6
        )


def test_whole_weights_in_one_chunk_and_others_in_the_next_are_relative():
    X, y, counts, relative = make_data(8, n=160)
    weights = np.r_[counts[:80] + 1, relative[80:]]
    edges = slice_edges(y, 6, sample_weight=weights)
    sir = SemiSlicedInverseRegression(1, n_slices=edges).fit(X, y, sample_weight=weights)
    chunked = SemiSlicedInverseRegression(1, n_slices=edges)
    for rows in (slice(80), slice(80, 160)):
        chunked.partial_fit(X[rows], y[rows], sample_weight=weights[rows])
    statistic = chunked.dimension_tests_["statistic"]
    np.testing.assert_allclose(statistic, sir.dimension_tests_["statistic"], rtol=1e-6)


def test_a_bad_weight_leaves_the_moments_as_they_were():
    X, y, *_ = make_data(9)
    sir = SemiSlicedInverseRegression(1, n_slices=[0.5]).partial_fit(X, y)
    before = sir.components_
    with pytest.raises(ValueError, match="sample_weight must be at least 0"):
        sir.partial_fit(X, y, sample_weight=-np.ones(len(y)))
    np.testing.assert_array_equal(sir.components_, before)


@pytest.mark.parametrize("kind", ["counts", "relative"])
def test_weighted_blocks_agree_with_fit(kind):
    dask_array = pytest.importorskip("dask.array")
    X, y, counts, relative = make_data(10, n=150)
    y[::9] = np.nan
    weights = counts if kind == "counts" else relative
    whole = SemiSlicedInverseRegression(2, alpha=0).fit(X, y, sample_weight=weights)
    blocks, given_weights = dask_array.from_array(X, chunks=(40, 4)), weights.copy()
    streamed = SemiSlicedInverseRegression(2, alpha=0).fit(blocks, y, sample_weight=weights)
    np.testing.assert_allclose(streamed.components_, whole.components_, rtol=1e-7)
    np.testing.assert_array_equal(weights, given_weights)
    np.testing.assert_allclose(
        streamed.dimension_tests_["statistic"], whole.dimension_tests_["statistic"], rtol=1e-6
    )


# -- where they are refused ----------------------------------------------------------------------


def test_rows_without_a_label_have_no_say_where_there_is_no_graph():
    X, y, counts, _ = make_data(11)
    y[:5] = np.nan
    without = KernelSlicedInverseRegression(1, alpha=0).fit(X, y, sample_weight=counts)
    alone = KernelSlicedInverseRegression(1, alpha=0)
    alone.fit(X[5:], y[5:], sample_weight=counts[5:])
    assert_same_scores(without, alone, X)


@pytest.mark.parametrize("learner", [*LEARNERS[::2], ActiveSubspace(1)])
@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.ones(7), r"sample_weight must have shape \(60,\)"),
        (-np.ones(60), "sample_weight must be at least 0"),
        (np.zeros(60), "sample_weight must be positive for some row"),
    ],
)
def test_bad_weights_are_refused(learner, weights, message):
    X, y, *_ = make_data(0)
    with pytest.raises(ValueError, match=message):
        learner.fit(X, y, sample_weight=weights)
