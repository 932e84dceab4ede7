"""The loop that every model-based optimiser here is a configuration of.

    tell:  points, values -> history
    ask:   history -> belief (embedding, surrogate) -> surface -> found (z, x) -> point

=========  =========  =====================================================================
symbol     shape      meaning
=========  =========  =====================================================================
x, X       (d,)       points of the cube ``[-1, 1]^d`` that the space is seen as
v                     coordinates of a sketch, where there is one: x is made from v
z, Z       (r,)       coordinates of the embedding, ``z = x B``
y          (n,)       values told, to be minimised; not finite where the evaluation failed
=========  =========  =====================================================================

Each stage has a room (doc/architecture.rst): `embedding` learns B, `surrogate` predicts in z,
`acquisition` says where to look, `mapping` goes between z and x.
"""

from abc import abstractmethod
from dataclasses import replace
from functools import cached_property

import numpy as np
from sklearn.exceptions import NotFittedError

from skbo_silbo._sklearn import one_thread
from skbo_silbo.acquisition import AcquisitionSurface
from skbo_silbo.acquisition._functions import no_improvement
from skbo_silbo.embedding import Embedding, LinearEmbedding
from skbo_silbo.embedding._learners import IdentityLearner
from skbo_silbo.embedding._learnt import check_learnt
from skbo_silbo.embedding._plain_data import RELEARN, embedding_from_data, embedding_to_data
from skbo_silbo.mapping._ledger import make_ledger
from skbo_silbo.optimizers._base import AskTellOptimizer
from skbo_silbo.optimizers._belief import Belief
from skbo_silbo.optimizers._configuration import Configuration, is_update_due
from skbo_silbo.optimizers._design import Design, random_points
from skbo_silbo.optimizers._events import places_of
from skbo_silbo.optimizers._history import Labelled, impute_failures
from skbo_silbo.optimizers._returned import (
    check_design,
    check_found,
    check_made,
    lowest_mean,
    warped,
)
from skbo_silbo.sensitivity import LearntSubspace
from skbo_silbo.sensitivity._evidence import Rival
from skbo_silbo.sensitivity._subspace import describe_subspace
from skbo_silbo.space import draw_unseen, first_rows, key_of
from skbo_silbo.surrogate._feasibility import fit_feasibility, restore_feasibility
from skbo_silbo.surrogate._warps import choose_warp

CHOICE_GROWTH = 1.25  # labels, relative, between choices of the scale of the values


