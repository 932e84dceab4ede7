"""Inputs searched by their logarithm, points staying arrays; and values that shall be high."""

import json

import numpy as np
import pytest
from scipy.optimize import Bounds

from skbo_silbo import SILBO, minimize
from skbo_silbo.space import Box, parameter_domains

RATES = [(1e-6, 1.0), (1.0, 1e4), (-1.0, 1.0)]
MIXED = ["log", "log", None]


def misfit(x):
    return float((np.log10(x[0]) + 3) ** 2 + (np.log10(x[1]) - 2) ** 2 + x[2] ** 2)


def run(sign=1.0, n=8, **options):
    optimizer = SILBO(RATES, scale=MIXED, random_state=0, n_initial=5, **options)
    for _ in range(n):
        x = optimizer.ask()
        optimizer.tell(x, sign * misfit(x))
    return optimizer


def test_log_box_round_trips():
    box = Box(RATES, MIXED)
    U = np.random.default_rng(0).uniform(-1, 1, (200, 3))
    points = box.decode(U)
    np.testing.assert_array_equal(box.decode(box.encode(points)), points)
    np.testing.assert_array_equal(box.encode(box.decode(box.encode(points))), box.encode(points))
    np.testing.assert_array_equal(box.decode([[-1] * 3, [1] * 3]), np.transpose(RATES))
    np.testing.assert_allclose(box.decode([[0, 0, 0]]), [[1e-3, 1e2, 0.0]])
    np.testing.assert_array_equal(np.median(points, axis=0) < [0.1, 1e3, 1], [True] * 3)
    assert [d.is_logarithmic for d in parameter_domains(box).values()] == [True, True, False]
    assert box.pinned({0: 0.5}).scale == MIXED
    moved = box.with_value(np.zeros((1, 3)), "x0", 1e-6)
    np.testing.assert_array_equal(moved, [[-1, 0, 0]])


@pytest.mark.parametrize("bounds", [RATES[:2], Bounds(*np.transpose(RATES[:2])), Box(RATES[:2])])
def test_single_scale_applies_to_all_inputs(bounds):
    x = SILBO(bounds, scale="log", random_state=0).ask(64)
    assert isinstance(x, np.ndarray)
    low, high = np.transpose(RATES[:2])
    share = np.log(x / low) / np.log(high / low)
    np.testing.assert_allclose(np.median(share, axis=0), 0.5, atol=0.1)


@pytest.mark.parametrize("method", ["random", pytest.param("rembo", marks=pytest.mark.slow)])
def test_minimize_searches_by_logarithms(method):
    result = minimize(misfit, RATES, scale=MIXED, method=method, n_calls=25, random_state=0)
    assert result.x_iters.shape == (25, 3)
    assert 2 < (result.x_iters[:, 0] < 1e-3).sum() < 23  # of one in a thousand else
    plain = minimize(misfit, RATES, method=method, n_calls=25, random_state=0)
    assert result.fun < plain.fun


@pytest.mark.parametrize(
    ("scale", "message"),
    [
        ("ln", r"scale.*got 'ln'"),
        (["log", "log"], "list of 3"),
        (True, "`scale` must be None"),
        ("log", r"scale.*2.*0"),
    ],
)
def test_scales_that_are_refused(scale, message):
    with pytest.raises(ValueError, match=message):
        minimize(misfit, RATES, scale=scale)
    with pytest.raises(ValueError, match=message):
        SILBO(RATES, scale=scale)


def test_named_parameters_have_their_scale_in_their_distribution():
    with pytest.raises(ValueError, match=r"scale.*None"):
        minimize(lambda p: 0.0, {"a": [1, 2]}, scale="log")


def test_saved_state_has_scale_and_maximize(tmp_path):
    optimizer = run(-1.0, maximize=True)
    again = SILBO.from_dict(json.loads(json.dumps(optimizer.to_dict())))
    assert again.space_.scale == MIXED
    assert again.best_y_ == optimizer.best_y_
    np.testing.assert_array_equal(again.ask(), optimizer.ask())
    known = {"journal": tmp_path / "search.jsonl", "random_state": 0}
    first = SILBO(RATES, scale=MIXED, maximize=True, **known)
    first.tell(first.ask(), 1.0).close_journal()
    with pytest.raises(ValueError, match=r"bounds\.0 was \[1e-06, 1.0, 'log'\]"):
        SILBO(RATES, maximize=True, **known)
    with pytest.raises(ValueError, match=r"maximize.*True"):
        SILBO(RATES, scale=MIXED, **known)


def test_maximize_turns_the_sign_and_nothing_else():
    low, high = run(), run(-1.0, maximize=True)
    np.testing.assert_array_equal(low.x_iters_, high.x_iters_)
    np.testing.assert_array_equal(low.func_vals_, -high.func_vals_)
    np.testing.assert_array_equal(low.best_x_, high.best_x_)
    assert high.best_y_ == high.func_vals_.max() == -low.best_y_
    assert high.recommended_.mean == -low.recommended_.mean
    assert high.recommended_.std == low.recommended_.std
    assert high.input_model_.warp == low.input_model_.warp


def test_a_failed_evaluation_is_no_highest_value():
    optimizer = SILBO(RATES, maximize=True, random_state=0)
    optimizer.tell(optimizer.ask(3), [1.0, np.inf, np.nan])
    assert optimizer.best_y_ == 1.0


def test_maximize_is_true_or_false_and_said_once():
    with pytest.raises(ValueError, match=r"maximize.*got 1"):
        SILBO(RATES, maximize=1)
    with pytest.raises(ValueError, match=r"method.*maximize=False"):
        minimize(misfit, RATES, method=lambda b, random_state: SILBO(b, maximize=True))
