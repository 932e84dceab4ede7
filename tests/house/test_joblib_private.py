"""Private names of joblib and loky in `skbo_silbo._joblib` still do what this library needs."""

import inspect
import os
import pickle
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest
from joblib import Parallel, cpu_count, parallel_config
from worker_parts import kind_of_workers

from skbo_silbo._joblib import (
    BACKENDS,
    LokyExecutor,
    eval_expr,
    get_active_backend,
    kill_processes,
    loky_dumps,
    nested_backend,
    open_processes,
    share_arrays,
    worker_environment,
)


@pytest.fixture(scope="module")
def parallel():
    with parallel_config("loky"), Parallel(n_jobs=2) as parallel:
        yield parallel


KINDS = {"loky": "processes", "threading": "threads", "sequential": "threads"}


@pytest.mark.parametrize("backend", [*KINDS, "multiprocessing"])
def test_active_backend_is_known_by_class(backend):
    with parallel_config(backend):
        assert isinstance(get_active_backend()[0], BACKENDS[backend])
        assert kind_of_workers() == KINDS.get(backend, "MultiprocessingBackend")


def test_environment_shares_processors_among_workers(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    assert worker_environment(1)["OMP_NUM_THREADS"] == str(cpu_count())
    assert worker_environment(10 * cpu_count())["OMP_NUM_THREADS"] == "1"


def test_pre_dispatch_is_evaluated_without_running_code():
    assert eval_expr("1+7//2") == 4
    for text in ("__import__('os')", "n_jobs", "2*", "'a'*3"):
        with pytest.raises((SyntaxError, TypeError, ValueError)):
            eval_expr(text)


def test_loky_pickles_nested_functions():
    assert pickle.loads(loky_dumps(lambda: 7))() == 7


def test_open_processes_say_how_many_they_are(parallel):
    processes = open_processes(parallel)
    assert processes._max_workers == 2
    assert "kill_workers" in inspect.signature(processes.shutdown).parameters


def test_large_arrays_become_memory_maps(parallel):
    processes = open_processes(parallel)
    share_arrays(processes, parallel)
    large, small = (processes.submit(isinstance, np.ones(n), np.memmap) for n in (10**6, 10))
    assert isinstance(large, Future)
    assert (large.result(), small.result()) == (True, False)


def test_nested_calls_run_in_threads(parallel):
    backend, _ = nested_backend(parallel)
    assert isinstance(backend, BACKENDS["threading"])


def test_dask_backend_has_client_and_name():
    pytest.importorskip("distributed")
    dask_backend = pytest.importorskip("joblib._dask").DaskDistributedBackend
    assert dask_backend.__name__ == "DaskDistributedBackend"
    assert "self.client = client" in inspect.getsource(dask_backend.__init__)


def test_loky_executor_takes_environment_and_initializer():
    names = set(inspect.signature(LokyExecutor).parameters)
    assert {"max_workers", "env", "initializer", "initargs"} <= names


@pytest.mark.parametrize("make", [LokyExecutor, ProcessPoolExecutor])
@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows has no forkserver")
def test_processes_of_executor_are_killed(make):
    executor = make(1, get_context("forkserver")) if make is ProcessPoolExecutor else make(1)
    [pid] = {executor.submit(os.getpid).result()}
    kill_processes(executor)
    executor.shutdown(wait=True)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_killing_leaves_threads_alone():
    with ThreadPoolExecutor(1) as executor:
        kill_processes(executor)
        assert executor.submit(int, "3").result() == 3
