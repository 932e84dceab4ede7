"""Descriptors that the evaluated function closes: the journal's among them, perhaps used again."""

import os
from contextlib import suppress

import numpy as np
import pytest
from journal_files import SEARCH, Journal

from skbo_silbo import minimize

MESSAGE = "its file was closed by something else"


def descriptor_of(path):
    """Return the number by which this process has a file open."""
    for number in range(3, 1024):
        with suppress(OSError):
            if os.path.samestat(os.fstat(number), os.stat(path)):
                return number
    raise AssertionError(f"{path} is not open")


def take(path, own):
    """Close the journal's file, and open a file of one's own in its place."""
    number = descriptor_of(path)
    os.close(number)
    if own is None:
        return
    opened = os.open(own, os.O_RDWR)
    if opened != number:
        os.dup2(opened, number)
        os.close(opened)


@pytest.fixture(params=["closed", "used again"])
def own(request, tmp_path):
    """A file of the user's own that takes the journal's number; or none."""
    if request.param == "closed":
        return None
    own = tmp_path / "results.txt"
    own.write_text("mine\n" * 100)
    return own


def is_left_alone(own):
    return own is None or own.read_text() == "mine\n" * 100


def test_a_function_that_closes_the_journal_ends_nothing(path, own):
    def func(x):
        called.append(tuple(x))
        if len(called) in (3, 5):
            take(path, own)
        return float(x[0])

    called, options = [], {"method": "random", "random_state": 0, "journal": path}
    with pytest.warns(UserWarning, match=MESSAGE):
        found = minimize(func, [(0, 1)] * 2, n_calls=7, **options)
    assert len(found.func_vals) == 7
    assert is_left_alone(own)
    again = minimize(func, [(0, 1)] * 2, n_calls=8, **options)
    np.testing.assert_array_equal(again.x_iters, called)
    assert len(called) == 8


@pytest.mark.parametrize("last", [False, True])
def test_a_record_follows_on_those_before(path, own, last):
    with Journal(path, SEARCH) as journal:
        journal.begin({"of": "test"})
        journal.append({"value": 1.0})
        take(path, own)
        with pytest.warns(UserWarning, match=MESSAGE):
            journal.close() if last else journal.append({"value": 2.0})
    assert is_left_alone(own)
    with Journal(path, SEARCH) as journal:
        assert [record["value"] for record in journal.records] == [1.0, 2.0][: 2 - last]


def test_a_journal_that_is_closed_and_taken_away_says_so(path, own):
    with Journal(path, SEARCH) as journal:
        journal.begin({"of": "test"})
        take(path, own)
        path.rename(f"{path}.old")
        with pytest.raises(OSError, match=f"{MESSAGE}.*not at its path"):
            journal.append({"value": 1.0})
    assert is_left_alone(own)


def test_another_that_opened_it_meanwhile_has_it(path, tmp_path):
    (own := tmp_path / "results.txt").write_text("mine")
    with Journal(path, SEARCH) as journal:
        journal.begin({"of": "test"})
        take(path, own)
        with Journal(path, SEARCH), pytest.raises(RuntimeError, match="in use"):
            journal.append({"value": 1.0})
        with pytest.warns(UserWarning, match=MESSAGE):
            journal.append({"value": 2.0})
    assert own.read_text() == "mine"
    with Journal(path, SEARCH) as journal:
        assert [record["value"] for record in journal.records] == [2.0]
