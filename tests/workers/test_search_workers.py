"""SILBOSearchCV with batch_size="auto" and several workers: none waits for another."""

import json
import threading
import time

import numpy as np
import pytest
from joblib import parallel_config
from journal_searches import Counted
from scipy.stats import uniform
from sklearn.model_selection import KFold

from skbo_silbo.model_selection import SILBOSearchCV

X, Y = np.arange(24.0).reshape(12, 2), np.arange(12.0)
PLANE = {"a": uniform(), "b": uniform()}
ONE_SPLIT = [(np.arange(6), np.arange(6, 12))]


def search(space=PLANE, estimator=None, **params):
    params = {
        "initial_params": None,
        "cv": KFold(3),
        "random_state": 0,
        "n_jobs": 3,
        "n_iter": 9,
        **params,
    }
    return SILBOSearchCV(estimator or Counted(), space, **params)


def fit(search, backend="threading", y=Y):
    with parallel_config(backend):
        return search.fit(X, y)


def expected(params):
    fold_means = [float(np.mean(X[test])) for _, test in KFold(3).split(X)]
    return [Counted(**params).score(np.full(1, mean)) for mean in fold_means]


@pytest.mark.parametrize(
    ("backend", "n_jobs"),
    [("threading", 3), pytest.param("loky", 2, marks=pytest.mark.slow)],
)
def test_rows_match_candidate_and_fold(backend, n_jobs):
    fitted = fit(search(return_train_score=True, n_jobs=n_jobs), backend)
    results = fitted.cv_results_
    assert len({tuple(p.values()) for p in results["params"]}) == 9
    rows = np.transpose([results[f"split{i}_test_score"] for i in range(3)])
    np.testing.assert_allclose(rows, [expected(p) for p in results["params"]])
    assert list(results["iter"]) == list(range(9))
    n_initial = fitted.optimizer_.n_initial_
    assert sorted(results["source"]) == ["init"] * n_initial + ["model"] * (9 - n_initial)
    assert "mean_train_score" in results
    np.testing.assert_array_equal(fitted.optimizer_.func_vals_, -results["mean_test_score"])
    assert fitted.optimizer_.best_y_ == -fitted.best_score_
    assert fitted.stop_reason_ == "budget"


class Waits(Counted):
    """The first candidate waits until all others have begun."""

    first, others, timed_out = None, 0, False
    enough, lock = threading.Event(), threading.Lock()

    def fit(self, X, y=None):
        with Waits.lock:
            Waits.first = Waits.first or self.a
            Waits.others += self.a != Waits.first
        if Waits.others >= 11:
            Waits.enough.set()
        if self.a == Waits.first:
            Waits.timed_out |= not Waits.enough.wait(timeout=300)
        return self


def test_no_worker_waits_for_another():
    fit(search(estimator=Waits(), n_jobs=4, n_iter=12, n_initial=12, cv=ONE_SPLIT))
    assert not Waits.timed_out


class Crowd(Counted):
    """Counts how many fits run at once, over all clones in threads."""

    lock, n_running, most = threading.Lock(), 0, 0

    def fit(self, X, y=None):
        with Crowd.lock:
            Crowd.n_running += 1
            Crowd.most = max(Crowd.most, Crowd.n_running)
        time.sleep(0.01)
        with Crowd.lock:
            Crowd.n_running -= 1
        return self


@pytest.mark.parametrize(
    ("pre_dispatch", "most", "batch_size"),
    [(1, 1, 4), ("0.5*n_jobs", 2, "auto"), ("all", 4, "auto")],
)
def test_pre_dispatch_limits_submitted_fits(pre_dispatch, most, batch_size):
    Crowd.most = 0
    options = {
        "n_jobs": 4,
        "n_iter": 8,
        "n_initial": 8,
        "pre_dispatch": pre_dispatch,
        "batch_size": batch_size,
    }
    fitted = fit(search(estimator=Crowd(), **options))
    assert len(fitted.cv_results_["params"]) == 8
    assert 1 <= Crowd.most <= most


def test_one_worker_goes_one_by_one():
    options = {"n_jobs": 1, "n_iter": 6}
    one, other = search(**options).fit(X, Y), search(**options, batch_size=1).fit(X, Y)
    assert one.cv_results_["params"] == other.cv_results_["params"]


@pytest.mark.parametrize("options", [{}, {"batch_size": 2}], ids=str)
def test_another_backend_is_refused_by_name(options, tmp_path):
    path, before = tmp_path / "search.jsonl", Counted.n_fits
    message = r"`n_jobs` must be 1 with joblib's MultiprocessingBackend.*\"threading\" or"
    with pytest.raises(ValueError, match=message):
        fit(search(n_jobs=2, journal=path, **options), "multiprocessing")
    assert Counted.n_fits == before
    assert not path.exists()
    fitted = fit(search(n_jobs=1, n_iter=2), "multiprocessing")  # no worker is needed
    assert len(fitted.cv_results_["params"]) == 2


# With a journal.


def n_new_fits(one, backend="threading"):
    before = Counted.n_fits
    fit(one, backend)
    return Counted.n_fits - before


def test_interrupted_search_keeps_its_candidates(tmp_path):
    path = tmp_path / "search.jsonl"
    whole = fit(search(journal=path, refit=False)).cv_results_
    lines = path.read_bytes().splitlines(keepends=True)
    ends = [i + 1 for i, line in enumerate(lines) if b'"observed"' in line]
    for n_kept, options in [(4, {}), (7, {"n_jobs": 1}), (7, {"batch_size": 1})]:
        path.write_bytes(b"".join(lines[: ends[n_kept - 1]]))
        again = search(journal=path, refit=False, **options)
        assert n_new_fits(again) == 3 * (9 - n_kept)
        assert again.cv_results_["params"][:n_kept] == whole["params"][:n_kept]
        assert again.cv_results_["resumed"][:n_kept].all()
        assert len({tuple(p.values()) for p in again.cv_results_["params"]}) == 9
        told = again.optimizer_.func_vals_
        np.testing.assert_array_equal(told, -again.cv_results_["mean_test_score"])
    assert [json.loads(lines[end - 1])["in order"] for end in ends] == [False] * 9
    assert n_new_fits(search(journal=path, refit=False)) == 0


class Holder(Counted):
    """Has a parameter that no other process may be able to have."""

    def __init__(self, a=0.0, b=0.2, kind="good", held=None):
        super().__init__(a, b, kind)
        self.held = held


class Refusing:
    """A scorer, or a parameter, that can be cloned and not pickled."""

    def __call__(self, estimator, X, y=None):
        return 0.0

    def __deepcopy__(self, memo):
        return self

    def __reduce__(self):
        raise TypeError("not to be pickled")


def test_unpicklable_search_raises_before_first_fit():
    """Sent from here: the first fit is never made, so that no worker is begun."""
    message = "^estimator must be picklable, to be sent to joblib's .*, got .* pickle.*n_jobs=1"
    with pytest.raises(ValueError, match=message):
        fit(search(estimator=Holder(held=Refusing())), "loky")
    with pytest.raises(ValueError, match=r"^scoring must be picklable"):
        fit(search(scoring=Refusing()), "loky")
