import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from skbo_silbo import SILBO, RandomSearch, Space, minimize

pytestmark = pytest.mark.quick

BOUNDS = [(-1, 1)] * 3


def bowl(x):
    return float(((np.asarray(x) - 0.3) ** 2).sum())


def noisy_search(seed):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (60, 3))
    optimizer = SILBO(BOUNDS, random_state=seed)
    values = [bowl(x) + 0.5 * rng.standard_normal() for x in X]
    optimizer.tell(X, values, noise_std=np.full(60, 0.5))
    optimizer.ask()
    return optimizer


def test_under_noise_it_is_nearer_the_truth_than_the_lowest_value():
    searches = [noisy_search(seed) for seed in range(6)]
    recommended = [search.recommended_ for search in searches]
    errors = [abs(r.mean - bowl(r.point)) for r in recommended]
    of_lowest = [abs(search.best_y_ - bowl(search.best_x_)) for search in searches]
    assert np.mean(errors) < 0.5 * np.mean(of_lowest)
    for search, r in zip(searches, recommended, strict=True):
        assert (search.x_iters_ == r.point).all(axis=1).any()
        assert 0.0 <= r.std < 1.0


def test_the_result_has_the_point():
    run = minimize(bowl, BOUNDS, n_calls=14, random_state=0)
    np.testing.assert_array_equal(run.x_recommended, run.optimizer.recommended_.point)


def test_without_noise_it_is_the_best_point_in_the_units_of_the_values():
    for unit in (1.0, 1e250, 1e-250):
        run = minimize(lambda x, u=unit: u * bowl(x), BOUNDS, n_calls=16, random_state=0)
        point, mean, std = run.optimizer.recommended_
        assert bowl(point) < 4.0 * bowl(run.x) + 0.01
        assert abs(mean / unit - bowl(point)) < 0.1
        assert 0.0 <= std < 0.3 * unit


def test_it_is_feasible_and_has_the_names_of_the_space():
    space = Space({"a": [1, 2, 3.5, 7], "b": ["u", "v", "w"]})
    optimizer = SILBO(space, n_initial=4, random_state=0)
    for params in optimizer.ask(6):
        value = params["a"] + (params["b"] == "u")
        optimizer.tell(params, value, constraints=[0.5 if params["b"] == "v" else -0.5])
    optimizer.ask()
    assert optimizer.recommended_.point["b"] != "v"
    assert set(optimizer.recommended_.point) == {"a", "b"}


def test_without_a_model_it_is_the_best_point_or_refused():
    optimizer = RandomSearch(BOUNDS, random_state=0)
    for x in optimizer.ask(5):
        optimizer.tell(x, bowl(x))
    assert optimizer.recommended_.mean == optimizer.best_y_
    assert np.isnan(optimizer.recommended_.std)
    with pytest.raises(NotFittedError, match=r"^recommended_ needs a model, which ask\(\) makes"):
        _ = SILBO(BOUNDS).tell([0, 0, 0], 1.0).recommended_
