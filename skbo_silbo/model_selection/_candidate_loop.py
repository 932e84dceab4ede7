"""The loop of a search: propose, evaluate, put on disk, tell, until there is no room."""

import time
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import groupby

import numpy as np
from joblib import effective_n_jobs

from skbo_silbo.model_selection._goals import goal_values
from skbo_silbo.model_selection._stopping import Stopping, show_progress
from skbo_silbo.model_selection._under_way import CandidatesUnderWay
from skbo_silbo.space import SpaceExhausted
from skbo_silbo.space._union import branches_of


class CandidateLoop:
    """One run of a search.

    Parameters
    ----------
    search : SILBOSearchCV
        With its optimiser.
    batches : Batches
        Evaluates candidates, and holds those evaluated.
    memory : Memory
        What an earlier run evaluated, and where to put what this one does.
    """

    def __init__(self, search, batches, memory):
        self.search, self.batches, self.memory = search, batches, memory
        self.optimizer, self.given = search.optimizer_, memory.given
        self.total = min(search.n_iter, memory.space.n_points + self.given.n_outside)
        self.stopping = Stopping(self.total, search.max_time, search.patience)
        self.n_taken = 0  # candidates that are told, and all that follows seen to
        self.n_told = 0
        self._left = []  # given candidates to evaluate
        self._waiting = []  # what an earlier run has asked for and not evaluated

    def run(self):
        """Evaluate candidates until the search ends; return why it did."""
        with show_progress(self.search.verbose, self.total) as self.show:
            batch_size, n_workers = read_batch_size(self.search)
            self.is_in_order = batch_size is not None
            self._recall(batch_size or 0)
            if self.stopping.room(1):
                with self._workers(n_workers) as workers:
                    if batch_size is None:
                        self._as_workers_are_free(workers)
                    else:
                        self._in_batches(batch_size, workers)
        return self.stopping.reason(space_is_finite=self.total < self.search.n_iter)

    def _in_batches(self, batch_size, workers):
        while n := self.stopping.room(batch_size):
            self._evaluate(self._next(n - len(self._untold), workers), workers)
            if self._untold:
                self._take()

    def _as_workers_are_free(self, workers):
        self._look_at_suspects(workers)
        self._fill(workers)
        while workers.n_under_way:
            workers.wait()
            for candidate in workers.ended():
                self._keep([candidate])
                self._take()
            self._fill(workers)

    def _recall(self, batch_size):
        """Take over what is in the journal; what was asked for last is waiting.

        If the last batch is short, as the run ended in it or `n_iter` did, it is not told before it
        is complete.
        """
        memory, recalled = self.memory, self.batches.candidates
        for _, batch in groupby(memory.candidates, lambda candidate: candidate.iteration):
            if self._untold:
                self._note(self._untold)
            batch = list(batch)
            recalled += batch[: self.stopping.room(len(batch))]
        self._left, last = self.given.left(recalled), self._untold
        is_short = 0 < len(last) < batch_size and last[0].is_in_order
        if not is_short or (self.given.number(last[0].params) and not self._left):
            self._note(last)
        memory.follow(self.optimizer, len(recalled), len(self._untold))
        points = self.given.without(self.optimizer.pending_)
        self._waiting = self._others(points, [candidate.params for candidate in self._untold])
        if self.n_taken and not self._untold:
            self._weigh()

    # --- what is evaluated next -----------------------------------------------------------------

    def _next(self, n, workers):
        """Return n candidates or what is left, and where each is from, as pairs.

        Those that are given come by themselves.
        """
        given, self._left = self._left[:n], self._left[n:]
        if given or not n:
            return [(params, self.given.source(params)) for params in given]
        n_under_way, since = self._n_under_way, time.monotonic()
        points = self._propose(n)
        if not points:
            self.stopping.end("exhausted")
        workers.note_proposal(time.monotonic() - since)
        return list(zip(points, self._sources(len(points), n_under_way), strict=True))

    def _propose(self, n):
        """Return n points, those first that are waiting; fewer where no more are left.

        The others are asked for at once: after a value is told the model is fitted once.
        """
        points, self._waiting = self._waiting[:n], self._waiting[n:]
        while len(points) < n and (near := self._near_known()):
            points += near
        at_once = n - len(points)
        while len(points) < n:
            try:
                points += self.optimizer.ask(at_once)
            except SpaceExhausted:
                if at_once == 1:
                    break
                at_once = 1
        return points

    def _near_known(self):
        """Return a point that moves one to three parameters of the best, in a list, or none.

        As many as the design has come so after known candidates (doc/benchmarks/known.rst). Which
        parameters are moved hangs on the number of candidates alone: a resumed search goes on.
        """
        values, n = self.optimizer.func_vals_, self._n_begun
        last = len(self.given.params) + self.optimizer.n_initial_
        if not self.given.n_known or self.search.constraints or n >= last:
            return []
        if not np.isfinite(values).any():
            return []
        space = self.memory.space
        [best] = space.decode(space.encode([self.optimizer.best_x_]))  # as a journal gives it
        moved = names_to_move(space, best, n)
        with suppress(SpaceExhausted):
            return self.optimizer.ask(1, {k: v for k, v in best.items() if k not in moved})
        return []

    @property
    def _n_begun(self):
        return len(self.batches.candidates) + self._n_under_way

    def _others(self, points, known):
        """Return the points that are not among those known; parameters may be arrays."""
        keys = set(self.given.keys(known))
        return [
            p for p, key in zip(points, self.given.keys(points), strict=True) if key not in keys
        ]

    @property
    def _n_under_way(self):
        """How many points are asked for, and neither told nor waiting."""
        return len(self.optimizer.pending_) - len(self._waiting)

    def _sources(self, n, n_under_way):
        """Say of the next n candidates where they come from; without values there is no model."""
        n_known = len(self.optimizer.func_vals_) + n_under_way
        n_initial = max(self.optimizer.n_initial_, 0 if n_known else n)
        return ["init" if i < n_initial else "model" for i in range(n_known, n_known + n)]

    def _look_at_suspects(self, workers):
        """Evaluate first, one by one, what an earlier run may have ended with."""
        for params in self.memory.begun.suspects():
            if self.stopping.room(1):
                [source] = self._sources(1, self._n_under_way)
                self._waiting = self._others(self._waiting, [params])
                if self.given.number(params):
                    source = self.given.source(params)
                self._evaluate([(params, source)], workers)
                self._take()
        self._left = self.given.left(self.batches.candidates)

    def _fill(self, workers):
        """Let the workers have candidates, as long as they are free and there is room."""
        while n := self.stopping.room(workers.n_wanted, workers.n_under_way):
            points = self._next(n, workers)
            for params, source in points:
                if self.given.number(params) and self.given.is_modelled(params):
                    with suppress(SpaceExhausted):  # it is pending already
                        self.optimizer.ask(fixed=params)  # so that another is proposed
                workers.begin(params, source)
            if not points:
                return

    # --- evaluation -----------------------------------------------------------------------------

    @contextmanager
    def _workers(self, n_workers):
        """Give workers; what has ended is told and put on disk even if the search is cut short."""
        with CandidatesUnderWay(self.batches, n_workers) as workers:
            try:
                yield workers
            except BaseException:
                try:
                    self._keep(list(workers.ended()))
                finally:
                    self._tell(self._untold)
                raise

    def _evaluate(self, points, workers):
        """Evaluate a batch and put it on disk.

        One by one where an earlier run may have ended with a candidate of it, and not at all if it
        has done so again.
        """
        is_risky = any(self.memory.begun.is_suspect(params) for params, _ in points)
        one_by_one = is_risky or workers.n_workers == 1
        for group in [[point] for point in points] if one_by_one else [points] if points else []:
            why = self.batches.why_not(group[0][0]) if is_risky else None
            failed = why and [self.batches.candidate(*group[0], None, why)]
            self._keep(failed or workers.evaluate(*zip(*group, strict=True)))

    def _keep(self, candidates):
        """Take candidates among the results and put them on disk."""
        own = {"iteration": self.batches.n_batches, "is_in_order": self.is_in_order}
        candidates = [replace(candidate, **own) for candidate in candidates]
        self.batches.candidates += candidates  # on a full disk, too
        self.memory.keep(candidates)

    # --- what follows it ------------------------------------------------------------------------

    @property
    def _untold(self):
        return self.batches.candidates[self.n_taken :]

    def _take(self):
        """See to all that follows the evaluation of a batch, which is on disk."""
        batch = self._untold
        self._tell(batch)
        self._note(batch)
        self._weigh()

    def _tell(self, candidates):
        """Tell scores of the space, with a minus sign because SILBO minimises; each once."""
        candidates = candidates[max(self.n_told - self.n_taken, 0) :]
        modelled = [c for c in candidates if self.given.is_modelled(c.params)]
        if modelled:
            params, values = [c.params for c in modelled], [-c.score for c in modelled]
            n_values = len(self.optimizer.func_vals_)
            try:
                self.optimizer.tell(params, values)
            finally:  # it may warn, as an error, of what it has recorded
                if len(self.optimizer.func_vals_) > n_values:
                    self.n_told = len(self.batches.candidates)

    def _note(self, batch):
        self.n_taken += len(batch)
        self.batches.n_batches = 1 + max((c.iteration for c in batch), default=-1)
        callback = self.search.callback
        for candidate in batch:
            is_recalled = candidate.source == "resumed"
            if self.search._goals:
                values = goal_values(candidate, self.search._goals)
                if self.given.is_modelled(candidate.params):
                    self.optimizer.note_goals(candidate.params, values)
            self.stopping.count(candidate, recalled=is_recalled)
            self.show(self.stopping, candidate)
            if callback is None or is_recalled:
                continue
            if callback(self.stopping.progress(candidate)):
                self.stopping.end("callback")

    def _weigh(self):
        if self.stopping.weighs_gain:
            self.stopping.weigh(self.optimizer.expected_gain(), self.search.refit)


def names_to_move(space, point, n):
    """Return one to three parameters of a point that have other values, by a number n."""
    [branch] = [b for b in branches_of(space) if b.holds(point)][:1] or branches_of(space)[:1]
    free = [p.name for p in branch.parameters if p.n_columns]
    order = np.random.default_rng(n).permutation(len(free))
    return {free[i] for i in order[: 1 + n % 3]}


def read_batch_size(search):
    """Return the size of the batches of a search, None for none, and the number of workers."""
    n_workers = effective_n_jobs(search.n_jobs)
    if search.batch_size != "auto" or n_workers == 1:
        return (1 if search.batch_size == "auto" else search.batch_size), n_workers
    return None, n_workers
