import itertools
import pickle
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import linalg, stats
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import NotFittedError

from skbo_silbo import SemiSlicedInverseRegression
from skbo_silbo.decomposition import slice_edges, slice_response

SOLVERS = ("dense", "dual", "iterative", "randomized")


def make_data(seed=0, n=150, d=6, noise=0.1):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + rng.normal(size=d)
    y = np.exp(X[:, 0] - X[:, 1]) + noise * rng.normal(size=n)
    return X, y


def span_sine(A, B):
    """Largest sine between the row spaces of A and B."""
    return np.sin(linalg.subspace_angles(A.T, B.T)).max()


# -- outside truth -------------------------------------------------------------------------------


def test_diabetes_as_in_r_dr():
    sir = SemiSlicedInverseRegression().fit(*load_diabetes(return_X_y=True))
    expected = [0.51861235, 0.09524838, 0.04430763, 0.02019668]
    np.testing.assert_allclose(sir.eigenvalues_[:4], expected, atol=5e-9)
    tests = sir.dimension_tests_
    np.testing.assert_allclose(tests["statistic"][:2], [316.8767, 87.6501], atol=5e-5)
    assert tests["df"][:2].tolist() == [90, 72]
    assert sir.n_components_ == 1
    assert tests["p_value"][0] < 1e-20
    assert tests["p_value"][1] == pytest.approx(stats.chi2.sf(87.6501, 72), abs=1e-6)


@pytest.mark.filterwarnings("ignore:The linearity condition fails")  # within species of iris too
@pytest.mark.parametrize("solver", SOLVERS)
def test_iris_and_breast_cancer_as_in_r_dr(solver):
    X, y = load_iris(return_X_y=True)
    iris = SemiSlicedInverseRegression(solver=solver, random_state=0).fit(X, y)
    np.testing.assert_allclose(iris.eigenvalues_, [0.96987219, 0.22202663], atol=5e-9)
    X, y = load_breast_cancer(return_X_y=True)
    cancer = SemiSlicedInverseRegression(n_slices=2, solver=solver, random_state=0)
    with warnings.catch_warnings():
        if solver == "iterative":  # 30 nearly collinear columns: slow for conjugate gradients
            warnings.simplefilter("ignore")
        cancer.fit(X, y)
    np.testing.assert_allclose(cancer.eigenvalues_, [0.77432465], atol=5e-9)


def test_categories_give_the_space_of_linear_discriminant_analysis():
    X, y = load_iris(return_X_y=True)
    names = load_iris().target_names[y]
    sir = SemiSlicedInverseRegression(2).fit(X, names)
    lda = LinearDiscriminantAnalysis(solver="svd").fit(X, y)
    assert span_sine(sir.components_, lda.scalings_.T) < 1e-9
    share = sir.eigenvalues_ / (1 - sir.eigenvalues_)
    np.testing.assert_allclose(share / share.sum(), lda.explained_variance_ratio_)


# -- properties ----------------------------------------------------------------------------------


def test_monotone_maps_of_y_are_irrelevant():
    X, y = make_data()
    one = SemiSlicedInverseRegression().fit(X, y)
    other = SemiSlicedInverseRegression().fit(X, np.arctan(y))
    np.testing.assert_array_equal(one.components_, other.components_)


@settings(max_examples=15)
@given(seed=st.integers(0, 10**6), n_slices=st.integers(2, 12), d=st.integers(1, 12))
def test_plain_eigenvalues_lie_between_zero_and_one(seed, n_slices, d):
    X, y = make_data(seed, n=60, d=max(d, 2))
    eigenvalues = SemiSlicedInverseRegression("criterion", n_slices=n_slices).fit(X, y).eigenvalues_
    assert (eigenvalues >= 0).all()
    assert (eigenvalues <= 1 + 1e-12).all()
    assert (np.diff(eigenvalues) <= 1e-12).all()


@pytest.mark.parametrize("k", [2, 20])
def test_localised_slices_are_their_definition_also_where_slices_differ_in_size(k):
    X, y = make_data(n=90)
    edges = np.sort(y)[[9, 29]]
    local = SemiSlicedInverseRegression(2, n_slices=edges, n_local_neighbors=k).fit(X, y)
    centred = X - X.mean(axis=0)
    codes = np.searchsorted(edges, y, side="right")
    Gamma = np.zeros((6, 6))
    for i in range(90):
        members = np.flatnonzero(codes == codes[i])
        near = members[np.argsort(np.linalg.norm(X[members] - X[i], axis=1))[:k]]
        mean = centred[near].mean(axis=0)
        Gamma += np.outer(mean, mean)
    expected = linalg.eigh(Gamma, centred.T @ centred, eigvals_only=True)[::-1]
    np.testing.assert_allclose(local.eigenvalues_, expected, rtol=1e-8)