class EmbeddedOptimizer(AskTellOptimizer):
    """Base of the optimisers with an embedding and a surrogate; a subclass says `_configure`.

    Parameters
    ----------
    bounds : array-like of shape (d, 2), scipy.optimize.Bounds, dict or Space
        Where to search.
    random_state : int, RandomState, Generator or None, default=None
        Seed.
    """

    def _assemble(self):
        """Make the parts and the empty belief; the last step of a subclass's construction."""
        d = self.space_.n_features_
        self._configuration = self._configure(d)
        self._ledger = make_ledger(self._configuration.mapping, self.space_)
        self._belief = Belief(LinearEmbedding(d), self._configuration.warps[0])
        self._unlabeled = np.empty((0, d))  # what the last search ranked next
        self._described = None  # the last `subspace_` and the belief it was made from

    @abstractmethod
    def _configure(self, d: int) -> Configuration:
        """Return the `Configuration` for d columns, after checking the arguments."""

    @property
    def n_initial_(self) -> int:
        """How many points, told ones included, come before the first model."""
        return self._configuration.n_initial

    @property
    def embedding_(self) -> Embedding:
        """The embedding in use; the identity before the first model."""
        return self._belief.embedding

    # --- ask ------------------------------------------------------------------------------------

    def _propose(self):
        index = self._n_known
        rng = self._rng(index)
        with one_thread():
            if index < self._configuration.n_initial or len(self._history) == 0:
                return self._design_point(index, rng)
            again = self._update_belief()
            if again is not None:
                return again
            if self._belief.surrogate is None:
                return draw_unseen(self.space_, self._seen, rng)
            search = self._configuration.search
            surface = self._surface(search.n_points)
            found = search.find(surface, self._belief.ranked, self.space_, rng)
            check_found(search, found)
            return self._choose(found, rng)

    def _design_point(self, index, rng):
        X, Z = self._design.X, self._design.Z
        if index < len(X) and key_of(X[index]) not in self._seen:
            if Z is not None:
                self._ledger.note(X[[index]], Z[[index]])
            return X[index]
        return draw_unseen(self.space_, self._seen, rng)

    @cached_property
    def _design(self):
        n, d = self.n_initial_, self.space_.n_features_
        made = self._configuration.design(n, d, self._rng(0, 0))
        design = made if isinstance(made, Design) else Design(check_design(made, n, d))
        return replace(design, X=self.space_.round(design.X))

    # --- belief ---------------------------------------------------------------------------------

    def _update_belief(self):
        """Learn from what was told; return a point that has to be evaluated again first, or None.

        When the embedding changes, some mappings move points: these wait to be evaluated again.
        """
        again = self._ledger.waiting(self._seen)
        if again is not None or self._belief.n_told == len(self._history):
            return again
        self._learn()
        again = self._ledger.waiting(self._seen)
        if again is None:
            labelled = self._labelled()
            self._ledger.adopt(labelled.X, self._belief.embedding)
            self._belief = self._conditioned(labelled)
        return again

    def _labelled(self):
        """Return the evaluations to learn from, in canonical order: `Labelled`."""
        return Labelled(*self._ledger.select(*self._history.canonical))

    def _learn(self):
        """Learn the embedding, and before that choose the scale of the values, where it is due."""
        X, y, *_ = self._labelled()
        belief, n = self._belief, y.size
        first, schedule = belief.learnt_at == 0, self._configuration.update_every
        if not first and not is_update_due(schedule, n, belief.learnt_at):
            return
        if first and not len(self._unlabeled):
            self._unlabeled = self._first_unlabeled()
        if n >= CHOICE_GROWTH * belief.chosen_at:
            belief = replace(belief, warp=self._choose_warp(X, y), chosen_at=n)
        learner = self._configuration.learner
        learnt = learner.learn(*learning_data(X, y, self._unlabeled, belief.warp))
        check_learnt(learner, learnt, X.shape[1])
        belief = replace(belief, learnt_at=n)
        if first or not (learnt.is_identity and belief.embedding.is_identity):
            self._ledger.move(learnt, self._seen, first)
            belief = replace(
                belief,
                embedding=learnt,
                path=belief.path_with(n, learner.name, learnt.r),
                surrogate=None,
                moved=True,
                n_told=None,
            )
        self._belief = belief

    def _first_unlabeled(self):
        """Return the unlabelled points of the first embedding, (n, d), uniform in the cube."""
        n = self._configuration.n_first_unlabeled
        return self.space_.round(random_points(n, self.space_.n_features_, self._rng(0, 4)))

    def _choose_warp(self, X, y):
        configuration, finite = self._configuration, np.isfinite(y)
        Z = self._belief.embedding.project(X[finite])
        rng = self._rng(y.size, 1)
        return choose_warp(configuration.warps, configuration.maker, Z, y[finite], rng)

    def _conditioned(self, labelled):
        """Return the belief with a surrogate of everything told; it tunes itself when that is due.

        Without one where nothing is told yet for the places that points have moved to.
        """
        belief, n = self._belief, labelled.y.size
        if not n:
            return replace(belief, surrogate=None, n_told=len(self._history))
        data, rng = self._surrogate_data(labelled), self._rng(n, 2)
        maker = self._configuration.maker
        made = maker.fit(belief.state, *data, moved=belief.moved, rng=rng)
        surrogate, state = check_made(maker, made)
        belief = self._with_surrogate(surrogate, state, labelled)
        if not labelled.constraints.shape[1]:
            return belief
        known = belief.feasibility_states, labelled.X, labelled.constraints
        feasibility, states = fit_feasibility(*known)
        return replace(belief, feasibility=feasibility, feasibility_states=states)

    def _surrogate_data(self, labelled):
        """Return coordinates, (m, r), values and known variances, (m,), as the surrogate sees them.

        The variances go through the warp by its slope; 0 where they are not known.
        """
        X, y, noise_std, _ = labelled
        Z, source = self._ledger.locate(X, self._belief.embedding)
        filled, warp = impute_failures(y), self._belief.warp
        known = np.where(np.isfinite(y) & np.isfinite(noise_std), noise_std, 0.0)
        variance = (known * np.exp(warp.log_slope(filled))) ** 2
        return np.array(Z), warped(warp, filled)[source], variance[source]  # history stays ours

    def _with_surrogate(self, surrogate, state, labelled):
        ranked, n_feasible = labelled.ranked()
        return replace(
            self._belief,
            surrogate=surrogate,
            state=state,
            moved=False,
            n_told=len(self._history),
            ranked=ranked,
            n_feasible=n_feasible,
        )

    # --- search ---------------------------------------------------------------------------------

    def _rank(self, X):
        """Return the acquisition at places X, (n, m), of the belief that `_propose` has used."""
        if self._belief.surrogate is None or self._n_known < self.n_initial_:
            return super()._rank(X)
        with one_thread():
            return self._surface(len(X)).values(X)

    def _surface(self, n_points):
        """Return the acquisition, pending points believed to have their predicted values."""
        belief, embedding = self._belief, self._belief.embedding
        surrogate, feasibility = belief.surrogate, belief.feasibility
        good = []  # coordinates that a new point is to improve on
        if belief.n_feasible:
            good.append(self._ledger.locate(belief.ranked[: belief.n_feasible], embedding)[0])
        if self._pending:
            pending = np.array(list(self._pending.values()))
            believed, source = self._ledger.locate(pending, embedding)
            surrogate = surrogate.with_points(believed, surrogate.predict(believed)[0])
            if feasibility is None:
                good.append(believed)
            else:
                good.append(believed[feasibility.holds_surely(pending)[source]])
                feasibility = feasibility.believing(pending)
        acquisition, best = no_improvement, np.inf
        if belief.n_feasible:
            best = lowest_mean(surrogate, np.vstack(good))  # noise makes low values too
            acquisition = self._configuration.acquisition(self._n_known + 1, n_points)
        told = belief.surrogate
        return AcquisitionSurface(acquisition, surrogate, embedding, best, feasibility, told)

    def _choose(self, found, rng):
        """Return the first new point; the new ones after it are unlabelled in the next fit."""
        belief, seen = self._belief, self._seen
        mapping, n_unlabeled = self._configuration.mapping, self._configuration.n_unlabeled
        # In portions: some are dear to place, and few points of a small discrete space are new.
        for some in found.portions(n_unlabeled + 1):
            X = self.space_.round(mapping.place(some, belief.embedding, belief.ranked[0]))
            new = first_rows(X, seen)
            if new:
                self._unlabeled = X[new[1 : n_unlabeled + 1]]
                return self._settle(X[new[0]], some.Z[new[0]], rng)
        return draw_unseen(self.space_, seen, rng)

    def _settle(self, x, z, rng):
        """Return the point to evaluate for the z chosen: x, or the mapping's costlier preimage."""
        settled = self._configuration.mapping.settle(x, z, self._belief.embedding, rng)
        settled = self.space_.round(settled[None])[0]
        x = x if key_of(settled) in self._seen else settled
        self._ledger.note(x[None], z[None])
        return x

    # --- what was learnt ------------------------------------------------------------------------

    @property
    def subspace_(self) -> LearntSubspace:
        """What matters, inputs and directions, as the values told show it: a `LearntSubspace`.

        Computed when asked for: some model fits. Warns (`NotLowDimensionalWarning`) when
        `n_components` or a learnt embedding was asked for, and all inputs together predict better.
        It changes nothing of what is proposed.

        Raises
        ------
        NotFittedError
            Before the first model.
        """
        with self._lock, one_thread():
            belief = self._current_belief()
            if self._described is None or self._described[0] is not belief:
                self._described = belief, self._describe(belief)
            return self._described[1]

    def _current_belief(self):
        """Return the belief with everything told, hyperparameters kept; nothing is changed."""
        belief = self._belief
        if belief.n_told == len(self._history) and belief.surrogate is not None:
            return belief
        if self._described is not None and self._described[0].n_told == len(self._history):
            return self._described[0]
        return self._restored()

    def _describe(self, belief):
        X, y, *_ = self._labelled()
        return describe_subspace(
            self.input_model_,
            belief,
            learning_data(X, y, self._unlabeled, belief.warp),
            Rival(self._configuration.learner, self._configuration.maker),
            self._rng(belief.n_told, 3),
        )

    def _check_noise(self, noise_std, shape):
        noise_std = super()._check_noise(noise_std, shape)
        if np.isfinite(noise_std).any() and not self._configuration.maker.takes_noise:
            raise ValueError(
                f"noise_std must be None for the surrogate of this {type(self).__name__}, which "
                f"cannot use it: got {noise_std.tolist()}. Leave it out, or use a method with a "
                "Gaussian process of one kernel."
            )
        return noise_std

    def _check_constraints(self, constraints, shape):
        constraints = super()._check_constraints(constraints, shape)
        m = constraints.shape[1]
        if m and not self._configuration.learns_constraints:
            acquisition = self._configuration.acquisition(1, 1)
            raise ValueError(
                "acquisition must be 'ei' where constraints are learnt (n_constraints of minimize, "
                "constraints of tell), to be multiplied by the probability that they hold: got "
                f"{acquisition!r} and {m} constraints. Use 'ei', by a method that has it, or have "
                "points that violate them count as failed: NaN as their value, and no constraints."
            )
        return constraints

    # --- state ----------------------------------------------------------------------------------

    def _state_to_dict(self):
        belief = self._belief
        is_used = not isinstance(self._configuration.learner, IdentityLearner)
        return {
            "embedding": embedding_to_data(belief.embedding),
            "warp": self._configuration.warps.index(belief.warp),
            "counts": [belief.learnt_at, belief.chosen_at],
            "path": [list(step) for step in belief.path],
            "surrogate": belief.state,
            "feasibility": belief.feasibility_states,
            "moved": belief.moved,
            "fresh": belief.n_told == len(self._history) and belief.surrogate is not None,
            "unlabeled": self._unlabeled.tolist() if is_used else [],
            "ledger": self._ledger.to_state(),
        }

    def _state_from_dict(self, state):
        d, configuration = self.space_.n_features_, self._configuration
        relearn = state["embedding"] == RELEARN
        learnt_at, chosen_at = (0, 0) if relearn else map(int, state["counts"])
        self._unlabeled = places_of(state["unlabeled"], d)
        self._ledger.from_state(state["ledger"])
        self._belief = Belief(
            embedding_from_data(state["embedding"], d, configuration.learner),
            configuration.warps[state["warp"]],
            learnt_at,
            chosen_at,
            tuple((n, name, r) for n, name, r in state["path"]),
            state=state["surrogate"],
            feasibility_states=state["feasibility"],
            moved=relearn or bool(state["moved"]),
        )
        if state["fresh"] and not relearn:
            self._belief = self._restored()

    def _restored(self):
        """Return the belief with a surrogate of the stored state: nothing is searched."""
        labelled, state = self._labelled(), self._belief.state
        if state is None or self._belief.moved or not labelled.y.size:
            n = len(self._history)
            more = f"Tell {self.n_initial_ - n} more and" if n < self.n_initial_ else "Then"
            raise NotFittedError(
                f"subspace_ needs a model, which ask() makes from {self.n_initial_} values on: got "
                f"{n}. {more} call ask()."
            )
        data = self._surrogate_data(labelled)
        surrogate = self._configuration.maker.restore(state, *data)
        belief = self._with_surrogate(surrogate, state, labelled)
        known = belief.feasibility_states, labelled.X, labelled.constraints
        return replace(belief, feasibility=restore_feasibility(*known))


def learning_data(X, y, unlabeled, warp):
    """Return labelled points, their values as seen, and the points without a value."""
    finite = np.isfinite(y)
    return X[finite], warped(warp, y[finite]), np.vstack([X[~finite], unlabeled])
