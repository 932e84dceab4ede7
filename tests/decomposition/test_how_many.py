"""How many directions, whatever the rows come in: arrays, blocks, chunks, with weights."""

import numpy as np
import pytest
from scipy import linalg, sparse, stats

from skbo_silbo import (
    DirectionalRegression,
    SemiSlicedInverseRegression,
    SlicedAverageVarianceEstimation,
)
from skbo_silbo.decomposition import slice_edges
from skbo_silbo.decomposition.significance._permutation import KernelShuffles, MeanShuffles
from skbo_silbo.decomposition.significance._permutation import permutation_tests as run_tests
from skbo_silbo.decomposition.significance._weighted_shuffles import WeightedShuffles
from skbo_silbo.decomposition.slicing._slices import slice_response

pytestmark = pytest.mark.filterwarnings(
    "ignore:No direction was found",
    "ignore:Little was found",
    "ignore:The linearity condition",
    "ignore:The condition of",
)


def noise(seed, n=60, d=10):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)), rng.normal(size=n), rng


def assert_level(rejected, n_runs):
    assert rejected <= stats.binom.isf(1e-4, n_runs, 0.05)


@pytest.mark.parametrize(
    ("y", "tested"),
    [
        (np.repeat([0, 1, 2, 3], [40, 40, 16, 4]), "permutation_tests_"),  # a slice of 4 rows
        (np.repeat(["a", "b"], [88, 12]), "permutation_tests_"),  # one of few beside one of many
        (np.repeat([0, 1, 2, 3], [30, 30, 20, 20]), "dimension_tests_"),
        (np.arange(100), "dimension_tests_"),
    ],
)
def test_chi_square_is_no_reference_for_slices_of_few_rows(y, tested):
    X = np.random.default_rng(1).lognormal(size=(100, 5))
    sir = SemiSlicedInverseRegression(ridge=0, categorical=y.dtype.kind == "U").fit(X, y)
    assert hasattr(sir, "permutation_tests_") == (tested == "permutation_tests_")


# -- blocks --------------------------------------------------------------------------------------


@pytest.mark.parametrize("ridge", ["auto", 0.0, 0.3])
@pytest.mark.parametrize("weights", [None, "counts", "relative"])
def test_a_dask_array_is_tested_as_its_rows_are(ridge, weights):
    array = pytest.importorskip("dask.array")
    X, y, rng = noise(3, 50, 20)
    y += 2 * X[:, 0]
    w = {
        None: None,
        "counts": rng.integers(0, 3, size=50),
        "relative": rng.lognormal(sigma=0.7, size=50),
    }[weights]
    blocks = array.from_array(X, chunks=(17, 6))
    whole = SemiSlicedInverseRegression(ridge=ridge, alpha=0).fit(X, y, sample_weight=w)
    streamed = SemiSlicedInverseRegression(ridge=ridge, alpha=0).fit(blocks, y, sample_weight=w)
    assert streamed.n_components_ == whole.n_components_
    for name, column in whole.permutation_tests_.items():
        np.testing.assert_allclose(streamed.permutation_tests_[name], column, rtol=1e-6)
    np.testing.assert_allclose(streamed.curvature_, whole.curvature_, atol=1e-6)


@pytest.mark.parametrize("weights", [None, "relative"])
def test_the_rows_that_are_shuffled_do_not_depend_on_how_they_are_cut(weights):
    """Of more rows than are kept; how the statistic is of as many labels, in memory or not."""
    array = pytest.importorskip("dask.array")
    X, y, rng = noise(0, 2600, 6)
    w = None if weights is None else rng.lognormal(size=2600)
    sir = SemiSlicedInverseRegression("permutation", n_slices=slice_edges(y, 10), alpha=0)
    tests = [
        sir.fit(array.from_array(X, chunks=(700, 6)), y, sample_weight=w).permutation_tests_,
        sir.fit(array.from_array(X, chunks=(900, 3)), y, sample_weight=w).permutation_tests_,
    ]
    for start in range(0, 2600, 1000):
        part = slice(start, start + 1000)
        sir.partial_fit(X[part], y[part], sample_weight=None if w is None else w[part])
    for other in (tests[1], sir.permutation_tests_):
        for name, column in tests[0].items():
            np.testing.assert_allclose(other[name], column, rtol=1e-6)
    whole = sir.fit(X, y, sample_weight=w).permutation_tests_
    assert whole["p_value"][0] > 0.05
    assert tests[0]["p_value"][0] > 0.05


def test_a_dask_array_tells_that_a_feature_is_curved():
    array = pytest.importorskip("dask.array")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 3))
    X[:, 1] = X[:, 0] ** 2 + 0.3 * X[:, 1]
    y = X[:, 0] + 0.1 * rng.normal(size=1500)
    with pytest.warns(UserWarning, match="features are curved"):
        whole = SemiSlicedInverseRegression().fit(X, y)
    with pytest.warns(UserWarning, match="features are curved"):
        streamed = SemiSlicedInverseRegression().fit(array.from_array(X, chunks=(400, 3)), y)
    np.testing.assert_allclose(streamed.curvature_, whole.curvature_, atol=1e-8)


