import pickle

import numpy as np
import pytest
from ask_tell import run
from numpy.testing import assert_array_equal
from scipy.optimize import Bounds
from scipy.stats import loguniform, randint, uniform
from sklearn.exceptions import NotFittedError

from skbo_silbo import SILBO, Space
from skbo_silbo.acquisition import log_expected_improvement
from skbo_silbo.baselines import RandomSearch
from skbo_silbo.space import Box, SpaceExhausted

METHODS = [SILBO, RandomSearch]
BOUNDS = np.array([[-5.0, 10.0], [0.0, 15.0], [1.0, 2.0]])


def bowl(x):
    return float(((x - BOUNDS.mean(axis=1)) ** 2).sum())


def mixed_space():
    return Space(
        {
            "C": loguniform(1e-3, 1e3),
            "degree": randint(1, 6),
            "kernel": ["rbf", "poly", "linear"],
            "fixed": ["always"],
        }
    )


@pytest.fixture(params=METHODS, ids=lambda m: m.__name__)
def method(request):
    return request.param


# --- asking ---------------------------------------------------------------------------------------


def test_shapes_of_ask(method):
    optimizer = method(BOUNDS, random_state=0)
    assert optimizer.ask().shape == (3,)
    assert optimizer.ask(1).shape == (1, 3)
    assert optimizer.ask(4).shape == (4, 3)


def test_dict_points(method):
    optimizer = method(mixed_space(), random_state=0)
    point = optimizer.ask()
    assert list(point) == ["C", "degree", "kernel", "fixed"]
    optimizer.tell(point, 1.0)
    batch = optimizer.ask(3)
    optimizer.tell(batch, [3.0, 0.5, 2.0])
    assert optimizer.best_x_ == batch[1]
    assert optimizer.x_iters_ == [point, *batch]


@pytest.mark.parametrize("n", [0, -1, 1.5, "2", True])
def test_how_many_is_a_positive_integer(method, n):
    with pytest.raises(ValueError, match=r"\bn\b.*integer >= 1"):
        method(BOUNDS).ask(n)


def test_a_batch_spreads():
    # without pending points in the surrogate all proposals would sit at the same maximum
    optimizer = SILBO([(0, 1)] * 2, random_state=0)
    X = optimizer.ask(8)
    optimizer.tell(X, ((X - 0.4) ** 2).sum(axis=1))
    X = optimizer.ask(4)
    gaps = np.linalg.norm(X[:, None] - X[None], axis=2)[np.triu_indices(4, 1)]
    assert gaps.min() > 1e-4


# --- finite spaces --------------------------------------------------------------------------------


def test_oversized_batch_reports_remaining_points(method):
    optimizer = method(Space({"a": [1, 2, 3], "b": ["x", "y"]}), random_state=0)
    optimizer.tell({"a": 1, "b": "x"}, 0.0)
    optimizer.ask()
    with pytest.raises(SpaceExhausted) as caught:
        optimizer.ask(5)
    assert caught.value.n_left == 4
    assert len(optimizer.ask(4)) == 4


@pytest.mark.parametrize("n", [10_001, 10**30])
def test_too_many_proposals_are_rejected(method, n):
    optimizer = method([(0.0, 1.0)], random_state=0)
    with pytest.raises(ValueError, match=rf"n must be at most 10000, got {n}\."):
        optimizer.ask(n)
    assert len(optimizer.ask(2)) == 2


def test_repeats_told_do_not_exhaust(method):
    optimizer = method(Space({"a": [1, 2]}), random_state=0)
    for _ in range(3):
        optimizer.tell({"a": 2}, 5.0)
    assert optimizer.ask() == {"a": 1}


def test_a_space_of_constants_has_one_point(method):
    for bounds, point in ((Space({"a": [7]}), {"a": 7}), (Box([(2.0, 2.0)]), [2.0])):
        optimizer = method(bounds, random_state=0)
        x = optimizer.ask()
        assert (x == point) is True or (x == point).all()
        optimizer.tell(x, 1.0)
        with pytest.raises(SpaceExhausted):
            optimizer.ask()


# --- telling --------------------------------------------------------------------------------------


def test_best_is_the_lowest_told(method):
    optimizer = method(BOUNDS)
    X = np.array([[0, 1, 1.5], [1, 1, 1.5], [2, 1, 1.5]])
    optimizer.tell(X, [3.0, -2.0, np.nan])
    assert_array_equal(optimizer.best_x_, X[1])
    assert optimizer.best_y_ == -2.0
    assert_array_equal(optimizer.func_vals_, [3.0, -2.0, np.nan])


@pytest.mark.parametrize("values", [[], [np.nan], [np.inf, -np.inf]])
def test_no_best_without_a_finite_value(method, values):
    optimizer = method([(0, 1)])
    for i, value in enumerate(values):
        optimizer.tell([i / 2], value)
    with pytest.raises(NotFittedError, match="need a finite value"):
        _ = optimizer.best_x_


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        ([0, 1, 3.0], 1.0, r"inside.*\[1.0, 2.0\].*2"),
        ([0, 1], 1.0, r"shape \(n, 3\)"),
        ([[0, 1, 1.5], [0, 1, 9.0]], [1.0, 2.0], "inside the bounds"),
        ([0, 1, 1.5], [1.0, 2.0], r"\by\b.*number"),
        ([[0, 1, 1.5]] * 2, [1.0], "y must be 2 numbers"),
        ([[0, 1, 1.5]], 1.0, r"\by\b.*1 number"),
        ([0, 1, 1.5], "low", r"\by\b.*real"),
        ({"x0": 1}, 1.0, r"\bx\b.*real"),
    ],
)
def test_bad_evaluations_are_refused_and_nothing_recorded(method, x, y, message):
    optimizer = method(BOUNDS, random_state=0)
    optimizer.tell([0, 1, 1.5], 2.0)
    with pytest.raises(ValueError, match=message):
        optimizer.tell(x, y)
    assert_array_equal(optimizer.x_iters_, [[0, 1, 1.5]])
    assert_array_equal(optimizer.func_vals_, [2.0])
    fresh = method(BOUNDS, random_state=0).tell([0, 1, 1.5], 2.0)
    assert_array_equal(optimizer.ask(), fresh.ask())


