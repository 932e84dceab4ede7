"""Every private name of joblib and loky that this library uses, each with a test.

``tests/house/test_joblib_private.py`` tests how each name is used, so that an incompatible joblib
release is noticed there first.
"""

import inspect
from concurrent.futures import ProcessPoolExecutor
from typing import Any

from joblib._utils import eval_expr as eval_expr
from joblib.externals import loky
from joblib.externals.loky.backend import reduction
from joblib.externals.loky.backend.utils import kill_process_tree
from joblib.parallel import BACKENDS as BACKENDS
from joblib.parallel import get_active_backend as get_active_backend

LokyExecutor = loky.ProcessPoolExecutor
loky_dumps = reduction.dumps  # pickles with cloudpickle, unless the user has set another pickler
DASK = "DaskDistributedBackend"  # the name of a class that is not imported here


def worker_environment(n_workers: int) -> dict[str, str]:
    """Return environment variables that limit the number of threads per worker process."""
    return BACKENDS["loky"]()._prepare_worker_env(n_workers)


def open_processes(parallel: Any) -> Any:
    """Return the loky executor that an open `joblib.Parallel` uses."""
    return parallel._backend._workers


def share_arrays(processes: Any, parallel: Any) -> None:
    """Send large arrays to loky's processes as memory maps until `parallel` is closed."""
    processes._temp_folder_manager.set_current_context(parallel._id)


def dask_client(parallel: Any) -> Any:
    """Return the Dask client that an open `joblib.Parallel` uses."""
    return parallel._backend.client


def nested_backend(parallel: Any) -> tuple[Any, int | None]:
    """Return the joblib backend and `n_jobs` for parallel calls inside the workers.

    joblib chooses both, except on Dask, where its choice would send nested calls back to the
    cluster.
    """
    if type(parallel._backend).__name__ == DASK:
        return BACKENDS["threading"](nesting_level=1), None
    return parallel._backend.get_nested_backend()


def kill_processes(executor: Any) -> None:
    """Kill the processes of an executor and their child processes.

    Other executors are left alone. ``shutdown(kill_workers=True)`` of loky is no substitute: its
    manager thread dies with a KeyError if a call has been submitted but not yet sent, whereas loky
    always notices that a process is gone.
    """
    is_loky = "kill_workers" in inspect.signature(executor.shutdown).parameters
    if is_loky or isinstance(executor, ProcessPoolExecutor):
        for process in list((executor._processes or {}).values()):
            kill_process_tree(process)
