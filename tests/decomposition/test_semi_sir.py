import itertools
import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from conformance import conformance
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import linalg, sparse, stats
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import Pipeline
from statsmodels.regression.dimred import SlicedInverseReg

from skbo_silbo import SemiSlicedInverseRegression
from skbo_silbo.decomposition import slice_edges, slice_response

SOLVERS = ("dense", "dual", "iterative", "randomized")


NOTHING = pytest.mark.filterwarnings(
    "ignore:No direction was found", "ignore:Little was found", "ignore:The linearity condition"
)


def without_weights(estimator):
    """Neighbours and the paper's solver refuse weights that differ."""
    if estimator.n_local_neighbors is None and estimator.solver != "paper":
        return {}
    names = ("_equivalence_on_dense_data", "s_not_overwritten")
    return {f"check_sample_weight{name}": "refuses weights that differ" for name in names}


@NOTHING
@conformance(
    [
        SemiSlicedInverseRegression(),
        SemiSlicedInverseRegression(1),
        SemiSlicedInverseRegression("criterion", scale=True, categorical=False),
        SemiSlicedInverseRegression(n_slices=[0.5, 1.5]),
        SemiSlicedInverseRegression(n_local_neighbors=3),
        *(SemiSlicedInverseRegression(solver=name) for name in (*SOLVERS[1:], "paper")),
    ],
    but=without_weights,
)
def test_scikit_learn_conformance(estimator, check):
    check(estimator)


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


def test_statsmodels_finds_the_same_directions():
    X, y = make_data(n=200)
    peer = SlicedInverseReg(y, X).fit(slice_n=20)
    sir = SemiSlicedInverseRegression(2).fit(X, y)
    assert span_sine(sir.components_[:1], peer.params[:, :1].T) < 1e-6


def test_categories_give_the_space_of_linear_discriminant_analysis():
    X, y = load_iris(return_X_y=True)
    names = load_iris().target_names[y]
    sir = SemiSlicedInverseRegression(2).fit(X, names)
    lda = LinearDiscriminantAnalysis(solver="svd").fit(X, y)
    assert span_sine(sir.components_, lda.scalings_.T) < 1e-9
    share = sir.eigenvalues_ / (1 - sir.eigenvalues_)
    np.testing.assert_allclose(share / share.sum(), lda.explained_variance_ratio_)


def test_hand_computed_two_slices():
    """Two slices: the only direction is T^-1 times the difference of the slice means."""
    X, y = make_data(n=40, d=3)
    sir = SemiSlicedInverseRegression(n_slices=2).fit(X, y)
    low = y <= np.sort(y)[19]
    difference = X[~low].mean(axis=0) - X[low].mean(axis=0)
    direction = np.linalg.solve(np.cov(X.T), difference)
    assert span_sine(sir.components_, direction[None]) < 1e-7


# -- properties ----------------------------------------------------------------------------------


@settings(max_examples=30)
@given(seed=st.integers(0, 10**6), local=st.sampled_from([None, 4]))
def test_affine_maps_of_X_do_not_change_the_plain_scores(seed, local):
    X, y = make_data(seed)
    rng = np.random.default_rng(seed)
    A = np.linalg.qr(rng.normal(size=(6, 6)))[0] * (0.5 + rng.random(6))
    if local:  # Euclidean neighbourhoods survive rotations only
        A = np.linalg.qr(A)[0]
    sir = SemiSlicedInverseRegression(1, n_local_neighbors=local)
    plain = sir.fit(X, y)
    scores, eigenvalues = plain.transform(X), plain.eigenvalues_
    moved = clone(sir).fit(X @ A + rng.normal(size=6), y)
    np.testing.assert_allclose(moved.eigenvalues_, eigenvalues, rtol=1e-6, atol=1e-10)
    sign = np.sign(moved.components_ @ A.T @ plain.components_.T)
    np.testing.assert_allclose(
        moved.transform(X @ A) * 1.0 - moved.transform(X @ A).mean(),
        sign * (scores - scores.mean()),
        atol=1e-6,
    )


