"""Long checks of what is installed and built, behind the marker `slow`."""

import os
import re
import subprocess
import sys
import tomllib
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]

pytestmark = pytest.mark.slow


def run(*command, **kwargs):
    result = subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, check=False, **kwargs
    )
    assert result.returncode == 0, result.stdout[-4000:] + result.stderr[-4000:]
    return result.stdout


@pytest.fixture
def fresh_python(tmp_path):
    venv.create(tmp_path / "venv", with_pip=True)
    return tmp_path / "venv" / "bin" / "python"


def lower_bounds(requirements):
    """Turn "numpy>=1.26" into "numpy==1.26.*"."""
    pinned = (re.sub(r">=([\d.]+)$", r"==\1.*", line) for line in requirements)
    return [line for line in pinned if line.endswith(".*")]


def test_wheel_installs_and_imports(fresh_python, tmp_path):
    run(sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", tmp_path, ROOT)
    (wheel,) = tmp_path.glob("skbo_silbo-*.whl")
    run(fresh_python, "-m", "pip", "install", "-q", wheel)
    code = "import skbo_silbo, pathlib; p = pathlib.Path(skbo_silbo.__file__).parent;"
    code += "assert (p / 'py.typed').exists(); print(skbo_silbo.__version__)"
    assert run(fresh_python, "-c", code, cwd=tmp_path).strip() == PROJECT["version"]


def test_oldest_dependencies(fresh_python):
    extras = PROJECT["optional-dependencies"]
    pins = lower_bounds(PROJECT["dependencies"] + extras["plot"] + extras["frames"])
    pins.append("pyparsing<3.2")  # matplotlib 3.8 calls names that later ones deprecate
    run(fresh_python, "-m", "pip", "install", "-q", "-e", f"{ROOT}[test]", *pins)
    run(fresh_python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests", cwd=ROOT)


@pytest.mark.parametrize("gallery", ["0", "1"])
def test_documentation_builds_without_a_warning(gallery, tmp_path):
    environment = os.environ | {"SKBO_SILBO_GALLERY": gallery}
    run(
        *(sys.executable, "-m", "sphinx", "-W", "--keep-going", "-E", "-b", "html"),
        *("doc", tmp_path),
        cwd=ROOT,
        env=environment,
    )
