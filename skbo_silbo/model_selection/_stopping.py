"""When a search ends."""

import math
import time


class Stopping:
    """Counts candidates, time and candidates without improvement.

    Candidates recalled from a journal count as if evaluated now, except that they take no time.

    Parameters
    ----------
    n_candidates : int or float
        Most candidates to evaluate.
    max_time : float or None
        Seconds after which no further candidate is begun; the first ones always are.
    patience : int or None
        Candidates in a row without a better score after which no further candidate is begun.
    """

    def __init__(self, n_candidates, max_time=None, patience=None):
        self.n_candidates = n_candidates
        self.max_time = math.inf if max_time is None else max_time
        self.patience = math.inf if patience is None else patience
        self.n_done, self.n_idle, self.best = 0, 0, -math.inf
        self._n_new = 0
        self._start = time.monotonic()

    @property
    def elapsed(self):
        """Seconds since the start, or since the last recalled candidate."""
        return time.monotonic() - self._start

    def room(self, batch_size):
        """Return how many candidates, at most `batch_size`, may be evaluated next: 0 to end."""
        late = self._n_new and self.elapsed >= self.max_time
        if late or self.n_idle >= self.patience:
            return 0
        return int(min(batch_size, self.n_candidates - self.n_done))

    def count(self, score, *, recalled=False):
        """Take note of one more candidate's score, NaN for a failed one."""
        if recalled:
            self._start = time.monotonic()
        self._n_new += not recalled
        self.n_done += 1
        self.n_idle += 1
        if score > self.best:  # False for NaN
            self.best, self.n_idle = score, 0
