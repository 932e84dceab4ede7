"""`portfolio`: configurations for new data, from the searches on other data."""

import numpy as np
import pytest
from scipy.stats import loguniform
from sklearn.datasets import load_iris
from sklearn.preprocessing import MaxAbsScaler, StandardScaler
from sklearn.svm import SVC

from skbo_silbo import SILBOSearchCV, portfolio

X, y = load_iris(return_X_y=True)
SPACE = {"C": loguniform(1e-2, 1e2), "kernel": ["rbf", "poly"]}


def table(scores, params=None):
    params = params or [{"C": 10**i} for i in range(len(scores))]
    return {"params": params, "mean_test_score": scores}


def test_each_adds_most_to_those_before_it():
    one, two = table([0.9, 0.8, 0.1, 0.2]), table([0.0, 0.3, 0.9, 0.2])
    assert portfolio([one, two, two], n=2) == [{"C": 100}, {"C": 1}]
    assert len(portfolio([one, two])) == 4


def test_missing_scores_are_estimated_from_neighbours():
    one = table([0.1, 0.5, 0.9, 0.9], [{"C": c} for c in (1, 3, 9, 10)])
    two = table([0.9, 0.2, 0.8], [{"C": c} for c in (2, 4, 11)])
    assert portfolio([one, two], n=1) in ([{"C": 10}], [{"C": 11}])


def test_failed_candidates_are_the_worst_and_conditions_count():
    params = [{"kernel": "rbf", "gamma": 1.0}, {"kernel": "linear"}, {"kernel": "rbf", "gamma": 2}]
    assert portfolio([table([np.nan, 0.5, 0.4], params)], n=1) == [{"kernel": "linear"}]


def test_searches_tables_and_journals_say_the_same(tmp_path):
    searches = [
        SILBOSearchCV(SVC(), SPACE, n_iter=4, cv=3, random_state=i, journal=tmp_path / f"{i}")
        for i in range(2)
    ]
    tables = [search.fit(X[:, i:], y).cv_results_ for i, search in enumerate(searches)]
    chosen = portfolio(searches)
    assert chosen == portfolio(tables) == portfolio([tmp_path / "0", str(tmp_path / "1")])
    new = SILBOSearchCV(SVC(), SPACE, n_iter=5, cv=3, random_state=0, initial_params=chosen)
    assert list(new.fit(X, y).cv_results_["source"][:4]) == 4 * ["given"]


def test_untuned_estimator_does_not_warn():
    chosen = [{"C": 1.0, "gamma": "scale"}, {"C": 2.0, "gamma": 0.1}]
    space = {"C": loguniform(1e-2, 1e2), "gamma": loguniform(1e-2, 1e2)}
    search = SILBOSearchCV(SVC(), space, n_iter=2, cv=3, initial_params=chosen).fit(X, y)
    assert search.cv_results_["params"] == chosen


def test_journals_leave_objects_out(tmp_path):
    path = tmp_path / "j"
    space = {"C": [1, 10], "kernel": [SVC(), "rbf"]}
    params = [{"C": 1, "kernel": "rbf"}, {"C": 10, "kernel": "rbf"}]
    options = {"n_iter": 2, "cv": 3, "random_state": 0, "journal": path}
    SILBOSearchCV(SVC(), space, initial_params=params, **options).fit(X, y)
    assert len(portfolio([path])) == 2
    assert portfolio([table([0.1, 0.2], [{"a": StandardScaler()}, {"a": MaxAbsScaler()}])], n=1)


@pytest.mark.parametrize(
    ("results", "message"),
    [
        ([], "must be a non-empty list"),
        ({"params": []}, "must be a non-empty list"),
        (SILBOSearchCV(SVC()), r"Write portfolio\(\[search_1"),
        ([None], "must contain fitted searches"),
        ([SVC()], "must contain fitted searches"),
        ([table([np.nan])], "a candidate with a score"),
    ],
)
def test_what_are_no_results_is_refused(results, message):
    with pytest.raises(ValueError, match=message):
        portfolio(results)


def test_a_configuration_that_failed_is_not_among_them():
    scores = [np.nan, np.nan, np.nan, 0.8, 0.7, 0.6]
    table = {"params": [{"a": i} for i in range(6)], "mean_test_score": scores}
    assert portfolio([table]) == [{"a": 3}, {"a": 4}, {"a": 5}]


def test_results_of_two_models_are_refused():
    one = {"params": [{"svc__C": 1}], "mean_test_score": [0.5]}
    other = {"params": [{"n_neighbors": 3}], "mean_test_score": [0.5]}
    with pytest.raises(ValueError, match="parameters in common"):
        portfolio([one, other])
