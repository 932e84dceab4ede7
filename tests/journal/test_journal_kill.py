"""A search killed with SIGKILL at random moments ends as one that was never interrupted."""

import itertools
import json
import os
import signal
import subprocess
import sys
import time
import warnings
from collections import Counter
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from journal_run import DOORS, N_ITER

from skbo_silbo.journal._journal import Journal
from skbo_silbo.model_selection._memory import SEARCH
from skbo_silbo.optimizers._event_log import OPTIMIZER

SCRIPT = Path(__file__).with_name("journal_run.py")
KINDS = {"search": SEARCH, "minimize": OPTIMIZER}


class Run:
    """A search in a process of its own, in a session of its own with its workers."""

    def __init__(self, folder, journal, backend, batch_size, random_state, door):
        self.journal, self.phase, self.results = journal, folder / "phase", folder / "results"
        self.phase.write_bytes(b"P")
        command = [sys.executable, "-W", "ignore", SCRIPT, journal, self.phase, self.results]
        self.process = subprocess.Popen(
            list(map(str, [*command, backend, batch_size, random_state, door])),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(SCRIPT.parents[2])},
        )

    def __enter__(self):
        assert self.process.stdout.readline() == "ready\n", self.process.stderr.read()
        return self

    def __exit__(self, *error):
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)  # workers that outlive their search
        self.process.communicate()

    def kill(self, n_told, doing, delay):
        """Kill the search, but not its workers; return what it was doing, None if it had ended.

        The kill comes when the journal has `n_told` more candidates and the search is `doing` it,
        a few milliseconds later. So the moments do not depend on how busy the machine is.
        """
        n_told += self._n_told()
        while self.process.poll() is None and self._n_told() < n_told:
            time.sleep(0.0005)
        while self.process.poll() is None and self.phase.read_text() != doing:
            pass
        time.sleep(delay)
        phase = self.phase.read_text()
        self.process.kill()
        return phase if self.process.wait() == -signal.SIGKILL else None

    def _n_told(self):
        return self.journal.read_bytes().count(b'"told"') if self.journal.exists() else 0

    def final(self):
        assert self.process.wait() == 0, self.process.stderr.read()
        return json.loads(self.results.read_text())


def durable(path, door):
    """Return the whole lines of a journal, which nobody may be holding."""
    text = path.read_bytes() if path.exists() else b""
    with Journal(path, KINDS[door]):
        return text.splitlines()[: text.count(b"\n")]


def kill_until_done(folder, n_kills, rng, backends, batch_size, seed, door="search"):
    """Run one search or minimisation, killed again and again; return what it was doing each time.

    The runs take the backends in turn, on which the result does not depend.
    """
    path, kept, phases, final = folder / f"{seed}.jsonl", [], [], None
    backends = itertools.cycle(backends)
    while final is None:
        with Run(folder, path, next(backends), batch_size, seed, door) as run:
            if len(phases) == n_kills:
                final = run.final()
            else:
                # From the second on a candidate at least: what is killed twice is held guilty.
                n_told = rng.integers(min(len(phases), 1), 5)
                phase = run.kill(n_told, rng.choice(["P", "F", "S"]), rng.uniform(0, 0.01))
                final = None if phase else run.final()
                phases += [phase] if phase else []
            lines = durable(path, door)  # while the workers may still be alive
        assert lines[: len(kept)] == kept
        kept = lines
    assert sum("told" in json.loads(line) for line in kept) == N_ITER
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert final == DOORS[door](folder / "phase", batch_size=batch_size, random_state=seed)
    return phases


def kill(door, n_kills, folder, backends):
    """Kill runs until there were so many kills; return what each was doing."""
    rng, phases, seeds = np.random.default_rng(), [], itertools.count()
    while len(phases) < n_kills:
        rest, seed = n_kills - len(phases), next(seeds)
        batch_size = (3, 1, 4)[seed % 3]
        phases += kill_until_done(folder, rest, rng, backends, batch_size, seed, door)
        print(door, seed + 1, "runs,", len(phases), dict(Counter(phases)), flush=True)
    return phases


def test_three_kills(tmp_path):
    kill("search", 3, tmp_path, ["threading", "loky", "threading", "threading"])


@pytest.mark.slow
@pytest.mark.parametrize("door", DOORS)
def test_two_hundred_kills(door, tmp_path):
    assert {"F", "S"} <= set(kill(door, 200, tmp_path, ["loky", "threading"]))
