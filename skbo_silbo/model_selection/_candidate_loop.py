"""The loop of a search: propose, evaluate, put on disk, tell, until there is no room."""

import time
from contextlib import suppress
from dataclasses import replace
from itertools import groupby

import numpy as np
from joblib import effective_n_jobs

from skbo_silbo.model_selection._stopping import Stopping, show_progress
from skbo_silbo.space import SpaceExhausted
from skbo_silbo.space._union import branches_of

LEAST_TRIES = 2  # of every level of a category, before the model


class CandidateLoop:
    """One run of a search.

    Parameters
    ----------
    search : SILBOSearchCV
        With its optimiser.
    memory : Memory
        What an earlier run evaluated, and where to put what this one does.

    Attributes
    ----------
    candidates : list of Candidate
        In the order of evaluation.
    total : int
        How many there will be at most.
    """

    def __init__(self, search, memory):
        self.search, self.memory = search, memory
        self.optimizer, self.given = search.optimizer_, memory.given
        self.goals_of = memory.goals_of
        self.total = min(search.n_iter, memory.space.n_points + self.given.n_outside)
        self.stopping = Stopping(self.total, search.max_time, search.patience)
        self.candidates = []
        self._n_batches = 0  # the number of the next
        self._n_processed = 0  # candidates that are told, and shown to whoever asks
        self._n_told = 0
        self._left = []  # given candidates to evaluate
        self._waiting = []  # what an earlier run has asked for and not evaluated

    def run(self, make_evaluator):
        """Evaluate candidates until the search ends; return why it did.

        Parameters
        ----------
        make_evaluator : callable
            Returns a `CandidateEvaluator`, and is called if there is something to evaluate.
        """
        with show_progress(self.search.verbose, self.total) as self._show:
            size = self._recall()
            if self.stopping.room(1):
                with make_evaluator() as evaluator:
                    self._evaluate_all(evaluator, size)
        sources = {candidate.source for candidate in self.candidates}
        if self.search.verbose and sources.isdisjoint({"model", "resumed"}):
            print(
                f"[SILBOSearchCV] the model has proposed none of {len(self.candidates)} "
                "candidates: known and initial ones come first. A higher n_iter leaves it some."
            )
        return self.stopping.reason(space_is_finite=self.total < self.search.n_iter)

    def _evaluate_all(self, evaluator, size):
        """Evaluate; what has ended is told and put on disk even if the search is cut short."""
        try:
            if size is None:
                self._as_workers_are_free(evaluator)
            else:
                self._in_batches(evaluator, size)
        except BaseException:
            try:
                self._record(list(evaluator.ended()))
            finally:
                self._tell(self._unprocessed)
            raise

    def _in_batches(self, evaluator, size):
        while n := self.stopping.room(size):
            self._evaluate(self._next(n - len(self._unprocessed), evaluator), evaluator)
            if self._unprocessed:
                self._process()

    def _as_workers_are_free(self, evaluator):
        self._evaluate_suspects(evaluator)
        self._fill(evaluator)
        while evaluator.n_running:
            evaluator.wait()
            for candidate in evaluator.ended():
                self._record([candidate])
                self._process()
            self._fill(evaluator)

    def _recall(self):
        """Take over what is in the journal; return the size of batches, None for none.

        What was asked for last is waiting. If the last batch is short, as the run ended in it or
        `n_iter` did, it is not told before it is complete.
        """
        memory, recalled = self.memory, self.candidates
        size = self.search.batch_size
        if size == "auto":  # each is proposed as a worker is free
            size = 1 if effective_n_jobs(self.search.n_jobs) == 1 else None
        self._is_in_order = size is not None
        for _, batch in groupby(memory.candidates, lambda candidate: candidate.iteration):
            if self._unprocessed:
                self._notify(self._unprocessed)
            batch = list(batch)
            recalled += batch[: self.stopping.room(len(batch))]
        self._left, last = self.given.left(recalled), self._unprocessed
        is_short = 0 < len(last) < (size or 0) and last[0].is_in_order
        if not is_short or (self.given.number(last[0].params) and not self._left):
            self._notify(last)
        memory.follow(self.optimizer, len(recalled), len(self._unprocessed))
        points = self.given.without(self.optimizer.pending_)
        self._waiting = self._others(points, [candidate.params for candidate in self._unprocessed])
        if self._n_processed and not self._unprocessed:
            self._check_gain()
        return size

    # --- what is evaluated next -----------------------------------------------------------------

    def _next(self, n, evaluator):
        """Return n candidates or what is left, and where each is from, as pairs.

        Those that are given come by themselves.
        """
        given, self._left = self._left[:n], self._left[n:]
        if given or not n:
            return [(params, self.given.source(params)) for params in given]
        n_running, since = self._n_running, time.monotonic()
        points = self._propose(n)
        if not points:
            self.stopping.end("exhausted")
        evaluator.pace.note_proposal(time.monotonic() - since)
        return list(zip(points, self._sources(len(points), n_running), strict=True))

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

        As many as the design has come so after known candidates (doc/benchmarks/known.rst).
        Categories with a level that was tried less than twice are moved first, to that level. Which
        parameters are moved depends on the candidates alone, so that a resumed search goes on.
        """
        n = len(self.candidates) + self._n_running
        last = len(self.given.params) + self.optimizer.n_initial_
        if not self.given.n_known or self.search.constraints or n >= last:
            return []
        if not np.isfinite(self.optimizer.func_vals_).any():
            return []
        space = self.memory.space
        [best] = space.decode(space.encode([self.optimizer.best_x_]))  # as a journal gives it
        [branch] = [b for b in branches_of(space) if b.holds(best)][:1] or branches_of(space)[:1]
        known = [*self.optimizer.x_iters_, *self.optimizer.pending_]
        levels = hardly_tried_levels(branch, list(filter(branch.holds, known)))
        moved = names_to_move(branch, n, first=levels)
        fixed = {name: value for name, value in best.items() if name not in moved}
        fixed |= {name: value for name, value in levels.items() if name in moved}
        with suppress(SpaceExhausted):
            return self.optimizer.ask(1, fixed)
        return []

    def _others(self, points, known):
        """Return the points that are not among those known; parameters may be arrays."""
        keys = set(self.given.keys(known))
        return [
            p for p, key in zip(points, self.given.keys(points), strict=True) if key not in keys
        ]

    @property
    def _n_running(self):
        """How many points are asked for, and neither told nor waiting."""
        return len(self.optimizer.pending_) - len(self._waiting)

    def _sources(self, n, n_running):
        """Say of the next n candidates where they come from; without values there is no model."""
        n_known = len(self.optimizer.func_vals_) + n_running
        n_initial = max(self.optimizer.n_initial_, 0 if n_known else n)
        return ["init" if i < n_initial else "model" for i in range(n_known, n_known + n)]

    def _evaluate_suspects(self, evaluator):
        """Evaluate first, one by one, what an earlier run may have ended with."""
        for params in self.memory.begun.suspects():
            if self.stopping.room(1):
                [source] = self._sources(1, self._n_running)
                self._waiting = self._others(self._waiting, [params])
                if self.given.number(params):
                    source = self.given.source(params)
                self._evaluate([(params, source)], evaluator)
                self._process()
        self._left = self.given.left(self.candidates)

    def _fill(self, evaluator):
        """Let the workers have candidates, as long as they are free and there is room."""
        while n := self.stopping.room(evaluator.n_wanted, evaluator.n_running):
            points = self._next(n, evaluator)
            for params, source in points:
                if self.given.number(params) and self.given.is_modelled(params):
                    with suppress(SpaceExhausted):  # it is pending already
                        self.optimizer.ask(fixed=params)  # so that another is proposed
                evaluator.begin(params, source)
            if not points:
                return

    # --- what has been evaluated ----------------------------------------------------------------

    @property
    def _unprocessed(self):
        return self.candidates[self._n_processed :]

    def _evaluate(self, points, evaluator):
        """Evaluate a batch and put it on disk.

        One by one where an earlier run may have ended with a candidate of it, and not at all if it
        has done so again.
        """
        is_risky = any(self.memory.begun.is_suspect(params) for params, _ in points)
        if not is_risky and evaluator.n_workers > 1:
            self._record(evaluator.evaluate(points))
            return
        for point in points:
            failed = evaluator.failed_before(*point) if is_risky else None
            self._record([failed] if failed else evaluator.evaluate([point]))

    def _record(self, candidates):
        """Take candidates among the results and put them on disk."""
        own = {"iteration": self._n_batches, "is_in_order": self._is_in_order}
        candidates = [replace(candidate, **own) for candidate in candidates]
        self.candidates += candidates  # on a full disk, too
        self.memory.keep(candidates)

    def _process(self):
        """Tell, and show, a batch that is on disk."""
        batch = self._unprocessed
        self._tell(batch)
        self._notify(batch)
        self._check_gain()

    def _tell(self, candidates):
        """Tell scores of the space, with a minus sign because SILBO minimises; each once."""
        candidates = candidates[max(self._n_told - self._n_processed, 0) :]
        modelled = [c for c in candidates if self.given.is_modelled(c.params)]
        if modelled:
            told = [c.params for c in modelled], [-c.score for c in modelled]
            n_values = len(self.optimizer.func_vals_)
            try:
                if self.search._goals:
                    self.optimizer.tell_goals(*told, list(map(self.goals_of, modelled)))
                else:
                    self.optimizer.tell(*told)
            finally:  # it may warn, as an error, of what it has recorded
                if len(self.optimizer.func_vals_) > n_values:
                    self._n_told = len(self.candidates)

    def _notify(self, batch):
        """Count candidates, and show them to the user and to the callback."""
        self._n_processed += len(batch)
        self._n_batches = 1 + max((c.iteration for c in batch), default=-1)
        for candidate in batch:
            is_recalled = candidate.source == "resumed"
            self.stopping.count(candidate, recalled=is_recalled)
            self._show(self.stopping, candidate)
            callback = None if is_recalled else self.search.callback
            if callback is not None and callback(self.stopping.progress(candidate)):
                self.stopping.end("callback")

    def _check_gain(self):
        if self.stopping.looks_at_gain:
            gain = self.optimizer.expected_gain()
            self.stopping.stop_if_gain_is_negligible(gain, self.search.refit)


def names_to_move(branch, n, first):
    """Return one to three parameters of a `Space`, by a number n; those of `first` come first."""
    free = [p.name for p in branch.parameters if p.n_columns]
    order = np.random.default_rng(n).permutation(len(free)).tolist()
    order.sort(key=lambda i: free[i] not in first)
    return {free[i] for i in order[: 1 + n % 3]}


def hardly_tried_levels(branch, points):
    """Return for each category with a level that fewer than two points have: the least frequent."""
    X = branch.encode(points) if points else np.empty((0, branch.n_features_))
    counted = [(category, category.counts(X)) for category in branch.categories()]
    return {c.name: c.values[n.argmin()] for c, n in counted if n.min() < LEAST_TRIES}
