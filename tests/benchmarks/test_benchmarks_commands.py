"""The command line: one clear line and an exit code, never a traceback."""

import doctest
import importlib
import json
import os
from pathlib import Path

import pytest
from interrupted import interrupt

from benchmarks.__main__ import main
from benchmarks.engine import Experiment, Grid, Store, run_command_line
from benchmarks.experiments import EXPERIMENTS

ROOT = Path(__file__).parents[2]
BENCHMARKS = ROOT / "doc" / "benchmarks"


def first_result(path):
    return json.loads((ROOT / path).read_text().splitlines()[0])


def missing_folder_of_the_page(folder):
    Store("one.jsonl").append(first_result("doc/benchmarks/overhead.jsonl"))
    page = "no_folder/page.rst"
    return [
        "report",
        "one.jsonl",
        "--rst",
        page,
    ], "no_folder/page-not-measured-yet.csv: No such file"


def out_is_a_folder(folder):
    return ["run", "growth", "--profile", "tiny", "--out", str(folder)], "Is a directory"


def unknown_experiment_in_a_file(folder):
    Store("odd.jsonl").append({"experiment": "gone"})
    return ["report", "odd.jsonl"], "odd.jsonl holds some of gone. Delete those lines"


def unknown_profile(folder):
    return ["run", "growth", "--profile", "huge", "--out", "a.jsonl"], "profile must be one of"


@pytest.mark.parametrize(
    "case",
    [
        missing_folder_of_the_page,
        out_is_a_folder,
        unknown_experiment_in_a_file,
        unknown_profile,
    ],
)
def test_every_mistake_is_one_line_on_stderr(case, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    command, reason = case(tmp_path)
    assert main(command) == 1
    told = capsys.readouterr().err
    assert told.startswith("FAILED ")
    assert reason in told
    assert told.count("\n") == 1


WAITING = """
import sys, signal
from benchmarks.engine import Experiment, Grid, run_command_line

def measure(problem, method, repeat):
    if repeat == 1:
        with open("here", "w") as pipe:
            pipe.write("now")
        signal.pause()
    return {}

def nothing(*_):
    return []

WAITS = Experiment("waits", {"one": ""}, {"full": Grid(({"n": 1},), 3)}, measure, nothing)

if __name__ == "__main__":
    import waiting
    sys.exit(run_command_line({"waits": waiting.WAITS}, ["run", "waits", "--out", "out.jsonl"]))
"""


@pytest.mark.bench
def test_keyboard_interrupt_keeps_measured_results(tmp_path):
    """The second cell says that it has begun, and waits there."""
    (tmp_path / "waiting.py").write_text(WAITING)
    path = os.pathsep.join(map(str, (ROOT / "doc", ROOT)))
    code, told = interrupt(["waiting.py"], tmp_path, PYTHONPATH=path)
    assert code == 130
    assert told == (
        "STOPPED by Ctrl-C; what was measured is kept, and the same command goes on from it.\n"
    )
    assert [r["status"] for r in Store(tmp_path / "out.jsonl").read()] == ["ok"]


def test_help_of_run_names_every_experiment_and_profile(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["run", "--help"])
    assert ended.value.code == 0
    told = capsys.readouterr().out
    for experiment in EXPERIMENTS.values():
        assert f"\n{experiment.name}  (" in told
        assert all(f"{profile}: " in told for profile in experiment.grids)
    assert main(["list"]) == 0
    assert capsys.readouterr().out.count("\n") == len(EXPERIMENTS)


MODULES = sorted(
    ".".join(path.relative_to(BENCHMARKS.parent).with_suffix("").parts)
    for path in BENCHMARKS.rglob("*.py")
    if ">>> " in path.read_text()
)


@pytest.mark.bench
@pytest.mark.parametrize("name", MODULES)
def test_examples_of_the_measurements_run(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_a_missing_peer_is_one_line(tmp_path, capsys):
    grid = {"full": Grid(({"n": 1, "d": 1},), 1)}
    rivals = Experiment("rivals", {"rival": "no-such-package"}, grid, None, None)
    command = ["run", "rivals", "--out", str(tmp_path / "a.jsonl")]
    assert run_command_line({"rivals": rivals}, command) == 1
    told = capsys.readouterr().err
    assert told.startswith("FAILED Experiment 'rivals' needs every peer: rival (package no-such")
    assert told.count("\n") == 1
