"""Evaluations that are lost: how one is told from what the function itself raised."""

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
