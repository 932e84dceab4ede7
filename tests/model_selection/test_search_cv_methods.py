"""A search by the methods of `minimize`, such as the algorithms of the paper."""

import numpy as np
import pytest
from scipy.stats import uniform
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from skbo_silbo import FirstPointsOnlyWarning, SILBOSearchCV, minimize

SPACE = {name: uniform(-1, 2) for name in "abcd"}
ROWS = np.zeros((4, 1))


class Hill(BaseEstimator):
    n_fits = 0

    def __init__(self, a=0.0, b=0.0, c=0.0, d=0.0):
        self.a, self.b, self.c, self.d = a, b, c, d

    def fit(self, X, y=None):
        Hill.n_fits += 1
        return self

    def score(self, X, y=None):
        return -((self.a - 0.3) ** 2) + 0.1 * self.b


def search(n_iter=9, **options):
    options = {"random_state": 0, "initial_params": None, "refit": False, "cv": 2, **options}
    return SILBOSearchCV(Hill(), SPACE, n_iter=n_iter, **options).fit(ROWS)


SMALL = {"n_initial": 4, "n_components": 1}


@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("silbo-td", SMALL),
        pytest.param("silbo-bu", SMALL, marks=pytest.mark.slow),
        pytest.param("hesbo", SMALL, marks=pytest.mark.slow),
        ("random", {}),
    ],
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_search_tries_points_of_minimize(method, options, tmp_path):
    def func(point):
        return Hill(**point).score(None)

    expected = minimize(
        func, SPACE, method=method, n_calls=9, maximize=True, random_state=0, **options
    )
    options = {"method": method, "journal": tmp_path / "run.jsonl", **options}
    search(6, **options)
    resumed = search(**options)
    assert resumed.cv_results_["params"] == expected.x_iters
    np.testing.assert_array_equal(resumed.cv_results_["mean_test_score"], expected.func_vals)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "cma"}, "'method' parameter .* must be"),
        ({"method": "random", "surrogate": "gp"}, "method 'random' takes no options"),
        ({"method": "silbo-td", "optimizer_options": {"sketch": 3}}, "'silbo-td' must be among"),
        ({"method": "hesbo", "refit": ["score", "fit_time"]}, "`method` must be 'silbo'"),
    ],
)
def test_unusable_option_raises_before_first_fit(options, message):
    before = Hill.n_fits
    with pytest.raises(ValueError, match=message):
        search(**options)
    assert Hill.n_fits == before


def test_method_without_model_predicts_no_score():
    with pytest.raises(NotFittedError, match="method='random'"):
        search(3, method="random").predict_score({"a": 0.0, "b": 0.0, "c": 0.0, "d": 0.0})


def test_search_that_ends_in_design_warns():
    with pytest.warns(FirstPointsOnlyWarning, match="`n_iter` must be greater than 50 .*, got 3"):
        fitted = search(3, method="silbo-td")
    with pytest.raises(NotFittedError, match=r"from 50 values on, .*, got 3\. Increase `n_iter`"):
        _ = fitted.subspace_


@pytest.mark.filterwarnings("ignore:1 of 1 initial_params are outside")
def test_candidate_outside_space_is_no_design_point():
    outside = {"initial_params": {**Hill().get_params(), "a": 5.0}, "method": "silbo-td"}
    with pytest.warns(
        FirstPointsOnlyWarning,
        match="greater than 51 .*, plus 1 outside the space .such as the untuned",
    ):
        search(3, **outside)
