"""Comparison of optimisers on a user-defined objective: `python -m skbo_silbo.benchmarks`."""

import json
import os
import re
import sys
from pathlib import Path

import pytest
from interrupted import interrupt
from joblib.externals.loky import get_reusable_executor

from skbo_silbo.benchmarks.__main__ import main

ROOT = Path(__file__).parents[2]
MODULE = """
import os, signal
from skbo_silbo.problems import Problem, noisy

BOUNDS = [(0.0, 2.0), (-1.0, 1.0)]
NUMBER = 3

def bowl(x):
    return float(((x - 0.5) ** 2).sum())

def rows(X):
    return ((X - 0.5) ** 2).sum(axis=1) - 7.0

def dies(x):
    raise OverflowError("too hot")

calls = []

def waits(x):
    calls.append(x)
    if len(calls) == 8:  # in the second run of five evaluations
        with open("here", "w") as pipe:
            pipe.write("now")
        signal.pause()
    return bowl(x)

problem = Problem("bowl", rows, BOUNDS, optimum=-7.0, optimisers=[[0.5, 0.5]])
loud = noisy(problem, 0.1, random_state=0)
"""


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    """Run each test in a directory that contains a user's module."""
    (tmp_path / "my_simulator.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), str(tmp_path)]))
    yield tmp_path
    sys.modules.pop("my_simulator", None)


def results():
    return list(map(json.loads, Path("own.jsonl").read_text().splitlines()))


def compare(*words, out="own.jsonl"):
    return main([*words, "--out", out])


@pytest.mark.parametrize("jobs", ["1", pytest.param("2", marks=pytest.mark.slow)])
def test_custom_objective_is_compared_with_peers(capsys, jobs):
    words = ["my_simulator:bowl", "--bounds", "my_simulator:BOUNDS", "--calls", "10", "--jobs"]
    words += [jobs, "--repeats", "2", "--methods", "silbo", "random", "sobol", "cma"]
    get_reusable_executor().shutdown()  # reused workers would be in another directory
    assert compare(*words) == 0
    ran = results()
    assert {(r["method"], r["seed"]) for r in ran} == {
        (method, seed) for method in ("silbo", "random", "sobol", "cma") for seed in (0, 1)
    }
    assert all(0 <= r["steps"][-1][1] < 1.0 for r in ran)
    output = capsys.readouterr().out
    table = output[output.index("my_simulator:bowl, 2 inputs, 10 evaluations") :].splitlines()
    assert table[3].split()[0] == "silbo"
    means = [float(line.split()[2]) for line in table[3:7]]
    assert means == sorted(means)


def test_finished_runs_are_not_repeated(capsys):
    words = ["my_simulator:bowl", "--bounds", "[[0, 2], [-1, 1]]", "--calls", "5", "--methods"]
    assert compare(*words, "random", "--repeats", "1") == 0
    first = Path("own.jsonl").read_bytes()
    assert compare(*words, "random", "cma", "--repeats", "1") == 0
    assert "1 of 2 runs already done" in capsys.readouterr().out
    assert Path("own.jsonl").read_bytes().startswith(first)
    assert len(results()) == 2


@pytest.mark.parametrize("name", ["problem", "loud"])
def test_custom_problem_provides_bounds_optimum_and_noise(capsys, name):
    words = [f"my_simulator:{name}", "--calls", "5", "--repeats", "1", "--methods", "random"]
    assert compare(*words) == 0
    assert "2 inputs, 5 evaluations, optimum -7" in capsys.readouterr().out
    [result] = results()
    assert result["steps"][-1][1] > -7.0  # the value without noise


def test_failing_objective_is_reported_and_rerun(capsys):
    words = ["my_simulator:dies", "--bounds", "my_simulator:BOUNDS", "--methods", "sobol"]
    for _ in range(2):
        assert compare(*words, "--repeats", "1") == 1
        output = capsys.readouterr()
        assert output.err == "FAILED sobol, seed 0: OverflowError: too hot\n"
        assert "0 of 1 runs already done" in output.out


@pytest.mark.quick
@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["my_simulator:bowl"], "of shape (d,) with --bounds"),
        (["my_simulator:problem", "--bounds", "[[0, 1]]"], "or a Problem without --bounds"),
        (["my_simulator"], "my_simulator of type module"),
        (["no_such_module:f"], "objective must be MODULE:NAME"),
        (["my_simulator:NUMBER"], "my_simulator:NUMBER of type int"),
        (["my_simulator:bowl", "--bounds", "[[0, 1]"], "bounds must be pairs in JSON"),
        (["my_simulator:bowl", "--bounds", "[[1, 0]]"], "bounds must be finite with lower <"),
        (["my_simulator:bowl", "--bounds", "my_simulator:NO"], "bounds must be MODULE:NAME"),
        (["my_simulator:problem", "--calls", "0"], "--calls must be at least 1, got 0"),
    ],
)
def test_invalid_command_prints_one_line(capsys, own_folder, words, reason):
    assert compare(*words) == 1
    output = capsys.readouterr().err
    assert output.startswith("FAILED ")
    assert reason in output
    assert output.count("\n") == 1
    assert not (own_folder / "own.jsonl").exists()


def test_unwritable_file_prints_one_line(capsys, own_folder):
    words = ["my_simulator:problem", "--calls", "3", "--repeats", "1", "--methods", "random"]
    assert compare(*words, out=str(own_folder)) == 1
    assert re.fullmatch(r"FAILED .*: Is a directory\n", capsys.readouterr().err)


@pytest.mark.quick
def test_missing_peer_prints_one_line(capsys, monkeypatch):
    monkeypatch.setattr("skbo_silbo.benchmarks._compare.find_spec", lambda name: None)
    assert compare("my_simulator:problem", "--methods", "silbo", "cma", "optuna-tpe") == 1
    output = capsys.readouterr().err
    assert "cma (module cma), optuna-tpe (module optuna) cannot be imported" in output


def test_ctrl_c_keeps_finished_runs(own_folder):
    """The objective signals when the second run has started, and waits."""
    words = ["my_simulator:waits", "--bounds", "my_simulator:BOUNDS", "--calls", "5"]
    words += ["--methods", "random", "--out", "own.jsonl"]
    code, output = interrupt(["-m", "skbo_silbo.benchmarks", *words], own_folder)
    assert code == 130
    assert output == "INTERRUPTED. Finished runs are kept: rerun the command to continue.\n"
    assert [r["status"] for r in results()] == ["ok"]