# -- unlabelled rows -----------------------------------------------------------------------------


def test_alpha_zero_ignores_unlabelled_rows_and_fully_labelled_data_ignore_alpha():
    X, y = make_data()
    reference = SemiSlicedInverseRegression().fit(X, y).components_
    for alpha, extra in ((0.0, X + 1), (7.0, None), (7.0, np.empty((0, 6)))):
        sir = SemiSlicedInverseRegression(alpha=alpha).fit(X, y, extra)
        np.testing.assert_array_equal(sir.components_, reference)


def test_a_shift_of_the_unlabelled_mean_adds_no_spurious_direction():
    """Pooled centring would put an eigenvalue near 1 on the shift; labelled centring must not."""
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(200, 5)), rng.normal(size=200)
    shifted = rng.normal(size=(200, 5)) + np.array([0, 0, 0, 0, 30.0])
    sir = SemiSlicedInverseRegression(1, alpha=1e-3).fit(X, y, shifted)
    assert sir.eigenvalues_[0] < 0.3


def test_unlabelled_rows_help_where_the_active_structure_is_locally_smooth():
    """Clusters along the active direction, noise elsewhere: the paper's favourable case.

    They are told apart by the scale of the active feature, which must then be left as it is.
    """
    sines = {0.0: [], 10.0: []}
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(320, 30))
        X[:, 0] = 6 * rng.integers(-2, 3, size=320) + 0.3 * rng.normal(size=320)
        y = X[:, 0] + 0.5 * rng.normal(size=320)
        y[20:] = np.nan
        for alpha in sines:
            sir = SemiSlicedInverseRegression(
                1, n_slices=4, alpha=alpha, ridge=1e-3, scale=False
            ).fit(X, y)
            sines[alpha].append(span_sine(sir.components_, np.eye(30)[:1]))
    assert np.mean(sines[10.0]) < 0.5 * np.mean(sines[0.0])


# -- the paper's algorithm -----------------------------------------------------------------------


def test_the_papers_span_ignores_the_unlabelled_rows():
    """MATH section 1: at rank r, span(B) is the span of the slice means, whatever T is."""
    X, y = make_data()
    y[100:] = np.nan
    fits = [
        SemiSlicedInverseRegression(2, solver="paper", alpha=alpha, random_state=0).fit(X, y)
        for alpha in (0.0, 100.0)
    ]
    assert span_sine(fits[0].components_, fits[1].components_) < 1e-8
    exact = [
        SemiSlicedInverseRegression(2, alpha=alpha).fit(X, y).components_ for alpha in (0.0, 100.0)
    ]
    assert span_sine(*exact) > 1e-3


def test_the_papers_localised_weights_shrink_with_the_slices():
    X, y = make_data()
    paper = SemiSlicedInverseRegression(2, solver="paper", n_local_neighbors=4, random_state=0)
    local = SemiSlicedInverseRegression(2, n_local_neighbors=4)
    assert paper.fit(X, y).eigenvalues_.max() < 0.05 * local.fit(X, y).eigenvalues_[0]


def test_the_papers_algorithm_stops_at_the_rank_of_the_slice_means():
    X, y = make_data(d=2)
    X = np.hstack([X, X @ [[1.0, 2.0], [0.0, 1.0]]])
    paper = SemiSlicedInverseRegression(solver="paper", random_state=0).fit(X, y)
    assert paper.n_components_ == 2
    assert np.isfinite(paper.components_).all()
    with pytest.raises(ValueError, match="n_components must be at most 2"):
        SemiSlicedInverseRegression(3, solver="paper", random_state=0).fit(X, y)


# -- dimension -----------------------------------------------------------------------------------


@pytest.mark.parametrize("d", [5, 15])
def test_auto_finds_two_directions_by_tests(d):
    found = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(500, d))
        y = X[:, 0] / (0.5 + (X[:, 1] + 1.5) ** 2) + 0.2 * rng.normal(size=500)
        found.append(SemiSlicedInverseRegression().fit(X, y).n_components_)
    assert np.mean(np.equal(found, 2)) >= 0.8  # level .05, power near 1


@pytest.mark.parametrize(
    ("word", "parameters"),
    [
        ("auto", {"n_local_neighbors": 5}),
        ("auto", {"ridge": 1e-3}),
        ("auto", {"alpha": 1.0}),
        ("criterion", {"n_local_neighbors": 5}),
    ],
)
def test_dimension_where_chi_square_is_not_valid(parameters, word):
    n, d, found = (1000, 20, []) if word == "criterion" else (600, 10, [])
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


# -- chunks --------------------------------------------------------------------------------------


