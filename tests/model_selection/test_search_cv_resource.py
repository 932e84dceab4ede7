"""SILBOSearchCV(resource=...): sizes, who goes on, what the best is among, what is refused."""

import json
import warnings
from typing import ClassVar

import numpy as np
import pytest
from joblib import parallel_config
from scipy.optimize import NonlinearConstraint
from scipy.stats import uniform
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import GroupKFold, KFold, PredefinedSplit

from skbo_silbo import Space
from skbo_silbo.inspection import ConvergenceDisplay
from skbo_silbo.model_selection import SILBOSearchCV
from skbo_silbo.model_selection._fidelity import FewerRows, ResourceSILBO, Rungs

X, Y = np.random.RandomState(0).normal(size=(180, 2)), np.arange(180) % 2
PLANE = {"a": uniform(), "b": uniform()}


class Growing(BaseEstimator):
    """A model that is the better the nearer to (0.7, 0.2), and the more rows and trees it has."""

    fitted: ClassVar[list] = []

    def __init__(self, a=0.0, b=0.0, trees=90, kind="good"):
        self.a, self.b, self.trees, self.kind = a, b, trees, kind

    def fit(self, X, y=None):
        Growing.fitted.append((len(X), self.trees))
        if self.kind == "fails" or (self.kind == "needs rows" and len(X) < 100):
            raise RuntimeError("this kind cannot be fitted")
        self.n_ = len(X)
        return self

    def score(self, X, y=None):
        Growing.fitted[-1] = (*Growing.fitted[-1][:2], len(X))
        lacks = 1.0 / self.n_ + 1.0 / self.trees
        return -((self.a - 0.7) ** 2) - (self.b - 0.2) ** 2 - lacks


class GrowingClassifier(ClassifierMixin, Growing):
    """The same, called a classifier."""

    score = Growing.score


@pytest.fixture(autouse=True)
def _no_fits():
    Growing.fitted = []


def search(space=PLANE, estimator=None, **params):
    params = {"cv": KFold(3), "random_state": 0, "n_iter": 30, "resource": "n_samples", **params}
    params = {"min_resources": 10, **params}
    return SILBOSearchCV(estimator or Growing(), space, **params)


def place(params):
    return tuple(sorted((k, v) for k, v in params.items() if k != "trees"))


@pytest.fixture(scope="module")
def thirty():
    """Return a search of 30 candidates, what its callback saw, and what was fitted."""
    Growing.fitted, seen = [], []
    return search(callback=seen.append).fit(X, Y), seen, Growing.fitted


@pytest.fixture(scope="module")
def sixty():
    return search(n_iter=60).fit(X, Y)


# What is evaluated, and what is said of it.


def test_rows(thirty):
    fitted, _, fits = thirty
    results = fitted.cv_results_
    assert fitted.n_resources_ == [20, 60, 180]
    assert set(results["n_resources"]) == {20, 60, 180}
    np.testing.assert_array_equal(np.array([20, 60, 180])[results["iter"]], results["n_resources"])
    assert all(set(params) == {"a", "b"} for params in results["params"])
    assert "param_n_samples" not in results
    sizes = [(rows, scored) for rows, _, scored in fits[: 3 * 30]]
    per_candidate = {20: 13, 60: 40, 180: 120}  # of the 120 rows of two folds
    expected = [(per_candidate[n], 60) for n in results["n_resources"] for _ in range(3)]
    assert sizes == expected


def test_a_parameter():
    fitted = search(resource="trees", estimator=Growing(trees=90)).fit(X, Y)
    results = fitted.cv_results_
    assert fitted.n_resources_ == [10, 30, 90]
    np.testing.assert_array_equal(results["param_trees"], results["n_resources"])
    assert {rows for rows, *_ in Growing.fitted[:-1]} == {120}
    assert fitted.best_params_["trees"] == fitted.best_estimator_.trees == 90


