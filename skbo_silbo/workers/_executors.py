"""Executors in the manner of ``concurrent.futures``: the caller as one, and those of others."""

import inspect
import sys
import threading
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing.reduction import ForkingPickler

from joblib.externals.loky.backend.utils import kill_process_tree

from skbo_silbo._checks import check_picklable

SENT = (
    "Define it at the top level of a module; functools.partial of such a function holds further "
    "arguments. Or take loky's processes, executor=lambda: loky.ProcessPoolExecutor(4), which are "
    "sent lambdas and nested functions too, or a ThreadPoolExecutor."
)


def is_executor(executor: object) -> bool:
    """Whether this is an executor itself, and not a class or another callable that makes one."""
    return hasattr(executor, "submit") and not isinstance(executor, type)


def made(make):
    """Return the executor that a callable makes, or refuse what it makes."""
    executor = make() if callable(make) else None
    if not is_executor(executor):
        got = f"{make!r}, which returned {executor!r}" if callable(make) else repr(make)
        raise ValueError(
            "executor must have submit(), as those of concurrent.futures, or be a callable that "
            f"returns one: got {got}. Write lambda: ThreadPoolExecutor(4), say."
        )
    return executor


def count_workers(executor, assumed=None):
    """Return how many workers an executor has.

    ``concurrent.futures`` and loky keep the number in ``_max_workers``, mpi4py in
    ``num_workers``, and an executor of Dask has a client that knows its cluster. One that does
    not say, and for which nothing is `assumed`, is refused.
    """
    for name in ("_max_workers", "num_workers"):
        number = getattr(executor, name, None)
        if isinstance(number, int):
            return max(number, 1)
    client = getattr(executor, "_client", None)
    if client is not None and hasattr(client, "nthreads"):
        return max(sum(client.nthreads().values()), 1)
    if assumed is not None:
        return assumed
    raise ValueError(
        f"executor must say how many workers it has: got {executor!r}, which does not. "
        "Give n_pending, the number of points to be evaluated at once."
    )


def check_is_future(returned, executor):
    """Refuse what `submit` of an executor returned, if it cannot be waited for."""
    needed = ("add_done_callback", "cancel", "cancelled", "done", "exception", "result")
    if lacking := [name for name in needed if not hasattr(returned, name)]:
        raise TypeError(
            f"executor must have a submit() that returns a future, as those of concurrent.futures: "
            f"{executor!r} returned {returned!r}, which has no {', '.join(lacking)}. Take one of "
            "concurrent.futures, loky, Dask or mpi4py, or write such a submit()."
        )


def check_can_be_sent(func, executor):
    """Refuse, before a call is paid for, a function that the standard library cannot send.

    A subclass with a submit() of its own may send more, by cloudpickle.
    """
    is_plain = isinstance(executor, ProcessPoolExecutor)
    if is_plain and type(executor).submit is ProcessPoolExecutor.submit:
        check_picklable("func", func, ForkingPickler.dumps, "a ProcessPoolExecutor", SENT)


def end_hanging(executor):
    """Shut an executor of ``concurrent.futures`` or loky down, killing its processes.

    Its threads cannot be ended, and Python waits for them at its end. What has been printed by
    then is written out first: whoever reads it through a pipe would never see it.
    """
    kill_processes(executor)
    if isinstance(executor, ThreadPoolExecutor):
        at_exit = getattr(threading, "_register_atexit", lambda function: None)
        at_exit(_flush)
    executor.shutdown(wait=False)


def kill_processes(executor):
    """Kill the processes of an executor of ``concurrent.futures`` or loky, and theirs.

    loky is not asked to: its ``shutdown(kill_workers=True)`` ends its own thread with a KeyError
    where a call has been submitted and not yet sent. A process that is gone it always notices.
    """
    is_loky = "kill_workers" in inspect.signature(executor.shutdown).parameters
    if is_loky or isinstance(executor, ProcessPoolExecutor):
        for process in list((executor._processes or {}).values()):
            kill_process_tree(process)


def _flush():
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