@settings(max_examples=12)
@given(
    seed=st.integers(0, 10**6),
    cuts=st.lists(st.integers(1, 149), max_size=6, unique=True),
    shift=st.sampled_from([0.0, 1e4]),
)
def test_chunks_give_the_answer_of_fit(seed, cuts, shift):
    X, y = make_data(seed)
    X = X + shift
    edges = np.quantile(y, [0.2, 0.5, 0.8])
    whole = SemiSlicedInverseRegression(2, n_slices=edges).fit(X, y)
    chunked = SemiSlicedInverseRegression(2, n_slices=edges)
    bounds = [0, *sorted(cuts), len(y)]
    for start, stop in itertools.pairwise(bounds):
        chunked.partial_fit(X[start:stop], y[start:stop])
    np.testing.assert_allclose(chunked.components_, whole.components_, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(chunked.eigenvalues_, whole.eigenvalues_, atol=1e-8)
    np.testing.assert_allclose(chunked.mean_, whole.mean_, rtol=1e-12)


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


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_local_neighbors": 3}, "n_local_neighbors must be None where rows come in chunks"),
        ({"solver": "dual"}, "solver must be 'auto' or 'dense' where rows come in chunks"),
    ],
)
def test_partial_fit_is_not_there_where_all_rows_are_needed(parameters, message):
    X, y = make_data()
    sir = SemiSlicedInverseRegression(**parameters)
    assert not hasattr(sir, "partial_fit")
    with pytest.raises(AttributeError, match="no attribute 'partial_fit'") as error:
        sir.partial_fit(X, y)
    assert message in str(error.value.__cause__)


def test_partial_fit_refuses_unlabelled_rows_and_keeps_its_moments():
    X, y = make_data()
    sir = SemiSlicedInverseRegression(1, n_slices=[1.0]).partial_fit(X, y)
    before = sir.components_
    with pytest.raises(ValueError, match="y must label every row for partial_fit: got 1 NaN"):
        sir.partial_fit(X, np.r_[np.nan, y[1:]])
    np.testing.assert_allclose(sir.partial_fit(X, y).components_, before, rtol=1e-9)


def test_edges_of_a_first_pass_make_chunks_agree_with_fit():
    X, y = make_data(n=157)
    y = np.round(y, 1)  # ties
    edges = slice_edges(y, 10)
    np.testing.assert_array_equal(
        np.searchsorted(edges, y, side="right"), slice_response(y, 10).codes
    )
    whole = SemiSlicedInverseRegression(2).fit(X, y)
    chunked = SemiSlicedInverseRegression(2, n_slices=edges)
    for start in range(0, 157, 20):
        chunked.partial_fit(X[start : start + 20], y[start : start + 20])
    np.testing.assert_allclose(chunked.components_, whole.components_, rtol=1e-8)
    assert chunked.n_slices_ == whole.n_slices_


def test_classes_in_chunks():
    X, y = load_iris(return_X_y=True)
    names = load_iris().target_names[y]
    whole = SemiSlicedInverseRegression(2).fit(X, names)
    chunked = SemiSlicedInverseRegression(2)
    for rows in np.array_split(np.arange(150), 7):  # sorted: the first chunk has one class
        chunked.partial_fit(X[rows], names[rows], classes=np.unique(names))
    np.testing.assert_allclose(chunked.components_, whole.components_, rtol=1e-8)
    with pytest.raises(ValueError, match=r"y must hold classes given .* got rose"):
        chunked.partial_fit(X, np.full(150, "rose"))


def test_reading_an_attribute_of_chunks_computes_nothing():
    X, y = make_data()
    sir = SemiSlicedInverseRegression(1, n_slices=[0.5, 2.0]).partial_fit(X, y)
    known = dict(vars(sir))
    assert hasattr(sir, "components_")
    assert not hasattr(sir, "permutation_tests_")
    assert vars(sir) == known
    Z = sir.transform(X)
    whole = SemiSlicedInverseRegression(1, n_slices=[0.5, 2.0]).fit(X, y)
    np.testing.assert_allclose(Z, whole.transform(X), atol=1e-8)
    again = pickle.loads(pickle.dumps(sir.partial_fit(X, y)))
    np.testing.assert_allclose(again.eigenvalues_, whole.eigenvalues_, rtol=1e-8)
    assert not hasattr(SemiSlicedInverseRegression(), "components_")
    assert SemiSlicedInverseRegression(ridge=0.1).partial_fit(X, y).ridge_ == 0.1
    assert not hasattr(SemiSlicedInverseRegression(ridge=0.1).partial_fit(X, y), "dimension_tests_")


