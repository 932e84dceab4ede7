"""The journal of SILBOSearchCV: what it refuses, and that a resumed search is the same search."""

import copy
import itertools
import json
import os
import subprocess
import sys
import time

import numpy as np
import pytest
from journal_files import Journal
from journal_searches import SPACE, Counted, X, Y, fit, lines_of, search, told_in
from scipy.stats import loguniform, uniform
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import f1_score, make_scorer
from sklearn.model_selection import GroupKFold, KFold, ShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler


def assert_same_results(one, other):
    one, other = one.cv_results_, other.cv_results_
    assert list(one) == list(other)
    for key in one:
        if "time" not in key and key != "source":
            assert type(one[key]) is type(other[key])
            np.testing.assert_array_equal(one[key], other[key], err_msg=key)


# The file.


@pytest.mark.quick
def test_a_file_cut_anywhere_is_read_up_to_its_last_whole_line(path):
    with Journal(path) as journal:
        journal.begin({"of": "test"})
        for i in range(2):
            journal.append({"value": i, "text": "line\nbreak, ü"})
    whole = path.read_bytes()
    ends = [i for i, byte in enumerate(whole) if byte == ord("\n")]  # a newline can be missing
    for size in range(len(whole) + 1):
        path.write_bytes(whole[:size])
        kept = sum(end <= size for end in ends)
        with Journal(path) as journal:
            assert (journal.header is not None) == (kept > 0)
            assert [record["value"] for record in journal.records] == list(range(kept))[: kept - 1]
            assert path.read_bytes() == whole[: ([0, *(end + 1 for end in ends)])[kept]]
            if kept == 0:
                journal.begin({"of": "test"})
            for i in range(len(journal.records), 2):
                journal.append({"value": i, "text": "line\nbreak, ü"})
        assert path.read_bytes() == whole


@pytest.mark.quick
def test_every_line_is_synced_before_append_returns(path, monkeypatch):
    sizes, fsync = [], os.fsync

    def spy(file):
        sizes.append(path.stat().st_size)
        fsync(file)

    monkeypatch.setattr(os, "fsync", spy)
    with Journal(path) as journal:
        journal.begin({})
        for _ in range(3):
            journal.append({})
            assert sizes[-1] == path.stat().st_size
    assert len(set(sizes)) == 4


def test_what_was_paid_for_is_not_begun_anew(path):
    with Journal(path) as journal:
        journal.begin({})
        journal.append({"told": []})
        with pytest.raises(RuntimeError, match="must be without values to be begun anew"):
            journal.begin({})
    with Journal(path) as journal:
        assert len(journal.records) == 1


@pytest.mark.quick
@pytest.mark.parametrize("content", [b"C,gamma\n1,2\n", b"my only copy", b"[1]\n", b'{"a": 1}\n'])
def test_another_file_is_refused_and_left_alone(path, content):
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"holds something else\. Give another path"):
        search(path).fit(X, Y)
    assert path.read_bytes() == content


@pytest.mark.quick
def test_one_journal_is_for_one_search_at_a_time(path):
    search(path, n_iter=2).fit(X, Y)
    code = (
        "import fcntl, sys\n"
        "try:\n    fcntl.flock(open(sys.argv[1]), fcntl.LOCK_EX | fcntl.LOCK_NB)\n"
        "except BlockingIOError: print('in use')"
    )
    with Journal(path):
        with pytest.raises(RuntimeError, match="one search at a time"):
            search(path).fit(X, Y)
        other = subprocess.run(
            [sys.executable, "-c", code, path], capture_output=True, text=True, check=True
        )
        assert other.stdout == "in use\n"
    search(path, n_iter=2).fit(X, Y)


# Resuming.


