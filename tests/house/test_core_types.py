"""The suite on other kernels of OpenBLAS than this processor's own, behind the marker `slow`."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CORE_TYPES = ("Prescott", "Haswell", "Zen", "SkylakeX")
NUMERICS = (
    "test_gaussian_process.py",
    "test_preimages.py",
    "test_second_moments.py",
    "test_semi_sir.py",
    "test_solvers.py",
    "test_surrogate.py",
)
STARTS = (
    "import numpy as np; A = np.ones((300, 300)); np.linalg.cholesky(A @ A + 1e6 * np.eye(300))"
)

pytestmark = pytest.mark.slow


def run_under(core_type, n_threads, *command):
    threads = {f"{name}_NUM_THREADS": str(n_threads) for name in ("OMP", "OPENBLAS", "MKL")}
    return subprocess.run(
        [sys.executable, *command],
        cwd=ROOT,
        env=os.environ | threads | {"OPENBLAS_CORETYPE": core_type},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(params=CORE_TYPES)
def core_type(request):
    if run_under(request.param, 1, "-c", STARTS).returncode:
        pytest.skip(f"the {request.param} kernels do not start on this processor")
    return request.param


def passes(result):
    assert result.returncode == 0, result.stdout[-4000:] + result.stderr[-2000:]


def test_the_suite_passes_on_every_kernel(core_type):
    passes(run_under(core_type, 1, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", "2"))


@pytest.mark.parametrize("n_threads", [1, 2])
def test_the_numerics_pass_with_one_thread_and_two(core_type, n_threads):
    files = [str(path) for name in NUMERICS for path in (ROOT / "tests").rglob(name)]
    command = ("-m", "pytest", "-q", "-p", "no:cacheprovider", *files)
    passes(run_under(core_type, n_threads, *command))
