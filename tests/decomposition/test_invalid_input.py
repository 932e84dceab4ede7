"""What a user gets wrong on the way in: messages with parameter, rule, value and remedy."""

import re

import numpy as np
import pytest

from skbo_silbo import (
    MAVE,
    ActiveSubspace,
    KernelSlicedInverseRegression,
    OuterProductGradients,
    PrincipalHessianDirections,
    SemiSlicedInverseRegression,
    SlicedInverseRegression,
)

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 4))
Y = X[:, 0] + 0.1 * RNG.normal(size=40)
NAMES = np.where(Y > 0, "good", "bad").astype(object)


def refused(learner, message, *args, **kwargs):
    with pytest.raises(ValueError, match=re.escape(message)):
        learner.fit(*args, **kwargs)


@pytest.mark.parametrize(
    "learner", [SemiSlicedInverseRegression, KernelSlicedInverseRegression, ActiveSubspace]
)
@pytest.mark.parametrize("as_given", [np.asarray, list])
def test_weights_in_the_place_of_unlabelled_rows(learner, as_given):
    message = "X_unlabeled must have shape (n_u, 4), got (40,)."
    refused(learner(1), message, X, Y, as_given(np.ones(40)))
    refused(learner(1), "Pass weights by name, as sample_weight=", X, Y, as_given(np.ones(40)))


def test_invalid_X_unlabeled_is_named():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=list("abcd"))
    sir = SemiSlicedInverseRegression(1)
    refused(sir, "must have the same features", frame, Y, frame.rename(columns={"d": "e"}))
    refused(sir, "X_unlabeled must have the same features", X, Y, X[:, :3])
    refused(sir, "X_unlabeled contains NaN", X, Y, np.full((3, 4), np.nan))


@pytest.mark.parametrize("learner", [OuterProductGradients, PrincipalHessianDirections])
def test_categories_where_numbers_are_asked_for(learner):
    refused(
        learner(1),
        "y must hold numbers here, got strings. For classes, use SDRClassifier",
        X,
        NAMES,
    )
    two = np.column_stack([Y, X[:, 1]])
    refused(learner(1), "got an array of shape (40, 2). Pass a single", X, two)


def test_categories_of_sliced_inverse_regression():
    sir = SemiSlicedInverseRegression(1, categorical=False)
    refused(sir, "categorical=False, got strings. Use categorical='auto'.", X, NAMES)
    two = np.column_stack([NAMES, NAMES])
    refused(SemiSlicedInverseRegression(1), "shape (40, 2). Combine columns", X, two)
    refused(SemiSlicedInverseRegression(3), "DirectionalRegression can find", X, NAMES)


@pytest.mark.parametrize("learner", [SlicedInverseRegression, PrincipalHessianDirections, MAVE])
def test_unlabelled_samples_without_use_warn(learner):
    y = np.where(np.arange(40) < 30, Y, np.nan)
    with pytest.warns(UserWarning, match=f"10 unlabelled .* ignored: {learner.__name__} does"):
        marked = learner(1).fit(X, y)
    np.testing.assert_array_equal(marked.components_, learner(1).fit(X[:30], y[:30]).components_)


def test_text_in_X_is_named():
    text = np.column_stack([NAMES, NAMES])
    refused(SlicedInverseRegression(1), "X must hold numbers: could not convert string", text, Y)


@pytest.mark.parametrize("mark", [None, np.nan, "NA"])
def test_every_mark_of_a_missing_category(mark):
    y, kind = NAMES.copy(), object
    if mark == "NA":
        pandas = pytest.importorskip("pandas")
        mark, kind = pandas.NA, "string"
    y[:6] = mark
    if kind == "string":
        y = pandas.Series(y, dtype="string")
    marked = SemiSlicedInverseRegression(1, alpha=0).fit(X, y)
    alone = SemiSlicedInverseRegression(1).fit(X[6:], NAMES[6:])
    np.testing.assert_allclose(marked.components_, alone.components_)
    assert marked.n_slices_ == 2


@pytest.mark.parametrize(
    "learner",
    [ActiveSubspace, KernelSlicedInverseRegression, MAVE, OuterProductGradients],
)
def test_more_pairs_of_rows_than_memory_are_rejected(learner, monkeypatch):
    monkeypatch.setattr("skbo_silbo._checks._physical_memory", lambda: 8 * 39**2)
    message = f"X has too many rows for {learner.__name__}, .* got 40 rows, .* random sample"
    with pytest.raises(MemoryError, match=message):
        learner().fit(X, Y)
    assert learner().fit(X[:39], Y[:39]).n_features_in_ == 4