@pytest.mark.parametrize("batch_size", [1, 3])
def test_a_search_interrupted_anywhere_ends_as_one_that_was_not(path, batch_size):
    cheap = {"embedding": "identity", "optimizer_options": {"search": "random", "warp": None}}
    options = {"n_iter": 5, "n_initial": 4, "batch_size": batch_size, **cheap}
    reference = search(**options).fit(X, Y)
    search(path, **options).fit(X, Y)
    lines = lines_of(path)
    assert len(told_in(lines)) == 5
    proposed = copy.deepcopy(reference.optimizer_).ask()
    for n_kept in range(len(lines)):
        torn = lines[n_kept][: len(lines[n_kept]) // 2]
        path.write_bytes(b"".join(lines[:n_kept]) + torn)
        n_known = len(told_in(lines[:n_kept]))
        resumed, n_fits = fit(search(path, **options))
        assert n_fits == 3 * (5 - n_known)
        assert_same_results(resumed, reference)
        sources = resumed.cv_results_["source"]
        assert list(sources[:n_known]) == ["resumed"] * n_known
        np.testing.assert_array_equal(sources[n_known:], reference.cv_results_["source"][n_known:])
        assert resumed.optimizer_.ask() == proposed
        assert lines_of(path)[:n_kept] == lines[:n_kept]
        told = told_in(lines_of(path))
        assert [event["observed"] for event in told] == [event["observed"] for event in told_in(lines)]


@pytest.mark.quick
def test_a_finished_journal_gives_its_results_without_a_fit(path):
    options = {"return_train_score": True, "n_iter": 5}
    first = search(path, **options).fit(X, Y)
    again, n_fits = fit(search(path, **options))
    assert n_fits == 0
    for key, column in first.cv_results_.items():  # the times are those of the fits, too
        expected = ["resumed"] * 5 if key == "source" else column
        np.testing.assert_array_equal(again.cv_results_[key], expected)
    assert again.best_params_ == first.best_params_
    assert again.best_estimator_.mean_ == first.best_estimator_.mean_
    assert again.n_splits_ == 3


def test_more_candidates_continue_the_search_fewer_cut_it(path):
    search(path, n_iter=4, batch_size=3).fit(X, Y)
    longer, n_fits = fit(search(path, n_iter=6, batch_size=3))
    assert n_fits == 2 * 3
    assert_same_results(longer, search(n_iter=6, batch_size=3).fit(X, Y))
    shorter, n_fits = fit(search(path, n_iter=3, batch_size=3))
    assert n_fits == 0
    assert_same_results(shorter, search(n_iter=3, batch_size=3).fit(X, Y))
    assert len(told_in(lines_of(path))) == 6


def test_patience_counts_what_was_evaluated_before(path):
    reference = search(n_iter=12, n_initial=12, patience=2).fit(X, Y)
    n = len(reference.cv_results_["iter"])
    assert 3 <= n < 12
    for n_before in (n - 2, n - 1, 12):  # the last journal has more than patience lets be used
        search(path, n_iter=n_before, n_initial=12).fit(X, Y)
        again = search(path, n_iter=12, n_initial=12, patience=2).fit(X, Y)
        assert_same_results(again, reference)


def test_max_time_is_that_of_one_run_and_every_run_gets_on(path, monkeypatch):
    jumps, clock = itertools.count(step=1e6), time.monotonic
    monkeypatch.setattr(time, "monotonic", lambda: clock() + next(jumps))
    options = {"n_iter": 9, "batch_size": 2}
    sizes = [
        len(search(path, max_time=1000.0, **options).fit(X, Y).cv_results_["iter"])
        for _ in range(6)
    ]
    assert sizes == [2, 4, 6, 8, 9, 9]
    monkeypatch.undo()
    assert_same_results(search(path, **options).fit(X, Y), search(**options).fit(X, Y))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning", "ignore:.*non-finite")
@pytest.mark.parametrize(("error_score", "batch_size"), [(np.nan, 2), (-0.1, 1)])
def test_failed_candidates_are_not_tried_again(path, error_score, batch_size):
    params = {"space": {**SPACE, "kind": ["x", "fails"]}, "error_score": error_score}
    params |= {"batch_size": batch_size, "n_iter": 7}
    reference = search(**params).fit(X, Y)
    search(path, **params).fit(X, Y)
    lines = lines_of(path)
    assert any("this kind cannot be fitted" in line.decode() for line in lines)
    for n_kept in (1, 8, 15):
        path.write_bytes(b"".join(lines[:n_kept]))
        resumed, n_fits = fit(search(path, **params))
        assert n_fits == (7 - len(told_in(lines[:n_kept]))) * 3
        assert_same_results(resumed, reference)
        np.testing.assert_array_equal(
            resumed.optimizer_.func_vals_, reference.optimizer_.func_vals_
        )


@pytest.mark.parametrize("refit", ["second", lambda results: 1])
def test_several_metrics(path, refit):
    def scores(estimator, X, y):
        return {"first": np.float32(estimator.a), "second": estimator.b, "third": 1}

    reference = search(scoring=scores, refit=refit, n_iter=6).fit(X, Y)
    for n_iter in (3, 6, 6):
        resumed = search(path, scoring=scores, refit=refit, n_iter=n_iter).fit(X, Y)
    assert_same_results(resumed, reference)
    assert resumed.multimetric_
    assert getattr(resumed, "best_index_", None) == getattr(reference, "best_index_", None)


@pytest.mark.parametrize("random_state", [None, np.random.RandomState(3)])
def test_without_a_number_as_seed_the_journal_keeps_one(path, random_state):
    whole = search(path, random_state=random_state, n_iter=6).fit(X, Y)
    path.write_bytes(b"".join(lines_of(path)[:4]))
    again = search(path, random_state=random_state, n_iter=6).fit(X, Y)
    assert_same_results(again, whole)


def test_categories_of_any_type_come_back_themselves(path):
    model = make_pipeline("passthrough", Ridge())
    space = {
        "passthrough": [StandardScaler(), "passthrough", None],
        "ridge": [Ridge(), Ridge(solver="svd")],
        "ridge__alpha": loguniform(1e-3, 1e3),
        "ridge__max_iter": [None, 10],
    }
    reference = search(estimator=model, space=space, n_iter=6).fit(X, Y)
    search(path, estimator=model, space=space, n_iter=5).fit(X, Y)
    resumed = search(path, estimator=clone(model), space=space, n_iter=6).fit(X, Y)
    for one, other in zip(
        resumed.cv_results_["params"], reference.cv_results_["params"], strict=True
    ):
        assert all(one[name] is other[name] for name in ("passthrough", "ridge"))
        assert one["ridge__alpha"] == other["ridge__alpha"]
    np.testing.assert_array_equal(
        resumed.cv_results_["mean_test_score"], reference.cv_results_["mean_test_score"]
    )


@pytest.mark.filterwarnings("ignore:invalid value")  # scikit-learn's, of inf - inf
def test_every_line_is_plain_json(path):
    def scores(estimator, X, y):
        return np.inf if estimator.a > 0.5 else np.float64(estimator.a)

    params = {"scoring": scores, "n_iter": 5, "refit": False}
    with pytest.warns(UserWarning, match="non-finite"):
        reference = search(path, **params).fit(X, Y)

    def refuse(constant):
        raise AssertionError(constant)

    header, *records = (json.loads(line, parse_constant=refuse) for line in lines_of(path))
    assert header["seed"] == 0
    assert header["made with"].keys() == {"python", "skbo_silbo", "scikit-learn", "scipy", "numpy"}
    records = [record for record in records if "observed" in record]
    assert [r["params"]["a"] for r in records] == [p["a"] for p in reference.cv_results_["params"]]
    with pytest.warns(UserWarning, match="non-finite"):
        assert_same_results(search(path, **params).fit(X, Y), reference)


def test_other_proposals_than_before_are_said_and_what_is_known_is_kept(path):
    other = search(path, random_state=1, n_iter=5, batch_size=2).fit(X, Y)
    with Journal(path) as journal:
        header, records = journal.header, journal.records
    header["seed"] = header["search"]["random_state"] = 0
    header["made with"]["numpy"] = "0.1"
    path.unlink()
    with Journal(path) as journal:
        journal.begin(header)
        for record in records:
            journal.append(record)
    with pytest.warns(UserWarning, match=r"may not be those that would be proposed.*numpy 0\.1"):
        fitted, n_fits = fit(search(path, n_iter=7, batch_size=2))
    assert n_fits == 2 * 3
    params = fitted.cv_results_["params"]
    assert params[:5] == other.cv_results_["params"]
    assert len({p["a"] for p in params}) == 7
    assert list(fitted.cv_results_["source"][:5]) == ["resumed"] * 5
    np.testing.assert_array_equal(
        fitted.optimizer_.func_vals_, -fitted.cv_results_["mean_test_score"]
    )
    assert not fitted.optimizer_.pending_


# Other searches.

METRIC = make_scorer(f1_score)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"space": {**SPACE, "a": uniform(0, 2)}}, r"param_distributions\.0\.a\.quantiles was"),
        ({"space": {**SPACE, "c": uniform()}}, r"param_distributions\.0\.c was absent and is"),
        ({"space": {"a": uniform(), "b": uniform()}}, r"distributions\.0\.kind was .* is absent"),
        ({"space": {**SPACE, "kind": ["x", "z"]}}, r"kind\.categories was .*is \['x', 'z'\]"),
        ({"space": dict(reversed(SPACE.items()))}, r"param_distributions\.0\.order was"),
        ({"estimator": Counted(b=1.0)}, r"estimator\.b was 0\.0 and is 1\.0\. Search"),
        ({"estimator": Counted(b=0)}, r"estimator\.b was 0\.0 and is 0\. Search"),
        (
            {"estimator": LogisticRegression()},
            r"estimator was .*Counted and is sklearn\..*Logistic",
        ),
        ({"scoring": METRIC}, r"scoring was None and is sklearn.metrics._scorer._Scorer"),
        ({"cv": KFold(4)}, r"': cv\.splits was"),
        ({"cv": ShuffleSplit(3, random_state=0)}, r"': cv\.splits was"),
        ({"random_state": 1}, r"random_state was 0 and is 1"),
        ({"random_state": None}, r"random_state was 0 and is None"),
        ({"batch_size": 2}, r"batch_size was 1 and is 2"),
        ({"error_score": -1.0}, r"error_score was nan and is -1\.0"),
        ({"return_train_score": True}, r"return_train_score was False and is True"),
        ({"embedding": "identity"}, r"embedding was auto and is identity"),
        ({"n_initial": 5}, r"n_initial was 4 and is 5"),
        ({"data": (X[:28], Y[:28])}, r"X\.shape was \[30, 2\] and is \[28, 2\].*y\.shape was"),
        ({"data": (X + 1e-9, Y)}, r"X\.digest was"),
        ({"data": (X.astype(np.float32), Y)}, r"X\.dtype was float64 and is float32"),
        ({"data": (X, 1 - Y)}, r"': y\.digest was"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_another_search_is_refused_with_the_difference(path, change, message):
    search(path, n_iter=2).fit(X, Y)
    before = path.read_bytes()
    data = change.pop("data", (X, Y))
    with pytest.raises(ValueError, match=r"search must be that of journal.*" + message):
        search(path, **{"n_iter": 2, **change}).fit(*data)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "change",
    [
        {"n_jobs": 2, "pre_dispatch": 3},
        {"max_time": 100, "patience": 50},
        {"refit": False},
        {"refit": lambda results: 0},
        {"space": {"a": uniform(0, 1), "b": loguniform(1, 2), "kind": ("x", "y", (1, 2))}},
    ],
)
def test_what_does_not_matter_may_change(path, change):
    space = {**SPACE, "b": loguniform(1, 2)}
    search(path, space=space, n_iter=4).fit(X, Y)
    _, n_fits = fit(search(path, **{"space": space, "n_iter": 4, **change}))
    assert n_fits == 0


