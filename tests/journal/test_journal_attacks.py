"""Both doors under attack: files that fail, processes that die, lines that change."""

import gc
import json
import os
import warnings
from contextlib import closing, suppress

import numpy as np
import pytest
from journal_files import Journal
from journal_searches import Counted, X, Y, search

from skbo_silbo import minimize

N_CALLS = 7
BOUNDS = [(0.0, 1.0)] * 2


def seeds(n_ordinary, n_slow):
    """Have a test take seeds: few ordinarily, many behind ``slow``."""
    slow = pytest.param(range(n_ordinary, n_slow), marks=pytest.mark.slow, id="slow")
    return pytest.mark.parametrize("seeds", [pytest.param(range(n_ordinary), id="few"), slow])


class Killed(BaseException):
    """Stands for SIGKILL: from here on nothing reaches the disk."""


class Disk:
    """The calls that write, one of which fails."""

    def __init__(self, monkeypatch, rng):
        self.rng, self.n_before, self.is_dead = rng, 0, False
        self.fault, self.after, self.at = "none", 0, 0
        calls = {"write": os.write, "ftruncate": os.ftruncate, "fsync": lambda file: None}
        for name, call in calls.items():
            monkeypatch.setattr(os, name, self._wrapped(name, call))

    def arm(self):
        """Choose the next fault: in which call to the disk, after how many evaluations.

        At least two: a point at which two processes in turn have died counts as failed.
        """
        self.n_before, self.is_dead = Counted.n_fits, False
        self.fault = self.rng.choice(["killed", "torn", "full", "Ctrl-C", "none"])
        self.after, self.at = self.rng.integers(2, 5), self.rng.integers(1, 8)

    @property
    def n_paid(self):
        return Counted.n_fits - self.n_before

    def _wrapped(self, name, call):
        def wrapped(file, *arguments):
            if self.is_dead:
                raise Killed
            self.at -= self.n_paid >= self.after
            if self.fault == "none" or self.at > 0 or self.n_paid < self.after:
                return call(file, *arguments)
            fault, self.fault = self.fault, "none"
            if fault == "full":
                raise OSError(28, "No space left on device")
            if fault == "Ctrl-C":
                raise KeyboardInterrupt
            if fault == "torn" and name == "write":
                call(file, bytes(arguments[0])[: self.rng.integers(len(arguments[0]))])
            self.is_dead = True
            raise Killed

        return wrapped


def by_minimize(path, disk, seed, method="random"):
    """Return what one run gives, (n, d + 1); fewer rows if it was interrupted."""

    def func(x):
        Counted.n_fits += 1
        return float((x[0] - 0.3) ** 2 + x[1])

    found = minimize(func, BOUNDS, method=method, n_calls=N_CALLS, journal=path, random_state=seed)
    return np.column_stack([found.x_iters, found.func_vals])


def by_search(path, disk, seed):
    options = {"n_iter": N_CALLS, "n_initial": N_CALLS, "random_state": seed, "refit": False}
    found = search(path, cv=[(np.arange(2), np.arange(2))], **options).fit(X, Y).cv_results_
    return np.column_stack([found["param_a"], found["param_b"], found["mean_test_score"]]).astype(
        float
    )


DOORS = {"minimize": by_minimize, "SILBOSearchCV": by_search}


def attack(door, folder, monkeypatch, seeds):
    """Interrupt runs until they end; compare each with one that nothing interrupts."""
    gc.freeze()  # what is there already need not be looked through after every death
    for seed in seeds:
        with monkeypatch.context() as patch, warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            disk, path = Disk(patch, np.random.default_rng(seed)), folder / f"{seed}.jsonl"
            whole = door(folder / f"{seed}-whole.jsonl", disk, seed)
            rows = []
            while len(rows) < N_CALLS:
                disk.arm()
                with suppress(OSError, KeyboardInterrupt, Killed):
                    rows = door(path, disk, seed)
                if disk.is_dead:
                    gc.collect()  # as the system closes what a dead process held
                durable = np.reshape(rows, (-1, whole.shape[1]))
                np.testing.assert_array_equal(durable, whole[: len(durable)])


@pytest.mark.slow
@pytest.mark.parametrize("door", DOORS.values(), ids=list(DOORS))
@seeds(8, 1000)
def test_interrupted_runs_equal_uninterrupted(door, seeds, tmp_path, monkeypatch):
    attack(door, tmp_path, monkeypatch, seeds)


def test_interrupted_learning_search_equals_uninterrupted(tmp_path, monkeypatch):
    def door(path, disk, seed):
        return by_minimize(path, disk, seed, method="silbo")

    attack(door, tmp_path, monkeypatch, range(2))


# -- lines that change --------------------------------------------------------------------------


def corrupted(content, rng):
    """Return a file that is not as it was written."""
    lines, at = content.splitlines(keepends=True), int(rng.integers(len(content)))
    i, j = rng.integers(len(lines), size=2)
    kind = rng.integers(8)
    if kind == 0:  # a bit
        return content[:at] + bytes([content[at] ^ (1 << int(rng.integers(8)))]) + content[at + 1 :]
    if kind == 1:  # cut
        return content[:at]
    if kind == 2:  # a line twice
        return b"".join([*lines[: i + 1], lines[i], *lines[i + 1 :]])
    if kind == 3:  # a line missing
        return b"".join([*lines[:i], *lines[i + 1 :]])
    if kind == 4:  # two lines in each other's place
        lines[i], lines[j] = lines[j], lines[i]
        return b"".join(lines)
    if kind == 5:  # a block of zeros
        n = int(rng.integers(1, 64))
        return content[:at] + bytes(n) + content[at + n :]
    if kind == 6:  # other bytes
        return content[:at] + rng.bytes(int(rng.integers(1, 9))) + content[at:]
    record = json.loads(lines[i])  # an editor: still JSON, another value
    record["y"] = [0.125]
    lines[i] = json.dumps(record).encode() + b"\n"
    return b"".join(lines)


def read(path):
    """Return header and records; None where the file is refused in words."""
    try:
        with closing(Journal(path)) as journal:
            return journal.header, journal.records
    except ValueError as error:
        if "journal" not in str(error):
            raise
        return None


@pytest.mark.parametrize("door", list(DOORS))
@seeds(100, 5000)
def test_corrupted_file_is_rejected_or_prefix(door, seeds, tmp_path, monkeypatch):
    rng, path = np.random.default_rng(seeds.start), tmp_path / "run.jsonl"
    with monkeypatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        DOORS[door](path, Disk(patch, rng), 0)
    content = path.read_bytes()
    header, records = read(path)
    for _ in seeds:
        path.write_bytes(corrupted(content, rng))
        if (found := read(path)) is not None:
            assert found[0] in (header, None)
            assert found[1] == records[: len(found[1])]
