"""ParetoDisplay: all candidates are drawn and the front is highlighted."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.tree import DecisionTreeClassifier

from skbo_silbo.inspection import ParetoDisplay
from skbo_silbo.model_selection import SILBOSearchCV

plt = pytest.importorskip("matplotlib.pyplot")
X, Y = load_iris(return_X_y=True)


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def search(refit, **options):
    space = {"max_depth": [1, 2, 3, 4], "min_samples_leaf": [1, 5, 25, 50]}
    return SILBOSearchCV(
        DecisionTreeClassifier(random_state=0), space, n_iter=7, refit=refit, cv=3, **options
    ).fit(X, Y)


def test_points_are_candidates_and_front():
    fitted = search(["score", "fit_time"], random_state=0)
    display = ParetoDisplay.from_result(fitted)
    [axes] = display.axes_
    results = fitted.cv_results_
    drawn = np.column_stack([results["mean_test_score"], results["mean_fit_time"]])
    np.testing.assert_array_equal(axes.collections[0].get_offsets(), drawn)
    front = drawn[fitted.pareto_front_]
    np.testing.assert_array_equal(axes.lines[0].get_xydata(), front[np.argsort(front[:, 0])])
    assert sorted(int(text.get_text()) for text in axes.texts) == list(fitted.pareto_front_)
    assert axes.get_xlabel() == "score"
    assert "less is better" in axes.get_ylabel()


def test_three_objectives_give_three_panels():
    values = np.random.default_rng(0).random((9, 3))
    display = ParetoDisplay(values, np.array([2, 5]), ("a", "b", "c")).plot()
    labels = [(axes.get_xlabel(), axes.get_ylabel()) for axes in display.axes_]
    assert labels == [("a", "b"), ("a", "c"), ("b", "c")]
    assert {tuple(x) for x in display.axes_[2].lines[0].get_xydata()} == {
        tuple(values[i, 1:]) for i in (2, 5)
    }
    assert display.axes_[0].lines[0].get_linestyle() == "None"


def test_single_objective_search_has_no_front():
    with pytest.raises(ValueError, match=r"result.*SILBOSearchCV"):
        ParetoDisplay.from_result(search(True))
