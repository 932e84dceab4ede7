"""SILBOSearchCV beside RandomizedSearchCV: the same surface, results and conformance."""

import inspect
import pickle
import warnings

import numpy as np
import pytest
import sklearn
from scipy.stats import loguniform, randint, uniform
from sklearn.base import BaseEstimator, clone
from sklearn.datasets import load_iris, make_classification, make_regression
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import accuracy_score, f1_score, make_scorer
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneGroupOut,
    RandomizedSearchCV,
    cross_val_score,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import check_estimator
from task_recorder import Recorder

from skbo_silbo.model_selection import SILBOSearchCV

X, Y = load_iris(return_X_y=True)
SPACE = {"C": loguniform(1e-2, 1e2), "gamma": loguniform(1e-3, 1)}


def defaults(cls):
    return {name: p.default for name, p in inspect.signature(cls).parameters.items()}


def test_signature_extends_randomized_search():
    ours, theirs = defaults(SILBOSearchCV), defaults(RandomizedSearchCV)
    assert list(ours)[:2] == list(theirs)[:2]
    theirs["param_distributions"] = "auto"
    assert str({name: ours[name] for name in theirs}) == str(theirs)


def test_fitted_attributes_extend_randomized_search():
    ours, theirs = (
        # gamma="scale" comes first by default, and makes a column of objects
        cls(SVC(gamma=0.1), SPACE, n_iter=4, cv=3, random_state=0, return_train_score=True).fit(
            X, Y
        )
        for cls in (SILBOSearchCV, RandomizedSearchCV)
    )
    public = [{n for n in vars(s) if n.endswith("_")} for s in (ours, theirs)]
    own = {"n_samples_fit_", "optimizer_", "space_", "stop_reason_"}
    assert public[0] - public[1] == own
    assert public[1] <= public[0]
    assert {n for n in dir(theirs) if n[0] != "_"} <= set(dir(ours))
    columns = set(ours.cv_results_) - set(theirs.cv_results_)
    assert columns == {"iter", "proposal_time", "resumed", "source"}
    assert set(theirs.cv_results_) <= set(ours.cv_results_)
    for key, column in theirs.cv_results_.items():
        assert type(ours.cv_results_[key]) is type(column)
        assert getattr(ours.cv_results_[key], "dtype", None) == getattr(column, "dtype", None)
        assert len(ours.cv_results_[key]) == len(column)
    [types] = {tuple(map(type, p.values())) for p in ours.cv_results_["params"][1:]}
    assert types == (float, float)  # those of RandomizedSearchCV are NumPy's, which derive from it


def test_scores_are_those_of_cross_val_score():
    fitted = SILBOSearchCV(SVC(), SPACE, n_iter=4, cv=4, batch_size=2, random_state=0).fit(X, Y)
    for i, params in enumerate(fitted.cv_results_["params"]):
        scores = cross_val_score(SVC(**params), X, Y, cv=4)
        assert fitted.cv_results_["mean_test_score"][i] == np.mean(scores)
        assert fitted.cv_results_["split3_test_score"][i] == scores[3]
    assert fitted.best_score_ == fitted.cv_results_["mean_test_score"].max()
    np.testing.assert_array_equal(
        fitted.predict(X), SVC(**fitted.best_params_).fit(X, Y).predict(X)
    )


# Conformance: no check fails that RandomizedSearchCV passes, and these fail in both.

EXPECTED_FAILURES = {
    "check_supervised_y_2d": "Ridge takes y of several columns; BaseSearchCV, whose tags are used, "
    "does not pass on its tag multi_output, so a warning is expected that Ridge need not give"
}

TINY = {
    "classifier": (GaussianNB(), {"var_smoothing": loguniform(1e-9, 1e-3)}),
    "regressor": (Ridge(), {"alpha": [0.1, 1.0]}),
    "pipeline": (make_pipeline(StandardScaler(), Ridge()), {"ridge__alpha": uniform(0.1, 1)}),
}


