"""The command line: one clear line and an exit code, never a traceback; a user's own objective."""

import doctest
import importlib
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from skbo_silbo.benchmarks.__main__ import main
from skbo_silbo.benchmarks.engine import Experiment, Grid, Store, run_command_line
from skbo_silbo.benchmarks.engine._cell_process import _start
from skbo_silbo.benchmarks.experiments import EXPERIMENTS, OWN_MEASUREMENTS
from skbo_silbo.benchmarks.experiments._registry import find_experiments
from skbo_silbo.benchmarks.search.problem_data import make_problem
from skbo_silbo.benchmarks.search.search_run import regrets

ROOT = Path(__file__).parents[2]
MODULE = """
BOUNDS = [(0.0, 2.0), (-1.0, 1.0)]
NUMBER = 3

def bowl(x):
    return float(((x - 0.5) ** 2).sum())

def rows(X):
    return ((X - 0.5) ** 2).sum(axis=1) - 7.0

from skbo_silbo.problems import Problem

problem = Problem("bowl", rows, BOUNDS, optimum=-7.0, optimisers=[[0.5, 0.5]])
"""
METHODS = ["--only", "random", "cma"]


@pytest.fixture
def own_folder(tmp_path, monkeypatch):
    """A folder with a user's module, in which commands are started."""
    (tmp_path / "my_simulator.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    return tmp_path


def test_an_objective_of_ones_own_stands_beside_the_peers(own_folder, capsys):
    pytest.importorskip("matplotlib")
    asked = ["--objective", "my_simulator:bowl", "--bounds", "my_simulator:BOUNDS"]
    command = ["run", "own", *asked, "--calls", "15", "--repeats", "1", *METHODS]
    assert main([*command, "--out", "own.jsonl"]) == 0
    results = Store("own.jsonl").read()
    assert [r["method"] for r in results] == METHODS[1:]
    assert all(0 <= r["steps"][-1][1] < 1.0 for r in results)
    assert main([*command, "--out", "own.jsonl"]) == 0
    assert "2 of 2 cells already done" in capsys.readouterr().out
    assert main(["report", "own.jsonl", "--rst", "own.rst"]) == 0
    page = (own_folder / "own.rst").read_text()
    assert "own my_simulator:bowl, d = 2, 15 evaluations" in page
    told = page.split("run own --out own.jsonl")[1].splitlines()[0]
    assert told == f" {' '.join(command[2:])}"


def test_a_problem_of_ones_own_brings_its_bounds_and_its_optimum(own_folder):
    asked = ["--objective", "my_simulator:problem", "--calls", "5", "--repeats", "1"]
    command = ["run", "own", *asked, "--only", "random"]
    assert main([*command, "--out", "own.jsonl"]) == 0
    [result] = Store("own.jsonl").read()
    assert result["optimum"] == -7.0
    assert result["problem"] == {"kind": "own", "function": "my_simulator:problem", "d": 2, "n": 5}
    assert 0.0 <= regrets(result)[-1] < 2.0
    assert main(["report", "own.jsonl", "--rst", "own.rst"]) == 0
    assert f"run own --out own.jsonl {' '.join(command[2:])}" in Path("own.rst").read_text()
    problem = {"kind": "own", "function": "my_simulator:problem", "bounds": "my_simulator:BOUNDS"}
    assert make_problem(problem, 0).optimum == -7.0


def test_bounds_are_json_or_named(own_folder):
    problem = {"kind": "own", "function": "my_simulator:bowl", "bounds": "my_simulator:BOUNDS"}
    named = make_problem(problem, 0)
    told = make_problem({**problem, "bounds": "[[0, 2], [-1, 1]]"}, 0)
    assert named.bounds.tolist() == told.bounds.tolist() == [[0, 2], [-1, 1]]
    assert told([0.5, 1.0]) == 0.25


@pytest.mark.parametrize(
    ("objective", "bounds", "reason"),
    [
        (None, "[[0, 1]]", "needs --objective MODULE:FUNCTION and --bounds"),
        ("my_simulator:bowl", None, "bounds must be given for a function"),
        ("my_simulator:problem", "[[0, 1], [-1, 1]]", "bounds must be those of the Problem my_si"),
        ("my_simulator", "[[0, 1]]", "objective must be MODULE:NAME: got 'my_simulator'"),
        ("no_such_module:f", "[[0, 1]]", "objective must name a module that can be imported"),
        ("my_simulator:bwl", "[[0, 1]]", "objective must be in its module"),
        ("my_simulator:NUMBER", "[[0, 1]]", "objective must be a function"),
        ("my_simulator:bowl", "[[0, 1]", "bounds must be JSON pairs"),
        ("my_simulator:bowl", "[[1, 0]]", "bounds must be finite with lower < upper"),
        ("my_simulator:bowl", "my_simulator:NONE", "bounds must be in its module"),
    ],
)
def test_what_cannot_be_run_is_said_before_anything_is_measured(
    own_folder, capsys, objective, bounds, reason
):
    asked = ["--objective", objective] if objective else []
    asked += ["--bounds", bounds] if bounds else []
    assert main(["run", "own", *asked, "--out", "own.jsonl"]) == 1
    told = capsys.readouterr().err
    assert told.startswith("FAILED ")
    assert reason in told
    assert told.count("\n") == 1
    assert not (own_folder / "own.jsonl").exists()


def test_an_experiment_with_fixed_problems_takes_no_objective(tmp_path, capsys):
    out = str(tmp_path / "sdr.jsonl")
    assert main(["run", "sdr", "--out", out, "--objective", "a:b", "--calls", "3"]) == 1
    assert "objective, calls must not be given with experiment 'sdr'" in capsys.readouterr().err


def first_result(path):
    return json.loads((ROOT / path).read_text().splitlines()[0])


def missing_results(folder):
    return ["report", "none.jsonl"], "none.jsonl holds none. Run an experiment first."


def missing_folder_of_the_page(folder):
    Store("one.jsonl").append(first_result("doc/benchmarks/overhead.jsonl"))
    page = "no_folder/page.rst"
    return ["report", "one.jsonl", "--rst", page], f"{page}: No such file"


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
        missing_results,
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


def test_ctrl_c_waits_until_a_cell_has_begun_whichever_thread_takes_the_signal():
    begun = []

    class Interrupted:
        def start(self):
            thread = threading.Thread(target=signal.raise_signal, args=(signal.SIGINT,))
            thread.start()
            thread.join()
            begun.append(self)

    former = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may ignore it
    try:
        let_through = _start(Interrupted())
        assert begun
        with pytest.raises(KeyboardInterrupt):
            let_through()
    finally:
        signal.signal(signal.SIGINT, former)


def test_ctrl_c_keeps_what_was_measured_and_says_so(tmp_path):
    out = tmp_path / "sdr.jsonl"
    process = subprocess.Popen(
        [sys.executable, "-m", "skbo_silbo.benchmarks", "run", "sdr", "--out", str(out)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout.readline() == "sdr: 0 of 72 cells already done\n"
    while not (out.exists() and out.read_bytes().endswith(b"\n")):  # at first it is empty
        assert process.poll() is None
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the cell too
    _, told = process.communicate(timeout=60)
    assert process.returncode == 130
    assert told == (
        "STOPPED by Ctrl-C; what was measured is kept, and the same command goes on from it.\n"
    )
    assert {r["status"] for r in Store(out).read()} == {"ok"}


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


def test_an_installation_has_what_does_not_need_a_checkout_and_says_what_it_lacks(tmp_path):
    """The package alone is copied, as a wheel holds it: no doc folder stands beside it."""
    shutil.copytree(ROOT / "skbo_silbo", tmp_path / "skbo_silbo")
    said = subprocess.run(
        [sys.executable, "-m", "skbo_silbo.benchmarks", "list"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    names = [line.split("  (")[0] for line in said[:-1]]
    assert names == [
        "methods",
        "own",
        "paper",
        "paper-embedding",
        "public",
        "public-active",
        "public-long",
    ]
    assert "are not installed" in said[-1]
    assert "Run this command from a checkout" in said[-1]


@pytest.mark.parametrize("name", sorted(path.stem for path in OWN_MEASUREMENTS.rglob("_[a-z]*.py")))
def test_examples_of_the_projects_own_measurements_run(name):
    [found] = OWN_MEASUREMENTS.rglob(f"{name}.py")
    folder = "" if found.parent == OWN_MEASUREMENTS else f".{found.parent.name}"
    module = importlib.import_module(f"skbo_silbo.benchmarks.experiments{folder}.{name}")
    assert Path(module.__file__) == found
    assert doctest.testmod(module).failed == 0


def test_a_new_file_is_a_new_experiment(tmp_path, monkeypatch):
    package = tmp_path / "made_up_experiments"
    package.mkdir()
    imported = "from skbo_silbo.benchmarks.engine import Experiment"
    text = imported + "\nONE = Experiment({!r}, {{}}, {{}}, 0, 0)\n"
    (package / "__init__.py").write_text("")
    (package / "_first.py").write_text(text.format("zebra"))
    (package / "_second.py").write_text(text.format("ape"))
    (package / "script.py").write_text("import a_package_that_is_not_installed")
    monkeypatch.syspath_prepend(tmp_path)
    assert list(find_experiments(package.name, [str(package)])) == ["ape", "zebra"]
    (package / "_third.py").write_text(text.format("ape"))
    with pytest.raises(ValueError, match="name of an experiment must be its own: 'ape'"):
        find_experiments(package.name, [str(package)])


def test_an_experiment_of_the_checkout_takes_the_place_of_that_of_the_package(
    tmp_path, monkeypatch
):
    folders = [tmp_path / "shipped", tmp_path / "beside"]
    text = "from skbo_silbo.benchmarks.engine import Experiment\n"
    for folder in folders:
        folder.mkdir()
        one = f"ONE = Experiment('ape', {{}}, {{}}, 0, 0, about={folder.name!r})\n"
        (folder / f"_{folder.name}.py").write_text(text + one)
    init = f"__path__.append({str(folders[1])!r})\n"
    (folders[0] / "__init__.py").write_text(init)
    monkeypatch.syspath_prepend(tmp_path)
    found = find_experiments("shipped", list(map(str, folders)))
    assert found["ape"].about == "beside"
    assert EXPERIMENTS["paper"].figures.__module__.endswith("._paper_picture")


def test_no_two_files_share_a_name():
    rooms = (ROOT / "skbo_silbo/benchmarks", OWN_MEASUREMENTS)
    paths = [path for room in rooms for path in room.rglob("_[a-z]*.py")]
    others = [p for p in (ROOT / "skbo_silbo").rglob("_[a-z]*.py") if p not in paths]
    assert len({p.name for p in paths}) == len(paths)
    assert {p.name for p in paths} & {p.name for p in others} == set()


def test_a_missing_peer_is_one_line(tmp_path, capsys):
    grid = {"full": Grid(({"n": 1, "d": 1},), 1)}
    rivals = Experiment("rivals", {"rival": "no-such-package"}, grid, None, None)
    command = ["run", "rivals", "--out", str(tmp_path / "a.jsonl")]
    assert run_command_line({"rivals": rivals}, command) == 1
    told = capsys.readouterr().err
    assert told.startswith("FAILED Experiment 'rivals' needs every peer: rival (package no-such")
    assert told.count("\n") == 1
