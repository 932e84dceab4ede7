"""Every exact solver gives the generalised eigenvectors that scipy finds for the dense pencil."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import linalg
from sklearn.exceptions import ConvergenceWarning

from skbo_silbo._numerics import graphs
from skbo_silbo._numerics.graphs import graph_penalty, neighbor_graph, neighbor_indices
from skbo_silbo._numerics.pencil import Pencil
from skbo_silbo._numerics.solvers import (
    PENCIL_SOLVERS,
    leading_eigenpairs,
    solve_dense,
    solve_dual,
    solve_randomized,
)
from skbo_silbo.decomposition import (
    SemiSlicedInverseRegression,
    SlicedInverseRegression,
    slice_response,
)
from skbo_silbo.decomposition.slicing._slices import local_membership

pytestmark = pytest.mark.quick


def make_pencil(seed, n=60, d=8, n_unlabeled=0, *, local=None, alpha=1.0, ridge=1e-3, ties=False):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n + n_unlabeled, d)) @ (np.eye(d) + 0.3 * rng.normal(size=(d, d)))
    y = X[:n, 0] + X[:n, 1 % d] ** 2 + 0.1 * rng.normal(size=n)
    slices = slice_response(np.round(y) if ties else y, 6)
    X -= X[:n].mean(axis=0)
    omega = slices.membership() if local is None else local_membership(X[:n], slices, local)
    penalty = graph_penalty(X, n, alpha, 4) if n_unlabeled and alpha else None
    return Pencil(X, n, omega, penalty).with_relative_ridge(ridge)


def dense_matrices(pencil):
    """Gamma and T written out from their definitions."""
    labelled = pencil.X[: pencil.n_labeled]
    C = labelled.T @ pencil.omega.toarray()
    T = labelled.T @ labelled + pencil.ridge * np.eye(pencil.X.shape[1])
    if pencil.penalty is not None:
        T += pencil.X.T @ pencil.penalty.toarray() @ pencil.X
    return C @ C.T, T


def check_against_scipy(solver, pencil, r, rtol=1e-7):
    Gamma, T = dense_matrices(pencil)
    expected, V = linalg.eigh(Gamma, T)
    expected, V = expected[::-1][:r], V[:, ::-1][:, :r]
    spectrum = solver(pencil, r, 0)
    np.testing.assert_allclose(spectrum.eigenvalues[:r], expected, rtol=rtol, atol=1e-9)
    B = spectrum.directions
    np.testing.assert_allclose(B.T @ T @ B, np.eye(r), atol=1e-6)
    np.testing.assert_allclose(Gamma @ B, T @ B * expected, atol=1e-5 * np.abs(T @ B).max())
    separated = expected[0] - expected[1] > 1e-2 if r > 1 else True
    if separated:
        assert abs(V[:, 0] @ T @ B[:, 0]) == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("name", PENCIL_SOLVERS)
@settings(max_examples=12)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(20, 60),
    d=st.integers(3, 80),
    n_unlabeled=st.sampled_from([0, 15]),
    local=st.sampled_from([None, 2, 4]),
    alpha=st.sampled_from([0.0, 0.5, 20.0]),
    ridge=st.sampled_from([1e-3, 0.1]),
    ties=st.booleans(),
)
def test_solver_agrees_with_the_dense_pencil(
    name, seed, n, d, n_unlabeled, local, alpha, ridge, ties
):
    pencil = make_pencil(seed, n, d, n_unlabeled, local=local, alpha=alpha, ridge=ridge, ties=ties)
    r = min(3, np.linalg.matrix_rank(dense_matrices(pencil)[0]))
    check_against_scipy(PENCIL_SOLVERS[name], pencil, r)


@pytest.mark.parametrize("name", PENCIL_SOLVERS)
def test_without_ridge_too(name):
    check_against_scipy(PENCIL_SOLVERS[name], make_pencil(0, ridge=0.0), 3)


@pytest.mark.parametrize(
    ("n", "d", "n_unlabeled", "ridge"),
    [(40, 30, 0, 0.0), (40, 30, 30, 0.0), (60, 100, 60, 0.0), (60, 100, 60, 1e-8)],
)
@pytest.mark.parametrize("solver", [solve_dual, solve_randomized])
def test_exact_solvers_agree_on_uneven_columns(solver, n, d, n_unlabeled, ridge):
    pencil = make_pencil(5, n, d, n_unlabeled, alpha=1.0, ridge=0.0)
    X = pencil.X.copy()
    X[:, 2] *= 1e6
    pencil = Pencil(X, n, pencil.omega, pencil.penalty).with_relative_ridge(ridge)
    dense, other = solve_dense(pencil, 2), solver(pencil, 2, 0)
    np.testing.assert_allclose(other.eigenvalues[:2], dense.eigenvalues[:2], rtol=1e-6)
    np.testing.assert_allclose(
        np.abs(pencil.X @ other.directions), np.abs(pencil.X @ dense.directions), atol=1e-5
    )
    norms = [np.linalg.norm(spectrum.directions, axis=0) for spectrum in (dense, other)]
    np.testing.assert_allclose(*norms, rtol=1e-5)  # both in the span of the rows


def test_many_uneven_columns_with_small_ridge_raise():
    X = np.random.default_rng(0).normal(size=(12, 8001))
    X[:, 0] *= 1e6
    slices = slice_response(X[:, 0], 3)
    pencil = Pencil(X - X.mean(axis=0), 12, slices.membership()).with_relative_ridge(1e-8)
    with pytest.raises(ValueError, match=r"\bX\b.*columns.*8001"):
        solve_dual(pencil, 1)


def test_nearly_collinear_columns_keep_their_digits():
    """Where the condition number of T is past what Cholesky bears, the rows' SVD serves."""
    rng = np.random.default_rng(5)
    latent = rng.normal(size=(200, 3))
    near = np.column_stack([latent[:, 0], latent[:, 0] + 1e-5 * latent[:, 1], latent[:, 2]])
    slices = slice_response(latent[:, 1] + 0.1 * rng.normal(size=200), 8)
    well, ill = (
        solve_dense(Pencil(X - X.mean(axis=0), 200, slices.membership()), 2) for X in (latent, near)
    )
    np.testing.assert_allclose(ill.eigenvalues, well.eigenvalues, rtol=1e-9)


