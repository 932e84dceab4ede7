"""Time and memory of calls, and the circumstances under which they were taken."""

import os
import platform
import re
import resource
import subprocess
import sys
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGES = (
    "skbo_silbo",
    "numpy",
    "scipy",
    "scikit-learn",
    "statsmodels",
    "pynndescent",
    "numba",
    "cma",
    "optuna",
    "scikit-optimize",
    "torch",
    "gpytorch",
    "botorch",
)
THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def peak_rss_mib():
    """Largest resident memory of this process so far, in MiB.

    Linux: ``VmHWM``. ``ru_maxrss`` would there include the process that started this one, because
    it survives exec; elsewhere it is what is returned.
    """
    status = Path("/proc/self/status")
    if status.exists():
        return int(re.search(r"VmHWM:\s+(\d+) kB", status.read_text())[1]) / 1024
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**20


def time_call(call):
    """CPU seconds of this process and wall seconds of one call, and what it returned.

    With threads fixed to one, CPU seconds are what the wall clock shows on an idle machine; they
    stay so when other processes want the same core.
    """
    wall, cpu = time.perf_counter(), time.process_time()
    result = call()
    return time.process_time() - cpu, time.perf_counter() - wall, result


def alternate(calls, *, budget_seconds, min_rounds=2, max_rounds=15):
    """Time several calls in turn, so that whatever else the machine does falls on all alike.

    Parameters
    ----------
    calls : dict
        Name to a callable without arguments.
    budget_seconds : float
        Wall seconds after which no further round starts, once `min_rounds` are done.
    min_rounds, max_rounds : int

    Returns
    -------
    dict
        Name to a list of CPU seconds, one a round.
    """
    seconds = {name: [] for name in calls}
    stop = time.perf_counter() + budget_seconds
    for done in range(max_rounds):
        if done >= min_rounds and time.perf_counter() > stop:
            break
        for name, call in calls.items():
            seconds[name].append(time_call(call)[0])
    return seconds


def environment():
    """Machine, versions, threads and revision, as JSON values."""
    return {
        "cpu": _cpu_name(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "versions": {name: _version(name) for name in PACKAGES if _version(name)},
        "threads": {name: os.environ.get(name) for name in THREAD_VARIABLES},
        "revision": _revision(),
    }


def _cpu_name():
    info = Path("/proc/cpuinfo")
    found = re.search(r"model name\s*: (.+)", info.read_text()) if info.exists() else None
    return found[1] if found else platform.processor()


def _version(package):
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _revision():
    """Commit of the checkout that holds this file, "+" after it when `skbo_silbo` differs."""
    folder = Path(__file__).parents[1]
    described = subprocess.run(
        ["git", "describe", "--always", "--exclude", "*"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    if described.returncode:
        return None
    changed = subprocess.run(["git", "diff", "--quiet", "HEAD", "--", "."], cwd=folder, check=False)
    return described.stdout.strip() + "+" * bool(changed.returncode)
