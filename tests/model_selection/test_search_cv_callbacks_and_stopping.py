"""SILBOSearchCV: starting from earlier results, being watched, and why it ended."""

import io

import numpy as np
import pytest
from peak import Peak
from scipy.stats import loguniform, uniform
from sklearn.model_selection import KFold, ParameterSampler, RandomizedSearchCV

from skbo_silbo.model_selection import SILBOSearchCV

X, Y = np.zeros((12, 1)), np.arange(12.0)


PLANE = {"a": uniform(), "b": uniform()}
BRANCHES = [{"a": uniform(), "kind": ["x"]}, {"b": loguniform(0.01, 1.0), "kind": ["y"]}]


def search(space=PLANE, **params):
    return SILBOSearchCV(
        Peak(), space, **{"cv": KFold(2), "random_state": 0, "initial_params": None, **params}
    )


def random_search(space=PLANE, **params):
    return RandomizedSearchCV(
        Peak(), space, **{"cv": KFold(2), "random_state": 0, "n_iter": 15, **params}
    ).fit(X, Y)


# Earlier results.


def as_pairs(results):
    return list(zip(results["params"], results["mean_test_score"], strict=True))


def as_frame(results):
    return pytest.importorskip("pandas").DataFrame(results)


def as_columns(results):
    return as_frame(results).drop(columns="params").to_dict("list")


def as_masked(results):
    return {name: column for name, column in results.items() if name != "params"}


FORMS = [dict, as_pairs, as_columns]


@pytest.mark.parametrize("form", FORMS)
def test_initial_results_forms_are_equivalent(form):
    earlier = random_search().cv_results_
    fitted = search(n_iter=1, initial_results=form(earlier)).fit(X, Y)
    told = fitted.optimizer_
    np.testing.assert_array_equal(told.func_vals_[:15], -earlier["mean_test_score"])
    assert [{k: float(v) for k, v in p.items()} for p in told.x_iters_[:15]] == [
        {k: float(v) for k, v in p.items()} for p in earlier["params"]
    ]
    assert len(fitted.cv_results_["params"]) == 1
    assert set(fitted.cv_results_["source"]) == {"model"}
    reference = search(n_iter=1, initial_results=as_pairs(earlier)).fit(X, Y)
    assert fitted.cv_results_["params"] == reference.cv_results_["params"]


def as_csv(results):
    pandas = pytest.importorskip("pandas")
    text = as_frame(results).drop(columns="params").to_csv(index=False)
    return pandas.read_csv(io.StringIO(text)).to_dict("list")


def as_extension_types(results):
    return as_frame(results).drop(columns="params").convert_dtypes().to_dict("list")


CHOICES = {"a": uniform(), "b": [None, 0.3, 0.7]}
MAYBE = [{"a": uniform(), "kind": [None, "x"]}, {"b": uniform()}]


@pytest.mark.parametrize("form", [as_pairs, as_masked, as_columns, as_csv, as_extension_types])
@pytest.mark.parametrize("space", [BRANCHES, CHOICES, MAYBE])
def test_an_empty_cell_is_none_or_no_parameter(form, space):
    points = list(ParameterSampler(space, 9, random_state=0))
    names = sorted({name for point in points for name in point})
    columns = {
        f"param_{name}": np.ma.array(
            [point.get(name) for point in points],
            mask=[name not in point for point in points],
            dtype=object,
        )
        for name in names
    }
    given = form({"params": points, "mean_test_score": np.arange(9.0), **columns})
    told = search(space, n_iter=1, n_initial=10, initial_results=given).fit(X, Y).optimizer_
    assert told.x_iters_[:9] == [pytest.approx(point) for point in points]
    assert told.func_vals_[:9].tolist() == [-float(i) for i in range(9)]


def test_a_short_start_is_completed_by_the_design():
    pairs = [({"a": 0.1, "b": 0.2}, 0.5), ({"a": 0.2, "b": 0.3}, None)]
    fitted = search(n_iter=4, n_initial=5, initial_results=pairs).fit(X, Y)
    assert list(fitted.cv_results_["source"]) == ["init"] * 3 + ["model"]
    assert np.isnan(fitted.optimizer_.func_vals_[1])


def test_initial_results_use_searched_metric():
    def scores(estimator, X, y):
        return {"first": estimator.a, "second": estimator.b}

    params = {"scoring": scores, "refit": "second"}
    earlier = random_search(**params).cv_results_
    fitted = search(n_iter=1, initial_results=earlier, **params).fit(X, Y)
    np.testing.assert_array_equal(fitted.optimizer_.func_vals_[:15], -earlier["mean_test_second"])
    with pytest.raises(ValueError, match="must have a column 'mean_test_third'"):
        search(initial_results=earlier, refit="third").fit(X, Y)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (3, r"must be cv_results_ or a list .* got int"),
        ([1, 2], r"must be cv_results_.* got list"),
        ([({"a": 1.0}, "good")], r"must be cv_results_"),
        ([("a", 1.0)], r"must be cv_results_"),
        ({"mean_test_score": [1.0]}, r"must have a column 'params', got"),
        ({"params": [{"a": 0.1, "b": 0.1}]}, r"must have a column 'mean_test_score'"),
        ([({"a": 0.1}, 0.5)], r"must be inside the search space.*\['b'\]"),
        ([({"a": 7.0, "b": 0.1}, 0.5)], r"must be inside the search space.*widen the space"),
    ],
)
def test_what_cannot_be_read_is_refused(given, message):
    with pytest.raises(ValueError, match=message):
        search(initial_results=given).fit(X, Y)


def test_initial_results_frame_raises_with_remedy():
    frame = as_frame(random_search().cv_results_)
    with pytest.raises(
        ValueError, match=r'got DataFrame.*search\.cv_results_ rather.*frame\.to_dict\("list"\)'
    ):
        search(initial_results=frame).fit(X, Y)


def test_halving_results_use_full_resource():
    earlier = {**random_search().cv_results_, "n_resources": [10] * 9 + [30] * 6}
    fitted = search(n_iter=1, initial_results=earlier).fit(X, Y)
    np.testing.assert_array_equal(fitted.optimizer_.func_vals_[:6], -earlier["mean_test_score"][9:])
    assert len(fitted.optimizer_.func_vals_) == 7


def test_the_journal_goes_with_its_initial_results(tmp_path):
    path, earlier = tmp_path / "search.jsonl", random_search().cv_results_
    search(n_iter=1, initial_results=earlier, journal=path).fit(X, Y)
    again = random_search().cv_results_  # other times, the same scores
    longer = search(n_iter=2, initial_results=again, journal=path).fit(X, Y)
    assert list(longer.cv_results_["resumed"]) == [True, False]
    whole = search(n_iter=2, initial_results=earlier).fit(X, Y)
    assert longer.cv_results_["params"] == whole.cv_results_["params"]
    with pytest.raises(ValueError, match=r"initial_results was .* and is None"):
        search(n_iter=5, journal=path).fit(X, Y)
