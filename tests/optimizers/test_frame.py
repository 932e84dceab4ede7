"""to_frame: one row per evaluation, of optimisers, results and searches."""

import warnings

import numpy as np
import pytest
from scipy.stats import loguniform
from sklearn.datasets import load_iris
from sklearn.svm import SVC

from skbo_silbo import SILBO, SILBOSearchCV, minimize

pd = pytest.importorskip("pandas")


def test_status_tells_failed_from_infeasible():
    optimizer = SILBO([(0, 1)] * 2, random_state=0)
    x = np.array([[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]])
    optimizer.tell(x, [1.0, 2.0, np.nan], constraints=[[-1.0], [1.0], [-1.0]])
    frame = optimizer.to_frame()
    assert frame.columns.tolist() == ["x0", "x1", "value", "constraint_0", "status"]
    assert frame["status"].tolist() == ["ok", "infeasible", "failed"]
    np.testing.assert_array_equal(frame[["x0", "x1"]], x)


def test_parameter_named_like_column_keeps_name():
    optimizer = SILBO({"value": [0.25, 0.5], "value_": [0.5, 1.0]}, random_state=0)
    optimizer.tell({"value": 0.25, "value_": 0.5}, 7.0)
    [row] = optimizer.to_frame().to_dict("records")
    assert row == {"value": 0.25, "value_": 0.5, "value__": 7.0, "status": "ok"}


def test_frame_told_again_has_same_values():
    space = {"C": loguniform(0.1, 1.0), "kernel": ["rbf", "linear"]}
    optimizer = SILBO(space, random_state=0)
    points = optimizer.ask(4)
    frame = optimizer.tell(points, [1.0, 2.0, 3.0, 4.0]).to_frame()
    again = SILBO(space, random_state=0).tell(frame[["C", "kernel"]], frame["value"])
    pd.testing.assert_frame_equal(again.to_frame(), frame)


def test_result_frame_names_sources_of_points():
    known = minimize(lambda x: x[0] ** 2, [(-1, 1)], n_calls=3, n_initial=3, random_state=0)
    result = minimize(
        lambda x: x[0] ** 2,
        [(-1, 1)],
        n_calls=4,
        x0=known.x_iters,
        y0=known.func_vals,
        n_initial=4,
        random_state=0,
    )
    frame = result.to_frame()
    assert frame["source"].tolist() == ["given"] * 3 + ["init"] + ["model"] * 3
    np.testing.assert_array_equal(frame["value"], result.func_vals)


def test_search_frame_counts_seconds_and_failures():
    space = {"C": [-1.0, 1.0, 10.0]}  # a negative C fails
    search = SILBOSearchCV(SVC(), space, n_iter=3, cv=3, random_state=0, initial_params=None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the failed fits
        search.fit(*load_iris(return_X_y=True))
    frame = search.to_frame()
    assert frame.columns.tolist() == ["C", "value", "source", "seconds", "status"]
    assert (frame["status"] == "failed").tolist() == (frame["C"] < 0).tolist()
    results = search.cv_results_
    seconds = 3 * (results["mean_fit_time"] + results["mean_score_time"])
    np.testing.assert_array_equal(frame["seconds"], seconds)
