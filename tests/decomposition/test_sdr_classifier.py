"""Classification along learnt directions: accuracy, labels of any type, unlabelled rows."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler

from skbo_silbo import (
    RecursiveFeatureMachine,
    SDRClassifier,
    SDRRegressor,
    SemiSlicedInverseRegression,
    SlicedInverseRegression,
)

WEIGHTED = RecursiveFeatureMachine(metric="diagonal", n_iter=1)


def chequered(seed, n=150, d=10):
    """Classes of the quarters of the first two of d columns, which no linear method sees."""
    X = np.random.default_rng(seed).uniform(-1, 1, size=(n, d))
    return X, np.where(X[:, 0] * X[:, 1] > 0, "even", "odd")


def test_weighted_features_show_an_interaction():
    (X, y), (new, truth) = chequered(0), chequered(1, n=500)
    score = SDRClassifier(WEIGHTED).fit(X, y).score(new, truth)
    assert score > KNeighborsClassifier().fit(X, y).score(new, truth) + 0.1


@pytest.mark.parametrize(
    "reducer", [SlicedInverseRegression(2), SemiSlicedInverseRegression(2), PCA(2)]
)
def test_any_reducer_that_takes_classes_does(reducer):
    X, y = load_iris(return_X_y=True)
    assert SDRClassifier(reducer).fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.9


def test_parameters_of_the_reducer_are_searched():
    X, y = chequered(0)
    search = GridSearchCV(
        SDRClassifier(), {"reducer__metric": ["full"], "reducer__n_iter": [1, 3]}, cv=3
    )
    assert search.fit(X, y).best_params_ == {"reducer__metric": "full", "reducer__n_iter": 3}
    assert search.best_estimator_.reducer_.metric == "full"


@pytest.mark.parametrize("predictor", [SDRClassifier, SDRRegressor])
def test_passthrough_standardises_all_features(predictor):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)) * [1e-3, 1, 1e3], np.arange(60) % 2
    model = predictor("passthrough").fit(X, y)
    scaled = predictor("passthrough").fit(StandardScaler().fit_transform(X), y)
    np.testing.assert_allclose(
        model.predict(X), scaled.predict(StandardScaler().fit_transform(X)), atol=1e-8
    )
    assert isinstance(model.reducer_, StandardScaler)
    y = np.where(np.arange(60) < 50, y, np.nan)
    with pytest.warns(UserWarning, match="10 unlabelled .*: reducer='passthrough' does"):
        predictor("passthrough").fit(X, y)


@pytest.mark.parametrize("kind", [int, str, bool, "category"])
def test_classes_keep_their_type(kind):
    X, y = chequered(0)
    labels = pd.Series(y == "odd").astype(kind)
    classifier = SDRClassifier().fit(X, labels)
    predicted = classifier.predict(X)
    np.testing.assert_array_equal(predicted == classifier.classes_[1], y == "odd")
    assert set(predicted) == set(labels)


def test_unlabelled_rows_give_the_same_result_either_way():
    X, y = chequered(0)
    marked = y.astype(object)
    marked[100:] = np.nan
    model = SDRClassifier(WEIGHTED)
    inside, apart = clone(model).fit(X, marked), clone(model).fit(X[:100], y[:100], X[100:])
    np.testing.assert_allclose(inside.predict_proba(X), apart.predict_proba(X), rtol=1e-8)
    alone = clone(model).fit(X[:100], y[:100])
    assert not np.allclose(alone.predict_proba(X), apart.predict_proba(X), rtol=1e-4)


def test_no_direction_predicts_the_shares_of_classes():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(90, 3)), np.repeat(["a", "b", "b"], 30)
    with pytest.warns(UserWarning, match="No direction was found"):
        classifier = SDRClassifier(SlicedInverseRegression(ridge=0)).fit(X, y)
    np.testing.assert_allclose(classifier.predict_proba(X), [[1 / 3, 2 / 3]] * 90)


@pytest.mark.parametrize(
    ("reducer", "y", "message"),
    [
        ("passthrough", np.full(20, "a"), r"y must hold at least 2 classes .* got 1 class"),
        ("passthrough", np.full(20, np.nan), r"y must hold at least 2 classes .* got 0 class"),
        ("passthrough", np.linspace(0, 1, 20), "continuous"),
        ("pca", np.arange(20) % 2, "The 'reducer' parameter of SDRClassifier must be"),
    ],
)
def test_bad_arguments_are_rejected(reducer, y, message):
    with pytest.raises(ValueError, match=message):
        SDRClassifier(reducer).fit(np.random.default_rng(0).normal(size=(20, 2)), y)


def test_large_data_are_subsampled(monkeypatch):
    monkeypatch.setattr("skbo_silbo.decomposition._sdr_classifier.MOST_ROWS", 60)
    monkeypatch.setattr("skbo_silbo.decomposition._sdr_classifier.MOST_CENTRES", 40)
    X = np.random.default_rng(0).normal(size=(300, 3))
    y = np.where(X[:, 0] > 0, "a", "b")
    assert SDRClassifier().fit(X[:200], y[:200]).score(X[200:], y[200:]) > 0.9


@pytest.mark.parametrize("kind", ["boolean", "Int64", object])
def test_missing_labels_of_any_type_are_unlabelled(kind):
    X, y = load_iris(return_X_y=True)
    labels = pd.Series(y[50:] > 1, dtype=kind) if kind != "Int64" else pd.Series(y[50:], dtype=kind)
    labels[:5] = pd.NA
    model = SDRClassifier(RecursiveFeatureMachine(2)).fit(X[50:], labels)
    assert set(model.predict(X[50:]).tolist()) <= set(model.classes_.tolist())
    assert len(model.classes_) == 2
