"""Command line of the benchmarks: interruption, help, and doctests of its modules."""

import doctest
import importlib
import os
from pathlib import Path

import pytest
from interrupted import interrupt

from benchmarks.__main__ import main
from benchmarks.engine import Store
from benchmarks.experiments import EXPERIMENTS

ROOT = Path(__file__).parents[2]
BENCHMARKS = ROOT / "doc" / "benchmarks"


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
    """The second cell signals when it has started, and waits."""
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
