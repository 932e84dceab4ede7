"""The journal of SILBOSearchCV: what it refuses, and that a resumed search is the same search."""

import copy
import itertools
import json
import time
from functools import partial
from inspect import signature

import numpy as np
import pytest
from journal_files import checked_line
from journal_searches import SPACE, Counted, X, Y, fit, lines_of, search, told_in
from scipy.stats import loguniform, uniform
from sklearn import config_context
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.model_selection import GroupKFold, KFold, ShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skbo_silbo.journal.state import root_seed
from skbo_silbo.model_selection import SILBOSearchCV


def assert_same_results(one, other):
    one, other = one.cv_results_, other.cv_results_
    assert list(one) == list(other)
    for key in one:
        if "time" not in key and key != "resumed":
            assert type(one[key]) is type(other[key])
            np.testing.assert_array_equal(one[key], other[key], err_msg=key)


# Resuming.


@pytest.mark.parametrize("batch_size", [pytest.param(1, marks=pytest.mark.slow), 3])
def test_search_cut_anywhere_equals_uninterrupted(path, batch_size):
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
        assert resumed.cv_results_["resumed"].tolist() == [i < n_known for i in range(5)]
        assert resumed.optimizer_.ask() == proposed
        assert lines_of(path)[:n_kept] == lines[:n_kept]
        told, expected = told_in(lines_of(path)), told_in(lines)
        assert [event["observed"] for event in told] == [event["observed"] for event in expected]


@pytest.mark.quick
def test_finished_journal_gives_results_without_fits(path):
    options = {"return_train_score": True, "n_iter": 5}
    first = search(path, **options).fit(X, Y)
    again, n_fits = fit(search(path, **options))
    assert n_fits == 0
    for key, column in first.cv_results_.items():  # the times are those of the fits, too
        expected = [True] * 5 if key == "resumed" else column
        np.testing.assert_array_equal(again.cv_results_[key], expected)
    assert again.best_params_ == first.best_params_
    assert again.best_estimator_.mean_ == first.best_estimator_.mean_
    assert again.n_splits_ == 3


@pytest.mark.parametrize(
    ("batch_size", "sizes"),
    [(1, [3, 7]), pytest.param(3, [4, 8], marks=pytest.mark.slow), (4, [6, 10, 11])],
)
def test_larger_n_iter_equals_uninterrupted(path, batch_size, sizes):
    """The design ends after 4, and most sizes cut a batch short."""
    n_known = 0
    for n_iter in sizes:
        longer, n_fits = fit(search(path, n_iter=n_iter, batch_size=batch_size))
        assert n_fits == (n_iter - n_known) * 3
        n_known = n_iter
    assert_same_results(longer, search(n_iter=n_iter, batch_size=batch_size).fit(X, Y))
    shorter, n_fits = fit(search(path, n_iter=3, batch_size=batch_size))
    assert n_fits == 0
    assert_same_results(shorter, longer)


def test_resumed_batch_is_told_in_proposed_order(path):
    """Workers may end the candidates of a batch in any order."""
    search(path, n_iter=6, batch_size=3).fit(X, Y)
    events = list(map(json.loads, lines_of(path)))
    places = [i for i, event in enumerate(events) if "observed" in event]
    for first in (0, 3):
        batch = places[first : first + 3]
        ended = [events[i] for i in reversed(batch)]
        for i, event in zip(batch, ended, strict=True):
            events[i] = {**event, "n": i - 1}
    for event in events:
        del event["check"]
    path.write_bytes(b"".join(checked_line(event) + b"\n" for event in events))
    resumed, reference = (search(j, n_iter=9, batch_size=3).fit(X, Y) for j in (path, None))
    assert_same_results(resumed, reference)
    assert resumed.optimizer_.x_iters_ == reference.optimizer_.x_iters_


def test_patience_counts_candidates_of_journal(path):
    reference = search(n_iter=12, n_initial=12, patience=2).fit(X, Y)
    n = len(reference.cv_results_["iter"])
    assert 3 <= n < 12
    for n_before in (n - 2, n - 1):
        search(path, n_iter=n_before, n_initial=12).fit(X, Y)
        again = search(path, n_iter=12, n_initial=12, patience=2).fit(X, Y)
        assert_same_results(again, reference)


def test_max_time_is_per_run(path, monkeypatch):
    jumps, clock = itertools.count(step=1e6), time.perf_counter
    monkeypatch.setattr(time, "perf_counter", lambda: clock() + next(jumps))
    options = {"n_iter": 9, "batch_size": 2}
    runs = [search(path, max_time=1000.0, **options).fit(X, Y) for _ in range(6)]
    sizes = [len(run.cv_results_["iter"]) for run in runs]
    assert sizes == [1, 2, 3, 4, 5, 6]
    monkeypatch.undo()
    assert_same_results(search(path, **options).fit(X, Y), search(**options).fit(X, Y))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning", "ignore:.*non-finite")
