"""A candidate that ends the process of its search is known by name, and has failed in the end."""

import json
import os

import numpy as np
import pytest
from joblib import parallel_config
from scipy.stats import uniform
from sklearn.base import BaseEstimator
from sklearn.model_selection import KFold

from skbo_silbo.journal import SideFile
from skbo_silbo.minimization import LostEvaluationWarning
from skbo_silbo.model_selection import SILBOSearchCV

X, Y = np.zeros((12, 1)), np.zeros(12)
DEATH = 9

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork"),
    pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning"),
    pytest.mark.filterwarnings("ignore:One or more of the test scores are non-finite"),
]


class Poison(BaseEstimator):
    """Ends its process where a is near .5, and writes down that it was there."""

    def __init__(self, a=0.0, log=None):
        self.a, self.log = a, log

    def fit(self, X, y=None):
        with open(self.log, "a") as file:
            file.write(f"{self.a!r}\n")
        if 0.4 < self.a < 0.6:
            os._exit(DEATH)
        return self

    def score(self, X, y=None):
        return -self.a


@pytest.fixture
def path(tmp_path):
    return tmp_path / "search.jsonl"


def search(path, **params):
    params = {
        "initial_params": None,
        "n_iter": 6,
        "n_initial": 6,
        "cv": KFold(2),
        "random_state": 0,
        **params,
    }
    estimator = Poison(log=str(path.with_name("log")))
    return SILBOSearchCV(estimator, {"a": uniform()}, journal=path, refit=False, **params)


def exit_code(function):
    """Call a function in a process of its own."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            function()
            code = 0
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def run_until_it_ends(path, **params):
    """Run a search again and again; return it, as it is in the journal, and how often it died."""
    n_deaths = 0
    while (code := exit_code(lambda: quietly(search(path, **params).fit))) == DEATH:
        n_deaths += 1
        assert n_deaths < 20
    assert code == 0
    return search(path, **params).fit(X, Y), n_deaths


@pytest.mark.filterwarnings("ignore::UserWarning")
def quietly(fit):
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit(X, Y)


def assert_only_the_poison_failed(fitted):
    a = np.array([params["a"] for params in fitted.cv_results_["params"]])
    poison = (a > 0.4) & (a < 0.6)
    assert poison.any()
    scores = fitted.cv_results_["mean_test_score"]
    np.testing.assert_array_equal(np.isnan(scores), poison)
    np.testing.assert_array_equal(scores[~poison], -a[~poison])
    return int(poison.sum())


@pytest.mark.parametrize("options", [{}, {"racing": True, "cv": KFold(3)}], ids=["", "racing"])
def test_one_by_one_it_is_tried_once_more(path, options):
    fitted, n_deaths = run_until_it_ends(path, **options)
    n_poison = assert_only_the_poison_failed(fitted)
    assert n_deaths == 2 * n_poison
    errors = [json.loads(line)["error"] for line in path.read_bytes().splitlines()[1:]]
    assert sum("the process ended 2 times" in str(error) for error in errors) == n_poison
    assert not path.with_name("search.jsonl.begun").exists()


def test_the_others_of_its_batch_are_not_spoilt(path):
    fitted, n_deaths = run_until_it_ends(path, batch_size=3)
    n_poison = assert_only_the_poison_failed(fitted)
    assert 2 * n_poison <= n_deaths <= 3 * n_poison
    assert list(fitted.cv_results_["iter"]) == [0, 0, 0, 1, 1, 1]


def test_as_workers_are_free(path):
    def run():
        with parallel_config("threading"):
            quietly(search(path, n_jobs=2).fit)

    n_deaths = 0
    while (code := exit_code(run)) == DEATH:
        n_deaths += 1
        assert n_deaths < 40
    assert code == 0
    with parallel_config("threading"):
        fitted = search(path, n_jobs=2).fit(X, Y)
    assert_only_the_poison_failed(fitted)
    lines = [json.loads(line) for line in path.read_bytes().splitlines()[1:]]
    assert not any(line["in order"] for line in lines)


def test_it_is_said(path):
    for _ in range(2):
        assert exit_code(lambda: quietly(search(path, error_score="raise").fit)) == DEATH
    with pytest.raises(RuntimeError, match="the process ended 2 times while this candidate"):
        search(path, error_score="raise").fit(X, Y)


def test_it_is_said_by_a_warning(path):
    begun = path.with_name("search.jsonl.begun")
    with pytest.raises(KeyError):
        search(path, error_score=-7.0, callback=lambda progress: {}["missing"]).fit(X, Y)
    assert not begun.exists()
    [_, line] = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(path.read_bytes().removesuffix(line))
    SideFile(str(begun)).write({"under way": [], "deaths": [[json.loads(line)["x"], 2]]})
    with pytest.warns(LostEvaluationWarning, match="counts as failed: the process ended 2 times"):
        fitted = search(path, error_score=-7.0, n_iter=2).fit(X, Y)
    assert fitted.cv_results_["mean_test_score"][0] == -7.0
    assert not begun.exists()


def test_what_an_earlier_run_was_at_is_known_by_the_end_of_this_one(path):
    """Ctrl-C, or an error, in a run that has not come to what killed the one before."""
    assert exit_code(lambda: quietly(search(path).fit)) == DEATH
    begun = path.with_name("search.jsonl.begun")
    [place] = SideFile(str(begun)).read()["under way"]
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0])
    assert len(lines) > 2

    def interrupt(progress):
        raise LookupError

    with pytest.raises(LookupError):
        search(path, callback=interrupt).fit(X, Y)
    assert SideFile(str(begun)).read() == {"under way": [], "deaths": [[place, 1]]}
