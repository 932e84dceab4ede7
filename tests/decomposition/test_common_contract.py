"""What every transformer holds to: scikit-learn's contract, units, order, weights, types, edges."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from conformance import conformance
from global_generator import global_generator_unchanged
from sklearn.base import clone

from skbo_silbo import (
    MAVE,
    ActiveSubspace,
    DirectionalRegression,
    KernelSlicedInverseRegression,
    OuterProductGradients,
    PrincipalHessianDirections,
    RecursiveFeatureMachine,
    SDRClassifier,
    SDRRegressor,
    SemiSlicedInverseRegression,
    SlicedAverageVarianceEstimation,
    SlicedInverseRegression,
    SparseSlicedInverseRegression,
)

pytestmark = pytest.mark.filterwarnings(
    "ignore:No (direction was found|feature is kept)",
    "ignore:Little was found",
    "ignore:The linearity condition",
    "ignore:The condition of",
    "ignore:y was taken to be without noise",
)

WIDE = {"check_sample_weight_equivalence_on_dense_data": "15 rows of 30 features are refused"}
# scores of weighted and of repeated rows end within 1e-6 of each other, where L-BFGS stops, and
# the check asks for 1e-7: test_counts_are_repeated_rows holds them to fewer digits
MODE = {"check_sample_weight_equivalence_on_dense_data": "the mode is found to 1e-6"}
FAILS = {
    SlicedAverageVarianceEstimation: WIDE,
    DirectionalRegression: WIDE,
    PrincipalHessianDirections: WIDE,
    OuterProductGradients: WIDE,
    MAVE: WIDE,
    ActiveSubspace: MODE,
    SDRRegressor: MODE,  # and test_sdr_regressor.py
}


@conformance(
    [
        SlicedInverseRegression(),
        SemiSlicedInverseRegression(1),
        SlicedAverageVarianceEstimation(1),
        DirectionalRegression(1),
        PrincipalHessianDirections(1),
        SparseSlicedInverseRegression(1, penalty=0.01),
        KernelSlicedInverseRegression(1),
        OuterProductGradients(1),
        MAVE(1),
        ActiveSubspace(1, n_refinements=0),
        RecursiveFeatureMachine(1),
        SDRClassifier(),
        SDRRegressor(SlicedInverseRegression(1), n_folds=2),
    ],
    but=lambda estimator: FAILS.get(type(estimator), {}),
)
def test_scikit_learn_conformance(estimator, check):
    check(estimator)


LEARNERS = {
    "sir": SlicedInverseRegression(1, n_slices=4),
    "ridge": SemiSlicedInverseRegression(1, n_slices=4, ridge=0.1),
    "local": SemiSlicedInverseRegression(1, n_slices=4, n_local_neighbors=5),
    "paper": SemiSlicedInverseRegression(1, n_slices=4, solver="paper", random_state=0),
    "save": SlicedAverageVarianceEstimation(1, n_slices=4),
    "directional": DirectionalRegression(1, n_slices=4),
    "hessian": PrincipalHessianDirections(1),
    "sparse": SparseSlicedInverseRegression(1, n_slices=4, penalty=0.05),
    "kernel": KernelSlicedInverseRegression(1, n_slices=4, gamma=0.2, fit_inverse_transform=True),
    "gradients": OuterProductGradients(1),
    "mave": MAVE(1),
    "process": ActiveSubspace(1, n_refinements=0),
    "machine": RecursiveFeatureMachine(1, metric="full"),
}
OTHER_FORMS = {
    "tests": SlicedInverseRegression(),
    "iterative": SlicedInverseRegression(2, solver="iterative", random_state=0),
    "dual": SlicedInverseRegression(2, solver="dual", ridge=0.1, scale=False),
    "randomized": SlicedInverseRegression(2, solver="randomized", random_state=0),
    "reweighted": SlicedInverseRegression(2, reweight="elliptical"),
    "unlabelled": SemiSlicedInverseRegression(2, alpha=1.0),
    "alpha": SemiSlicedInverseRegression(2),
    "criterion": DirectionalRegression("criterion"),
    "diagonal": RecursiveFeatureMachine(),
}
FORMS = LEARNERS | OTHER_FORMS
TAKE_UNLABELLED = {"ridge", "local", "paper", "kernel", "process", "unlabelled", "alpha"}
TAKE_UNLABELLED |= {"machine", "diagonal"}  # of `RecursiveFeatureMachine`
EQUAL_WEIGHTS = {"local", "paper", "reweighted"}  # those that differ are refused
AFFINE = {"sir", "save", "directional", "hessian"}  # scores of any linear map of X are the same
READ_VALUES = {"hessian", "gradients", "mave", "process", "machine"}  # of y, not its order alone
every = pytest.mark.parametrize("name", LEARNERS)
weighed = pytest.mark.parametrize("name", sorted(LEARNERS.keys() - EQUAL_WEIGHTS))


def make_rows(seed=0, n=60, mean=0.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)) * [1, 2, 0.5, 1] + mean
    score = (X[:, 0] - X[:, 0].mean()) / X[:, 0].std()
    return X, score + score**2 + 0.3 * rng.normal(size=n)


def new(name):
    return clone(FORMS[name])


def assert_same_scores(found, expected, *, rtol=1e-5, signed=True):
    if not signed:
        found, expected = np.abs(found), np.abs(expected)
    np.testing.assert_allclose(found, expected, atol=rtol * np.abs(expected).max())


@every
def test_fit_is_invariant_to_units_and_order(name):
    X, y = make_rows()
    rng = np.random.default_rng(1)
    order, turn = rng.permutation(60), np.linalg.qr(rng.normal(size=(4, 4)))[0]
    change = np.diag(np.geomspace(1e-3, 1e3, 4))
    if name in AFFINE:
        change = rng.normal(size=(4, 4)) @ change
    elif name in ("local", "paper"):  # neighbours and ridge are of distances
        change = turn
    moved = (X @ change + 3.0)[order]
    one, other = new(name).fit(X, y), new(name).fit(moved, y[order])
    Z, W = one.transform(X[order]), other.transform(moved)
    assert_same_scores(W / W.std(), Z / Z.std(), rtol=1e-4, signed=False)


@every
def test_nan_labels_equal_X_unlabeled(name):
    X, y = make_rows()
    y[40:] = np.nan
    apart = {"X_unlabeled": X[40:]} if name in TAKE_UNLABELLED else {}
    expected = new(name).fit(X[:40], y[:40], **apart).transform(X)
    assert_same_scores(new(name).fit(X, y).transform(X), expected, rtol=1e-8)


@every
def test_refit_is_reproducible_without_side_effects(name):
    X, y = make_rows()
    before = X.copy()
    with global_generator_unchanged():
        fitted, again = new(name).fit(X, y), new(name).fit(X, y)
        Z = fitted.transform(X)
    np.testing.assert_array_equal(again.transform(X), Z)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(fitted)).transform(X), Z)
    np.testing.assert_array_equal(X, before)


@every
def test_frames_keep_their_names(name):
    X, y = make_rows()
    frame, other = pd.DataFrame(X, columns=list("abcd")), pl.DataFrame(X, schema=list("abcd"))
    fitted = new(name).set_output(transform="pandas").fit(frame, y)
    Z = fitted.transform(frame)
    assert Z.columns.tolist() == [f"{type(fitted).__name__.lower()}0"]
    assert fitted.feature_names_in_.tolist() == list("abcd")
    np.testing.assert_array_equal(new(name).fit(other, pl.Series(y)).transform(other), Z)
    with pytest.raises(ValueError, match="feature names"):
        fitted.transform(frame.rename(columns={"d": "e"}))


@pytest.mark.parametrize("name", sorted(LEARNERS.keys() - {"kernel"}))
def test_transform_and_inverse_transform_match_components(name):
    X, y = make_rows()
    fitted = new(name).set_params(n_components=2).fit(X, y)
    Z = fitted.transform(X)
    np.testing.assert_allclose(Z, (X - fitted.mean_) @ fitted.components_.T, atol=1e-12)
    back = np.linalg.lstsq(fitted.components_, Z.T, rcond=None)[0].T + fitted.mean_
    np.testing.assert_allclose(fitted.inverse_transform(Z), back, atol=1e-8)
    with pytest.raises(ValueError, match=r"\bZ\b.*n_components_.*got 3"):
        fitted.inverse_transform(np.ones((1, 3)))


# -- weights -------------------------------------------------------------------------------------


@weighed
def test_counts_are_repeated_rows(name):
    X, y = make_rows(1)
    counts = np.random.default_rng(1).integers(0, 3, size=60)
    weighted = new(name).fit(X, y, sample_weight=counts)
    repeated = new(name).fit(X.repeat(counts, 0), y.repeat(counts))
    assert_same_scores(weighted.transform(X), repeated.transform(X), rtol=1e-3)
    eigenvalues = repeated.eigenvalues_[:1]
    np.testing.assert_allclose(weighted.eigenvalues_[:1], eigenvalues, rtol=1e-3)
    if name != "process":  # its mode is found to some digits
        assert_same_scores(weighted.transform(X), repeated.transform(X), rtol=1e-6)


@weighed
def test_weight_scale_is_irrelevant(name):
    X, y = make_rows(2)
    weights = np.random.default_rng(2).uniform(0.2, 2, size=60)
    scores = new(name).fit(X, y, sample_weight=weights).transform(X)
    other = new(name).fit(X, y, sample_weight=1.7e12 * weights).transform(X)
    assert_same_scores(other, scores, rtol=1e-3 if name == "process" else 1e-6)
    plain = new(name).fit(X, y).transform(X)
    equal = new(name).fit(X, y, sample_weight=np.full(60, 0.3)).transform(X)
    assert_same_scores(equal, plain, rtol=1e-3 if name == "process" else 1e-6)


@every
def test_bad_weights_are_refused(name):
    X, y = make_rows()
    for weights, message in (
        (np.ones(7), r"sample_weight must have shape \(60,\)"),
        (np.ones((60, 1)), r"sample_weight must have shape \(60,\)"),
        (-np.ones(60), "sample_weight must be non-negative"),
        (np.zeros(60), "sample_weight must be positive for some sample"),
        (np.full(60, np.nan), "sample_weight contains NaN"),
        (np.r_[1.0, np.zeros(59)], "at least 2 labels"),
    ):
        with pytest.raises(ValueError, match=message):
            new(name).fit(X, y, sample_weight=weights)
    if name in EQUAL_WEIGHTS:
        with pytest.raises(ValueError, match=r"sample_weight .* with (n_local_nei|solver='paper')"):
            new(name).fit(X, y, sample_weight=np.arange(60))


# -- types ---------------------------------------------------------------------------------------


@every
def test_float32_input_gives_float32_scores(name):
    X, y = make_rows(n=120, mean=30.0)
    rows = X.astype(np.float32)
    single, double = new(name).fit(rows, y), new(name).fit(rows.astype(np.float64), y)
    Z = single.transform(rows)
    assert Z.dtype == np.float32
    assert single.transform(X).dtype == np.float64
    assert getattr(single, "components_", Z).dtype == np.float32
    np.testing.assert_allclose(Z, double.transform(rows.astype(np.float64)), atol=2e-4)
    back = single.inverse_transform(Z)
    assert back.dtype == np.float32
    np.testing.assert_allclose(back, double.inverse_transform(Z.astype(np.float64)), rtol=1e-4)
    if hasattr(double, "components_"):
        np.testing.assert_allclose(single.components_, double.components_, rtol=1e-6, atol=1e-9)


@every
def test_dask_transform_is_lazy(name):
    array, bag = pytest.importorskip("dask.array"), pytest.importorskip("dask.bag")
    X, y = make_rows(n=120)
    blocks, fitted = array.from_array(X, chunks=(50, 3)), new(name).fit(X, y)
    Z = fitted.transform(blocks)
    assert Z.chunks == ((50, 50, 20), (1,))
    np.testing.assert_allclose(Z.compute(), fitted.transform(X), atol=1e-10)
    back = fitted.inverse_transform(Z)
    assert back.chunks[0] == (50, 50, 20)
    np.testing.assert_allclose(back.compute(), fitted.inverse_transform(fitted.transform(X)))
    assert fitted.transform(blocks.astype(np.float32)).dtype == np.float32
    in_memory = r"must be in memory, .* got a Dask .*np\.asarray"
    other = bag.from_sequence(X.tolist(), npartitions=2)
    for call in (fitted.transform, fitted.inverse_transform):
        with pytest.raises(ValueError, match=in_memory):
            call(other)
    if name in ("sir", "ridge"):
        streamed = new(name).fit(blocks, y)
        np.testing.assert_allclose(streamed.components_, fitted.components_, rtol=1e-8)
        assert new(name).fit(blocks.astype("f4"), y).components_.dtype == "f4"
    elif name not in ("local", "paper"):
        with pytest.raises(ValueError, match=in_memory):
            new(name).fit(blocks, y)


# -- edges ---------------------------------------------------------------------------------------


@every
def test_extreme_numbers_fit_or_raise(name):
    X, y = make_rows()
    for scale in (1e300, 1e-200):
        with pytest.raises(ValueError, match="column 2"):
            new(name).fit(X * np.array([1, 1, scale, 1]), y)
    if name in READ_VALUES:
        with pytest.raises(ValueError, match=r"exceeds 1e\+140"):
            new(name).fit(X, 1e300 * y)
    else:
        Z = new(name).fit(X, y).transform(X)
        np.testing.assert_allclose(new(name).fit(X, 1e300 * y).transform(X), Z, atol=1e-8)


@every
def test_column_lost_in_rounding_warns(name):
    X, y = make_rows()
    with pytest.warns(UserWarning, match="column 2"):
        fitted = new(name).fit(X + 1e16 * np.eye(4)[2], y)
    X[:, 2] = 1e16
    Z = fitted.transform(X)
    np.testing.assert_allclose(new(name).fit(X, y).transform(X), Z, atol=1e-6)  # and no warning


@pytest.mark.parametrize("name", sorted(FORMS.keys() - {"kernel"}))
def test_constant_column_gets_zero_weight(name):
    X, y = make_rows(n=130)
    value = -1e9 / 3 if len(name) % 2 else 98.6  # whose means are other numbers
    if name in TAKE_UNLABELLED:
        y[::3] = np.nan
    padded, weights = np.insert(X, 2, value, axis=1), np.random.default_rng(0).uniform(1, 2, 130)
    for given in ({}, {} if name in EQUAL_WEIGHTS else {"sample_weight": weights}):
        without = new(name).fit(X, y, **given).components_
        fitted = new(name).fit(padded, y, **given)
        assert (fitted.components_[:, 2] == 0).all()
        assert fitted.mean_[2] == value
        np.testing.assert_allclose(np.delete(fitted.components_, 2, axis=1), without, rtol=1e-7)


@pytest.mark.parametrize("name", FORMS)
def test_rows_that_are_all_the_same_are_refused(name):
    with pytest.raises(ValueError, match=r"vary|varies"):
        new(name).fit(np.full((60, 2), 0.1), np.arange(60.0))


@pytest.mark.parametrize("name", sorted(FORMS.keys() - {"kernel", "iterative", "randomized"}))
def test_a_place_far_away_takes_no_digits(name):
    """Nanoseconds since 1970: the rows as they are rounded there, and the answer of these."""
    X, y = make_rows()
    moved = X + 1e14
    expected = new(name).fit(moved - 1e14, y).components_
    fitted = new(name).fit(moved, y)
    if name != "paper":  # which orders its columns by rounding
        np.testing.assert_allclose(fitted.components_, expected, rtol=1e-6, atol=1e-8)
    assert np.isfinite(fitted.transform(moved)).all()


# -- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        ("ridge", {"n_components": 0}, r"n_components.*'auto'"),
        ("ridge", {"n_components": 2.0}, r"'criterion'.*>= 1.*got 2.0"),
        ("ridge", {"n_components": 5, "n_slices": 9}, r"be at most 4 \(n_features\), got 5"),
        ("ridge", {"n_components": 3, "n_slices": 3}, r"\bat\b most 2.*number"),
        ("paper", {"n_components": 3, "n_slices": 3}, r"\bat\b most 2.*number"),
        ("ridge", {"alpha": -1.0}, r"alpha.*got -1.0"),
        ("ridge", {"alpha": np.inf}, r"alpha.*got inf"),
        ("ridge", {"scale": "yes"}, r"scale.*got 'yes'"),
        ("ridge", {"categorical": 1}, r"categorical.*got 1"),
        ("ridge", {"ridge": "big"}, r"ridge.*got 'big'"),
        ("ridge", {"n_neighbors": 0}, r"n_neighbors.*got 0"),
        ("ridge", {"n_local_neighbors": 1}, r"n_local_neighbors.*>= 2"),
        ("ridge", {"solver": "svd"}, r"solver.*got 'svd'"),
        ("ridge", {"neighbors": "annoy"}, r"neighbors.*got 'annoy'"),
        ("ridge", {"reweight": "normal"}, r"reweight.*got .normal"),
        ("local", {"reweight": "elliptical"}, r"reweight.*n_local_neighbors"),
        ("paper", {"reweight": "elliptical"}, r"reweight.*None"),
        ("hessian", {"on": "y"}, r"\bon\b.*'residuals'.*got 'y'"),
        ("hessian", {"n_components": 5}, r"n_components.*got 5"),
        ("sparse", {"n_components": 3, "n_slices": 3}, r"n_components.*at most 2"),
        ("sparse", {"penalty": -1.0}, r"penalty.*got -1.0"),
        ("sparse", {"penalty": "cv"}, r"penalty.*got 'cv'"),
        ("sparse", {"penalty": "auto", "n_folds": 1}, r"n_folds.*got 1"),
        ("kernel", {"n_components": 0}, r"n_components.*got 0"),
        ("kernel", {"n_components": 4}, r"n_components.*at most 3"),
        ("kernel", {"fit_inverse_transform": "no"}, r"True.*got 'no'"),
        ("kernel", {"kernel": "rpf"}, r"kernel.*got 'rpf'"),
        ("kernel", {"gamma": -1.0}, r"gamma.*got -1.0"),
        ("kernel", {"alpha": -1.0}, r"alpha.*got -1.0"),
        ("kernel", {"ridge": "best"}, r"ridge.*got 'best'"),
        ("mave", {"n_components": 5}, r"n_components.*got 5"),
        ("mave", {"target": "median"}, r"target.*got 'median'"),
        ("mave", {"response": "log"}, r"response.*got 'log'"),
        ("process", {"n_components": 5}, r"n_components.*got 5"),
        ("process", {"n_components": 0}, r"n_components.*got 0"),
        ("process", {"n_components": True}, r"n_components.*got True"),
        ("process", {"n_components": "all"}, r"n_components.*got 'all'"),
        ("process", {"n_refinements": -1}, r"n_refinements.*got -1"),
        ("machine", {"metric": "identity"}, r"metric.*got 'identity'"),
        ("machine", {"n_iter": 0}, r"n_iter.*got 0"),
        ("machine", {"n_components": 5}, r"n_components.*got 5"),
    ],
)
def test_bad_parameters_are_refused(name, parameters, message):
    with pytest.raises(ValueError, match=message):
        new(name).set_params(**parameters).fit(*make_rows())


@pytest.mark.parametrize("name", ["ridge", "process", "machine"])
@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.ones(60), r"\by\b.*take at least 2"),
        (np.full(60, np.nan), "at least 2 labels .* got 0 in 60 samples"),
        (np.r_[1.0, np.full(59, np.nan)], "at least 2 labels .* got 1 in 60 samples"),
        (np.r_[np.inf, np.arange(59.0)], "y contains infinity"),
        (np.full(60, "a"), "all 60 labels are a|y must hold numbers here, got strings"),
        (np.arange(59.0), "inconsistent numbers of samples"),
    ],
)
def test_bad_y_is_refused(name, y, message):
    with pytest.raises(ValueError, match=message):
        new(name).fit(make_rows()[0], y)


@pytest.mark.parametrize("name", ["save", "directional", "hessian", "gradients", "mave"])
def test_too_few_rows_are_refused(name):
    with pytest.raises(ValueError, match=r"more labelled rows than features .* got 5 .* 4 feat"):
        new(name).fit(*make_rows(n=5))
