"""The loop of a search: propose, evaluate, put on disk, tell, until there is no room."""

import time
from contextlib import contextmanager
from dataclasses import replace

from skbo_silbo.model_selection._goals import goal_values
from skbo_silbo.model_selection._progress import show_progress
from skbo_silbo.model_selection._proposals import Proposals
from skbo_silbo.model_selection._racing import Race
from skbo_silbo.model_selection._stopping import Stopping
from skbo_silbo.model_selection._time_aware import Times
from skbo_silbo.model_selection._under_way import CandidatesUnderWay, read_batch_size
from skbo_silbo.space import SpaceExhausted


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
        self.proposals = Proposals(search, memory)
        self.total = min(search.n_iter, memory.space.n_points + memory.given.n_outside)
        self.stopping = Stopping(self.total, search.max_time, search.patience)
        self.race = Race(search.n_splits_, search.refit) if search.racing else None
        self.times = Times(search, self.stopping) if search.time_aware else None
        if self.times is not None:
            self.proposals.ask = self.times.ask
        self._note_goals(memory.candidates)  # what was learnt of them is restored with them

    def run(self):
        """Evaluate candidates until the search ends; return why it did."""
        search = self.search
        with show_progress(search.verbose, self.total) as self.show:
            batch_size, n_workers = read_batch_size(search)
            if batch_size is None:
                self._as_workers_are_free(n_workers)
            elif self.race is None and search.timeout is None and n_workers == 1:
                self._in_batches(batch_size, self.batches.evaluate)
            else:
                with self._workers(n_workers, in_batches=True) as workers:
                    self._in_batches(batch_size, workers.evaluate)
        return self.stopping.reason(space_is_finite=self.total < search.n_iter)

    def _in_batches(self, batch_size, evaluate):
        if not self.memory.is_in_order:
            self._recall_all()
        while n := self.stopping.room(batch_size):
            if self._evaluate_given(n, evaluate):
                continue
            try:
                points, recalled = self.proposals.next_batch(n, self.batches.n_batches)
            except SpaceExhausted:  # what is left has next to no probability
                self.stopping.end("exhausted")
                break
            sources = self.proposals.sources(len(points))
            new = slice(len(recalled), None)
            self._take(self._evaluate(points[new], sources[new], evaluate), recalled)

    def _as_workers_are_free(self, n_workers):
        self._recall_all()
        with self._workers(n_workers) as workers:
            self._look_at_suspects(workers)
            given = self.proposals.given.left(self.batches.candidates)
            while self._begin(workers, given) or workers.n_under_way:
                workers.wait()
                for candidate in workers.ended():
                    self._take(self._keep_by_itself([candidate]))

    # --- what is evaluated next -----------------------------------------------------------------

    def _recall_all(self):
        """Take over all that is in the journal; what was asked for last is waiting."""
        if recalled := self.proposals.recall_all(self.stopping.room(self.search.n_iter)):
            self._note(recalled, recalled)

    def _evaluate_given(self, n, evaluate):
        """Recall a batch of what was given, or evaluate n of it after the journal; say if any."""
        left, recalled = self.proposals.next_given(n, self.batches.candidates)
        if left or recalled:
            self._take(self._evaluate(left, ["given"] * len(left), evaluate), recalled)
        return bool(left or recalled)

    def _look_at_suspects(self, workers):
        """Evaluate first, one by one, what an earlier run may have ended with."""
        for params in self.memory.begun.suspects():
            if self.stopping.room(1):
                self.proposals.take_from_waiting(params)
                is_given = self.proposals.given.number(params)
                sources = ["given"] if is_given else self.proposals.sources(1)
                evaluate = workers.evaluate
                self._take(self._evaluate([params], sources, evaluate, is_in_order=False))

    def _begin(self, workers, given):
        """Let the workers have candidates, if they are free and there is room; say whether.

        Those left of the `given` come first, and are taken from that list.
        """
        n = self.stopping.room(workers.n_wanted, workers.n_under_way)
        if not n:
            return False
        first = [given.pop(0) for _ in given[:n]]
        for params in first:
            self.proposals.note_given(params)
        for params in first:
            workers.begin(params, "given")
        if len(first) == n:
            return True
        n, n_under_way = n - len(first), self.proposals.n_under_way
        since = time.monotonic()
        try:
            points = self.proposals.next(n)
        except SpaceExhausted:
            if not workers.n_under_way:  # else what ends may go on, with more of a resource
                self.stopping.end("exhausted")
            return False
        workers.note_proposal(time.monotonic() - since)
        sources = self.proposals.sources(len(points), n_under_way)
        for params, source in zip(points, sources, strict=True):
            workers.begin(params, source)
        return True

    # --- evaluation -----------------------------------------------------------------------------

    @contextmanager
    def _workers(self, n_workers, *, in_batches=False):
        """Give workers; what has ended is told and put on disk even if the search is cut short."""
        options = {"race": self.race, "in_batches": in_batches}
        with CandidatesUnderWay(self.batches, n_workers, **options) as workers:
            try:
                yield workers
            except BaseException:
                if left := self._keep_by_itself(list(workers.ended())):
                    self.proposals.tell(left)
                    self.batches.accept(left)
                raise

    def _evaluate(self, points, sources, evaluate, *, is_in_order=True):
        """Evaluate a batch and put it on disk.

        One by one where an earlier run may have ended with a candidate of it, and not at all if it
        has done so again.
        """

        def kept(batch):
            return self._keep([replace(candidate, is_in_order=is_in_order) for candidate in batch])

        if not any(self.memory.begun.is_suspect(params) for params in points):
            return kept(evaluate(points, sources) if points else [])
        batch = []
        for params, source in zip(points, sources, strict=True):
            why = self.batches.why_not(params)
            failed = why and [self.batches.failed(params, source, why)]
            batch += kept(failed or evaluate([params], [source]))
        return batch

    def _keep_by_itself(self, candidates):
        """Put candidates on disk that are no whole batch; return them."""
        number = self.batches.n_batches
        return self._keep([replace(c, iteration=number, is_in_order=False) for c in candidates])

    def _keep(self, candidates):
        """Put candidates on disk and return them; on a full one they are among the results."""
        try:
            self.memory.keep(candidates, self.proposals.noise_of)
        except OSError:
            self.batches.accept(candidates)
            raise
        return candidates

    # --- what follows it ------------------------------------------------------------------------

    def _take(self, evaluated, recalled=()):
        """See to all that follows the evaluation of a batch, which is on disk."""
        batch = [*recalled, *evaluated]
        self.proposals.tell(batch)
        self._note(batch, recalled)

    def _note(self, batch, recalled):
        self.batches.accept(batch)
        self._note_goals(batch)
        rungs, callback = self.search._rungs, self.search.callback
        for i, candidate in enumerate(batch):
            is_recalled = i < len(recalled)
            if self.race is not None:
                self.race.note(candidate)
            if self.times is not None and self.proposals.given.is_modelled(candidate.params):
                self.times.note(candidate)
            is_full = rungs is None or rungs.is_full(candidate.params)
            self.stopping.count(candidate, recalled=is_recalled, is_full=is_full)
            self.show(self.stopping, candidate)
            if callback is None or is_recalled:
                continue
            if callback(self.stopping.progress(candidate)):
                self.stopping.end("callback")
        if self.stopping.weighs_gain and not self.memory.has_batches:
            self.stopping.weigh(self.proposals.optimizer.expected_gain(), self.search.refit)

    def _note_goals(self, candidates):
        goals, given = self.search._goals, self.proposals.given
        for candidate in candidates if goals else ():
            values = goal_values(candidate, goals)
            if given.is_modelled(candidate.params):
                self.search.optimizer_.note_goals(candidate.params, values)
