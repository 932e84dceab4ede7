"""The order in which points are evaluated: initial points, then proposals."""

import math
from collections import Counter, deque
from contextlib import suppress

from skbo_silbo.evaluation.trial import Trial
from skbo_silbo.space import SpaceExhausted


class Proposals:
    """Source of the points to evaluate: initial points, then proposals of the optimiser.

    Parameters
    ----------
    optimizer : AskTellOptimizer
    log : EventLog or NoLog
    points : Points
        Converter between points and their form in the journal. It determines which initial points
        are inside the space.
    initial : list of (point, source), default=()
        Points to evaluate before the first proposal of the optimiser.

    Attributes
    ----------
    initial : deque of (point, source)
        Initial points that have not been evaluated yet.
    waiting : deque of points
        Points that an earlier run proposed and that have not been evaluated yet.
    """

    def __init__(self, optimizer, log, points, initial=()):
        self.optimizer, self.log, self.points = optimizer, log, points
        self.initial, self.waiting = deque(initial), deque()

    def resume(self, told, held):
        """Skip the points that earlier runs evaluated, and continue with their pending points.

        Parameters
        ----------
        told, held : list of Trial
            Trials whose observations have been passed to the optimiser, and trials of an incomplete
            batch.
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

    def next(self, n_begun, n_open):
        """Return the next trial to evaluate, or None if a finite space has no new point left.

        Parameters
        ----------
        n_begun : int
            Number of evaluations that have started, including those of earlier runs.
        n_open : int
            Number of observations that the optimiser will receive from evaluations that have
            started.
        """
        if self.initial:
            point, source = self.initial.popleft()
            if is_inside := self.points.is_inside(point):
                self.optimizer.register(point)
            return Trial(point, source, is_inside)
        n_initial = getattr(self.optimizer, "n_initial_", math.inf)
        n_told = len(self.optimizer.func_vals_)
        source = "model" if n_told and n_told + n_open >= n_initial else "init"
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
        """Return the parameter values to keep fixed in the next proposal, or None."""
        return
