"""The candidates that are given come first: in the table, in the model, in the journal."""

import threading

import numpy as np
import pytest
from joblib import parallel_config
from scipy.stats import uniform
from sklearn.base import BaseEstimator
from sklearn.model_selection import KFold
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from skbo_silbo import SILBOSearchCV
from skbo_silbo.space import Space

X, Y = np.zeros((12, 1)), np.arange(12.0)
PLANE = {"a": uniform(), "b": uniform()}
OUTSIDE = {"a": None, "b": 0.5}


class Peak(BaseEstimator):
    """Scores a parabola; None counts as 0."""

    n_fits = 0

    def __init__(self, a=0.25, b=0.75, kind="x"):
        self.a, self.b, self.kind = a, b, kind

    def fit(self, X, y=None):
        Peak.n_fits += 1
        return self

    def __sklearn_is_fitted__(self):
        return True

    def score(self, X, y=None):
        return -(((self.a or 0) - 0.3) ** 2) - (self.b - 0.7) ** 2


def search(estimator=None, space=PLANE, **params):
    params = {"cv": KFold(2), "random_state": 0, "n_iter": 6, **params}
    return SILBOSearchCV(estimator or Peak(), space, **params)


def fit(*args, **params):
    return search(*args, **params).fit(X, Y)


class NamesWhatIsSet(Peak):
    """Like CatBoost's models, it names only the parameters that were set."""

    def get_params(self, deep=True):
        defaults = {"a": 0.25, "b": 0.75, "kind": "x"}
        return {n: v for n, v in super().get_params().items() if v != defaults[n]}

    def set_params(self, **params):
        vars(self).update(params)
        return self


@pytest.mark.parametrize("steps", [False, True])
def test_untuned_estimator_without_named_parameters_comes_first(steps):
    estimator, space, first = NamesWhatIsSet(b=0.6), PLANE, {"b": 0.6}
    if steps:
        estimator = Pipeline([("peak", estimator)])
        space, first = ({f"peak__{n}": v for n, v in d.items()} for d in (space, first))
    fitted = fit(estimator, space)
    assert fitted.cv_results_["params"][0] == first
    assert fitted.cv_results_["source"][0] == "given"
    assert fitted.cv_results_["mean_test_score"][0] == pytest.approx(-0.0125)
    assert fitted.predict_score(first).std == 0.0


def test_untuned_catboost_comes_first():
    catboost = pytest.importorskip("catboost")
    quiet = {"verbose": False, "allow_writing_files": False, "thread_count": 1}
    model = catboost.CatBoostRegressor(iterations=3, **quiet)
    search = SILBOSearchCV(model, n_iter=3, n_initial=3, cv=2, random_state=0)
    rows = np.random.default_rng(0).normal(size=(40, 2))
    assert search.fit(rows, rows[:, 0]).cv_results_["params"][0] == {}


def test_untuned_estimator_comes_first_and_counts():
    fitted = fit()
    results = fitted.cv_results_
    assert results["params"][0] == {"a": 0.25, "b": 0.75}
    assert results["source"][0] == "given"
    assert "given" not in results["source"][1:]
    assert len(results["params"]) == 6
    assert results["mean_test_score"][0] == pytest.approx(-0.005)
    assert fitted.optimizer_.x_iters_[0] == {"a": 0.25, "b": 0.75}
    n_initial = fitted.optimizer_.n_initial_
    assert (results["source"] == "init").sum() == n_initial - 1  # the given one is one of them


def test_single_candidate_skips_untuned_estimator():
    for estimator in (Peak(), Peak(**OUTSIDE)):
        assert fit(estimator, n_iter=1, n_initial=1).cv_results_["source"].tolist() == ["init"]
    dicts = {"initial_params": {"a": 0.1, "b": 0.2}}
    assert fit(n_iter=1, n_initial=1, **dicts).cv_results_["source"].tolist() == ["given"]


@pytest.mark.parametrize(("batch_size", "n_jobs"), [("auto", 1), (3, 2)])
def test_dicts_are_evaluated_in_their_order(batch_size, n_jobs):
    params = [{"a": 0.1, "b": 0.2}, {"b": 0.4, "a": 0.3}]
    with parallel_config("threading"):
        fitted = fit(initial_params=params, batch_size=batch_size, n_jobs=n_jobs)
    results = fitted.cv_results_
    assert results["source"][:3].tolist() == ["given", "given", "init"]
    assert sorted(results["param_a"][:2]) == [0.1, 0.3]
    assert len(results["params"]) == len(fitted.optimizer_.func_vals_) == 6


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_what_is_outside_is_evaluated_and_not_modelled(n_jobs):
    with parallel_config("threading"):
        fitted = fit(Peak(**OUTSIDE), n_jobs=n_jobs)
    results = fitted.cv_results_
    [i] = np.flatnonzero(results["source"] == "given")  # workers may end another first
    assert results["params"][i] == OUTSIDE
    assert results["param_a"][i] is None
    assert results["mean_test_score"][i] == pytest.approx(-0.13)
    assert len(results["params"]) == 6
    assert len(fitted.optimizer_.func_vals_) == 5
    design = np.isin(results["source"], ["known", "init"])
    assert design.sum() == fitted.optimizer_.n_initial_


