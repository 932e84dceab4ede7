"""Functions that raise: what the exception says, and how a journal resumes."""

from concurrent.futures import Executor, Future, ThreadPoolExecutor

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.stats import uniform

from skbo_silbo import LostWorkerError, minimize

BOUNDS = [(-1.0, 2.0), (0.0, 3.0)]
POINTS = minimize(lambda x: 0.0, BOUNDS, method="random", n_calls=9, random_state=0).x_iters


DOWN = OSError("no licence")


class Simulator:
    """Counts its calls, and raises at some of the points that are proposed."""

    def __init__(self, *poison, error=DOWN):
        self.poison, self.error, self.n_calls = poison, error, 0

    def __call__(self, x):
        self.n_calls += 1
        at = np.flatnonzero(np.isclose(POINTS, x, atol=1e-8).all(axis=1))
        if set(at) & set(self.poison):
            raise self.error
        return float((x**2).sum())


def run(func, path=None, n_calls=6, **options):
    return minimize(
        func, BOUNDS, method="random", n_calls=n_calls, journal=path, random_state=0, **options
    )


def raised(func, path, error=OSError, **options):
    with pytest.raises(error) as caught:
        run(func, path, **options)
    assert caught.value.optimize_result.nfev == func.n_calls
    return caught.value


# --- what is said ---------------------------------------------------------------------------------


@pytest.mark.parametrize("error", [OSError("no licence"), SystemExit(2)])
def test_error_names_point_calls_and_remedy(path, error):
    for journal in (None, path):
        error.__notes__ = []
        raised(Simulator(3, error=error), journal, type(error))
        [note] = error.__notes__
        first, second = (f"{value:.4f}".rstrip("0") for value in POINTS[3])
        assert note.startswith(f"minimize: func raised this at the point [{first} {second}] (at")
        assert "3 values from 4 calls of func are in the attribute 'optimize_result'" in note
        assert "Return float('nan')" in note
        assert_array_equal(error.optimize_x, POINTS[3])
        result = error.optimize_result
        assert_array_equal(result.x_iters, POINTS[:3])
        assert (result.success, result.stop_reason) == (False, "error")


def test_error_names_parameters_of_point():
    def func(point):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError) as caught:
        minimize(func, {"rate": uniform(), "kind": ["a", "b"]}, random_state=0)
    point = caught.value.optimize_x
    assert set(point) == {"rate", "kind"}
    assert f"at the point {point} (" in caught.value.__notes__[0]


def test_callback_error_names_no_point():
    def callback(result):
        raise LookupError

    with pytest.raises(LookupError) as caught:
        run(Simulator(), callback=callback)
    assert caught.value.__notes__[0].startswith("minimize: 1 values from 1 calls of func")
    assert not hasattr(caught.value, "optimize_x")


def test_error_names_point_among_several():
    with ThreadPoolExecutor(3) as executor, pytest.raises(OSError, match="no licence") as caught:
        run(Simulator(1), executor=executor)
    assert_array_equal(caught.value.optimize_x, POINTS[1])


# --- on a journal ---------------------------------------------------------------------------------


@pytest.mark.parametrize("executor", [None, lambda: ThreadPoolExecutor(2)])
@pytest.mark.parametrize("poison", [0, 2, 5])
def test_point_raises_in_every_run_until_mended(path, poison, executor):
    """The first, one between and the last of the budget."""
    func = Simulator(poison)
    for _ in range(3):
        assert_array_equal(raised(func, path, executor=executor).optimize_x, POINTS[poison])
    func.poison = ()
    result = run(func, path, executor=executor)
    assert result.nfev == func.n_calls == 6 + 3
    assert np.isfinite(result.func_vals).all()
    assert_array_equal(np.sort(result.x_iters, axis=0), np.sort(POINTS[:6], axis=0))


def test_interrupted_call_is_counted(path):
    func = Simulator(3, error=KeyboardInterrupt())
    result = run(func, path)
    assert (result.success, result.stop_reason) == (False, "interrupted")
    assert_array_equal(result.x_iters, POINTS[:3])
    func.poison = ()
    assert run(func, path).nfev == func.n_calls == 7


class FailsFirst(Executor):
    """Runs the first call, which raises, once three others wait."""

    def __init__(self):
        self.jobs = []

    def submit(self, fn, /, *args):
        self.jobs.append((Future(), fn, args))
        if len(self.jobs) == 4:
            first, fn, args = self.jobs[0]
            with pytest.raises(OSError, match="no licence") as caught:
                fn(*args)
            first.set_exception(caught.value)
        return self.jobs[-1][0]


def test_cancelled_call_is_not_counted(path):
    func = Simulator(0)
    raised(func, path, executor=FailsFirst(), n_pending=4)
    assert func.n_calls == 1
    func.poison = ()
    assert run(func, path).nfev == func.n_calls == 7


# --- exceptions that count as failures ------------------------------------------------------------


@pytest.mark.parametrize("in_threads", [False, True])
@pytest.mark.parametrize("n_constraints", [0, 2])
def test_caught_exceptions_count_as_failures(path, in_threads, n_constraints):
    simulator = Simulator(1, 4)

    def func(x):
        value = simulator(x)
        return (value, [-1.0] * n_constraints) if n_constraints else value

    executor = ThreadPoolExecutor(1) if in_threads else None
    options = {"catch": (KeyError, OSError), "executor": executor, "n_constraints": n_constraints}
    for n_calls in (3, 6):  # the second run resumes
        result = run(func, path, n_calls=n_calls, **options)
        assert simulator.n_calls == result.nfev == n_calls
    assert np.flatnonzero(np.isnan(result.func_vals)).tolist() == [1, 4]
    assert_array_equal(result.x_iters, POINTS[:6])
    assert [error is None for error in result.errors] == [True, False, True, True, False, True]
    assert result.errors[4] == "raised OSError('no licence')"
    assert result.optimizer.feasible_.tolist().count(True) == (4 if n_constraints else 6)


def test_other_exceptions_are_not_caught(path):
    raised(Simulator(3), path, catch=(KeyError, ValueError))


def test_lost_worker_is_retried_despite_catch():
    lost = [LostWorkerError("killed")]

    def func(x):
        if lost:
            raise lost.pop()
        return 0.0

    result = run(func, n_calls=2, catch=RuntimeError)
    assert (result.nfev, result.errors) == (3, [None, None])


@pytest.mark.parametrize("catch", [KeyboardInterrupt, (OSError, "ValueError"), OSError(), None])
def test_invalid_catch_is_rejected(catch):
    with pytest.raises(ValueError, match="`catch` must be an exception class or a tuple"):
        run(Simulator(), catch=catch)
