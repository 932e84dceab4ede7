"""Executors of others: counted, made, and left by Python when their workers hang."""

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.pool import ThreadPool
from pathlib import Path
from types import SimpleNamespace

import pytest
from joblib.externals import loky
from worker_parts import Pool, Scheduler, count_workers, shut_down_hanging

from skbo_silbo import minimize

SCRIPT = Path(__file__).with_name("hanging_run.py")


@pytest.mark.parametrize(
    ("executor", "n"),
    [
        (SimpleNamespace(_max_workers=3), 3),
        (SimpleNamespace(num_workers=0), 1),
        (SimpleNamespace(_client=SimpleNamespace(nthreads=lambda: {"a": 2, "b": 4})), 6),
        (SimpleNamespace(), 7),
    ],
)
def test_the_number_of_workers(executor, n):
    assert count_workers(executor, default=7) == n


def test_where_workers_are():
    assert Scheduler(ThreadPoolExecutor(1)).is_in_process
    assert not Scheduler(SimpleNamespace(submit=None), n_pending=1).is_in_process


class Bare:
    """An executor of `submit` and the number of its workers alone, as workers.rst asks for."""

    _max_workers = 2

    def __init__(self, submit):
        self.submit = submit


def test_an_executor_that_is_made_needs_no_shutdown():
    with ThreadPoolExecutor(2) as threads:
        result = minimize(
            lambda x: float(x[0] ** 2),
            [(-1, 1)] * 2,
            n_calls=6,
            executor=lambda: Bare(threads.submit),
            method="random",
            random_state=0,
        )
    assert result.nfev == 6


def test_submit_without_future_raises():
    calls, options = [], {"n_calls": 6, "method": "random", "random_state": 0}
    with ThreadPool(2) as threads:
        executor = Bare(lambda function, *args: threads.apply_async(function, args))
        with pytest.raises(TypeError, match=r"returns.*add_done_callback"):
            minimize(calls.append, [(-1, 1)] * 2, executor=executor, **options)
        threads.close()
        threads.join()
    assert len(calls) == 1


def start(kind, path):
    return subprocess.Popen(
        [sys.executable, SCRIPT, kind, path],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["processes", pytest.param("loky", marks=pytest.mark.slow)])
def test_hanging_process_is_killed_at_exit(tmp_path, kind):
    """It would hang for ten minutes."""
    with start(kind, tmp_path / "pid") as process:
        printed, errors = process.communicate(timeout=300)
    assert printed == "done 5\n", errors
    assert process.returncode == 0, errors
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


@pytest.mark.parametrize("kill", ["the call", "the executor"])
def test_process_can_be_killed_at_once(kill):
    """pytest makes an exception in a thread of loky a failure; loky's own shutdown raises one."""
    for pause in [0.0, 0.02]:
        pool = Pool(1, "processes") if kill == "the call" else loky.ProcessPoolExecutor(1)
        future = pool.submit(time.sleep, 600)
        time.sleep(pause)
        if kill == "the call":
            pool.kill(future)
            pool.shutdown()
        else:
            thread = pool._executor_manager_thread
            shut_down_hanging(pool)
            thread.join()
