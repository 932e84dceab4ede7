"""SILBOSearchCV: what is searched, failures, splits, budgets, output."""

import sys

import numpy as np
import pytest
from global_generator import global_generator_unchanged
from joblib import parallel_config
from peak import Peak
from scipy.stats import uniform
from sklearn.exceptions import FitFailedWarning, NotFittedError
from sklearn.model_selection import KFold, ShuffleSplit
from sklearn.svm import SVC

from skbo_silbo.model_selection import SILBOSearchCV

X = np.random.RandomState(0).normal(size=(30, 2))
Y = np.arange(30.0)


class Fold(Peak):
    """Scores the data it is scored on: the same for all candidates if the splits are the same."""

    def score(self, X, y=None):
        return float(np.mean(X))


PLANE = {"a": uniform(), "b": uniform()}


def search(space=PLANE, estimator=None, **params):
    params = {"cv": KFold(3), "random_state": 0, "initial_params": None, **params}
    return SILBOSearchCV(estimator or Peak(), space, **params)


def test_the_search_maximises_and_learns():
    fitted = search(n_iter=20).fit(X, Y)
    assert fitted.best_score_ > -1e-3  # of 20 random points one in 25 runs is this near
    assert fitted.optimizer_.best_x_ == fitted.best_params_
    assert fitted.optimizer_.best_y_ == -fitted.best_score_
    np.testing.assert_array_equal(
        fitted.optimizer_.func_vals_, -fitted.cv_results_["mean_test_score"]
    )


def test_candidates_do_not_depend_on_global_generator():
    with global_generator_unchanged():
        runs = [search(n_iter=5, random_state=seed).fit(X, Y) for seed in (3, 3, 4)]
    params = [run.cv_results_["params"] for run in runs]
    assert params[0] == params[1] != params[2]


def test_n_jobs_does_not_change_result():
    with parallel_config("threading"):
        one, two, other = (
            search(n_iter=7, batch_size=batch_size, n_jobs=n_jobs).fit(X, Y).cv_results_["params"]
            for batch_size, n_jobs in [(3, 1), (3, 2), (1, 2)]
        )
    assert one == two != other


def test_iter_and_source_describe_candidate_origin():
    results = search(n_iter=10, batch_size=4, n_initial=5).fit(X, Y).cv_results_
    np.testing.assert_array_equal(results["iter"], [0] * 4 + [1] * 4 + [2] * 2)
    np.testing.assert_array_equal(results["source"], ["init"] * 5 + ["model"] * 5)


# Failures.


@pytest.mark.parametrize("batch_size", [1, 3])
def test_failing_candidates_become_nan_rows(batch_size):
    space = {"a": [0.1, 0.5, 0.9], "kind": ["bad", "good"]}
    with (
        pytest.warns(FitFailedWarning, match=r"(?s)fits failed out of .*kind bad cannot be fitted"),
        pytest.warns(UserWarning, match="non-finite"),
    ):
        fitted = search(space, n_iter=6, batch_size=batch_size).fit(X, Y)
    results = fitted.cv_results_
    failed = np.array([p["kind"] == "bad" for p in results["params"]])
    assert failed.sum() == 3
    for key in ("mean_test_score", "split0_test_score", "split2_test_score", "std_test_score"):
        np.testing.assert_array_equal(np.isnan(results[key]), failed)
    assert set(results["rank_test_score"][failed]) == {4}
    assert np.isfinite(results["mean_fit_time"]).all()
    assert fitted.best_params_ == {"a": 0.5, "kind": "good"}
    assert {len(column) for column in results.values()} == {6}
    assert np.isnan(fitted.optimizer_.func_vals_).sum() == 3


def test_failure_in_one_fold_fails_candidate():
    space = {"a": [0.5], "kind": ["sometimes", "good"]}
    with (
        pytest.warns(FitFailedWarning, match="fits failed out of a total of 6"),
        pytest.warns(UserWarning, match="non-finite"),
    ):
        fitted = search(space).fit(X, Y)
    assert np.isnan(fitted.optimizer_.func_vals_).sum() == 1
    assert fitted.best_params_["kind"] == "good"


