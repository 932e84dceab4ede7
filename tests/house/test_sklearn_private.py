"""Private scikit-learn names in `skbo_silbo._sklearn` still do what this library needs."""

import inspect
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Thread

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn import config_context, get_config
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.utils.parallel import _get_threadpool_controller
from threadpoolctl import threadpool_info, threadpool_limits

from skbo_silbo._numerics.threads import one_thread
from skbo_silbo._sklearn import (
    BaseSearchCV,
    adopt_rows,
    metadata_request,
    rows_of,
    search_state,
    warn_or_raise_about_fit_failures,
)

X, Y = np.arange(20.0).reshape(10, 2), np.repeat([0, 1], 5)


class Spy(BaseSearchCV):
    """A search that runs a function of its own in place of `_run_search`."""

    def __init__(self, run, **params):
        super().__init__(LogisticRegression(), **params)
        self.run = run

    def _run_search(self, evaluate_candidates, **kwargs):
        self.run(evaluate_candidates)


def test_failed_fits_warn_and_raise_if_all_fail():
    rows = [{"fit_error": None}, {"fit_error": "no fit"}]
    with pytest.warns(FitFailedWarning, match=r"(?s)1 fits failed out of .* set to nan.*no fit"):
        warn_or_raise_about_fit_failures(rows, np.nan)
    with pytest.raises(ValueError, match=r"(?s)All the 1 fits failed.*no fit"):
        warn_or_raise_about_fit_failures(rows[1:], np.nan)


def test_base_search_parameters_are_known():
    names = set(inspect.signature(BaseSearchCV.__init__).parameters)
    assert names == {
        *("self", "estimator", "scoring", "n_jobs", "refit", "cv", "verbose", "pre_dispatch"),
        *("error_score", "return_train_score"),
    }


@pytest.mark.parametrize("scoring", [None, ["accuracy", "f1"], lambda e, X, y: {"a": e.C}])
def test_fits_give_rows_of_scikit_learn(scoring):
    seen = []

    def run(evaluate):
        evaluate([{"C": 1.0}, {"C": 2.0}])
        fits = search_state(evaluate)
        own = [fit(*fits.data()) for C in (1.0, 2.0) for fit in fits.make_fits({"C": C}, (0, 2))]
        seen.append((inspect.getclosurevars(evaluate).nonlocals["all_out"], own))

    spy = Spy(run, cv=2, scoring=scoring, refit=False, return_train_score=True).fit(X, Y)
    [(rows, own)] = seen
    assert len(own) == len(rows) == 4
    for ours, theirs in zip(own, rows, strict=True):
        assert ours.keys() == theirs.keys()
        for key in ("test_scores", "train_scores", "fit_error", "n_test_samples"):
            assert ours[key] == theirs[key]
    assert spy.cv_results_["params"] == [{"C": 1.0}, {"C": 2.0}]


def test_fits_carry_the_configuration_of_scikit_learn():
    seen = []

    def score(estimator, X, y):
        seen.append(get_config()["assume_finite"])
        return 1.0

    def run(evaluate):
        evaluate([{"C": 1.0}])
        fits = search_state(evaluate)
        with ThreadPoolExecutor(1) as thread:
            for fit in fits.make_fits({"C": 1.0}, (0, 1)):
                thread.submit(fit, *fits.data()).result()

    with config_context(assume_finite=True):
        Spy(run, cv=2, scoring=score).fit(X, Y)
    assert len(seen) > 4
    assert set(seen) == {True}


def test_search_state_is_in_closure_of_hook():
    states = []

    def run(evaluate):
        states.append(search_state(evaluate))
        evaluate([{"C": 1.0}])

    groups = np.arange(10) // 2
    Spy(run, cv=GroupKFold(2)).fit(X, Y, groups=groups, sample_weight=np.ones(10))
    Spy(run, cv=iter(list(StratifiedKFold(2).split(X, Y)))).fit(X, Y)
    grouped, listed = states
    np.testing.assert_array_equal(grouped.X, X)
    np.testing.assert_array_equal(grouped.y, Y)
    assert list(grouped.fit_params) == ["sample_weight"]
    assert set(grouped.score_params) <= {"sample_weight"}
    assert isinstance(grouped.splitter, GroupKFold)
    for train, test in grouped.split():
        assert not set(groups[train]) & set(groups[test])
    assert len(list(listed.split())) == 2
    assert (grouped.n_splits(), listed.n_splits()) == (2, 2)


