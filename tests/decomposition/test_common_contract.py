"""Properties of every estimator of the package, found without registration."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from conformance import conformance
from global_generator import global_generator_unchanged
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter
from transformers import estimators_defined_in

from skbo_silbo import (
    DirectionalRegression,
    KernelSlicedInverseRegression,
    RecursiveFeatureMachine,
    SDRRegressor,
    SemiSlicedInverseRegression,
    SlicedInverseRegression,
    SparseSlicedInverseRegression,
    decomposition,
)

pytestmark = pytest.mark.filterwarnings(
    "ignore:No (direction was found|feature is kept)",
    "ignore:Little was found",
    "ignore:The linearity condition",
    "ignore:The condition of",
)

# Settings that save time or that a test needs, and checks of scikit-learn that cannot hold. New
# estimators of the package are tested without an entry here.
SETTINGS = {
    SparseSlicedInverseRegression: {"penalty": 0.05},
    KernelSlicedInverseRegression: {"gamma": 0.2},
    RecursiveFeatureMachine: {"metric": "full"},
    SDRRegressor: {"reducer": SlicedInverseRegression(1), "n_folds": 2},
}
# `test_weights_are_repeated_rows` checks where the size of the sample does not matter
SIZED = {"check_sample_weight_equivalence_on_dense_data": "choices depend on the sample size"}
ESTIMATORS = estimators_defined_in(decomposition)
TRANSFORMERS = [cls for cls in ESTIMATORS if hasattr(cls, "transform")]


def make(cls, **settings):
    """Return an estimator with one component and the settings of the tests."""
    names = cls._get_param_names()
    wanted = {"n_components": 1, "n_slices": 4} | settings | SETTINGS.get(cls, {})
    return cls(**{name: value for name, value in wanted.items() if name in names})


def test_every_estimator_is_exported():
    exported = [getattr(decomposition, name) for name in decomposition.__all__]
    assert {cls for cls in ESTIMATORS if cls not in exported} == set()


@conformance(
    [*(make(cls, n_slices=10) for cls in ESTIMATORS), SDRRegressor(n_folds=2)],
    but=lambda estimator: SIZED,
)
def test_scikit_learn_conformance(estimator, check, monkeypatch):
    # fitting once more along the directions found takes half of the time
    monkeypatch.setattr("skbo_silbo.decomposition._active_subspace.MAX_REFITS", 0)
    check(estimator)


LEARNERS = {cls.__name__: make(cls) for cls in TRANSFORMERS} | {
    "ridge": SemiSlicedInverseRegression(1, n_slices=4, ridge=0.1),
    "local": SemiSlicedInverseRegression(1, n_slices=4, n_local_neighbors=5),
    "paper": SemiSlicedInverseRegression(1, n_slices=4, solver="paper", random_state=0),
}
OTHER_FORMS = {
    "tests": SlicedInverseRegression(),
    "dual": SlicedInverseRegression(2, solver="dual", ridge=0.1, scale=False),
    "randomized": SlicedInverseRegression(2, solver="randomized", random_state=0),
    "reweighted": SlicedInverseRegression(2, reweight="elliptical"),
    "unlabelled": SemiSlicedInverseRegression(2, alpha=1.0),
    "criterion": DirectionalRegression("criterion"),
    "diagonal": RecursiveFeatureMachine(),
}
FORMS = LEARNERS | OTHER_FORMS
TAKE_UNLABELLED = {name for name in FORMS if has_fit_parameter(FORMS[name], "X_unlabeled")}
# methods whose ridge, bandwidth or noise depends on the sample size
DEPEND_ON_SIZE = {
    "ActiveSubspace",
    "KernelSlicedInverseRegression",
    "MAVE",
    "OuterProductGradients",
    "RecursiveFeatureMachine",
    "SemiSlicedInverseRegression",
    "SlicedInverseRegression",
}
EQUAL_WEIGHTS = {"local", "paper", "reweighted"}  # unequal weights are rejected
# methods whose scores do not depend on linear transformations of X
AFFINE = {
    "SlicedInverseRegression",
    "SlicedAverageVarianceEstimation",
    "DirectionalRegression",
    "PrincipalHessianDirections",
}
COARSE = {"ActiveSubspace"}  # whose optimum is found to some digits
LINEAR = {name for name in FORMS if not isinstance(FORMS[name], KernelSlicedInverseRegression)}
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


@pytest.mark.filterwarnings("ignore:20 unlabelled samples were ignored")
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
    rows = other.to_numpy()  # in Polars' order of memory, on which the last digit depends
    expected = new(name).fit(rows, y).transform(rows)
    found = new(name).fit(other, pl.Series(y)).transform(other)
    np.testing.assert_array_equal(found, expected)
    assert_same_scores(found, Z.to_numpy(), rtol=1e-6)
    with pytest.raises(ValueError, match="feature names"):
        fitted.transform(frame.rename(columns={"d": "e"}))


# -- weights -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(LEARNERS.keys() - EQUAL_WEIGHTS - DEPEND_ON_SIZE))
def test_weights_are_repeated_rows(name):
    X, y = make_rows(1)
    y = np.digitize(y, [-0.3, 0.2, 1.0]) * 1.0  # whose slices do not depend on the sample size
    counts = np.random.default_rng(1).integers(0, 3, size=60)
    weighted = new(name).fit(X, y, sample_weight=counts)
    repeated = new(name).fit(X.repeat(counts, 0), y.repeat(counts))
    assert_same_scores(weighted.transform(X), repeated.transform(X), rtol=1e-6)
    eigenvalues = repeated.eigenvalues_[:1]
    np.testing.assert_allclose(weighted.eigenvalues_[:1], eigenvalues, rtol=1e-6)


@weighed
def test_type_of_weights_is_irrelevant(name):
    X, y = make_rows(1)
    counts = np.random.default_rng(1).integers(0, 3, size=60)
    expected = new(name).fit(X, y, sample_weight=counts.astype(float)).transform(X)
    for same in (counts.astype(np.int8), counts.tolist(), pd.Series(counts, dtype="Int64")):
        found = new(name).fit(X, y, sample_weight=same).transform(X)
        np.testing.assert_array_equal(found, expected)


@weighed
def test_weight_scale_is_irrelevant(name):
    X, y = make_rows(2)
    weights = np.random.default_rng(2).uniform(0.2, 2, size=60)
    scores = new(name).fit(X, y, sample_weight=weights).transform(X)
    other = new(name).fit(X, y, sample_weight=1.7e12 * weights).transform(X)
    assert_same_scores(other, scores, rtol=1e-3 if name in COARSE else 1e-6)
    plain = new(name).fit(X, y).transform(X)
    equal = new(name).fit(X, y, sample_weight=np.full(60, 0.3)).transform(X)
    assert_same_scores(equal, plain, rtol=1e-3 if name in COARSE else 1e-6)


@weighed
def test_vanishing_weights_equal_zero(name):
    X, y = make_rows(3)
    weights = np.random.default_rng(2).uniform(0.2, 2, size=60)
    weights[:6] = 1e-300
    found = new(name).fit(X, y, sample_weight=weights).transform(X)
    weights[:6] = 0.0
    np.testing.assert_array_equal(new(name).fit(X, y, sample_weight=weights).transform(X), found)
    with pytest.raises(ValueError, match="at least 2 labels"):
        new(name).fit(X, y, sample_weight=np.r_[1.0, np.full(59, 1e-300)])


@every
def test_invalid_weights_raise(name):
    X, y = make_rows()
    for weights, message in (
        (np.ones(7), r"sample_weight must have shape \(60,\)"),
        ("w", "got 'w'. Pass a 1d array of 60 numbers"),
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
    assert fitted.transform(blocks.astype(np.float32)).dtype == np.float32
    in_memory = r"must be in memory, .* got a Dask .*np\.asarray"
    other = bag.from_sequence(X.tolist(), npartitions=2)
    with pytest.raises(ValueError, match=in_memory):
        fitted.transform(other)
    if isinstance(fitted, SlicedInverseRegression) and name not in ("local", "paper"):
        streamed = new(name).fit(blocks, y)
        np.testing.assert_allclose(streamed.components_, fitted.components_, rtol=1e-8)
        assert new(name).fit(blocks.astype("f4"), y).components_.dtype == "f4"
    elif not isinstance(fitted, SlicedInverseRegression):
        with pytest.raises(ValueError, match=in_memory):
            new(name).fit(blocks, y)


# -- edges ---------------------------------------------------------------------------------------


@every
def test_extreme_numbers_fit_or_raise(name):
    X, y = make_rows()
    for scale in (1e300, 1e-200):
        with pytest.raises(ValueError, match="column 2"):
            new(name).fit(X * np.array([1, 1, scale, 1]), y)
    if FORMS[name]._by_value:
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


@pytest.mark.parametrize("name", sorted(LINEAR))
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
def test_equal_rows_raise(name):
    with pytest.raises(ValueError, match=r"vary|varies"):
        new(name).fit(np.full((60, 2), 0.1), np.arange(60.0))


@pytest.mark.parametrize("name", sorted(LINEAR - {"randomized"}))
def test_large_offset_loses_no_digits(name):
    """Compare with the same rows, rounded as they are far from 0."""
    X, y = make_rows()
    moved = X + 1e14
    expected = new(name).fit(moved - 1e14, y).components_
    fitted = new(name).fit(moved, y)
    if name != "paper":  # which orders its columns by rounding
        np.testing.assert_allclose(fitted.components_, expected, rtol=1e-6, atol=1e-8)
    assert np.isfinite(fitted.transform(moved)).all()


# -- invalid input -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", LEARNERS)
def test_every_parameter_is_validated(name):
    for parameter in FORMS[name].get_params():
        with pytest.raises(ValueError, match=f"The '{parameter}' parameter of"):
            new(name).set_params(**{parameter: object()}).fit(*make_rows())


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        ("ridge", {"n_components": 5, "n_slices": 9}, r"be at most 4 \(n_features\), got 5"),
        ("ridge", {"n_components": 3, "n_slices": 3}, r"\bat\b most 2.*number"),
        ("paper", {"n_components": 3, "n_slices": 3}, r"\bat\b most 2.*number"),
        ("ridge", {"alpha": np.inf}, r"'alpha'.*Got inf"),
        ("local", {"reweight": "elliptical"}, r"reweight.*n_local_neighbors"),
        ("paper", {"reweight": "elliptical"}, r"reweight.*None"),
        ("SparseSlicedInverseRegression", {"n_components": 3, "n_slices": 3}, "at most 2"),
        ("KernelSlicedInverseRegression", {"n_components": 4}, r"n_components.*at most 3"),
    ],
)
def test_invalid_combinations_of_parameters_raise(name, parameters, message):
    with pytest.raises(ValueError, match=message):
        new(name).set_params(**parameters).fit(*make_rows())


@pytest.mark.parametrize("name", ["ridge", "ActiveSubspace", "RecursiveFeatureMachine"])
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
def test_invalid_y_raises(name, y, message):
    with pytest.raises(ValueError, match=message):
        new(name).fit(make_rows()[0], y)


@pytest.mark.parametrize("cls", [cls for cls in TRANSFORMERS if cls._needs_rows])
def test_too_few_rows_raise(cls):
    with pytest.raises(ValueError, match=r"more labelled rows than features .* got 5 .* 4 feat"):
        make(cls).fit(*make_rows(n=5))
