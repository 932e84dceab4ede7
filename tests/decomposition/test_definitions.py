"""What no public name shows, by its definition: folds, shuffles, rotations, curvature, weights."""

import numpy as np
import pytest
from drawn import linear_data, noise, numbers_of_rows, weighted_rows
from scipy import linalg, sparse
from sklearn.linear_model import LinearRegression

from skbo_silbo import PrincipalHessianDirections, SemiSlicedInverseRegression
from skbo_silbo._numerics.pencil import Pencil
from skbo_silbo.decomposition import slice_response
from skbo_silbo.decomposition.rows._weights import copies, sample_by_weight
from skbo_silbo.decomposition.selection import _alpha
from skbo_silbo.decomposition.selection._alpha import ALPHAS, _folds, _held_out_errors, _whitened
from skbo_silbo.decomposition.selection._ridge import GRID, choose_ridge, slice_targets
from skbo_silbo.decomposition.significance import _sequential_tests
from skbo_silbo.decomposition.significance._linearity import curvature
from skbo_silbo.decomposition.significance._permutation import kernel_shuffles, mean_shuffles
from skbo_silbo.decomposition.significance._permutation import permutation_tests as run_tests
from skbo_silbo.decomposition.significance._slice_tests import scores_to_shuffle
from skbo_silbo.decomposition.significance._variance_tests import dependence_p_values

pytestmark = pytest.mark.filterwarnings(
    "ignore:No direction was found",
    "ignore:Little was found",
    "ignore:The linearity condition",
    "ignore:The condition of",
)


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

    observed, draw = mean_shuffles(S, sparse.csr_array(omega))(k)
    assert observed == pytest.approx(of_means(rows(np.arange(60))))
    seeded, orders = np.random.RandomState(0), np.random.RandomState(0)
    drawn = [draw(seeded) for _ in range(20)]
    by_hand = []
    for _ in range(20):  # y shuffled against S2 is S2 shuffled by the inverse
        Z = rows(np.argsort(orders.permutation(60)))
        by_hand.append(of_means(Z))
    np.testing.assert_allclose(drawn, by_hand, rtol=1e-8)
    make_statistic = kernel_shuffles(S, lambda Z, total: np.diag(np.diag(total)) + total @ total)
    order = np.random.RandomState(1).permutation(60)
    total = rows(order).T @ rows(order) / 60
    expected = np.linalg.eigvalsh(np.diag(np.diag(total)) + total @ total)[-1 - k]
    assert make_statistic(k)[1](np.random.RandomState(1)) == pytest.approx(expected)


@pytest.mark.parametrize("p", [0.035, 0.07, 0.5])
def test_p_values_near_level_get_more_draws(p):
    """With 199 draws, one random state in five decides otherwise."""
    decisions = []
    for seed in range(20):
        made = run_tests(
            lambda k: (1.0, lambda random_state: float(random_state.random_sample() < p)),
            most=1,
            n_permutations=(199, 1990),
            random_state=seed,
        )
        decisions.append(made["p_value"][0] <= 0.05)
        assert made["n_permutations"][0] <= (1990 if p < 0.5 else 60)
    assert sum(decisions) == (20 if p < 0.05 else 0)


def test_sampled_scores_keep_spans_and_drop_rare_columns():
    X, y, rng = noise(8, 5000, 4)
    rare = np.zeros((5000, 1))
    rare[np.argsort(rng.random(5000))[:3]] = 1
    S = np.hstack([X[:, :2], rare, X[:, 2:]])
    part, slices, places = scores_to_shuffle(S, slice_response(y, 4))
    assert len(part) == slices.n_rows == 2000
    kept = [0, 1, 3, 4] if rare[places].sum() == 0 else [0, 1, 2, 3, 4]
    np.testing.assert_allclose(part.T @ part / 2000, np.eye(len(kept)), atol=1e-10)
    centred = S[places] - S[places].mean(axis=0)
    for k in (1, 2, len(kept)):
        angles = linalg.subspace_angles(part[:, :k], centred[:, kept[:k]])
        np.testing.assert_allclose(angles, 0, atol=1e-6)


