"""What a search evaluates next, and what its optimiser is told of it."""

import math
from contextlib import suppress

from skbo_silbo.model_selection._candidates import score_noise
from skbo_silbo.space import SpaceExhausted


class Proposals:
    """Candidates from where they come: given, from the journal, or asked for.

    Parameters
    ----------
    search : SILBOSearchCV
        With the optimiser that is asked and told.
    memory : Memory
        What an earlier run asked for and evaluated.

    Attributes
    ----------
    given : Given
        The candidates that come first.
    waiting : list of dict
        What an earlier run has asked for and not evaluated.
    ask : callable
        ``ask(n)`` gives n points.
    """

    def __init__(self, search, memory):
        self.optimizer, self.memory, self.given = search.optimizer_, memory, memory.given
        self.waiting, self.ask = [], search.optimizer_.ask
        self._fold_noise, self._racing, self._refit = search.fold_noise, search.racing, search.refit

    def next_given(self, n, candidates):
        """Return given candidates to evaluate, and those of the next batch of the journal.

        What was given since is evaluated after all that is in the journal.
        """
        recalled = self.memory.next_given(n)
        if self.memory.has_batches:
            return [], recalled
        left = self.given.left([*candidates, *recalled])
        return left[: max(n - len(recalled), 0)], recalled

    def next_batch(self, n, number):
        """Return n points of a batch, and the candidates of the journal that the first are."""
        points, recalled = self.memory.next_batch(self.optimizer, n, number)
        try:
            return [*points, *self.next(n - len(points))], recalled
        except SpaceExhausted:
            if not points:
                raise
            return points, recalled

    def next(self, n):
        """Return n points or what is left, those first that are waiting.

        The others are asked for at once: after a value is told the model is fitted once.
        """
        points = [self.waiting.pop(0) for _ in range(min(n, len(self.waiting)))]
        return points + (self._ask(n - len(points)) if len(points) < n else [])

    def _ask(self, n):
        """Return n new points, fewer where constraints leave fewer; at least one."""
        try:
            return self.ask(n)
        except SpaceExhausted:
            if n == 1:
                raise
        points = self.ask(1)
        with suppress(SpaceExhausted):
            while len(points) < n:
                points += self.ask(1)
        return points

    def recall_all(self, n):
        """Take over all that is in the journal, n candidates at most, and return them."""
        recalled = self.memory.follow_all(self.optimizer, n)
        self.waiting.extend(self.given.without(self.optimizer.pending_))
        return recalled

    def take_from_waiting(self, params):
        """Let a candidate not be waiting any more."""
        self.waiting[:] = [point for point in self.waiting if point != params]

    def note_given(self, params):
        """Let the optimiser know that a given one is under way, so that it proposes another."""
        if self.given.is_modelled(params):
            with suppress(SpaceExhausted):  # it is already
                self.optimizer.ask(fixed=params)

    @property
    def n_under_way(self):
        """How many points are asked for, and neither told nor waiting."""
        return len(self.optimizer.pending_) - len(self.waiting)

    def sources(self, n, n_under_way=0):
        """Say of the next n candidates where they come from; without values there is no model."""
        n_known = len(self.optimizer.func_vals_) + n_under_way
        n_initial = max(self.optimizer.n_initial_, 0 if n_known else n)
        return ["init" if i < n_initial else "model" for i in range(n_known, n_known + n)]

    def tell(self, candidates):
        """Tell scores of the space, with a minus sign because SILBO minimises."""
        modelled = [c for c in candidates if self.given.is_modelled(c.params)]
        tells_noise = self._fold_noise or self._racing
        noise = [self.noise_of(c) for c in modelled] if tells_noise else None
        if modelled:
            params, values = [c.params for c in modelled], [-c.score for c in modelled]
            self.optimizer.tell(params, values, noise_std=noise)

    def noise_of(self, candidate):
        """Return the standard deviation of a score as it is told, NaN where none is."""
        if candidate.is_stopped:
            return candidate.noise
        return score_noise(candidate.rows, self._refit) if self._fold_noise else math.nan
