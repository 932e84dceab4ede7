"""Rules that concern the whole package: layers, lint, light imports, annotations."""

import ast
import importlib
import inspect
import json
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import skbo_silbo

ROOT = Path(__file__).parents[2]
READ_AS_DATA = {"json.loads", "tomllib.loads", "re.compile"}
HEAVY = ("numba", "pynndescent", "cma", "matplotlib", "pandas", "polars", "optuna", "torch", "tqdm")


def run(*command, folder=ROOT):
    return subprocess.run(
        [sys.executable, *command], cwd=folder, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(
    ("folder", "config"), [("", "setup.cfg"), ("doc", "benchmarks/layers.cfg")]
)
def test_imports_follow_layers(folder, config):
    code = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    result = run("-c", code, folder=ROOT / folder)
    assert result.returncode == 0, result.stdout + result.stderr


def test_package_never_evaluates_or_unpickles_files():
    running = {"eval", "exec", "Unpickler", "loads", "load", "compile"}
    found = []
    for path in (ROOT / "skbo_silbo").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call):
                called = ast.unparse(node.func)
                if called.split(".")[-1] in running and called not in READ_AS_DATA:
                    found.append(f"{path}:{node.lineno} {called}")
    assert found == []


@pytest.mark.parametrize("command", [("check",), ("format", "--check")])
def test_lint(command):
    result = run("-m", "ruff", *command, "skbo_silbo", "tests", "examples", "doc")
    assert result.returncode == 0, result.stdout + result.stderr


def test_no_text_has_conflict_markers():
    folders = [ROOT / name for name in ("skbo_silbo", "tests", "doc", "examples")]
    suffixes = {".py", ".rst", ".toml", ".csv", ".md"}
    files = [*ROOT.glob("*.md"), *(file for folder in folders for file in folder.rglob("*.*"))]
    lines = [line for f in files if f.suffix in suffixes for line in f.read_bytes().splitlines()]
    assert len(lines) > 40_000
    assert [line for line in lines if line.startswith((b"<" * 7 + b" ", b">" * 7 + b" "))] == []


def test_import_is_light():
    """scikit-learn 1.9 loads pandas by itself where it is installed: what it loads is not ours.

    Hints of the displays are read without matplotlib.
    """
    code = f"""
import json, sys, typing, sklearn.utils
before = set(sys.modules)
import skbo_silbo.inspection as inspection
for display in [getattr(inspection, name) for name in inspection.__all__ if "Display" in name]:
    for method in ("__init__", "from_result", "from_estimator", "plot"):
        typing.get_type_hints(getattr(display, method, display))
print(json.dumps([name for name in {HEAVY!r} if name in set(sys.modules) - before]))
"""
    result = run("-c", code)
    assert json.loads(result.stdout) == [], result.stderr


def test_public_names_have_example():
    public = {name: getattr(skbo_silbo, name) for name in skbo_silbo.__all__}
    for name, thing in public.items():
        is_exception = isinstance(thing, type) and issubclass(thing, Exception)
        assert is_exception or ">>>" in thing.__doc__, f"{name} has no example"


def public_functions():
    """Yield name and function of every public function, method and property of the packages."""
    rooms = {module.name for module in pkgutil.iter_modules(skbo_silbo.__path__)}
    public_rooms = sorted(room for room in rooms if not room.startswith("_"))
    for package in ["skbo_silbo", *(f"skbo_silbo.{room}" for room in public_rooms)]:
        module = importlib.import_module(package)
        for name in getattr(module, "__all__", ()):
            public = getattr(module, name)
            members = [public] if inspect.isfunction(public) else []
            if inspect.isclass(public):
                known = {n for n in dir(public) if not n.startswith("_")} | {"__init__", "__call__"}
                members = [inspect.getattr_static(public, n, None) for n in known]
            for member in members:
                function = getattr(member, "__func__", member)
                function = function.fget if isinstance(function, property) else function
                function = getattr(function, "func", function)  # of a cached_property
                if inspect.isfunction(function) and function.__module__.startswith("skbo_silbo"):
                    yield f"{package}.{name}: {function.__qualname__}", function


def test_public_functions_are_annotated():
    pytest.importorskip("optuna")
    functions = list(public_functions())
    assert len(functions) > 400
    for name, function in functions:
        named = {*inspect.signature(function).parameters, "return"} - {"self", "cls"}
        assert named <= inspect.get_annotations(function).keys(), name


def test_init_files_only_import():
    for path in (ROOT / "skbo_silbo").rglob("__init__.py"):
        lines = path.read_text().splitlines()
        assert not any(line.startswith(("def ", "class ", "if ", "for ")) for line in lines), path


def test_every_package_has_quick_test():
    packages = {path.parent.name for path in (ROOT / "skbo_silbo").glob("*/__init__.py")}
    quick = {
        path.parent.name
        for path in (ROOT / "tests").glob("*/test_*.py")
        if "pytest.mark.quick" in path.read_text()
    }
    assert {name.lstrip("_") for name in packages} <= quick
