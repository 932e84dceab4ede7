"""Known values, `x0` and `y0` of `minimize`, and a journal that has some of them."""

from collections import Counter

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from skbo_silbo import minimize

BOUNDS = [(0.0, 1.0), (0.0, 2.0)]
X = np.random.default_rng(0).random((5, 2))


class Sum:
    def __init__(self):
        self.n_calls = 0

    def __call__(self, x):
        self.n_calls += 1
        return float(x.sum())


def run(func, path, n_calls, **options):
    options = {"method": "random", "random_state": 0, **options}
    return minimize(func, BOUNDS, n_calls=n_calls, journal=path, **options)


def test_a_journal_that_was_begun_takes_known_values(path):
    func = Sum()
    run(func, path, 3)
    result = run(func, path, 6, x0=X, y0=np.arange(5.0))
    assert result.nfev == func.n_calls == 6
    assert_array_equal(result.x_iters[3:8], X)
    assert_array_equal(result.func_vals[3:8], np.arange(5.0))


@pytest.mark.parametrize("later", [{}, {"x0": X[:3], "y0": [1.0, 2.0, np.nan]}, {"x0": X[:1]}])
def test_known_values_never_count_as_calls(path, later):
    func = Sum()
    run(func, path, 2, x0=X[:3], y0=[1.0, 2.0, np.nan])
    result = run(func, path, 5, **later)
    assert result.nfev == func.n_calls == 5
    assert len(result.func_vals) == 8


def test_values_that_the_journal_lacks_are_added_once(path):
    func = Sum()
    for n_known in (2, 5, 3):
        result = run(func, path, 4, x0=X[:n_known], y0=np.arange(n_known))
    assert result.nfev == func.n_calls == 4
    assert sorted(Counter(map(tuple, result.x_iters)).values()) == [1] * 9


def test_values_that_disagree_are_refused(path):
    func = Sum()
    run(func, path, 2, x0=X[:3], y0=[1.0, 2.0, 3.0])
    written = path.read_bytes()
    with pytest.raises(ValueError, match=r"`y0`.*\[.*\] is 3.0 there, got nan"):
        run(func, path, 4, x0=X[:4], y0=[1.0, 2.0, np.nan, 4.0])
    assert path.read_bytes() == written
    assert run(func, path, 2).nfev == func.n_calls == 2


def test_result_matches_journal(path):
    func = Sum()
    first = run(func, path, 3, maximize=True)
    known = {"x0": first.x_iters, "y0": first.func_vals}
    assert run(func, path, 5, maximize=True, **known).nfev == func.n_calls == 5
    with pytest.raises(ValueError, match=r"is 1.* there, got -1"):
        run(func, path, 5, maximize=True, x0=first.x_iters, y0=-first.func_vals)


def test_a_point_that_was_measured_twice(path):
    twice = {"x0": [X[0], X[0]], "y0": [1.0, 2.0]}
    run(Sum(), path, 1, x0=X[0], y0=2.0)
    for _ in range(2):
        values = run(Sum(), path, 1, **twice).func_vals
        assert len(values) == 3
        assert {1.0, 2.0} < set(values)
    assert len(run(Sum(), path, 1, x0=X[0], y0=1.0).func_vals) == 3


def test_constraints_are_compared(path):
    def func(x):
        return float(x.sum()), [x[0] - 0.5]

    known = {"x0": X[:2], "n_constraints": 1}
    run(func, path, 1, y0=([1.0, 2.0], [[0.0], [np.nan]]), **known)
    assert len(run(func, path, 1, y0=([1.0, 2.0], [[0.0], [np.nan]]), **known).func_vals) == 3
    with pytest.raises(ValueError, match=r"is 1.0 with constraints \[0.0\] there, got 1.0 w"):
        run(func, path, 1, y0=([1.0, 2.0], [[0.5], [np.nan]]), **known)


def test_known_pending_point_is_not_evaluated(path):
    def fail(x):
        raise OSError("no licence")

    with pytest.raises(OSError, match="no licence") as caught:
        run(fail, path, 2)
    func = Sum()
    result = run(func, path, 2, x0=caught.value.optimize_x, y0=7.0)
    assert result.nfev == 1 + func.n_calls == 3
    assert len(np.unique(result.x_iters, axis=0)) == 3
