"""SILBOSearchCV(refit=[...]): the front of several goals, what is refused, and journals."""

import copy
import json

import numpy as np
import pytest
from joblib import parallel_config
from scipy.stats import uniform
from sklearn.base import BaseEstimator
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import KFold

from skbo_silbo import Space
from skbo_silbo.model_selection import SILBOSearchCV

X, Y = np.random.RandomState(0).normal(size=(12, 2)), np.arange(12.0)
SQUARE = {"a": uniform(), "b": uniform(), "c": uniform()}
GOALS = ["near", "far"]


class Torn(BaseEstimator):
    """A model with two scores that want two things of `a`, and 0 of `b` and `c`."""

    n_fits = 0

    def __init__(self, a=0.5, b=0.9, c=0.9, fails_above=2.0):
        self.a, self.b, self.c, self.fails_above = a, b, c, fails_above

    def fit(self, X, y=None):
        Torn.n_fits += 1
        if self.a > self.fails_above:
            raise RuntimeError("a is too large")
        return self

    def predict(self, X):
        return np.zeros(len(X))

    def score(self, X, y=None):
        return near(self, X, y)


def near(model, X, y=None):
    return -model.a - 3.0 * (model.b**2 + model.c**2)


def far(model, X, y=None):
    return -((1.0 - model.a) ** 2) - 3.0 * (model.b**2 + model.c**2)


def small(model, X, y=None):
    return -model.b


SCORING = {"near": near, "far": far, "small": small}


def search(space=SQUARE, estimator=None, **params):
    usual = {"cv": KFold(3), "random_state": 0, "n_iter": 14, "scoring": SCORING, "refit": GOALS}
    return SILBOSearchCV(estimator or Torn(), space, **{**usual, **params})


def points(fitted):
    return [list(params.values()) for params in fitted.cv_results_["params"]]


def values(results, goals=GOALS):
    return -np.column_stack([results[f"mean_test_{goal}"] for goal in goals])


def by_brute_force(Y, seconds_vary_by=None):
    """Return the rows that no other dominates, pair by pair; the last goal may vary."""
    noise = np.zeros(np.shape(Y))
    if seconds_vary_by is not None:
        noise[:, -1] = seconds_vary_by
    rows = [(i, y, s) for i, (y, s) in enumerate(zip(Y, noise, strict=True)) if all(y == y)]

    def dominates(one, other):
        (_, y, s), (_, z, t) = one, other
        return all(y - z <= np.hypot(s, t)) and any(z - y > np.hypot(s, t))

    return [row[0] for row in rows if not any(dominates(other, row) for other in rows)]


@pytest.fixture(scope="module")
def fitted():
    """Of fourteen candidates, seven of them the model's; to be read only."""
    return search().fit(X, Y)


@pytest.fixture(scope="module")
def early():
    """Of nine candidates, two of them the model's; to be read only."""
    return search(n_iter=9, n_initial=7).fit(X, Y)


# --- a search -----------------------------------------------------------------------------------


def test_the_front_is_that_of_all_pairs(fitted):
    assert fitted.pareto_front_.dtype.kind == "i"
    assert fitted.pareto_front_.tolist() == by_brute_force(values(fitted.cv_results_))
    assert 2 <= len(fitted.pareto_front_) < 14
    assert fitted.refit == GOALS


class Rows(Torn):
    """Scores as a table of few values has them."""

    table = None


@pytest.mark.parametrize("n_goals", [2, 3])
def test_domination_with_ties_matches_pairwise_definition(n_goals):
    Rows.table = np.random.default_rng(n_goals).integers(0, 4, (12, n_goals)).astype(float)
    goals = {f"goal {i}": lambda m, X, y, i=i: Rows.table[m.a][i] for i in range(n_goals)}
    space = {"a": list(range(12))}
    options = {"scoring": goals, "refit": list(goals), "n_iter": 12, "n_initial": 12}
    found = search(space, Rows(a=0, fails_above=99), **options).fit(X, Y)
    assert found.pareto_front_.tolist() == by_brute_force(values(found.cv_results_, goals))