# -- chunks --------------------------------------------------------------------------------------


def test_chunks_of_noise_hold_their_level():
    found = []
    for seed in range(40):
        X, y, _ = noise(seed)
        sir = SemiSlicedInverseRegression().partial_fit(X[:30], y[:30])
        found.append(sir.partial_fit(X[30:], y[30:]).n_components_ > 0)
    assert_level(sum(found), 40)


def test_chunks_find_what_there_is():
    found = []
    for seed in range(10):
        X, y, _ = noise(seed)
        y += 3 * X[:, :5].sum(axis=1)
        X[:, :5] += X[:, :1]
        found.append(SemiSlicedInverseRegression().partial_fit(X, y).n_components_)
    assert found.count(1) >= 8


def test_fit_forgets_the_tests_of_chunks_and_chunks_those_of_fit():
    X, y, _ = noise(0)
    sir = SemiSlicedInverseRegression().fit(X, y).partial_fit(X, y)
    assert sir.n_components_ == 0
    assert not hasattr(sir, "curvature_")
    chunks = sir.permutation_tests_
    for name, column in sir.fit(X, y).permutation_tests_.items():
        np.testing.assert_allclose(chunks[name], column, rtol=1e-6)


# -- relative weights ----------------------------------------------------------------------------

WEIGHTS = {
    "of nothing": lambda X, y, rng: rng.lognormal(size=len(y)),
    "of y": lambda X, y, rng: np.where(y > 1, 5.0, 0.5),
    "of X": lambda X, y, rng: np.exp(X[:, 0]),
}


@pytest.mark.slow
@pytest.mark.parametrize("of", WEIGHTS)
def test_relative_weights_hold_the_level(of):
    rejected = 0
    for seed in range(60):
        X, y, rng = noise(seed)
        sir = SemiSlicedInverseRegression().fit(X, y, sample_weight=WEIGHTS[of](X, y, rng))
        rejected += sir.n_components_ > 0
    assert_level(rejected, 60)


@pytest.mark.slow
def test_relative_weights_hold_the_level_of_second_moments():
    rejected, learner = 0, SlicedAverageVarianceEstimation(n_slices=4)
    for seed in range(30):
        X, y, rng = noise(seed, 120, 4)
        learner.fit(X, y, sample_weight=rng.lognormal(sigma=0.5, size=120))
        rejected += learner.n_components_ > 0
    assert_level(rejected, 30)


@pytest.mark.parametrize(
    "learner",
    [
        SemiSlicedInverseRegression(n_slices=4, ridge=0.1),
        SlicedAverageVarianceEstimation(n_slices=4),
        DirectionalRegression(n_slices=4),
    ],
)
def test_relative_weights_find_what_there_is(learner):
    X, y, rng = noise(5, 120, 4)
    weights = rng.lognormal(sigma=0.5, size=120)
    assert learner.fit(X, X[:, 0] + 0.2 * y, sample_weight=weights).n_components_ == 1
    assert (learner.permutation_tests_["p_value"] <= 0.05).tolist() == [True, False]


def test_equal_relative_weights_are_no_weights():
    """The statistic observed is the eigenvalue; shuffles whiten anew, which changes nothing."""
    X, y, _ = noise(1, 40, 5)
    plain = SemiSlicedInverseRegression(ridge=0.0, n_slices=5)
    X, codes = X - X.mean(axis=0), np.argsort(np.argsort(y)) * 5 // 40
    from skbo_silbo.decomposition import Slices
    from skbo_silbo.decomposition.significance._slice_tests import _between

    S = np.linalg.qr(X)[0]
    slices = Slices(codes, np.full(5, 8.0), np.ones(40))
    problem = WeightedShuffles(S, np.zeros((5, 5)), slices, _between)
    observed, draw = problem.granting(0)
    assert observed == pytest.approx(plain.fit(X, y).eigenvalues_[0])
    order = np.random.RandomState(0).permutation(40)
    shuffled = plain.fit(X[order], y).eigenvalues_[0]
    assert draw(np.random.RandomState(0)) == pytest.approx(shuffled)
    tests = run_tests(problem, most=2, n_permutations=19, random_state=np.random.RandomState(0))
    assert tests["n_permutations"][0] == 19