@pytest.mark.parametrize(("n", "d"), [(30, 12), (30, 45)])
@pytest.mark.parametrize("categorical", [False, True])
def test_ridge_minimises_generalised_cross_validation_by_its_definition(n, d, categorical):
    X, y, _ = linear_data(0, n, d)
    X = X - X.mean(axis=0)
    slices = slice_response(y, 5)
    Y = slice_targets(slices.counts, categorical)[slices.codes]
    ones = np.ones((n, n)) / n

    def error(rho):
        hat = X @ np.linalg.solve(X.T @ X + rho * np.eye(d), X.T) + ones
        return np.sum((Y - hat @ Y) ** 2) / (1 - np.trace(hat) / n) ** 2

    candidates = n * GRID if d >= n else np.r_[0.0, n * GRID]
    chosen = choose_ridge(X, slices, categorical)
    assert np.isclose(candidates, chosen, atol=0).sum() == 1
    assert error(chosen) <= min(error(rho) for rho in candidates) * (1 + 1e-3)


def test_alpha_refuses_what_it_cannot_factor(monkeypatch):
    monkeypatch.setattr(_alpha, "MAX_ORDER", 9)
    X, y, _ = linear_data(0, 20, 10)
    with pytest.raises(ValueError, match=r"alpha must be a number .* 20 samples and 10 features"):
        SemiSlicedInverseRegression(1).fit(X[:12], y[:12], X[12:])


def test_curvature_is_what_squares_add_to_a_regression():
    rng = np.random.default_rng(3)
    X = rng.uniform(-1, 1, size=(120, 6))  # nothing to clip
    X[:, 3] = X[:, 0] * X[:, 1] + X[:, 2] ** 2 + 0.3 * X[:, 3]
    X[:, 4] = X[:, 0] ** 2 + 0.2 * X[:, 4]
    components = rng.normal(size=(4, 6))
    components[:3] = np.eye(3, 6)

    def unexplained(*columns):
        B = np.column_stack([np.ones(len(X)), *columns])
        left = X - B @ np.linalg.lstsq(B, X, rcond=None)[0]
        return np.mean(left**2, axis=0) / X.var(axis=0)

    adjusted = []
    for r in (1, 2, 3):
        Z = (X - X.mean(axis=0)) @ components[:r].T
        products = [Z[:, i] * Z[:, j] for i in range(r) for j in range(i + 1)]
        m, left = len(products), unexplained(Z, *products)
        adjusted.append(unexplained(Z) - left - m * left / (len(X) - 1 - r - m))
    shares, bent = curvature(X, components)
    np.testing.assert_allclose(shares, np.max(adjusted, axis=0), atol=1e-10)
    assert set(np.flatnonzero(bent)) == {3, 4}


def test_curvature_needs_more_rows_than_terms():
    X = np.random.default_rng(0).normal(size=(11, 3))
    assert np.isnan(curvature(X[:10], np.eye(3))[0]).all()  # 1, three scores and six products
    assert np.isnan(curvature(X[:9], np.eye(3))[0]).all()
    assert np.isfinite(curvature(X, np.eye(3))[0]).all()


def test_weighted_labels_change_scatter_rows():
    """Where T is ill-conditioned it is not formed: labelled rows and edges stand for it."""
    X, y, rest, counts, _ = weighted_rows(2)
    slices = slice_response(y, 4, sample_weight=counts)
    rows = np.concatenate([X, rest])
    penalty = sparse.csr_array(
        sparse.csgraph.laplacian(sparse.csr_array(np.eye(100, k=1) + np.eye(100, k=-1)))
    )
    pencil = Pencil(
        slices.weighted(rows),
        len(y),
        slices.membership(),
        slices.penalty_of_weighted(penalty),
        root_weights=slices.root_weights,
    )
    F = pencil._scatter_rows()
    by_hand = X.T @ (counts[:, None] * X) + rows.T @ (penalty @ rows)
    np.testing.assert_allclose(F.T @ F, by_hand)
    np.testing.assert_allclose(pencil.total(), by_hand)


