"""Pending points: seen, cancelled, told out of order, after a restart."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from skbo_silbo import SILBO, Space
from skbo_silbo.baselines import RandomSearch

pytestmark = pytest.mark.quick

BOUNDS = [(0.0, 1.0), (0.0, 10.0)]


@pytest.fixture(params=[SILBO, RandomSearch], ids=lambda m: m.__name__)
def method(request):
    return request.param


def test_a_cancelled_point_may_be_asked_for_again():
    optimizer = SILBO(Space({"a": [1, 2]}), random_state=0)
    points = optimizer.ask(2)
    optimizer.cancel(points[0])
    assert optimizer.ask() == points[0]


def test_what_is_not_pending_cannot_be_cancelled(method):
    optimizer = method(BOUNDS, random_state=0)
    X = optimizer.ask(2)
    optimizer.tell(X[1], 1.0)
    for x in ([0.123, 4.5], X[1], X):
        with pytest.raises(ValueError, match=r"\bx\b.*pending_"):
            optimizer.cancel(x)
    assert_array_equal(optimizer.pending_, X[:1])
    with pytest.raises(ValueError, match="inside the bounds"):
        optimizer.cancel([7.0, 0.0])


def test_cancelled_points_leave_no_trace():
    def run(n_extra):
        optimizer = SILBO(BOUNDS, n_initial=4, random_state=0)
        for _ in range(7):
            x = optimizer.ask()
            if n_extra:
                optimizer.cancel(optimizer.ask(n_extra))
            optimizer.tell(x, float(np.sum(x**2)))
        return len(optimizer.x_iters_), optimizer.best_y_ < 20.0

    assert run(2) == run(0) == (7, True)