@settings(max_examples=30)
@given(st.integers(0, 10**6))
def test_the_order_of_rows_is_irrelevant(seed):
    X, y = make_data(seed)
    y[:40] = np.nan
    order = np.random.default_rng(seed).permutation(len(y))
    sir = SemiSlicedInverseRegression(2, n_local_neighbors=5)
    one, other = sir.fit(X, y).components_, clone(sir).fit(X[order], y[order]).components_
    np.testing.assert_allclose(one, other, atol=1e-8)


def test_monotone_maps_of_y_are_irrelevant():
    X, y = make_data()
    one = SemiSlicedInverseRegression().fit(X, y)
    other = SemiSlicedInverseRegression().fit(X, np.arctan(y))
    np.testing.assert_array_equal(one.components_, other.components_)


def test_labelled_scores_have_unit_variance_and_no_correlation():
    X, y = make_data()
    Z = SemiSlicedInverseRegression(3).fit_transform(X, y)
    np.testing.assert_allclose(Z.T @ Z / len(Z), np.eye(3), atol=1e-10)
    np.testing.assert_allclose(Z.mean(axis=0), 0, atol=1e-12)


@settings(max_examples=30)
@given(seed=st.integers(0, 10**6), n_slices=st.integers(2, 12), d=st.integers(1, 12))
def test_plain_eigenvalues_lie_between_zero_and_one(seed, n_slices, d):
    X, y = make_data(seed, n=60, d=max(d, 2))
    eigenvalues = SemiSlicedInverseRegression("criterion", n_slices=n_slices).fit(X, y).eigenvalues_
    assert (eigenvalues >= 0).all()
    assert (eigenvalues <= 1 + 1e-12).all()
    assert (np.diff(eigenvalues) <= 1e-12).all()


def test_localised_eigenvalues_are_not_negative_and_large_neighbourhoods_are_plain():
    X, y = make_data()
    plain = SemiSlicedInverseRegression(2).fit(X, y)
    local = SemiSlicedInverseRegression(2, n_local_neighbors=5).fit(X, y)
    wide = SemiSlicedInverseRegression(2, n_local_neighbors=15).fit(X, y)
    assert (local.eigenvalues_ >= 0).all()
    assert len(local.eigenvalues_) == 6
    np.testing.assert_array_equal(wide.components_, plain.components_)


@pytest.mark.parametrize("k", [2, 5, 20, 59])
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


def test_both_ways_to_mark_unlabelled_rows_agree():
    X, y = make_data()
    extra = X + 0.3
    marked = SemiSlicedInverseRegression().fit(
        np.concatenate([X, extra]), np.r_[y, np.full(len(X), np.nan)]
    )
    given_apart = SemiSlicedInverseRegression().fit(X, y, X_unlabeled=extra)
    np.testing.assert_array_equal(marked.components_, given_apart.components_)
    categories = np.where(y > np.median(y), "high", "low").astype(object)
    marked = SemiSlicedInverseRegression().fit(
        np.concatenate([X, extra]), np.concatenate([categories, np.full(len(X), None)])
    )
    given_apart = SemiSlicedInverseRegression().fit(X, categories, X_unlabeled=extra)
    np.testing.assert_array_equal(marked.components_, given_apart.components_)


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


def test_unlabelled_rows_travel_through_a_pipeline():
    X, y = make_data()
    extra = X + 0.3
    with config_context(enable_metadata_routing=True):
        sdr = SemiSlicedInverseRegression(2).set_fit_request(X_unlabeled=True)
        steps = [("sdr", sdr), ("ridge", Ridge())]
        pipeline = Pipeline(steps, transform_input=["X_unlabeled"])
        pipeline.fit(X, y, X_unlabeled=extra)
    alone = SemiSlicedInverseRegression(2).fit(X, y, extra)
    np.testing.assert_array_equal(pipeline[0].components_, alone.components_)
    with config_context(enable_metadata_routing=True):
        with pytest.warns(UserWarning, match="X_unlabeled has as many rows as the part of X"):
            cross_val_score(pipeline, X, y, cv=2, params={"X_unlabeled": extra})
        cross_val_score(pipeline, X, y, cv=2, params={"X_unlabeled": extra[1:]})


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


