"""Early stopping inside the folds: which rows are held out, and who sees them."""

import warnings

import numpy as np
import pytest
from scipy.stats import uniform
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone, is_classifier
from sklearn.datasets import load_diabetes, make_classification
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GroupKFold, TimeSeriesSplit
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import LabelEncoder, StandardScaler

from skbo_silbo import EarlyStopped, SILBOSearchCV, default_space

X, Y = load_diabetes(return_X_y=True)


class Booster(RegressorMixin, BaseEstimator):
    """A booster in XGBoost's words: it stops at the round that is best for ``eval_set``.

    After round k it predicts the mean of y plus k times `step`.
    """

    def __init__(self, step=1.0):
        self.step = step

    def fit(self, X, y, eval_set=None, sample_weight=None, sample_weight_eval_set=None, word=None):
        [(self.X_held_out_, self.y_held_out_)] = eval_set
        self.X_, self.weights_, self.word_ = X, (sample_weight, sample_weight_eval_set), word
        self.mean_ = np.average(y, weights=sample_weight)
        far = abs(self.y_held_out_.mean() - self.mean_)
        self.best_iteration_ = int(np.argmin([abs(far - k * self.step) for k in range(99)]))
        return self

    def predict(self, X):
        return np.full(len(X), self.mean_ + self.best_iteration_ * self.step)


class BoosterOfClasses(ClassifierMixin, Booster):
    """Of it only the rows that it is given matter."""


def test_early_stopping_uses_held_out_rows():
    model = EarlyStopped(Booster(), validation_fraction=0.25, random_state=0).fit(X, Y)
    inner = model.estimator_
    together = np.concatenate([inner.X_, inner.X_held_out_])
    assert len(inner.X_held_out_) == model.n_validation_ == 111
    np.testing.assert_array_equal(np.sort(together, axis=0), np.sort(X, axis=0))
    assert model.best_iteration_ == inner.best_iteration_
    np.testing.assert_array_equal(model.predict(X), inner.predict(X))


def test_groups_are_held_out_whole():
    groups = np.arange(len(X)) // 10
    rows = np.column_stack([X, groups])
    inner = EarlyStopped(Booster(), random_state=0).fit(rows, Y, groups=groups).estimator_
    assert not set(inner.X_[:, -1]) & set(inner.X_held_out_[:, -1])


def test_classes_keep_their_shares():
    y = np.repeat([0, 1], [400, 42])
    inner = EarlyStopped(BoosterOfClasses(), validation_fraction=0.5).fit(X, y).estimator_
    assert inner.y_held_out_.sum() == 21


def test_a_splitter_holds_out_by_its_first_split():
    inner = EarlyStopped(Booster(), splitter=TimeSeriesSplit(2)).fit(X, Y).estimator_
    fitted, held_out = next(TimeSeriesSplit(2).split(X))
    np.testing.assert_array_equal(inner.X_, X[fitted])
    np.testing.assert_array_equal(inner.X_held_out_, X[held_out])


def test_weights_go_with_their_rows():
    inner = EarlyStopped(Booster(), random_state=0).fit(X, Y, sample_weight=X[:, 0]).estimator_
    fitted, [held_out] = inner.weights_
    np.testing.assert_array_equal(fitted, inner.X_[:, 0])
    np.testing.assert_array_equal(held_out, inner.X_held_out_[:, 0])


def test_pipeline_steps_see_only_fitted_rows():
    steps = make_pipeline(StandardScaler(), Booster())
    model = EarlyStopped(steps, random_state=0).fit(X, Y, word="for the last step")
    scaler, booster = model.estimator_[0], model.estimator_[-1]
    fitted = scaler.inverse_transform(booster.X_)
    np.testing.assert_allclose(scaler.mean_, fitted.mean(axis=0), atol=1e-12)
    assert abs(scaler.mean_ - X.mean(axis=0)).max() > 1e-5
    assert booster.word_ == "for the last step"
    assert len(model.predict(X)) == len(X)


@pytest.mark.parametrize("in_pipeline", [False, True])
def test_default_space_leaves_rounds_out(in_pipeline):
    boosted = HistGradientBoostingRegressor(max_iter=500, early_stopping=True)
    steps = make_pipeline(StandardScaler(), boosted) if in_pipeline else boosted
    stopped, alone = default_space(EarlyStopped(steps)), default_space(steps)
    assert {f"estimator__{name}" for name in alone} == stopped.keys()  # 500 rounds are set
    rounds = {"histgradientboostingregressor__max_iter" if in_pipeline else "max_iter": 100}
    default = clone(steps).set_params(**rounds)
    assert default_space(default).keys() - alone.keys() == rounds.keys()
    assert default_space(EarlyStopped(default)).keys() == stopped.keys()


