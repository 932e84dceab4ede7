"""The journal of `minimize` knows whose values it has: another objective is warned of."""

import functools
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from skbo_silbo import minimize

OTHER = "journal '.*run.jsonl' has values of another objective"


def run(path, func, n_calls=3, **options):
    options = {"method": "random", "random_state": 0, **options}
    return minimize(func, [(-1.0, 1.0)] * 2, n_calls=n_calls, journal=path, **options)


def silently(path, func, n_calls):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return run(path, func, n_calls)


def first(x):
    return float(x[0])


def second(x):
    return float(x[1])


class Simulator:
    """Counts its calls, and holds what pickle refuses."""

    def __init__(self, term):
        self.term, self.n_calls, self.seen, self.lock = term, 0, {}, threading.Lock()

    def __call__(self, x):
        return self.run(x)

    def run(self, x):
        self.n_calls += 1
        self.seen[float(x[0])] = self.n_calls
        return self.term(x)


class Lazy:
    """Ready after its first call."""

    term = None

    def __call__(self, x):
        self.term = self.term or (lambda x: x[0])
        return float(self.term(x))


def logged(func):
    @functools.wraps(func)
    def wrapper(x):
        return func(x)

    return wrapper


def test_another_objective_is_warned_of_and_nothing_is_lost(path):
    run(path, first)
    with pytest.warns(UserWarning, match=rf"{OTHER}.*first.*second.*another path.*go on") as told:
        reached = run(path, second)
    assert [warning.filename for warning in told] == [__file__]
    np.testing.assert_array_equal(reached.func_vals, reached.x_iters[:, 0])
    with pytest.warns(UserWarning, match=OTHER):
        more = run(path, second, 5)
    np.testing.assert_array_equal(more.func_vals[:3], reached.func_vals)
    np.testing.assert_array_equal(more.func_vals[3:], more.x_iters[3:, 1])


def test_it_is_said_until_the_new_one_has_values(path):
    run(path, first)
    with pytest.warns(UserWarning, match=OTHER):
        run(path, second, 4)
    assert silently(path, second, 5).nfev == 5
    with pytest.warns(UserWarning, match=rf"{OTHER}.*second.*first"):
        run(path, first, 5)


def test_a_bug_that_is_mended_before_there_is_a_value_is_not_warned_of(path):
    def broken(x):
        raise RuntimeError("a bug")

    with pytest.raises(RuntimeError, match="a bug"):
        run(path, broken)
    silently(path, first, 3)
    silently(path, first, 4)
    with pytest.warns(UserWarning, match=OTHER), pytest.raises(RuntimeError, match="a bug"):
        run(path, broken, 5)
    silently(path, first, 5)  # whose values are all that there are


def test_with_workers(path):
    with ThreadPoolExecutor(2) as executor:
        run(path, first, executor=executor)
        assert run(path, first, 4, executor=executor).nfev == 4
        with pytest.warns(UserWarning, match=OTHER):
            run(path, second, 5, executor=executor)


# --- the same, though calls change it -------------------------------------------------------------


def counting_in_a_list():
    seen = []

    def func(x):
        seen.append(x)
        return float(x[0])

    return func


def counting_by_itself():
    n_calls = 0

    def func(x):
        nonlocal n_calls
        n_calls += 1
        return float(x[0])

    return func


def counting_as_attribute():
    def func(x):
        func.n_calls += 1
        return float(x[0])

    func.n_calls = 0
    return func


@pytest.mark.parametrize(
    "make",
    [
        *(counting_in_a_list, counting_by_itself),
        *(counting_as_attribute, lambda: Simulator(first), lambda: Simulator(first).run),
        lambda: functools.partial(lambda x, seen: seen.append(1) or float(x[0]), seen=[]),
        *(lambda: logged(counting_by_itself()), Lazy),
    ],
)
def test_what_an_objective_counts_is_not_what_it_is(path, make):
    used = make()
    run(path, used)
    assert silently(path, used, 4).nfev == 4
    assert silently(path, make(), 5).nfev == 5


class Unseen:
    """Raises whatever is asked of it, but is called."""

    def __call__(self, x):
        return float(x[0])

    def __getattribute__(self, name):
        raise RuntimeError("as asked")


def test_what_cannot_be_described_is_neither_refused_nor_warned_of(path):
    silently(path, Unseen(), 3)
    silently(path, Unseen(), 4)
    silently(path, first, 5)
    with pytest.warns(UserWarning, match=OTHER):
        run(path, second, 5)
    silently(path, Unseen(), 6)
