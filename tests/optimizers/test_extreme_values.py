"""Values, ties and damaged arguments that must neither end nor spoil a search."""

import warnings

import numpy as np
import pytest
from ask_tell import run
from methods import METHODS
from numpy.testing import assert_array_equal
from scipy.stats import uniform

from skbo_silbo import SILBO, minimize
from skbo_silbo.baselines import RandomSearch
from skbo_silbo.optimizers import BeyondModelWarning

CHEAP = {name: {"n_initial": 5} for name in METHODS if name != "random"} | {"random": {}}
for _name in ("silbo-bu", "silbo-td"):
    CHEAP[_name] = {"n_initial": 5, "update_every": 2}
LEARNT = ["semi-sir", "semi-sir-paper", "active-subspace"]
D = 3
LARGEST = np.finfo(float).max


def make(method, bounds=((0, 1),) * D):
    return METHODS[method](bounds, random_state=0, **CHEAP[method])


def bowl(x):
    return float(((x - 0.3) ** 2).sum())


@pytest.fixture(params=["silbo", "silbo-bu", "rembo", "random"])
def method(request):
    return request.param


# --- magnitudes -----------------------------------------------------------------------------------


def test_tiny_unit_of_values_changes_no_point():
    tiny, plain = (
        run(SILBO([(0, 1)] * 2, random_state=0), lambda x, s=s: s * (1 + bowl(x)), 11)
        for s in (2.0**-1000, 1.0)
    )
    assert_array_equal(tiny.x_iters_, plain.x_iters_)


def test_values_above_model_range_count_as_failed(method):
    optimizer = make(method)
    with pytest.warns(BeyondModelWarning, match="1 of 1 values count as failed"):
        run(optimizer, lambda x: LARGEST if x[0] > 0.5 else bowl(x), 8)
    assert (optimizer.func_vals_ == LARGEST).any()  # as told
    assert optimizer.best_y_ < 1.0


def test_values_above_model_range_are_modelled_as_nan():
    def proposed(failure):
        optimizer = SILBO([(0, 1)] * 2, random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", BeyondModelWarning)
            run(optimizer, lambda x: failure if x[0] > 0.5 else bowl(x), 11)
        return optimizer.x_iters_

    assert_array_equal(proposed(1e101), proposed(np.nan))


def test_lowest_value_below_model_range_is_best():
    optimizer = run(SILBO([(0, 1)] * 2, random_state=0), bowl, 8)
    with pytest.warns(BeyondModelWarning, match=r"got -1e\+308"):
        optimizer.tell([0.9, 0.9], -1e308)
    assert optimizer.best_y_ == -1e308
    run(optimizer, bowl, 3)


@pytest.mark.parametrize("noise", [LARGEST, 5e-324])
def test_noise_of_any_size(noise):
    optimizer = SILBO([(0, 1)] * 2, n_initial=5, random_state=0)
    for i in range(7):
        x = optimizer.ask()
        optimizer.tell(x, bowl(x), noise_std=noise if i % 3 == 0 else 0.01)
    assert len(optimizer.ask(2)) == 2


# --- replicates and ties --------------------------------------------------------------------------


def test_one_point_told_twelve_times(method):
    optimizer = make(method)
    optimizer.tell(np.full((12, D), 0.25), np.arange(12.0))
    run(optimizer, bowl, 1)
    assert len(optimizer.func_vals_) == 13


@pytest.mark.parametrize(
    ("embedding", "k"), [*zip(LEARNT, [1, 3, 2], strict=True), ("semi-sir", 3)]
)
def test_few_distinct_points_and_a_learnt_embedding(embedding, k):
    optimizer = SILBO([(0, 1)] * 6, embedding=embedding, n_initial=5, random_state=0)
    optimizer.tell(np.tile(np.eye(6)[:k], (12 // k, 1)), np.arange(12.0))
    run(optimizer, lambda x: float(x.sum()), 2)
    assert len(optimizer.func_vals_) == 14


@pytest.mark.parametrize("embedding", LEARNT)
def test_constant_inputs_among_the_points_told(embedding):
    rng = np.random.default_rng(0)
    X = np.where(np.arange(6) < 2, rng.uniform(size=(12, 6)), 0.5)
    optimizer = SILBO([(0, 1)] * 6, embedding=embedding, n_initial=5, random_state=0)
    optimizer.tell(X, X[:, 0])
    run(optimizer, lambda x: float(x.sum()), 2)


# --- masked values --------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:func returned no finite value")
def test_a_masked_value_is_a_failure():
    optimizer = RandomSearch([(0, 1)])
    optimizer.tell([0.1], np.ma.masked)
    optimizer.tell([[0.2], [0.3]], np.ma.array([7.0, 8.0], mask=[True, False]))
    assert_array_equal(optimizer.func_vals_, [np.nan, np.nan, 8.0])
    result = minimize(lambda x: np.ma.masked, [(0, 1)], n_calls=2, method="random")
    assert_array_equal(result.func_vals, [np.nan] * 2)


def test_a_masked_point_is_refused():
    with pytest.raises(ValueError, match=r"inside.*got nan"):
        RandomSearch([(0, 1)] * 2).tell(np.ma.array([0.5, 0.5], mask=[0, 1]), 1.0)


# --- spaces ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ({"C": uniform(0, 100)}, r"parameters\.C was 0 to 1 \(uniform\) and is 0 to 100"),
        ({"D": uniform(0, 1)}, r"parameters\.order.*\['C'\]"),
        ([{"C": uniform(0, 1)}, {"D": [1, 2]}], r"parameters\.1.*\[\['D'"),
        ([(0.0, 1.0)], r"bounds.*space"),
    ],
)
def test_a_saved_optimiser_refuses_another_space(other, message):
    optimizer = SILBO({"C": uniform(0, 1)}, random_state=0)
    optimizer.tell({"C": 0.2985}, 1.0)
    with pytest.raises(ValueError, match=message):
        SILBO.from_dict(optimizer.to_dict(), bounds=other)
    same = SILBO.from_dict(optimizer.to_dict(), bounds={"C": uniform(0, 1)})
    assert same.x_iters_[0]["C"] == pytest.approx(0.2985)


def test_warnings_point_at_the_users_line():
    def with_a_penalty(x):
        return 1e150 if x[0] > 0.5 else bowl(x)

    with pytest.warns(BeyondModelWarning) as caught:
        minimize(with_a_penalty, [(0, 1)] * D, n_calls=8, n_initial=5, random_state=0)
    assert {warning.filename for warning in caught} == {__file__}
