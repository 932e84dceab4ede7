"""The loop that every model-based optimiser here is a configuration of: the page of a proposal.

    tell:  points, values -> history
    ask:   history -> model (scale, embedding, surrogate) -> acquisition -> candidates -> point

=========  =========  =====================================================================
symbol     shape      meaning
=========  =========  =====================================================================
x, X       (d,)       points of the cube ``[-1, 1]^d`` that the space is seen as
v                     coordinates of a sketch, where there is one: x is made from v
z, Z       (r,)       coordinates of the embedding, ``z = x B``
y          (n,)       observed values, to be minimised; not finite where the evaluation failed
=========  =========  =====================================================================

Each stage has a room (doc/architecture.rst): `embedding` learns B, `surrogate` predicts in z,
`acquisition` says where to look, `mapping` goes between z and x.
"""

import math
from abc import abstractmethod
from dataclasses import replace
from functools import cached_property
from typing import cast

import numpy as np
from sklearn.exceptions import NotFittedError

from skbo_silbo._sklearn import one_thread
from skbo_silbo._typing import BoundsLike, FloatArray, RandomState
from skbo_silbo.acquisition import AcquisitionSurface, ParzenTurns, log_expected_improvement
from skbo_silbo.acquisition._functions import no_improvement
from skbo_silbo.acquisition._part import Part
from skbo_silbo.embedding import Embedding, LinearEmbedding
from skbo_silbo.embedding._choice import IdentityLearner
from skbo_silbo.embedding._nonlinear import RELEARN, embedding_from_data, embedding_to_data
from skbo_silbo.mapping._ledger import CoordinateLedger
from skbo_silbo.mapping._mapping_protocol import FullMapping
from skbo_silbo.optimizers._base import AskTellOptimizer
from skbo_silbo.optimizers._configuration import Configuration
from skbo_silbo.optimizers._design import Design, random_points
from skbo_silbo.optimizers._events import places_of
from skbo_silbo.optimizers._history import Labelled, impute_failures
from skbo_silbo.optimizers._model import (
    Model,
    Recommendation,
    in_units_of,
    is_update_due,
    lowest_mean,
)
from skbo_silbo.sensitivity import LearntSubspace
from skbo_silbo.sensitivity._subspace import describe_subspace
from skbo_silbo.space import key_of
from skbo_silbo.space._keys import first_rows
from skbo_silbo.surrogate._feasibility import fit_feasibility
from skbo_silbo.surrogate._fitting import refit
from skbo_silbo.surrogate._warps import choose_warp, warped_variance

# Labels, relative, between choices of the scale. It is that of all runs of doc/search_log.rst, not
# tuned.
CHOICE_GROWTH = 1.25
N_LOOKED_AT = 16  # of what a search found, at first, until one is admitted