@pytest.mark.parametrize("d", [8, 60])
def test_weighted_folds_by_woodbury_are_folds_by_refitting(d, monkeypatch):
    monkeypatch.setattr(_alpha, "N_FOLDS", 4)
    X, y, rest, _, w = weighted_rows(3, n=24, n_unlabeled=30, d=d)
    w = numbers_of_rows(w)
    rows = np.concatenate([X, rest])
    slices = slice_response(y, 6, sample_weight=w)
    L = sparse.csgraph.laplacian(sparse.csr_array(np.eye(54, k=1) + np.eye(54, k=-1)))
    penalty = slices.penalty_of_weighted(sparse.csr_array(L))
    pencil = Pencil(slices.weighted(rows), 24, slices.membership(), penalty)
    Y = slice_targets(slices.counts, categorical=False)[slices.codes]
    folds = np.arange(24) % 4
    for alpha, W in zip(ALPHAS, _whitened(pencil, lambda trace: 2.0), strict=True):
        errors = _held_out_errors(W, slices, Y, _folds(slices, np.arange(24)), 2)
        expected = np.empty(24)
        for fold in range(4):
            kept, out = folds != fold, folds == fold
            C, v = X[kept], w[kept]
            T = C.T @ (v[:, None] * C) + alpha * rows.T @ (L @ rows) + 2.0 * np.eye(d)
            centred, codes = C - np.average(C, axis=0, weights=v), slices.codes[kept]
            gamma = np.zeros((d, d))
            for h in np.unique(codes):
                gap = v[codes == h] @ centred[codes == h]
                gamma += np.outer(gap, gap) / v[codes == h].sum()
            B = linalg.eigh(gamma, T)[1][:, -2:]
            model = LinearRegression().fit(X[kept] @ B, Y[kept], sample_weight=v)
            expected[out] = ((Y[out] - model.predict(X[out] @ B)) ** 2).sum(axis=1)
        np.testing.assert_allclose(errors, expected, rtol=1e-5, atol=1e-8)


def test_alpha_is_chosen_on_weighted_subset(monkeypatch):
    """Rows that weigh next to nothing, however wrong their labels, choose nothing."""
    monkeypatch.setattr(_alpha, "MAX_LABELED", 100)
    X, y, rest, *_ = weighted_rows(9, n=260, n_unlabeled=40, d=3)
    wrong = np.arange(260) % 2 == 0
    y[wrong] = np.random.default_rng(0).permutation(y[wrong])
    weights = np.where(wrong, 1e-9, 1.0)
    sir = SemiSlicedInverseRegression(1, n_slices=4, ridge=0.01)
    others = np.concatenate([rest, X[wrong]])  # the same graph
    trusted = sir.fit(X[~wrong], y[~wrong], others).alpha_scores_["error"]
    weighed = sir.fit(X, y, rest, sample_weight=weights).alpha_scores_["error"]
    np.testing.assert_allclose(weighed[:3], trusted[:3], atol=0.08)  # of 50 rows, and of 100
    assert sir.fit(X, y, rest).alpha_scores_["error"][0] > trusted[0] + 0.2


def test_collinear_columns_keep_the_level():
    """Indicators of a category sum to one: along that combination there is nothing to test."""
    p_values = []
    for seed in range(100):
        rng = np.random.default_rng(seed)
        X = np.column_stack([np.eye(5)[rng.integers(5, size=200)], rng.normal(size=(200, 2))])
        p_values.append(dependence_p_values(X, rng.normal(size=200)))
    assert (np.mean(np.array(p_values) < 0.05, axis=0) <= 0.12).all()


def test_weighted_shuffle_keeps_row_counts():
    counts = np.array([3.0, 1.0, 2.0])
    assert sample_by_weight(counts, 100).tolist() == [0, 0, 0, 1, 2, 2]
    assert len(sample_by_weight(1000 * counts, 100)) == 100
    drawn = np.bincount(sample_by_weight(1000 * counts, 600), minlength=3)
    np.testing.assert_allclose(drawn, [300, 100, 200], atol=1)


def test_copies_keep_order_of_first_occurrence():
    X = np.array([[3.0, 0.0], [0.0, 2.0], [3.0, -0.0], [3.0, 0.0], [-1.0, 0.0]])  # a zero's sign
    firsts, sets = copies(X, np.array(["b", "a", "b", "c", "a"]))
    assert (firsts.tolist(), sets.tolist()) == ([0, 1, 3, 4], [0, 1, 0, 2, 3])


def test_expensive_chi_square_tests_are_skipped(monkeypatch):
    """The number is chosen by the wild bootstrap, so nothing else changes."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 8))
    y = X[:, 0] ** 2 + 0.3 * rng.normal(size=200)
    before = PrincipalHessianDirections().fit(X, y)
    monkeypatch.setattr(_sequential_tests, "MOST_PRODUCTS", 200 * 200 * 8 - 1)
    after = PrincipalHessianDirections().fit(X, y)
    assert hasattr(before, "dimension_tests_")
    assert not hasattr(after, "dimension_tests_")
    np.testing.assert_array_equal(after.components_, before.components_)
    few = X[:, :5]  # cheap by pairs of columns, whatever the number of rows
    assert hasattr(PrincipalHessianDirections().fit(few, y), "dimension_tests_")
