"""One suite that every method of `minimize` passes."""

import copy
import json
import pickle
from functools import cache

import numpy as np
import pytest
from ask_tell import run
from global_generator import global_generator_unchanged
from methods import METHODS
from numpy.testing import assert_array_equal
from scipy.stats import loguniform, randint
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern

from skbo_silbo import Space, minimize
from skbo_silbo.space import SpaceExhausted

BOUNDS = np.array([[-5.0, 10.0], [0.0, 15.0], [1.0, 2.0], [-1.0, 1.0]])
# short first designs and early updates, so that a short run goes through every part of the loop
CHEAP = {
    **{name: {"n_initial": 5} for name in METHODS if name != "random"},
    "silbo-bu": {"n_initial": 5, "update_every": 2},
    "silbo-td": {"n_initial": 5, "update_every": 2},
    "random": {},
}
# a method of `minimize`, and a regressor of scikit-learn in the place of its surrogate
PROCESS = GaussianProcessRegressor(ConstantKernel() * Matern(nu=2.5), alpha=1e-6)
CHEAP["silbo with a process"] = {"n_initial": 5, "surrogate": PROCESS}
OF_EVERY_KIND = ["silbo", "rembo", "random"]


def make(method, bounds=BOUNDS, seed=0):
    return METHODS[name_of(method)](bounds, random_state=seed, **CHEAP[method])


def name_of(method):
    return method.split(" with ")[0]


def bowl(x):
    return float(((x - BOUNDS.mean(axis=1)) ** 2).sum())


@cache
def _known(method):
    return run(make(method), bowl, 7)


def known(method):
    """Return an optimiser that knows seven values, two of them at proposals of its model."""
    return copy.deepcopy(_known(method))


def reload(optimizer, **given):
    data = json.loads(json.dumps(optimizer.to_dict(), allow_nan=False))
    given |= {"surrogate": PROCESS} if "surrogate" in data["objects"] else {}
    return type(optimizer).from_dict(data, **given)


# HeSBO differs from REMBO only in its random embedding. The bottom-up algorithm moves points like
# REMBO, and learns its embedding like the top-down algorithm.
SLOW = {"hesbo", "silbo-bu"}


@pytest.fixture(
    params=[pytest.param(m, marks=[pytest.mark.slow] * (m in SLOW)) for m in CHEAP], ids=str
)
def method(request):
    return request.param


@pytest.fixture(params=OF_EVERY_KIND)
def kind(request):
    return request.param


# --- every method ---------------------------------------------------------------------------------


def test_points_are_distinct_inside_and_reproducible(method):
    def func(x):
        seen.append(x.copy())
        return bowl(x)

    seen, bounds = [], BOUNDS.copy()
    options = {"n_calls": 7, "random_state": 0, **CHEAP[method]}
    with global_generator_unchanged():
        result = minimize(func, bounds, method=name_of(method), **options)
        make(method, seed=None).ask()
    assert_array_equal(bounds, BOUNDS)
    assert result.nfev == len(seen) == len(result.func_vals) == 7
    assert_array_equal(result.x_iters, seen)
    assert ((BOUNDS[:, 0] <= seen) & (seen <= BOUNDS[:, 1])).all()
    assert len(np.unique(seen, axis=0)) == 7
    assert result.fun == min(map(bowl, seen))
    if method in OF_EVERY_KIND:
        assert_array_equal(known(method).x_iters_, seen)
    other_seed = make(method, seed=1).ask(5)[1:]  # the first may be the centre
    assert not (other_seed == result.x_iters[1:5]).all(axis=1).any()


def test_one_input_and_one_that_is_constant(method):
    optimizer = run(make(method, [(0, 1), (3, 3)]), lambda x: float((x[0] - 0.3) ** 2), 7)
    assert (optimizer.x_iters_[:, 1] == 3).all()
    assert len(np.unique(optimizer.x_iters_, axis=0)) == 7


def test_a_finite_space_is_visited_once(method):
    optimizer = make(method, Space({"a": [1, 2, 3], "b": ["x", "y"], "c": ["always"]}))
    run(optimizer, lambda p: p["a"], 6)
    assert len({(p["a"], p["b"]) for p in optimizer.x_iters_}) == 6
    with pytest.raises(SpaceExhausted, match=r"0 of the 6 points"):
        optimizer.ask()