def test_search_warns_if_groups_are_not_passed_on():
    groups = np.arange(len(X)) // 10
    space = {"estimator__step": uniform(0.1, 3)}
    search = SILBOSearchCV(EarlyStopped(Booster()), space, n_iter=2, n_initial=2, cv=GroupKFold(3))
    with pytest.warns(UserWarning, match="`groups` are used by `cv` but not by EarlyStopped"):
        search.fit(X, Y, groups=groups)
    search.set_params(cv=3).fit(X, Y)  # warnings are errors


def test_groups_arrive_in_a_search_by_routing():
    groups = np.arange(len(X)) // 10
    rows = np.column_stack([X, groups])
    with config_context(enable_metadata_routing=True):
        model = EarlyStopped(Booster(), random_state=0).set_fit_request(groups=True)
        search = SILBOSearchCV(
            model, {"estimator__step": uniform(0.1, 3)}, n_iter=2, n_initial=2, cv=GroupKFold(3)
        )
        inner = search.fit(rows, Y, groups=groups).best_estimator_.estimator_
    assert not set(inner.X_[:, -1]) & set(inner.X_held_out_[:, -1])


def test_scikit_learns_boosting_stops_early():
    pytest.importorskip("sklearn", minversion="1.7")
    boosted = HistGradientBoostingRegressor(max_iter=200, early_stopping=True, random_state=0)
    model = EarlyStopped(boosted, random_state=0).fit(X, Y, sample_weight=np.ones(len(X)))
    assert model.best_iteration_ < 200
    assert model.score(X, Y) == pytest.approx(model.estimator_.score(X, Y))


def test_what_cannot_stop_early_is_refused_by_name():
    with pytest.raises(ValueError, match=r"validation set.*Linear"):
        EarlyStopped(LinearRegression()).fit(X, Y)
    with pytest.raises(AttributeError, match="classes_"):
        EarlyStopped(Booster()).fit(X, Y).classes_  # noqa: B018


@pytest.mark.parametrize("fraction", [0, 1, -0.5, "a half", 5])
def test_a_fraction_that_is_none_is_refused(fraction):
    with pytest.raises(ValueError, match=r"validation_fraction must be a number in \(0, 1\)"):
        EarlyStopped(Booster(), validation_fraction=fraction).fit(X, Y)


def test_it_is_an_estimator():
    model = clone(EarlyStopped(BoosterOfClasses(), random_state=3))
    assert model.get_params()["estimator__step"] == 1.0
    assert is_classifier(model)
    assert not is_classifier(EarlyStopped(Booster()))
    assert not hasattr(EarlyStopped(Booster()), "predict_proba")


def test_a_pipeline_with_memory_predicts(tmp_path):
    steps = [("scale", StandardScaler()), ("again", StandardScaler()), ("boost", Booster())]
    model = EarlyStopped(Pipeline(steps, memory=str(tmp_path)), random_state=0).fit(X, Y)
    without = EarlyStopped(Pipeline(steps), random_state=0).fit(X, Y)
    np.testing.assert_allclose(model.predict(X), without.predict(X))


class XGBoostLike(Booster):
    """It has a best iteration only where it was told to stop early."""

    def __init__(self, step=1.0, early_stopping_rounds=None):
        super().__init__(step)
        self.early_stopping_rounds = early_stopping_rounds

    def fit(self, X, y, eval_set=None):
        super().fit(X, y, eval_set)
        if self.early_stopping_rounds is None:
            del self.best_iteration_
        return self


@pytest.mark.parametrize(
    ("make", "off", "on"),
    [
        (HistGradientBoostingRegressor, {"max_iter": 5}, {"max_iter": 5, "early_stopping": True}),
        (XGBoostLike, {}, {"early_stopping_rounds": 5}),
    ],
)
def test_booster_without_early_stopping_warns(make, off, on):
    if make is HistGradientBoostingRegressor:
        pytest.importorskip("sklearn", minversion="1.7")
    with pytest.warns(UserWarning, match=f"not enabled for {make.__name__}.* 45 held-out"):
        EarlyStopped(make(**off), random_state=0).fit(X, Y)
    EarlyStopped(make(**on), random_state=0).fit(X, Y)  # warnings are errors


