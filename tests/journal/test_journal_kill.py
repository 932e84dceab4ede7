"""Runs in real processes, killed with SIGKILL or interrupted by Ctrl-C at known places."""

import itertools
import json
import os
import signal
import warnings
from contextlib import closing

import numpy as np
import pytest
from journal_files import Journal
from journal_run import DOORS, N_ITER, PLACES, Run, count_told


def durable(path):
    """Return the whole lines of a journal, which nobody may be holding."""
    text = path.read_bytes() if path.exists() else b""
    with closing(Journal(path)):
        return text.splitlines()[: text.count(b"\n")]


def kill_until_done(folder, places, rng, backends, batch_size, seed, door):
    """Run one search or minimisation, killed at some places in turn; return where it was.

    The runs take the backends in turn, on which the result does not depend.
    """
    path, kept, killed, final = folder / f"{seed}.jsonl", [], [], None
    for i, backend in enumerate(itertools.cycle(backends)):
        # From the second on a candidate at least: one that is killed twice counts as failed.
        n_told = count_told(path) + rng.integers(min(i, 1), 5)
        place = places[i] if i < len(places) else "E"
        options = {"batch_size": batch_size, "random_state": seed}
        with Run(folder / f"{seed}-{i}", path, place, n_told, backend, door, **options) as run:
            if (was_at := run.wait()) == "E":
                final = run.results()
            else:
                run.process.kill()
                run.process.join()
                assert run.process.exitcode == -signal.SIGKILL
                killed.append(was_at)
            lines = durable(path)  # while the workers may still be alive
        assert lines[: len(kept)] == kept
        kept = lines
        if final is not None:
            break
    assert sum("observed" in json.loads(line) for line in kept) == N_ITER
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert final == DOORS[door](batch_size=batch_size, random_state=seed)
    return killed


@pytest.mark.parametrize(
    ("batch_size", "second"),
    [(3, "threading"), *(pytest.param(n, "loky", marks=pytest.mark.slow) for n in (1, 3, 4))],
)
@pytest.mark.parametrize("door", DOORS)
def test_kill_at_every_place_equals_uninterrupted(door, batch_size, second, tmp_path):
    rng, backends = np.random.default_rng(0), ["threading", second, *["threading"] * 4]
    killed = kill_until_done(tmp_path, PLACES, rng, backends, batch_size, 1, door)
    assert killed == list(PLACES)


@pytest.mark.parametrize("backend", ["loky", pytest.param("threading", marks=pytest.mark.slow)])
def test_ctrl_c_in_terminal_keeps_results(tmp_path, backend):
    journal, n_done, n_iter = tmp_path / "journal", 4, 500
    options = {"batch_size": 2, "random_state": 0, "n_iter": n_iter}
    with Run(tmp_path / "run", journal, "F", n_done, backend, "search", **options) as run:
        assert run.wait() == "F"  # a fit, which waits until the signal is sent
        os.killpg(run.process.pid, signal.SIGINT)  # as a terminal does: to the workers, too
        run.go_on()
        n_kept = len(run.results()["params"])
    assert n_done <= n_kept < n_iter
    assert n_kept <= count_told(journal)
