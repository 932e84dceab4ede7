"""Scores of other forms than one number: what raises, what is a dict, and what is kept of it."""

import numpy as np
import pytest
from scipy.stats import uniform
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import KFold

from skbo_silbo import SILBOSearchCV

X, Y = np.arange(24.0).reshape(12, 2), np.arange(12.0)

pytestmark = pytest.mark.filterwarnings(
    "ignore:Scoring failed", "ignore:.*scores are non-finite", "ignore:.*non-finite"
)


class Plain(BaseEstimator):
    """Its score is a number, or a dict of two."""

    n_fits = 0

    def __init__(self, a=0.5, kind="number"):
        self.a, self.kind = a, kind

    def fit(self, X, y=None):
        Plain.n_fits += 1
        return self

    def score(self, X, y=None):
        both = {"first": -((self.a - 0.7) ** 2), "second": self.a}
        return both if self.kind == "dict" else both["first"]


def search(**params):
    usual = {"cv": KFold(3), "random_state": 0, "n_iter": 6, "n_initial": 6, "initial_params": None}
    estimator = params.pop("estimator", Plain())
    return SILBOSearchCV(estimator, {"a": uniform()}, **{**usual, **params})


class Raises:
    """A scorer of two metrics that raises for some candidates, or for some of their folds."""

    def __init__(self, below, folds=(0.0, np.inf)):
        self.below, self.folds = below, folds

    def __call__(self, model, X, y=None):
        if model.a < self.below and self.folds[0] <= np.mean(X) < self.folds[1]:
            raise RuntimeError("no such metric here")
        return {"first": -((model.a - 0.7) ** 2), "second": model.a}


@pytest.mark.parametrize(
    ("folds", "error_score"),
    [((0.0, np.inf), np.nan), ((0.0, 10.0), -5.0)],
    ids=["all folds", "one fold"],
)
def test_raising_multimetric_scorer_keeps_results(folds, error_score, tmp_path):
    options = {"scoring": Raises(0.4, folds), "refit": "first", "error_score": error_score}
    options["journal"] = tmp_path / "search.jsonl"
    fitted = search(**options, return_train_score=True).fit(X, Y)
    results = fitted.cv_results_
    raised = results["param_a"] < 0.4
    assert 0 < raised.sum() < 6
    for name in ("first", "second"):
        np.testing.assert_array_equal(
            results[f"split0_test_{name}"][raised], [error_score] * raised.sum()
        )
        assert np.isfinite(results[f"mean_test_{name}"][~raised]).all()
        assert f"mean_train_{name}" in results
    before = Plain.n_fits
    again = search(**options, return_train_score=True).fit(X, Y)
    assert Plain.n_fits == before + 1  # the refit
    np.testing.assert_array_equal(again.cv_results_["mean_test_first"], results["mean_test_first"])


@pytest.mark.parametrize("error_score", [np.nan, 0.0])
def test_goals_where_the_scorer_raises(error_score):
    options = {"scoring": Raises(0.4), "refit": ["first", "second"], "error_score": error_score}
    fitted = search(**options).fit(X, Y)
    raised = fitted.cv_results_["param_a"] < 0.4
    assert raised.any()
    assert np.isnan(fitted.optimizer_.func_vals_).sum() in (0, raised.sum())


def test_dict_score_raises_after_first_candidate():
    before = Plain.n_fits
    with pytest.raises(ValueError, match=r"score method must return a number.*scoring="):
        search(estimator=Plain(kind="dict")).fit(X, Y)
    assert Plain.n_fits == before + 3
    by_scoring = search(
        estimator=Plain(kind="dict"), scoring=lambda model, X, y: model.score(X), refit="second"
    )
    assert by_scoring.fit(X, Y).best_params_["a"] > 0.7


@pytest.mark.parametrize("given", ["nonsense", "0", 0, -1, "n_jobs*", True, "n_jobs - 5"])
def test_invalid_pre_dispatch_raises(given):
    before = Plain.n_fits
    with pytest.raises(ValueError, match="pre_dispatch"):
        search(pre_dispatch=given).fit(X, Y)
    assert Plain.n_fits == before


def test_scores_are_predicted_in_their_own_sign():
    fitted = search(n_iter=10).fit(X, Y)
    results = fitted.cv_results_
    mean, std, _ = fitted.predict_score(results["params"])
    np.testing.assert_allclose(mean, results["mean_test_score"], atol=0.01)
    one = fitted.predict_score({"a": 0.1})
    assert abs(one.mean + 0.36) < 0.1
    assert std.max() < one.std + 0.1
    with pytest.raises(NotFittedError, match="predict_score needs a fitted surrogate"):
        search(n_iter=3, n_initial=3).fit(X, Y).predict_score({"a": 0.1})
    with pytest.raises(NotFittedError):
        search().predict_score({"a": 0.1})
    goals = search(scoring=Raises(0.0), refit=["first", "second"]).fit(X, Y)
    with pytest.raises(ValueError, match=r"not available for a multi-objective search"):
        goals.predict_score({"a": 0.1})


@pytest.mark.parametrize("refit", ["unknown", True])
def test_dict_score_needs_refit_among_its_metrics(refit):
    before = Plain.n_fits
    with pytest.raises(ValueError, match="refit must be set to a scorer key"):
        search(estimator=Plain(kind="dict"), scoring=two_scores, refit=refit).fit(X, Y)
    assert Plain.n_fits - before == 3


def two_scores(model, X, y=None):
    return model.score(X, y)


@pytest.mark.filterwarnings("error")
def test_constant_data_and_scores_give_result():
    fitted = search(scoring=lambda model, X, y=None: 0.5).fit(np.ones((12, 2)), Y)
    assert fitted.best_score_ == 0.5
    assert len(set(fitted.cv_results_["param_a"])) == 6