def failed_checks(cls, name):
    estimator, space = TINY[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(
            cls(estimator, space, n_iter=2, cv=2, error_score="raise", random_state=0),
            on_fail=None,
        )
    assert len(results) > 30
    return {result["check_name"] for result in results if result["status"] == "failed"}


@pytest.mark.parametrize(
    "name",
    ["classifier", *(pytest.param(n, marks=pytest.mark.slow) for n in ("regressor", "pipeline"))],
)
def test_check_estimator_fails_nothing_that_randomized_search_passes(name):
    failed = failed_checks(SILBOSearchCV, name)
    assert failed <= EXPECTED_FAILURES.keys()
    assert not failed or failed <= failed_checks(RandomizedSearchCV, name)


def test_clone_get_params_and_pickle():
    search = SILBOSearchCV(SVC(), SPACE, n_iter=4, patience=3, embedding="identity", random_state=0)
    copy = clone(search)
    assert copy.get_params()["patience"] == 3
    assert copy.get_params()["estimator__kernel"] == "rbf"
    assert copy.get_params().keys() == search.get_params().keys()
    search.fit(X, Y)
    again = pickle.loads(pickle.dumps(search))
    np.testing.assert_array_equal(again.predict(X), search.predict(X))
    assert again.optimizer_.ask() == search.optimizer_.ask()
    assert not hasattr(clone(search), "cv_results_")
    assert search.predict_score([]).mean.shape == (0,)


def test_inside_and_around_a_pipeline():
    inside = make_pipeline(StandardScaler(), SILBOSearchCV(SVC(), SPACE, n_iter=4, random_state=0))
    assert inside.fit(X, Y).score(X, Y) > 0.9
    pipeline = Pipeline([("scale", None), ("reduce", PCA()), ("model", SVC())])
    space = {
        "scale": [StandardScaler(), "passthrough", None],
        "reduce__n_components": randint(1, 5),
        "model": [SVC(), DecisionTreeClassifier(random_state=0)],
    }
    around = SILBOSearchCV(pipeline, space, n_iter=24, n_initial=22, cv=2, random_state=0).fit(X, Y)
    assert len(around.cv_results_["params"]) == 24  # 3 x 4 x 2: the whole space
    assert around.best_score_ > 0.9
    # Candidates are cloned before fitting: the values given stay as they were.
    assert not hasattr(space["scale"][0], "mean_")


# Metrics and refit.

METRICS = {"accuracy": make_scorer(accuracy_score), "f1": make_scorer(f1_score, average="macro")}


@pytest.mark.parametrize(
    ("scoring", "refit", "searched"),
    [
        (METRICS, "f1", "f1"),
        (METRICS, "accuracy", "accuracy"),
        (["f1_macro", "accuracy"], False, "f1_macro"),
        (METRICS, lambda results: 2, "accuracy"),
        (lambda e, X, y: {"one": e.score(X, y), "two": e.C}, "two", "two"),
    ],
)
def test_several_metrics_one_of_which_is_searched(scoring, refit, searched):
    search = SILBOSearchCV(
        SVC(gamma=0.1), SPACE, n_iter=3, scoring=scoring, refit=refit, random_state=0
    )
    search.fit(X, Y)
    np.testing.assert_array_equal(
        search.optimizer_.func_vals_, -search.cv_results_[f"mean_test_{searched}"]
    )
    assert search.multimetric_
    if callable(refit):
        assert search.best_index_ == 2
    assert hasattr(search, "best_estimator_") is (refit is not False)


# Groups, weights, routing.


class NeedsWeights(LogisticRegression):
    def fit(self, X, y, sample_weight=None):
        assert sample_weight is not None
        assert len(sample_weight) == len(X)
        return super().fit(X, y, sample_weight)


def test_groups_and_fit_parameters_reach_splitter_and_estimator():
    X, y = make_classification(60, random_state=0)
    groups, space = np.repeat(np.arange(6), 10), {"C": loguniform(0.1, 10)}
    search = SILBOSearchCV(LogisticRegression(), space, n_iter=3, cv=GroupKFold(3), random_state=0)
    ours = search.fit(X, y, groups=groups).cv_results_
    scores = cross_val_score(
        LogisticRegression(**ours["params"][1]), X, y, cv=GroupKFold(3), groups=groups
    )
    assert ours["mean_test_score"][1] == np.mean(scores)
    with pytest.raises(ValueError, match="groups"):
        clone(search).set_params(cv=LeaveOneGroupOut()).fit(X, y)


def test_metadata_routing():
    X, y = make_classification(60, random_state=0)
    groups, weights = np.repeat(np.arange(6), 10), np.linspace(0.1, 1, 60)
    with sklearn.config_context(enable_metadata_routing=True):
        search = SILBOSearchCV(
            NeedsWeights().set_fit_request(sample_weight=True),
            {"C": loguniform(0.1, 10)},
            n_iter=3,
            cv=GroupKFold(3),
            scoring=make_scorer(accuracy_score).set_score_request(sample_weight=True),
            random_state=0,
        )
        search.fit(X, y, sample_weight=weights, groups=groups)
        assert search.score(X, y, sample_weight=weights) > 0.8
        unrequested = clone(search).set_params(estimator=LogisticRegression())
        with pytest.raises(ValueError, match="sample_weight"):
            unrequested.fit(X, y, sample_weight=weights, groups=groups)


def test_unsupervised_and_sparse():
    sparse = pytest.importorskip("scipy.sparse")
    pca = SILBOSearchCV(PCA(), {"n_components": [1, 2, 3]}, random_state=0).fit(X)
    assert pca.best_params_ == {"n_components": 3}
    assert pca.transform(X).shape == (150, 3)
    X_r, y_r = make_regression(50, 5, random_state=0)
    ridge = SILBOSearchCV(Ridge(), {"alpha": loguniform(1e-3, 1)}, n_iter=3, cv=KFold(3))
    assert ridge.fit(sparse.csr_matrix(X_r), y_r).best_score_ > 0.9


# scikit-learn's callbacks, from 1.9 on.


class FailsAbove(BaseEstimator):
    def __init__(self, a=0.0):
        self.a = a

    def fit(self, X, y=None):
        if self.a > 0.9:
            raise RuntimeError("above")
        return self

    def score(self, X, y=None):
        return self.a


@pytest.mark.skipif(
    not hasattr(SILBOSearchCV, "set_callbacks"), reason="this scikit-learn has no callbacks"
)
def test_callbacks_see_search_batches_and_fits():
    recorder = Recorder()
    search = SILBOSearchCV(FailsAbove(0.2), {"a": [0.2, 0.5, 1.0]}, cv=2, random_state=0)
    search.set_callbacks(recorder)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        search.fit(X, Y)
    names = [name for event, name in recorder.tasks if event == "begin"]
    assert names.count("search") == 1
    assert names.count("batch") == 3
    assert names.count("candidate-split-evaluation") == 6
    assert sorted(n for e, n in recorder.tasks if e == "end") == sorted(names)


def test_progress_bar_and_scoring_monitor_follow_search(capsys):
    callbacks = pytest.importorskip("sklearn.callback")
    monitor = callbacks.ScoringMonitor(scoring="accuracy")
    model = LogisticRegression(max_iter=20).set_callbacks(monitor)
    search = SILBOSearchCV(model, {"C": [0.1, 1.0]}, n_iter=2, cv=2, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        search.set_callbacks(callbacks.ProgressBar()).fit(X, Y)
    assert "SILBOSearchCV" in capsys.readouterr().out
    log = monitor.get_logs()
    assert log.estimator_name == "SILBOSearchCV"
    fits = {tuple(entry["parent_task_id_path"]) for entry in log.data}
    assert len(fits) >= 2 * 2 + 1  # splits of each candidate, and the final fit
    assert all(0.0 <= entry["accuracy"] <= 1.0 for entry in log.data)
