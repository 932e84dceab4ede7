"""The order in which points are evaluated: initial points, then proposals."""

import math
from collections import Counter, deque
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any

from skbo_silbo.evaluation.trial import Trial
from skbo_silbo.journal.log import EventLog, NoLog
from skbo_silbo.space import SpaceExhausted


class Proposals:
    """Source of the points to evaluate: initial points, then proposals of the optimiser.

    Parameters
    ----------
    optimizer : AskTellOptimizer
    log : EventLog or NoLog
        Log of the run, after a call of its method `begin`.
    initial : list of (point, source), default=()
        Points to evaluate before the first proposal of the optimiser. They may be outside the
        space.

    Attributes
    ----------
    initial : deque of (point, source)
        Initial points that have not been evaluated yet.
    waiting : deque of points
        Points that an earlier run proposed and that have not been evaluated yet.
    """

    def __init__(
        self, optimizer: Any, log: EventLog | NoLog, initial: Iterable[tuple[Any, str]] = ()
    ) -> None:
        self.optimizer, self.log = optimizer, log
        self.initial, self.waiting = deque(initial), deque[Any]()

    def resume(self, evaluated: list[Trial], open_batch: Sequence[Trial]) -> None:
        """Skip the points that earlier runs evaluated, and continue with their pending points.

        Parameters
        ----------
        evaluated, open_batch : list of Trial
            Evaluations that have been passed to the optimiser, and evaluations of an incomplete
            batch.
        """
        keys_of, pending = self.log.points.keys, self.optimizer.pending_
        observed = keys_of(trial.point for trial in open_batch)
        left = dict(zip(keys_of(pending), pending, strict=True))
        left = {key: point for key, point in left.items() if key not in observed}
        self.waiting.extend(left.values())
        known = Counter([*keys_of(trial.point for trial in evaluated), *observed, *left])
        initial, self.initial = self.initial, deque()
        for candidate in initial:
            [key] = keys_of([candidate[0]])
            if known[key] > 0:
                known[key] -= 1
            else:
                self.initial.append(candidate)

    def next(self, n_begun: int, n_open: int) -> Trial | None:
        """Return the next trial to evaluate, or None if a finite space has no new point left.

        Parameters
        ----------
        n_begun : int
            Number of evaluations that have started in this and earlier runs.
        n_open : int
            Number of observations that the optimiser will receive from evaluations that have
            started.
        """
        if self.initial:
            point, source = self.initial.popleft()
            if is_inside := self.log.points.is_inside(point):
                self.optimizer.register(point)
            return Trial(point, source, is_inside)
        n_initial = getattr(self.optimizer, "n_initial_", math.inf)
        n_values = len(self.optimizer.func_vals_)
        source = "model" if n_values and n_values + n_open >= n_initial else "init"
        if self.waiting:
            return Trial(self.waiting.popleft(), source)
        fixed = self.fixed_parameters(n_begun, n_values + n_open)
        for values in [None] if fixed is None else [fixed, None]:
            with suppress(SpaceExhausted):
                point = self.optimizer.ask(fixed=values)
                if self.log.path is not None:
                    self.log.record_proposals(self.optimizer)
                return Trial(point, source)
        return None

    def fixed_parameters(self, n_begun: int, n_values: int) -> dict[str, Any] | None:
        """Return the parameter values to keep fixed in the next proposal, or None."""
        return None