# -- shuffles ------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [0, 2])
def test_a_shuffle_is_the_eigenvalue_of_shuffled_rows(k):
    """Plain slices and second moments, from the rows written out."""
    X, _, _ = noise(3, 60, 5)
    X = X + 0.3 * np.arange(60)[:, None] / 60
    S = np.linalg.qr(X - X.mean(axis=0))[0]
    omega = np.eye(4)[np.arange(60) * 4 // 60] / np.sqrt(15)
    S = S @ linalg.svd(omega.T @ S)[2].T

    def rows(order):
        """S2 shuffled against S1 and y, S2 less its regression on S1."""
        S2 = S[:, k:] - S[:, :k] @ (S[:, :k].T @ S[:, k:])
        return np.hstack([S[:, :k], S2[order]])

    def of_means(Z):
        return linalg.svdvals(omega.T @ Z)[k] ** 2

    observed, draw = MeanShuffles(S, sparse.csr_array(omega)).granting(k)
    assert observed == pytest.approx(of_means(rows(np.arange(60))))
    seeded, orders = np.random.RandomState(0), np.random.RandomState(0)
    drawn = [draw(seeded) for _ in range(20)]
    by_hand = []
    for _ in range(20):  # y shuffled against S2 is S2 shuffled by the inverse
        Z = rows(np.argsort(orders.permutation(60)))
        by_hand.append(of_means(Z))
    np.testing.assert_allclose(drawn, by_hand, rtol=1e-8)
    problem = KernelShuffles(S, lambda Z, total: np.diag(np.diag(total)) + total @ total)
    order = np.random.RandomState(1).permutation(60)
    total = rows(order).T @ rows(order) / 60
    expected = np.linalg.eigvalsh(np.diag(np.diag(total)) + total @ total)[-1 - k]
    assert problem.granting(k)[1](np.random.RandomState(1)) == pytest.approx(expected)


@pytest.mark.parametrize("strength", [0.0, 0.3, 0.5, 3.0])
def test_tests_that_end_early_decide_as_those_that_do_not(strength):
    """Those accepted end with ten reached; those rejected have made all."""
    for seed in range(5):
        X, y, _ = noise(seed, 60, 5)
        slices = slice_response(y + strength * X[:, 0], 5)
        S = np.linalg.qr(X - X.mean(axis=0))[0]
        problem = MeanShuffles(S, slices.membership())
        made = run_tests(problem, most=1, n_permutations=199, random_state=np.random.RandomState(0))
        observed, draw = problem.granting(0)
        seeded = np.random.RandomState(0)
        reached = sum(draw(seeded) >= observed for _ in range(199))
        assert (made["p_value"][0] > 0.05) == ((1 + reached) / 200 > 0.05)
        n = made["n_permutations"][0]
        assert made["p_value"][0] == pytest.approx((11 if n < 199 else 1 + reached) / (1 + n))


# -- as a function -------------------------------------------------------------------------------


def test_permutation_where_chi_square_is_valid():
    X, y, _ = noise(4, 200, 4)
    y = np.exp(X[:, 0]) + 0.2 * y
    shuffled, chi_square = (
        SemiSlicedInverseRegression(word).fit(X, y) for word in ("permutation", "auto")
    )
    tests = shuffled.permutation_tests_
    assert not hasattr(chi_square, "permutation_tests_")
    assert shuffled.n_components_ >= 1
    assert chi_square.n_components_ >= 1
    assert tests["p_value"][0] == 1 / (1 + tests["n_permutations"][0])
    np.testing.assert_allclose(tests["statistic"][0], chi_square.eigenvalues_[0], rtol=1e-8)


# -- slices of few rows --------------------------------------------------------------------------


@pytest.mark.parametrize("n_slices", [40, 100])
def test_as_many_slices_as_rows_show_a_clear_signal(n_slices):
    X, y, _ = noise(1, 40, 4)
    y = X[:, 0] + 0.1 * y
    sir = SemiSlicedInverseRegression(n_slices=n_slices).fit(X, y)
    assert sir.n_slices_ == 19  # of two rows; R gives the last the rest
    assert sir.n_components_ == 1
    assert hasattr(sir, "permutation_tests_")


# -- whatever the solver -------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("n", "d"), [(60, 10), (40, 60)])
def test_the_iterative_solver_is_tested_with_the_penalty_too(weighted, n, d):
    X, y, rng = noise(5, n, d)
    y += 2 * X[:, 0]
    unlabeled = rng.normal(size=(30, d))
    weights = rng.lognormal(sigma=0.5, size=n) if weighted else None
    found = {}
    for solver in ("auto", "iterative"):
        sir = SemiSlicedInverseRegression(alpha=20.0, ridge=0.3, solver=solver)
        found[solver] = sir.fit(X, y, unlabeled, weights).permutation_tests_
    for name, column in found["auto"].items():
        np.testing.assert_allclose(found["iterative"][name], column, rtol=1e-6)


def test_a_penalty_on_more_rows_and_features_than_tests_can_hold_is_refused(monkeypatch):
    from skbo_silbo.decomposition.significance import _slice_tests

    monkeypatch.setattr(_slice_tests, "DENSE_MAX_FEATURES", 9)
    X, y, rng = noise(6)
    unlabeled = rng.normal(size=(30, 10))
    sir = SemiSlicedInverseRegression(alpha=1.0, solver="iterative", ridge=0.1)
    with pytest.raises(ValueError, match=r"n_components must be a number or 'criterion' where"):
        sir.fit(X, y, unlabeled)
    sir.set_params(n_components=1).fit(X, y, unlabeled)
    sir.set_params(n_components="auto", alpha=0).fit(X, y, unlabeled)
