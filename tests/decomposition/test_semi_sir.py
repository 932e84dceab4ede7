import numpy as np
import pytest
from drawn import sine
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import linalg
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from skbo_silbo import SemiSlicedInverseRegression

SOLVERS = ("dense", "dual", "randomized")


def make_data(seed=0, n=150, d=6, noise=0.1):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + rng.normal(size=d)
    y = np.exp(X[:, 0] - X[:, 1]) + noise * rng.normal(size=n)
    return X, y


# -- outside truth -------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:The linearity condition fails")  # within species of iris too
@pytest.mark.parametrize("solver", SOLVERS)
def test_iris_and_breast_cancer_as_in_r_dr(solver):
    X, y = load_iris(return_X_y=True)
    iris = SemiSlicedInverseRegression(solver=solver, random_state=0).fit(X, y)
    np.testing.assert_allclose(iris.eigenvalues_, [0.96987219, 0.22202663], atol=5e-9)
    X, y = load_breast_cancer(return_X_y=True)
    cancer = SemiSlicedInverseRegression(n_slices=2, solver=solver, random_state=0).fit(X, y)
    np.testing.assert_allclose(cancer.eigenvalues_, [0.77432465], atol=5e-9)


def test_categories_give_the_space_of_linear_discriminant_analysis():
    X, y = load_iris(return_X_y=True)
    names = load_iris().target_names[y]
    sir = SemiSlicedInverseRegression(2).fit(X, names)
    lda = LinearDiscriminantAnalysis(solver="svd").fit(X, y)
    assert sine(sir.components_, lda.scalings_.T) < 1e-9
    share = sir.eigenvalues_ / (1 - sir.eigenvalues_)
    np.testing.assert_allclose(share / share.sum(), lda.explained_variance_ratio_)


# -- properties ----------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [2, 20])
def test_localised_slices_match_definition(k):
    X, y = make_data(n=90)
    codes = np.searchsorted(np.sort(y)[[9, 29]], y, side="right")
    local = SemiSlicedInverseRegression(2, n_local_neighbors=k).fit(X, codes)
    centred = X - X.mean(axis=0)
    Gamma = np.zeros((6, 6))
    for i in range(90):
        members = np.flatnonzero(codes == codes[i])
        near = members[np.argsort(np.linalg.norm(X[members] - X[i], axis=1))[:k]]
        mean = centred[near].mean(axis=0)
        Gamma += np.outer(mean, mean)
    expected = linalg.eigh(Gamma, centred.T @ centred, eigvals_only=True)[::-1]
    np.testing.assert_allclose(local.eigenvalues_, expected, rtol=1e-8)


# -- unlabelled rows -----------------------------------------------------------------------------


def test_alpha_zero_ignores_unlabelled_rows():
    X, y = make_data()
    reference = SemiSlicedInverseRegression().fit(X, y).components_
    for alpha, extra in ((0.0, X + 1), (7.0, None), (7.0, np.empty((0, 6)))):
        sir = SemiSlicedInverseRegression(alpha=alpha).fit(X, y, extra)
        np.testing.assert_array_equal(sir.components_, reference)


# -- the paper's algorithm -----------------------------------------------------------------------


def test_the_papers_span_ignores_the_unlabelled_rows():
    """MATH section 1: at rank r, span(B) is the span of the slice means, whatever T is."""
    X, y = make_data()
    y[100:] = np.nan
    fits = [
        SemiSlicedInverseRegression(2, solver="paper", alpha=alpha, random_state=0).fit(X, y)
        for alpha in (0.0, 100.0)
    ]
    assert sine(fits[0].components_, fits[1].components_) < 1e-8


def test_the_papers_localised_weights_shrink_with_the_slices():
    X, y = make_data()
    paper = SemiSlicedInverseRegression(2, solver="paper", n_local_neighbors=4, random_state=0)
    local = SemiSlicedInverseRegression(2, n_local_neighbors=4)
    assert paper.fit(X, y).eigenvalues_.max() < 0.05 * local.fit(X, y).eigenvalues_[0]


