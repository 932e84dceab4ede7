"""Proposals in a part of the space: fixed parameters and known constraints."""

from dataclasses import replace

import numpy as np
import pytest
from ask_tell import run
from methods import METHODS
from numpy.testing import assert_array_equal
from scipy.optimize import LinearConstraint, NonlinearConstraint
from scipy.stats import loguniform, randint

from skbo_silbo import SILBO, Space, minimize
from skbo_silbo.acquisition import Climb, RestrictedSpace
from skbo_silbo.baselines import RandomSearch
from skbo_silbo.space import SpaceExhausted

BOUNDS = [(0.0, 1.0), (0.0, 10.0), (-3.0, -1.0)]
SPACE = {"C": loguniform(1e-3, 1e3), "kind": ["a", "b", None], "degree": randint(1, 6)}
BRANCHES = [
    {"kernel": ["rbf"], "C": loguniform(1e-3, 1e3), "gamma": loguniform(1e-3, 1)},
    {"kernel": ["poly"], "C": loguniform(1e-3, 1e3), "degree": [2, 3, 4]},
]


def make(method, bounds):
    options = {} if method == "random" else {"n_initial": 5}
    return METHODS[method](bounds, random_state=0, **options)


def bowl(x):
    return float((x[0] - 0.2) ** 2 + (x[1] - 0.2) ** 2 + 0.1 * x[2])


# one of each way to propose a point
@pytest.fixture(params=["silbo", "silbo-td", "rembo", "random"])
def method(request):
    return request.param


# --- fixed parameters -----------------------------------------------------------------------------


def test_fixed_inputs_are_exact(method):
    optimizer = run(make(method, BOUNDS), bowl, 4)
    X = optimizer.ask(3, fixed={0: 0.1, 2: -1.7})  # one of the design, and two of the model
    assert (X[:, 0] == 0.1).all()
    assert (X[:, 2] == -1.7).all()
    assert len(np.unique(X, axis=0)) == 3
    assert_array_equal(optimizer.pending_, X)
    for x in X:
        optimizer.tell(x, bowl(x))
    assert len(optimizer.pending_) == 0
    assert optimizer.ask().shape == (3,)


def test_fixed_names(method):
    optimizer = run(make(method, Space(SPACE)), lambda p: np.log10(p["C"]) ** 2, 5)
    for fixed in ({"kind": None}, {"C": 0.123, "degree": 3}):
        point = optimizer.ask(fixed=fixed)
        assert list(point) == list(SPACE)
        assert {name: point[name] for name in fixed} == fixed
        optimizer.tell(point, 1.0)


def test_fixed_names_of_conditional_spaces():
    optimizer = run(SILBO(BRANCHES, n_initial=5, random_state=0), lambda p: p["C"], 5)
    assert {optimizer.ask(fixed={"degree": 3})["kernel"] for _ in range(2)} == {"poly"}
    assert {optimizer.ask(fixed={"kernel": "rbf"})["kernel"] for _ in range(2)} == {"rbf"}
    points = optimizer.ask(2, fixed={"C": 0.5})
    assert {p["C"] for p in points} == {0.5}


def test_other_branch_points_are_excluded():
    """Found by ten thousand examples: what was told of one dict was read as of another."""
    bounds = [{"a": [0, 1], "b": [1, 2, 3]}, {"a": [5, 6], "b": loguniform(1e-3, 1e-1)}]
    optimizer = SILBO(bounds, random_state=0, n_initial=2)
    for point in ({"a": 5, "b": 0.01}, {"a": 6, "b": 0.02}, {"a": 1, "b": 2}):
        optimizer.tell(point, point["b"])
    point = optimizer.ask(fixed={"a": 0})
    assert point["a"] == 0
    assert point["b"] in (1, 2, 3)


def test_what_is_fixed_is_optimised_around():
    """With one input held off its optimum the others are still searched by the model."""
    optimizer = run(SILBO([(0, 1)] * 2, random_state=0), lambda x: (x[0] - x[1]) ** 2, 10)
    for _ in range(7):
        x = optimizer.ask(fixed={0: 0.83})
        optimizer.tell(x, (x[0] - x[1]) ** 2)
    assert abs(x[1] - 0.83) < 0.05


def test_the_climb_holds_what_is_fixed():
    """Where all but one input are fixed, the last is at the highest acquisition of that line."""
    optimizer = run(
        SILBO([(-1, 1)] * 3, random_state=0), lambda x: float(((x - 0.1) ** 2).sum()), 14
    )
    restricted = RestrictedSpace(optimizer.space_, {0: 0.5, 2: -0.25})
    surface = replace(optimizer._surface(None), restricted=restricted)
    found = Climb().find(
        surface, optimizer._model.ranked, optimizer.space_, np.random.default_rng(0)
    )
    line = restricted.round(np.column_stack([np.linspace(-1, 1, 2001)] * 3))
    assert_array_equal(np.unique(found.X[:, [0, 2]], axis=0), line[:1, [0, 2]])
    assert surface.values(found.X[:1])[0] > surface.values(line).max() - 1e-6


