"""The well-performing candidates in defaults.toml, checked against the ranges and by real fits."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone, is_regressor
from sklearn.datasets import load_diabetes, load_iris
from sklearn.utils import all_estimators

from skbo_silbo import default_space
from skbo_silbo.space._step_data import StepData
from skbo_silbo.space.any_space import as_space, branches_of
from skbo_silbo.space.default_ranges import class_key, list_steps, parameter_names, table
from skbo_silbo.space.first_candidates import (
    _points,
    class_candidates,
    find_range,
    known_candidates,
    read_value,
)

MODELS = dict(all_estimators())
SIZES = {"small": 1000, "large": 1001}
CLASSES = [
    (size, name) for size in SIZES for names in table()["known"][size] for name in names.split()
]


def make_stand_in(name):
    """Return an estimator with the name and the parameters of a class that is not installed."""
    package, _, class_name = name.rpartition(".")
    params = dict.fromkeys(parameter_names(name))
    body = {"__module__": package, "get_params": lambda self, deep=True: params}
    return type(class_name, (BaseEstimator,), body)()


@pytest.mark.parametrize(("size", "name"), CLASSES)
def test_known_candidates_are_inside_default_space(size, name):
    model = make_stand_in(name) if "." in name else MODELS[name]()
    key, branches = class_key(model), branches_of(as_space(default_space(model)))
    for params in class_candidates(key, SIZES[size]):
        values = {
            n: read_value(find_range(key, n, params), v, StepData()) for n, v in params.items()
        }
        assert _points([values], model.get_params(), branches), params


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("size", "name"), CLASSES)
def test_known_candidates_can_be_fitted(size, name):
    package, _, class_name = name.rpartition(".")
    model = getattr(pytest.importorskip(package), class_name)() if package else MODELS[name]()
    X, y = (load_diabetes if is_regressor(model) else load_iris)(return_X_y=True)
    X, y = X[::5], y[::5]
    steps = list_steps(model, X, y)
    steps = [replace(step, data=replace(step.data, n=SIZES[size])) for step in steps]
    branches = branches_of(as_space(default_space(model, X, y)))
    candidates = known_candidates(steps, model.get_params(), branches)
    assert candidates
    for params in candidates:
        fitted = clone(model).set_params(**params).fit(X, y)
        output = fitted.predict(X) if hasattr(fitted, "predict") else fitted.transform(X)
        assert len(output) == len(X)
        assert output.dtype.kind != "f" or np.isfinite(output).all()


@pytest.mark.parametrize(
    ("name", "sizes"),
    [("Ridge", {1000}), ("lightgbm.LGBMRegressor", {1001}), ("SVC", {1000, 1001})],
)
def test_known_candidates_depend_on_number_of_samples(name, sizes):
    model = make_stand_in(name) if "." in name else MODELS[name]()
    for n_rows in (1000, 1001):
        X = np.random.default_rng(0).normal(size=(n_rows, 2))
        branches = branches_of(as_space(default_space(model, X)))
        known = known_candidates(list_steps(model, X, X[:, 0] > 0), model.get_params(), branches)
        assert len(known) == (9 if n_rows in sizes else 0)


def test_guide_lists_models_with_known_candidates():
    guide = (Path(__file__).parents[2] / "doc" / "guide_tune.rst").read_text(encoding="utf-8")
    assert [name for _, name in CLASSES if f"``{name.split('.')[-1]}``" not in guide] == []