def test_dual_solver_handles_unlabelled_component():
    rng = np.random.default_rng(6)
    X = np.concatenate([rng.normal(size=(30, 50)), 100 + np.zeros((6, 50))])
    slices = slice_response(X[:30, 0], 4)
    X -= X[:30].mean(axis=0)
    penalty = graph_penalty(X, 30, 1.0, 4)
    pencil = Pencil(X, 30, slices.membership(), penalty)
    for solve in (solve_dual, solve_dense):
        spectrum = solve(pencil, 2)
        assert np.isfinite(spectrum.directions).all()
        assert (spectrum.eigenvalues <= 1 + 1e-9).all()


@pytest.mark.parametrize(
    ("n", "d", "n_unlabeled", "ridge"),
    [
        (1200, 60, 0, 0.0),
        (300, 200, 200, 1e-3),  # a graph
        (150, 400, 0, 1e-2),  # rows as products of (K + ridge I)^-1
        (100, 400, 80, 1e-2),  # within the span of the rows
        (40, 8, 20, 0.0),  # fewer columns than the block
    ],
)
@pytest.mark.parametrize("seed", range(3))
def test_randomized_solver_agrees_with_dense_one(seed, n, d, n_unlabeled, ridge):
    """Localised slices without signal have a flat spectrum, the hardest case."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n + n_unlabeled, d))
    slices = slice_response(rng.normal(size=n), 10 if n > 50 else 4)
    X -= X[:n].mean(axis=0)
    penalty = graph_penalty(X, n, 1.0, 5) if n_unlabeled else None
    pencil = Pencil(X, n, local_membership(X[:n], slices, 5), penalty).with_relative_ridge(ridge)
    exact, found = solve_dense(pencil, 3), solve_randomized(pencil, 3, seed)
    np.testing.assert_allclose(found.eigenvalues[:3], exact.eigenvalues[:3], rtol=1e-9)
    cosines = exact.directions.T @ dense_matrices(pencil)[1] @ found.directions
    np.testing.assert_allclose(np.abs(cosines), np.eye(3), atol=1e-6)


@pytest.mark.parametrize("dependent", [lambda X: X[:, :1] + X[:, 1:2], lambda X: X])
@pytest.mark.parametrize(("n", "d"), [(300, 70), (120, 150)])
def test_randomized_solver_handles_dependent_columns(n, d, dependent):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(n, d)), rng.normal(size=n)
    X, y = np.column_stack([X, dependent(X)]), X[:, 0] + 0.3 * y
    exact, found = (
        SlicedInverseRegression(2, solver=solver, n_local_neighbors=3, random_state=0).fit(X, y)
        for solver in ("dense", "randomized")
    )
    np.testing.assert_allclose(found.eigenvalues_, exact.eigenvalues_[:2], rtol=1e-9)
    np.testing.assert_allclose(found.components_, exact.components_, atol=1e-6)


@pytest.mark.parametrize("k", [1, 3, 8])
@pytest.mark.parametrize("leading", [np.ones(3), 1 - 1e-9 * np.arange(100.0), [1.0, 0.5, 0.1]])
def test_leading_eigenpairs_of_repeated_and_close_values(leading, k):
    eigenvalues = np.zeros(100)
    eigenvalues[: len(leading)] = leading
    Q = np.linalg.qr(np.random.default_rng(0).normal(size=(100, 100)))[0]
    A = (Q * eigenvalues) @ Q.T
    found, V = leading_eigenpairs(lambda U: A @ U, 100, k, np.random.RandomState(0))
    np.testing.assert_allclose(found, eigenvalues[:k], atol=1e-10)
    np.testing.assert_allclose(V.T @ V, np.eye(k), atol=1e-12)
    np.testing.assert_allclose(A @ V, V * found, atol=1e-9)


def test_failed_eigensolver_warns_and_computes_all():
    with pytest.warns(ConvergenceWarning, match="all eigenvectors"):
        found, V = leading_eigenpairs(np.zeros_like, 100, 2, np.random.RandomState(0))
    np.testing.assert_array_equal(found, [0, 0])
    np.testing.assert_allclose(V.T @ V, np.eye(2), atol=1e-12)


# -- graphs --------------------------------------------------------------------------------------


def test_graph_is_the_union_of_both_directions():
    X = np.array([[0.0], [1.0], [1.5], [10.0]])
    S = neighbor_graph(X, 1).toarray()
    expected = np.zeros((4, 4))
    for i, j in ((0, 1), (1, 2), (3, 2)):
        expected[i, j] = expected[j, i] = 1
    np.testing.assert_array_equal(S, expected)


def test_duplicate_rows_are_neighbours():
    indices = neighbor_indices(np.zeros((5, 3)), 3)
    assert all(row not in neighbours for row, neighbours in enumerate(indices))


@pytest.mark.parametrize("d", [2, 6, 7])
def test_few_columns_use_an_exact_tree(d, monkeypatch):
    X = np.random.default_rng(d).normal(size=(300, d))
    exact = neighbor_indices(X, 5, method="brute")
    monkeypatch.setattr(graphs, "BRUTE_FORCE_ROWS", 100)
    monkeypatch.setattr(graphs, "_descent", lambda X, n_neighbors, random_state: None)
    found = neighbor_indices(X, 5)
    assert found is None if d == 7 else np.array_equal(np.sort(found), np.sort(exact))


def test_fewer_rows_than_neighbours_give_the_complete_graph():
    assert neighbor_graph(np.arange(4.0)[:, None], 9).nnz == 12


def test_penalty_is_scaled_mean_squared_difference():
    rng = np.random.default_rng(9)
    X, b = rng.normal(size=(40, 3)), rng.normal(size=3)
    S, score = neighbor_graph(X, 5).tocoo(), X @ b
    edges = S.row < S.col
    mean_square = np.mean((score[S.row[edges]] - score[S.col[edges]]) ** 2)
    penalty = graph_penalty(X, 15, 2.5, 5)
    assert score @ (penalty @ score) == pytest.approx(2.5 * 15 * mean_square)


# -- which solver --------------------------------------------------------------------------------


@pytest.mark.parametrize(("ridge", "solver"), [(0.0, "dual"), (1e-9, "dual"), (0.1, "dense")])
def test_wide_scatter_needs_ridge(ridge, solver):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 70)), rng.normal(size=60)
    y[30:] = np.nan
    fits = {
        name: SemiSlicedInverseRegression(1, alpha=1.0, ridge=ridge, solver=name).fit(X, y)
        for name in ("auto", "dense", "dual")
    }
    assert fits["auto"].solver_ == solver
    for name in ("dense", "dual"):
        np.testing.assert_allclose(
            fits["auto"].transform(X), fits[name].transform(X), rtol=1e-6, atol=1e-6
        )


@pytest.mark.parametrize(
    ("n", "d", "wanted", "solver"),
    [
        (150, 10, 1, "dense"),
        (80, 100, 1, "dual"),
        (550, 600, 1, "randomized"),
        (550, 600, "criterion", "dual"),
    ],
)
def test_many_local_slices_use_leading_directions(n, d, wanted, solver):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(n, d))
    y = X[:, 0] + 0.1 * rng.normal(size=n)
    options = {"n_local_neighbors": 4, "ridge": 0.05, "random_state": 0}
    auto = SemiSlicedInverseRegression(wanted, **options).fit(X, y)
    assert auto.solver_ == solver
    exact = "dual" if d > n else "dense"
    other = SemiSlicedInverseRegression(wanted, solver=exact, **options).fit(X, y)
    np.testing.assert_allclose(auto.components_, other.components_, rtol=1e-5, atol=1e-6)
