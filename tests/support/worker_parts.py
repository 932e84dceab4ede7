"""The parts of workers, for tests that put them to the test alone, and what those ask of them.

What moves in the package is changed here alone.
"""

from skbo_silbo.model_selection._evaluator import CandidateEvaluator as CandidateEvaluator
from skbo_silbo.workers._calls import KNOWN as KNOWN
from skbo_silbo.workers._calls import in_words as in_words
from skbo_silbo.workers._calls import on_copies as on_copies
from skbo_silbo.workers._calls import says_lost as says_lost
from skbo_silbo.workers._executors import count_workers as count_workers
from skbo_silbo.workers._executors import end_hanging as end_hanging
from skbo_silbo.workers._joblib import THREAD_NAME as THREAD_NAME
from skbo_silbo.workers._joblib import Pool as Pool
from skbo_silbo.workers._joblib import end_when_orphaned as end_when_orphaned
from skbo_silbo.workers._scheduler import Call as Call
from skbo_silbo.workers._scheduler import InPlace as InPlace
from skbo_silbo.workers._scheduler import Pace as Pace
from skbo_silbo.workers._scheduler import Scheduler as Scheduler


def outcomes_of(workers):
    """Return the outcome of every call, by its key."""
    found = []
    while workers.n_calls:
        found += workers.wait()
    return {outcome.call.key: outcome for outcome in found}
