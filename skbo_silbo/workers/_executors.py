"""Executors of ``concurrent.futures`` and of other libraries."""

from collections.abc import Callable
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing.reduction import ForkingPickler
from typing import Any

from skbo_silbo._checks import brief, check_picklable
from skbo_silbo._joblib import kill_processes

HOW_TO_SEND = (
    "Define it at the top level of a module, with functools.partial for further arguments. Or use "
    "executor=lambda: loky.ProcessPoolExecutor(4), which can send lambdas and nested functions, or "
    "a ThreadPoolExecutor."
)
FUTURE_METHODS = ("add_done_callback", "cancel", "cancelled", "done", "exception", "result")


class InlineExecutor(Executor):
    """Executor that runs each call in the current thread before `submit` returns.

    Ctrl-C is not stored in the future but raised by `submit`.
    """

    _max_workers, is_in_process = 1, True

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Call a function and return a future with its value or exception."""
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except (Exception, SystemExit) as error:
            future.set_exception(error)
        return future


def is_executor(executor: object) -> bool:
    """Return whether an object is an executor, not a function that creates executors."""
    return hasattr(executor, "submit") and not isinstance(executor, type)


def make_executor(make: Any) -> Any:
    """Create an executor with the user's factory function and validate it.

    Raises
    ------
    ValueError
        If `make` is not callable, or does not return an executor.
    """
    executor = make() if callable(make) else None
    if not is_executor(executor):
        returned = f", which returned {brief(executor)}" if callable(make) else ""
        raise ValueError(
            "executor must have submit(), like the executors of concurrent.futures, or be a "
            f"callable that returns such an executor, got {brief(make)}{returned}. For example, "
            "pass lambda: ThreadPoolExecutor(4)."
        )
    return executor


def count_workers(executor: Any, default: int | None = None) -> int:
    """Return the number of workers of an executor.

    ``concurrent.futures`` and loky store the number in ``_max_workers``, mpi4py in ``num_workers``.
    An executor of Dask has a client that knows the cluster.

    Raises
    ------
    ValueError
        If the number is unknown and there is no `default`.
    """
    for name in ("_max_workers", "num_workers"):
        number = getattr(executor, name, None)
        if isinstance(number, int):
            return max(number, 1)
    client = getattr(executor, "_client", None)
    if client is not None and hasattr(client, "nthreads"):
        return max(sum(client.nthreads().values()), 1)
    if default is not None:
        return default
    raise ValueError(
        f"executor must say how many workers it has, got {brief(executor)}, which does not. "
        "Pass n_pending, the number of points to evaluate at once."
    )


def runs_in_process(executor: Any) -> bool:
    """Return whether an executor runs its calls in the current process.

    Only subclasses of `ThreadPoolExecutor` count as threads. Executors of other libraries do not
    provide this information, and count as processes.
    """
    return getattr(executor, "is_in_process", isinstance(executor, ThreadPoolExecutor))


def check_future(future: Any, executor: Any) -> None:
    """Raise a TypeError if an executor's `submit` did not return a supported future."""
    if missing := [name for name in FUTURE_METHODS if not hasattr(future, name)]:
        raise TypeError(
            "executor must have a submit() that returns a future, as in concurrent.futures, got "
            f"{brief(executor)}, which returned {brief(future)} without {', '.join(missing)}. Use "
            "an executor of concurrent.futures, loky, Dask or mpi4py, or return a future from it."
        )


def check_sendable(func: Any, executor: Any) -> None:
    """Raise a ValueError if a function cannot be sent to the worker processes.

    A subclass with its own ``submit`` is not checked, because it may use cloudpickle.
    """
    is_plain = isinstance(executor, ProcessPoolExecutor)
    if is_plain and type(executor).submit is ProcessPoolExecutor.submit:
        check_picklable("func", func, ForkingPickler.dumps, "a ProcessPoolExecutor", HOW_TO_SEND)


def shut_down_hanging(executor: Any) -> None:
    """Shut down an executor whose workers do not respond, and kill its processes.

    Threads cannot be stopped, and Python waits for them when it exits.
    """
    kill_processes(executor)
    executor.shutdown(wait=False)
