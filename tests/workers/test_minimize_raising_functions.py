"""Functions that raise: what the exception says, and how a journal comes past a point that does."""

import json
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.stats import uniform

from skbo_silbo import LostEvaluationWarning, minimize

BOUNDS = [(-1.0, 2.0), (0.0, 3.0)]
POINTS = minimize(lambda x: 0.0, BOUNDS, method="random", n_calls=9, random_state=0).x_iters


DOWN = OSError("no licence")


class Simulator:
    """Counts its calls, and raises at some of the points that are proposed, or at all."""

    def __init__(self, *poison, error=DOWN):
        self.poison, self.error, self.n_calls, self.is_down = poison, error, 0, False

    def __call__(self, x):
        self.n_calls += 1
        at = np.flatnonzero(np.isclose(POINTS, x, atol=1e-8).all(axis=1))
        if self.is_down or set(at) & set(self.poison):
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
        assert note.startswith(f"minimize: func raised this at the point [{first} {second}] (ex")
        assert "Calls of func in all: 4. Values known: 3, in the attribute" in note
        assert "return float('nan')" in note
        assert ("The same call with the same journal goes on with this point" in note) == (
            journal is not None
        )
        assert_array_equal(error.optimize_x, POINTS[3])
        assert_array_equal(error.optimize_result.x_iters, POINTS[:3])


def test_a_point_with_names_is_named_by_them():
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
    assert caught.value.__notes__[0].startswith("minimize: Calls of func in all: 1.")
    assert not hasattr(caught.value, "optimize_x")


def test_error_names_point_among_several():
    with ThreadPoolExecutor(3) as executor, pytest.raises(OSError, match="no licence") as caught:
        run(Simulator(1), executor=executor)
    assert_array_equal(caught.value.optimize_x, POINTS[1])


# --- on a journal ---------------------------------------------------------------------------------


@pytest.mark.parametrize("executor", [None, lambda: ThreadPoolExecutor(2)])
@pytest.mark.parametrize("poison", [0, 2, 5])
def test_point_raising_in_two_runs_has_failed(path, poison, executor):
    """The first, one between and the last of the budget."""
    func = Simulator(poison)
    raised(func, path, executor=executor)
    with pytest.warns(LostEvaluationWarning, match=r"raised OSError\('no licence'\)"):
        result = run(func, path, executor=executor)
    assert result.nfev == func.n_calls == 7
    failed = np.isnan(result.func_vals)
    assert_array_equal(result.x_iters[failed], POINTS[[poison]])
    assert len(result.func_vals) == 6
    assert run(func, path, n_calls=7).nfev == func.n_calls == 8


def test_bug_is_raised_in_every_run(path):
    func = Simulator(error=NameError("pi"))
    func.is_down = True
    for n_runs in (1, 2, 3):
        error = raised(func, path, NameError)
        assert_array_equal(error.optimize_x, POINTS[n_runs - 1])
        assert len(error.optimize_result.func_vals) == 0
    func.is_down = False
    result = run(func, path)
    assert np.isfinite(result.func_vals).all()
    assert_array_equal(np.sort(result.x_iters, axis=0), np.sort(POINTS[:6], axis=0))
    assert result.nfev == func.n_calls == 6 + 1 + 2 + 3


def test_while_nothing_works_no_point_has_failed(path):
    func = Simulator()
    run(func, path, n_calls=3)
    func.is_down = True
    for _ in range(3):
        raised(func, path)
    func.is_down = False
    assert np.isfinite(run(func, path).func_vals).all()


def test_function_without_any_value_raises_at_end(path):
    func = Simulator(0)
    for _ in range(3):
        error = raised(func, path, n_calls=1)
        assert "func raised this at" in error.__notes__[0]
    assert func.n_calls == 3


def test_sys_exit_is_no_fault_of_the_point(path):
    """It is how a job ends that was told to."""
    func = Simulator(2, error=SystemExit(0))
    for n_runs in (1, 2, 3):
        assert_array_equal(raised(func, path, SystemExit).optimize_x, POINTS[2])
        assert func.n_calls == 2 + n_runs


def test_a_call_that_was_interrupted_counts(path):
    func = Simulator(3, error=KeyboardInterrupt())
    assert run(func, path).stop_reason == "interrupted"
    func.poison = ()
    assert run(func, path).nfev == func.n_calls == 7


def test_cancelled_call_does_not_count(path):
    func = Simulator(0)
    with ThreadPoolExecutor(1) as executor:
        raised(func, path, executor=executor, n_pending=4)
        assert func.n_calls < 4
        with pytest.warns(LostEvaluationWarning):
            result = run(func, path, executor=executor, n_pending=4)
    assert result.nfev == func.n_calls == 7


def test_known_values_are_no_calls(path):
    known = {"x0": [[0.0, 0.0], [1.0, 1.0]], "y0": [0.0, 2.0]}
    func = Simulator(3)  # proposed with three known
    raised(func, path, **known)
    with pytest.warns(LostEvaluationWarning):
        assert run(func, path, **known).nfev == func.n_calls == 7


def test_what_was_raised_stands_in_the_journal(path):
    raised(Simulator(1, error=ValueError("x" * 9999)), path, ValueError)
    events = [json.loads(line) for line in path.read_bytes().splitlines()[1:]]
    [event] = [event for event in events if "raised" in event]
    assert event["error"].startswith("ValueError('xxx")
    assert len(event["error"]) == 500
    assert sum("begun" in event for event in events) == 2
