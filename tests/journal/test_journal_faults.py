"""The journal of SILBOSearchCV: damage, other searches that look alike, systems without locks."""

import builtins
import json
import os
import subprocess
import sys
from functools import partial
from inspect import signature
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from journal_files import Journal
from journal_searches import Counted, X, Y, fit, lines_of, search, told_in
from odd_estimator import Odd
from scipy.stats import loguniform
from sklearn import config_context
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.pipeline import make_pipeline

from skbo_silbo.model_selection import SILBOSearchCV

# Journals of other versions.

FIRST_VERSION = (
    b'{"journal": "skbo_silbo", "version": 1, "search": {}}\n{"candidate": 0, "score": 1.0}\n'
)


@pytest.mark.quick
@pytest.mark.parametrize("version", [1, 99])
def test_a_journal_of_another_version_is_refused_by_it(path, version):
    path.write_bytes(FIRST_VERSION.replace(b": 1,", b": %d," % version))
    before = path.read_bytes()
    with pytest.raises(ValueError, match=rf"is of version {version}\. Continue with the skbo_sil"):
        search(path).fit(X, Y)
    assert path.read_bytes() == before


# Searches that look alike.


def test_weights_of_the_scorer_are_part_of_the_search(path):
    weights = np.ones(30)
    space = {"C": loguniform(0.1, 1)}
    with config_context(enable_metadata_routing=True):
        scorer = make_scorer(accuracy_score).set_score_request(sample_weight=True)
        model = LogisticRegression().set_fit_request(sample_weight=False)
        one = search(path, estimator=model, space=space, scoring=scorer, n_iter=2)
        one.fit(X, Y, sample_weight=weights)
        with pytest.raises(ValueError, match=r"scorer parameters\.sample_weight\.digest was"):
            one.fit(X, Y, sample_weight=np.arange(30) + 1.0)
        asked = LogisticRegression().set_fit_request(sample_weight=True)
        with pytest.raises(ValueError, match=r"estimator\.metadata request"):
            search(path, estimator=asked, space=space, scoring=scorer, n_iter=2).fit(
                X, Y, sample_weight=weights
            )


@pytest.mark.parametrize(("refit", "is_refused"), [(False, True), ("second", False)])
def test_the_order_of_metrics_counts_where_it_decides_which_is_searched(path, refit, is_refused):
    def scorer(name):
        return partial(score_of, name=name)

    scoring = {"first": scorer("a"), "second": scorer("b")}
    search(path, scoring=scoring, refit=refit, n_iter=2).fit(X, Y)
    again = search(path, scoring=dict(reversed(scoring.items())), refit=refit, n_iter=2)
    if is_refused:
        with pytest.raises(ValueError, match="order of scoring was"):
            again.fit(X, Y)
    else:
        assert fit(again)[1] == 0


def score_of(estimator, X, y, name):
    return getattr(estimator, name)


def test_every_parameter_is_in_the_fingerprint_or_said_not_to_matter(path):
    search(path, n_iter=1).fit(X, Y)
    written = set(json.loads(lines_of(path)[0])["search"])
    assert set(signature(SILBOSearchCV).parameters) - written == {
        *("callback", "journal", "max_time", "n_iter", "n_jobs", "patience", "pre_dispatch"),
        *("timeout", "verbose", "initial_results"),  # the last only where they are given
    }


# Systems without fcntl.


def without(monkeypatch, *missing):
    imported = builtins.__import__

    def refuse(name, *args, **kwargs):
        if name in missing:
            raise ImportError(name)
        return imported(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", refuse)


def test_the_lock_of_windows_is_used_where_there_is_no_fcntl(path, monkeypatch):
    """A stand-in for msvcrt, which locks bytes of an open file as documented for it."""
    import fcntl

    places = []

    def locking(file, mode, n_bytes):
        places.append((os.lseek(file, 0, os.SEEK_CUR), mode, n_bytes))
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)

    monkeypatch.setitem(sys.modules, "msvcrt", SimpleNamespace(LK_NBLCK=2, locking=locking))
    without(monkeypatch, "fcntl")
    monkeypatch.setattr(os, "name", "nt")
    with Journal(path) as journal:
        journal.begin({})
        journal.append({"value": 1})
        with pytest.raises(RuntimeError, match="one search at a time"), Journal(path):
            pass
    monkeypatch.setattr(os, "name", "posix")
    with Journal(path) as journal:
        assert journal.records == [{"n": 0, "value": 1}]
    assert places == [(2**31 - 2, 2, 1)] * 3


