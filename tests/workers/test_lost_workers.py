"""Which exceptions say that a worker was lost, and how odd exceptions are put into words."""

import sys
from concurrent.futures import BrokenExecutor, CancelledError
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress

import pytest
from joblib.externals.loky.process_executor import TerminatedWorkerError
from worker_parts import FOREIGN_LOSSES, is_loss

from skbo_silbo import minimize
from skbo_silbo.workers import LostWorkerError

pytestmark = pytest.mark.quick


class NoRepr(Exception):
    def __repr__(self):
        raise RuntimeError("no words")

    __str__ = __repr__


@pytest.mark.parametrize(
    "error",
    [BrokenExecutor(), BrokenProcessPool(), TerminatedWorkerError(), CancelledError()],
)
def test_what_executors_raise_is_a_loss(error):
    assert is_loss(error)
    assert is_loss(LostWorkerError())
    assert not is_loss(OSError())


@pytest.mark.parametrize(("module", "name"), sorted(FOREIGN_LOSSES))
def test_dask_and_ray_losses_are_known_by_name(module, name):
    """And the names are theirs, where they are installed."""
    known = type(name, (Exception,), {"__module__": module})
    assert is_loss(type("Derived", (known,), {})())
    with suppress(ImportError):
        __import__(module)
        assert issubclass(getattr(sys.modules[module], name), Exception)


def test_loss_raised_by_function_is_ordinary_error(tmp_path):
    path, points = tmp_path / "run.jsonl", []
    options = {"method": "random", "n_calls": 5, "journal": path, "random_state": 0}

    def func(x):
        points.append(x.copy())
        if (x == points[0]).all():
            raise NoRepr
        return float(x[0])

    for n_calls in (1, 2):
        with pytest.raises(NoRepr) as caught:
            minimize(func, [(0.0, 1.0)] * 2, **options)
        assert caught.value.optimize_result.nfev == len(points) == n_calls
