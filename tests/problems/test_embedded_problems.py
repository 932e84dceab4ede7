"""Embedded, planted and rotated problems, as defined in MATH section 3."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import linprog, minimize
from scipy.stats import binom, kstest

from benchmarks.search.functions import ackley, camel, colville, levy, rosenbrock, styblinski_tang
from skbo_silbo.problems import Problem, branin, embedded, hartmann6, noisy, planted, rotated

BASES = [branin(), camel(), colville(), hartmann6(), ackley(3), levy(3), rosenbrock(3)]
BASES.append(styblinski_tang(3))

bases = st.sampled_from(BASES)
seeds = st.integers(0, 2**31 - 1)
more = st.integers(0, 60)  # inactive inputs
often = settings(max_examples=20)


def to_cube(problem, X):
    lower, upper = problem.bounds.T
    return 2 * (X - lower) / (upper - lower) - 1


def from_cube(problem, U):
    lower, upper = problem.bounds.T
    return np.clip(lower + (U + 1) / 2 * (upper - lower), lower, upper)


def columns_of(problem):
    rows, columns = np.nonzero(problem.active_directions)
    assert_array_equal(rows, np.arange(len(problem.active_directions)))
    return columns


def assert_optimum_kept(problem, base):
    assert problem.optimum == base.optimum
    assert 1 <= len(problem.optimisers) <= len(base.optimisers)
    assert np.abs(problem.optimisers).max() <= 1.0
    values = problem.evaluate(problem.optimisers)
    assert_allclose(values, base.optimum, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("make", [planted, rotated])
@often
@given(base=bases, d=more, seed=seeds)
def test_the_optimum_is_kept(make, base, d, seed):
    problem = make(base, base.n_dims + d, seed)
    assert_optimum_kept(problem, base)
    assert make is rotated or np.abs(problem.optimisers[0]).max() <= 0.9 + 1e-12  # .1 inside
    assert (problem.evaluate(problem.sample(200, seed)) >= base.optimum - 1e-12).all()


# --- active directions ---


@often
@given(base=bases, d=more, seed=seeds)
def test_planted_depends_on_k_coordinates_only(base, d, seed):
    problem = planted(base, base.n_dims + d, seed)
    columns = columns_of(problem)
    assert len(set(columns)) == base.n_dims
    X, other = problem.sample(20, seed), problem.sample(20, seed + 1)
    other[:, columns] = X[:, columns]
    assert_array_equal(problem.evaluate(X), problem.evaluate(other))


@pytest.mark.parametrize("make", [embedded, planted, rotated])
@pytest.mark.parametrize("base", BASES, ids=lambda p: p.name)
def test_every_active_direction_matters(make, base):
    arguments = () if make is embedded else (3,)
    problem = make(base, 30, *arguments)
    X = 0.5 * problem.sample(200, 0)
    for direction in problem.active_directions:
        moved = problem.evaluate(X + 0.3 * direction)
        assert np.mean(moved != problem.evaluate(X)) > 0.5


# --- definitions --------------------------------------------------------------------------------


def test_planted_moves_by_a_uniform_reflected_translation():
    # the optimum of Ackley and of this bowl is at u = 0, where the margin never binds
    places, x = [], []
    for seed in range(400):
        problem = planted(ackley(2), 10, seed)
        places.append(columns_of(problem))
        x.append(problem.optimisers[0][places[-1]])
    shifts = np.concatenate(x)
    assert kstest(shifts, "uniform", args=(-0.4, 0.8)).pvalue > 1e-3
    counts = np.bincount(np.concatenate(places), minlength=10)
    assert ((counts - 80) ** 2 / 80).sum() < 27.9  # chi-square, 9 df, p = .001
    assert all(first != second for first, second in places)


def test_planted_reflects_translates_and_clips():
    def ramp(X):  # in cube coordinates u + 1, and two for the second
        return X[:, 0] + 10 * X[:, 1]

    base = Problem("ramp", ramp, [(0, 2), (0, 2)], 0.0, [(0, 0)])
    reflected = 0
    for seed in range(40):
        problem = planted(base, 2, seed)
        first, second = columns_of(problem)
        x = np.zeros(2)
        grid = np.linspace(-1, 1, 41)
        values = []
        for value in grid:
            x[first], x[second] = value, problem.optimisers[0][second]
            values.append(problem(x))
        optimum = problem.optimisers[0][first]
        sign = np.sign(-optimum)  # u = -1 lies at x = -sign + t
        shift = optimum + sign
        assert 0.1 - 1e-12 <= sign * shift <= 0.4  # kept .1 inside, so it moves inwards
        assert_allclose(values, np.clip(sign * (grid - shift), -1, 1) + 1, atol=1e-9)
        reflected += sign < 0
    assert binom.ppf(1e-6, 40, 0.5) <= reflected <= binom.ppf(1 - 1e-6, 40, 0.5)


def test_planted_lists_all_optimisers_in_box():
    counts = set()
    for seed in range(40):
        problem = planted(branin(), 3, seed)
        counts.add(len(problem.optimisers))
        columns = columns_of(problem)
        inactive = np.setdiff1d(np.arange(3), columns)
        assert_array_equal(problem.optimisers[:, inactive], 0.0)
        starts = problem.sample(15, seed) if seed < 4 else problem.optimisers
        ends = [minimize(problem, x, bounds=problem.bounds) for x in starts]
        best = [end.x[columns] for end in ends if end.fun < problem.optimum + 1e-6]
        distances = np.abs(np.array(best)[:, None] - problem.optimisers[:, columns]).max(axis=2)
        assert distances.min(axis=1).max() < 1e-2
    assert counts == {1, 2, 3}


@often
@given(base=bases, d=more, seed=seeds)
def test_rotated_is_the_clipped_scaled_projection(base, d, seed):
    problem = rotated(base, base.n_dims + d, seed)
    Q = problem.active_directions
    scaled = 3 * Q / np.abs(Q).sum(axis=1, keepdims=True)
    X = problem.sample(30, seed)
    X[0] = np.sign(Q[0])
    assert_allclose(scaled[0] @ X[0], 3.0)  # the farthest vertex
    expected = base.evaluate(from_cube(base, np.clip(X @ scaled.T, -1, 1)))
    assert_allclose(problem.evaluate(X), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_rotated_optimisers_are_reachable_and_minimal(seed):
    base = branin()
    for d in (2, 3, 8):
        problem = rotated(base, d, seed)
        Q = problem.active_directions
        Z = to_cube(base, base.optimisers) * np.abs(Q).sum(axis=1) / 3
        reachable = []
        for z in Z:  # an independent solver: the least infinity norm of a lift
            least = linprog(
                np.append(np.zeros(d), 1.0),
                A_ub=np.block([[np.eye(d), -np.ones((d, 1))], [-np.eye(d), -np.ones((d, 1))]]),
                b_ub=np.zeros(2 * d),
                A_eq=np.column_stack([Q, np.zeros(len(Q))]),
                b_eq=z,
                bounds=[(None, None)] * d + [(0, None)],
            )
            reachable.append(least.fun <= 1 - 1e-3)
        assert sum(reachable) == len(problem.optimisers)
        for x, z in zip(problem.optimisers, Z[reachable], strict=True):
            assert_allclose(Q @ x, z, atol=1e-12)
            shortest = Q.T @ z
            if np.abs(shortest).max() < 0.99:
                assert_allclose(x, shortest, atol=1e-6)


def test_rotations_are_uniform():
    # a coordinate of a uniform unit vector in 3 dimensions is uniform on [-1, 1]
    rows = np.concatenate([rotated(ackley(2), 3, seed).active_directions for seed in range(300)])
    for j in range(3):
        assert kstest(rows[:, j], "uniform", args=(-1, 2)).pvalue > 1e-3


@often
@given(base=bases, d=more, seed=seeds)
def test_embedded_moves_nothing(base, d, seed):
    problem = embedded(base, base.n_dims + d)
    assert_optimum_kept(problem, base)
    assert len(problem.optimisers) == len(base.optimisers)
    X = problem.sample(10, seed)
    expected = base.evaluate(from_cube(base, X[:, : base.n_dims]))
    assert_allclose(problem.evaluate(X), expected, rtol=1e-9, atol=1e-9)
    assert_array_equal(problem.active_directions, np.eye(problem.n_dims)[: base.n_dims])


# --- validation ---


@pytest.mark.parametrize("make", [planted, rotated])
def test_same_seed_same_problem(make):
    first, second, other = (make(hartmann6(), 40, seed) for seed in (5, 5, 6))
    X = first.sample(20, 0)
    assert_array_equal(first.evaluate(X), second.evaluate(X))
    assert_array_equal(first.optimisers, second.optimisers)
    assert_array_equal(first.active_directions, second.active_directions)
    assert (first.evaluate(X) != other.evaluate(X)).mean() > 0.9


@pytest.mark.parametrize("make", [embedded, planted, rotated])
def test_embeddings_travel_between_processes_and_take_noise(make):
    problem = make(branin(), 7)
    X = problem.sample(5, 0)
    copy = pickle.loads(pickle.dumps(noisy(problem, 0.1, 0)))
    assert_array_equal(copy.evaluate_truth(X), problem.evaluate(X))
    assert_array_equal(copy.active_directions, problem.active_directions)
    assert problem.name == f"{make.__name__}(branin, d=7)"


@pytest.mark.parametrize("make", [embedded, planted, rotated])
def test_wrong_arguments(make):
    with pytest.raises(ValueError, match=r"\bd for hartmann6.*>= 6, got 5"):
        make(hartmann6(), 5)
    with pytest.raises(ValueError, match=r"\bd\b.*integer.*got 7\.5"):
        make(hartmann6(), 7.5)
    with pytest.raises(ValueError, match=r"optimum.*real"):
        make(Problem("real", len, [(0, 1)]), 5)
    with pytest.raises(ValueError, match="Embed first"):
        make(noisy(branin(), 1.0), 5)
    with pytest.raises(ValueError, match="inside the bounds"):
        make(branin(), 5)([0.0, 0.0, 0.0, 0.0, 1.1])


def corner(k):
    return Problem("corner", lambda X: -X.sum(axis=1), [(-1, 1)] * k, -k, [[1.0] * k])


@pytest.mark.slow
def test_rotated_reaches_radius_3_or_raises():
    # the corner of a k-cube is at distance sqrt(k)
    assert_optimum_kept(rotated(corner(7), 1000, 0), corner(7))
    for k, d in ((11, 2000), (30, 30)):
        with pytest.raises(ValueError, match="rotations can reach"):
            rotated(corner(k), d, 0)