@pytest.mark.skipif(os.name == "nt", reason="stands in for it")
def test_searches_go_on_where_nothing_is_that_windows_has_not(tmp_path):
    """A process dies in the middle of `minimize`; the next ends it, and the other searches."""
    script = Path(__file__).with_name("windows_run.py")
    env = {**os.environ, "PYTHONPATH": str(script.parents[2])}
    command = [sys.executable, "-W", "error", script, tmp_path]
    run = subprocess.run(command, capture_output=True, text=True, env=env)
    assert run.returncode == 0, run.stderr
    assert run.stdout.split() == ["3", "5", "10", "9", "12"]  # 4 and 5 of 9 calls; one ended it


def test_a_system_without_any_lock_is_named(path, monkeypatch):
    without(monkeypatch, "fcntl", "msvcrt")
    with pytest.raises(RuntimeError, match=r"journal must be None on this system.*msvcrt"):
        search(path).fit(X, Y)


def test_a_disk_without_locks_is_named(path, monkeypatch):
    import fcntl

    def refuse(file, operation):
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(fcntl, "flock", refuse)
    with pytest.raises(RuntimeError, match=r"file system with locks: .*Operation not supported"):
        search(path).fit(X, Y)


# Workers that die.


@pytest.mark.filterwarnings(
    "ignore::sklearn.exceptions.FitFailedWarning", "ignore:.*non-finite", "ignore:A worker stopped"
)
@pytest.mark.parametrize("batch_size", [pytest.param(2, marks=pytest.mark.slow), "auto"])
def test_a_candidate_that_kills_its_worker_has_failed_and_is_not_proposed_again(
    path, tmp_path, batch_size
):
    log = tmp_path / "log"
    params = {
        "estimator": Odd(log=str(log)),
        "space": {"kind": ["good", "dies"]},
        "cv": [(np.arange(15), np.arange(15, 30))],
        "n_jobs": 2,
        "batch_size": batch_size,
    }
    fitted = search(path, **params).fit(X, Y)
    kinds = [candidate["kind"] for candidate in fitted.cv_results_["params"]]
    scores = fitted.cv_results_["mean_test_score"]
    assert sorted(kinds) == ["dies", "good"]
    assert [bool(np.isnan(score)) for score in scores] == [kind == "dies" for kind in kinds]
    assert fitted.best_params_["kind"] == "good"
    errors = [event["error"] for event in told_in(lines_of(path))]
    assert ["a worker died twice" in str(e) for e in errors] == [k == "dies" for k in kinds]
    log.write_text("")
    again = search(path, **params).fit(X, Y)
    np.testing.assert_array_equal(again.cv_results_["mean_test_score"], scores)
    [refit] = log.read_text().splitlines()
    assert json.loads(refit)[0] == "good"


# Faults beside the journal.


@pytest.mark.parametrize("refit", ["unknown", True])
def test_a_callable_with_several_metrics_needs_a_refit_that_it_returns(refit):
    def scores(estimator, X, y):
        return {"first": estimator.a, "second": estimator.b}

    before = Counted.n_fits
    with pytest.raises(ValueError, match="refit must be set to a scorer key"):
        search(scoring=scores, refit=refit, n_iter=2).fit(X, Y)
    assert Counted.n_fits - before == 3


@pytest.mark.filterwarnings("error")
def test_data_and_scores_that_are_all_the_same_end_in_a_result():
    def constant(estimator, X, y):
        return 0.5

    fitted = search(scoring=constant, n_iter=7).fit(np.ones((30, 2)), Y)
    assert fitted.best_score_ == 0.5
    assert len({tuple(p.values()) for p in fitted.cv_results_["params"]}) == 7
    model = make_pipeline(PCA(1), LogisticRegression())
    space = {"logisticregression__C": loguniform(0.1, 10)}
    assert search(estimator=model, space=space, n_iter=6).fit(X * 0 + X[0], Y).n_splits_ == 3