def test_metadata_request_of_estimator():
    with config_context(enable_metadata_routing=True):
        asked = LogisticRegression().set_fit_request(sample_weight=True)
        assert metadata_request(asked) is not None
    assert metadata_request(LogisticRegression()) is None


def test_search_adopts_external_rows():
    rows = [{"test_scores": s, "fit_time": 0.0, "score_time": 0.0} for s in (0.2, 0.4)]
    search = Spy(None, cv=2)

    def run(evaluate):
        table = adopt_rows(evaluate, rows)
        search.return_train_score = False
        table.update(search._format_results([{"C": 7.0}], 2, rows))

    search.run = run
    search.fit(X, Y)
    assert search.best_params_ == {"C": 7.0}
    assert search.best_score_ == pytest.approx(0.3)
    assert search.best_estimator_.C == 7.0
    assert not search.multimetric_


def n_blas_threads():
    pools = _get_threadpool_controller().select(user_api="blas").info()
    return [pool["num_threads"] for pool in pools]


@pytest.fixture
def three_blas_threads():
    """In a thread that ends: only one that lives keeps others from setting OpenBLAS."""
    before = {pool["prefix"]: pool["num_threads"] for pool in threadpool_info()}
    for limits in (3, before):
        thread = Thread(target=threadpool_limits, args=(limits,))
        thread.start()
        thread.join()
        if limits == 3:
            yield


ORDERS = {
    "one after the other": "a+ a- b+ b-",
    "nested": "a+ b+ b- a-",
    "overlapping": "a+ b+ a- b-",
    "handed on": "a+ b+ a- c+ b- c-",
    "twice in one thread": "a+ b+ a+ b- a- a-",
    "the first comes back": "a+ b+ a- a+ b- a-",
}


@pytest.mark.parametrize("order", ORDERS.values(), ids=ORDERS)
@pytest.mark.usefixtures("three_blas_threads")
def test_one_thread_holds_inside_and_is_undone_after(order):
    """Threads a, b and c enter (+) and leave (-) in this order, and stay alive."""
    assert n_blas_threads()  # numpy's and scipy's linear algebra are seen
    threads = {name: ThreadPoolExecutor(1) for name in "abc"}
    opened = {name: [] for name in threads}

    def step(name, sign):
        if sign == "+":
            opened[name].append(one_thread())
            opened[name][-1].__enter__()
        else:
            opened[name].pop().__exit__(None, None, None)

    for name, sign in order.split():
        threads[name].submit(step, name, sign).result()
        assert set(n_blas_threads()) == ({1} if any(opened.values()) else {3})
    for thread in threads.values():
        thread.shutdown()


class Context:
    """The context of a candidate, as far as it is asked."""

    def __init__(self, *callbacks):
        self._callbacks = callbacks

    def subcontext(self, **about):
        return about


@pytest.mark.parametrize(
    ("callbacks", "own", "shown"),
    [((), False, set()), ((), True, {"callback_ctx"}), ((1,), False, {"callback_ctx", "caller"})],
)
def test_callback_context_is_sent_only_if_needed(callbacks, own, shown):
    """The context grows while workers' threads pickle it."""
    step = LogisticRegression()
    if own:
        step._skl_callbacks = [object()]
    sent = []

    def run(evaluate):
        evaluate([{"C": 1.0}])
        state = replace(search_state(evaluate), estimator=make_pipeline(step))
        [fit, _] = state.make_fits({"C": 1.0}, (0, 1), Context(*callbacks), "the search")
        sent.append(fit.keywords)

    Spy(run, cv=2).fit(X, Y)
    assert set(sent[0]) & {"callback_ctx", "caller"} == shown


@pytest.mark.parametrize("kind", [np.asarray, pd.DataFrame, csr_array, np.ndarray.tolist])
def test_rows_of_any_table_are_taken(kind):
    taken = rows_of(kind(X), np.array([3, 1]))
    taken = taken.toarray() if hasattr(taken, "toarray") else np.asarray(taken)
    np.testing.assert_array_equal(taken, X[[3, 1]])
