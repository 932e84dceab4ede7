"""Workers of our own: calls that are killed, processes that die or are orphaned."""

import os
import signal
import threading
import time
from contextlib import suppress
from functools import partial
from multiprocessing import get_all_start_methods, get_context
from pathlib import Path
from select import select

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from worker_parts import LokyExecutor, Pool, _pool, exit_when_orphaned

from skbo_silbo import SILBOSearchCV
from skbo_silbo.workers import LostWorkerError

LIMIT = 300.0  # seconds, which only end a hang


def begin_a_pool():
    pool, parent = Pool(1, "processes"), os.getpid()
    if os.fork() == 0:  # one that begins to watch too late
        while os.getppid() == parent:
            time.sleep(0.01)
        exit_when_orphaned(parent)
        time.sleep(1800)
    os.write(1, f"{parent} {pool.submit(os.getpid).result()}\n".encode())
    pool.submit(time.sleep, 1800)
    time.sleep(1800)


class Waits(BaseEstimator):
    def __init__(self, a=0.0):
        self.a = a

    def fit(self, X, y=None):
        os.write(1, f"{os.getppid()} {os.getpid()}\n".encode())
        time.sleep(1800)
        return self

    def score(self, X, y=None):
        return 0.0


def begin_a_search():
    SILBOSearchCV(Waits(), {"a": [1.0, 2.0, 3.0]}, n_jobs=2, cv=2).fit(np.zeros((8, 1)))


def with_output(fifo, function):
    """Call a function whose output, and that of its processes, goes to a pipe with a name."""
    os.dup2(os.open(fifo, os.O_WRONLY), 1)
    function()


@pytest.fixture(scope="module", params=["threads", "processes"])
def pool(request):
    """A pool whose processes start in no time, if the system has a forkserver."""
    with pytest.MonkeyPatch.context() as patch, Pool(1, request.param) as pool:
        if "forkserver" in get_all_start_methods():
            forked = partial(LokyExecutor, context=get_context("forkserver"))
            patch.setattr(_pool, "LokyExecutor", forked)
            patch.setattr(_pool, "exit_when_orphaned", int)  # their parent is the forkserver
        yield pool


def test_calls_run_in_order_with_times(pool):
    futures = [pool.submit(pow, i, 2) for i in range(5)]
    assert [future.result() for future in futures] == [0, 1, 4, 9, 16]
    times = [time for future in futures for time in (future.start_time, future.end_time)]
    assert times == sorted(times)


def test_killed_call_frees_its_worker(pool):
    release = threading.Event()
    killed = pool.submit(release.wait if pool.is_in_process else partial(time.sleep, 600.0))
    waiting = pool.submit(pow, 3, 2)
    while killed.start_time is None:
        time.sleep(0.01)
    pool.kill(killed)
    assert waiting.result() == 9
    assert not killed.done()
    release.set()


@pytest.mark.parametrize("pool", ["threads"], indirect=True, scope="module")
def test_worker_failing_to_start_is_replaced(pool, monkeypatch):
    real = threading.Thread.start

    def start(thread):
        if thread.name.startswith("skbo_silbo"):
            raise RuntimeError("can't start new thread")
        real(thread)

    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", start)
        lost = pool.submit(pow, 3, 2)
    with pytest.raises(LostWorkerError, match=r"worker.*can't"):
        lost.result(timeout=LIMIT)
    assert lost.start_time is None or lost.start_time <= lost.end_time
    assert pool.submit(pow, 3, 2).result(timeout=LIMIT) == 9


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with names")
def test_what_waits_can_be_cancelled(pool, tmp_path):
    os.mkfifo(tmp_path / "release")
    first = pool.submit(Path.read_text, tmp_path / "release")  # waits for one who writes
    second, third = pool.submit(int), pool.submit(int)
    assert second.cancel()
    assert not first.cancel()
    (tmp_path / "release").write_text("now")
    assert third.result() == 0


@pytest.mark.parametrize("pool", ["processes"], indirect=True, scope="module")
def test_dying_process_loses_only_its_call(pool):
    first, second = pool.submit(os._exit, 3), pool.submit(pow, 2, 3)
    with pytest.raises(LostWorkerError, match="a process died"):
        first.result()
    assert second.result() == 8


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="Windows has none")
@pytest.mark.parametrize("pool", ["processes"], indirect=True, scope="module")
def test_process_killed_between_calls_is_replaced(pool):
    pid = pool.submit(os.getpid).result()
    os.kill(pid, signal.SIGKILL)
    other = None
    while other is None:
        with suppress(LostWorkerError):  # until its end has been noticed
            other = pool.submit(os.getpid).result()
    assert other != pid


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows tells no parent that is gone")
@pytest.mark.parametrize(
    "begin", [begin_a_pool, pytest.param(begin_a_search, marks=pytest.mark.slow)]
)
def test_workers_do_not_outlive_killed_parent(begin, tmp_path):
    """Its output ends when all that hold it have ended, in fits of half an hour too."""
    os.mkfifo(fifo := tmp_path / "output")
    process = get_context("forkserver").Process(target=with_output, args=(fifo, begin))
    process.start()
    with open(fifo) as output:
        parent, child = map(int, output.readline().split())
        process.kill()
        process.join()
        while select([output], [], [], LIMIT)[0] and output.read():
            pass
        assert select([output], [], [], 0)[0], "a process holds the output"
    assert parent == process.pid != child
