"""Make calls in this process, one after the other."""

import math
import time
from collections import deque

from skbo_silbo.workers._calls import LostWorkerError, Outcome


class DirectRunner:
    """One worker, the caller itself, with the interface of `Scheduler`.

    Parameters
    ----------
    n_retries : int, default=1
        How often a call that raises `LostWorkerError` is made again.
    """

    n_workers = n_usable = 1
    is_in_process = True
    on_begin = on_take_back = timeout = None

    def __init__(self, n_retries=1):
        self._waiting, self._returned, self._n_retries = deque(), [], n_retries

    @property
    def n_calls(self):
        """How many calls wait to be made."""
        return len(self._waiting)

    @property
    def n_free(self):
        """How many calls to submit: one, unless calls wait."""
        return 1 - len(self._waiting)

    def submit(self, call):
        """Have a call made by `wait`."""
        self._waiting.append(call)

    def wait(self, until=math.inf):
        """Make the next call and return its outcome in a list; an empty list if it is too late."""
        if not self._waiting or time.perf_counter() >= until:
            return []
        call, self._returned = self._waiting.popleft(), []
        if self.on_begin is not None:
            self.on_begin(call)
        try:
            self._returned = [(call, call.function(*call.args))]  # found by whoever is interrupted
        except LostWorkerError as error:
            call.losses += 1
            if call.losses > self._n_retries:
                return [Outcome(call, "lost", error)]
            self._waiting.appendleft(call)
            return []
        except (Exception, SystemExit) as error:
            return [Outcome(call, "error", error)]
        return [Outcome(call, "value", self._returned[0][1])]

    def returned(self):
        """Return (call, value) of the last call in a list, if it has returned."""
        return self._returned

    def give_up(self, group):
        """Make no more calls of a group."""
        self._waiting = deque(call for call in self._waiting if call.group != group)

    def drain(self):
        """Withdraw all calls that wait, and return them."""
        withdrawn, self._waiting = list(self._waiting), deque()
        return withdrawn

    def close(self, *, wait):
        """Do nothing."""