@pytest.mark.filterwarnings("ignore:One or more of the test scores are non-finite:UserWarning")
@pytest.mark.parametrize("error_score", [np.nan, 100.0])
def test_failed_candidates_are_never_in_the_front(error_score):
    """Not even where a failure has a better score than anybody, and ends at once."""
    goals = ["near", "far", "fit_time"]
    with pytest.warns(FitFailedWarning, match="failed out of a total of 36"):
        fitted = search(
            estimator=Torn(fails_above=0.6), refit=goals, error_score=error_score, n_iter=12
        ).fit(X, Y)
    failed = fitted.cv_results_["param_a"] > 0.6
    assert failed.any()
    assert not failed[fitted.pareto_front_].any()
    columns = -values(fitted.cv_results_), -fitted.cv_results_["mean_fit_time"]
    Y_all = -np.column_stack(columns)
    Y_all[failed] = np.nan
    spread = fitted.cv_results_["std_fit_time"]
    assert fitted.pareto_front_.tolist() == by_brute_force(Y_all, spread)


def test_the_goals_that_are_listed_are_those_searched(early):
    """Another list, and another search of one of them, propose other candidates."""
    two = points(early)
    three, other, one = (
        points(search(refit=refit, n_iter=9, n_initial=7).fit(X, Y))
        for refit in ([*GOALS, "small"], ("near", "small"), "near")
    )
    assert two[:7] == three[:7] == other[:7]  # the design
    assert len({str(found) for found in (two, three, other, one)}) == 4


def test_the_time_is_a_goal():
    fitted = search(scoring=None, refit=["score", "fit_time"], n_iter=9, n_initial=7).fit(X, Y)
    results = fitted.cv_results_
    both = np.column_stack([-results["mean_test_score"], results["mean_fit_time"]])
    assert fitted.pareto_front_.tolist() == by_brute_force(both, results["std_fit_time"])
    assert not hasattr(fitted, "best_index_")
    assert not hasattr(fitted, "best_score_")


def test_the_optimiser_goes_on_after_the_search(early):
    optimizer = copy.deepcopy(early.optimizer_)
    again = type(optimizer).from_dict(
        json.loads(json.dumps(optimizer.to_dict())), bounds=Space(SQUARE)
    )
    params = optimizer.ask()
    assert again.ask() == params
    optimizer.tell(params, 0.5, goals=[0.5, 0.5])
    other = optimizer.ask()
    assert other != params
    with pytest.raises(TypeError, match="goals"):
        optimizer.tell(other, 0.5)


# --- what there is not --------------------------------------------------------------------------


def test_several_objectives_refit_nothing():
    fitted = search(n_iter=4)
    before = Torn.n_fits
    fitted.fit(X, Y)
    assert Torn.n_fits - before == 4 * 3
    for name in ("best_estimator_", "best_index_", "best_params_", "best_score_", "refit_time_"):
        assert not hasattr(fitted, name)
    for call, words in ((fitted.predict, "best_estimator_"), (fitted.score, r"search\.choose")):
        with pytest.raises(AttributeError, match=words):
            call(X)
    with pytest.raises(AttributeError, match=r"^best_params_ requires .* one objective.*choose"):
        fitted.best_params_  # noqa: B018
    with pytest.raises(AttributeError, match=r"no attribute 'best_params_'$"):
        search(refit="near").best_params_  # noqa: B018


def test_refit_with_single_objective_after_several():
    """Nothing is left of the one in the other."""
    fitted = search(n_iter=4).fit(X, Y)
    fitted.set_params(refit="near").fit(X, Y)
    assert not hasattr(fitted, "pareto_front_")
    assert len(fitted.predict(X)) == len(X)
    fitted.set_params(refit=GOALS).fit(X, Y)
    assert not hasattr(fitted, "best_estimator_")


