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
settings.register_profile("repeatable", deadline=None, derandomize=True)
settings.register_profile("searching", deadline=None, max_examples=300)
settings.load_profile("repeatable")


# A look at every package in a minute and a half on two cores: `pytest -m quick`.
QUICK = frozenset(
    {
        "test_acquisition.py",
        "test_benchmarks_tables.py",
        "test_executors.py",
        "test_gaussian_process.py",
        "test_public_names.py",
        "test_inspection_scree.py",
        "test_descriptions.py",
        "test_optimizers_as_run.py",
        "test_optimizers_doors.py",
        "test_optimizers_pending.py",
        "test_optimizers_subspace.py",
        "test_optuna_storages.py",
        "test_pace.py",
        "test_preimages.py",
        "test_problems.py",
        "test_recommended.py",
        "test_search_cv_options.py",
        "test_sketches.py",
        "test_slices.py",
        "test_solvers.py",
        "test_space.py",
        "test_space_domains.py",
        "test_surrogate.py",
        "test_testing.py",
        "test_warp.py",
    }
)


@pytest.fixture
def path(tmp_path):
    """Where a journal is begun."""
    return tmp_path / "run.jsonl"


def pytest_collection_modifyitems(items):
    """Mark the tests of the files that are quick."""
    for item in items:
        if item.path.name in QUICK and "slow" not in item.keywords:
            item.add_marker(pytest.mark.quick)
