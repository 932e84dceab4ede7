"""Environment of the tests, set before numpy and scipy are imported."""

import os
import time
from contextlib import suppress
from importlib import import_module
from multiprocessing import get_all_start_methods, get_context, set_forkserver_preload
from threading import Lock

import pytest
from hypothesis import settings

os.environ.setdefault("SCIPY_ARRAY_API", "1")  # scikit-learn's conformance suite then skips nothing
os.environ.setdefault("MPLBACKEND", "Agg")
# The matrices here are small, and pytest-xdist already keeps the cores busy.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")
# Processes of the tests import the package: compiled once, and where they are forked, once.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
os.fsync = lambda file: None  # no test cuts the power, and waiting for the disk takes long
# In a fresh environment nothing is compiled: of two workers one begins at the other end.
if os.environ.get("PYTEST_XDIST_WORKER") == "gw1":
    for name in ("pandas", "matplotlib.pyplot", "polars", "distributed"):
        with suppress(ImportError):
            import_module(name)
METHOD = "forkserver" if "forkserver" in get_all_start_methods() else "spawn"
if METHOD == "forkserver":
    set_forkserver_preload(["skbo_silbo.integrations"])
os.environ["PYTHONHASHSEED"] = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"

# A busy machine fails no test, and a run tells of the change before it, not of the examples drawn;
# new examples are drawn by `--hypothesis-profile=searching`.
settings.register_profile("repeatable", deadline=None, derandomize=True, max_examples=20)
settings.register_profile("searching", deadline=None, max_examples=300)
settings.load_profile("repeatable")


@pytest.fixture
def path(tmp_path):
    """Where a journal is begun."""
    return tmp_path / "run.jsonl"


def _send(pipe, function, args):
    pipe.send((hash("a"), function(*args)))


@pytest.fixture
def elsewhere():
    """Return a function that calls another in a process with other hashes."""

    def call(function, *args):
        pipe, end = get_context(METHOD).Pipe()
        process = get_context(METHOD).Process(target=_send, args=(end, function, args))
        process.start()
        end.close()
        other, result = pipe.recv()
        process.join()
        assert other != hash("a")
        return result

    return call


@pytest.fixture
def few_draws(monkeypatch):
    """Few draws of shares and points on curves, for tests that look at no digit of them."""
    monkeypatch.setattr("skbo_silbo.sensitivity._input_model.N_MODELS", 4)
    monkeypatch.setattr("skbo_silbo.sensitivity._posterior_draws.N_FEATURES", 64)
    monkeypatch.setattr("skbo_silbo.inspection._evaluations.N_POINTS", 32)


class Clock:
    """`time.perf_counter`, which stands until it is moved."""

    def __init__(self):
        self.now, self.stands, self.lock = 0.0, False, Lock()

    def __call__(self):
        return self.now

    def move(self, seconds=1e6):
        self.now += seconds

    def run(self):
        """Go on until `stand` is called, however late it is that others look at it first."""
        end = time.monotonic() + 300
        while time.monotonic() < end:
            with self.lock:
                if self.stands:
                    return
                self.move()
            time.sleep(0.01)

    def stand(self):
        with self.lock:
            self.stands = True


@pytest.fixture
def clock(monkeypatch):
    """The clock of workers' limits: what hangs moves it, so that nothing else is ever late."""
    clock = Clock()
    monkeypatch.setattr(time, "perf_counter", clock)
    return clock