@pytest.mark.parametrize(("error_score", "batch_size"), [(np.nan, 2), (-0.1, 1)])
def test_failed_candidates_are_not_retried(path, error_score, batch_size):
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
        values = resumed.optimizer_.func_vals_
        np.testing.assert_array_equal(values, reference.optimizer_.func_vals_)


@pytest.mark.parametrize("refit", ["second", lambda results: 1])
def test_search_with_several_metrics_resumes(path, refit):
    def scores(estimator, X, y):
        return {"first": np.float32(estimator.a), "second": estimator.b, "third": 1}

    reference = search(scoring=scores, refit=refit, n_iter=6).fit(X, Y)
    for n_iter in (3, 6, 6):
        resumed = search(path, scoring=scores, refit=refit, n_iter=n_iter).fit(X, Y)
    assert_same_results(resumed, reference)
    assert resumed.multimetric_
    assert getattr(resumed, "best_index_", None) == getattr(reference, "best_index_", None)


@pytest.mark.parametrize("random_state", [None, np.random.RandomState(3)])
def test_journal_keeps_seed_drawn_first(path, random_state):
    whole = search(path, random_state=random_state, n_iter=6).fit(X, Y)
    path.write_bytes(b"".join(lines_of(path)[:4]))
    again = search(path, random_state=random_state, n_iter=6).fit(X, Y)
    assert_same_results(again, whole)


def test_categories_of_any_type_are_restored(path):
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
    results = resumed.cv_results_, reference.cv_results_
    for one, other in zip(*(found["params"] for found in results), strict=True):
        assert all(one[name] is other[name] for name in ("passthrough", "ridge"))
        assert one["ridge__alpha"] == other["ridge__alpha"]
    np.testing.assert_array_equal(*(found["mean_test_score"] for found in results))


@pytest.mark.filterwarnings("ignore:invalid value")  # scikit-learn's, of inf - inf
def test_every_line_is_strict_json(path):
    def scores(estimator, X, y):
        return np.inf if estimator.a > 0.5 else np.float64(estimator.a)

    params = {"scoring": scores, "n_iter": 5, "refit": False}
    with pytest.warns(UserWarning, match="non-finite"):
        reference = search(path, **params).fit(X, Y)

    def refuse(constant):
        raise AssertionError(constant)

    header, *records = (json.loads(line, parse_constant=refuse) for line in lines_of(path))
    assert header["seed"] == root_seed(0)
    names = ["journal", "version", "made with", "seed", "random_state", "fixed", "search", "check"]
    assert list(header) == names
    assert header["made with"].keys() == {"python", "skbo_silbo", "scikit-learn", "scipy", "numpy"}
    records = [record for record in records if "observed" in record]
    assert [r["observed"][0]["a"] for r in records] == [
        p["a"] for p in reference.cv_results_["params"]
    ]
    with pytest.warns(UserWarning, match="non-finite"):
        assert_same_results(search(path, **params).fit(X, Y), reference)


# Other searches.


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"space": {name: SPACE[name] for name in ("a", "b")}},
            r"param_distributions\.kind was .* and is absent",
        ),
        ({"space": dict(reversed(SPACE.items()))}, r"param_distributions\.order was"),
        ({"estimator": Counted(b=0)}, r"estimator\.b was 0\.0 and is 0\."),
        ({"cv": KFold(4)}, "cv has other values"),
        ({"random_state": 1}, "random_state was 0 and is 1"),
        ({"data": (X + 1e-9, Y)}, "X has other values"),
        ({"data": (X.astype(np.float32), Y)}, r"X\.dtype was float64 and is float32"),
        ({"data": (X, 1 - Y)}, "y has other values"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_other_search_is_rejected_with_difference(path, change, message):
    search(path, n_iter=2).fit(X, Y)
    before = path.read_bytes()
    data = change.pop("data", (X, Y))
    with pytest.raises(ValueError, match="belongs to another search: .*" + message):
        search(path, **{"n_iter": 2, **change}).fit(*data)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "change",
    [
        {"n_jobs": 2, "pre_dispatch": 3},
        {"max_time": 100, "patience": 50, "target": 9.0, "n_retries": 0, "timeout": None},
        {"refit": False},
        {"refit": lambda results: 0},
        {"space": {"a": uniform(0, 1), "b": loguniform(1, 2), "kind": ("x", "y", (1, 2))}},
    ],
)
def test_limits_and_refit_may_change(path, change):
    space = {**SPACE, "b": loguniform(1, 2)}
    search(path, space=space, n_iter=4).fit(X, Y)
    _, n_fits = fit(search(path, **{"space": space, "n_iter": 4, **change}))
    assert n_fits == 0


