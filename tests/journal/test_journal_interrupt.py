"""Ctrl-C in a real process, with workers: results are kept, the best is refitted."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("journal_run.py")
N_DONE = 4  # candidates on disk when the interruption comes
HANGS = 600  # seconds after which it has not ended for another reason than load
N_ITER = 500  # more than can be done before it comes, however busy the machine


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_ctrl_c_in_a_terminal(tmp_path, backend):
    journal, phase, results = (tmp_path / name for name in ("journal", "phase", "results"))
    phase.write_bytes(b"P")
    command = [sys.executable, "-W", "ignore", SCRIPT, journal, phase, results, backend, 2, 0]
    command += ["--n-iter", N_ITER]
    process = subprocess.Popen(
        list(map(str, command)),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(SCRIPT.parents[2])},
    )
    assert process.stdout.readline() == "ready\n", process.stderr.read()
    while not journal.exists() or journal.read_bytes().count(b'"told"') < N_DONE:
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the workers, too
    _, errors = process.communicate(timeout=HANGS)
    assert process.returncode == 0, errors
    n_kept = len(json.loads(results.read_text())["params"])
    assert N_DONE - 2 <= n_kept < N_ITER  # the last batch of 2 may not be told yet
    assert n_kept <= journal.read_bytes().count(b'"told"')
