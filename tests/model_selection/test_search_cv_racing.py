"""SILBOSearchCV(racing=True): what is stopped, what is said of it, and that no winner is."""

import warnings

import numpy as np
import pytest
from joblib import parallel_config
from scipy.stats import ttest_rel, uniform
from sklearn.base import BaseEstimator
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.model_selection import GroupKFold, KFold

from skbo_silbo.model_selection import SILBOSearchCV
from skbo_silbo.model_selection._candidates import Candidate
from skbo_silbo.model_selection._racing import LEVEL, Race, moderated, variance_prior

X, Y = np.random.RandomState(0).normal(size=(40, 2)), np.arange(40.0)
PLANE = {"a": uniform(), "b": uniform()}
N_FOLDS = 5


class Bumpy(BaseEstimator):
    """A peak, the same for all folds, and a small part that differs by candidate and fold."""

    n_fits = 0

    def __init__(self, a=0.0, b=0.2, kind="good"):
        self.a, self.b, self.kind = a, b, kind

    def fit(self, X, y=None):
        Bumpy.n_fits += 1
        if self.kind == "fails" or (self.kind == "sometimes" and len(y) and y[0] == 0):
            raise RuntimeError("this kind cannot be fitted")
        return self

    def score(self, X, y=None):
        fold = float(np.mean(X))
        bumps = 0.02 * np.sin(1e3 * (self.a + 2 * self.b) + 1e4 * fold)
        return -((self.a - 0.7) ** 2) - (self.b - 0.2) ** 2 + 0.1 * fold + bumps


def search(space=PLANE, **params):
    params = {"cv": KFold(N_FOLDS), "random_state": 0, "n_iter": 20, "racing": True, **params}
    return SILBOSearchCV(Bumpy(), space, **params)


def folds_of(results, name="test_score"):
    return np.transpose([results[f"split{i}_{name}"] for i in range(N_FOLDS)])


# What is said of a candidate that was stopped.


@pytest.mark.parametrize(
    "options",
    [{}, {"n_jobs": 3}, {"batch_size": 4, "n_jobs": 2}, {"n_jobs": 1, "timeout": 100.0}],
    ids=["one by one", "as workers are free", "batches", "timeout"],
)
def test_a_stopped_candidate(options):
    before = Bumpy.n_fits
    with parallel_config("threading"):
        fitted = search(return_train_score=True, refit=False, **options).fit(X, Y)
    results, folds = fitted.cv_results_, folds_of(fitted.cv_results_)
    n_run = np.isfinite(folds).sum(axis=1)
    stopped = n_run < N_FOLDS
    assert 3 <= stopped.sum() <= 17
    assert n_run.min() >= 2
    assert all(np.isfinite(row[:n]).all() for row, n in zip(folds, n_run, strict=True))
    assert Bumpy.n_fits - before == n_run.sum()
    np.testing.assert_array_equal(np.isfinite(folds_of(results, "train_score")), np.isfinite(folds))
    for name in ("mean_test_score", "std_test_score", "mean_train_score"):
        np.testing.assert_array_equal(np.isnan(results[name]), stopped)
    predicted = results["predicted_mean_test_score"]
    np.testing.assert_array_equal(np.isfinite(predicted), stopped)
    assert np.isfinite(results["mean_fit_time"]).all()
    assert (results["rank_test_score"][stopped] == (~stopped).sum() + 1).all()
    assert np.nanmax(predicted) < np.nanmax(results["mean_test_score"])
    told = np.where(stopped, predicted, results["mean_test_score"])
    np.testing.assert_array_equal(fitted.optimizer_.func_vals_, -told)
    noise = fitted.optimizer_.to_dict()["events"][0]["noise_std"]
    assert [n is not None for n in noise] == stopped.tolist()


def test_the_prediction_is_near_what_the_mean_would_have_been():
    fitted = search(n_iter=30, n_initial=30).fit(X, Y)
    results, noise = fitted.cv_results_, fitted.optimizer_.to_dict()["events"][0]["noise_std"]
    for i in np.flatnonzero(np.isfinite(results["predicted_mean_test_score"])):
        model = Bumpy(**results["params"][i])
        true = np.mean([model.score(X[test]) for _, test in KFold(N_FOLDS).split(X)])
        assert true < fitted.best_score_
        assert abs(true - results["predicted_mean_test_score"][i]) < 6 * noise[i]


def test_without_racing_nothing_changes():
    results = search(racing=False).fit(X, Y).cv_results_
    assert np.isfinite(folds_of(results)).all()
    assert not [name for name in results if name.startswith("predicted")]


def test_batches_depend_on_nothing_else():
    with parallel_config("threading"):
        options = {"batch_size": 4, "n_initial": 16}
        runs = [search(n_jobs=n, **options).fit(X, Y).cv_results_ for n in (1, 3)]
    for name in runs[0]:
        if "time" not in name:
            np.testing.assert_array_equal(runs[0][name], runs[1][name])