def test_a_dict_outside_is_warned_of():
    with pytest.warns(
        UserWarning, match="1 of 2 initial_params are outside the space.*Parameter '"
    ):
        fitted = fit(initial_params=[OUTSIDE, {"a": 0.1, "b": 0.2}])
    assert fitted.cv_results_["source"][:2].tolist() == ["given", "given"]


def test_best_candidate_may_be_outside_space():
    class Proud(Peak):
        def score(self, X, y=None):
            return 1.0 if self.a is None else super().score(X, y)

    fitted = fit(Proud(a=None))
    assert fitted.best_params_ == {"a": None, "b": 0.75}
    assert fitted.best_estimator_.a is None


@pytest.mark.parametrize(
    ("kind", "a", "expected"),
    [
        ("x", 0.25, {"kind": "x", "a": 0.25}),
        ("y", 0.25, {"kind": "y"}),
        ("x", 7.0, {"kind": "x", "a": 7.0}),  # none holds it: the first
    ],
)
def test_candidate_belongs_to_first_matching_branch(kind, a, expected):
    space = [{"kind": ["x"], "a": uniform()}, {"kind": ["y", "z"]}]
    fitted = fit(Peak(a, kind=kind), space, n_iter=2, initial_params="current")
    assert fitted.cv_results_["params"][0] == expected
    assert len(fitted.optimizer_.func_vals_) == 2 - (a == 7.0)  # it is outside


def test_equal_step_is_in_space():
    scalers = [StandardScaler(), MinMaxScaler()]
    pipe = Pipeline([("scale", StandardScaler()), ("peak", Peak())])
    space, options = Space({"scale": scalers, "peak__a": uniform()}), {"n_iter": 2, "n_initial": 2}
    fitted = fit(pipe, space, initial_params="current", **options)
    assert fitted.cv_results_["params"][0] == {"scale": scalers[0], "peak__a": 0.25}
    pipe.set_params(scale=StandardScaler(with_mean=False))
    other = fit(pipe, space, initial_params="current", **options)
    assert [len(f.optimizer_.func_vals_) for f in (fitted, other)] == [2, 1]


@pytest.mark.parametrize("listed", [StandardScaler(), StandardScaler(with_std=False)])
def test_moved_candidate_keeps_class_of_step(listed):
    pipe = Pipeline([("scale", StandardScaler()), ("peak", Peak())])
    space = Space({"scale": [MinMaxScaler(), listed], "peak__a": uniform(0.5, 0.5)})
    results = fit(pipe, space, n_iter=2, n_initial=2).cv_results_
    assert results["source"].tolist() == ["given", "known"]
    assert results["params"][1] == {"scale": listed, "peak__a": 0.75}


def test_finite_space_does_not_repeat_initial_candidates():
    space = {"a": [0.25, 0.5], "b": [0.75, 1.0]}
    for estimator, n in ((Peak(), 4), (Peak(a=0.3), 5)):
        fitted = fit(estimator, space, n_iter=9)
        candidates = {tuple(p.values()) for p in fitted.cv_results_["params"]}
        assert len(candidates) == len(fitted.cv_results_["params"]) == n
        assert fitted.stop_reason_ == "exhausted"


@pytest.mark.parametrize(("estimator", "n_jobs"), [(Peak(), 1), (Peak(**OUTSIDE), 2)])
def test_a_journal_keeps_what_was_given(estimator, n_jobs, tmp_path):
    path = tmp_path / "search.jsonl"
    start = {"n_initial": 4}
    options = {"journal": path, "n_jobs": n_jobs, "refit": False, **start}
    with parallel_config("threading"):
        first = fit(estimator, n_iter=5, **options)
        before = Peak.n_fits
        second = fit(estimator, n_iter=6, **options)
    assert Peak.n_fits == before + 2
    assert second.cv_results_["params"][:5] == first.cv_results_["params"]
    assert second.cv_results_["resumed"].tolist() == [True] * 5 + [False]
    np.testing.assert_array_equal(second.cv_results_["source"][:5], first.cv_results_["source"])
    if n_jobs == 1:
        assert second.cv_results_["params"] == fit(estimator, **start).cv_results_["params"]
    with pytest.raises(ValueError, match="initial_params was known and is None"):
        fit(estimator, initial_params=None, **options)


