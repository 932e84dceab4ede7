"""Problems: published values of the test functions, validation and noise."""

import pickle

import numpy as np
import pytest
from global_generator import global_generator_unchanged
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize

from skbo_silbo.problems import Problem, branin, hartmann6, noisy

pytestmark = pytest.mark.quick

KNOWN = [branin(), hartmann6()]


def bowl(X):
    return (X**2).sum(axis=1)


def every(problems):
    return pytest.mark.parametrize("problem", problems, ids=lambda p: f"{p.name}-{p.n_dims}")


# --- published values ---------------------------------------------------------------------------


PI, HARTMANN6 = 3.14159, (0.20169, 0.150011, 0.476874, 0.275332, 0.311652, 0.6573)


@pytest.mark.parametrize(
    ("problem", "optimum", "optimisers", "bounds"),
    [
        (branin(), 0.397887, [(-PI, 12.275), (PI, 2.275), (9.42478, 2.475)], [(-5, 10), (0, 15)]),
        (hartmann6(), -3.32237, [HARTMANN6], [(0, 1)] * 6),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_published_optimum_optimisers_and_box(problem, optimum, optimisers, bounds):
    # digits as printed by the Virtual Library of Simulation Experiments, the last ones truncated
    assert_allclose(problem.optimum, optimum, atol=5e-5)
    assert_allclose(problem.optimisers, optimisers, atol=1e-4)
    assert_array_equal(problem.bounds, bounds)


def test_branin_by_hand():
    assert_allclose(branin()((0, 0)), 36 + 20 - 5 / (4 * np.pi), rtol=1e-12)


# --- check_optimum ---


@every(KNOWN)
def test_own_optimum(problem):
    problem.check_optimum(n_points=2000, random_state=1)


@pytest.mark.parametrize(
    ("optimum", "x"),
    [(-1.0, 0.0), (0.0625, 0.25), (0.0, 0.0), (2.0, -1.0)],  # the last falls towards the inside
)
def test_wrong_optima_raise(optimum, x):
    def dented(X):  # x^2 with a deep narrow dent at .6; 2 at -1
        [x] = X.T
        return np.where(x < -0.9, 2 * x**2, x**2) - 9 * np.maximum(0, 0.04 - (x - 0.6) ** 2) * 20

    problem = Problem("dented", dented, [(-1, 1)], optimum, [[x]])
    with pytest.raises(ValueError, match=r"optimum of dented.*lowest value"):
        problem.check_optimum()


def test_local_search_finds_missed_minimum():
    local = (-3.20316, (0.40465, 0.88244, 0.84610, 0.57399, 0.13893, 0.03850))
    full = minimize(hartmann6(), local[1], bounds=hartmann6().bounds, options={"ftol": 1e-15})
    problem = Problem("local", hartmann6().function, [(0, 1)] * 6, full.fun, [full.x])
    with pytest.raises(ValueError, match="lowest value"):
        problem.check_optimum(n_points=200)
    assert problem.evaluate(problem.sample(200, 0)).min() > full.fun


# --- validation ---


@every(KNOWN)
def test_one_point_many_points_and_pickling_agree(problem):
    X = problem.sample(7, 3)
    assert X.shape == (7, problem.n_dims)
    assert (problem.bounds[:, 0] <= X).all()
    assert (problem.bounds[:, 1] >= X).all()
    together = problem.evaluate(X)
    assert together.shape == (7,)
    assert_allclose([problem(x) for x in X], together, rtol=1e-13)
    assert_allclose([problem.truth(x) for x in X], together, rtol=1e-13)
    assert isinstance(problem(X[0]), float)
    assert_array_equal(pickle.loads(pickle.dumps(problem)).evaluate(X), together)
    assert_array_equal(problem.active_directions, np.eye(problem.n_dims))


def test_problem_and_inputs_are_read_only():
    def careless(X):
        X *= 0
        return X.sum(axis=1)

    bounds = np.array([[-1.0, 1.0]])
    problem = Problem("careless", careless, bounds, 0.0, [[0.5]])
    X = np.full((2, 1), 0.5)
    problem.evaluate(X)
    problem(X[0])
    assert_array_equal(X, 0.5)
    bounds[:] = 0
    assert_array_equal(problem.bounds, [[-1, 1]])
    with pytest.raises(ValueError, match="read-only"):
        problem.bounds[0] = 0
    with pytest.raises(AttributeError):
        problem.optimum = 1.0


def test_regret_is_scaled_by_median_random_point():
    problem = branin()
    values = problem.evaluate(problem.sample(1000, 0))
    assert problem.regret(problem.optimum) == 0.0
    assert_allclose(problem.regret(np.median(values)), 1.0, rtol=1e-14)
    assert_allclose(problem.regret_scale(0), np.median(values) - problem.optimum, rtol=1e-14)
    assert problem.regret_scale(0) == problem.regret_scale(0) != problem.regret_scale(1)
    assert_allclose(problem.regret([problem.optimum, np.median(values)]), [0, 1], atol=1e-14)


def test_numpy_global_generator_is_left_alone():
    with global_generator_unchanged():
        branin().sample(3, None)
        branin().check_optimum(n_points=10)
        noisy(branin(), 1.0)([0, 0])


@pytest.mark.parametrize(
    ("x", "match"),
    [
        ([0.0], r"\bX\b.*shape.*got \(1, 1\)"),
        ([[0.0, 0.0]], "single point"),
        ([0.0, 15.1], r"inside the bounds \[0.0, 15.0\] of input 1 of branin, got 15.1"),
        ([np.nan, 0.0], "got nan"),
    ],
)
def test_wrong_points(x, match):
    with pytest.raises(ValueError, match=match):
        branin()(x)
    with pytest.raises(ValueError, match=r"\bX\b.*shape.*got \(2,\)"):
        branin().evaluate([0.0, 0.0])


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"bounds": [0, 1]}, r"bounds.*\(m, 2\)"),
        ({"bounds": [(1, 0)]}, "lower < upper"),
        ({"bounds": [(0, np.inf)]}, "finite"),
        ({"optimum": 0.0}, "given together"),
        ({"optimisers": [[0.0]]}, "given together"),
        ({"optimum": 0.0, "optimisers": [0.0]}, r"optimisers.*\(m, 1\)"),
        ({"optimum": 0.0, "optimisers": [[2.0]]}, "optimisers must lie inside"),
        ({"active_directions": [[1.0, 0.0]]}, r"active_directions.*\(m, 1\)"),
    ],
)
def test_wrong_problems(arguments, match):
    with pytest.raises(ValueError, match=match):
        Problem(**{"name": "bowl", "function": bowl, "bounds": [(-1, 1)]} | arguments)