def test_a_journal_in_no_folder_is_refused_by_name(path):
    with pytest.raises(FileNotFoundError, match=r"journal must be a file .*folder.*no/x\.jsonl"):
        search(path.parent / "no" / "x.jsonl").fit(X, Y)
    with pytest.raises(IsADirectoryError, match="journal must be a file that can be written"):
        search(path.parent).fit(X, Y)


def test_a_journal_of_nothing_is_begun_anew(path):
    wrong = search(path, error_score="raise", space={**SPACE, "c": uniform()})
    with pytest.raises(ValueError, match="Invalid parameter 'c'"):
        wrong.fit(X, Y)
    mended = search(path, n_iter=4).fit(X, Y)
    assert_same_results(mended, search(n_iter=4).fit(X, Y))
    assert os.listdir(path.parent) == [path.name]
    again, n_fits = fit(search(path, n_iter=4))
    assert n_fits == 0
    assert_same_results(again, mended)


def test_fit_parameters_are_part_of_the_search(path):
    groups = np.repeat(np.arange(6), 5)
    params = {"estimator": LogisticRegression(), "space": {"C": loguniform(0.1, 1)}}
    one = search(path, **params, cv=GroupKFold(3), n_iter=2)
    one.fit(X, Y, groups=groups, sample_weight=np.ones(30))
    with pytest.raises(ValueError, match=r"cv\.splits was"):
        one.fit(X, Y, groups=np.roll(groups, 1), sample_weight=np.ones(30))
    with pytest.raises(ValueError, match=r"fit parameters\.sample_weight\.digest was"):
        one.fit(X, Y, groups=groups, sample_weight=np.arange(30) + 1.0)
    one.fit(X, Y, groups=groups, sample_weight=np.ones(30))


def test_a_splitter_without_a_seed_is_refused_before_the_first_fit(path):
    before = Counted.n_fits
    for cv in (ShuffleSplit(3), KFold(3, shuffle=True, random_state=np.random.RandomState(0))):
        with pytest.raises(ValueError, match="cv must give the same splits every time"):
            search(path, cv=cv).fit(X, Y)
    assert Counted.n_fits == before
    assert not path.exists()
    search(path, cv=ShuffleSplit(3, random_state=0), n_iter=2).fit(X, Y)


@pytest.mark.parametrize("as_cv", [list, iter, len], ids=["list", "iterator", "number"])
def test_splits_in_any_form(path, as_cv):
    splits = list(KFold(3).split(X))
    for n_iter in (2, 4):
        fitted, n_fits = fit(search(path, cv=as_cv(splits), n_iter=n_iter))
        assert n_fits == 6
    assert fitted.cv_results_["source"][1] == "resumed"
