"""Calls of a function by a worker: timed, what they raise, and how a loss is told from that.

An evaluation is lost with its worker; what the function itself raised is another matter.
"""

import copy
import pickle
import sys
import time
import traceback
from concurrent.futures import BrokenExecutor, CancelledError

MOST_DEATHS = 2  # of this process with a call alone: then it has failed
# Raised by engines that need not be installed, when they have lost a worker.
KNOWN = {("distributed.scheduler", "KilledWorker")}


class LostEvaluationWarning(UserWarning):
    """An evaluation was given up: its worker or process died, it took too long, or raised twice."""


class LostWorkerError(RuntimeError):
    """The worker that a call ran on was lost with it, and the executor can still be used.

    For executors, and for functions that start programs: `minimize` then evaluates the point again,
    as `n_retries` says. An executor that cannot be used any more raises
    ``concurrent.futures.BrokenExecutor``.
    """


def says_lost(error: BaseException) -> bool:
    """Whether an engine raises this when it has lost the worker of a call."""
    names = {(cls.__module__, cls.__qualname__) for cls in type(error).__mro__}
    return isinstance(error, BrokenExecutor | CancelledError | LostWorkerError) or bool(
        names & KNOWN
    )


def in_words(error: BaseException) -> str:
    """Return an exception as `repr` shows it; of one whose own ``__repr__`` fails, its type."""
    try:
        return repr(error)
    except Exception as failure:
        name = f"{type(error).__module__}.{type(error).__qualname__}"
        return f"<{name}, whose repr raises {type(failure).__name__}>"


class OfFunctionError(Exception):
    """What the function itself raised, where it would be taken for the loss of its worker."""

    def __init__(self, error):
        super().__init__(error)
        self.error = error


def on_copies(func, *args):
    """Return what a function returns of copies of its arguments, which it may change."""
    return func(*map(copy.copy, args))


def timed(func, *args):
    """Return what the function returns, and how many seconds it took.

    It raises what `func` raises; an error of a pool of its own as an `OfFunctionError`.
    """
    began = time.perf_counter()
    try:
        return func(*args), time.perf_counter() - began
    except BaseException as error:
        if isinstance(error, LostWorkerError) or not says_lost(error):
            raise
        raise OfFunctionError(error) from error


def timed_elsewhere(func, what, is_plain, *args):
    """Do the same in another process; an exception that would not come back is put into words.

    One that cannot be unpickled would break a process pool, or be taken for the loss of the worker:
    a `RuntimeError` has its type, text and traceback. `what` is what `func` is called there;
    `is_plain`: exceptions are sent by `pickle` alone, else by cloudpickle where that is loaded.
    """
    try:
        return timed(func, *args)
    except BaseException as error:
        why = _why_not_sent(error, is_plain)
        if why is None:
            raise
        kind = type(error.error if isinstance(error, OfFunctionError) else error)
        words = (
            f"{what} raised {kind.__module__}.{kind.__qualname__}, which cannot be "
            f"sent from the worker ({why}). Its traceback there:\n"
            + "".join(traceback.format_exception(error))
        )
    raise RuntimeError(words)


def _why_not_sent(error, is_plain):
    """Return why an exception does not survive being pickled; None if it does."""
    names = () if is_plain else ("cloudpickle", "joblib.externals.cloudpickle")
    try:
        copy.deepcopy(error)  # made anew as it would be there, from what `__reduce_ex__` gives
    except Exception as refused:
        return in_words(refused)
    why = None
    for pickler in [pickle, *(sys.modules[name] for name in names if name in sys.modules)]:
        try:
            pickler.dumps(error)
            return None
        except Exception as refused:
            why = in_words(refused)
    return why
