"""Functions that kill the process of `minimize`: what its journal makes of the point."""

import contextlib
import os
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from skbo_silbo import LostEvaluationWarning, minimize

BOUNDS = [(-1.0, 2.0), (0.0, 3.0)]
POINTS = minimize(lambda x: 0.0, BOUNDS, method="random", n_calls=9, random_state=0).x_iters
pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork"),
    pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning"),
]


class Deadly:
    """Ends its process at one of the points; calls are counted in a file, which survives."""

    def __init__(self, folder, at, end=lambda: os._exit(9)):
        self.count, self.at, self.end = folder / "count", POINTS[at], end

    def __call__(self, x):
        with self.count.open("ab") as file:
            file.write(b".")
        if np.allclose(x, self.at, atol=1e-8):
            self.end()
        return float((x**2).sum())

    @property
    def n_calls(self):
        return self.count.stat().st_size


def run(func, path, n_calls=6, **options):
    return minimize(
        func, BOUNDS, method="random", n_calls=n_calls, journal=path, random_state=0, **options
    )


def dies(func, path, **options):
    """Return whether a process dies that runs it; that of the tests lives."""
    child = os.fork()
    if child == 0:
        warnings.simplefilter("ignore")
        try:
            run(func, path, **options)
        finally:
            os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9


@pytest.mark.parametrize("at", [0, 5])
@pytest.mark.parametrize("options", [{}, {"executor": lambda: ThreadPoolExecutor(2)}])
def test_point_killing_process_twice_has_failed(tmp_path, at, options):
    path, func = tmp_path / "run.jsonl", Deadly(tmp_path, at)
    n_deaths = 0
    while n_deaths < 9 and dies(func, path, **options):
        n_deaths += 1
    assert n_deaths == 2
    result = run(func, path, 8, **options)
    assert b"2 times when the process died" in path.read_bytes()
    assert_array_equal(result.x_iters[np.isnan(result.func_vals)], POINTS[[at]])
    assert len(result.func_vals) == 8
    assert result.nfev >= func.n_calls  # a thread may not have begun when the process died


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_ended_run_is_no_death(tmp_path, error):
    def end():
        raise error

    path, func = tmp_path / "run.jsonl", Deadly(tmp_path, 2, end)
    for n_runs in (1, 2, 3):
        with contextlib.suppress(SystemExit):
            run(func, path)
        assert func.n_calls == 2 + n_runs
    assert dies(Deadly(tmp_path, 2), path)
    result = run(Deadly(tmp_path, 8), path)
    assert np.isfinite(result.func_vals).all()


def test_deadly_point_beyond_budget_is_left(tmp_path):
    path, func = tmp_path / "run.jsonl", Deadly(tmp_path, 3)
    assert dies(func, path)
    assert dies(func, path)
    assert len(run(func, path, 3).func_vals) == 3
    with pytest.warns(LostEvaluationWarning):
        assert len(run(func, path, 4).func_vals) == 4
