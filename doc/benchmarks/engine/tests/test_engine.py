"""Benchmark engine: storage, resuming, measuring and reports."""

import json
import os
import re
import resource
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from threadpoolctl import threadpool_info

from benchmarks.__main__ import main
from benchmarks.engine import (
    Cell,
    Store,
    _runner,
    measure_cell,
    missing_cells,
    peak_rss_mib,
    run_cell,
    run_experiment,
)
from benchmarks.engine._environment import THREAD_VARIABLES
from benchmarks.experiments import EXPERIMENTS

pytestmark = pytest.mark.bench

DOC = Path(__file__).parents[3]
ENVIRONMENT = {
    "cpu": "a processor",
    "cores": 2,
    "system": "Linux",
    "python": "3.11",
    "versions": {"numpy": "2.0"},
    "threads": {"OMP_NUM_THREADS": "1"},
    "revision": "abc",
}


def fit_result(problem, method, repeat, seconds):
    return {
        "experiment": "sdr",
        "problem": problem,
        "method": method,
        "repeat": repeat,
        "status": "ok",
        "seconds": seconds,
        "gram_seconds": [0.010],
        "environment": ENVIRONMENT,
        "data_mib": 8.0,
        "imported_mib": 100.0,
        "peak_mib": 120.0,
    }


def die(problem, method, repeat):
    """Stub of `run_cell` that kills its process."""
    sys.stderr.write("a word\nfarewell\n")
    sys.stderr.flush()
    os._exit(7)


def surroundings(problem, method, repeat):
    """Stub of `run_cell` that records its environment."""
    return {
        "threads": [os.environ[name] for name in THREAD_VARIABLES],
        "pools": [pool["num_threads"] for pool in threadpool_info()],
        "limit": resource.getrlimit(resource.RLIMIT_AS)[0],
        "process": os.getpid(),
        "peak_mib": peak_rss_mib(),
    }


@pytest.fixture
def counted(monkeypatch):
    """Stub of `run_cell` that counts its calls and fails for given cells."""
    calls, outcomes = [], {}

    def run_cell(experiment, cell):
        calls.append(cell)
        return {"status": "ok", "cell_seconds": 0.0} | outcomes.get(cell.method, {})

    monkeypatch.setattr(_runner, "run_cell", run_cell)
    return calls, outcomes


@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(cut=st.integers(0, 200))
def test_truncated_results_lose_only_torn_line(tmp_path, cut):
    store = Store(tmp_path / "results.jsonl")
    store.path.unlink(missing_ok=True)
    results = [{"cell": i, "text": "é\n"} for i in range(5)]
    for result in results:
        store.append(result)
    whole = store.path.read_bytes()
    store.path.write_bytes(whole[:cut])
    kept = whole[:cut].count(b"\n")
    assert store.read() == results[:kept]
    store.append({"cell": "next"})
    assert store.read() == [*results[:kept], {"cell": "next"}]


def test_finished_cells_are_not_measured_again(tmp_path, counted):
    calls, outcomes = counted
    store = Store(tmp_path / "results.jsonl")
    outcomes["statsmodels"] = {"status": "cannot", "reason": "d > n"}
    outcomes["pca"] = {"status": "capped", "reason": "more than 120 s"}
    sdr = EXPERIMENTS["sdr"]
    assert run_experiment(sdr, store, profile="tiny", echo=str) == []
    assert calls == sdr.cells("tiny")
    run_experiment(sdr, store, profile="tiny", echo=str)
    assert len(calls) == len(sdr.cells("tiny"))
    assert missing_cells(sdr, "tiny", store.read()) == []


def test_an_unexcused_failure_is_named_and_measured_again(tmp_path, counted):
    calls, outcomes = counted
    store = Store(tmp_path / "results.jsonl")
    outcomes["sir"] = {"status": "failed", "reason": "ValueError: no"}
    sdr = EXPERIMENTS["sdr"]
    failures = run_experiment(sdr, store, profile="tiny", echo=str)
    assert len(failures) == 4
    assert failures[0] == "sdr n=60 d=12 sir #0: ValueError: no"
    outcomes.clear()
    calls.clear()
    assert run_experiment(sdr, store, profile="tiny", echo=str) == []
    assert {cell.method for cell in calls} == {"sir"}
    assert missing_cells(sdr, "tiny", store.read()) == []


