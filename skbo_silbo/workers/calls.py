"""Calls that workers run, and the exceptions that mean that a worker was lost.

The death of a worker need not be caused by the function that it ran, so the call is repeated. An
exception that the function raised is an error of the function, even if it looks like a lost worker.
"""

import copy
import pickle
import traceback
from collections.abc import Callable, Hashable
from concurrent.futures import BrokenExecutor, CancelledError
from dataclasses import dataclass, field
from typing import Any

from skbo_silbo._joblib import loky_dumps

# Exceptions of libraries that are not imported here, as pairs (module, name).
FOREIGN_LOSSES = {("distributed.scheduler", "KilledWorker")}


class LostEvaluationWarning(UserWarning):
    """Warning that an evaluation failed because its worker died or it timed out."""


class LostWorkerError(RuntimeError):
    """Error raised if the worker that ran a call died but the executor still works.

    Executors, and functions that start other programs, can raise this error. `minimize` then
    evaluates the point again, at most `n_retries` times. An executor that can no longer be used
    raises ``concurrent.futures.BrokenExecutor`` instead.
    """


class OfFunctionError(Exception):
    """Wrapper for an exception of the user's function that resembles the loss of a worker."""

    def __init__(self, error: BaseException) -> None:
        super().__init__(error)
        self.error = error


@dataclass(eq=False)
class Call:
    """Function call to be run by a worker."""

    key: Any  # identifies the call to the caller of `submit`
    function: Callable[..., Any]
    args: tuple = ()
    alone: bool = False  # whether to run it without others, because it may have killed its worker
    group: Hashable = field(default_factory=object)  # the calls of a group share one timeout
    losses: int = 0  # number of workers lost while they ran the call
    start_time: float | None = None  # value of `time.perf_counter`; None until it starts


@dataclass(frozen=True, eq=False)
class Outcome:
    """Outcome of a function call: its value, its exception or the loss of its worker.

    Attributes
    ----------
    call : Call or None
        The call that has ended, or None if `kind` is "broken".
    kind : {"value", "error", "lost", "late", "broken"}
        How the call ended. "value": the function returned. "error": it raised an exception. "lost":
        its worker was lost and the call cannot be repeated again. "late": its group timed out, and
        no other call of the group gets an outcome. "broken": the executor broke and cannot be
        replaced, so that all its calls are lost.
    value : object
        Return value of the function, or the exception that ended the call.
    """

    call: Call | None
    kind: str
    value: Any = None


def is_loss(error: BaseException) -> bool:
    """Return whether an exception indicates that a worker was lost."""
    names = {(cls.__module__, cls.__qualname__) for cls in type(error).__mro__}
    return isinstance(error, BrokenExecutor | CancelledError | LostWorkerError) or bool(
        names & FOREIGN_LOSSES
    )


def call_in_process(func: Callable[..., Any], *args: Any) -> Any:
    """Call a function in this process.

    Exceptions of `func` are propagated. An exception that looks like a lost worker is wrapped in an
    `OfFunctionError`. `LostWorkerError` is not wrapped, because functions raise it to report the
    loss of a worker.
    """
    try:
        return func(*args)
    except BaseException as error:
        if isinstance(error, LostWorkerError) or not is_loss(error):
            raise
        raise OfFunctionError(error) from error


def call_in_worker(what: str, is_plain: bool, func: Callable[..., Any], *args: Any) -> Any:
    """Call a function in a worker process, raising only exceptions that can be pickled.

    An exception that cannot be unpickled would break a process pool, or be mistaken for a lost
    worker. It is replaced by a `RuntimeError` with its type, text and traceback.

    Parameters
    ----------
    what : str
        Name of the function, used in the error messages.
    is_plain : bool
        Whether the executor pickles exceptions with `pickle`. Otherwise it uses cloudpickle, as
        loky does.
    func : callable
    *args : object
    """
    try:
        return call_in_process(func, *args)
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


def _why_unsendable(error: BaseException, dumps: Callable[[Any], Any]) -> str | None:
    """Return the reason why an exception cannot be pickled, or None if it can."""
    try:
        copy.deepcopy(error)  # rebuilds the object from `__reduce_ex__`, as unpickling does
        dumps(error)
    except Exception as obstacle:
        return repr(obstacle)
    return None