def test_the_papers_columns_come_weakest_first():
    X, y = make_data()
    paper = SemiSlicedInverseRegression(3, solver="paper", random_state=0).fit(X, y)
    assert (np.diff(paper.eigenvalues_) > 0).all()


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
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(500, d))
        y = X[:, 0] / (0.5 + (X[:, 1] + 1.5) ** 2) + 0.2 * rng.normal(size=500)
        found.append(SemiSlicedInverseRegression().fit(X, y).n_components_)
    assert np.mean(np.equal(found, 2)) >= 0.8  # level .05, power near 1


def test_tests_hold_their_level_on_noise():
    rejected = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(300, 4)), rng.normal(size=300)
        rejected += (
            SemiSlicedInverseRegression(1, n_slices=5).fit(X, y).dimension_tests_["p_value"][0]
            < 0.05
        )
    assert stats.binomtest(rejected, 200, 0.05).pvalue > 1e-3


@pytest.mark.parametrize("word", ["auto", "criterion"])
@pytest.mark.parametrize("parameters", [{"n_local_neighbors": 5}, {"ridge": 1e-3}, {"alpha": 1.0}])
def test_dimension_where_chi_square_is_not_valid(parameters, word):
    n, d, found = (1000, 20, []) if word == "criterion" else (600, 10, [])
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(n, d))
        y = X[:, 0] / (0.5 + (X[:, 1] + 1.5) ** 2) + 0.2 * rng.normal(size=n)
        extra = rng.normal(size=(200, d)) if "alpha" in parameters else None
        sir = SemiSlicedInverseRegression(word, **parameters).fit(X, y, extra)
        assert not hasattr(sir, "dimension_tests_")
        assert hasattr(sir, "permutation_tests_") == (word == "auto")
        found.append(sir.n_components_)
    assert found.count(2) >= 8


def test_auto_never_asks_for_more_than_is_identified():
    X, y = make_data(d=8)
    sir = SemiSlicedInverseRegression().fit(X, y > np.median(y))
    assert sir.n_components_ == len(sir.eigenvalues_) == 1


# -- chunks --------------------------------------------------------------------------------------


@settings(max_examples=25)
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


@pytest.mark.parametrize("shift", [0.0, 0.5, 1e3, 1e7])
@pytest.mark.parametrize("gap", [1.0, 1e-3, 1e-9])  # the last: T's Cholesky factor is not relied on
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


def test_fit_forgets_the_chunks():
    X, y = make_data()
    sir = SemiSlicedInverseRegression(n_slices=[0.5, 2.0])
    sir.partial_fit(X + 3, y).fit(X, y).partial_fit(X, y)
    np.testing.assert_allclose(sir.components_, clone(sir).fit(X, y).components_, rtol=1e-8)


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


def test_an_integer_number_of_slices_is_read_off_the_first_chunk():
    X, y = make_data(n=300)
    by_chunk = SemiSlicedInverseRegression(2).partial_fit(X[:100], y[:100])
    by_chunk.partial_fit(X[100:], y[100:])
    by_edges = SemiSlicedInverseRegression(2, n_slices=slice_edges(y[:100], 10)).fit(X, y)
    np.testing.assert_allclose(by_chunk.components_, by_edges.components_, rtol=1e-8)


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


def test_few_rows_of_classes_in_chunks_choose_the_ridge_of_fit():
    X, y = load_iris(return_X_y=True)
    X, names = np.c_[X, X**2, np.sqrt(X)][::6], load_iris().target_names[y][::6]
    whole = SemiSlicedInverseRegression(1).fit(X, names)
    chunked = SemiSlicedInverseRegression(1).partial_fit(X, names, classes=np.unique(names))
    assert chunked.ridge_ == pytest.approx(whole.ridge_)
    np.testing.assert_allclose(chunked.components_, whole.components_, rtol=1e-6)


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