def test_chunks_that_do_not_identify_the_directions_say_so():
    X, y = make_data()
    order = np.argsort(y)
    sir = SemiSlicedInverseRegression(2, n_slices=np.quantile(y, [0.3, 0.6]))
    sir.partial_fit(X[order[:30]], y[order[:30]])
    assert not hasattr(sir, "components_")
    with pytest.raises(NotFittedError, match="not fitted yet"):
        sir.transform(X)
    sir.partial_fit(X[order[30:]], y[order[30:]])
    assert sir.components_.shape == (2, 6)


# -- blocks of a Dask array ----------------------------------------------------------------------


def test_blocks_of_a_dask_array_are_never_put_together():
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


def test_unlabelled_rows_of_a_dask_array_are_left_out_or_refused():
    array = pytest.importorskip("dask.array")
    X, y = make_data()
    y[::3] = np.nan
    blocks = array.from_array(X, chunks=(40, 6))
    kept = ~np.isnan(y)
    streamed = SemiSlicedInverseRegression(2, alpha=0.0).fit(blocks, y)
    whole = SemiSlicedInverseRegression(2).fit(X[kept], y[kept])
    np.testing.assert_allclose(streamed.components_, whole.components_, rtol=1e-8)
    with pytest.raises(ValueError, match="alpha must be 0 for a Dask array with unlabelled rows"):
        SemiSlicedInverseRegression(2, alpha=1.0).fit(blocks, y)
    with pytest.raises(ValueError, match=r"n_local_neighbors must be None .* or compute the Dask"):
        SemiSlicedInverseRegression(n_local_neighbors=3).fit(blocks, y)


def test_bad_dask_arrays_are_refused():
    array = pytest.importorskip("dask.array")
    X, y = make_data()
    blocks = array.from_array(X, chunks=(40, 6))
    with pytest.raises(ValueError, match=r"Call X.compute_chunk_sizes\(\) first"):
        SemiSlicedInverseRegression().fit(blocks[blocks[:, 0] > 0], y)
    with pytest.raises(ValueError, match=r"inconsistent numbers of samples: \[150, 149\]"):
        SemiSlicedInverseRegression().fit(blocks, y[1:])
    X[70, 2] = np.inf
    with pytest.raises(ValueError, match="X contains infinity"):
        SemiSlicedInverseRegression().fit(array.from_array(X, chunks=(40, 6)), y)


# -- bad input -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.ones(20), "y must take at least 2 different values: all 20 labels are 1.0"),
        (np.full(20, np.nan), "at least 2 labels .* got 0 among 20 rows"),
        (np.r_[1.0, np.full(19, np.nan)], "at least 2 labels .* got 1 among 20 rows"),
        (np.r_[np.inf, np.arange(19.0)], "infinity"),
        (np.full(20, "a"), "all 20 labels are a"),
        (np.arange(19.0), "inconsistent numbers of samples"),
    ],
)
def test_bad_y_is_refused(y, message):
    X, _ = make_data(n=20)
    with pytest.raises(ValueError, match=message):
        SemiSlicedInverseRegression().fit(X, y)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_components": 0}, "n_components must be 'auto', 'permutation', 'criterion' or an int"),
        (
            {"n_components": 2.0},
            "'criterion' or an integer >= 1: got 2.0",
        ),
        ({"n_components": 7}, r"n_components must be at most 6 \(n_features\): got 7"),
        ({"n_components": 3, "n_slices": 3}, "at most 2, the number of directions identified by"),
        ({"n_components": 3, "n_slices": 3, "solver": "paper"}, "at most 2, the number of"),
        ({"alpha": -1.0}, "alpha must be 'auto' or a finite number >= 0: got -1.0"),
        ({"alpha": np.inf}, "alpha must be 'auto' or a finite number >= 0: got inf"),
        ({"scale": "yes"}, "scale must be 'auto', True or False: got 'yes'"),
        ({"categorical": 1}, "categorical must be 'auto', True or False: got 1"),
        ({"ridge": "big"}, "ridge must be 'auto' or a finite number >= 0: got 'big'"),
        ({"n_neighbors": 0}, "n_neighbors must be an integer >= 1: got 0"),
        ({"n_local_neighbors": 1}, "n_local_neighbors must be None or an integer >= 2: got 1"),
        ({"solver": "svd"}, "solver must be one of 'auto', 'dense'.*: got 'svd'"),
        ({"neighbors": "annoy"}, "neighbors must be one of .*: got 'annoy'"),
    ],
)
def test_bad_parameters_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        SemiSlicedInverseRegression(**parameters).fit(*make_data())


def test_more_features_than_labels_without_ridge_warns_and_says_why():
    X, y = make_data(n=20, d=30)
    with pytest.warns(UserWarning, match="20 labelled rows do not identify directions among 30"):
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
