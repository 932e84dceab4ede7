"""The well-performing candidates in known.toml, checked against the ranges and by real fits."""

from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone, is_regressor
from sklearn.datasets import load_diabetes, load_iris
from sklearn.svm import SVC
from sklearn.utils import all_estimators

from skbo_silbo import default_space
from skbo_silbo.space._known_data import StepData
from skbo_silbo.space._known_table import class_candidates, class_key, find_range, read_value, table
from skbo_silbo.space.any_space import as_space, branches_of
from skbo_silbo.space.known_candidates import known_candidates
from skbo_silbo.space.known_space import list_steps

CLASSES = list(table()["known"])


@pytest.mark.parametrize("name", CLASSES)
def test_known_candidates_are_inside_default_space(name):
    model = dict(all_estimators())[name]()
    key, branches = class_key(model), branches_of(as_space(default_space(model)))
    for params in class_candidates(key):
        values = {
            n: read_value(find_range(key, n, params), v, StepData()) for n, v in params.items()
        }
        assert any(branch.holds(values) for branch in branches), params


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", CLASSES)
def test_known_candidates_can_be_fitted(name):
    model = dict(all_estimators())[name]()
    X, y = (load_diabetes if is_regressor(model) else load_iris)(return_X_y=True)
    X, y = X[::5], y[::5]
    branches = branches_of(as_space(default_space(model, X, y)))
    candidates = known_candidates(list_steps(model, X, y), model.get_params(), branches)
    assert candidates
    for params in candidates:
        fitted = clone(model).set_params(**params).fit(X, y)
        output = fitted.predict(X) if hasattr(fitted, "predict") else fitted.transform(X)
        assert len(output) == len(X)
        assert output.dtype.kind != "f" or np.isfinite(output).all()


@pytest.mark.parametrize(("n_rows", "n_known"), [(1000, 9), (1001, 0)])
def test_svm_has_no_known_candidates_for_large_data(n_rows, n_known):
    model, X = SVC(), np.random.default_rng(0).normal(size=(n_rows, 2))
    branches = branches_of(as_space(default_space(model, X)))
    steps = list_steps(model, X, X[:, 0] > 0)
    assert len(known_candidates(steps, model.get_params(), branches)) == n_known


def test_guide_lists_models_with_known_candidates():
    guide = (Path(__file__).parents[2] / "doc" / "guide_tune.rst").read_text(encoding="utf-8")
    assert [name for name in CLASSES if f"``{name}``" not in guide] == []
