"""alpha chosen by cross-validation on a Pipeline, the unlabelled rows arriving by routing."""

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold, cross_validate
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR

from skbo_silbo.decomposition import SemiSlicedInverseRegression

ALPHAS = [0.0, 1.0, 10.0]


class RecordingSIR(SemiSlicedInverseRegression):
    """Keeps what reached it."""

    def fit(self, X, y, X_unlabeled=None):
        self.seen_ = None if X_unlabeled is None else np.array(X_unlabeled)
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


@pytest.mark.parametrize("regressor", [KNeighborsRegressor(3), SVR()])
def test_grid_search_scores_are_those_of_a_loop_by_hand(rows, regressor):
    X, y, X_unlabeled = rows
    folds = KFold(3, shuffle=True, random_state=0)
    search = GridSearchCV(
        pipeline(regressor=regressor), {"sdr__alpha": ALPHAS}, cv=folds, error_score="raise"
    ).fit(X, y, X_unlabeled=X_unlabeled)
    for fold, (train, test) in enumerate(folds.split(X)):
        for k, alpha in enumerate(ALPHAS):
            sir = SemiSlicedInverseRegression(1, n_slices=5, alpha=alpha)
            sir.fit(X[train], y[train], X_unlabeled)
            model = clone(regressor).fit(sir.transform(X[train]), y[train])
            by_hand = model.score(sir.transform(X[test]), y[test])
            assert search.cv_results_[f"split{fold}_test_score"][k] == pytest.approx(by_hand)
    refitted = SemiSlicedInverseRegression(1, n_slices=5, alpha=search.best_params_["sdr__alpha"])
    np.testing.assert_allclose(
        search.best_estimator_[0].components_, refitted.fit(X, y, X_unlabeled).components_
    )


def test_unlabelled_rows_matter_exactly_where_alpha_is_positive(rows):
    X, y, X_unlabeled = rows
    grid = {"sdr__alpha": ALPHAS}
    with_rows = GridSearchCV(pipeline(), grid, cv=3).fit(X, y, X_unlabeled=X_unlabeled)
    without = GridSearchCV(pipeline(), grid, cv=3).fit(X, y)
    same = np.isclose(
        with_rows.cv_results_["mean_test_score"], without.cv_results_["mean_test_score"]
    )
    assert same.tolist() == [True, False, False]


def test_unlabelled_rows_pass_through_the_steps_before(rows):
    X, y, X_unlabeled = rows
    model = pipeline(("scale", StandardScaler()), sdr=RecordingSIR)
    model.fit(X, y, X_unlabeled=X_unlabeled)
    expected = StandardScaler().fit(X).transform(X_unlabeled)
    np.testing.assert_allclose(model["sdr"].seen_, expected)
    # Without transform_input they would arrive unscaled, and nothing would say so.
    raw = clone(model).set_params(transform_input=None).fit(X, y, X_unlabeled=X_unlabeled)
    np.testing.assert_array_equal(raw["sdr"].seen_, X_unlabeled)


def test_not_requested_is_an_error(rows):
    X, y, X_unlabeled = rows
    model = Pipeline([("sdr", SemiSlicedInverseRegression(1)), ("knn", KNeighborsRegressor(3))])
    with pytest.raises(ValueError, match="X_unlabeled"):
        model.fit(X, y, X_unlabeled=X_unlabeled)


# Caveats, shown so that the documentation can rely on them.


@pytest.mark.filterwarnings("ignore:X_unlabeled has as many rows as the part")
@pytest.mark.parametrize(("n_unlabeled", "n_seen"), [(30, 20), (31, 31), (120, 120)])
def test_a_fold_slices_as_many_unlabelled_rows_as_labelled(rows, n_unlabeled, n_seen):
    """scikit-learn takes an argument of as many rows as X for one value a row, and slices it."""
    X, y, X_unlabeled = rows
    result = cross_validate(
        pipeline(sdr=RecordingSIR),
        X,
        y,
        cv=3,
        params={"X_unlabeled": X_unlabeled[:n_unlabeled]},
        return_estimator=True,
    )
    assert [len(model["sdr"].seen_) for model in result["estimator"]] == [n_seen] * 3


def test_nan_in_y_stops_at_the_regressor(rows):
    """NaN in y serves the transformer alone: a Pipeline hands the same y to every step."""
    X, y, X_unlabeled = rows
    both, marked = np.concatenate([X, X_unlabeled]), np.append(y, np.full(120, np.nan))
    sir = SemiSlicedInverseRegression(1, n_slices=5)
    by_nan = clone(sir).fit(both, marked)
    np.testing.assert_allclose(by_nan.components_, sir.fit(X, y, X_unlabeled).components_)
    with pytest.raises(ValueError, match="NaN"):
        pipeline().fit(both, marked)
