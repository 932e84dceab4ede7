"""The number of calls to keep waiting, so that no worker is idle during a proposal."""

import math

MEMORY = 0.7  # weight of past values in the running means
NEGLIGIBLE = 0.05  # no call is kept waiting if fewer calls than this end during a proposal
SHORTEST = 1e-9  # seconds


class Pace:
    """Running averages of how long proposals and function calls take."""

    def __init__(self) -> None:
        self._proposing: float | None = None
        self._calling: float | None = None

    def note_proposal(self, seconds: float) -> None:
        """Record how long a proposal took.

        Some proposals tune the model and take far longer than the others.
        """
        recent = _running_mean(self._proposing, seconds)
        self._proposing = seconds if self._proposing is None else max(seconds, recent)

    def note_call(self, seconds: float) -> None:
        """Record how long a function call took."""
        self._calling = _running_mean(self._calling, seconds)

    def n_ahead(self, n_workers: int) -> int:
        """Return the number of calls to queue so that no worker waits for a proposal.

        It is the number of calls that end during one proposal, but at most one per worker. Until a
        proposal and a call have been timed, it is 1.
        """
        if self._calling is None or self._proposing is None:
            return 1
        n_ending = n_workers * self._proposing / max(self._calling, SHORTEST)
        return 0 if n_ending < NEGLIGIBLE else min(math.ceil(n_ending), n_workers)


def _running_mean(mean, value):
    return value if mean is None else MEMORY * mean + (1.0 - MEMORY) * value
