"""Which point is evaluated next: initial points first, then what the optimiser proposes."""

import math
from collections import Counter, deque
from contextlib import suppress

from skbo_silbo.evaluation._trial import Trial
from skbo_silbo.space import SpaceExhausted


class Proposals:
    """Points to evaluate.

    Parameters
    ----------
    optimizer : AskTellOptimizer
    log : EventLog or NoLog
    points : Points
        Tells which initial points are inside the space.
    initial : list of (point, source), default=()
        Points to evaluate before the optimiser is asked.

    Attributes
    ----------
    initial : deque of (point, source)
        Those that are left.
    waiting : deque of points
        Pending points of an earlier run that were not evaluated.
    """

    def __init__(self, optimizer, log, points, initial=()):
        self.optimizer, self.log, self.points = optimizer, log, points
        self.initial, self.waiting = deque(initial), deque()

    def resume(self, told, held):
        """Leave out what earlier runs evaluated, and continue with what they left pending.

        Parameters
        ----------
        told, held : list of Trial
            Evaluations that the optimiser is told, and those that wait for others of their batch.
        """
        held = self.points.keys([trial.point for trial in held])
        done = self.points.keys([trial.point for trial in told if trial.is_evaluated])
        pending = list(self.optimizer.pending_)
        pending = dict(zip(self.points.keys(pending), pending, strict=True))
        left = {key: point for key, point in pending.items() if key not in held}
        self.waiting.extend(left.values())
        known = Counter([*done, *held, *left])
        initial, self.initial = self.initial, deque()
        for point, source in initial:
            [key] = self.points.keys([point])
            if known[key] > 0:
                known[key] -= 1
            else:
                self.initial.append((point, source))

    def next(self, n_begun, n_told, n_known):
        """Return the next trial, or None if a finite space has no other point.

        Parameters
        ----------
        n_begun : int
            How many evaluations have begun, those of earlier runs included.
        n_told, n_known : int
            How many values the optimiser has, and will have when all evaluations have ended.
        """
        if self.initial:
            point, source = self.initial.popleft()
            if is_inside := self.points.is_inside(point):
                self.optimizer.register(point)
            return Trial(point, source, is_inside)
        n_initial = getattr(self.optimizer, "n_initial_", math.inf)
        source = "model" if n_told and n_known >= n_initial else "init"
        if self.waiting:
            return Trial(self.waiting.popleft(), source)
        fixed = self.fixed_parameters(n_begun)
        for kept in [None] if fixed is None else [fixed, None]:
            with suppress(SpaceExhausted):
                point = self.optimizer.ask(fixed=kept)
                if self.log.path is not None:
                    self.log.asked(self.optimizer)
                return Trial(point, source)
        return None

    def fixed_parameters(self, n_begun):
        """Return the values of parameters that the next proposal must have; None if it is free."""
        return
