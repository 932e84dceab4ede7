"""Final models of a finished search: one row, or an ensemble."""

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.cluster import KMeans
from sklearn.datasets import load_diabetes, load_iris
from sklearn.ensemble import VotingClassifier, VotingRegressor
from sklearn.exceptions import FitFailedWarning, NotFittedError
from sklearn.linear_model import Ridge
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from skbo_silbo import SILBOSearchCV

X, Y = load_iris(return_X_y=True)
DEPTHS = {"max_depth": [1, 2, 3, 4, 5]}


def tree_search(space=DEPTHS, **params):
    usual = {"n_iter": 5, "initial_params": None, "cv": 3, "random_state": 0}
    return SILBOSearchCV(DecisionTreeClassifier(random_state=0), space, **{**usual, **params})


class Weighted(ClassifierMixin, BaseEstimator):
    """A classifier that keeps the weights it was fitted with."""

    def __init__(self, a=0):
        self.a = a

    def fit(self, X, y, sample_weight=None):
        if self.a == 3:
            raise RuntimeError("a is 3")
        self.classes_, self.weights_ = np.unique(y), sample_weight
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[self.a % 2])

    def score(self, X, y, sample_weight=None):
        return float(self.a)


def weighted_search(values=(0, 1, 2, 3), estimator=None, **params):
    usual = {"n_iter": 4, "initial_params": None, "cv": 2, "random_state": 0}
    return SILBOSearchCV(estimator or Weighted(), {"a": list(values)}, **{**usual, **params})


@pytest.mark.parametrize("refit", [True, False])
def test_ensemble_averages_best_candidates(refit):
    search = tree_search(refit=refit).fit(X, Y)
    ensemble = search.ensemble(X, Y, n=3)
    assert isinstance(ensemble, VotingClassifier)
    assert ensemble.voting == "soft"
    order = np.argsort(-search.cv_results_["mean_test_score"], kind="stable")[:3]
    depths = [model.max_depth for model in ensemble.estimators_]
    assert depths == [search.cv_results_["params"][row]["max_depth"] for row in order]
    each = [search.choose(row, X, Y).predict_proba(X) for row in order]
    np.testing.assert_allclose(ensemble.predict_proba(X), np.mean(each, axis=0))
    assert hasattr(search, "best_estimator_") == refit


def test_ensemble_of_regressors_averages_predictions():
    X, y = load_diabetes(return_X_y=True)
    search = SILBOSearchCV(Ridge(), {"alpha": [0.1, 1.0, 10.0]}, n_iter=3, cv=2, random_state=0)
    ensemble = search.fit(X, y).ensemble(X, y, n=2)
    assert isinstance(ensemble, VotingRegressor)
    assert len(ensemble.estimators_) == 2


def test_ensemble_votes_without_probabilities():
    search = SILBOSearchCV(LinearSVC(), {"C": [0.1, 1.0]}, n_iter=2, cv=2, random_state=0)
    names = np.array(["setosa", "versicolor", "virginica"])[Y]
    ensemble = search.fit(X, names).ensemble(X, names, n=2)
    assert ensemble.voting == "hard"
    assert ensemble.score(X, names) > 0.9


@pytest.mark.filterwarnings("ignore:One or more of the test scores are non-finite")
@pytest.mark.parametrize("error_score", [np.nan, 100.0])
def test_ensemble_leaves_out_failed_candidates(error_score):
    with pytest.warns(FitFailedWarning):
        search = weighted_search(error_score=error_score, refit=False).fit(X, Y)
    assert [model.a for model in search.ensemble(X, Y, n=3).estimators_] == [2, 1, 0]
    with pytest.raises(ValueError, match=r"`n` must be at most .* 3, got 4"):
        search.ensemble(X, Y, n=4)


def test_ensemble_leaves_out_equal_settings():
    search = tree_search().fit(X, Y)
    search.cv_results_["params"][0] = {**search.cv_results_["params"][1], "criterion": "gini"}
    with pytest.raises(ValueError, match=r"`n` must be at most .* 4, got 5"):
        search.ensemble(X, Y, n=5)


def test_ensemble_of_several_objectives_ranks_by_first():
    both = ["accuracy", "neg_log_loss"]
    search = tree_search(scoring=both, refit=both).fit(X, Y)
    depths = [model.max_depth for model in search.ensemble(X, Y, n=2).estimators_]
    order = np.argsort(-search.cv_results_["mean_test_accuracy"], kind="stable")[:2]
    assert depths == [search.cv_results_["params"][row]["max_depth"] for row in order]


@pytest.mark.parametrize("routing", [False, True])
def test_sample_weight_reaches_final_models(routing):
    weight = np.arange(len(Y), dtype=float)
    with config_context(enable_metadata_routing=routing):
        estimator = Weighted()
        if routing:
            estimator.set_fit_request(sample_weight=True).set_score_request(sample_weight=False)
        search = weighted_search((0, 1), estimator, n_iter=2).fit(X, Y, sample_weight=weight)
        models = search.ensemble(X, Y, n=2, sample_weight=weight).estimators_
        models = [*models, search.choose(0, X, Y, sample_weight=weight)]
    for model in models:
        np.testing.assert_array_equal(model.weights_, weight)


def test_ensemble_rejects_class_weight_by_label():
    space = {"class_weight": [{"a": 1, "b": 2, "c": 1}, {"a": 2, "b": 1, "c": 1}]}
    names = np.array(["a", "b", "c"])[Y]
    search = tree_search(space, n_iter=2).fit(X, names)
    with pytest.raises(ValueError, match="`class_weight` must not be a dict"):
        search.ensemble(X, names, n=2)


def test_ensemble_rejects_clusterer():
    space = {"n_clusters": [2, 3]}
    search = SILBOSearchCV(KMeans(), space, n_iter=2, initial_params=None, cv=2, random_state=0)
    search.fit(X)
    with pytest.raises(ValueError, match="`estimator` must be a classifier or a regressor"):
        search.ensemble(X, Y, n=2)
    assert search.choose(0, X).n_clusters in (2, 3)


def test_choose_fits_row_of_pareto_front():
    both = ["accuracy", "neg_log_loss"]
    search = tree_search(scoring=both, refit=both).fit(X, Y)
    row = search.pareto_front_[0]
    model = search.choose(row, X, Y)
    assert model.max_depth == search.cv_results_["params"][row]["max_depth"]
    assert model.score(X, Y) > 0.6
    assert not hasattr(search, "best_estimator_")


@pytest.mark.parametrize(("index", "error"), [(5, IndexError), (-1, ValueError), (0.5, ValueError)])
def test_choose_rejects_unknown_row(index, error):
    with pytest.raises(error, match="index"):
        tree_search().fit(X, Y).choose(index, X, Y)


@pytest.mark.parametrize(
    "use",
    [lambda s: s.choose(0, X, Y), lambda s: s.ensemble(X, Y), lambda s: s.subspace_],
    ids=["choose", "ensemble", "subspace_"],
)
def test_unfitted_search_has_no_final_models(use):
    with pytest.raises(NotFittedError):
        use(tree_search())


def test_subspace_is_that_of_optimizer():
    space = {"max_depth": list(range(1, 30)), "min_samples_leaf": list(range(1, 30))}
    search = tree_search(space, n_iter=9, n_initial=6).fit(X, Y)
    assert search.subspace_ is search.optimizer_.subspace_