@pytest.mark.parametrize(("estimator", "n_jobs"), [(Peak(), 2), (Peak(**OUTSIDE), 1)])
def test_initial_candidate_interrupted_by_crash_is_reevaluated(estimator, n_jobs, tmp_path):
    path = tmp_path / "search.jsonl"
    options = {"n_iter": 4, "n_initial": 2, "journal": path}
    whole = fit(estimator, **options)
    lines = path.read_bytes().splitlines(keepends=True)
    until = next(i for i, line in enumerate(lines) if b'"begun"' in line)
    path.write_bytes(b"".join(lines[: until + 1]))
    with parallel_config("threading"):
        again = fit(estimator, n_jobs=n_jobs, **options)
    assert again.cv_results_["params"][0] == whole.cv_results_["params"][0]
    assert again.cv_results_["source"].tolist().count("given") == 1
    assert len(again.cv_results_["params"]) == 4


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("default", "`initial_params` must be 'known', 'current'"),
        ([0.5], "`initial_params` must be 'known', 'current'"),
        ({"a": 0.5}, "`initial_params` must have exactly the parameters"),
        ({"a": np.nan, "b": 0.5}, "neither NaN nor numbers as text, got nan for 'a'"),
        ({"a": 0.5, "b": "0.5"}, "neither NaN nor numbers as text, got '0.5' for 'b'"),
        ([{"a": 0.1, "b": 0.1 * i} for i in range(9)], "at most n_iter=6"),
    ],
)
def test_invalid_initial_candidates_raise_before_fit(given, message):
    before = Peak.n_fits
    with pytest.raises(ValueError, match=message):
        fit(initial_params=given)
    assert Peak.n_fits == before


@pytest.mark.filterwarnings("ignore::UserWarning")  # outside the space, and no score
def test_nan_and_text_of_estimator_or_list_are_candidates():
    own = {"a": np.nan, "b": 0.5, "kind": "2"}
    space = {"a": uniform(), "b": [0.5], "kind": ["1", "3"]}
    fitted = fit(Peak(a=np.nan), space, initial_params=own, n_iter=3)
    assert fitted.cv_results_["params"][0] == own


def test_no_worker_waits_for_what_is_given():
    """The given candidate ends only when another has begun."""
    other_began = threading.Event()

    class Patient(Peak):
        def fit(self, X, y=None):
            if (self.a, self.b) == (0.25, 0.75):
                assert other_began.wait(300)
            else:
                other_began.set()
            return self

        def __sklearn_clone__(self):
            return type(self)(**self.get_params())

    with parallel_config("threading"):
        fitted = fit(Patient(), n_jobs=4, n_initial=6, error_score="raise", refit=False)
    assert fitted.cv_results_["source"].tolist().count("given") == 1


def test_results_with_a_candidate_outside_are_initial_results(tmp_path):
    for _ in range(2):  # the second is resumed
        before = fit(Peak(**OUTSIDE), journal=tmp_path / "search.jsonl")
        after = fit(initial_results=before.cv_results_, initial_params=None, n_iter=2)
        assert len(after.optimizer_.func_vals_) == 5 + 2
    pairs = [(OUTSIDE, 0.0)]
    with pytest.raises(ValueError, match="must be inside the search space"):
        fit(initial_results=pairs)


GIVEN = [{"a": x, "b": 0.2} for x in (0.3, 0.1, 0.2, 0.4, 0.5)]


@pytest.mark.parametrize(("batch_size", "n"), [("auto", 2), (3, 3)])
def test_those_given_are_no_batch_larger_than_others(batch_size, n, tmp_path):
    path = tmp_path / "search.jsonl"

    def second(progress):
        return path.read_bytes().count(b'"observed"') if progress.n_evaluations == 2 else 0

    options = {"initial_params": GIVEN, "batch_size": batch_size, "journal": path}
    fitted = fit(callback=second, **options)
    assert fitted.cv_results_["source"].tolist() == ["given"] * n
    assert fitted.stop_reason_ == "callback"
    again = fit(**options).cv_results_
    assert again["source"].tolist()[:6] == ["given"] * 5 + ["model"]
    assert again["resumed"].tolist()[:6] == [True] * n + [False] * (6 - n)
    assert again["params"] == fit(**{**options, "journal": None}).cv_results_["params"]


def test_what_is_given_twice_is_evaluated_once(tmp_path):
    options = {"initial_params": [GIVEN[0], GIVEN[1], dict(GIVEN[0])], "n_initial": 3}
    options["journal"] = tmp_path / "search.jsonl"
    first = fit(**options, n_iter=4).cv_results_["source"].tolist()
    assert first == ["given", "given", "init", "model"]
    resumed = fit(**options, n_iter=5).cv_results_["resumed"].tolist()
    assert resumed == [True] * 4 + [False]
    space = {"a": [0.1, 0.3], "b": [0.2]}
    assert len(fit(space=space, initial_params=[GIVEN[0]] * 2).cv_results_["params"]) == 2


def test_no_new_candidate_raises():
    known = [({"a": 0.1, "b": 0.2}, 0.5)]
    with pytest.raises(ValueError, match="already contain all candidates"):
        fit(space={"a": [0.1], "b": [0.2]}, initial_results=known, initial_params=None)
