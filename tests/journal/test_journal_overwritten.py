"""A journal that something else writes into while it is open, and one that was changed later."""

import itertools
import json
import os
import signal
import warnings

import pytest
from journal_files import SEARCH, Journal
from journal_searches import X, Y, fit, search

from skbo_silbo import SILBO, minimize

BOUNDS = [(0.0, 1.0), (0.0, 2.0)]
KIND = SEARCH


def flipped_at(path, at):
    """Change a byte in place, at another time than that of the last record."""
    later = path.stat().st_mtime_ns + 10**9
    with open(path, "r+b") as file:
        file.seek(at)
        byte = file.read(1)
        file.seek(at)
        file.write(bytes([byte[0] ^ 1]))
    os.utime(path, ns=(later, later))


# What something else does to a file; each is given its path and what was in it.
OVERWRITTEN = {
    "emptied": lambda path, whole: path.write_bytes(b""),  # > file
    "shorter": lambda path, whole: path.write_bytes(b"my shopping list"),  # cp over it
    "longer": lambda path, whole: path.write_bytes(b"x" * (len(whole) + 100)),
    "of one size": lambda path, whole: path.write_bytes(b"y" * len(whole)),
    "appended": lambda path, whole: path.write_bytes(whole + b"a note of mine\n"),
    "cut": lambda path, whole: path.write_bytes(whole[: whole.rindex(b"\n", 0, -1) + 1]),
    "in the middle": lambda path, whole: flipped_at(path, len(whole) // 2),
    "in its header": lambda path, whole: flipped_at(path, 20),
    "of another run": lambda path, whole: path.write_bytes(whole.replace(b"0", b"1")),
    "at the top": lambda path, whole: path.write_bytes(b"a note of mine\n" + whole),
}
emptied, shorter, appended = (OVERWRITTEN[name] for name in ("emptied", "shorter", "appended"))


def among(*but):
    """Have a test take these one by one, but for some."""
    names = [name for name in OVERWRITTEN if name not in but]
    return pytest.mark.parametrize("overwrite", [OVERWRITTEN[n] for n in names], ids=names)


def opened(path):
    journal = Journal(path, KIND)
    if journal.header is None:
        journal.begin({"of": "test"})
    return journal


@among("at the top")
@pytest.mark.parametrize("then", ["append", "close"])
def test_what_is_overwritten_is_written_anew(path, overwrite, then):
    with opened(path) as journal:
        for i in range(3):
            journal.append({"value": 0.5 * i})
        whole, mode = path.read_bytes(), path.stat().st_mode
        overwrite(path, whole)
        with pytest.warns(UserWarning, match=r"something else was written into it.*All 3 records"):
            journal.append({"value": 9.0}) if then == "append" else journal.close()
        if then == "append":
            with pytest.raises(RuntimeError, match="in use"):
                Journal(path, KIND)
    assert path.stat().st_mode == mode
    assert os.listdir(path.parent) == [path.name]
    assert path.read_bytes().startswith(whole)
    with opened(path) as journal:
        assert [record["value"] for record in journal.records][:3] == [0.0, 0.5, 1.0]
        assert len(journal.records) == 3 + (then == "append")


def test_a_journal_that_is_left_alone_or_only_touched_is_not_written_anew(path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for i in range(3):
            with opened(path) as journal:
                journal.append({"value": 1.0})
                os.utime(path, ns=(i, i))
                journal.append({"value": 2.0})


def test_what_is_overwritten_while_the_disk_is_full_is_written_when_it_is_not(path, monkeypatch):
    with opened(path) as journal:
        journal.append({"value": 1.0})
        emptied(path, b"")
        with monkeypatch.context() as full:
            full.setattr(os, "write", lambda *_: (_ for _ in ()).throw(OSError(28, "full")))
            with pytest.raises(OSError, match="full"):
                journal.append({"value": 2.0})
        with pytest.warns(UserWarning, match="something else"):
            journal.append({"value": 2.0})
    with opened(path) as journal:
        assert [record["value"] for record in journal.records] == [1.0, 2.0]


def waiting_before(step, say, wait):
    """Return stand-ins for the calls that change a file: before that of this number they wait.

    Each write takes half of what it is given, so that there are halves to be killed between.
    """
    steps = itertools.count()

    def waiting(call, change=lambda *args: args):
        def stand_in(*args, **kwargs):
            if next(steps) == step:
                call_write(say, b"now")
                os.read(wait, 1)
            return call(*change(*args), **kwargs)

        return stand_in

    call_write = os.write
    half = waiting(os.write, lambda file, data: (file, data[: len(data) // 2 + 1]))
    return {
        "write": half,
        **{n: waiting(getattr(os, n)) for n in ("ftruncate", "fsync", "replace")},
    }


def mended_and_killed(path, overwrite, step):
    """Have a child mend a journal, kill it before a step; return whether it came as far."""
    heard, say = os.pipe()
    wait, tell = os.pipe()
    child = os.fork()
    if not child:
        os.close(heard)
        os.close(tell)
        with opened(path) as journal:
            for i in range(3):
                journal.append({"value": 0.5 * i})
            overwrite(path, path.read_bytes())
            for name, stand_in in waiting_before(step, say, wait).items():
                setattr(os, name, stand_in)
            warnings.simplefilter("ignore")
            journal.append({"value": 1.5})
            os._exit(0)
    os.close(say)
    os.close(wait)
    is_there = os.read(heard, 3) == b"now"
    if is_there:
        os.kill(child, signal.SIGKILL)
    status = os.waitpid(child, 0)[1]
    os.close(heard)
    os.close(tell)
    assert os.WIFSIGNALED(status) == is_there
    return is_there


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the child is forked")
@among("shorter", "longer", "of one size", "cut", "in its header")
def test_a_kill_while_it_is_written_anew_takes_nothing_that_was_on_disk(path, overwrite):
    with opened(path) as journal:
        for i in range(3):
            journal.append({"value": 0.5 * i})
    whole = path.read_bytes()
    overwrite(path, whole)
    foreign = path.read_bytes()
    kept = [line for line in whole.splitlines() if line in foreign]
    for step in itertools.count():
        path.unlink()
        is_killed = mended_and_killed(path, overwrite, step)
        found = path.read_bytes()
        assert all(line in found for line in kept), (step, found)
        if not is_killed:
            break
    assert step >= 3
    assert found.startswith(whole)
    with opened(path) as journal:
        assert [record["value"] for record in journal.records] == [0.0, 0.5, 1.0, 1.5]


def test_a_note_at_the_end_is_cut_off_and_nothing_else_is_written(path):
    optimizer = SILBO(BOUNDS, journal=path, random_state=0)
    for _ in range(12):  # what was learnt is in memory once, and on disk as it came
        optimizer.tell(x := optimizer.ask(), x[0])
    whole, inode = path.read_bytes(), path.stat().st_ino
    appended(path, whole)
    with pytest.warns(UserWarning, match="something else was written into it"):
        optimizer.ask()
    assert path.read_bytes().startswith(whole)
    assert path.stat().st_ino == inode
    optimizer.close_journal()


def test_a_file_that_no_other_can_take_the_place_of_is_mended_where_it_is(path, monkeypatch):
    def refuse(*_):  # as where the file is a mount of its own
        raise OSError(16, "Device or resource busy")

    monkeypatch.setattr(os, "replace", refuse)
    with opened(path) as journal:
        journal.append({"value": 1.0})
        shorter(path, b"")
        with pytest.warns(UserWarning, match="something else"):
            journal.append({"value": 2.0})
    assert os.listdir(path.parent) == [path.name]
    with opened(path) as journal:
        assert [record["value"] for record in journal.records] == [1.0, 2.0]


@among("at the top", "of another run")
def test_minimize_loses_no_value(path, overwrite):
    def func(x):
        called.append(tuple(x))
        if len(called) == 4:
            overwrite(path, path.read_bytes())
        return float(x[0])

    called, options = [], {"method": "random", "random_state": 0, "journal": path}
    with pytest.warns(UserWarning, match="something else was written into it"):
        minimize(func, BOUNDS, n_calls=6, **options)
    again = minimize(func, BOUNDS, n_calls=8, **options)
    assert list(map(tuple, again.x_iters)) == called
    assert len(called) == 8


def test_a_search_loses_no_candidate(path):
    def spoil(progress):
        if progress.n_candidates == 3:
            shorter(path, b"")

    with pytest.warns(UserWarning, match="something else was written into it"):
        search(path, n_iter=5, callback=spoil).fit(X, Y)
    assert fit(search(path, n_iter=5))[1] == 0


# --- changed when it was closed -------------------------------------------------------------------


@pytest.fixture
def closed(path):
    optimizer = SILBO(BOUNDS, journal=path, random_state=0)
    for y in (3.0, 1.0, 2.0):
        optimizer.tell(optimizer.ask(), y)
    optimizer.close_journal()
    return path


def test_no_flipped_bit_of_the_last_line_goes_unseen(closed):
    whole = closed.read_bytes()
    last = whole.rfind(b"\n", 0, -1) + 1
    for at in range(last, len(whole)):
        flipped = whole[:at] + bytes([whole[at] ^ 4]) + whole[at + 1 :]
        closed.write_bytes(flipped)
        with pytest.raises(ValueError, match="is damaged in line"):
            SILBO(BOUNDS, journal=closed, random_state=0)
        assert closed.read_bytes() == flipped


@pytest.mark.parametrize(
    "change",
    [
        lambda line: line.replace(b"2.0", b"2.5"),
        lambda line: line[:-20] + line[-19:],
        lambda line: line + b" ",
        lambda line: b" " + line,
    ],
    ids=["value", "a character less", "a space behind", "a space before"],
)
def test_a_last_line_that_an_editor_changed_is_refused(closed, change):
    *lines, last = closed.read_bytes().splitlines()
    closed.write_bytes(b"\n".join([*lines, change(last), b""]))
    with pytest.raises(ValueError, match=rf"damaged in line {len(lines) + 1}\. Remove that line"):
        SILBO(BOUNDS, journal=closed, random_state=0)


@pytest.mark.parametrize("n_zeros", [2, 50, 4096])
def test_blocks_that_did_not_reach_the_disk_are_a_torn_line(closed, n_zeros):
    whole = closed.read_bytes()
    closed.write_bytes(whole + json.dumps({"n": 6}).encode() + b"\0" * n_zeros + b"\n")
    optimizer = SILBO(BOUNDS, journal=closed, random_state=0)
    assert len(optimizer.func_vals_) == 3
    assert closed.read_bytes() == whole
    optimizer.close_journal()
