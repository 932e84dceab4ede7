"""Journals that cannot be written for a while, or any more: no value is lost or doubled."""

import os
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from numpy.testing import assert_array_equal
from scipy.optimize import NonlinearConstraint

from skbo_silbo import SILBO, minimize

BOUNDS = [(-1.0, 2.0), (0.0, 3.0)]


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


@pytest.mark.parametrize("n_fails", [1, 2, 3])
def test_values_that_cannot_be_written_are_there_once(tmp_path, disk, n_fails):
    both, called = threading.Barrier(2), []

    def func(x):
        called.append(tuple(x))
        if both.wait(300) == 0:
            disk.fails = n_fails
        both.wait(300)
        return float(x[0])

    options = {"method": "random", "random_state": 0, "journal": tmp_path / "run.jsonl"}
    options |= {"n_calls": 2, "n_pending": 2}
    with ThreadPoolExecutor(2) as threads:
        with pytest.raises(OSError, match="No space left") as caught:
            minimize(func, BOUNDS, executor=threads, **options)
        disk.fails = 0
        assert_once(caught.value.optimize_result, called)
        again = minimize(func, BOUNDS, executor=threads, **options)
    assert_once(again, called)


def assert_once(result, called):
    assert sorted(map(tuple, result.x_iters)) == sorted(called)
    assert_array_equal(result.func_vals, result.x_iters[:, 0])
    assert len(called) == result.nfev == 2


def test_what_could_not_be_told_to_the_disk_is_with_the_next(tmp_path, disk):
    path = tmp_path / "run.jsonl"
    optimizer = SILBO(BOUNDS, journal=path, random_state=0)
    first, second, lost = optimizer.ask(3)
    disk.fails = 2
    with pytest.raises(OSError, match="No space left"):
        optimizer.tell(first, 1.0)
    with pytest.raises(OSError, match="No space left"):
        optimizer.cancel(lost)
    optimizer.tell(second, 2.0)
    optimizer.close_journal()
    again = SILBO(BOUNDS, journal=path, random_state=0)
    assert_array_equal(again.x_iters_, [first, second])
    assert_array_equal(again.func_vals_, [1.0, 2.0])
    assert len(again.pending_) == 0
    disk.fails = 1
    with pytest.raises(OSError, match="No space left"):
        again.tell(lost, 3.0)
    again.close_journal()  # by then there is room
    assert_array_equal(SILBO(BOUNDS, journal=path, random_state=0).func_vals_, [1.0, 2.0, 3.0])


def test_a_disk_that_stays_full_is_warned_of(tmp_path, disk):
    """What could not be written is named, and is not called again with the remedy named."""
    path, called = tmp_path / "run.jsonl", []

    def func(x):
        called.append(tuple(x))
        disk.fails = 99 if len(called) == 3 else 0
        return float(x[0])

    options = {"method": "random", "random_state": 0, "journal": path}
    lost = pytest.warns(UserWarning, match="1 values could not be written .*x0 and y0")
    with lost, pytest.raises(OSError, match="No space left") as caught:
        minimize(func, BOUNDS, n_calls=6, **options)
    disk.fails, result = 0, caught.value.optimize_result
    again = minimize(func, BOUNDS, n_calls=6, x0=result.x_iters, y0=result.func_vals, **options)
    assert len(called) == len(set(called))
    assert set(called) == set(map(tuple, again.x_iters))


def test_a_proposal_that_could_not_be_written_is_not_pending(tmp_path, disk):
    path = tmp_path / "run.jsonl"
    optimizer = SILBO(BOUNDS, journal=path, random_state=0)
    disk.fails = 1
    with pytest.raises(OSError, match="No space left"):
        optimizer.ask()
    assert len(optimizer.pending_) == 0
    point = optimizer.ask()
    optimizer.close_journal()
    assert_array_equal(SILBO(BOUNDS, journal=path, random_state=0).pending_, [point])


def test_the_optimizer_of_a_result_is_asked_and_told_without_the_journal(tmp_path):
    path = tmp_path / "run.jsonl"
    options = {"n_calls": 4, "n_initial": 3, "random_state": 0, "journal": path}
    result = minimize(lambda x: float(x[0]), BOUNDS, **options)
    written = path.read_bytes()
    point = result.optimizer.ask()
    assert not result.optimizer.keeps_journal
    result.optimizer.tell(point, -5.0)
    assert result.optimizer.best_y_ == -5.0
    assert path.read_bytes() == written
    assert_array_equal(
        minimize(lambda x: float(x[0]), BOUNDS, **options).func_vals, result.func_vals
    )