class EmbeddedOptimizer(AskTellOptimizer):
    """Base of the optimisers with an embedding and a surrogate; a subclass says how to `configure`.

    Its ``__init__`` keeps the arguments as attributes of their names, and then calls this one.

    Parameters
    ----------
    bounds : array-like of shape (d, 2), scipy.optimize.Bounds, dict or Space
        Where to search.
    random_state : int, RandomState, Generator or None, default=None
        Seed.
    """

    def __init__(self, bounds: BoundsLike, random_state: RandomState = None) -> None:
        super().__init__(bounds, random_state)
        d = self.space_.n_features_
        self._configuration = self.configure(d)
        mapping = cast(FullMapping, self._configuration.mapping)
        # which coordinates points were made from, where the points do not say so
        self._ledger = CoordinateLedger(mapping, self.space_) if mapping.keeps_coordinates else None
        self._model = Model(LinearEmbedding(d), self._configuration.warps[0])
        self._unlabeled = np.empty((0, d))  # what the last search ranked next
        # the last `subspace_`, and the model that it was made from
        self._described: tuple[Model, LearntSubspace] | None = None

    @abstractmethod
    def configure(self, d: int) -> Configuration:
        """Return the `Configuration` for d columns, after checking the arguments."""

    @property
    def n_initial_(self) -> int:
        """How many points, observed ones included, come before the first model."""
        return self._configuration.n_initial

    @property
    def embedding_(self) -> Embedding:
        """The embedding in use; the identity before the first model."""
        return self._model.embedding

    # --- ask ------------------------------------------------------------------------------------

    def propose(self, rng: np.random.Generator, part: Part | None) -> FloatArray | None:
        """Return a place of the cube, (m,): of the design, or of the largest acquisition."""
        index, n = self._n_known, len(self._history)
        with one_thread():
            if index < self._configuration.n_initial or n == 0:
                return self._design_point(index)
            moved = self._update_model()
            if moved is not None or self._model.surrogate is None:
                return moved
            search, ranked = self._configuration.search, cast(FloatArray, self._model.ranked)
            found = search.find(self._surface(part), ranked, self.space_, rng)
            return self._first_new(found, part, rng)

    def _update_model(self):
        """Learn from all values, where due; or return a place to evaluate again before."""
        moved = self._moved_point()
        if moved is None and self._model.n_observed != len(self._history):
            self._model = self._learnt(self._model)
            moved = self._moved_point()
            if moved is None:
                self._model = self._conditioned(self._model)
        return moved

    def _moved_point(self):
        """Return a place to evaluate again, since the embedding has changed, or None."""
        return None if self._ledger is None else self._ledger.waiting(self._seen)

    def _design_point(self, index):
        X, Z = self._design.X, self._design.Z
        if index >= len(X) or key_of(X[index]) in self._seen:
            return None
        if Z is not None and self._ledger is not None:
            self._ledger.note(X[index : index + 1], Z[index : index + 1])
        return X[index]

    @cached_property
    def _design(self):
        made = self._configuration.design(self.n_initial_, self.space_.n_features_, self._rng(0, 0))
        design = made if isinstance(made, Design) else Design(made)
        return replace(design, X=self.space_.round(design.X))

    def _first_new(self, found, part, rng):
        """Return the first new point; the new ones after it are unlabelled in the next fit."""
        model, seen, space = self._model, self._seen, part or self.space_
        mapping, n_unlabeled = self._configuration.mapping, self._configuration.n_unlabeled
        # In portions: some are expensive to place, and few of a small discrete space are new.
        for some in found.portions(n_unlabeled + 1):
            X = space.round(mapping.place(some.Z, some.X, model.embedding, model.ranked[0]))
            new = first_rows(X, seen)
            if part is not None:
                new = list(np.array(new, dtype=int)[part.violation(X[new]) == 0.0])
            if new:
                self._unlabeled = X[new[1 : n_unlabeled + 1]]
                x, z = X[new[0]], some.Z[new[0]]
                costlier = mapping.refine(x, z, model.embedding, rng)[None]
                [other] = self.space_.round(costlier)
                x = x if key_of(other) in seen else other
                if self._ledger is not None:
                    self._ledger.note(x[None], z[None])
                return x
        return None

    # --- model ----------------------------------------------------------------------------------

    def _labelled(self):
        """Return the evaluations to learn from, in canonical order: `Labelled`."""
        rows = self._history.canonical
        return rows if self._ledger is None else Labelled(*self._ledger.select(*rows))

    def _learnt(self, model):
        """Return the model with the scale of the values and the embedding chosen where due."""
        X, y, *_ = self._labelled()
        n, first = y.size, model.learnt_at == 0
        if not (first or is_update_due(self._configuration.update_every, n, model.learnt_at)):
            return model
        if first and not len(self._unlabeled):
            n_first = self._configuration.n_first_unlabeled
            self._unlabeled = self.space_.round(random_points(n_first, X.shape[1], self._rng(0, 4)))
        if n >= CHOICE_GROWTH * model.chosen_at:
            model = replace(model, warp=self._choose_warp(X, y), chosen_at=n)
        learner = self._configuration.learner
        if isinstance(learner, IdentityLearner) and not first:
            return replace(model, learnt_at=n)
        learnt = learner.learn(*learning_data(X, y, self._unlabeled, model.warp))
        if not first and learnt.is_identity and model.embedding.is_identity:
            return replace(model, learnt_at=n)
        if self._ledger is not None:
            self._ledger.move(learnt, self._seen, first)
        return model.with_embedding(learnt, n, learner.name)

    def _choose_warp(self, X, y):
        finite = np.isfinite(y)
        Z = self._model.embedding.project(X[finite])
        warps, surrogate = self._configuration.warps, self._configuration.surrogate
        return choose_warp(warps, surrogate, Z, y[finite], self._rng(y.size, 1))

    def _conditioned(self, model, *, tune=True):
        """Return the model with a surrogate of all observations, hyperparameters searched if due.

        Without one where nothing is observed yet at the places that points have moved to. With
        ``tune=False`` hyperparameters are those of its states, and nothing is changed.
        """
        labelled, n = self._labelled(), len(self._history)
        if self._ledger is not None and tune:
            self._ledger.adopt(labelled.X, model.embedding)
        if not labelled.y.size:
            return replace(model, surrogate=None, n_observed=n)
        data, rng = self._surrogate_data(model, labelled), self._rng(labelled.y.size, 2)
        how = {"moved": model.moved, "tune": tune, "rng": rng if tune else None}
        made = refit(self._configuration.surrogate, model.state, *data, **how)
        model = model.with_surrogate(*made, labelled, n)
        if not labelled.constraints.shape[1]:
            return model
        known = model.feasibility_states, labelled.X, labelled.constraints
        feasibility, states = fit_feasibility(*known, tune=tune)
        return replace(model, feasibility=feasibility, feasibility_states=states)

    def _surrogate_data(self, model, labelled):
        """Return coordinates, (m, r), values and known variances, as the surrogate sees them."""
        X, y, noise_std, _ = labelled
        Z, source = self._coordinates(X, model.embedding)
        filled = impute_failures(y)
        noise_std = np.where(np.isfinite(y), noise_std, np.nan)
        variance = warped_variance(model.warp, filled, noise_std)
        return np.array(Z), model.warp(filled)[source], variance[source]  # history stays ours

    def _coordinates(self, X, embedding):
        """Return a coordinate row for every point, (m, r), and the row of X of each, (m,)."""
        if self._ledger is not None:
            return self._ledger.locate(X, embedding)
        return self._configuration.mapping.carry(X, embedding), np.arange(len(X))

    # --- acquisition ----------------------------------------------------------------------------

    def _surface(self, part=None):
        """Return the acquisition, conditioned on predicted values of the pending points."""
        model, embedding = self._model, self._model.embedding
        surrogate, feasibility = model.surrogate, model.feasibility
        good = []  # coordinates that a new point is to improve on
        if model.n_feasible:
            good.append(self._coordinates(model.ranked[: model.n_feasible], embedding)[0])
        if self._pending:
            pending = np.array(list(self._pending.values()))
            Z, source = self._coordinates(pending, embedding)
            surrogate = surrogate.with_points(Z, surrogate.predict(Z)[0])
            if feasibility is None:
                good.append(Z)
            else:
                good.append(Z[feasibility.holds_with_margin(pending)[source]])
                feasibility = feasibility.with_pending(pending)
        acquisition, best = no_improvement, np.inf
        if model.n_feasible:
            best = lowest_mean(surrogate, np.vstack(good))  # noise makes low values too
            acquisition = self._configuration.acquisition(self._n_known + 1)
        observed = model.surrogate
        return AcquisitionSurface(
            acquisition, surrogate, embedding, best, feasibility, observed, part
        )

    def expected_gain(self) -> float:
        """Return how much better than the best value the next one is expected to be, at most.

        Nothing of what is proposed changes by it.

        Returns
        -------
        gain : float
            The largest expected improvement (Jones, Schonlau and Welch 1998) in the space, or where
            known constraints hold in it, at least 0, in the units of the values; pending points
            count as evaluated. Infinite before there is a model.

        Examples
        --------
        >>> from skbo_silbo import SILBO
        >>> optimizer = SILBO([(0, 1)], random_state=0)
        >>> optimizer.expected_gain()
        inf
        >>> for x in optimizer.ask(8):
        ...     _ = optimizer.tell(x, (x[0] - 0.3) ** 2)
        >>> 0.0 <= optimizer.expected_gain() < 0.1
        True
        """
        with self._lock, one_thread():
            known = self._n_known >= self.n_initial_ and np.isfinite(self._history.y).any()
            if not known or self._update_model() is not None or not self._model.n_feasible:
                return math.inf
            search = self._configuration.search
            search = search.search if isinstance(search, ParzenTurns) else search
            part = self._part(None)
            surface = replace(self._surface(part), acquisition=log_expected_improvement)
            rng = self._rng(self._n_known, 5)
            ranked = cast(FloatArray, self._model.ranked)
            found = search.find(surface, ranked, self.space_, rng)
            Z = found.Z if part is None else _first_admitted(found, part)
            if not len(Z):
                return math.inf
            best = self._model.warp(self._finite_values()).min()
            gain = float(np.exp(surface.values_at(Z).max()))
            return self._in_units_of_values(self._model, best, gain)[1]

    def _finite_values(self):
        y = self._labelled().y
        return y[np.isfinite(y)]

    def _in_units_of_values(self, model, mean, std):
        """Return a mean and a deviation of the model in the units in which values are minimised."""
        y, told = self._finite_values(), self._history.y[np.isfinite(self._history.y)]
        unit = float(np.ptp(told) / np.ptp(y)) if np.ptp(y) else 1.0
        return [unit * moment for moment in in_units_of(y, model.warp, mean, std)]

    # --- what was learnt ------------------------------------------------------------------------

    @property
    def subspace_(self) -> LearntSubspace:
        """What matters, inputs and directions, as the observed values show it: a `LearntSubspace`.

        Computed when asked for: some model fits. Warns (`NotLowDimensionalWarning`) when
        `n_components` or a learnt embedding was asked for, and all inputs together predict better.
        It changes nothing of what is proposed.

        Raises
        ------
        NotFittedError
            Before the first model.
        """
        with self._lock, one_thread():
            model = self._current_model()
            if self._described is None or self._described[0] is not model:
                X, y, *_ = self._labelled()
                *_, X_unlabeled = learning_data(X, y, self._unlabeled, model.warp)
                parts = self._configuration.learner, self._configuration.surrogate
                rng = self._rng(model.n_observed, 3)
                subspace = describe_subspace(self.input_model_, model, X_unlabeled, *parts, rng)
                self._described = model, subspace
            return self._described[1]

    @property
    def recommended_(self) -> Recommendation:
        """The evaluated point to use where values are noisy: point, mean and std.

        It has the lowest posterior mean among the feasible ones. `best_y_` is the lowest of many
        noisy values, and so mostly too low. The mean is nearer the truth where the model knows of
        the noise: tell `noise_std`, as with few values it may take noise for the objective.

        Raises
        ------
        NotFittedError
            Before the first model.
        """
        with self._lock, one_thread():
            model = self._current_model("recommended_")
            good = model.ranked[: min(model.n_feasible, self._finite_values().size)]
            if not len(good):
                return super().recommended_
            Z, source = self._coordinates(good, model.embedding)
            mean, std = model.surrogate.predict(Z)
            i = int(np.argmin(mean))
            mean, std = self._in_units_of_values(model, mean[i], std[i])
            return Recommendation(self._point_at(good[source[i]]), self._sign * mean, std)

    def _current_model(self, asked="subspace_"):
        """Return the model with all observations, hyperparameters kept; nothing is changed."""
        model = self._model
        if model.n_observed == len(self._history) and model.surrogate is not None:
            return model
        if self._described is not None and self._described[0].n_observed == len(self._history):
            return self._described[0]
        return self._restored(asked)

    def _check_noise(self, noise_std, shape):
        noise_std = super()._check_noise(noise_std, shape)
        if np.isfinite(noise_std).any() and not self._configuration.surrogate.takes_noise:
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
            acquisition = self._configuration.acquisition(1)
            raise ValueError(
                "acquisition must be 'ei' where constraints are learnt (n_constraints of minimize, "
                "constraints of tell), to be multiplied by the probability that they hold: got "
                f"{acquisition!r} and {m} constraints. Use 'ei', by a method that has it, or have "
                "points that violate them count as failed: NaN as their value, and no constraints."
            )
        return constraints

    # --- state ----------------------------------------------------------------------------------

    def _state_to_dict(self):
        model = self._model
        is_used = not isinstance(self._configuration.learner, IdentityLearner)
        return {
            "embedding": embedding_to_data(model.embedding),
            "warp": self._configuration.warps.index(model.warp),
            "counts": [model.learnt_at, model.chosen_at],
            "path": [list(step) for step in model.path],
            "surrogate": model.state,
            "feasibility": model.feasibility_states,
            "moved": model.moved,
            "fresh": model.n_observed == len(self._history) and model.surrogate is not None,
            "unlabeled": self._unlabeled.tolist() if is_used else [],
            "ledger": {} if self._ledger is None else self._ledger.to_state(),
        }

    def _state_from_dict(self, state):
        d, configuration = self.space_.n_features_, self._configuration
        relearn = state["embedding"] == RELEARN
        learnt_at, chosen_at = (0, 0) if relearn else map(int, state["counts"])
        self._unlabeled = places_of(state["unlabeled"], d)
        if self._ledger is not None:
            self._ledger.from_state(state["ledger"])
        self._model = Model(
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
            self._model = self._restored()

    def _restored(self, asked="subspace_"):
        """Return the model with a surrogate of the stored state, for what is asked for.

        Nothing is searched.
        """
        model = self._model
        if model.state is None or model.moved or not self._labelled().y.size:
            n = len(self._history)
            more = f"Tell {self.n_initial_ - n} more and" if n < self.n_initial_ else "Then"
            raise NotFittedError(
                f"{asked} needs a model, which ask() makes from {self.n_initial_} values on: got "
                f"{n}. {more} call ask()."
            )
        return self._conditioned(model, tune=False)


def _first_admitted(found, part):
    """Return the first coordinates found, (k, r), whose points are of a part of the space."""
    if found.X is None:
        return found.Z
    some = ((rows.Z, part.violation(rows.X) == 0.0) for rows in found.portions(N_LOOKED_AT))
    return next((Z[admitted] for Z, admitted in some if admitted.any()), found.Z[:0])


def learning_data(X, y, unlabeled, warp):
    """Return labelled points, their values as seen, and the points without a value."""
    finite = np.isfinite(y)
    return X[finite], warp(y[finite]), np.vstack([X[~finite], unlabeled])