def test_regret_needs_an_optimum():
    problem = Problem("bowl", bowl, [(-1, 1)])
    for method in (problem.regret_scale, problem.check_optimum, lambda: problem.regret(1.0)):
        with pytest.raises(ValueError, match=r"optimum.*bowl"):
            method()


# --- noise --------------------------------------------------------------------------------------


def test_noise_has_stated_mean_and_deviation():
    problem = noisy(hartmann6(), sd=0.3, random_state=0)
    X = problem.sample(20000, 1)
    noise = problem.evaluate(X) - problem.evaluate_truth(X)
    assert abs(noise.mean()) < 4 * 0.3 / np.sqrt(20000)
    assert abs(noise.std() / 0.3 - 1) < 4 / np.sqrt(2 * 20000)
    assert abs(np.corrcoef(noise[1:], noise[:-1])[0, 1]) < 4 / np.sqrt(20000)
    assert abs(np.corrcoef(noise, problem.evaluate_truth(X))[0, 1]) < 4 / np.sqrt(20000)


@settings(max_examples=20)
@given(seed=st.integers(0, 2**31 - 1), sd=st.floats(0, 10))
def test_truth_is_untouched_by_noise(seed, sd):
    problem, quiet = noisy(branin(), sd, seed), branin()
    X = quiet.sample(5, seed)
    problem.evaluate(X)
    assert_array_equal(problem.evaluate_truth(X), quiet.evaluate(X))
    assert problem.truth(X[0]) == quiet(X[0])
    assert problem.regret_scale() == quiet.regret_scale()
    problem.check_optimum(n_points=20)


def test_noise_depends_on_seed_not_batching():
    X = branin().sample(6, 0)
    first, second = (noisy(branin(), 2.0, 7) for _ in range(2))
    assert_allclose(first.evaluate(X), [second(x) for x in X], rtol=1e-12)
    assert not np.allclose(first.evaluate(X), noisy(branin(), 2.0, 8).evaluate(X))
    assert first(X[0]) != first(X[0])


def test_invalid_noise_raises():
    for sd in (-1, np.inf, "1", True):
        with pytest.raises(ValueError, match=r"\bsd\b.*finite.*>= 0"):
            noisy(branin(), sd)
    with pytest.raises(ValueError, match=r"problem.*noise"):
        noisy(noisy(branin(), 1.0), 1.0)