@pytest.mark.parametrize(
    ("change", "message"),
    [({"C": 1e9}, "'C'"), ({"kernel": "sigmoid"}, "'kernel'"), ({"typo": 1}, "typo")],
)
def test_bad_dicts_are_refused_and_nothing_recorded(method, change, message):
    optimizer = method(mixed_space(), random_state=0)
    good = {"C": 1.0, "degree": 2, "kernel": "rbf", "fixed": "always"}
    with pytest.raises(ValueError, match=message):
        optimizer.tell([good, good | change], [1.0, 2.0])
    assert optimizer.x_iters_ == []


def test_one_input_takes_plain_numbers(method):
    optimizer = method([(0, 1)], random_state=0)
    optimizer.tell(0.25, 1.0).tell([0.5], 2.0).tell([[0.75], [1.0]], [3.0, 4.0])
    assert_array_equal(optimizer.x_iters_, [[0.25], [0.5], [0.75], [1.0]])


def test_results_are_copies(method):
    optimizer = run(method(BOUNDS, random_state=0), bowl, 3)
    optimizer.x_iters_[:] = 0
    optimizer.func_vals_[:] = 0
    optimizer.best_x_[:] = 0
    assert optimizer.best_x_.all()
    assert optimizer.best_y_ == bowl(optimizer.best_x_)


def test_told_arrays_are_not_kept(method):
    optimizer = method(BOUNDS)
    x = np.array([0.0, 1.0, 1.5])
    optimizer.tell(x, 1.0)
    x[:] = 99
    assert_array_equal(optimizer.best_x_, [0.0, 1.0, 1.5])


@pytest.mark.parametrize("make", [np.random.RandomState, np.random.default_rng])
def test_a_generator_is_a_seed(make):
    first, same, other = (RandomSearch(BOUNDS, random_state=make(seed)).ask() for seed in (0, 0, 1))
    assert_array_equal(first, same)
    assert (first != other).any()


# --- construction ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"acquisition": "pi"}, r"acquisition.*got 'pi'"),
        (
            {"embedding": "pca"},
            r"embedding.*components_",
        ),
        ({"n_components": 0}, r"n_components.*got 0"),
        ({"n_components": 4}, r"n_components.*at most 3"),
        ({"n_initial": 0}, r"n_initial.*>= 1"),
        ({"n_unlabeled": -1}, r"n_unlabeled.*>= 0"),
        ({"update_every": 0}, r"update_every.*>= 1"),
        ({"design": "grid"}, r"design.*got 'grid'"),
        ({"search": "grid"}, r"search.*got 'grid'"),
        ({"random_state": "seed"}, "seed"),
    ],
)
def test_bad_arguments_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        SILBO(BOUNDS, **options)


def test_arguments_are_stored_as_given():
    bounds = Bounds([0, 0], [1, 2])
    optimizer = SILBO(bounds, n_initial=4, random_state=7)
    assert optimizer.bounds is bounds
    assert (optimizer.n_initial, optimizer.n_components, optimizer.random_state) == (4, "auto", 7)
    assert repr(optimizer) == "SILBO(Box(d=2), n_observed=0)"
    optimizer.ask(3)
    assert repr(optimizer) == "SILBO(Box(d=2), n_observed=0, n_pending=3)"


class MostlyImproved:
    """An acquisition of one's own, as an object."""

    def __call__(self, mean, std, best, *, return_gradient=False):
        return log_expected_improvement(mean, std, best + 0.1, return_gradient=return_gradient)


def corner_points(n, d, rng):
    return rng.choice([-1.0, 0.5, 1.0], size=(n, d))


@pytest.mark.parametrize(
    "options",
    [{"acquisition": MostlyImproved()}, {"design": corner_points}, {"surrogate": "sklearn"}],
)
def test_optimiser_with_custom_parts_resumes_from_pickle(options):
    optimizer = SILBO([(-5.0, 10.0), (0.0, 1.0)], n_initial=5, random_state=0, **options)
    for _ in range(6):
        x = optimizer.ask()
        optimizer.tell(x, float(((x - 0.5) ** 2).sum()))
    optimizer.ask()
    other = pickle.loads(pickle.dumps(optimizer))
    assert_array_equal(other.ask(), optimizer.ask())


def test_changed_proposal_stays_pending():
    optimizer = SILBO({"a": uniform(), "b": ["x", "y"]}, random_state=0)
    point = optimizer.ask()
    proposed = dict(point)
    point.pop("a")
    assert optimizer.pending_ == [proposed]
    box = SILBO([(0, 1)] * 2, random_state=0)
    x = box.ask()
    x *= 100.0
    np.testing.assert_array_equal(box.pending_, [x / 100.0])


def test_expected_gain_without_feasible_value():
    X = np.random.default_rng(0).random((8, 2))
    y, constraints = X.sum(axis=1), np.ones((8, 1))
    y[:2], constraints[:2] = np.nan, -1.0
    optimizer = SILBO([(0, 1)] * 2, n_initial=4, random_state=0)
    optimizer.tell(X, y, constraints=constraints).ask()
    assert 0.0 <= optimizer.expected_gain() < np.inf
