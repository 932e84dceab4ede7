"""Run calls in this process, one after the other."""

import math
import time
from collections import deque
from collections.abc import Callable, Hashable
from typing import Any

from skbo_silbo.workers.calls import Call, LostWorkerError, Outcome


class DirectRunner:
    """Runs function calls in the current process, with the interface of `Scheduler`.

    Parameters
    ----------
    n_retries : int, default=1
        Number of times to repeat a call that raises `LostWorkerError`.
    """

    n_workers = n_usable = 1
    is_in_process = True
    on_begin: Callable[[Call], None] | None = None
    on_take_back = timeout = None

    def __init__(self, n_retries: int = 1) -> None:
        self._waiting: deque[Call] = deque()
        self._returned: list[tuple[Call, Any]] = []
        self._n_retries = n_retries

    @property
    def n_calls(self) -> int:
        """Number of function calls that are waiting to be run."""
        return len(self._waiting)

    @property
    def n_free(self) -> int:
        """Number of function calls that can be submitted now, 0 or 1."""
        return 1 - len(self._waiting)

    def submit(self, call: Call) -> None:
        """Add a function call to be run by `wait`."""
        self._waiting.append(call)

    def wait(self, until: float = math.inf) -> list[Outcome]:
        """Run the next function call and return its outcome in a list.

        The list is empty if the time `until` has passed.
        """
        if not self._waiting or time.perf_counter() >= until:
            return []
        call, self._returned = self._waiting.popleft(), []
        if self.on_begin is not None:
            self.on_begin(call)
        try:
            self._returned = [(call, call.function(*call.args))]  # read after an interrupt
        except LostWorkerError as error:
            call.losses += 1
            if call.losses > self._n_retries:
                return [Outcome(call, "lost", error)]
            self._waiting.appendleft(call)
            return []
        except (Exception, SystemExit) as error:
            return [Outcome(call, "error", error)]
        return [Outcome(call, "value", self._returned[0][1])]

    def returned(self) -> list[tuple[Call, Any]]:
        """Return the last call and its value in a list, if the call has returned."""
        return self._returned

    def give_up(self, group: Hashable) -> None:
        """Drop the waiting function calls of a group."""
        self._waiting = deque(call for call in self._waiting if call.group != group)

    def drain(self) -> list[Call]:
        """Remove and return all waiting function calls."""
        withdrawn, self._waiting = list(self._waiting), deque()
        return withdrawn

    def close(self, *, wait: bool) -> None:
        """Do nothing, because there are no workers to shut down."""