def test_numeric_error_score_is_used_for_failures():
    space = {"a": [0.1, 0.5], "kind": ["bad", "good"]}
    with pytest.warns(FitFailedWarning, match="set to -9"):
        fitted = search(space, error_score=-9, return_train_score=True).fit(X, Y)
    for key in ("mean_test_score", "split1_train_score"):
        assert (fitted.cv_results_[key] == -9).sum() == 2
    assert (fitted.optimizer_.func_vals_ == 9).sum() == 2


def test_only_if_every_candidate_fails_the_search_raises():
    with pytest.raises(ValueError, match=r"(?s)All the 12 fits failed.*kind bad cannot"):
        search({"a": uniform(), "kind": ["bad"]}, n_iter=4).fit(X, Y)


@pytest.mark.parametrize("journaled", [False, True])
def test_untuned_candidate_does_not_hide_broken_space(tmp_path, journaled):
    space = {"C": uniform(-5, 4)}
    options = {"n_iter": 4, "cv": 2, "journal": tmp_path / "log.jsonl" if journaled else None}
    for _ in range(1 + journaled):  # the second run reads the journal
        with pytest.raises(ValueError, match=r"(?s)All the 6 fits failed.*'C' param") as caught:
            SILBOSearchCV(SVC(), space, random_state=0, **options).fit(X, Y > 15)
        results = caught.value.cv_results_
        assert results["params"][0] == {"C": 1.0}
        assert np.isfinite(results["mean_test_score"]).tolist() == [True, False, False, False]


def test_success_of_untuned_candidate_in_space_counts():
    space = {"C": [-2.0, -1.0, 1.0]}
    with pytest.warns(FitFailedWarning), pytest.warns(UserWarning, match="non-finite"):
        fitted = SILBOSearchCV(SVC(), space, n_iter=3, cv=2, random_state=0).fit(X, Y > 15)
    assert fitted.best_params_ == {"C": 1.0}


# Splits.


def test_an_unseeded_splitter_splits_once_per_fit():
    split = ShuffleSplit(2, test_size=0.3)
    one = search(estimator=Fold(), cv=split, n_iter=3)
    values = [one.fit(X, Y).cv_results_["split0_test_score"] for _ in range(2)]
    for scores in values:
        assert len(set(scores)) == 1
    assert values[0][0] != values[1][0]


@pytest.mark.parametrize("as_cv", [list, iter], ids=["list", "generator"])
def test_given_splits_are_used_for_all_candidates(as_cv):
    splits = list(KFold(3).split(X))
    results = search(estimator=Fold(), cv=as_cv(splits), n_iter=4).fit(X, Y).cv_results_
    for i, (_, test) in enumerate(splits):
        np.testing.assert_allclose(results[f"split{i}_test_score"], np.mean(X[test]))


# Interruption.


class Interrupts(Peak):
    """Is interrupted, as by Ctrl-C, in its n-th fit, over all clones."""

    n_fits, at, error = 0, 0, KeyboardInterrupt

    def fit(self, X, y=None):
        Interrupts.n_fits += 1
        if Interrupts.n_fits == Interrupts.at:
            raise Interrupts.error
        return super().fit(X, y)


@pytest.mark.parametrize(("at", "batch_size", "n_kept"), [(4, 1, 1), (11, 1, 3), (11, 2, 3)])
def test_interrupted_search_keeps_results_and_refits(monkeypatch, at, batch_size, n_kept):
    monkeypatch.setattr(Interrupts, "n_fits", 0)
    monkeypatch.setattr(Interrupts, "at", at)
    with pytest.warns(UserWarning, match=f"interrupted after {n_kept} of 20 candidates"):
        fitted = search(estimator=Interrupts(), n_iter=20, batch_size=batch_size).fit(X, Y)
    whole = search(n_iter=9, n_initial=9, batch_size=batch_size).fit(X, Y)
    for key in ("params", "mean_test_score", "iter", "source"):
        np.testing.assert_array_equal(fitted.cv_results_[key], whole.cv_results_[key][:n_kept])
    assert fitted.best_estimator_.a == fitted.best_params_["a"]
    assert len(fitted.optimizer_.func_vals_) == n_kept
    with pytest.raises(NotFittedError, match="Search to the end"):
        fitted.predict_score({"a": 0.5, "b": 0.5})