class LightGBMLike(ClassifierMixin, BaseEstimator):
    """A booster with the arguments of LightGBM 4.7, which encodes y and eval_set but not eval_y."""

    def fit(
        self,
        X,
        y,
        sample_weight=None,
        eval_set=None,
        eval_sample_weight=None,
        *,
        eval_X=None,
        eval_y=None,
    ):
        encoder = LabelEncoder().fit(y)
        self.classes_ = encoder.classes_
        if eval_set is not None:
            message = "The argument 'eval_set' is deprecated, use 'eval_X' and 'eval_y' instead."
            warnings.warn(message, FutureWarning, stacklevel=2)
            eval_y = encoder.transform(eval_set[0][1])
        self.best_iteration_ = int(np.sum(np.asarray(eval_y, dtype=float) == 1.0))
        return self


def labels_like(kind, codes):
    """Return labels of a kind for codes 0, 1, ..."""
    if kind == "strings":
        return np.array(["no", "perhaps", "yes"], dtype=object)[codes]
    return codes.astype(bool) if kind == "booleans" else codes + int(kind)


EARLY = {"n_estimators": 200, "n_jobs": 1, "random_state": 0}
BOOSTERS = {  # of three libraries, each told to stop early
    "lightgbm": ("LGBMClassifier", {**EARLY, "early_stopping_round": 10, "verbose": -1}),
    "xgboost": ("XGBClassifier", {**EARLY, "early_stopping_rounds": 10, "verbosity": 0}),
    "catboost": (
        "CatBoostClassifier",
        {
            "iterations": 200,
            "early_stopping_rounds": 10,
            "thread_count": 1,
            "random_seed": 0,
            "verbose": False,
            "allow_writing_files": False,
        },
    ),
}


def make_booster(library):
    name, params = BOOSTERS[library]
    return getattr(pytest.importorskip(library), name)(**params)


def fit_to_labels(booster, library, kind, n_classes=2):
    """Return an early-stopped booster fitted to labels of a kind, the rows and the labels."""
    rows, codes = make_classification(
        600, 8, n_informative=4, n_classes=n_classes, flip_y=0.2, random_state=0
    )
    y = labels_like(kind, codes)
    quiet = {"verbose": False} if library == "xgboost" else {}
    return EarlyStopped(booster, random_state=0).fit(rows, y, **quiet), rows, y


@pytest.mark.parametrize("kind", ["1", "strings", "booleans"])
def test_labels_of_held_out_rows_are_encoded(kind):
    coded, _, _ = fit_to_labels(LightGBMLike(), "", "0")
    labelled, _, y = fit_to_labels(LightGBMLike(), "", kind)
    assert labelled.best_iteration_ == coded.best_iteration_
    np.testing.assert_array_equal(labelled.classes_, np.unique(y))


@pytest.mark.parametrize(
    ("kind", "n_classes"), [("1", 2), ("strings", 2), ("booleans", 2), ("1", 3), ("strings", 3)]
)
@pytest.mark.parametrize("library", ["lightgbm", "catboost"])
def test_early_stopping_does_not_depend_on_labels(library, kind, n_classes):
    coded, rows, codes = fit_to_labels(make_booster(library), library, "0", n_classes)
    labelled, _, y = fit_to_labels(make_booster(library), library, kind, n_classes)
    assert labelled.best_iteration_ == coded.best_iteration_ > 5
    found, expected = (np.ravel(model.predict(rows)) for model in (labelled, coded))
    np.testing.assert_array_equal(found == y, expected == codes)  # CatBoost gives a column


def test_xgboost_stops_early_on_booleans():
    coded, _, _ = fit_to_labels(make_booster("xgboost"), "xgboost", "0")
    booleans, _, _ = fit_to_labels(make_booster("xgboost"), "xgboost", "booleans")
    assert booleans.best_iteration_ == coded.best_iteration_


@pytest.mark.parametrize("kind", ["1", "strings"])
def test_xgboost_still_rejects_labels_it_cannot_encode(kind):
    with pytest.raises(ValueError, match="Invalid classes inferred"):
        fit_to_labels(make_booster("xgboost"), "xgboost", kind)