@pytest.mark.parametrize("refit", ["second", False])
def test_the_metric_searched_decides(refit):
    def scores(estimator, X, y):
        one = estimator.score(X)
        return {"first": one, "second": -one}

    results = search(scoring=scores, refit=refit, n_initial=20).fit(X, Y).cv_results_
    searched = "second" if refit else "first"
    predicted = results[f"predicted_mean_test_{searched}"]
    stopped = np.isfinite(predicted)
    assert stopped.any()
    assert [name for name in results if name.startswith("predicted")] == [
        f"predicted_mean_test_{searched}"
    ]
    for name in ("first", "second"):
        np.testing.assert_array_equal(np.isnan(results[f"mean_test_{name}"]), stopped)
    assert np.nanmax(predicted) < np.nanmax(results[f"mean_test_{searched}"])


def test_groups_are_kept_together():
    groups = np.arange(40) // 4
    fitted = search(cv=GroupKFold(N_FOLDS), n_initial=20).fit(X, Y, groups=groups)
    for i, params in enumerate(fitted.cv_results_["params"]):
        for j, (_, test) in enumerate(GroupKFold(N_FOLDS).split(X, Y, groups)):
            score = fitted.cv_results_[f"split{j}_test_score"][i]
            assert np.isnan(score) or score == Bumpy(**params).score(X[test])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning", "ignore:.*non-finite")
@pytest.mark.parametrize("error_score", [np.nan, -5.0])
@pytest.mark.parametrize("has_several", [False, True])
def test_candidates_that_fail(error_score, has_several):
    def scores(estimator, X, y):
        return {"one": estimator.score(X), "other": 1.0}

    space = {**PLANE, "kind": ["good", "fails", "sometimes"]}
    options = {"scoring": scores, "refit": "one"} if has_several else {}
    fitted = search(space, error_score=error_score, n_initial=20, **options).fit(X, Y)
    metric = "one" if has_several else "score"
    results = fitted.cv_results_
    kinds = np.array([params["kind"] for params in results["params"]])
    assert set(kinds) == {"good", "fails", "sometimes"}
    folds = folds_of(results, f"test_{metric}")
    np.testing.assert_array_equal(folds[kinds == "fails"], error_score)
    # the row with y = 0 is in the training part of all folds but the first
    np.testing.assert_array_equal(folds[kinds == "sometimes"][:, 1], error_score)
    assert fitted.best_params_["kind"] == "good"


def test_where_it_cannot_be_honoured_it_is_refused():
    before = Bumpy.n_fits
    with pytest.raises(ValueError, match="racing must be False with 2 splits"):
        search(cv=KFold(2)).fit(X, Y)
    with pytest.raises(ValueError, match="racing must be False with surrogate=GaussianProcess"):
        search(surrogate=GaussianProcessRegressor()).fit(X, Y)
    with pytest.raises(ValueError, match="'racing' parameter"):
        search(racing=0.05).fit(X, Y)
    assert Bumpy.n_fits == before


def test_a_stopped_candidate_is_an_earlier_result_by_its_prediction():
    earlier = search(n_initial=20).fit(X, Y).cv_results_
    known = search(n_iter=1, initial_results=earlier).fit(X, Y).optimizer_.func_vals_[:20]
    means, predicted = earlier["mean_test_score"], earlier["predicted_mean_test_score"]
    np.testing.assert_array_equal(known, -np.where(np.isnan(means), predicted, means))


# With a journal.


def test_a_search_cut_anywhere_ends_as_one_that_was_not(tmp_path):
    path = tmp_path / "search.jsonl"
    whole = search(journal=path, n_iter=14).fit(X, Y).cv_results_
    lines = path.read_bytes().splitlines(keepends=True)
    for n_kept in (3, 12):
        path.write_bytes(b"".join(lines[: n_kept + 1]))
        again = search(journal=path, n_iter=14).fit(X, Y).cv_results_
        for name in whole:
            if "time" not in name and name != "source":
                np.testing.assert_array_equal(again[name], whole[name], err_msg=name)
    with pytest.raises(ValueError, match="racing was True and is False"):
        search(journal=path, racing=False).fit(X, Y)


# The decision.


def candidate(scores):
    rows = rows_of(scores)
    return Candidate({}, 0, "init", rows, None, float(np.mean(scores)))


def rows_of(scores):
    return [{"test_scores": score, "fit_error": None} for score in scores]


