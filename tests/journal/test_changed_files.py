"""A journal that another program changes while it is open, or afterwards."""

import json
import os
from contextlib import closing

import numpy as np
import pytest
from journal_files import Journal
from journal_searches import X, Y, search

from skbo_silbo import SILBO, minimize

BOUNDS = [(0.0, 1.0), (0.0, 2.0)]

# What another program does to a file; each gets its path and its content.
CHANGES = {
    "emptied": lambda path, whole: path.write_bytes(b""),
    "longer": lambda path, whole: path.write_bytes(b"x" * (len(whole) + 100)),
    "cut": lambda path, whole: path.write_bytes(whole[: whole.rindex(b"\n", 0, -1) + 1]),
    "removed": lambda path, whole: path.unlink(),
    "replaced": lambda path, whole: os.replace(copied(path, whole), path),
}


def copied(path, whole):
    other = path.with_name("copy")
    other.write_bytes(whole)
    return other


@pytest.fixture(params=CHANGES)
def change(request):
    return CHANGES[request.param]


def test_line_appended_by_another_program_is_cut_off(path):
    with closing(Journal(path)) as journal:
        journal.begin({"of": "test"})
        whole = path.read_bytes()
        path.write_bytes(whole + b"a note of mine\n")
        journal.append({"value": 1.0})
        assert path.read_bytes().startswith(whole)
        assert b"note" not in path.read_bytes()


def test_minimize_raises_with_results(path, change):
    def func(x):
        if x[0] > 0.5 and path.exists():
            change(path, path.read_bytes())
        return float(sum(x))

    lost = pytest.warns(UserWarning, match="1 observations could not be written")
    with lost, pytest.raises(RuntimeError, match="changed, moved or removed") as caught:
        minimize(func, BOUNDS, method="random", n_calls=20, journal=path, random_state=0)
    result = caught.value.optimize_result
    assert len(result.func_vals) == result.nfev > 0
    assert np.isfinite(result.func_vals).all()


def test_search_raises_with_results(path, change):
    def callback(progress):
        if progress.n_evaluations == 3:
            change(path, path.read_bytes())

    with pytest.raises(RuntimeError, match="changed, moved or removed") as caught:
        search(path, callback=callback).fit(X, Y)
    assert len(caught.value.cv_results_["params"]) >= 3


@pytest.fixture
def closed(path):
    optimizer = SILBO(BOUNDS, journal=path, random_state=0)
    for y in (3.0, 1.0, 2.0):
        optimizer.tell(optimizer.ask(), y)
    optimizer.close_journal()
    return path


def test_edited_last_line_raises(closed):
    *lines, last = closed.read_bytes().splitlines()
    closed.write_bytes(b"\n".join([*lines, last.replace(b"2.0", b"2.5"), b""]))
    with pytest.raises(ValueError, match=rf"damaged in line {len(lines) + 1}\. Delete it"):
        SILBO(BOUNDS, journal=closed, random_state=0)


@pytest.mark.parametrize("n_zeros", [2, 4096])
def test_unwritten_blocks_are_dropped(closed, n_zeros):
    whole = closed.read_bytes()
    closed.write_bytes(whole + json.dumps({"n": 6}).encode() + b"\0" * n_zeros + b"\n")
    optimizer = SILBO(BOUNDS, journal=closed, random_state=0)
    assert len(optimizer.func_vals_) == 3
    assert closed.read_bytes() == whole
    optimizer.close_journal()