def test_timed_out_cell_is_recorded_as_capped():
    sdr = replace(EXPERIMENTS["sdr"], cap_seconds=0.05)
    outcome = run_cell(sdr, sdr.cells("tiny")[0])
    assert outcome == {"status": "capped", "reason": "more than 0.05 s"}


def test_dead_process_is_recorded_with_stderr():
    outcome = run_cell(replace(EXPERIMENTS["sdr"], measure=die), Cell("sdr", {}, "sir", 0))
    assert outcome["status"] == "failed"
    assert outcome["reason"] == "exit code 7: farewell"


def test_cell_has_one_thread_and_memory_cap():
    watched = replace(EXPERIMENTS["sdr"], measure=surroundings, cap_mib=4096)
    outcome = run_cell(watched, Cell("sdr", {}, "sir", 0))
    assert outcome["threads"] == ["1"] * len(THREAD_VARIABLES)
    assert set(outcome["pools"]) <= {1}
    assert outcome["limit"] == 4096 * 2**20
    assert outcome["process"] != os.getpid()
    assert outcome["peak_mib"] < 1024


def test_unsupported_peer_is_recorded_with_reason():
    outcome = run_cell(EXPERIMENTS["sdr"], Cell("sdr", {"n": 20, "d": 40}, "statsmodels", 0))
    assert outcome["status"] == "cannot"
    assert re.match(r"needs more rows than columns: .* \(LinAlgError", outcome["reason"])


def test_command_line_fails_loudly(tmp_path, capsys):
    empty = tmp_path / "none.jsonl"
    assert main(["report", str(empty)]) == 1
    assert f"FAILED FILE must hold results: {empty} holds none" in capsys.readouterr().err
    path = str(tmp_path / "one.jsonl")
    Store(path).append(fit_result({"n": 60, "d": 12}, "sir", 0, [0.02]))
    assert main(["report", path, "--profile", "tiny"]) == 1
    told = capsys.readouterr().err
    assert "FAILED no result for sdr n=60 d=12 sir #1" in told
    assert told.count("FAILED") == 15
    assert main(["report", path]) == 1
    told = capsys.readouterr().err.splitlines()
    assert len(told) == 21
    assert re.fullmatch(r"FAILED \d+ more of the same kind, 20 named", told[-1])


def test_peak_memory_is_that_of_the_process_itself():
    ballast = np.ones(2**24)  # 128 MiB of this process, which must not be counted
    code = (
        "import numpy as np; from benchmarks.engine import peak_rss_mib;"
        "before = peak_rss_mib(); x = np.ones(2**23); del x; print(before, peak_rss_mib())"
    )
    command, options = [sys.executable, "-c", code], {"capture_output": True, "text": True}
    told = subprocess.run(command, cwd=DOC, check=True, **options)
    before, after = map(float, told.stdout.split())
    assert 60 < after - before < 72  # the peak of 64 MiB, which is freed by now
    assert peak_rss_mib() > ballast.nbytes / 2**20


@pytest.mark.parametrize("name", ["sdr", "growth", "solvers", "randomized", "learners"])
def test_every_tiny_cell_is_measured(name):
    experiment = EXPERIMENTS[name]
    for cell in experiment.cells("tiny"):
        if experiment.excuse(cell.problem, cell.method) or cell.repeat:
            continue
        outcome = measure_cell(experiment, cell)
        assert outcome["status"] == "ok", (str(cell), outcome)
        assert min(outcome["seconds"]) >= 0
        assert outcome.get("sine", 0) < 1e-3
        json.dumps(outcome)


def test_end_to_end_and_resumed(tmp_path, capsys):
    path, page = tmp_path / "growth.jsonl", tmp_path / "growth.rst"
    run = ["run", "growth", "--profile", "tiny", "--out", str(path)]
    assert main(run) == 0
    assert "[2/2] growth n=100 d=12 sir #0: ok" in capsys.readouterr().out
    measured = path.read_bytes()
    assert main(run) == 0
    assert "2 of 2 cells already done" in capsys.readouterr().out
    assert path.read_bytes() == measured
    result = Store(path).read()[0]
    assert set(result["environment"]["threads"].values()) == {"1"}
    assert result["imported_mib"] <= result["peak_mib"]
    assert main(["report", str(path), "--profile", "tiny", "--rst", str(page)]) == 0
    told = page.read_text()
    assert f"python doc/benchmarks run growth --out {path}" in told
    assert "n, tiny" in told