# --- where the file is ----------------------------------------------------------------------------


def test_a_function_that_changes_the_folder(tmp_path, monkeypatch):
    """The file stays where the call said, relative to the folder that it was made in."""
    monkeypatch.chdir(tmp_path)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()

    def func(x):
        os.chdir(elsewhere)
        return float(x[0])

    options = {"n_initial": 3, "random_state": 0, "journal": os.fsencode("run.jsonl")}
    minimize(func, BOUNDS, n_calls=4, **options)
    assert not list(elsewhere.iterdir())
    os.chdir(tmp_path)
    assert sorted(os.listdir()) == ["elsewhere", "run.jsonl"]
    assert minimize(func, BOUNDS, n_calls=5, **options).nfev == 5


@pytest.mark.skipif(os.name == "nt", reason="an open file stays where it is there")
@pytest.mark.parametrize("replaced", [False, True])
def test_a_journal_that_is_taken_away_is_missed(tmp_path, replaced):
    path = tmp_path / "run.jsonl"

    def func(x):
        if not moved:
            moved.append(path.rename(tmp_path / "moved.jsonl"))
            if replaced:
                path.write_bytes(moved[0].read_bytes())
        return float(x[0])

    moved = []
    with pytest.warns(UserWarning, match=r"run\.jsonl' must stay where it is") as caught:
        result = minimize(func, BOUNDS, n_calls=4, method="random", journal=path)
    assert len(caught) == 1
    assert len(result.func_vals) == 4


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with names")
def test_a_pipe_is_no_journal(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ValueError, match="is no file of data"):
        SILBO(BOUNDS, journal=tmp_path / "pipe")


def test_a_disk_that_does_not_tell_what_a_file_is(tmp_path, monkeypatch):
    """As WSL's on Windows: neither refused nor taken for one that was moved."""

    def unknown(file):
        raise OSError(22, "not supported")

    path = tmp_path / "run.jsonl"
    with monkeypatch.context() as patched:  # pytest asks, too
        patched.setattr(os, "fstat", unknown)
        result = minimize(lambda x: float(x[0]), BOUNDS, method="random", n_calls=3, journal=path)
    assert result.nfev == 3


def test_a_point_that_is_given_twice_is_called_twice_in_however_many_runs(tmp_path):
    called, point = [], [0.5, 1.0]

    def func(x):
        called.append(x.tolist())
        return float(x[0])

    options = {"x0": [point, point], "method": "random", "journal": tmp_path / "run.jsonl"}
    minimize(func, BOUNDS, n_calls=1, random_state=0, **options)
    minimize(func, BOUNDS, n_calls=3, random_state=0, **options)
    assert len(called) == 3
    assert called.count(point) == 2


def test_an_error_of_the_function_is_shown_with_that_of_the_disk(tmp_path, disk):
    def func(x):
        disk.fails = 1
        raise ZeroDivisionError("of func")

    with pytest.raises(OSError, match="No space left") as caught:
        minimize(func, BOUNDS, n_calls=3, journal=tmp_path / "run.jsonl", method="random")
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_a_relative_journal_stays_where_it_was_begun(tmp_path, monkeypatch):
    begun, elsewhere = tmp_path / "begun", tmp_path / "elsewhere"
    begun.mkdir()
    elsewhere.mkdir()
    monkeypatch.chdir(begun)

    def moving(x):
        os.chdir(elsewhere)
        return x[0]

    known = NonlinearConstraint(moving, -1.0, 1.0)
    options = {"method": "random", "random_state": 0, "journal": "run.jsonl", "n_calls": 4}
    result = minimize(lambda x: float(x[1]), BOUNDS, constraints=known, **options)
    assert sorted(os.listdir(begun)) == ["run.jsonl"]
    assert os.listdir(elsewhere) == []
    monkeypatch.chdir(begun)
    again = minimize(lambda x: float(x[1]), BOUNDS, constraints=known, **options)
    assert_array_equal(again.x_iters, result.x_iters)
