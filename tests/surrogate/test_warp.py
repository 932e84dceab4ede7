import numpy as np
import pytest
from derivatives import directional
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal

from skbo_silbo import SILBO
from skbo_silbo.surrogate.warps import HalfLog, IdentityWarp, LogAboveLeast

pytestmark = pytest.mark.quick

half_log = HalfLog()
WARPS = [IdentityWarp(), half_log, LogAboveLeast()]
by_warp = pytest.mark.parametrize("warp", WARPS, ids=lambda warp: warp.name)
values = arrays(float, st.integers(1, 30), elements=st.integers(-50, 50).map(float))


@by_warp
@settings(max_examples=25)
@given(y=values)
def test_order_and_ties_are_kept(warp, y):
    w = warp(y)
    assert_array_equal(np.sign(w[:, None] - w), np.sign(y[:, None] - y))


@pytest.mark.parametrize("warp", WARPS[1:], ids=lambda warp: warp.name)
@settings(max_examples=25)
@given(y=values, shift=st.integers(-1000, 1000), scale=st.floats(1e-6, 1e6))
def test_units_do_not_matter(warp, y, shift, scale):
    assert_allclose(warp(scale * (y + shift)), warp(y), rtol=1e-6, atol=1e-6)
    if np.ptp(y) > 0:  # a density in other units
        slope = warp.log_slope(scale * (y + shift)) + np.log(scale)
        assert_allclose(slope, warp.log_slope(y), rtol=1e-6, atol=1e-6)


@by_warp
def test_slope_is_the_derivative(warp):
    y = np.random.default_rng(0).lognormal(size=21) * 7
    for i in np.argsort(y)[
        [13, 17, 20]
    ]:  # neither least, median nor below: location and scale stay
        slope, error = directional(lambda v: warp(v)[i], y, np.eye(21)[i], 1e-3)  # noqa: B023
        assert warp.log_slope(y)[i] == pytest.approx(np.log(slope), abs=1e-9 + 10 * error / slope)


def test_smooth_log_is_linear_near_minimum():
    y = np.array([0.0, 1e-3, 1.0, 1e6, 1e9])  # the median is 1
    w = LogAboveLeast()(y)
    assert_allclose(w[1] / 1e-3, 1, rtol=1e-3)
    assert_allclose(w[4] - w[3], np.log(1e3), rtol=1e-5)


def test_worst_value_does_not_move_better_half():
    y = np.random.default_rng(1).standard_normal(21)
    worse = np.where(y == y.max(), 1e12, y)
    better = y <= np.median(y)
    assert_array_equal(half_log(worse)[better], half_log(y)[better])
    assert half_log(worse).max() < 40


def test_most_are_equal():
    assert_array_equal(half_log(np.full(4, 0.1)), 0)
    assert_allclose(half_log(np.array([3.0, 3, 3, 5])), [0, 0, 0, np.log(2)])
    assert_allclose(half_log(np.array([3.0, 3, 3, 1])), [0, 0, 0, -1])
    assert half_log(np.empty(0)).shape == (0,)
    for warp in WARPS[2:]:
        assert_array_equal(warp(np.full(4, 0.1)), 0)
        assert np.isfinite(warp(np.array([3.0, 3, 3, 5]))).all()
        assert warp(np.empty(0)).shape == (0,)
    tiny = half_log(np.array([0.0, 1e-200, 2e-200]))  # its squares are 0
    assert_allclose(tiny, [-1, 0, np.log(2)])


def run(scale, warp="half-log"):
    optimizer = SILBO([(0, 1)] * 3, random_state=0, warp=warp)
    for _ in range(12):
        x = optimizer.ask()
        optimizer.tell(x, scale * float(((x - 0.3) ** 2).sum()))
    return optimizer


def test_the_warp_can_be_left_out():
    assert (run(1.0).x_iters_ != run(1.0, warp=None).x_iters_).any()
    y = np.array([3.0, 1.0])
    assert IdentityWarp()(y) is y
    with pytest.raises(ValueError, match=r"warp.*got 'sqrt'"):
        SILBO([(0, 1)], warp="sqrt")