def test_against_many_folds_it_is_the_paired_t_test():
    rng, n_folds, level = np.random.default_rng(0), 10**5, 0.01
    incumbent = rng.normal(size=n_folds)
    race = Race(n_folds, True, level=level * (n_folds - 2))
    race.note(candidate(incumbent))
    decisions = []
    for n_run in np.tile([4, 6, 10], 130):
        scores = incumbent[:n_run] + rng.normal(-1.5, 1.0, size=n_run)
        p = ttest_rel(scores, incumbent[:n_run], alternative="less").pvalue
        if abs(p / level - 1) > 1e-2:
            decisions.append((race.judge(rows_of(scores)) is not None, p < level))
    assert len(decisions) > 300
    assert {stops for stops, _ in decisions} == {True, False}
    assert all(stops == expected for stops, expected in decisions)


def test_what_would_have_won_is_rarely_stopped():
    """Candidates as good as the incumbent, their variances drawn anew for each."""
    rng, n_folds, n_wrong, n_winners = np.random.default_rng(1), 6, 0, 0
    race = Race(n_folds, True)
    incumbent = rng.normal(size=n_folds)
    race.note(candidate(incumbent))
    for _ in range(800):
        sd = 0.1 * np.sqrt(6 / rng.chisquare(6))
        scores = incumbent + rng.normal(0.0, sd, size=n_folds)
        if scores.mean() <= incumbent.mean():
            race.note(candidate(scores))  # a winner would be another incumbent
            continue
        n_winners += 1
        n_wrong += any(race.judge(rows_of(scores[:n])) is not None for n in range(2, n_folds))
    bound = LEVEL * n_winners
    assert n_wrong < bound + 4 * np.sqrt(bound)


def test_the_error_of_the_prediction_is_as_said():
    rng, n_folds, n_run = np.random.default_rng(2), 8, 3
    race = Race(n_folds, True)
    incumbent = np.zeros(n_folds)
    race.note(candidate(incumbent))
    for _ in range(200):
        race.note(candidate(rng.normal(-50.0, 1.0, size=n_folds)))
    errors = []
    for _ in range(1000):
        scores = rng.normal(-50.0, 1.0, size=n_folds)
        prediction = race.judge(rows_of(scores[:n_run]))
        errors.append((scores.mean() - prediction.mean) / prediction.noise)
    assert abs(np.mean(errors)) < 0.12
    assert abs(np.std(errors) - 1.0) < 0.12


def test_the_distribution_of_variances_is_found():
    rng, freedom, freedom_0, variance_0 = np.random.default_rng(3), 4, 8.0, 2.0
    true = variance_0 * freedom_0 / rng.chisquare(freedom_0, size=200_000)
    found = variance_prior(true * rng.chisquare(freedom, size=200_000) / freedom, freedom)
    np.testing.assert_allclose(found, (freedom_0, variance_0), rtol=0.1)


def test_variances_that_are_all_alike_count_as_many_as_they_are():
    variances = np.random.default_rng(4).chisquare(4, size=50) / 4
    freedom_0, variance_0 = variance_prior(variances, 4)
    assert 50 < freedom_0 <= 200
    assert abs(variance_0 - 1.0) < 0.3
    assert moderated(0.0, 0.0, 3, 2.5) == (3.0, 2.5)
    assert moderated(6.0, 1.0, 3, 4.0) == (9.0, 2.0)


@pytest.mark.parametrize(
    "scores",
    [[-9.0], [-9.0, np.nan], [-9.0, -9.1], [-9.0] * 4, [-9.0] * 5, [{"a": 1.0}, -9.0]],
    ids=["one fold", "not finite", "too few", "equal by chance", "all folds", "failed in part"],
)
def test_no_verdict(scores):
    race, losing = Race(5, True), [-9.0, -8.9, -9.1, -9.0]
    assert race.judge(rows_of(losing)) is None
    race.note(candidate(np.zeros(5)))
    assert race.judge(rows_of(losing)) is not None
    assert race.n_folds_at_first() == 2
    assert race.judge(rows_of(scores)) is None


def test_failures_and_stopped_candidates_are_no_incumbents():
    race = Race(3, True)
    race.note(Candidate({}, 0, "init", None, "failed", np.nan))
    race.note(Candidate({}, 0, "init", rows_of([1.0, np.nan, 1.0]), None, np.nan))
    race.note(Candidate({}, 0, "init", rows_of([1.0, 1.0, np.nan]), None, 1.0, noise=0.1))
    assert race.n_folds_at_first() == 3


@pytest.mark.filterwarnings("error")
def test_scores_that_are_all_the_same_are_not_stopped():
    fitted = search(scoring=lambda estimator, X, y: 0.5, n_iter=8).fit(X, Y)
    assert np.isfinite(folds_of(fitted.cv_results_)).all()


def test_other_scores_that_are_not_finite_are_still_said():
    def score(estimator, X, y):
        return np.inf if estimator.a > 0.9 else estimator.score(X)

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        search(scoring=score, n_iter=25, n_initial=25).fit(X, Y)
    assert any("non-finite" in str(w.message) for w in caught)
