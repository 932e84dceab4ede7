"""Small discrete spaces: all points are looked at, and none is asked for twice."""

import numpy as np
import pytest
from scipy.optimize import NonlinearConstraint
from scipy.stats import randint
from sklearn.model_selection import ParameterGrid

from skbo_silbo import SILBO, Space, SpaceExhausted, minimize
from skbo_silbo.acquisition import (
    AcquisitionSurface,
    Climb,
    RestrictedSpace,
    log_expected_improvement,
)
from skbo_silbo.embedding import LinearEmbedding
from skbo_silbo.space import SpaceUnion
from skbo_silbo.surrogate import GaussianProcessSurrogate

MIXED = {"kind": ["a", "b", "c"], "n": randint(2, 5), "level": [0.1, 10.0], "only": ["one"]}
UNION = [{"kind": ["a", "b"], "n": randint(0, 3)}, {"kind": ["b", "c"], "n": [1, 2]}, {"m": ["x"]}]
SPACES = [Space(MIXED), SpaceUnion(UNION), Space({"only": [1]})]


def value(point):
    return float(np.sin(len(str(point))) + point.get("n", 0) ** 0.5 + (point.get("kind") == "b"))


@pytest.mark.parametrize("space", SPACES, ids=repr)
def test_every_point_is_there_once(space):
    X = space.every_point()
    assert len(X) == len({str(point) for point in space.decode(X)}) == space.n_points
    np.testing.assert_array_equal(space.round(X), X)


def surface(space, rng, restricted=None):
    X = space.every_point()[rng.permutation(int(space.n_points))[:12]]
    y = rng.standard_normal(len(X))
    surrogate = GaussianProcessSurrogate().fit(X, y)
    embedding = LinearEmbedding(space.n_features_)
    made = AcquisitionSurface(
        log_expected_improvement, surrogate, embedding, y.min(), None, surrogate, restricted
    )
    return made, X[np.argsort(y)]


@pytest.mark.parametrize("fixed", [{}, {"kind": "b"}, {"n": 3, "kind": "c"}])
def test_the_best_of_all_points_comes_first(fixed):
    space, rng = Space(MIXED), np.random.default_rng(0)
    restricted = RestrictedSpace(space, fixed) if fixed else None
    made, ranked = surface(space, rng, restricted)
    found = Climb().find(made, ranked, space, rng).X
    whole = space.encode([p for p in space.decode(space.every_point()) if p | fixed == p])
    assert sorted(map(tuple, found)) == sorted(map(tuple, whole))
    values = made.values(found)
    assert values[0] == values.max()
    assert (np.diff(values) <= 0).all()


def test_finite_union_is_exhausted_without_repeats():
    result = minimize(value, UNION, n_calls=100, random_state=0)
    assert result.nfev == len({str(point) for point in result.x_iters}) == SPACES[1].n_points
    assert result.stop_reason == "exhausted"


@pytest.mark.parametrize("most", [3.0, np.inf])
def test_restricted_space_is_exhausted_within_restrictions(most):
    optimizer = SILBO(Space(MIXED), random_state=0)
    if np.isfinite(most):
        optimizer.constrain(NonlinearConstraint(lambda p: p["n"] * p["level"], -np.inf, most))
    allowed = [p for p in ParameterGrid({**MIXED, "n": range(2, 5)}) if p["n"] * p["level"] <= most]
    some = [p for p in allowed if p["kind"] == "c"]
    for left in (some, [p for p in allowed if p not in some]):
        fixed = {"kind": "c"} if left is some else None
        for _ in left:
            point = optimizer.ask(fixed=fixed)
            assert point in allowed
            optimizer.tell(point, value(point))
        with pytest.raises(SpaceExhausted):
            optimizer.ask(fixed=fixed)
    assert len({str(p) for p in optimizer.x_iters_}) == len(allowed)


def test_the_only_allowed_point_of_many_is_found():
    space = Space({f"p{i}": list(range(9)) for i in range(4)})
    goal = dict.fromkeys(space.parameter_names, 7)
    optimizer = SILBO(space, random_state=0)
    optimizer.constrain(NonlinearConstraint(lambda p: float(p == goal), 1.0, 1.0 + 1e-9))
    assert optimizer.ask() == goal
    optimizer.tell(goal, 0.0)
    with pytest.raises(SpaceExhausted):
        optimizer.ask()
