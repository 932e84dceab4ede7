"""The parts of workers, for tests that put them to the test alone, and what those ask of them.

What moves in the package is changed here alone.
"""

from skbo_silbo._joblib import LokyExecutor as LokyExecutor
from skbo_silbo.workers import _pool as _pool
from skbo_silbo.workers._executors import count_workers as count_workers
from skbo_silbo.workers._executors import shut_down_hanging as shut_down_hanging
from skbo_silbo.workers._pool import THREAD_NAME as THREAD_NAME
from skbo_silbo.workers._pool import Pool as Pool
from skbo_silbo.workers._pool import exit_when_orphaned as exit_when_orphaned
from skbo_silbo.workers.backends import kind_of_workers as kind_of_workers
from skbo_silbo.workers.calls import FOREIGN_LOSSES as FOREIGN_LOSSES
from skbo_silbo.workers.calls import Call as Call
from skbo_silbo.workers.calls import is_loss as is_loss
from skbo_silbo.workers.scheduler import Scheduler as Scheduler


def outcomes_of(workers):
    """Return the outcome of every call, by its key."""
    found = []
    while workers.n_calls:
        found += workers.wait()
    return {outcome.call.key: outcome for outcome in found}
