"""How many calls to have ready while a proposal is made."""

from math import ceil

MEMORY = 0.7  # of the running figures of how long proposals and calls take
NEGLIGIBLE = 0.05  # calls that end while one proposal is made: then none is made ahead
SHORTEST = 1e-9  # seconds


class Pace:
    """Of late: how long the longest proposal took, and a call in the mean; in seconds."""

    def __init__(self) -> None:
        self._proposing: float | None = None
        self._calling: float | None = None

    def note_proposal(self, seconds: float) -> None:
        """Record how long a proposal took: a decaying maximum.

        A model that tunes itself now and then takes far longer than one that does not.
        """
        recent = _running_mean(self._proposing, seconds)
        self._proposing = seconds if self._proposing is None else max(seconds, recent)

    def note_call(self, seconds: float) -> None:
        """Record how long a call took."""
        self._calling = _running_mean(self._calling, seconds)

    def n_ahead(self, n_workers: int) -> int:
        """Return how many calls to have ready beyond those that run.

        As many as end while a proposal is made, at most one for every worker; one while nothing
        is known.
        """
        if self._calling is None or self._proposing is None:
            return 1
        n_ending = n_workers * self._proposing / max(self._calling, SHORTEST)
        return 0 if n_ending < NEGLIGIBLE else min(ceil(n_ending), n_workers)


def _running_mean(mean, value):
    return value if mean is None else MEMORY * mean + (1.0 - MEMORY) * value