@pytest.mark.parametrize("options", [{}, {"n_jobs": 2}, {"timeout": 300.0}])
def test_sys_exit_in_fit_carries_results(monkeypatch, options):
    for name, value in {"n_fits": 0, "at": 14, "error": SystemExit(3)}.items():
        monkeypatch.setattr(Interrupts, name, value)
    ended = search(estimator=Interrupts(), n_iter=20, **options)
    with (
        parallel_config("threading"),
        pytest.raises(SystemExit),
        pytest.warns(UserWarning, match=r"after \d+ of 20 candidates \(SystemExit\(3\)"),
    ):
        ended.fit(X, Y)
    assert ended.stop_reason_ == "interrupted"
    most = 19 if options.get("n_jobs") else 4  # other threads go on until it is seen
    assert 1 <= len(ended.cv_results_["params"]) <= most
    assert np.isfinite(ended.cv_results_["mean_test_score"]).any()


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize(("at", "n_iter"), [(3, 5), (7, 2)], ids=["before any result", "refit"])
def test_an_interruption_that_leaves_no_result_is_raised(monkeypatch, at, n_iter, error):
    for name, value in {"n_fits": 0, "at": at, "error": error}.items():
        monkeypatch.setattr(Interrupts, name, value)
    with pytest.raises(error):
        search(estimator=Interrupts(), n_iter=n_iter).fit(X, Y)


# Output.


def test_silent_by_default(capfd):
    with parallel_config("threading"):
        search(n_iter=4, n_jobs=2).fit(X, Y)
    assert tuple(capfd.readouterr()) == ("", "")


def test_verbose_without_tqdm_prints_a_line_per_candidate(capsys, monkeypatch):
    for name in ("tqdm", "tqdm.auto"):  # the second is found without the first, once imported
        monkeypatch.setitem(sys.modules, name, None)
    fitted = search(n_iter=3, verbose=1).fit(X, Y)
    out, err = capsys.readouterr()
    lines = out.splitlines()
    assert [line.split()[1] for line in lines] == ["1/3]", "2/3]", "3/3]"]
    assert f"best {fitted.best_score_:.4g}," in lines[-1]
    assert err == ""


def test_verbose_shows_progress_bar_with_best_score(capsys):
    pytest.importorskip("tqdm")
    fitted = search(n_iter=3, verbose=1).fit(X, Y)
    out, err = capsys.readouterr()
    assert out == ""
    last = err.rstrip().split("\r")[-1]
    assert f"best {fitted.best_score_:.4g}" in last
    assert "3/3" in last
    assert last.count(" s left") == 1
    assert "<" not in last  # of tqdm's own estimate, as in [00:01<00:02, ...]


def test_verbose_two_prints_parameters(capsys):
    fitted = search(n_iter=2, verbose=2).fit(X, Y)
    out = capsys.readouterr().out
    assert out.count("[CV] END") == 6
    assert out.count("[SILBOSearchCV") == 2
    assert f"a={fitted.best_params_['a']:.4g}, b=" in out
    assert "Fitting" not in out
    assert fitted.verbose == 2


# Refusals.


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"space": []}, r"`param_distributions` must be a Space.*got \[\]"),
        ({"space": [PLANE, 1]}, "`param_distributions` must be a Space"),
        ({"space": [PLANE, {}]}, "`param_distributions` must be a Space"),
        ({"space": {}}, "a non-empty list of non-empty dicts, got {}"),
        ({"space": {"a": 3}}, "'a' must be a list of values or a distribution"),
        ({"n_iter": 0}, "'n_iter' parameter"),
        ({"batch_size": 0}, "'batch_size' parameter"),
        ({"max_time": 0}, "'max_time' parameter"),
        ({"patience": 0.5}, "'patience' parameter"),
        ({"n_initial": 0}, "n_initial must be"),
        ({"optimizer_options": {"acquisition": "none"}}, "acquisition must be"),
        ({"embedding": "none"}, "embedding must be"),
        ({"random_state": "seed"}, "'random_state' parameter"),
    ],
)
def test_bad_arguments_are_refused_before_any_fit(params, message):
    class Unfittable(Peak):
        def fit(self, X, y=None):
            raise AssertionError("fitted")

    with pytest.raises(ValueError, match=message):
        search(estimator=Unfittable(), **params).fit(X, Y)
