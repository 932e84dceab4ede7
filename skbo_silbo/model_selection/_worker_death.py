"""Telling that a worker process died from what a parallel engine raises then."""

from concurrent.futures import BrokenExecutor

# Raised by engines that are not concurrent.futures executors, which need not be installed.
KNOWN = {
    ("distributed.scheduler", "KilledWorker"),
    ("ray.exceptions", "OutOfMemoryError"),
    ("ray.exceptions", "WorkerCrashedError"),
}


def is_worker_death(error):
    """Return whether an exception says that a worker died (killed, out of memory, crashed)."""
    names = {(cls.__module__, cls.__qualname__) for cls in type(error).__mro__}
    return isinstance(error, BrokenExecutor) or bool(names & KNOWN)


def died_twice(error):
    """Return the report of a candidate that has failed as a worker died with it, again."""
    return f"a worker died twice with this candidate: {error!r}"
