"""Tasks for joblib's workers: one by one while more are being made, or all that there are."""

import time
import warnings
from collections import deque
from threading import Lock

import joblib

IDLE = 0.05  # seconds that a worker sleeps when there is no task yet


class Stream:
    """An endless call of `joblib.Parallel`: tasks are put at any time, results come unordered.

    joblib asks for tasks in threads of its own, whenever a worker is free, and nothing may wait
    there. So a worker is given a short sleep while there is nothing to do.

    Parameters
    ----------
    n_jobs : int or None
        As joblib takes it.

    Raises
    ------
    ValueError
        If joblib's backend returns no results before the last task has ended.
    """

    def __init__(self, n_jobs):
        self._parallel = joblib.Parallel(
            n_jobs=n_jobs,
            batch_size=1,
            pre_dispatch="n_jobs",
            return_as="generator_unordered",
        )
        self._tasks = _Tasks(joblib.effective_n_jobs(n_jobs))
        self._outputs, self._n_left = None, 0

    def put(self, key, function):
        """Add a call, without arguments, to be made by a worker."""
        self._n_left += 1
        self._tasks.put(joblib.delayed(_call)(key, function))

    def wait(self):
        """Wait for the next result, or for a moment.

        Returns
        -------
        results : list of (key, result)
            Empty if there is none yet.

        Raises
        ------
        Exception
            What a task raised, or joblib if a worker died. The stream has ended then.
        """
        if self._outputs is None:
            self._outputs = self._parallel(self._tasks)
        output = next(self._outputs)
        self._n_left -= output is not None
        return [] if output is None else [output]

    def close(self):
        """End; what has not ended is given up."""
        self._tasks.close()
        if self._outputs is None:
            return
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", ".*tasks.*", UserWarning)  # that some are given up
            if self._n_left:
                self._outputs.close()
            for _ in self._outputs:  # the sleeps of the workers
                pass


class Rounds:
    """Calls of `joblib.Parallel`, each with all tasks that have been put since the last.

    For every backend, and for a number of workers on which the results must not depend.

    Parameters
    ----------
    parallel : callable
        A `joblib.Parallel`, or what is called like one.
    """

    def __init__(self, parallel):
        self._parallel = parallel
        self._tasks = []

    def put(self, key, function):
        """Add a call, without arguments."""
        self._tasks.append(joblib.delayed(_call)(key, function))

    def wait(self):
        """Return (key, result) of all calls, once they have all been made."""
        tasks, self._tasks = self._tasks, []
        return self._parallel(tasks)

    def close(self):
        """Forget what has not been made."""
        self._tasks = []


class _Tasks:
    """The iterator that joblib takes tasks from, at most `n_jobs` of them at a time.

    It gives as many to begin with, of which every one is followed by another when it has ended; so
    there are always enough of them. Later an early end means: that is all for now.
    """

    def __init__(self, n_jobs):
        self.n_jobs = n_jobs
        self._ready, self._lock = deque(), Lock()
        self._n_to_begin = n_jobs
        self._n_given = 0  # since joblib began to take
        self._closed = False

    def __iter__(self):
        return self

    def __next__(self):
        with self._lock:
            if self._closed or not (self._ready or self._n_to_begin or not self._n_given):
                self._n_given = 0
                raise StopIteration
            self._n_to_begin = max(self._n_to_begin - 1, 0)
            self._n_given = (self._n_given + 1) % self.n_jobs
            return self._ready.popleft() if self._ready else joblib.delayed(time.sleep)(IDLE)

    def put(self, task):
        with self._lock:
            self._ready.append(task)

    def close(self):
        with self._lock:
            self._closed = True


def _call(key, function):
    return key, function()