def test_paper_solver_stops_at_slice_mean_rank():
    X, y = make_data(d=2)
    X = np.hstack([X, X @ [[1.0, 2.0], [0.0, 1.0]]])
    paper = SemiSlicedInverseRegression(solver="paper", random_state=0).fit(X, y)
    assert paper.n_components_ == 2
    assert np.isfinite(paper.components_).all()
    with pytest.raises(ValueError, match=r"n_components.*at most 2"):
        SemiSlicedInverseRegression(3, solver="paper", random_state=0).fit(X, y)


# -- dimension -----------------------------------------------------------------------------------


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("word", "parameters"),
    [
        ("auto", {"n_local_neighbors": 8}),
        ("auto", {"ridge": 1e-3}),
        ("auto", {"alpha": 1.0}),
        ("criterion", {"n_local_neighbors": 5}),
    ],
)
def test_dimension_where_chi_square_is_not_valid(parameters, word):
    n, d, found = (1000, 20, []) if word == "criterion" else (300, 6, [])
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(n, d))
        y = X[:, 0] / (0.5 + (X[:, 1] + 1.5) ** 2) + 0.2 * rng.normal(size=n)
        extra = rng.normal(size=(200, d)) if "alpha" in parameters else None
        sir = SemiSlicedInverseRegression(word, **parameters).fit(X, y, extra)
        assert not hasattr(sir, "dimension_tests_")
        assert hasattr(sir, "permutation_tests_") == (word == "auto")
        found.append(sir.n_components_)
    assert found.count(2) >= 3


# -- blocks of a Dask array ----------------------------------------------------------------------


