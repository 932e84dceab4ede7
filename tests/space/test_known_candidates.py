"""The well-performing candidates in defaults.toml, checked against the ranges and by real fits."""

from pathlib import Path

import numpy as np
import pytest
from scipy.stats import loguniform
from sklearn.base import clone, is_regressor
from sklearn.datasets import load_diabetes, load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import all_estimators

from skbo_silbo import Space, default_space
from skbo_silbo.space.default_ranges import class_key, list_steps, table
from skbo_silbo.space.first_candidates import class_candidates, known_candidates

MODELS = dict(all_estimators())
SIZES = {"small": 1000, "large": 1001}
CLASSES = [(size, name) for size in SIZES for name in table()["known"][size]]


@pytest.mark.parametrize(("size", "name"), CLASSES)
def test_known_candidates_are_inside_default_space(size, name):
    model = MODELS[name]()
    space, candidates = Space(default_space(model)), class_candidates(class_key(model), SIZES[size])
    assert len(candidates) == 9
    assert all(map(space.holds, candidates))


@pytest.mark.parametrize("name", sorted({name for _, name in CLASSES}))
def test_known_candidates_can_be_fitted(name):
    model = make_pipeline(StandardScaler(), MODELS[name]())
    X, y = (load_diabetes if is_regressor(model) else load_iris)(return_X_y=True)
    candidates = known_candidates(list_steps(model, X, y), Space(default_space(model, X, y)))
    assert len(candidates) == 9
    few = {name: 5 for name in model.get_params() if name.endswith("__n_estimators")}
    for params in candidates:
        fitted = clone(model).set_params(**params, **few).fit(X, y)
        assert np.isfinite(fitted.predict(X)).all()


@pytest.mark.parametrize(("name", "n_large"), [("ExtraTreesClassifier", 0), ("GaussianNB", 9)])
def test_known_candidates_depend_on_number_of_samples(name, n_large):
    model, X = MODELS[name](), np.random.default_rng(0).normal(size=(1001, 2))
    space, y = Space(default_space(model, X)), X[:, 0] > 0
    counts = [len(known_candidates(list_steps(model, X[:n], y[:n]), space)) for n in (1000, 1001)]
    assert counts == [9, n_large]


@pytest.mark.parametrize(
    ("space", "n"),
    [
        ({"var_smoothing": loguniform(1e-10, 1.0)}, 9),
        ({"var_smoothing": loguniform(0.01, 0.1)}, 3),
        ({"var_smoothing": loguniform(1e-10, 1.0), "priors": [None]}, 0),
    ],
)
def test_known_candidates_are_neither_clipped_nor_completed(space, n):
    steps = list_steps(MODELS["GaussianNB"](), np.ones((9, 2)), np.arange(9) % 2)
    assert len(known_candidates(steps, Space(space))) == n


def test_guide_lists_models_with_known_candidates():
    guide = (Path(__file__).parents[2] / "doc" / "guide_tune.rst").read_text(encoding="utf-8")
    assert [name for _, name in CLASSES if f"``{name}``" not in guide] == []
