"""alpha chosen by cross-validation on a Pipeline, the unlabelled rows arriving by routing."""

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.model_selection import cross_validate
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from skbo_silbo.decomposition import SemiSlicedInverseRegression


class RecordingSIR(SemiSlicedInverseRegression):
    """Keeps what reached it."""

    def fit(self, X, y, X_unlabeled=None):
        self.recorded = None if X_unlabeled is None else np.array(X_unlabeled)
        return super().fit(X, y, X_unlabeled)


@pytest.fixture(autouse=True)
def _routing():
    with config_context(enable_metadata_routing=True):
        yield


@pytest.fixture
def rows():
    """30 labelled and 120 unlabelled rows of two smooth factors seen through 12 noisy features."""
    rng = np.random.default_rng(0)
    factors = rng.uniform(-1, 1, size=(150, 2))
    X = factors @ rng.normal(size=(2, 12)) + 0.3 * rng.normal(size=(150, 12)) + 5.0
    return X[:30], np.exp(factors[:30, 0]), X[30:]


def pipeline(*before, regressor=None, sdr=SemiSlicedInverseRegression):
    step = sdr(1, n_slices=5).set_fit_request(X_unlabeled=True)
    steps = [*before, ("sdr", step), ("regressor", regressor or KNeighborsRegressor(3))]
    return Pipeline(steps, transform_input=["X_unlabeled"])


def test_unlabelled_rows_pass_through_the_steps_before(rows):
    X, y, X_unlabeled = rows
    model = pipeline(("scale", StandardScaler()), sdr=RecordingSIR)
    model.fit(X, y, X_unlabeled=X_unlabeled)
    expected = StandardScaler().fit(X).transform(X_unlabeled)
    np.testing.assert_allclose(model["sdr"].recorded, expected)
    raw = clone(model).set_params(transform_input=None)  # they arrive unscaled
    with pytest.warns(UserWarning, match="scaled alike"):
        raw.fit(X, y, X_unlabeled=X_unlabeled)
    np.testing.assert_array_equal(raw["sdr"].recorded, X_unlabeled)


# Caveats, shown so that the documentation can rely on them.


@pytest.mark.parametrize(("n_unlabeled", "n_seen"), [(30, 20), (31, 31), (120, 120)])
def test_folds_split_unlabelled_rows_proportionally(rows, n_unlabeled, n_seen):
    """scikit-learn takes an argument of as many rows as X for one value a row, and slices it."""
    X, y, X_unlabeled = rows
    given = {"cv": 3, "params": {"X_unlabeled": X_unlabeled[:n_unlabeled]}}
    result = cross_validate(pipeline(sdr=RecordingSIR), X, y, return_estimator=True, **given)
    assert [len(model["sdr"].recorded) for model in result["estimator"]] == [n_seen] * 3