@settings(max_examples=12)
@given(
    seed=st.integers(0, 10**6),
    cuts=st.lists(st.integers(1, 149), max_size=6, unique=True),
    shift=st.sampled_from([0.0, 1e4]),
    weighted=st.sampled_from([None, "counts", "relative"]),
)
def test_dask_blocks_give_the_answer_of_fit(seed, cuts, shift, weighted):
    array = pytest.importorskip("dask.array")
    X, y = make_data(seed)
    X, rng = X + shift, np.random.default_rng(seed)
    w = rng.integers(0, 4, size=150) if weighted == "counts" else rng.uniform(0.2, 2, size=150)
    w = None if weighted is None else w
    whole = SemiSlicedInverseRegression(2, n_slices=5).fit(X, y, sample_weight=w)
    chunks = tuple(np.diff([0, *sorted(cuts), len(y)]).tolist()), (6,)
    chunked = SemiSlicedInverseRegression(2, n_slices=5)
    chunked.fit(array.from_array(X, chunks), y, sample_weight=w)
    np.testing.assert_allclose(chunked.components_, whole.components_, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(chunked.eigenvalues_, whole.eigenvalues_, atol=1e-8)
    np.testing.assert_allclose(chunked.mean_, whole.mean_, rtol=1e-12)
    for name in ("statistic", "p_value"):
        expected = whole.dimension_tests_[name]
        np.testing.assert_allclose(chunked.dimension_tests_[name], expected, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize(
    ("shift", "gap"),  # the last gap: T's Cholesky factor is not relied on
    [(0.0, 1.0), (0.5, 1e-3), (1e3, 1.0), (1e7, 1.0), (1e7, 1e-3), (0.5, 1e-9), (1e3, 1e-9)],
)
def test_moments_give_the_answer_of_centred_rows(shift, gap):
    """Plain fits take moments; weights, here all one, take centred rows."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    X[:, 3] = X[:, 2] + gap * X[:, 3]
    y = X[:, 0] + X[:, 1] ** 3 + 0.1 * rng.normal(size=300)
    by_moments = SemiSlicedInverseRegression().fit(X + shift, y)
    by_rows = SemiSlicedInverseRegression().fit(X + shift, y, sample_weight=np.ones(300))
    lost = max(shift, 1.0) / gap
    atol = max(1e-8, 1e-14 * lost)
    np.testing.assert_allclose(by_moments.mean_, by_rows.mean_, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(by_moments.eigenvalues_[:2], by_rows.eigenvalues_[:2], atol=atol)
    assert by_moments.n_components_ == by_rows.n_components_
    np.testing.assert_allclose(by_moments.curvature_, by_rows.curvature_, atol=1e-6)
    Z = (X + shift - by_rows.mean_) @ np.transpose(
        [by_moments.components_[0], by_rows.components_[0]]
    )
    assert abs(np.corrcoef(Z.T)[0, 1]) > 1 - max(1e-10, atol)


def test_dask_blocks_are_never_concatenated():
    array = pytest.importorskip("dask.array")
    X, y = make_data(n=400)
    largest = []

    def block(part):
        largest.append(len(part))
        return part

    blocks = array.from_array(X, chunks=(50, 6)).map_blocks(block, meta=np.empty((0, 0)))
    blocks.__array__ = None  # converting the whole would fail
    SemiSlicedInverseRegression(1).fit(blocks, y)
    assert set(largest) == {50}
    assert len(largest) == 8
    fits = (SemiSlicedInverseRegression(1).fit(X, t) for t in (y, X[:, 1]))
    one, other = (fitted.transform(array.from_array(X)).name for fitted in fits)
    assert one != other  # Dask tells fits of equal parameters apart


def test_bad_dask_arrays_are_refused():
    array = pytest.importorskip("dask.array")
    X, y = make_data()
    blocks = array.from_array(X, chunks=(40, 6))
    with pytest.raises(ValueError, match=r"Call X.compute_chunk_sizes\(\) first"):
        SemiSlicedInverseRegression().fit(blocks[blocks[:, 0] > 0], y)
    with pytest.raises(ValueError, match=r"inconsistent.*\[150, 149\]"):
        SemiSlicedInverseRegression().fit(blocks, y[1:])
    for name, value in (("n_local_neighbors", 3), ("solver", "dual"), ("reweight", "elliptical")):
        with pytest.raises(ValueError, match=f"{name} must be .* for a Dask array"):
            SemiSlicedInverseRegression(**{name: value}).fit(blocks, y)
    X[70, 2] = np.inf
    with pytest.raises(ValueError, match="X contains infinity"):
        SemiSlicedInverseRegression().fit(array.from_array(X, chunks=(40, 6)), y)


# -- bad input -----------------------------------------------------------------------------------


def test_fewer_labels_than_features_without_ridge_warns():
    X, y = make_data(n=20, d=30)
    with pytest.warns(UserWarning, match=r"\b20\b labelled.*30"):
        sir = SemiSlicedInverseRegression(1, ridge=0.0).fit(X, y)
    np.testing.assert_allclose(sir.eigenvalues_, 1.0)


def test_columns_constant_among_the_labelled_rows_only():
    X, y = make_data()
    X[:50, 2], y[50:] = 0.1, np.nan
    sir = SemiSlicedInverseRegression(2).fit(X, y)
    assert np.isfinite(sir.components_).all()
    X[50:, 3] = X[:50, 3] = 0.3
    assert np.abs(SemiSlicedInverseRegression(2).fit(X, y).components_[:, 3]).max() < 1e-12


def test_collinear_columns_do_not_upset_the_dimension_tests():
    X, y = make_data(d=3)
    sir = SemiSlicedInverseRegression().fit(np.hstack([X, X @ [[1.0, 2], [0, 1], [1, 1]]]), y)
    assert len(sir.eigenvalues_) == 3
    assert sir.dimension_tests_["statistic"].tolist()[3:] == [0.0, 0.0]


@pytest.mark.parametrize(
    "options", [{}, {"n_local_neighbors": 4}, {"ridge": 0.1}, {"n_slices": 3, "ridge": 0}]
)
def test_first_score_rises_with_numeric_y(options):
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(60, 4))
        y = X[:, 0] - X[:, 1] + rng.normal(size=60)
        for units in (1.0, [1, 1e-3, 1, 1], [1e3, 1, 1, 1]):
            sir = SemiSlicedInverseRegression(1, **options).fit(X * units, y)
            assert np.corrcoef(sir.transform(X * units)[:, 0], y)[0, 1] > 0