def test_tell_order_and_restart_are_irrelevant(method):
    rng = np.random.default_rng(0)
    X = rng.uniform(*BOUNDS.T, (9, 4))
    X[5] = X[4]
    y = np.append([bowl(x) for x in X[:-2]], [np.nan, np.inf])
    new, asked = make(method), []
    assert reload(new).to_dict() == new.to_dict()
    for order in (range(9), rng.permutation(9)):
        optimizer = make(method)
        for i in order:
            optimizer.tell(X[i], y[i])
        asked.append(optimizer.ask())
    assert_array_equal(*asked)
    for other in (reload(optimizer), pickle.loads(pickle.dumps(optimizer))):
        assert other.to_dict() == optimizer.to_dict()
        assert_array_equal(other.ask(), copy.deepcopy(optimizer).ask())
    assert_array_equal(reload(other).func_vals_, y[list(order)])


def test_only_failures(method):
    optimizer = run(make(method), lambda x: np.nan, 7)
    assert len(np.unique(optimizer.x_iters_, axis=0)) == 7


# --- a method of every kind: what all have from one class -----------------------------------------


def test_only_equal_values(kind):
    optimizer = run(make(kind), lambda x: 3.0, 7)
    assert len(np.unique(optimizer.x_iters_, axis=0)) == 7


def test_a_thousand_inputs(kind):
    optimizer = run(make(kind, [(0, 1)] * 1000), lambda x: float(x[:9].sum()), 6)
    X = optimizer.x_iters_
    assert X.shape == (6, 1000)
    assert np.isfinite(X).all()
    assert np.abs(X - 0.5).max() <= 0.5


def test_named_parameters_and_their_restart_with_the_space(kind):
    space = Space({"C": loguniform(1e-3, 1e3), "p": randint(1, 6), "kind": ["a", "b", "c"]})
    optimizer = run(make(kind, space), lambda p: np.log10(p["C"]) ** 2 + p["p"], 7)
    assert all(1e-3 <= p["C"] <= 1e3 and p["kind"] in "abc" for p in optimizer.x_iters_)
    assert optimizer.best_y_ == optimizer.func_vals_.min()
    with pytest.raises(ValueError, match=r"bounds.*given"):
        reload(optimizer)
    with pytest.raises(ValueError, match=r"parameters\.kind was .* is absent"):
        reload(optimizer, bounds=Space({"C": [1, 2]}))
    other = reload(optimizer, bounds=space)
    assert other.x_iters_ == optimizer.x_iters_
    assert other.ask() == optimizer.ask()


def test_pending_points_are_not_proposed_again(kind):
    asked = []
    for order in ([0, 1, 2], [2, 0, 1]):
        optimizer = known(kind)
        points = np.array([optimizer.ask(), *optimizer.ask(2)])
        assert len(np.unique([*optimizer.x_iters_, *points], axis=0)) == 10
        optimizer.tell(points[order], [bowl(x) for x in points[order]])
        asked.append(optimizer.ask())
    assert_array_equal(*asked)


def test_a_copy_goes_its_own_way(kind):
    optimizer = known(kind)
    other = copy.copy(optimizer)
    run(other, bowl, 2)
    other.ask()
    assert_array_equal(optimizer.ask(2), known(kind).ask(2))


class Interrupted(Exception):
    pass


def test_an_ask_that_is_interrupted_late_leaves_nothing(kind, monkeypatch):
    optimizer, proposed = known(kind), []

    def interrupt(self, rng, part):
        proposed.append(propose(self, rng, part))
        raise Interrupted

    propose = type(optimizer).propose
    monkeypatch.setattr(type(optimizer), "propose", interrupt)
    for _ in range(2):
        with pytest.raises(Interrupted):
            optimizer.ask()
    monkeypatch.undo()
    assert len(proposed) == 2
    assert not len(optimizer.pending_)
    assert_array_equal(optimizer.ask(), known(kind).ask())


def test_arguments_stay_as_they_were(kind):
    optimizer = make(kind)
    for name in ("random_state", "bounds", *CHEAP[kind]):
        with pytest.raises(AttributeError, match=f"{name} of .*got 3. Create a new optimiser"):
            setattr(optimizer, name, 3)
    run(optimizer, bowl, 1)
    with pytest.raises(AttributeError, match="maximize of"):
        optimizer.maximize = True
