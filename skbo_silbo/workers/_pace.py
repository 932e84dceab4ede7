"""How many calls to keep ready, so that no worker waits for a proposal."""

import math

MEMORY = 0.7  # weight of the past in the running means
NEGLIGIBLE = 0.05  # calls that end during one proposal, below which no call is kept ready
SHORTEST = 1e-9  # seconds


class Pace:
    """Running means of how long proposals and calls take, in seconds."""

    def __init__(self) -> None:
        self._proposing: float | None = None
        self._calling: float | None = None

    def note_proposal(self, seconds: float) -> None:
        """Update the decaying maximum of the proposal times.

        Some proposals tune the model and take far longer than the others.
        """
        recent = _running_mean(self._proposing, seconds)
        self._proposing = seconds if self._proposing is None else max(seconds, recent)

    def note_call(self, seconds: float) -> None:
        """Record how long a call took."""
        self._calling = _running_mean(self._calling, seconds)

    def n_ahead(self, n_workers: int) -> int:
        """Return how many calls to keep ready in addition to those that run.

        These are as many calls as end during one proposal, but at most one for each worker. It is
        one call until a proposal and a call have been timed.
        """
        if self._calling is None or self._proposing is None:
            return 1
        n_ending = n_workers * self._proposing / max(self._calling, SHORTEST)
        return 0 if n_ending < NEGLIGIBLE else min(math.ceil(n_ending), n_workers)


def _running_mean(mean, value):
    return value if mean is None else MEMORY * mean + (1.0 - MEMORY) * value
