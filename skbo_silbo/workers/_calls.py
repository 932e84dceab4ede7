"""Calls of a function by a worker, and which exceptions mean that the worker was lost.

A worker that dies says nothing of the function that it ran: the call can be repeated. An exception
that the function raised belongs to the function, even if it looks like a lost worker.
"""

import copy
import pickle
import time
import traceback
from collections.abc import Callable, Hashable
from concurrent.futures import BrokenExecutor, CancelledError
from dataclasses import dataclass, field
from typing import Any

from skbo_silbo._joblib import loky_dumps

MOST_DEATHS = 2  # of the process, with the same call running alone: the call has then failed
# Exceptions of libraries that are not imported here: (module, name)
FOREIGN_LOSSES = {("distributed.scheduler", "KilledWorker")}


class LostEvaluationWarning(UserWarning):
    """An evaluation failed: its worker or process died, it took too long, or it raised twice."""


class LostWorkerError(RuntimeError):
    """The worker that ran a call was lost, but the executor can still be used.

    Executors, and functions that start other programs, can raise this error. `minimize` then
    evaluates the point again, at most `n_retries` times. An executor that can no longer be used
    raises ``concurrent.futures.BrokenExecutor`` instead.
    """


class OfFunctionError(Exception):
    """Wraps an exception of the function that would look like the loss of its worker."""

    def __init__(self, error):
        super().__init__(error)
        self.error = error


@dataclass(eq=False)
class Call:
    """A call to be made by a worker."""

    key: Any  # identifies the call to whoever submits it
    function: Callable[..., Any]
    args: tuple = ()
    alone: bool = False  # nothing may run next to it: it may have killed its worker or the process
    group: Hashable = field(default_factory=object)  # the calls of a group share one timeout
    losses: int = 0  # how many workers were lost while they ran it
    start_time: float | None = None  # of `time.perf_counter`; None until it starts


@dataclass(frozen=True, eq=False)
class Outcome:
    """How a call ended.

    Attributes
    ----------
    call : Call or None
        None if `kind` is "broken".
    kind : {"value", "error", "lost", "late", "broken"}
        "value": the function returned. "error": it raised. "lost": its worker was lost, once more
        than the call may be repeated. "late": its group reached the timeout, and no other call of
        the group gets an outcome. "broken": the executor broke and cannot be replaced, so that all
        its calls are lost.
    value : object
        What the function returned, or the exception.
    """

    call: Call | None
    kind: str
    value: Any = None


def is_loss(error: BaseException) -> bool:
    """Return whether executors raise this exception for a call whose worker was lost."""
    names = {(cls.__module__, cls.__qualname__) for cls in type(error).__mro__}
    return isinstance(error, BrokenExecutor | CancelledError | LostWorkerError) or bool(
        names & FOREIGN_LOSSES
    )


def format_error(error: BaseException) -> str:
    """Return the `repr` of an exception, or its type if its own ``__repr__`` raises."""
    try:
        return repr(error)
    except Exception as failure:
        name = f"{type(error).__module__}.{type(error).__qualname__}"
        return f"<{name}, whose repr raises {type(failure).__name__}>"


def timed(func, *args):
    """Call a function; return its value and how many seconds it took.

    An exception of `func` passes, inside an `OfFunctionError` if it looks like a lost worker. A
    `LostWorkerError` passes as it is: the function says that it lost a worker.
    """
    start = time.perf_counter()
    try:
        return func(*args), time.perf_counter() - start
    except BaseException as error:
        if isinstance(error, LostWorkerError) or not is_loss(error):
            raise
        raise OfFunctionError(error) from error


def timed_elsewhere(what, is_plain, func, *args):
    """Do the same in another process, and raise only exceptions that can be sent back.

    An exception that cannot be unpickled would break a process pool, or pass for a lost worker. A
    `RuntimeError` with its type, text and traceback takes its place.

    Parameters
    ----------
    what : str
        What the function is called in that text.
    is_plain : bool
        Whether the executor pickles exceptions by `pickle`, and not by cloudpickle, as loky does.
    func : callable
    *args : object
    """
    try:
        return timed(func, *args)
    except BaseException as error:
        obstacle = _why_unsendable(error, pickle.dumps if is_plain else loky_dumps)
        if obstacle is None:
            raise
        kind = type(error.error if isinstance(error, OfFunctionError) else error)
        text = (
            f"{what} raised {kind.__module__}.{kind.__qualname__}, which cannot be "
            f"sent from the worker ({obstacle}). Its traceback there:\n"
            + "".join(traceback.format_exception(error))
        )
    raise RuntimeError(text)


def _why_unsendable(error, dumps):
    """Return why an exception cannot be pickled and unpickled, or None if it can."""
    try:
        copy.deepcopy(error)  # built from what `__reduce_ex__` returns, as unpickling does
        dumps(error)
    except Exception as obstacle:
        return format_error(obstacle)
    return None
