"""Which point is evaluated next: initial points first, then what the optimiser proposes."""

from collections import Counter, deque

from skbo_silbo.optimizers import EmbeddedOptimizer


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
    """

    def __init__(self, optimizer, log, points, initial=()):
        self.optimizer, self.log, self.points = optimizer, log, points
        self.initial = deque(initial)
        self.waiting = deque()  # pending points of an earlier run that were not evaluated

    def resume(self, done, held):
        """Leave out what earlier runs evaluated, and continue with what they left pending.

        Parameters
        ----------
        done, held : list of points
            All that were evaluated, and those of them that the optimiser is not told yet.
        """
        held = set(self.points.keys(held))
        pending = list(self.optimizer.pending_)
        keys = self.points.keys(pending)
        self.waiting.extend(p for p, key in zip(pending, keys, strict=True) if key not in held)
        known = Counter([*self.points.keys(done), *keys])
        left = []
        for point, source in self.initial:
            [key] = self.points.keys([point])
            if known[key] > 0:
                known[key] -= 1
            else:
                left.append((point, source))
        self.initial = deque(left)

    def leave_out_told(self):
        """Leave out waiting points whose values the optimiser has been told since."""
        pending = set(self.points.keys(list(self.optimizer.pending_)))
        self.waiting = deque(p for p in self.waiting if self.points.keys([p])[0] in pending)

    def next(self, n_begun, n_running):
        """Return a point and where it comes from.

        Parameters
        ----------
        n_begun : int
            How many evaluations have begun, those of earlier runs included.
        n_running : int
            How many of them the optimiser has not been told.

        Raises
        ------
        SpaceExhausted
            If a finite space has no other point.
        """
        if self.initial:
            point, source = self.initial.popleft()
            if self.points.is_inside(point):
                self.optimizer.register(point)
            return point, source
        source = self._source(n_running)
        if self.waiting:
            return self.waiting.popleft(), source
        return self.ask(n_begun), source

    def ask(self, n_begun):
        """Return a new point of the optimiser, after recording it."""
        point = self.optimizer.ask()
        self.log.asked(self.optimizer)
        return point

    @property
    def n_observed(self):
        """How many values the optimiser has."""
        return len(self.optimizer.func_vals_)

    def _source(self, n_running):
        if not isinstance(self.optimizer, EmbeddedOptimizer):
            return "init"
        n_known = self.n_observed + n_running
        return "init" if n_known < self.optimizer.n_initial_ or not self.n_observed else "model"
