"""What is built and installed; the long checks are behind the marker `slow`."""

import re
import subprocess
import tarfile
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT = PYPROJECT["project"]
SMOKE = (
    "import skbo_silbo as s; print(s.__version__);"
    "print(s.minimize(lambda x: (x**2).sum(), [(-1, 1)] * 3, n_calls=12, random_state=0).nfev)"
)


def run(*command, **kwargs):
    result = subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, check=False, **kwargs
    )
    assert result.returncode == 0, result.stdout[-4000:] + result.stderr[-4000:]
    return result.stdout


@pytest.fixture
def fresh_python(tmp_path, monkeypatch):
    monkeypatch.delenv("PYTHONPATH", raising=False)  # it may name a checkout with a version
    venv.create(tmp_path / "venv", with_pip=True)
    return tmp_path / "venv" / "bin" / "python"


@pytest.fixture
def source_tree(tmp_path):
    """What git would hand out of the working tree, without git's records."""
    tree = tmp_path / "tree"
    tracked = run("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", cwd=ROOT)
    for name in filter(None, tracked.split("\0")):
        if (ROOT / name).exists():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            (tree / name).write_bytes((ROOT / name).read_bytes())
    return tree


def commit_and_tag(tree, tag):
    user = ("-c", "user.name=test", "-c", "user.email=test@example.org")
    run("git", "init", "-q", cwd=tree)
    run("git", "add", "-A", cwd=tree)
    run("git", *user, "commit", "-qm", "all", cwd=tree)
    run("git", *user, "tag", "-m", tag, tag, cwd=tree)


def test_the_conda_recipe_requires_what_the_package_requires():
    recipe = (ROOT / "doc" / "conda" / "meta.yaml").read_text()
    blocks = re.findall(r"^  (host|run):\n((?:    - .+\n)+)", recipe, re.M)
    parts = {part: re.findall(r"- (.+)", lines) for part, lines in blocks}
    plain = {part: {line.replace(" ", "") for line in lines} for part, lines in parts.items()}
    python = f"python{PROJECT['requires-python']}"
    assert plain["run"] == {python, *PROJECT["dependencies"]}
    assert plain["host"] == {python, "pip", *PYPROJECT["build-system"]["requires"]}


def test_conda_recipe_takes_version_from_tag():
    recipe = (ROOT / "doc" / "conda" / "meta.yaml").read_text()
    (without_a_tag,) = re.findall(r'environ\.get\("GIT_DESCRIBE_TAG", "(.+?)"\)', recipe)
    assert without_a_tag == PYPROJECT["tool"]["setuptools_scm"]["fallback_version"]


@pytest.mark.slow
def test_tag_names_version_of_complete_distributions(source_tree, fresh_python, tmp_path):
    commit_and_tag(source_tree, "v7.8.9")
    run(fresh_python, "-m", "pip", "install", "-q", "build", "twine")
    run(fresh_python, "-m", "build", "-o", tmp_path / "dist", source_tree)
    wheel, sdist = sorted((tmp_path / "dist").iterdir(), key=lambda path: path.suffix != ".whl")
    assert wheel.name.startswith("skbo_silbo-7.8.9-")
    assert sdist.name == "skbo_silbo-7.8.9.tar.gz"
    run(fresh_python, "-m", "twine", "check", "--strict", wheel, sdist)
    names = zipfile.ZipFile(wheel).namelist()
    assert "skbo_silbo/py.typed" in names
    assert {name.split("/")[0] for name in names} == {"skbo_silbo", "skbo_silbo-7.8.9.dist-info"}
    assert not [name for name in names if "experiments" in name]
    with tarfile.open(sdist) as archive:
        assert "skbo_silbo-7.8.9/tests/house/test_install.py" in archive.getnames()


@pytest.mark.slow
def test_wheel_without_git_installs_and_works(source_tree, fresh_python, tmp_path):
    run(fresh_python, "-m", "pip", "wheel", "-q", "--no-deps", "-w", tmp_path, source_tree)
    (wheel,) = tmp_path.glob("skbo_silbo-*.whl")
    run(fresh_python, "-m", "pip", "install", "-q", wheel)
    version, nfev = run(fresh_python, "-c", SMOKE, cwd=tmp_path).split()
    assert version == PYPROJECT["tool"]["setuptools_scm"]["fallback_version"]
    assert nfev == "12"