def test_who_goes_on_was_on_the_rung_before_and_one_does_for_every_factor():
    results = (
        search(n_iter=40, factor=2, min_resources=45, initial_params=None).fit(X, Y).cv_results_
    )
    places = [(place(p), n) for p, n in zip(results["params"], results["n_resources"], strict=True)]
    assert len(set(places)) == 40
    for i, (candidate, n) in enumerate(places):
        if n > 45:
            assert (candidate, n // 2) in places[:i]
        counts = [sum(m == size for _, m in places[: i + 1]) for size in (45, 90, 180)]
        assert counts[0] >= 2 * counts[1]
        assert counts[1] >= 2 * counts[2]
    assert counts[2] >= 5


def test_those_that_go_on_are_better(sixty):
    results = sixty.cv_results_
    lowest = results["n_resources"] == 20
    gone_on = {place(results["params"][i]) for i in np.flatnonzero(results["n_resources"] == 60)}
    went = np.array([place(p) in gone_on for p in results["params"]])
    scores = results["mean_test_score"]
    assert np.mean(scores[lowest & went]) > np.mean(scores[lowest & ~went])


def test_the_best_has_all_of_the_resource():
    class Misleading(Growing):
        def score(self, X, y=None):
            return 1.0 / self.n_ + super().score(X, y)  # the fewer rows the better

    fitted = search(estimator=Misleading(), scoring=None).fit(X, Y)
    results = fitted.cv_results_
    best = fitted.best_index_
    assert results["n_resources"][best] == 180
    assert results["mean_test_score"].max() > fitted.best_score_
    full = results["n_resources"] == 180
    assert fitted.best_score_ == results["mean_test_score"][full].max()
    assert results["rank_test_score"][full].max() < results["rank_test_score"][~full].min()


def test_the_search_gets_near_the_best(sixty):
    assert sixty.best_score_ > -0.02 - 1 / 120 - 1 / 90


def test_given_candidates_have_all_of_the_resource():
    given = [{"a": 0.1, "b": 0.1}, {"a": 0.5, "b": 0.5}]
    results = search(n_iter=16, initial_params=given).fit(X, Y).cv_results_
    assert results["source"][:2].tolist() == ["given"] * 2
    assert results["n_resources"][:2].tolist() == [180, 180]
    assert results["params"][0] == given[0]
    outside = (
        search({"a": uniform(1, 1)}, n_iter=16).fit(X, Y).cv_results_
    )  # the estimator's 0 is outside
    assert (outside["params"][0], outside["n_resources"][0]) == ({"a": 0.0}, 180)


def test_progress_goes_by_full_candidates(thirty):
    best = -np.inf
    for progress in thirty[1]:
        if progress.params["n_samples"] == 180:
            best = max(best, progress.score)
        assert progress.best_score == best
    fitted = search(n_iter=200, patience=2, min_resources=60).fit(X, Y)
    assert fitted.stop_reason_ == "patience"
    assert np.sum(fitted.cv_results_["n_resources"] == 180) >= 3


def test_without_a_full_one_the_best_is_of_those_with_most():
    stop_at_ten = {"callback": lambda progress: progress.n_candidates == 10}
    with pytest.warns(UserWarning, match="no candidate with all of the resource"):
        fitted = search(initial_params=None, **stop_at_ten).fit(X, Y)
    assert fitted.cv_results_["n_resources"][fitted.best_index_] == 60


def test_pictures_are_of_full_candidates(thirty):
    pytest.importorskip("matplotlib")
    fitted = thirty[0]
    [curve] = ConvergenceDisplay.from_result(fitted).curves.values()
    assert len(curve) == np.sum(fitted.cv_results_["n_resources"] == 180)


# Together with the other options.


@pytest.mark.parametrize(
    "options", [{"n_jobs": 2}, {"batch_size": 5}, {"n_jobs": 2, "timeout": 60}]
)
def test_workers_and_batches(options):
    with parallel_config("threading"):
        results = search(**options).fit(X, Y).cv_results_
    assert len(results["params"]) == 30
    assert {20, 60, 180} == set(results["n_resources"])
    assert np.isfinite(results["mean_test_score"]).all()


def test_patience_auto_ends_the_search():
    class Noisy(Growing):
        def score(self, X, y=None):
            return super().score(X, y) + np.mean(X)

    options = {"n_iter": 60, "patience": "auto", "min_resources": 60}
    fitted = search(estimator=Noisy(), **options).fit(X, Y)
    assert fitted.stop_reason_ == "patience"
    assert fitted.cv_results_["n_resources"][fitted.best_index_] == 180


@pytest.mark.parametrize("batch_size", [1, 4])
def test_a_journal(tmp_path, batch_size):
    options = {"journal": tmp_path / "search.jsonl", "batch_size": batch_size}
    search(n_iter=16, **options).fit(X, Y)
    n_fits = len(Growing.fitted)
    resumed = search(n_iter=22, **options).fit(X, Y)
    assert len(Growing.fitted) == n_fits + 3 * 6 + 1
    whole = search(n_iter=22, batch_size=batch_size).fit(X, Y)
    assert resumed.cv_results_["params"] == whole.cv_results_["params"]
    np.testing.assert_array_equal(
        resumed.cv_results_["n_resources"], whole.cv_results_["n_resources"]
    )
    with pytest.raises(ValueError, match="factor"):
        search(n_iter=40, factor=2, **options).fit(X, Y)


def test_several_metrics():
    scoring = {"first": lambda e, X, y: e.score(X, y), "second": lambda e, X, y: -e.score(X, y)}
    fitted = search(scoring=scoring, refit="first").fit(X, Y)
    results, best = fitted.cv_results_, fitted.best_index_
    assert results["n_resources"][best] == 180
    full = results["n_resources"] == 180
    for metric in scoring:
        ranks = results[f"rank_test_{metric}"]
        assert ranks[full].max() < ranks[~full].min()
    assert results["mean_test_first"][best] == results["mean_test_first"][full].max()


@pytest.mark.parametrize("error_score", [np.nan, -5.0])
@pytest.mark.parametrize("kind", ["fails", "needs rows"])
def test_candidates_that_fail(error_score, kind):
    space = {**PLANE, "kind": ["good", kind]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = search(space, n_iter=40, error_score=error_score).fit(X, Y)
    results = fitted.cv_results_
    assert len(results["params"]) == 40
    assert results["n_resources"][fitted.best_index_] == 180
    assert np.isfinite(fitted.best_score_)
    failed = results["mean_test_score"] == -5.0
    if kind == "fails" and error_score != error_score:
        failed = np.isnan(results["mean_test_score"])
        assert set(results["n_resources"][failed]) == {20}


def test_rules_between_parameters():
    def sum_of_all_is_small(params):
        return sum(params.values()) <= 0.8

    given = {"a": 0.1, "b": 0.1}
    results = search(constraints=sum_of_all_is_small, initial_params=given).fit(X, Y).cv_results_
    assert {20, 60, 180} == set(results["n_resources"])
    assert all(sum_of_all_is_small(params) for params in results["params"])


def test_dicts_in_a_list():
    space = [{"a": uniform()}, {"b": uniform(), "kind": ["good"]}]
    results = search(space, n_iter=30).fit(X, Y).cv_results_
    assert {tuple(sorted(p)) for p in results["params"]} == {("a",), ("b", "kind")}
    assert {20, 60, 180} == set(results["n_resources"])


def test_a_finite_space_is_evaluated_on_every_size():
    space = {"a": [0.0, 0.3, 0.7], "b": [0.2]}
    fitted = search(space, n_iter=50, initial_params=None).fit(X, Y)
    results = fitted.cv_results_
    assert fitted.stop_reason_ == "exhausted"
    assert sorted(results["n_resources"]) == [20] * 3 + [60] * 3 + [180] * 3
    assert fitted.best_params_ == {"a": 0.7, "b": 0.2}


def test_what_was_given_all_of_the_resource_is_not_evaluated_with_less():
    space = {"a": [0.0, 0.3, 0.7], "b": [0.2]}
    fitted = search(space, n_iter=50, initial_params={"a": 0.3, "b": 0.2}).fit(X, Y)
    assert sorted(fitted.cv_results_["n_resources"]) == [20] * 2 + [60] * 2 + [180] * 3
    assert fitted.stop_reason_ == "exhausted"


def test_workers_that_are_free_wait_for_who_goes_on():
    with parallel_config("threading"):
        fitted = search({"a": [0.3], "b": [0.2]}, n_jobs=2, cv=KFold(2), initial_params=None)
        results = fitted.fit(X, Y).cv_results_
    assert results["n_resources"].tolist() == [20, 60, 180]


def test_of_its_results_those_with_all_of_the_resource_are_initial_results(thirty):
    before = thirty[0].cv_results_
    after = search(resource=None, min_resources="smallest", n_iter=1, initial_results=before)
    after.fit(X, Y)
    full = before["n_resources"] == 180
    scores = -after.optimizer_.func_vals_[:-1]
    np.testing.assert_allclose(np.sort(scores), np.sort(before["mean_test_score"][full]))


def test_its_optimizer_is_saved_and_goes_on():
    optimizer = search(n_iter=14).fit(X, Y).optimizer_
    data = json.loads(json.dumps(optimizer.to_dict()))
    again = type(optimizer).from_dict(data, bounds=optimizer.space_)
    assert again.ask(2) == optimizer.ask(2)


def test_groups_are_split_as_without():
    groups = np.arange(180) // 20
    fitted = search(cv=GroupKFold(3), n_iter=16).fit(X, Y, groups=groups)
    assert len(fitted.cv_results_["params"]) == 16


# Sizes.


@pytest.mark.parametrize(
    ("options", "sizes"),
    [
        ({"factor": 2, "min_resources": "smallest"}, [90, 180]),
        ({"min_resources": "smallest"}, [60, 180]),
        ({"min_resources": 6}, [6, 20, 60, 180]),
        ({"max_resources": 90, "factor": 3}, [10, 30, 90]),
        ({"resource": "trees", "min_resources": 1, "factor": 9.5}, [9, 90]),
        ({"max_resources": 50, "min_resources": 20, "factor": 2.5}, [20, 50]),
    ],
    ids=str,
)
def test_sizes(options, sizes):
    first = search(n_iter=60, callback=lambda progress: True, **options).fit(X, Y)
    assert first.n_resources_ == sizes


def test_the_smallest_size_leaves_two_rows_for_fold_and_class():
    options = {"cv": KFold(10), "n_iter": 8, "factor": 4, "min_resources": "smallest"}
    fitted = search(estimator=GrowingClassifier(), max_resources=161, **options)
    with pytest.raises(ValueError, match="got 40"):  # 2 * 10 * 2
        fitted.set_params(max_resources=159).fit(X, Y)
    assert fitted.set_params(max_resources=161).fit(X, Y).n_resources_ == [40, 161]


def test_fewer_rows():
    whole = PredefinedSplit(np.repeat([0, 1, 2], 20))
    few, more = FewerRows(whole, 0.2), FewerRows(whole, 0.6)
    rows = np.zeros((60, 1))
    for (small, test), (large, _), (all_, test_) in zip(
        few.split(rows), more.split(rows), whole.split(rows), strict=True
    ):
        assert (len(small), len(large)) == (8, 24)
        assert set(small) < set(large) < set(all_)
        assert (np.diff(small) > 0).all()
        np.testing.assert_array_equal(test, test_)
    again = [train.tolist() for train, _ in few.split(rows)]
    assert again == [train.tolist() for train, _ in few.split(rows)]


# What the model is asked.


def test_points_are_worth_what_they_are_at_the_full_resource():
    rungs = Rungs("n", (1, 3, 9), 3.0, 9)
    optimizer = ResourceSILBO(rungs.added_to(Space(PLANE)), n_initial=6, random_state=0)
    optimizer.rungs = rungs
    for _ in range(12):
        point = optimizer.ask()
        optimizer.tell(point, (point["a"] - 0.7) ** 2 + 1.0 / point["n"])
    optimizer.ask()
    surface = optimizer._surface()
    places = np.random.default_rng(0).uniform(-1, 1, (6, 3))
    full, low = places.copy(), places.copy()
    full[:, 2], low[:, 2] = 2 / 3, -2 / 3
    np.testing.assert_allclose(surface.values(places), surface.values(full))
    mean, std = surface.surrogate.predict(full)
    np.testing.assert_allclose(surface.values(low), surface.acquisition(mean, std, surface.best))
    np.testing.assert_allclose(surface.values_at(low), surface.values(full))
    value, gradient = surface.value_and_gradient(low[0])
    assert value == pytest.approx(surface.values(full[:1])[0])
    assert gradient[2] == 0.0


def test_known_constraints_hold_and_new_candidates_are_on_the_lowest_rung():
    rungs = Rungs("n", (1, 3, 9), 3.0, 9)
    optimizer = ResourceSILBO(rungs.added_to(Space(PLANE)), n_initial=6, random_state=0)
    optimizer.rungs = rungs
    optimizer.constrain(NonlinearConstraint(lambda p: p["a"] + p["b"], -np.inf, 0.6))
    seen = {}
    for _ in range(14):
        point = optimizer.ask()
        assert point["a"] + point["b"] <= 0.6
        here = point["a"], point["b"]
        assert point["n"] == seen.get(here, 1 / 3) * 3
        seen[here] = point["n"]
        optimizer.tell(point, (point["a"] - 0.7) ** 2 + 1.0 / point["n"])


# Refusals.


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"resource": "leaves"}, "resource must be 'n_samples' or a parameter of the"),
        (
            {"resource": "a", "max_resources": 90},
            "resource must not be a parameter that is",
        ),
        ({"resource": "n_sample"}, "Did you mean 'n_samples'.*Give 'n_samples' or one of"),
        ({"resource": "kind"}, "^resource must be a parameter that is a positive integer"),
        ({"resource": None, "factor": 2}, "factor must be 3 without a resource: got 2"),
        ({"resource": None, "min_resources": 5}, "min_resources must be 'smallest' without a res"),
        ({"racing": True}, "racing must not be given with resource"),
        ({"time_aware": True}, "time_aware must not be given with resource.* decided by its size"),
        ({"initial_results": [({"a": 0.1, "b": 0.1}, 0.5)]}, "initial_results must not be given"),
        ({"n_iter": 13}, "n_iter must be at least 14"),
        ({"max_resources": 181}, "max_resources must be at most the number of rows, 180"),
        (
            {"resource": "kind"},
            "must be a number where the estimator has kind='good'",
        ),
        ({"min_resources": 100}, "min_resources must be at most max_resources / factor = 60"),
        ({"n_iter": 4, "min_resources": "smallest"}, "n_iter must be at least 5"),
        ({"factor": 1}, "factor"),
        ({"min_resources": "exhaust"}, "min_resources"),
        ({"max_resources": 0}, "max_resources"),
        (
            {
                "embedding": "semi-sir",
                "n_components": 1,
                "optimizer_options": {"mapping": "bottom-up"},
            },
            "mapping must not move points",
        ),
    ],
    ids=str,
)
def test_refusals(options, message):
    with pytest.raises(ValueError, match=message):
        search(**options).fit(X, Y)
    assert not Growing.fitted
