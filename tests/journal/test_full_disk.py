"""A disk that is full for a while, or stays so: no value is lost or doubled."""

import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from journal_searches import Counted, X, Y, fit, search
from numpy.testing import assert_array_equal

from skbo_silbo import SILBO, minimize

BOUNDS = [(-1.0, 2.0), (0.0, 3.0)]
FULL = "No space left"


@pytest.fixture
def disk(monkeypatch):
    """A disk that `disk.fails` so many times, the next ones."""

    class Disk:
        fails = 0

        def fsync(self, file, fsync=os.fsync):
            if self.fails:
                self.fails -= 1
                raise OSError(28, "No space left on device")
            fsync(file)

    disk = Disk()
    monkeypatch.setattr(os, "fsync", disk.fsync)
    return disk


# --- minimize -------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_fails", [1, 2])
@pytest.mark.parametrize("together", [True, False])
def test_unwritten_values_are_kept_once(path, disk, n_fails, together):
    both, called = threading.Barrier(2), []

    def func(x):
        called.append(tuple(x))
        is_first = both.wait(300) == 0
        if is_first:
            disk.fails = n_fails
        both.wait(300)
        end = time.monotonic() + 300
        while not (together or is_first or disk.fails < n_fails):
            assert time.monotonic() < end
            time.sleep(0.001)
        return float(x[0])

    def assert_once(result):
        assert sorted(map(tuple, result.x_iters)) == sorted(called)
        assert_array_equal(result.func_vals, result.x_iters[:, 0])
        assert len(called) == result.nfev == 2

    options = {"method": "random", "random_state": 0, "journal": path}
    options |= {"n_calls": 2, "n_pending": 2}
    with ThreadPoolExecutor(2) as threads:
        with pytest.raises(OSError, match=FULL) as caught:
            minimize(func, BOUNDS, executor=threads, **options)
        disk.fails = 0
        assert_once(caught.value.optimize_result)
        assert_once(minimize(func, BOUNDS, executor=threads, **options))


def test_minimize_warns_when_disk_stays_full(path, disk):
    """With the remedy that the warning names, no point is evaluated twice."""
    called = []

    def func(x):
        called.append(tuple(x))
        disk.fails = 99 if len(called) == 3 else 0
        return float(x[0])

    options = {"method": "random", "random_state": 0, "journal": path}
    lost = pytest.warns(UserWarning, match="1 observations could not be written .*x0 and y0")
    with lost, pytest.raises(OSError, match=FULL) as caught:
        minimize(func, BOUNDS, n_calls=6, **options)
    disk.fails, result = 0, caught.value.optimize_result
    assert set(map(tuple, result.x_iters)) == set(called)
    again = minimize(func, BOUNDS, n_calls=6, x0=result.x_iters, y0=result.func_vals, **options)
    assert len(called) == len(set(called))
    assert set(called) == set(map(tuple, again.x_iters))


def test_function_error_is_cause_of_disk_error(path, disk):
    def func(x):
        disk.fails = 1
        raise ZeroDivisionError("of func")

    with pytest.raises((OSError, ZeroDivisionError)) as caught:
        minimize(func, BOUNDS, n_calls=3, journal=path, method="random")
    shown = [caught.value, caught.value.__cause__, caught.value.__context__]
    assert any(isinstance(error, ZeroDivisionError) for error in shown)


def test_point_given_twice_is_evaluated_twice(path):
    called, point = [], [0.5, 1.0]

    def func(x):
        called.append(x.tolist())
        return float(x[0])

    options = {"x0": [point, point], "method": "random", "journal": path}
    minimize(func, BOUNDS, n_calls=1, random_state=0, **options)
    minimize(func, BOUNDS, n_calls=3, random_state=0, **options)
    assert len(called) == 3
    assert called.count(point) == 2


# --- ask and tell ---------------------------------------------------------------------------------


def test_unwritten_events_are_written_with_next(path, disk):
    optimizer = SILBO(BOUNDS, journal=path, random_state=0)
    first, second, lost = optimizer.ask(3)
    disk.fails = 2
    with pytest.raises(OSError, match=FULL):
        optimizer.tell(first, 1.0)
    with pytest.raises(OSError, match=FULL):
        optimizer.cancel(lost)
    optimizer.tell(second, 2.0)
    optimizer.close_journal()
    again = SILBO(BOUNDS, journal=path, random_state=0)
    assert_array_equal(again.x_iters_, [first, second])
    assert_array_equal(again.func_vals_, [1.0, 2.0])
    assert len(again.pending_) == 0
    disk.fails = 1
    with pytest.raises(OSError, match=FULL):
        again.tell(lost, 3.0)
    again.close_journal()  # by then there is room
    assert_array_equal(SILBO(BOUNDS, journal=path, random_state=0).func_vals_, [1.0, 2.0, 3.0])


def test_unwritten_proposal_is_not_pending(path, disk):
    optimizer = SILBO(BOUNDS, journal=path, random_state=0)
    disk.fails = 1
    with pytest.raises(OSError, match=FULL):
        optimizer.ask()
    assert len(optimizer.pending_) == 0
    point = optimizer.ask()
    optimizer.close_journal()
    assert_array_equal(SILBO(BOUNDS, journal=path, random_state=0).pending_, [point])


def test_optimizer_of_result_does_not_write(path):
    options = {"n_calls": 4, "n_initial": 3, "random_state": 0, "journal": path}
    result = minimize(lambda x: float(x[0]), BOUNDS, **options)
    written = path.read_bytes()
    result.optimizer.tell(result.optimizer.ask(), -5.0)
    assert result.optimizer.best_y_ == -5.0
    assert path.read_bytes() == written


# --- searches -------------------------------------------------------------------------------------


def fill(disk, monkeypatch, n_fails):
    """Have the disk be full when the third of the candidates has been evaluated."""
    score, calls = Counted.score, []

    def filling(self, X, y=None):
        calls.append(self)
        disk.fails = n_fails if len(calls) == 3 * 3 else disk.fails
        return score(self, X, y)

    monkeypatch.setattr(Counted, "score", filling)


def test_search_warns_when_disk_stays_full(path, disk, monkeypatch):
    options = {"n_iter": 5, "n_initial": 4}
    with monkeypatch.context() as patched:
        fill(disk, patched, 99)
        lost = pytest.warns(UserWarning, match="1 observations could not .*initial_results")
        with lost, pytest.raises(OSError, match=FULL) as caught:
            search(path, **options).fit(X, Y)
    assert len(caught.value.cv_results_["params"]) == 3
    disk.fails = 0
    assert fit(search(path, **options))[1] == 3 * 3


@pytest.mark.parametrize("journal", [True, False])
def test_callback_error_carries_results(path, journal):
    def fail(progress):
        if progress.n_evaluations == 4:
            raise LookupError("of the callback")

    with pytest.raises(LookupError, match="of the callback") as caught:
        search(path if journal else None, n_iter=6, callback=fail).fit(X, Y)
    results = caught.value.cv_results_
    assert len(results["mean_test_score"]) == 4
    assert np.isfinite(results["mean_test_score"]).all()
    assert "initial_results" in caught.value.__notes__[0]


def test_error_before_first_result_carries_none():
    with pytest.raises(ValueError, match="Invalid parameter") as caught:
        search(error_score="raise", space={"nothing": [1, 2]}).fit(X, Y)
    assert not hasattr(caught.value, "cv_results_")
