"""A full disk, a folder that is moved, an error of the callback: what was paid for is kept."""

import os

import numpy as np
import pytest
from journal_searches import Counted, X, Y, fit, search
from numpy.testing import assert_array_equal

from skbo_silbo import minimize


class Disk:
    """Lets some writes fail, as a full disk does."""

    def __init__(self, fsync):
        self.fails, self._fsync = 0, fsync

    def fsync(self, file):
        if self.fails:
            self.fails -= 1
            raise OSError(28, "No space left on device")
        self._fsync(file)


@pytest.fixture
def disk(monkeypatch):
    disk = Disk(os.fsync)
    monkeypatch.setattr(os, "fsync", disk.fsync)
    return disk


def fill(disk, monkeypatch, n_fails):
    """Have the disk be full when the third of the candidates has been evaluated."""
    score, calls = Counted.score, []

    def filling(self, X, y=None):
        calls.append(self)
        disk.fails = n_fails if len(calls) == 3 * 3 else disk.fails
        return score(self, X, y)

    monkeypatch.setattr(Counted, "score", filling)


@pytest.mark.parametrize("batch_size", [1, 3])
def test_a_full_disk_carries_the_results_and_all_is_written_when_there_is_room(
    path, disk, monkeypatch, batch_size
):
    options = {"n_iter": 7, "n_initial": 4, "batch_size": batch_size}
    reference = search(**options).fit(X, Y)
    with monkeypatch.context() as patched:
        fill(disk, patched, 1)
        with pytest.raises(OSError, match="No space left") as caught:
            search(path, **options).fit(X, Y)
    scores = caught.value.cv_results_["mean_test_score"]
    assert_array_equal(scores, reference.cv_results_["mean_test_score"][:3])
    resumed, n_fits = fit(search(path, **options))
    assert n_fits == 4 * 3
    assert resumed.cv_results_["params"] == reference.cv_results_["params"]


def test_a_disk_that_stays_full_is_warned_of(path, disk, monkeypatch):
    options = {"n_iter": 5, "n_initial": 4}
    with monkeypatch.context() as patched:
        fill(disk, patched, 99)
        lost = pytest.warns(UserWarning, match="must have room: 1 values .* initial_results")
        with lost, pytest.raises(OSError, match="No space left") as caught:
            search(path, **options).fit(X, Y)
    assert len(caught.value.cv_results_["params"]) == 3
    disk.fails = 0
    assert fit(search(path, **options))[1] == 3 * 3


@pytest.mark.parametrize("journal", [True, False])
def test_an_error_of_the_callback_carries_the_results(path, journal):
    def fail(progress):
        if progress.n_candidates == 4:
            raise LookupError("of the callback")

    with pytest.raises(LookupError, match="of the callback") as caught:
        search(path if journal else None, n_iter=6, callback=fail).fit(X, Y)
    results = caught.value.cv_results_
    assert len(results["mean_test_score"]) == 4
    assert np.isfinite(results["mean_test_score"]).all()
    assert "initial_results" in caught.value.__notes__[0]


def test_an_error_before_the_first_result_carries_none():
    with pytest.raises(ValueError, match="Invalid parameter") as caught:
        search(error_score="raise", space={"nothing": [1, 2]}).fit(X, Y)
    assert not hasattr(caught.value, "cv_results_")


@pytest.mark.skipif(os.name == "nt", reason="an open file stays where it is there")
def test_a_folder_that_is_moved_ends_no_run_and_takes_its_journal_along(tmp_path):
    folder, moved = tmp_path / "here", tmp_path / "there"
    folder.mkdir()
    called = []

    def func(x):
        called.append(tuple(x))
        if len(called) == 2:
            folder.rename(moved)
        return float(x[0])

    options = {"method": "random", "random_state": 0, "n_calls": 5}
    bounds = [(0.0, 1.0)] * 2
    with pytest.warns(UserWarning, match="must stay where it is"):
        minimize(func, bounds, journal=folder / "run.jsonl", **options)
    again = minimize(func, bounds, journal=moved / "run.jsonl", **options)
    assert list(map(tuple, again.x_iters)) == called
