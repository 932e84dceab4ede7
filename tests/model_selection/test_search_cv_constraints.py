"""Rules between parameters: what breaks one is not proposed, not fitted, and does not count."""

import numpy as np
import pytest
from peak import Peak
from scipy.optimize import LinearConstraint, NonlinearConstraint
from scipy.stats import randint, uniform
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.model_selection import KFold

from skbo_silbo import SILBOSearchCV

X, Y = np.zeros((12, 1)), np.arange(12.0)
PLANE = {"a": uniform(), "b": uniform()}
BRANCHES = [
    {"kind": ["line"], "a": uniform()},
    {"kind": ["plane"], "a": uniform(), "b": uniform()},
]


def small(params):
    return params["a"] + params.get("b", 0.0) <= 0.8


def fit(space=PLANE, *, estimator=None, **params):
    usual = {"cv": KFold(2), "random_state": 0, "n_iter": 8, "n_initial": 6}
    params = {**usual, "constraints": small, **params}
    Peak.fitted.clear()
    return SILBOSearchCV(estimator or Peak(), space, **params).fit(X, Y)


@pytest.mark.parametrize(
    "constraints",
    [
        small,
        NonlinearConstraint(lambda p: p["a"] + p["b"], -np.inf, 0.8),
        [lambda p: bool(p["a"] + p["b"] <= 0.8), lambda p: p["a"] <= 0.8],
        (["b", "a"], LinearConstraint([[1, 1]], -np.inf, 0.8)),
        [(("a", "b"), NonlinearConstraint(lambda x: x.sum(), -np.inf, 0.8)), lambda p: True],
    ],
)
def test_invalid_candidates_are_neither_fitted_nor_counted(constraints):
    results = fit(constraints=constraints, n_iter=7).cv_results_
    assert len(results["params"]) == 7
    assert all(map(small, results["params"]))
    assert all(map(small, Peak.fitted))
    assert {"given", "init", "model"} == set(results["source"])


def test_constraint_applies_where_all_names_exist():
    rule = (["b", "a"], LinearConstraint([[1, -1]], 0, np.inf))
    params = fit(BRANCHES, constraints=rule).cv_results_["params"]
    planes = [p for p in params if p["kind"] == "plane"]
    assert all(p["a"] <= p["b"] for p in planes)
    assert 0 < len(planes) < len(params)


def test_a_journal_knows_a_rule_with_names(tmp_path):
    options = {"journal": tmp_path / "search.jsonl", "n_iter": 4, "n_initial": 2}
    rules = [(names, LinearConstraint([[1, 1]], 0, 0.8)) for names in (["a", "b"], ["b", "a"])]
    before = fit(constraints=rules[0], **options).cv_results_["params"]
    assert fit(constraints=rules[0], **options).cv_results_["params"] == before
    with pytest.raises(ValueError, match="constraints"):
        fit(constraints=rules[1], **options)


def test_what_is_named_must_be_a_number():
    rule = (["kind", "a"], LinearConstraint([[1, 1]], 0, 1))
    with pytest.raises(ValueError, match=r"that constraints name must be real numbers"):
        fit(BRANCHES, constraints=rule, initial_params=None)


@pytest.mark.parametrize("batch_size", [1, 4])
def test_finite_space_ends_after_last_valid_candidate(batch_size):
    space = {"a": randint(0, 4), "b": randint(0, 4)}
    fitted = fit(
        space,
        n_iter=50,
        initial_params=None,
        batch_size=batch_size,
        constraints=lambda p: bool(p["a"] < p["b"]),
    )
    found = sorted((p["a"], p["b"]) for p in fitted.cv_results_["params"])
    assert found == [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    assert fitted.stop_reason_ == "exhausted"


def test_where_no_candidate_is_valid_nothing_is_fitted():
    with (
        pytest.warns(
            UserWarning, match="estimator's current parameters .* violate the constraints"
        ),
        pytest.raises(ValueError, match=r"possible to satisfy: .* candidates does\. Check"),
    ):
        fit(constraints=lambda p: False)
    assert not Peak.fitted


@pytest.mark.parametrize(
    ("a", "words"),
    [(0.9, "'a': 0.9.*violate the constraints.*not evaluated"), ("scale", "raise TypeError")],
)
def test_invalid_current_parameters_are_skipped_with_warning(a, words):
    with pytest.warns(UserWarning, match=words):
        fitted = fit(estimator=Peak(a=a), n_iter=4, n_initial=4)
    assert "given" not in fitted.cv_results_["source"]
    assert len(fitted.cv_results_["params"]) == 4


def test_invalid_initial_candidate_raises():
    with pytest.raises(ValueError, match=r"must satisfy `constraints`, got \{'a': 0.9"):
        fit(initial_params=[{"a": 0.1, "b": 0.1}, {"a": 0.9, "b": 0.9}])
    assert not Peak.fitted
    fitted = fit(initial_params={"a": 0.4, "b": 0.3}, n_iter=3, n_initial=3)
    assert fitted.cv_results_["params"][0] == {"a": 0.4, "b": 0.3}


@pytest.mark.parametrize(
    ("constraints", "message"),
    [
        ("a < b", "constraints must be .*, a function of the dict of parameters that returns True"),
        (LinearConstraint([[1, 1]], -np.inf, 1), "constraints must name"),
        (lambda p: 0.3, "constraints must be a function that returns True or False, got 0.3"),
        ((["a", "b"], LinearConstraint([[1, 1]], 1, 1)), "constraints must be inequalities"),
        ((["a", "c"], LinearConstraint([[1, 1]], 0, 1)), r"must name.*got \['a', 'c'\]"),
        ((["a"], LinearConstraint([[1, 1]], 0, 1)), "a column for each of the 1 inputs"),
        ((["a", "b"], small), "constraints must be scipy.optimize.NonlinearConstraint"),
        (([], LinearConstraint([[1, 1]], 0, 1)), "constraints must name parameters"),
    ],
)
def test_unusable_constraint_raises_before_first_fit(constraints, message):
    with pytest.raises(ValueError, match=message):
        fit(constraints=constraints, initial_params=None)
    assert not Peak.fitted


class Counted(GaussianProcessRegressor):
    """Counts its fits, over all clones."""

    n_fits = 0

    def fit(self, X, y):
        Counted.n_fits += 1
        return super().fit(X, y)


def test_a_rule_costs_no_model():
    earlier = fit(n_iter=8, n_initial=8).cv_results_
    n_fits = []
    for constraints in (None, small):
        Counted.n_fits = 0
        options = {"initial_results": earlier, "initial_params": None, "refit": False}
        fit(n_iter=2, constraints=constraints, surrogate=Counted(optimizer=None), **options)
        n_fits.append(Counted.n_fits)
    assert n_fits[0] == n_fits[1] > 0