def test_large_means_and_float32_lose_nothing_in_chunks():
    X, y = make_data(n=3000)
    exact = SemiSlicedInverseRegression(1, n_slices=[1.0]).fit(X, y).eigenvalues_
    for rows, rtol in ((X + 1e5, 1e-8), (X.astype(np.float32), 1e-5)):
        sir = SemiSlicedInverseRegression(1, n_slices=[1.0])
        sir.partial_fit(rows[:1700], y[:1700]).partial_fit(rows[1700:], y[1700:])
        np.testing.assert_allclose(sir.eigenvalues_, exact, rtol=rtol)


# -- blocks of a Dask array ----------------------------------------------------------------------


@pytest.mark.parametrize("chunks", [(40, 6), (150, 6), (33, 2)])
def test_a_dask_array_gives_the_answer_of_its_rows(chunks):
    array = pytest.importorskip("dask.array")
    X, y = make_data()
    blocks = array.from_array(X, chunks=chunks)
    whole = SemiSlicedInverseRegression(2).fit(X, y)
    streamed = SemiSlicedInverseRegression(2).fit(blocks, array.from_array(y, chunks=50))
    np.testing.assert_allclose(streamed.components_, whole.components_, rtol=1e-8)
    np.testing.assert_allclose(streamed.eigenvalues_, whole.eigenvalues_, rtol=1e-8)
    assert streamed.n_features_in_ == 6
    Z = streamed.transform(blocks)
    assert isinstance(Z, array.Array)
    np.testing.assert_allclose(Z.compute(), whole.transform(X), atol=1e-8)


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
    with pytest.raises(ValueError, match="inconsistent numbers of samples 150 and 149"):
        SemiSlicedInverseRegression().fit(blocks, y[1:])
    X[70, 2] = np.inf
    with pytest.raises(ValueError, match="X contains infinity"):
        SemiSlicedInverseRegression().fit(array.from_array(X, chunks=(40, 6)), y)


# -- surface -------------------------------------------------------------------------------------


def test_inverse_transform_is_the_minimum_norm_preimage():
    X, y = make_data()
    sir = SemiSlicedInverseRegression(2).fit(X, y)
    Z = sir.transform(X)
    back = sir.inverse_transform(Z)
    np.testing.assert_allclose(sir.transform(back), Z, atol=1e-10)
    expected = linalg.lstsq(sir.components_, Z.T)[0].T + sir.mean_
    np.testing.assert_allclose(back, expected)


def test_frames_keep_their_names():
    X, y = make_data()
    columns = list("abcdef")
    sir = SemiSlicedInverseRegression(2).set_output(transform="pandas")
    Z = sir.fit(pd.DataFrame(X, columns=columns), y).transform(pd.DataFrame(X, columns=columns))
    assert sir.feature_names_in_.tolist() == columns
    assert Z.columns.tolist() == [
        "semislicedinverseregression0",
        "semislicedinverseregression1",
    ]
    polars = SemiSlicedInverseRegression(2).fit(pl.DataFrame(X, schema=columns), pl.Series(y))
    np.testing.assert_allclose(polars.components_, sir.components_, rtol=1e-12)
    with pytest.raises(ValueError, match="feature names"):
        sir.transform(pd.DataFrame(X, columns=list("abcdeg")))


def test_float32_stays_float32_and_is_computed_in_double_precision():
    X, y = make_data()
    rows = X.astype(np.float32)
    single = SemiSlicedInverseRegression(2).fit(rows, y)
    double = SemiSlicedInverseRegression(2).fit(rows.astype(np.float64), y)
    np.testing.assert_allclose(single.components_, double.components_, rtol=1e-6)
    Z = single.transform(rows)
    assert Z.dtype == np.float32
    assert single.inverse_transform(Z).dtype == np.float32
    np.testing.assert_allclose(Z, double.transform(rows), atol=1e-4)