@pytest.mark.parametrize(
    ("bounds", "fixed", "message"),
    [
        (BOUNDS, {3: 0.5}, r"fixed.*0"),
        (BOUNDS, {"x0": 0.5}, r"fixed.*dict"),
        (BOUNDS, {0: 1.5}, r"within the bounds \[0.0, 1.0\].*got 1.5 for input 0"),
        (SPACE, {"c": 1.0}, r"fixed.*got \['c'\]"),
        (BRANCHES, {"degree": 9}, r"at least one branch.* got {'degree': 9}.* Branch 1: Par"),
        (BRANCHES, {"gamma": 0.1, "degree": 3}, r"fixed.*possible"),
        (BOUNDS, [0.5], r"fixed.* must be None or a dict.*\[0.5\]. Write {0: value}"),
        (BOUNDS, {0: "a"}, "`fixed` must .* numbers within the bounds .* got 'a' for input 0"),
        (BOUNDS, {0: np.nan}, "`fixed` must .* numbers within"),
    ],
)
def test_what_cannot_be_fixed(bounds, fixed, message):
    optimizer = SILBO(bounds, random_state=0)
    with pytest.raises(ValueError, match=message):
        optimizer.ask(fixed=fixed)
    assert len(optimizer.pending_) == 0


def test_what_is_left_of_a_finite_space():
    optimizer = RandomSearch({"a": [1, 2, 3], "b": ["x", "y", "z"]}, random_state=0)
    points = optimizer.ask(3, fixed={"a": 2})
    assert {p["b"] for p in points} == {"x", "y", "z"}
    with pytest.raises(SpaceExhausted, match=r"point.*3"):
        optimizer.ask(fixed={"a": 2})
    assert len(optimizer.pending_) == 3
    assert len(optimizer.ask(6)) == 6


def test_all_inputs_fixed():
    optimizer = SILBO(BOUNDS, random_state=0)
    point = [0.25, 5.0, -2.0]
    assert_array_equal(optimizer.ask(fixed=dict(enumerate(point))), point)
    with pytest.raises(SpaceExhausted):
        optimizer.ask(fixed=dict(enumerate(point)))


# --- known constraints ----------------------------------------------------------------------------


def disc(x):
    return (x[0] - 1) ** 2 + (x[1] - 1) ** 2


DISC = NonlinearConstraint(disc, -np.inf, 0.3)


def test_every_proposal_satisfies_the_constraints(method):
    options = {} if method == "random" else {"n_initial": 5}
    seen = []

    def func(x):
        seen.append(x.copy())
        return float(x.sum())

    constraints = [DISC, LinearConstraint([[1, -1, 0]], -np.inf, [0.2])]
    result = minimize(
        func,
        [(0, 1)] * 3,
        method=method,
        constraints=constraints,
        n_calls=7,
        random_state=0,
        **options,
    )
    X = np.array(seen)
    assert result.nfev == len(X) == 7
    assert (disc(X.T) <= 0.3).all()
    assert (X[:, 0] - X[:, 1] <= 0.2 + 1e-9).all()


@pytest.mark.statistical
def test_the_best_on_the_boundary_is_found():
    """The nearest point of the disc to the origin, (1, 1) - sqrt(.15) (1, 1), at .451."""
    result = minimize(
        lambda x: x[0] ** 2 + x[1] ** 2,
        [(0, 1)] * 2,
        constraints=DISC,
        n_calls=25,
        random_state=0,
    )
    least = 2 * (1 - np.sqrt(0.15)) ** 2
    assert least - 1e-6 <= result.fun < least + 0.02


def test_a_small_feasible_part_is_found():
    """A part of 1e-8 of the cube is not met by chance."""
    small = NonlinearConstraint(lambda x: np.abs(x - 0.7), -np.inf, np.full(4, 0.005))
    result = minimize(lambda x: x.sum(), [(0, 1)] * 4, constraints=small, n_calls=3, random_state=0)
    assert (np.abs(result.x_iters - 0.7) <= 0.005 + 1e-9).all()


def test_constraints_on_named_parameters():
    constraint = NonlinearConstraint(lambda p: p["degree"] * np.log10(p["C"]), 1.0, 4.0)
    result = minimize(
        lambda p: p["C"], SPACE, constraints=constraint, n_calls=8, n_initial=6, random_state=0
    )
    assert all(1.0 <= p["degree"] * np.log10(p["C"]) <= 4.0 for p in result.x_iters)


@pytest.mark.parametrize(
    ("constraints", "message"),
    [
        (disc, r"constraints.*scipy.optimize.NonlinearConstraint"),
        (
            {"type": "ineq", "fun": disc},
            r"got {'type'.*Use NonlinearConstraint\(fun, 0, numpy.inf",
        ),
        (NonlinearConstraint(disc, 0.3, 0.3), r"constraints.*inequalities"),
        (NonlinearConstraint(disc, -2.0, -1.0), r"none.*candidates.*The smallest violation is 1"),
        (NonlinearConstraint(lambda x: np.nan, 0.0, 1.0), r"none.*functions return NaN"),
    ],
)
def test_constraints_that_are_refused(constraints, message):
    calls = []
    with pytest.raises(ValueError, match=message):
        minimize(calls.append, [(0, 1)] * 3, constraints=constraints, random_state=0)
    assert calls == []


def test_linear_constraints_need_a_box_or_names():
    with pytest.raises(ValueError, match="name the columns of a LinearConstraint"):
        minimize(lambda p: 0.0, SPACE, constraints=LinearConstraint([[1, 1, 1]], 0, 1))
    rule = (["x0"], LinearConstraint([[1]], 0, 0.5))
    with pytest.raises(ValueError, match="an array have no names"):
        minimize(lambda x: 0.0, [(0, 1)], constraints=rule)
