"""Environment of the tests, set before numpy and scipy are imported."""

import os
from multiprocessing import get_all_start_methods, set_forkserver_preload

import pytest
from hypothesis import settings

os.environ.setdefault("SCIPY_ARRAY_API", "1")  # scikit-learn's conformance suite then skips nothing
os.environ.setdefault("MPLBACKEND", "Agg")
# The matrices here are small, and pytest-xdist already keeps the cores busy.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")
# Processes of the tests import the package: compiled once, and where they are forked, once.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
if "forkserver" in get_all_start_methods():
    set_forkserver_preload(["skbo_silbo.integrations"])

# A busy machine fails no test, and a run tells of the change before it, not of the examples drawn;
# new examples are drawn by `--hypothesis-profile=searching`.
settings.register_profile("repeatable", deadline=None, derandomize=True, max_examples=20)
settings.register_profile("searching", deadline=None, max_examples=300)
settings.load_profile("repeatable")


@pytest.fixture
def path(tmp_path):
    """Where a journal is begun."""
    return tmp_path / "run.jsonl"