@pytest.mark.parametrize("solver", ["iterative", "randomized", "paper"])
def test_same_seed_same_result_and_the_global_generator_rests(solver):
    X, y = make_data(n=120, d=20)
    np.random.seed(0)  # noqa: NPY002
    state = np.random.get_state()[1].copy()  # noqa: NPY002
    sir = SemiSlicedInverseRegression(2, solver=solver, n_local_neighbors=4, random_state=3)
    np.testing.assert_array_equal(sir.fit(X, y).components_, clone(sir).fit(X, y).components_)
    np.testing.assert_array_equal(np.random.get_state()[1], state)  # noqa: NPY002


@pytest.mark.parametrize(
    ("n", "d", "local", "expected"),
    [(100, 20, None, "dense"), (50, 80, None, "dual"), (1500, 30, 5, "randomized")],
)
def test_auto_picks_a_solver_by_shape(n, d, local, expected):
    X, y = make_data(n=n, d=d)
    sir = SemiSlicedInverseRegression(1, n_local_neighbors=local, random_state=0).fit(X, y)
    assert sir.solver_ == expected


def test_auto_forms_T_for_a_graph_with_somewhat_more_features_than_rows():
    X, y = make_data(n=60, d=90)
    y[30:] = np.nan
    for ridge, expected in ((1e-3, "dense"), (0.0, "dual")):
        sir = SemiSlicedInverseRegression(1, alpha=1.0, ridge=ridge).fit(X, y)
        assert sir.solver_ == expected


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


def test_one_member_slices_are_harmless():
    X, y = make_data(n=40)
    edges = np.sort(y)[[1, 20]]
    sir = SemiSlicedInverseRegression(1, n_slices=edges, n_local_neighbors=3).fit(X, y)
    assert np.isfinite(sir.components_).all()


@pytest.mark.parametrize("value", [5.0, 0.1, -1e9 / 3])
def test_constant_columns_have_no_weight(value):
    """The mean of n times 0.1 is not 0.1: what rounding leaves must not become a direction."""
    X, y = make_data(n=47)
    with_constant = np.insert(X, 2, value, axis=1)
    edges = np.quantile(y, [0.25, 0.5, 0.75])
    plain = SemiSlicedInverseRegression(2, n_slices=edges).fit(X, y)
    for fit in ("fit", "partial_fit"):
        sir = getattr(SemiSlicedInverseRegression(2, n_slices=edges), fit)(with_constant, y)
        np.testing.assert_allclose(sir.components_[:, 2], 0, atol=1e-12)
        np.testing.assert_allclose(np.delete(sir.components_, 2, axis=1), plain.components_)
        np.testing.assert_allclose(sir.eigenvalues_, plain.eigenvalues_, atol=1e-12)


def test_collinear_columns_do_not_upset_the_dimension_tests():
    X, y = make_data(d=3)
    sir = SemiSlicedInverseRegression().fit(np.hstack([X, X @ [[1.0, 2], [0, 1], [1, 1]]]), y)
    assert len(sir.eigenvalues_) == 3
    assert sir.dimension_tests_["statistic"].tolist()[3:] == [0.0, 0.0]


def test_columns_constant_among_the_labelled_rows_only():
    X, y = make_data()
    X[:50, 2], y[50:] = 0.1, np.nan
    sir = SemiSlicedInverseRegression(2).fit(X, y)
    assert np.isfinite(sir.components_).all()
    X[50:, 3] = X[:50, 3] = 0.3
    assert np.abs(SemiSlicedInverseRegression(2).fit(X, y).components_[:, 3]).max() < 1e-12


def test_sparse_X_is_refused_by_name():
    X, y = make_data()
    with pytest.raises(TypeError, match="parse data was passed"):
        SemiSlicedInverseRegression().fit(sparse.csr_array(X), y)


def test_inverse_transform_refuses_other_widths():
    X, y = make_data()
    sir = SemiSlicedInverseRegression(2).fit(X, y)
    with pytest.raises(ValueError, match="Z must have n_components_ = 2 columns: got 3"):
        sir.inverse_transform(np.ones((1, 3)))