def test_other_fit_parameters_are_rejected(path):
    groups = np.repeat(np.arange(6), 5)
    params = {"estimator": LogisticRegression(), "space": {"C": loguniform(0.1, 1)}}
    one = search(path, **params, cv=GroupKFold(3), n_iter=2)
    one.fit(X, Y, groups=groups, sample_weight=np.ones(30))
    with pytest.raises(ValueError, match="cv has other values"):
        one.fit(X, Y, groups=np.roll(groups, 1), sample_weight=np.ones(30))
    with pytest.raises(ValueError, match=r"fit parameters\.sample_weight has other values"):
        one.fit(X, Y, groups=groups, sample_weight=np.arange(30) + 1.0)
    one.fit(X, Y, groups=groups, sample_weight=np.ones(30))


@pytest.mark.parametrize("constraints", [None, lambda params: True])
def test_unknown_parameter_leaves_no_journal(path, constraints):
    one = search(path, constraints=constraints)
    one.set_params(param_distributions={"nothing": [1, 2, 3]})
    with pytest.raises(ValueError, match="Invalid parameter 'nothing'"):
        one.fit(X, Y)
    assert not path.exists()


def test_unseeded_splitter_is_rejected_before_first_fit(path):
    before = Counted.n_fits
    for cv in (ShuffleSplit(3), KFold(3, shuffle=True, random_state=np.random.RandomState(0))):
        with pytest.raises(ValueError, match="`cv` must give the same splits"):
            search(path, cv=cv).fit(X, Y)
    assert Counted.n_fits == before
    assert not path.exists()
    search(path, cv=ShuffleSplit(3, random_state=0), n_iter=2).fit(X, Y)


@pytest.mark.parametrize("as_cv", [list, iter, len], ids=["list", "iterator", "number"])
def test_splits_of_any_form_resume(path, as_cv):
    splits = list(KFold(3).split(X))
    for n_iter in (2, 4):
        fitted, n_fits = fit(search(path, cv=as_cv(splits), n_iter=n_iter))
        assert n_fits == 6
    assert fitted.cv_results_["resumed"][1]


def test_other_scorer_weights_are_rejected(path):
    weights = np.ones(30)
    space = {"C": loguniform(0.1, 1)}
    with config_context(enable_metadata_routing=True):
        scorer = make_scorer(accuracy_score).set_score_request(sample_weight=True)
        model = LogisticRegression().set_fit_request(sample_weight=False)
        one = search(path, estimator=model, space=space, scoring=scorer, n_iter=2)
        one.fit(X, Y, sample_weight=weights)
        with pytest.raises(ValueError, match=r"scorer parameters\.sample_weight has other values"):
            one.fit(X, Y, sample_weight=np.arange(30) + 1.0)
        asked = LogisticRegression().set_fit_request(sample_weight=True)
        with pytest.raises(ValueError, match=r"estimator\.metadata request"):
            search(path, estimator=asked, space=space, scoring=scorer, n_iter=2).fit(
                X, Y, sample_weight=weights
            )


@pytest.mark.parametrize(("refit", "is_refused"), [(False, True), ("second", False)])
def test_order_of_metrics_matters_without_refit(path, refit, is_refused):
    scoring = {"first": partial(score_of, name="a"), "second": partial(score_of, name="b")}
    search(path, scoring=scoring, refit=refit, n_iter=2).fit(X, Y)
    again = search(path, scoring=dict(reversed(scoring.items())), refit=refit, n_iter=2)
    if is_refused:
        with pytest.raises(ValueError, match="order of scoring was"):
            again.fit(X, Y)
    else:
        assert fit(again)[1] == 0


def score_of(estimator, X, y, name):
    return getattr(estimator, name)


def test_every_parameter_is_described_or_may_change(path):
    search(path, n_iter=1).fit(X, Y)
    written = set(json.loads(lines_of(path)[0])["search"])
    assert set(signature(SILBOSearchCV).parameters) - written == {
        *("callback", "journal", "max_time", "n_iter", "n_jobs", "n_retries", "patience"),
        *("pre_dispatch", "random_state", "target", "timeout", "verbose"),
    }


def test_mistyped_call_does_not_fix_size_of_design(path, monkeypatch):
    def fails(*_, **__):
        raise LookupError

    with monkeypatch.context() as patch:
        patch.setattr(Counted, "fit", fails)
        with pytest.raises(LookupError):
            search(path, n_initial=2, n_iter=4, error_score="raise").fit(X, Y)
    fitted = search(path, n_initial=6, n_iter=8, error_score="raise").fit(X, Y)
    assert list(fitted.cv_results_["source"]) == ["init"] * 6 + ["model"] * 2
