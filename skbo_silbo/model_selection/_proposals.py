"""The order in which candidates are evaluated: initial candidates, initial design, proposals."""

from collections.abc import Container
from typing import Any

import numpy as np

from skbo_silbo.evaluation.proposals import Proposals
from skbo_silbo.model_selection._initial_candidates import InitialCandidates
from skbo_silbo.space import Space
from skbo_silbo.space.any_space import branches_of

LEAST_TRIES = 2  # evaluations of each level of a category before the model proposes


class CandidateProposals(Proposals):
    """Source of the candidates that a search evaluates.

    After the initial candidates, the initial design tries every branch of the space once, and then
    changes one to three parameters of the best candidate. In the same time, more of these
    candidates can be evaluated than points that fill the space (doc/benchmarks/seconds.rst).
    Categorical parameters with a value that was tried less than twice are changed first, to that
    value.

    Parameters
    ----------
    optimizer : SILBO
    log : EventLog or NoLog
    given : InitialCandidates
    moves_best : bool
        Whether the initial design changes some parameters of the best candidate instead of drawing
        all of them.
    """

    def __init__(
        self, optimizer: Any, log: Any, given: InitialCandidates, *, moves_best: bool
    ) -> None:
        super().__init__(optimizer, log, given.due)
        self._n_design = optimizer.n_initial_ if moves_best else 0

    def fixed_parameters(self, n_begun: int, n_values: int) -> dict[str, Any] | None:
        """Return the parameters to fix in the next candidate of the initial design, or None."""
        if n_values < self._n_design and np.isfinite(self.optimizer.func_vals_).any():
            return self._kept_of_best(n_begun)
        return None

    def _kept_of_best(self, n: int) -> dict[str, Any] | None:
        """Return the parameters of an untried branch or of the best candidate to fix, or None.

        The result depends only on the candidates so far, so that a resumed search continues in the
        same way.
        """
        space, branches = self.optimizer.space_, branches_of(self.optimizer.space_)
        known = [*self.optimizer.x_iters_, *self.optimizer.pending_]
        for branch in branches:
            if not any(map(branch.holds, known)):
                return {p.name: p.values[0] for p in branch.parameters if not p.n_columns} or None
        [best] = space.decode(space.encode([self.optimizer.best_x_]))  # as read from a journal
        [branch] = [b for b in branches if b.holds(best)][:1] or branches[:1]
        levels = hardly_tried_levels(branch, list(filter(branch.holds, known)), best)
        moved = parameters_to_move(branch, n, first=levels)
        kept = {name: value for name, value in best.items() if name not in moved}
        return kept | {name: value for name, value in levels.items() if name in moved}


def parameters_to_move(branch: Space, n: int, first: Container[str]) -> set[str]:
    """Return the names of one to three parameters to change in the next proposal.

    Parameters in `first` are preferred.
    """
    free = [p.name for p in branch.parameters if p.n_columns]
    order = np.random.default_rng(n).permutation(len(free)).tolist()
    order.sort(key=lambda i: free[i] not in first)
    return {free[i] for i in order[: 1 + n % 3]}


def hardly_tried_levels(
    branch: Space, points: list[dict[str, Any]], best: dict[str, Any]
) -> dict[str, Any]:
    """Return the least evaluated value of each categorical parameter with rare values.

    The value of the best candidate is never returned.
    """
    X = branch.encode(points) if points else np.empty((0, branch.n_features_))
    found = {}
    for category in branch.categories():
        counts = category.counts(X).astype(float)
        counts[category.counts(branch.encode([best])) > 0] = np.inf
        if counts.min() < LEAST_TRIES:
            found[category.name] = category.values[counts.argmin()]
    return found