def test_the_list_is_there_again_after_an_error():
    failing = search(estimator=Torn(fails_above=-1.0), error_score="raise")
    with pytest.raises(RuntimeError, match="too large"):
        failing.fit(X, Y)
    assert failing.refit == GOALS


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"refit": ["near"]}, "`refit` must list 2 or 3 different objectives"),
        ({"refit": ["near", "near"]}, "`refit` must list 2 or 3 different objectives"),
        ({"refit": ["near", 1]}, "`refit` must list 2 or 3 different objectives"),
        (
            {"refit": ["near", "far", "small", "fit_time"]},
            "`refit` must list 2 or 3 different objectives",
        ),
        ({"refit": ["near", "fast"]}, r"`refit` must list objectives among \['near'.*\['fast'\]"),
        ({"refit": ["near", "fit_time"], "scoring": None}, r"among \['score', 'fit_time'\]"),
        ({"patience": 3}, "`patience` cannot be combined"),
        ({"initial_results": []}, "`initial_results` cannot be combined"),
    ],
)
def test_unsupported_options_raise_before_first_fit(params, message):
    before = Torn.n_fits
    with pytest.raises(ValueError, match=message):
        search(**params).fit(X, Y)
    assert Torn.n_fits == before


def several_scores(model, X, y=None):
    return {"near": near(model, X), "far": far(model, X)}


@pytest.mark.parametrize("scoring", [several_scores, near])
def test_callable_scoring_reveals_objectives_at_first_call(scoring):
    with pytest.raises(ValueError, match=r"`refit` must list objectives among .*\['fast'\]"):
        search(scoring=scoring, refit=["fast", "fit_time"]).fit(X, Y)


def test_a_callable_of_several_scores(early):
    options = {"scoring": several_scores, "n_iter": 9, "n_initial": 7}
    assert points(search(**options).fit(X, Y)) == points(early)


# --- with the other options ---------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    "params",
    [{}, pytest.param({"batch_size": 3}, marks=pytest.mark.slow), {"n_jobs": 2, "batch_size": 2}],
)
def test_a_journal_goes_on_as_if_never_interrupted(tmp_path, params):
    params = {"n_initial": 6, **params}
    journal = {"journal": tmp_path / "goals.jsonl", **params}
    with parallel_config("threading"):
        whole = search(n_iter=10, **params).fit(X, Y)
        search(n_iter=8, **journal).fit(X, Y)
        resumed = search(n_iter=10, **journal).fit(X, Y)
    assert resumed.cv_results_["resumed"][:8].all()
    assert points(resumed) == points(whole)
    assert resumed.pareto_front_.tolist() == whole.pareto_front_.tolist()


def test_a_journal_of_other_goals_is_refused(tmp_path):
    journal = tmp_path / "goals.jsonl"
    search(n_iter=3, journal=journal).fit(X, Y)
    for refit in ("near", ["near", "small"]):
        with pytest.raises(ValueError, match="refit"):
            search(n_iter=5, journal=journal, refit=refit).fit(X, Y)


def test_rules_and_given_candidates_are_kept():
    given = [{"a": 0.25, "b": 0.5, "c": 0.125}, {"a": 0.75, "b": 0.5, "c": 0.125}]
    fitted = search(
        initial_params=given, constraints=lambda p: p["a"] + p["b"] <= 1.5, n_iter=9
    ).fit(X, Y)
    assert fitted.cv_results_["params"][:2] == given
    table = np.array(points(fitted))
    assert (table[:, 0] + table[:, 1] <= 1.5).all()
    assert (fitted.cv_results_["source"] == "model").any()


def test_callback_sees_refit_unchanged():
    seen, searching = [], search(n_iter=3)
    callback = lambda progress: seen.append(searching.get_params()["refit"])  # noqa: E731
    searching.set_params(callback=callback).fit(X, Y)
    assert seen == [GOALS] * 3
    assert searching.refit is GOALS
