"""Ctrl-C in a real process, with workers: results are kept, the best is refitted."""

import os
import signal

import pytest
from journal_run import Run, count_told

N_DONE, N_ITER = 4, 500


@pytest.mark.parametrize("backend", ["loky", pytest.param("threading", marks=pytest.mark.slow)])
def test_ctrl_c_in_a_terminal(tmp_path, backend):
    journal = tmp_path / "journal"
    options = {"batch_size": 2, "random_state": 0, "n_iter": N_ITER}
    with Run(tmp_path / "run", journal, "F", N_DONE, backend, "search", **options) as run:
        assert run.wait() == "F"  # a fit, which waits until the signal is sent
        os.killpg(run.process.pid, signal.SIGINT)  # as a terminal does: to the workers, too
        run.go_on()
        n_kept = len(run.results()["params"])
    assert N_DONE <= n_kept < N_ITER
    assert n_kept <= count_told(journal)
